//! What differs between operating systems: by what a file is told from the one that was there
//! before under its name.

use std::fs::Metadata;

/// Gives what changes when a file is written or another one takes its place, besides its length.
#[cfg(unix)]
pub(crate) fn marks(found: &Metadata) -> Vec<String> {
    use std::os::unix::fs::MetadataExt;

    // The time of change cannot be set back, as that of the content can.
    vec![
        format!("{}:{}", found.dev(), found.ino()),
        format!("{}.{:09}", found.mtime(), found.mtime_nsec()),
        format!("{}.{:09}", found.ctime(), found.ctime_nsec()),
    ]
}

/// Gives what changes when a file is written or another one takes its place, besides its length.
#[cfg(not(unix))]
pub(crate) fn marks(found: &Metadata) -> Vec<String> {
    [found.modified(), found.created()].map(|time| format!("{time:?}")).into()
}
