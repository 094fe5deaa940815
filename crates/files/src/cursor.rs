//! Where a walk through results is: which files were given already.
//!
//! The order of a search moves as files come and go, so a position alone would repeat some files
//! and leave out others. A cursor therefore names what was given, by a short mark of each file,
//! and the next page is what is best now without them. Nothing is remembered on the server.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

/// Bytes of a mark. Among ten thousand files given and ten thousand to come, one in ten thousand
/// walks has two files with the same mark.
const MARK_BYTES: usize = 5;

/// Files that a cursor can name; a walk goes no further.
pub const MAX_WALKED: usize = 10_000;

/// The files that the pages before gave.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cursor(Vec<[u8; MARK_BYTES]>);

impl Cursor {
    /// Reads what [`Cursor::encode`] wrote; nothing for anything else.
    pub fn decode(text: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text.strip_prefix('~')?).ok()?;
        if bytes.len() % MARK_BYTES != 0 || bytes.len() / MARK_BYTES > MAX_WALKED {
            return None;
        }
        let marks = bytes.chunks_exact(MARK_BYTES);
        Some(Cursor(marks.map(|mark| mark.try_into().unwrap_or_default()).collect()))
    }

    /// Writes the cursor as an opaque text.
    pub fn encode(&self) -> String {
        format!("~{}", URL_SAFE_NO_PAD.encode(self.0.concat()))
    }

    /// Adds files that a page gives.
    pub fn with<'a>(mut self, paths: impl Iterator<Item = &'a str>) -> Self {
        self.0.extend(paths.map(mark));
        self
    }

    /// Tells whether a file was given.
    pub fn holds(&self, path: &str) -> bool {
        self.0.contains(&mark(path))
    }

    /// Counts the files that were given.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Tells whether none was given yet.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn mark(path: &str) -> [u8; MARK_BYTES] {
    let digest = Sha256::digest(path.as_bytes());
    std::array::from_fn(|at| digest[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_read_back_and_nonsense_does_not() {
        let cursor = Cursor::default().with(["/a", "/b", "/資料"].into_iter());
        let read = Cursor::decode(&cursor.encode()).unwrap();
        assert_eq!((&read, read.len()), (&cursor, 3));
        assert!(read.holds("/b") && !read.holds("/c"));
        assert_eq!(Cursor::decode("~"), Some(Cursor::default()));
        for nonsense in ["", "10", "~!", "~AAA", "AAAAAAA"] {
            assert_eq!(Cursor::decode(nonsense), None, "{nonsense}");
        }
    }
}
