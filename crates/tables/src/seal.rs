//! Keeps what tokens carry from those who hold them.
//!
//! The key of a file's tokens is this process's own. Servers that answer from one PostgreSQL
//! continue each other's pages, so there it follows from the address, which agents never see and
//! which mostly holds a password.

use std::sync::LazyLock;

use sha2::{Digest, Sha256};

/// What this process mixes into the keys of sources that no other server reads.
static OWN: LazyLock<[u8; 32]> = LazyLock::new(rand::random);

const NONCE_BYTES: usize = 8;
const CHECK_BYTES: usize = 4;

/// The key of a source's tokens.
#[derive(Clone)]
pub(crate) struct Seal {
    key: [u8; 32],
}

impl Seal {
    /// Makes the key of a source, as the configuration writes it.
    pub(crate) fn of(source: &str) -> Self {
        let mut hash = Sha256::new();
        hash.update(b"dowse token ");
        hash.update(source);
        if !source.starts_with("postgres://") && !source.starts_with("postgresql://") {
            hash.update(*OWN);
        }
        Seal { key: hash.finalize().into() }
    }

    /// Hashes bytes so that nobody without the key can.
    pub(crate) fn hash(&self, bytes: &[u8]) -> [u8; 32] {
        // The key is hashed before and after, as in HMAC: neither end can be extended.
        let inner = Sha256::new().chain_update(self.key).chain_update(bytes).finalize();
        Sha256::new().chain_update(self.key).chain_update(inner).finalize().into()
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
mod tests {
    use super::*;

    #[test]
    fn what_is_sealed_opens_under_its_key_alone() {
        let seal = Seal::of("a.csv");
        for n_bytes in [0, 1, 31, 32, 33, 500] {
            let plain = vec![7; n_bytes];
            let sealed = seal.close(&plain);
            assert_eq!(seal.open(&sealed).unwrap(), plain);
            assert!(Seal::of("b.csv").open(&sealed).is_none());
            for cut in 0..sealed.len() {
                assert!(seal.open(&sealed[..cut]).is_none_or(|opened| opened.is_empty()));
            }
        }
    }
}
