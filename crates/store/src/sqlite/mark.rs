//! A small file next to the catalogue that remembers which catalogue it was and how many changes
//! it had, so that one that was emptied, exchanged or cut off is noticed at the next start.
//!
//! The file is written after each commit and not synced: it may be behind the catalogue after a
//! crash and never ahead of it, so that a catalogue with fewer changes has lost some.

use std::path::{Path, PathBuf};

use parking_lot::Mutex;

use crate::{Error, Result};

/// The name of the file in a data folder.
const FILE: &str = "catalogue.mark";
/// Digits of the identity, of the count of changes and of the checksum, with two spaces between
/// them and a line break at the end.
const FILE_BYTES: usize = 32 + 1 + 20 + 1 + 8 + 1;

/// What the file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MarkContent {
    pub(super) identity: String,
    pub(super) n_changes: u64,
}

/// The file, open for writing.
#[derive(Debug)]
pub(super) struct Mark {
    file: fs_err::File,
    identity: String,
    n_changes: Mutex<u64>,
}

impl Mark {
    /// Opens the file of a folder, or makes one, and writes what the catalogue has.
    pub(super) fn open(folder: &Path, catalogue: &MarkContent) -> Result<Self> {
        // Before it is made: an empty file would be taken for one that was cut off.
        let before = read(folder)?;
        let file = fs_err::OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path_in(folder))?;
        let mark = Mark {
            file,
            identity: catalogue.identity.clone(),
            n_changes: Mutex::new(catalogue.n_changes),
        };
        // A command that changes nothing writes nothing.
        if before.as_ref() != Some(catalogue) {
            mark.write(catalogue.n_changes)?;
        }
        Ok(mark)
    }

    /// Notes that the catalogue has so many changes.
    pub(super) fn note(&self, n_changes: u64) {
        let mut last = self.n_changes.lock();
        if n_changes <= *last {
            return;
        }
        match self.write(n_changes) {
            Ok(()) => *last = n_changes,
            // A mark that stays behind notices less; the change itself is safe.
            Err(error) => tracing::debug!(%error, "catalogue mark could not be written"),
        }
    }

    fn write(&self, n_changes: u64) -> Result<()> {
        let line = line_of(&MarkContent { identity: self.identity.clone(), n_changes });
        crate::positional::write_all_at(self.file.file(), line.as_bytes(), 0)?;
        Ok(())
    }
}

/// Gives what the file of a folder says; nothing when there is none, or it cannot be read: a crash
/// of the machine may have cut it off.
pub(super) fn read(folder: &Path) -> Result<Option<MarkContent>> {
    let bytes = match fs_err::read(path_in(folder)) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let seen = std::str::from_utf8(&bytes).ok().and_then(parse);
    if seen.is_none() {
        tracing::warn!(file = %path_in(folder).display(), "catalogue mark cannot be read; ignoring it");
    }
    Ok(seen)
}

/// Compares what the file says with what the catalogue has.
///
/// # Errors
///
/// [`Error::CatalogueLost`] when the catalogue is another one or has fewer changes.
pub(super) fn compare(path: &Path, mark: &MarkContent, catalogue: &MarkContent) -> Result<()> {
    let lost = |reason: String| Error::CatalogueLost { path: path.to_owned(), reason };
    if mark.identity != catalogue.identity {
        let reason = format!(
            "is not the catalogue of this folder: its identity is `{}`, the folder's is `{}`",
            catalogue.identity, mark.identity
        );
        return Err(lost(reason));
    }
    if catalogue.n_changes < mark.n_changes {
        let reason = format!(
            "has `{}` of `{}` changes: its end or its write-ahead log was lost",
            catalogue.n_changes, mark.n_changes
        );
        return Err(lost(reason));
    }
    Ok(())
}

/// Removes the file, for a folder whose catalogue is replaced on purpose.
pub(super) fn remove(folder: &Path) -> Result<()> {
    match fs_err::remove_file(path_in(folder)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

fn path_in(folder: &Path) -> PathBuf {
    folder.join(FILE)
}

fn line_of(seen: &MarkContent) -> String {
    let text = format!("{:<32} {:020}", seen.identity, seen.n_changes);
    let line = format!("{text} {:08x}\n", crc32fast::hash(text.as_bytes()));
    debug_assert_eq!(line.len(), FILE_BYTES);
    line
}

fn parse(line: &str) -> Option<MarkContent> {
    let (text, checksum) = line.strip_suffix('\n')?.rsplit_once(' ')?;
    if u32::from_str_radix(checksum, 16).ok()? != crc32fast::hash(text.as_bytes()) {
        return None;
    }
    let (identity, n_changes) = text.rsplit_once(' ')?;
    Some(MarkContent {
        identity: identity.trim_end().to_owned(),
        n_changes: n_changes.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_reads_back_and_a_changed_one_does_not() {
        let seen =
            MarkContent { identity: "0123456789abcdef0123456789abcdef".to_owned(), n_changes: 77 };
        let line = line_of(&seen);
        assert_eq!(parse(&line), Some(seen));
        for at in 0..line.len() {
            let mut bytes = line.clone().into_bytes();
            bytes[at] ^= 1;
            let is_read = std::str::from_utf8(&bytes).ok().and_then(parse).is_some();
            assert!(!is_read, "byte {at}");
            assert_eq!(parse(&line[..at]), None);
        }
    }
}
