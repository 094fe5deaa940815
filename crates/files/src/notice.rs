//! What changed in the roots, as the system tells it, is looked at and asked for; nothing is asked
//! for when nothing changed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

use ingest::{Changed, Job, JobId, JobState, Priority};
use model::{TenantId, Timestamp};

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
    pub(crate) unseen: Changed,
    /// Those that have to be looked at again.
    pub(crate) again: Changed,
    /// How long it took to look at them, without the time that the jobs were waited for.
    pub(crate) looked: Duration,
}

/// A job over a whole root, or a folder of it, that waits or is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RunBeside {
    /// What changed later may not be in what it reads.
    pub(crate) since: Timestamp,
    /// Whether it has begun, so that it may have read what changed since.
    is_running: bool,
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
    pub(crate) fn notice(&self, changed: &Changed) -> Result<Taken> {
        let mut by_root: BTreeMap<&str, (&Root, Changed)> = BTreeMap::new();
        let roots = self.indexer().roots();
        for path in &changed.paths {
            if let Some(root) = roots.owner_of(path) {
                let (_, of_root) = by_root.entry(&root.name).or_insert((root, Changed::default()));
                of_root.paths.insert(concerned(path).to_owned());
            }
        }
        for folder in &changed.crowded {
            if let Some(root) = roots.owner_of(folder) {
                let (_, of_root) = by_root.entry(&root.name).or_insert((root, Changed::default()));
                of_root.crowded.insert(folder.clone());
            }
        }
        let mut taken = Taken::default();
        for (root, changed) in by_root.into_values() {
            if self.are_changes_on_the_way(root)? {
                taken.unseen.append(changed);
                continue;
            }
            match self.run_beside(root)? {
                None => self.notice_at_rest(root, changed, &mut taken)?,
                Some(run) => self.notice_beside(root, changed, run, &mut taken)?,
            }
        }
        Ok(taken)
    }

    /// Takes in what changed in a root that no run is over.
    fn notice_at_rest(&self, root: &Root, changed: Changed, taken: &mut Taken) -> Result<()> {
        let Changed { mut paths, mut crowded } = changed;
        paths.append(&mut crowded);
        // A change of the root itself is a change of everything in it.
        if !paths.contains(&root.path) {
            self.ask_for(root, Selection::Paths(paths), taken)?;
        } else if self.look_at(&root.path)? == Look::Again {
            taken.again.paths.insert(root.path.clone());
        }
        Ok(())
    }

    /// Takes in what changed in a root while a run over it is on its way or under way: that must not
    /// wait for the run, nor take in what the run comes to anyway.
    fn notice_beside(
        &self,
        root: &Root,
        changed: Changed,
        run: RunBeside,
        taken: &mut Taken,
    ) -> Result<()> {
        let Changed { mut paths, mut crowded } = changed;
        if paths.remove(&root.path) || crowded.contains(&root.path) {
            crowded = BTreeSet::from([root.path.clone()]);
        }
        // The run may have read a file before it changed, and write it after.
        if run.is_running {
            let (paths, crowded) = (paths.clone(), crowded.clone());
            taken.again.append(Changed { paths, crowded });
        }
        if !paths.is_empty() && self.ask_for(root, Selection::Paths(paths), taken)? {
            // One job after the other.
            taken.unseen.crowded.append(&mut crowded);
        } else if !crowded.is_empty() {
            self.ask_for(root, Selection::Recent(crowded, run.since), taken)?;
        }
        Ok(())
    }

    /// Asks for a job where something changed; tells whether it did.
    fn ask_for(&self, root: &Root, selection: Selection, taken: &mut Taken) -> Result<bool> {
        let begun = Instant::now();
        let has_changes = self.indexer().has_changes(root, &selection)?;
        taken.looked += begun.elapsed();
        if !has_changes {
            return Ok(false);
        }
        let (paths, since) = match selection {
            Selection::Folder(folder) => (BTreeSet::from([folder]), None),
            Selection::Paths(paths) => (paths, None),
            Selection::Recent(paths, since) => (paths, Some(since)),
        };
        let (name, paths) = (root.name.clone(), Some(paths));
        let arguments =
            IndexArguments { root: name.clone(), folder: name, full: false, paths, since };
        let (tenant, subject) = (TenantId::local(), changes_of(root));
        self.indexer().way().announce();
        self.submit_job(&tenant, subject, Priority::High, &arguments)
            .inspect_err(|_| self.indexer().way().withdraw())?;
        Ok(true)
    }

    /// Gives the job over a root that waits or is under way.
    pub(crate) fn run_beside(&self, root: &Root) -> Result<Option<RunBeside>> {
        let running = self.running_over(root);
        let is_running = running.is_some();
        let job = match running {
            None => self.queue().active(INDEX_JOB, &root.name)?,
            running => running,
        };
        // What changed before it was decided to watch the root nobody was to notice.
        let watched = self.indexer().watch_gate().since(&root.name);
        Ok(job.map(|job| {
            let begun = job.started_at.filter(|_| is_running);
            let since = match (begun, watched) {
                (Some(begun), Some(watched)) => begun.min(watched),
                (Some(begun), None) => begun,
                (None, watched) => watched.unwrap_or(job.created_at),
            };
            RunBeside { since, is_running }
        }))
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
        self.running_over(root).map(|job| job.id)
    }

    fn running_over(&self, root: &Root) -> Option<Job> {
        let running = self.queue().running(INDEX_JOB);
        let is_its = |job: &Job| job.arguments["root"].as_str() == Some(root.name.as_str());
        running.into_iter().find(is_its)
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
