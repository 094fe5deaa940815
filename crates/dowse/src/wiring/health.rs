//! How the server is, for `/readyz`: what the store says of itself, the space on the disk, the
//! sources that are away, and the jobs that wait.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serve::{Health, Readiness};

use super::SharedState;

/// With less space than this nothing is taken that would have to be written.
pub(crate) const MIN_FREE_BYTES: u64 = 32 << 20;

/// Jobs that may wait before they are called a lag.
const MAX_UNREMARKED_JOBS: usize = 1_000;

/// What an operator does about a store that does not work.
const STORE_HINT: &str = "`dowse check` says more; restore a backup when the catalogue is damaged";

/// What an operator does about a catalogue on a server that does not answer.
pub(crate) const CATALOGUE_AWAY_HINT: &str = "start the PostgreSQL of `[store.postgres]`, or fix its address there; it is asked again by itself";

/// What an operator does about a folder that is away.
pub(crate) const FOLDER_HINT: &str = "fix its path (`[files] roots`), make it, or give this user the \
                                      right to read it; what was indexed of it is kept";

/// What an operator does about a folder that feeds a collection and cannot be followed.
const FEED_HINT: &str = "fix `[[knowledge.folders]]`, or the folder; what cannot be followed stays \
                         as it is until it can";

/// Says that a folder cannot be looked into.
pub(crate) fn folder_away(folder: &str) -> String {
    format!("`{folder}` does not exist, may not be read or does not answer")
}

/// Gives what looks at the store and the disk.
pub(crate) fn readiness(shared_state: &SharedState) -> Readiness {
    let shared_state = shared_state.clone();
    Arc::new(move || look(&shared_state))
}

fn look(shared_state: &SharedState) -> Health {
    let mut health = Health::good();
    let kept = match shared_state.open_store() {
        Ok(kept) => kept,
        Err(error) => {
            return health.with("catalogue", format!("{error:#}"), STORE_HINT).without_reads();
        }
    };
    let store = kept.store.health();
    let is_shared = kept.store.catalogue().is_shared();
    health.lag = store.lag;
    health.follower_lag = kept.store.follower_lag();
    for degradation in store.degraded {
        let hint = match degradation.part {
            "disk" => "free space: what waits goes on by itself",
            "engine" | "index" => "it catches up by itself when it can be reached",
            // Nothing is to be restored where nobody could look.
            "catalogue" if is_shared && !store.reads => CATALOGUE_AWAY_HINT,
            _ => STORE_HINT,
        };
        health = health.with(degradation.part, degradation.problem, hint);
    }
    // After what it may follow from: a catalogue that is away cannot be followed.
    if let Some(lag) = health.follower_lag.filter(|lag| *lag > retrieve::MAX_FOLLOWER_LAG) {
        let problem = format!("changes by other servers were not read for {} s", lag.as_secs());
        health = health.with("index", problem, "it catches up by itself; answers say so meanwhile");
    }
    if !store.reads {
        return health.without_reads();
    }
    if !store.writes {
        health = health.without_writes();
    }
    let n_free = free_bytes(shared_state.data_dir()).filter(|n_free| *n_free < MIN_FREE_BYTES);
    if let Some(n_free) = n_free.filter(|_| store.writes) {
        let problem = format!(
            "{} are free on the volume of `{}`, fewer than {}",
            crate::print::bytes(n_free),
            shared_state.data_dir().display(),
            crate::print::bytes(MIN_FREE_BYTES)
        );
        let hint = "free space: what waits goes on by itself";
        health = health.with("disk", problem, hint).without_writes();
    }
    for (source, problem) in shared_state.away.sources() {
        let hint = "see that the file or the database is there; it is looked for every 30 s";
        health = health.with("source", format!("{source}: {problem}"), hint);
    }
    let files = shared_state.files.get();
    for folder in files.iter().flat_map(files::Service::away_roots) {
        health = health.with("folder", folder_away(&folder), FOLDER_HINT);
    }
    for problem in shared_state.feed_problems.all() {
        health = health.with("collection folder", problem, FEED_HINT);
    }
    if let Some(problem) = files.as_ref().and_then(files::Service::watch_problem) {
        let hint = "the log says why; raise `fs.inotify.max_user_watches` where it names that, and \
                    start the server again";
        health = health.with("watch", problem, hint);
    }
    let (n_waiting, _) = kept.queue.counts();
    if n_waiting > MAX_UNREMARKED_JOBS {
        let problem = format!("{n_waiting} jobs wait");
        health = health.with("jobs", problem, "what they bring is found when they are done");
    }
    health
}

/// Gives the space that is free for the folder, or for the nearest one above it that exists.
pub(crate) fn free_bytes(folder: &Path) -> Option<u64> {
    let folder: PathBuf = std::path::absolute(folder).ok()?;
    let existing = folder.ancestors().find(|folder| folder.exists())?;
    crate::platform::free_bytes(existing)
}
