//! What changed in a folder since a moment, where so much changed that it was not told file by file:
//! the rest of the folder may be what a run has not come to yet, and must not go before it.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

use ignore::DirEntry;
use model::Timestamp;

use crate::platform;

/// How far the times of files may lie behind the clock: the system notes them in steps.
const SLACK_MILLIS: i64 = 100;

/// Tells, in a walk, which files changed since a moment.
pub(crate) struct Recent {
    since: Timestamp,
    /// The folder that came as a whole, in which the walk is now or was last.
    came: Option<PathBuf>,
    /// Whether the last file changed.
    is_wanted: bool,
}

impl Recent {
    pub(crate) fn since(since: Timestamp) -> Self {
        let since = Timestamp(since.millis() - SLACK_MILLIS);
        Recent { since, came: None, is_wanted: false }
    }

    /// A folder that was put into place changed, and what it holds did not: all of it is new here.
    pub(crate) fn meet_folder(&mut self, folder: &DirEntry) {
        let is_root = folder.depth() == 0;
        let Some(metadata) = folder.metadata().ok().filter(|_| !is_root) else { return };
        let is_content_older =
            metadata.modified().is_ok_and(|modified| Timestamp::from(modified) < self.since);
        if self.is_recent(&metadata) && is_content_older && !self.is_in_what_came(folder.path()) {
            self.came = Some(folder.path().to_owned());
        }
    }

    pub(crate) fn meet_file(&mut self, path: &Path, metadata: &Metadata) {
        self.is_wanted = self.is_recent(metadata) || self.is_in_what_came(path);
    }

    /// Tells whether the last file changed.
    pub(crate) fn is_wanted(&self) -> bool {
        self.is_wanted
    }

    fn is_recent(&self, metadata: &Metadata) -> bool {
        platform::changed_at(metadata).is_none_or(|changed| changed >= self.since)
    }

    fn is_in_what_came(&self, path: &Path) -> bool {
        self.came.as_deref().is_some_and(|came| path.starts_with(came))
    }
}
