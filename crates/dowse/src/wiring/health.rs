//! How the server is: whether the catalogue can be read, and whether the disk has space.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serve::{Health, Readiness};
use store::ObjectKey;

use super::Lasting;

/// With less space than this nothing is taken that would have to be written.
const MIN_FREE_BYTES: u64 = 32 << 20;

/// An object that does not exist: asking for it reads the catalogue and costs nothing.
const PROBE: (&str, &str) = ("probe", "probe");

/// Jobs that may wait before they are called a lag.
const MAX_UNREMARKED_JOBS: usize = 1_000;

/// Gives what looks at the store and the disk.
pub(crate) fn readiness(lasting: &Lasting) -> Readiness {
    let lasting = lasting.clone();
    Arc::new(move || look(&lasting))
}

fn look(lasting: &Lasting) -> Health {
    let kept = match lasting.kept() {
        Ok(kept) => kept,
        Err(error) => {
            let hint = "`dowse check` says what is wrong; restore a backup when it is damaged";
            return Health::good().with("catalogue", format!("{error:#}"), hint).without_reads();
        }
    };
    let mut health = Health::good();
    let (kind, id) = PROBE;
    if let Err(error) = kept.keeper.catalogue().get(&ObjectKey::new(kind, id)) {
        let hint = "`dowse check` says what is wrong; restore a backup when it is damaged";
        let problem = format!("{:#}", anyhow::Error::from(error));
        return health.with("catalogue", problem, hint).without_reads();
    }
    if let Some(n_free) = free_bytes(lasting.data_dir()).filter(|n_free| *n_free < MIN_FREE_BYTES) {
        let problem = format!(
            "{n_free} bytes are free on the volume of `{}`, fewer than {MIN_FREE_BYTES}",
            lasting.data_dir().display()
        );
        let hint = "free space: jobs that wait go on by themselves";
        health = health.with("disk", problem, hint).without_writes();
    }
    for (source, problem) in lasting.away.sources() {
        let hint = "it is looked for every 30 s";
        health = health.with("source", format!("{source}: {problem}"), hint);
    }
    let (n_waiting, _) = kept.queue.counts();
    if n_waiting > MAX_UNREMARKED_JOBS {
        let problem = format!("{n_waiting} jobs wait");
        health = health.with("jobs", problem, "what they bring is found when they are done");
    }
    health
}

/// Gives the space that is free for the folder, or for the nearest one above it that exists.
fn free_bytes(folder: &Path) -> Option<u64> {
    let folder: PathBuf = std::path::absolute(folder).ok()?;
    let existing = folder.ancestors().find(|folder| folder.exists())?;
    let volume = rustix::fs::statvfs(existing).ok()?;
    Some(volume.f_bavail.saturating_mul(volume.f_frsize))
}
