//! Vectors of names kept in a file, so that a server that starts again embeds only new names.
//!
//! The file belongs to one model: its name holds the model's id. Records are only added, and a
//! record that was cut off is ignored, so a crash costs the last names at most.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ahash::AHashMap;
use parking_lot::Mutex;
use sha2::{Digest, Sha256};

use crate::name_embedder::{NameEmbedder, NameEmbedderError};

/// The first bytes of a file of vectors; another layout has others.
const MAGIC: &[u8; 8] = b"DWNAMES1";
/// The most vectors that are kept; afterwards new ones are embedded at each start.
const MAX_VECTORS: usize = 2_000_000;

/// Vectors of texts, or why there are none.
type Vectors = Result<Vec<Vec<f32>>, NameEmbedderError>;

/// Gives the vectors of names from a file where it has them, and from an embedder otherwise.
#[derive(Debug)]
pub struct CachedNameEmbedder {
    inner: Arc<dyn NameEmbedder>,
    folder: PathBuf,
    opened: Mutex<Option<Opened>>,
}

#[derive(Debug)]
struct Opened {
    path: PathBuf,
    vectors: AHashMap<Key, Vec<f32>>,
}

impl CachedNameEmbedder {
    /// Keeps the vectors of an embedder in a folder.
    pub fn new(inner: Arc<dyn NameEmbedder>, folder: &Path) -> Self {
        CachedNameEmbedder { inner, folder: folder.to_owned(), opened: Mutex::new(None) }
    }

    fn path(&self) -> Option<PathBuf> {
        let id = self.inner.id()?;
        let digest = Sha256::digest(id.as_bytes());
        let name = model::hex(&digest[..8]);
        Some(self.folder.join(format!("names-{name}.vectors")))
    }

    /// Gives vectors from the file, and makes and keeps those that it lacks.
    fn kept(&self, texts: &[&str], keys: &[Key], embed: &dyn Fn(&[&str]) -> Vectors) -> Vectors {
        let Some(path) = self.path() else { return embed(texts) };
        let missing: Vec<usize> = {
            let mut opened = self.opened.lock();
            let is_current = opened.as_ref().is_some_and(|opened| opened.path == path);
            if !is_current {
                let vectors = open(&path);
                *opened = Some(Opened { path: path.clone(), vectors });
            }
            let known = opened.as_ref().map(|opened| &opened.vectors);
            (0..texts.len())
                .filter(|at| known.is_none_or(|known| !known.contains_key(&keys[*at])))
                .collect()
        };
        // The lock is not held while the model works: queries of other dimensions go on.
        let new_texts: Vec<&str> = missing.iter().map(|at| texts[*at]).collect();
        let embedded = if new_texts.is_empty() { Vec::new() } else { embed(&new_texts)? };
        if embedded.len() != new_texts.len() {
            let reason = format!("{} vectors for {} names", embedded.len(), new_texts.len());
            return Err(NameEmbedderError { reason });
        }
        let mut opened = self.opened.lock();
        let Some(opened) = opened.as_mut() else { return embed(texts) };
        let new: Vec<(Key, Vec<f32>)> = missing.iter().map(|at| keys[*at]).zip(embedded).collect();
        if opened.vectors.len() + new.len() <= MAX_VECTORS
            && let Err(error) = append(&path, &new)
        {
            tracing::warn!(%error, "vectors of names could not be stored; they are made again at the next start");
        }
        opened.vectors.extend(new);
        keys.iter()
            .map(|key| {
                opened.vectors.get(key).cloned().ok_or_else(|| NameEmbedderError {
                    reason: "a vector is missing although it was made".to_owned(),
                })
            })
            .collect()
    }
}

impl NameEmbedder for CachedNameEmbedder {
    fn id(&self) -> Option<String> {
        self.inner.id()
    }

    fn embed_names(&self, names: &[&str]) -> Result<Vec<Vec<f32>>, NameEmbedderError> {
        let keys: Vec<Key> = names.iter().map(|name| key(name)).collect();
        self.kept(names, &keys, &|missing| self.inner.embed_names(missing))
    }

    fn embed_background(&self, queries: &[&str]) -> Result<Vec<Vec<f32>>, NameEmbedderError> {
        let keys: Vec<Key> = queries.iter().map(|query| query_key(query)).collect();
        self.kept(queries, &keys, &|missing| self.inner.embed_background(missing))
    }

    fn embed_query(&self, query: &str) -> Result<Vec<f32>, NameEmbedderError> {
        self.inner.embed_query(query)
    }
}

/// What a vector is found by in the file.
type Key = [u8; 16];

/// The key of a query: its vector is not that of a name with the same letters.
fn query_key(query: &str) -> Key {
    key(&format!("query\0{query}"))
}

fn key(name: &str) -> Key {
    let digest = Sha256::digest(name.as_bytes());
    let mut key = [0; 16];
    key.copy_from_slice(&digest[..16]);
    key
}

/// Reads what a file has, and takes a record away that was cut off at its end: what is added
/// behind it would be read as its rest.
fn open(path: &Path) -> AHashMap<Key, Vec<f32>> {
    let (vectors, n_whole) = read(path);
    let n_bytes = fs_err::metadata(path).map_or(0, |metadata| metadata.len());
    if n_whole > 0 && n_bytes > n_whole {
        let cut = fs_err::OpenOptions::new().write(true).open(path);
        if let Err(error) = cut.and_then(|file| file.set_len(n_whole)) {
            tracing::warn!(%error, "a file of names' vectors ends in a broken record");
        }
    }
    vectors
}

/// Reads what a file has, and how many of its bytes are whole; a file of another layout has
/// nothing.
fn read(path: &Path) -> (AHashMap<Key, Vec<f32>>, u64) {
    let mut vectors = AHashMap::new();
    let mut bytes = Vec::new();
    let opened = fs_err::File::open(path).and_then(|mut file| file.read_to_end(&mut bytes));
    if opened.is_err() || !bytes.starts_with(MAGIC) {
        return (vectors, 0);
    }
    let mut rest = &bytes[MAGIC.len()..];
    while let Some((head, behind)) = rest.split_at_checked(20) {
        let mut key = [0; 16];
        key.copy_from_slice(&head[..16]);
        let n_dimensions = u32::from_le_bytes([head[16], head[17], head[18], head[19]]) as usize;
        let Some((cells, behind)) = behind.split_at_checked(n_dimensions * 4) else { break };
        let vector = cells
            .chunks_exact(4)
            .map(|cell| f32::from_le_bytes([cell[0], cell[1], cell[2], cell[3]]))
            .collect();
        vectors.insert(key, vector);
        rest = behind;
    }
    let n_whole = bytes.len() - rest.len();
    (vectors, n_whole as u64)
}

fn append(path: &Path, new: &[(Key, Vec<f32>)]) -> std::io::Result<()> {
    if new.is_empty() {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs_err::create_dir_all(folder)?;
    }
    let is_ours = fs_err::File::open(path)
        .and_then(|mut file| {
            let mut start = [0; MAGIC.len()];
            file.read_exact(&mut start).map(|()| start == *MAGIC)
        })
        .unwrap_or(false);
    let mut file = if is_ours {
        fs_err::OpenOptions::new().append(true).open(path)?
    } else {
        let mut file = fs_err::File::create(path)?;
        file.write_all(MAGIC)?;
        fs_err::OpenOptions::new().append(true).open(path)?
    };
    let mut bytes = Vec::new();
    for (key, vector) in new {
        bytes.extend_from_slice(key);
        bytes.extend_from_slice(&(vector.len() as u32).to_le_bytes());
        vector.iter().for_each(|cell| bytes.extend_from_slice(&cell.to_le_bytes()));
    }
    file.write_all(&bytes)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[derive(Debug, Default)]
    struct Counting(AtomicUsize);

    impl NameEmbedder for Counting {
        fn id(&self) -> Option<String> {
            Some("counting".to_owned())
        }

        fn embed_names(&self, names: &[&str]) -> Result<Vec<Vec<f32>>, NameEmbedderError> {
            self.0.fetch_add(names.len(), Ordering::Relaxed);
            Ok(names.iter().map(|name| vec![name.len() as f32, 1.0]).collect())
        }

        fn embed_query(&self, query: &str) -> Result<Vec<f32>, NameEmbedderError> {
            Ok(vec![query.len() as f32, 1.0])
        }
    }

    #[test]
    fn a_name_is_embedded_once_over_two_starts() {
        let folder = tempfile::tempdir().unwrap();
        let first = Arc::new(Counting::default());
        let names = ["Alba", "Cluj", "Alba"];
        let wanted =
            CachedNameEmbedder::new(first.clone(), folder.path()).embed_names(&names).unwrap();
        let second = Arc::new(Counting::default());
        let again = CachedNameEmbedder::new(second.clone(), folder.path());
        assert_eq!(again.embed_names(&names).unwrap(), wanted);
        assert_eq!(second.0.load(Ordering::Relaxed), 0);
        assert_eq!(again.embed_names(&["Iași"]).unwrap(), [vec![5.0, 1.0]]);
        assert_eq!(second.0.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_file_that_was_cut_off_gives_what_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let saved = CachedNameEmbedder::new(Arc::new(Counting::default()), folder.path());
        saved.embed_names(&["Alba", "Cluj"]).unwrap();
        let path = saved.path().unwrap();
        let bytes = fs_err::read(&path).unwrap();
        for length in 0..bytes.len() {
            fs_err::write(&path, &bytes[..length]).unwrap();
            assert!(read(&path).0.len() < 2);
        }
    }

    #[test]
    fn what_is_added_behind_a_record_that_was_cut_off_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let first = CachedNameEmbedder::new(Arc::new(Counting::default()), folder.path());
        first.embed_names(&["Alba", "Cluj"]).unwrap();
        let path = first.path().unwrap();
        let bytes = fs_err::read(&path).unwrap();
        fs_err::write(&path, &bytes[..bytes.len() - 3]).unwrap();
        let second = CachedNameEmbedder::new(Arc::new(Counting::default()), folder.path());
        second.embed_names(&["Alba", "Cluj", "Dej"]).unwrap();
        let third = Arc::new(Counting::default());
        let again = CachedNameEmbedder::new(third.clone(), folder.path());
        let vectors = again.embed_names(&["Alba", "Cluj", "Dej"]).unwrap();
        assert_eq!(vectors, [vec![4.0, 1.0], vec![4.0, 1.0], vec![3.0, 1.0]]);
        assert_eq!(third.0.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn queries_that_are_always_the_same_are_kept_apart_from_names() {
        let folder = tempfile::tempdir().unwrap();
        let first = CachedNameEmbedder::new(Arc::new(Counting::default()), folder.path());
        first.embed_background(&["Alba"]).unwrap();
        let second = Arc::new(Counting::default());
        let again = CachedNameEmbedder::new(second.clone(), folder.path());
        assert_eq!(again.embed_background(&["Alba"]).unwrap(), [vec![4.0, 1.0]]);
        again.embed_names(&["Alba"]).unwrap();
        assert_eq!(second.0.load(Ordering::Relaxed), 1, "the name is another vector");
    }
}
