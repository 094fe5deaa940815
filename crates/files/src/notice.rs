//! What changed in the roots, as the system tells it, is looked at and asked for; nothing is asked
//! for when nothing changed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ingest::{Job, JobId, JobState, Priority};
use model::TenantId;

use crate::index::IndexArguments;
use crate::walk::{Selection, is_hidden};
use crate::{FilesConfig, INDEX_JOB, Result, Root, Service};

/// Names of files that say what is left out around them.
const RULES: [&str; 2] = [".gitignore", ".ignore"];

/// What the subject of a job for changes of a root has behind the name of the root.
pub const CHANGES: &str = " (changes)";

/// What a run says that somebody stopped.
const CANCELLED: &str = "cancelled";

/// What became of paths that changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Taken {
    /// Those that were not looked at, since a job for changes of their root is on its way.
    pub(crate) unseen: BTreeSet<PathBuf>,
    /// Those that have to be looked at again.
    pub(crate) again: BTreeSet<PathBuf>,
    /// How long it took to look at them, without the time that the jobs were waited for.
    pub(crate) looked: Duration,
}

/// Whether something was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// It was, and a job was asked for where something changed.
    Done,
    /// A job is under way that may have been there before the change: look again after it.
    Again,
}

impl Service {
    /// Takes in what changed at or below some paths.
    pub(crate) fn notice(&self, paths: &BTreeSet<PathBuf>) -> Result<Taken> {
        let mut by_root: BTreeMap<&str, (&Root, BTreeSet<PathBuf>)> = BTreeMap::new();
        for path in paths {
            if let Some(root) = self.indexer().roots().owner_of(path) {
                let (_, paths) = by_root.entry(&root.name).or_insert((root, BTreeSet::new()));
                paths.insert(concerned(path).to_owned());
            }
        }
        let mut taken = Taken::default();
        for (root, paths) in by_root.into_values() {
            // A change of the root itself is a change of everything in it.
            if paths.contains(&root.path) {
                if self.look_at(&root.path)? == Look::Again {
                    taken.again.insert(root.path.clone());
                }
                continue;
            }
            if self.are_changes_on_the_way(root)? {
                taken.unseen.extend(paths);
                continue;
            }
            // A run over the whole root may have read a file before it changed, and write it after.
            if self.is_being_indexed(root) {
                taken.again.extend(paths.iter().cloned());
            }
            let begun = Instant::now();
            let has_changes = self.indexer().has_changes(root, &Selection::Paths(paths.clone()))?;
            taken.looked += begun.elapsed();
            if has_changes {
                let arguments = IndexArguments {
                    root: root.name.clone(),
                    folder: root.name.clone(),
                    full: false,
                    paths: Some(paths),
                };
                let (tenant, subject) = (TenantId::local(), changes_of(root));
                self.indexer().way().announce();
                self.submit_job(&tenant, subject, Priority::High, &arguments)
                    .inspect_err(|_| self.indexer().way().withdraw())?;
            }
        }
        Ok(taken)
    }

    /// Tells whether a job for changes of a root waits or runs.
    pub(crate) fn are_changes_on_the_way(&self, root: &Root) -> Result<bool> {
        Ok(self.queue().active(INDEX_JOB, &changes_of(root))?.is_some())
    }

    /// Looks at a whole root.
    pub(crate) fn look_at(&self, root: &Path) -> Result<Look> {
        let Some(root) = self.indexer().roots().owner_of(root) else { return Ok(Look::Done) };
        if self.is_being_indexed(root) {
            return Ok(Look::Again);
        }
        // One that waits will see everything.
        if self.queue().active(INDEX_JOB, &root.name)?.is_none()
            && self.indexer().has_changes(root, &Selection::Folder(root.path.clone()))?
        {
            let (name, tenant) = (root.name.clone(), TenantId::local());
            self.submit(&tenant, &root.name, name, false, Priority::Normal)?;
        }
        Ok(Look::Done)
    }

    /// Looks at a whole root when a run over it is over that was waited for, or without one. What
    /// somebody stopped is not begun again as soon as it has stopped.
    pub(crate) fn look_after(&self, root: &Root, run: Option<JobId>) -> Result<Look> {
        match run.is_some_and(|run| self.was_cancelled(&run)) {
            true => Ok(Look::Done),
            false => self.look_at(&root.path),
        }
    }

    /// Tells whether a run is under way that writes files of a root.
    pub(crate) fn is_being_indexed(&self, root: &Root) -> bool {
        self.run_of(root).is_some()
    }

    /// Gives the run that writes files of a root now.
    pub(crate) fn run_of(&self, root: &Root) -> Option<JobId> {
        let running = self.queue().running(INDEX_JOB);
        let is_its = |job: &Job| job.arguments["root"].as_str() == Some(root.name.as_str());
        running.into_iter().find(is_its).map(|job| job.id)
    }

    /// Tells whether somebody stopped a run.
    fn was_cancelled(&self, run: &JobId) -> bool {
        let ended = self.queue().get(run);
        ended.is_ok_and(|job| {
            job.state == JobState::Failed && job.error.as_deref() == Some(CANCELLED)
        })
    }

    /// Tells whether a change of this path concerns nobody: own data, hidden names, no root.
    pub(crate) fn is_ignored(&self, path: &Path) -> bool {
        let indexer = self.indexer();
        let Some(root) = indexer.roots().owner_of(path) else { return true };
        indexer.is_own_data(path) || !may_concern(&root.path, &indexer.config().files, path)
    }
}

/// Names the jobs for changes of a root.
fn changes_of(root: &Root) -> String {
    format!("{}{CHANGES}", root.name)
}

/// Tells whether a change of a path may change what an index of a folder holds: that of a hidden
/// name does not, unless it is a rule about other names.
pub fn may_concern(folder: &Path, config: &FilesConfig, path: &Path) -> bool {
    let Ok(relative) = path.strip_prefix(folder) else { return false };
    let folders = if is_rule(path) { relative.parent() } else { Some(relative) };
    let mut names = folders.into_iter().flatten();
    config.hidden || !names.any(is_hidden)
}

/// Gives what a change of a path concerns: a changed rule changes what is indexed around it.
pub(crate) fn concerned(path: &Path) -> &Path {
    if is_rule(path) { path.parent().unwrap_or(path) } else { path }
}

fn is_rule(path: &Path) -> bool {
    path.file_name().is_some_and(|name| RULES.iter().any(|rule| name == *rule))
}
