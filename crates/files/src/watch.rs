//! Roots watched while the server runs: by the system's events, and by a slow look at everything
//! for what events do not tell, as on network shares.
//!
//! A look only reads. A job is asked for when something changed, so a server with folders in
//! which nothing happens writes nothing.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ingest::{FolderWatch, Noticed};
use parking_lot::{Condvar, Mutex};

use crate::Service;
use crate::platform;

/// The time between two looks at a root whose changes the system tells.
const LOOK_SELDOM: Duration = Duration::from_secs(15 * 60);

/// The time between two looks at a root whose changes nobody tells.
const LOOK_OFTEN: Duration = Duration::from_secs(15);

/// Watches the roots of a service until it is dropped.
pub struct Watcher {
    _events: Option<FolderWatch>,
    stop: Arc<Stop>,
    looking: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Stop {
    is_stopped: Mutex<bool>,
    stopped: Condvar,
}

impl Watcher {
    /// Begins to watch. Where the system gives no events, the slow look is made often.
    ///
    /// # Errors
    ///
    /// When the system gives no thread.
    pub fn start(service: Service) -> std::io::Result<Self> {
        let roots: Vec<PathBuf> =
            service.indexer().roots().all().iter().map(|root| root.path.clone()).collect();
        let (events, told) = watch_events(&service, &roots);
        let stop = Arc::new(Stop::default());
        let of_thread = Arc::clone(&stop);
        let looking = std::thread::Builder::new()
            .name("look".to_owned())
            .spawn(move || look_again(&service, &roots, &told, &of_thread))?;
        Ok(Watcher { _events: events, stop, looking: Some(looking) })
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        *self.stop.is_stopped.lock() = true;
        self.stop.stopped.notify_all();
        if let Some(looking) = self.looking.take() {
            // A panic of the thread was reported when it happened.
            let _ = looking.join();
        }
    }
}

/// Asks the system for events, and tells for each root whether it gives them.
fn watch_events(service: &Service, roots: &[PathBuf]) -> (Option<FolderWatch>, Vec<bool>) {
    let (ignoring, noticing) = (service.clone(), service.clone());
    let watch = FolderWatch::start(
        move |path| ignoring.is_ignored(path),
        move |noticed| {
            let noticed = match noticed {
                Noticed::Paths(paths) => noticing.notice(&paths),
                Noticed::Everything => noticing.look_at_all(),
            };
            if let Err(error) = noticed {
                tracing::warn!(%error, "a change in a folder could not be taken in");
            }
        },
    );
    let mut watch = match watch {
        Ok(watch) => watch,
        Err(error) => {
            tracing::warn!(%error, "folders are looked at from time to time instead of watched");
            return (None, vec![false; roots.len()]);
        }
    };
    let told = roots
        .iter()
        .map(|root| {
            if platform::is_on_network(root) {
                return false;
            }
            let added = watch.add(root);
            if let Err(error) = &added {
                let error = model::with_causes(error);
                tracing::warn!(root = %root.display(), error, "a folder cannot be watched");
            }
            added.is_ok()
        })
        .collect();
    (Some(watch), told)
}

fn look_again(service: &Service, roots: &[PathBuf], told: &[bool], stop: &Stop) {
    let period = |told: bool| if told { LOOK_SELDOM } else { LOOK_OFTEN };
    let mut next: Vec<Instant> = told.iter().map(|told| Instant::now() + period(*told)).collect();
    loop {
        let Some(due) = next.iter().min().copied() else { return };
        let mut is_stopped = stop.is_stopped.lock();
        while !*is_stopped && Instant::now() < due {
            stop.stopped.wait_until(&mut is_stopped, due);
        }
        if *is_stopped {
            return;
        }
        drop(is_stopped);
        for (root_idx, root) in roots.iter().enumerate() {
            if next[root_idx] > Instant::now() {
                continue;
            }
            if let Err(error) = service.look_at(root) {
                tracing::warn!(%error, root = %root.display(), "a folder could not be looked at");
            }
            next[root_idx] = Instant::now() + period(told[root_idx]);
        }
    }
}
