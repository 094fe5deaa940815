//! Keeps what tokens carry from those who hold them.
//!
//! The key of a file's tokens follows from a secret that outlives the process: a walk goes on after
//! a restart, and on every server that shares a catalogue. Servers that answer from one PostgreSQL
//! continue each other's pages, so there it follows from the address, which agents never see and
//! which mostly holds a password.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, OnceLock};

use fs_err::OpenOptions;
use model::TenantId;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use store::{Catalogue, Change, TypedObject};

/// The file of the secret, beside the column files of a server that has its own data folder.
const SECRET_FILE: &str = "tokens.secret";

/// The one secret in a catalogue.
const SECRET_ID: &str = "tables";

/// What is used where no secret can be kept: tokens end with the process.
static OWN: LazyLock<[u8; 32]> = LazyLock::new(rand::random);

/// What is mixed into the keys of sources that are no database on a server. It is read, or made,
/// when the first token is. Cheap to clone.
#[derive(Clone)]
pub(crate) struct TokenSecret {
    place: SecretPlace,
    known: Arc<OnceLock<[u8; 32]>>,
}

/// Where a secret is kept.
#[derive(Clone)]
enum SecretPlace {
    Folder(PathBuf),
    Catalogue(Arc<dyn Catalogue>),
}

/// A secret as the catalogue keeps it.
#[derive(Serialize, Deserialize)]
struct StoredSecret {
    secret: [u8; 32],
}

impl TypedObject for StoredSecret {
    type Id = str;

    const KIND: &'static str = "token_secret";

    fn id(&self) -> String {
        SECRET_ID.to_owned()
    }

    fn tenant(&self) -> TenantId {
        TenantId::local()
    }
}

impl TokenSecret {
    /// Looks into the folder for it when a token needs it first, and makes it where there is none.
    pub(crate) fn of_folder(folder: PathBuf) -> Self {
        TokenSecret { place: SecretPlace::Folder(folder), known: Arc::default() }
    }

    /// The secret of the servers that share a catalogue.
    pub(crate) fn of_catalogue(catalogue: Arc<dyn Catalogue>) -> Self {
        TokenSecret { place: SecretPlace::Catalogue(catalogue), known: Arc::default() }
    }

    /// Gives the secret; nothing while it can be neither read nor made.
    fn bytes(&self) -> Option<[u8; 32]> {
        if let Some(known) = self.known.get() {
            return Some(*known);
        }
        let found = match &self.place {
            SecretPlace::Folder(folder) => in_folder(folder),
            SecretPlace::Catalogue(catalogue) => in_catalogue(&**catalogue),
        };
        found.map(|found| *self.known.get_or_init(|| found))
    }
}

fn in_folder(folder: &Path) -> Option<[u8; 32]> {
    let path = folder.join(SECRET_FILE);
    let read = || fs_err::read(&path).ok().and_then(|bytes| bytes.try_into().ok());
    read().or_else(|| {
        let made: [u8; 32] = rand::random();
        // Another process may have been faster.
        write_new(folder, &path, &made).map_or_else(|_| read(), |()| Some(made))
    })
}

/// Writes a file that is not there, for its user alone, and whole or not at all.
fn write_new(folder: &Path, path: &Path, secret: &[u8]) -> std::io::Result<()> {
    fs_err::create_dir_all(folder)?;
    let written = folder.join(format!("{SECRET_FILE}.{}", model::hex(rand::random::<[u8; 8]>())));
    let mut options = OpenOptions::new();
    options.create_new(true).write(true);
    #[cfg(unix)]
    {
        use fs_err::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let outcome = options
        .open(&written)
        .and_then(|mut file| file.write_all(secret))
        .and_then(|()| fs_err::hard_link(&written, path));
    let _ = fs_err::remove_file(&written);
    outcome
}

fn in_catalogue(catalogue: &dyn Catalogue) -> Option<[u8; 32]> {
    let read = || StoredSecret::load(catalogue, SECRET_ID).ok()?.map(|(kept, _)| kept.secret);
    read().or_else(|| {
        let made = StoredSecret { secret: rand::random() };
        let object = made.to_object(0).ok()?;
        // Another server may have been faster.
        let put = catalogue.apply(&[Change::PutIfUnchanged(object)]);
        put.map_or_else(|_| read(), |_| Some(made.secret))
    })
}

const NONCE_BYTES: usize = 8;
const CHECK_BYTES: usize = 4;

/// The key of a source's tokens.
#[derive(Clone)]
pub(crate) struct Seal {
    source: String,
    secret: TokenSecret,
    key: OnceLock<[u8; 32]>,
}

impl Seal {
    /// Makes the key of a source, as the configuration writes it.
    pub(crate) fn of(source: &str, secret: TokenSecret) -> Self {
        Seal { source: source.to_owned(), secret, key: OnceLock::new() }
    }

    /// Gives the seal of the same source under another secret.
    pub(crate) fn with_secret(&self, secret: TokenSecret) -> Self {
        Seal::of(&self.source, secret)
    }

    fn key(&self) -> [u8; 32] {
        if let Some(key) = self.key.get() {
            return *key;
        }
        let mut hash = Sha256::new();
        hash.update(b"dowse token ");
        hash.update(&self.source);
        if self.source.starts_with("postgres://") || self.source.starts_with("postgresql://") {
            return *self.key.get_or_init(|| hash.finalize().into());
        }
        match self.secret.bytes() {
            Some(secret) => {
                hash.update(secret);
                *self.key.get_or_init(|| hash.finalize().into())
            }
            // The next token may find it.
            None => {
                hash.update(*OWN);
                hash.finalize().into()
            }
        }
    }

    /// Hashes bytes so that nobody without the key can.
    pub(crate) fn hash(&self, bytes: &[u8]) -> [u8; 32] {
        // The key is hashed before and after, as in HMAC: neither end can be extended.
        let key = self.key();
        let inner = Sha256::new().chain_update(key).chain_update(bytes).finalize();
        Sha256::new().chain_update(key).chain_update(inner).finalize().into()
    }

    /// Gives a number that looks random and follows from these.
    pub(crate) fn mask(&self, numbers: &[u64]) -> u64 {
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let hash = self.hash(&bytes);
        hash.first_chunk().map_or(0, |first| u64::from_le_bytes(*first))
    }

    /// Makes bytes unreadable.
    pub(crate) fn close(&self, plain: &[u8]) -> Vec<u8> {
        let nonce: [u8; NONCE_BYTES] = rand::random();
        let mut sealed = nonce.to_vec();
        sealed.extend(&self.hash(plain)[..CHECK_BYTES]);
        sealed.extend(self.mixed(nonce, plain));
        sealed
    }

    /// Reads what [`Seal::close`] made under the same key.
    pub(crate) fn open(&self, sealed: &[u8]) -> Option<Vec<u8>> {
        let (nonce, rest) = sealed.split_first_chunk::<NONCE_BYTES>()?;
        let (check, rest) = rest.split_at_checked(CHECK_BYTES)?;
        let plain = self.mixed(*nonce, rest);
        (self.hash(&plain)[..CHECK_BYTES] == *check).then_some(plain)
    }

    /// Adds a stream of bytes that follows from the key and a nonce; twice gives the bytes back.
    fn mixed(&self, nonce: [u8; NONCE_BYTES], bytes: &[u8]) -> Vec<u8> {
        let mut mixed = Vec::with_capacity(bytes.len());
        for (block_idx, block) in bytes.chunks(32).enumerate() {
            let mut place = nonce.to_vec();
            place.extend((block_idx as u64).to_le_bytes());
            mixed.extend(block.iter().zip(self.hash(&place)).map(|(byte, stream)| byte ^ stream));
        }
        mixed
    }
}

#[cfg(test)]
impl Seal {
    /// Makes the key of a source in a process that keeps no secret.
    pub(crate) fn own(source: &str) -> Self {
        Seal::of(source, TokenSecret::of_folder(PathBuf::from("\0")))
    }
}

#[cfg(test)]
mod tests {
    use model::{Clock, Timestamp};
    use store::{Config, Store};

    use super::*;

    #[test]
    fn what_is_sealed_opens_under_its_key_alone() {
        let seal = Seal::own("a.csv");
        for n_bytes in [0, 1, 31, 32, 33, 500] {
            let plain = vec![7; n_bytes];
            let sealed = seal.close(&plain);
            assert_eq!(seal.open(&sealed).unwrap(), plain);
            assert!(Seal::own("b.csv").open(&sealed).is_none());
            for cut in 0..sealed.len() {
                assert!(seal.open(&sealed[..cut]).is_none_or(|opened| opened.is_empty()));
            }
        }
    }

    /// A walk through a SQLite file ended when the server was restarted: its cursor was refused.
    #[test]
    fn what_is_sealed_opens_after_a_restart_and_on_servers_that_share_a_catalogue() {
        let folder = tempfile::tempdir().unwrap();
        let of_folder = |name: &str| TokenSecret::of_folder(folder.path().join(name));
        let sealed = Seal::of("sqlite:a.db#t", of_folder("one")).close(b"row 7");
        let open = |secret: TokenSecret| Seal::of("sqlite:a.db#t", secret).open(&sealed);
        assert_eq!(open(of_folder("one")).unwrap(), b"row 7");
        assert!(open(of_folder("two")).is_none());
        let clock = Clock::fixed(Timestamp(1_700_000_000_000));
        let config = Config::for_one_machine();
        let store = Store::open(&folder.path().join("store"), &config, clock).unwrap();
        let shared = || TokenSecret::of_catalogue(store.catalogue());
        let sealed = Seal::of("sqlite:a.db#t", shared()).close(b"row 8");
        assert_eq!(Seal::of("sqlite:a.db#t", shared()).open(&sealed).unwrap(), b"row 8");
        // Nobody but their user reads them.
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let file = folder.path().join("one").join(SECRET_FILE);
            assert_eq!(fs_err::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }
}
