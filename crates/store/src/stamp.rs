//! Which files were found whole, or were written by this program, when they were last closed.
//!
//! Comparing a catalogue and its indexes with their checksums reads all of them, which takes longer
//! than a search. A command that only reads trusts files that are, by size and time of their last
//! change, those that a process before it closed. A server, which lives long, compares always.

use std::path::Path;
use std::time::UNIX_EPOCH;

use crate::Result;

/// The name of the file that remembers.
const FILE: &str = "closed";

/// When files are compared with their checksums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verify {
    /// At every opening.
    AtOpening,
    /// Unless they are as a clean stop left them.
    WhenChanged,
}

impl Verify {
    /// Tells whether the files of a folder have to be compared.
    pub(crate) fn is_needed(self, folder: &Path, of_store: fn(&str) -> bool) -> bool {
        match self {
            Verify::AtOpening => true,
            Verify::WhenChanged => !is_as_closed(folder, of_store).unwrap_or(false),
        }
    }
}

/// Remembers the files of a folder as they are now.
///
/// Invariant: nobody writes them any more, and they were compared when they were opened.
pub(crate) fn remember(folder: &Path, of_store: fn(&str) -> bool) -> Result<()> {
    let listed = listed(folder, of_store)?;
    let path = folder.join(FILE);
    // Commands that change nothing write nothing.
    if fs_err::read_to_string(&path).is_ok_and(|kept| kept == listed) {
        return Ok(());
    }
    Ok(fs_err::write(path, listed)?)
}

/// Forgets what a clean stop left, once it changes.
pub(crate) fn forget(folder: &Path) {
    // One that stays makes no harm as long as the file changes with it.
    let _ = fs_err::remove_file(folder.join(FILE));
}

fn is_as_closed(folder: &Path, of_store: fn(&str) -> bool) -> Result<bool> {
    match fs_err::read_to_string(folder.join(FILE)) {
        Ok(kept) => Ok(kept == listed(folder, of_store)?),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Lists the files that count, one in each line, with their sizes and times.
fn listed(folder: &Path, of_store: fn(&str) -> bool) -> Result<String> {
    let mut lines = vec![];
    for entry in fs_err::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| *name != FILE && of_store(name)) else {
            continue;
        };
        let metadata = entry.metadata()?;
        let changed = metadata.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
        lines.push(format!("{name} {} {}\n", metadata.len(), changed.as_nanos()));
    }
    lines.sort();
    Ok(lines.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_by_anybody_makes_a_comparison_necessary() {
        let folder = testkit::Folder::new();
        let is_needed = |verify: Verify| verify.is_needed(folder.path(), |name| name != "lock");
        fs_err::write(folder.join("one"), "a").unwrap();
        assert!(is_needed(Verify::WhenChanged), "nothing is remembered");
        remember(folder.path(), |name| name != "lock").unwrap();
        assert!(!is_needed(Verify::WhenChanged) && is_needed(Verify::AtOpening));
        fs_err::write(folder.join("lock"), "x").unwrap();
        assert!(!is_needed(Verify::WhenChanged), "the lock does not count");
        for change in ["two", "one"] {
            fs_err::write(folder.join(change), "bc").unwrap();
            assert!(is_needed(Verify::WhenChanged), "{change}");
            remember(folder.path(), |name| name != "lock").unwrap();
        }
        let kept = fs_err::metadata(folder.join("one")).unwrap().modified().unwrap();
        let later = kept + std::time::Duration::from_nanos(1);
        let file = fs_err::OpenOptions::new().write(true).open(folder.join("one")).unwrap();
        file.file().set_modified(later).unwrap();
        assert!(is_needed(Verify::WhenChanged), "the time alone");
    }
}
