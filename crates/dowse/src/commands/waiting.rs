//! A server whose catalogue is on another machine and away when it starts: it listens, says that it
//! is not ready, and begins when the catalogue answers.

use std::sync::Arc;
use std::time::Duration;

use ::serve::{Health, Readiness, answer_unready};
use parking_lot::Mutex;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::reach::{CatalogueAway, open_to_serve};
use crate::config::Config;
use crate::print;
use crate::wiring::{CATALOGUE_AWAY_HINT, SharedState};

/// How often the catalogue is looked for.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Opens the data of a configuration; gives the reason where its catalogue does not answer.
///
/// # Errors
///
/// Everything else that keeps it from being opened.
pub(super) fn open_or_wait(config: &Config) -> anyhow::Result<Result<SharedState, CatalogueAway>> {
    match open_to_serve(config) {
        Ok(shared_state) => Ok(Ok(shared_state)),
        Err(error) => error.downcast::<CatalogueAway>().map(Err),
    }
}

/// Answers that nothing can be answered until the catalogue is there; nothing when the server is told
/// to stop before.
///
/// # Errors
///
/// When the catalogue is there and cannot be used.
pub(super) async fn wait_for_catalogue(
    listener: &TcpListener,
    config: &Config,
    away: CatalogueAway,
    shutdown: &CancellationToken,
) -> anyhow::Result<Option<SharedState>> {
    let address = config.server.listen;
    print::note(format!("listening on http://{address} and waiting for the catalogue: {away}"));
    let problem = Arc::new(Mutex::new(away.problem().to_owned()));
    let needs_login = config.auth.jwt.is_some() || !config.auth.keys.is_empty();
    let answered = answer_unready(listener, readiness(Arc::clone(&problem), needs_login));
    tokio::pin!(answered);
    loop {
        tokio::select! {
            () = &mut answered => {}
            () = shutdown.cancelled() => return Ok(None),
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
        let config = config.clone();
        let opening = tokio::task::spawn_blocking(move || open_or_wait(&config));
        tokio::pin!(opening);
        let opened = tokio::select! {
            () = &mut answered => continue,
            opened = &mut opening => opened??,
        };
        match opened {
            Ok(shared_state) => {
                print::note("the catalogue answers");
                return Ok(Some(shared_state));
            }
            Err(away) => away.problem().clone_into(&mut problem.lock()),
        }
    }
}

/// Strangers learn which part is away, and not why, where callers have to say who they are.
fn readiness(problem: Arc<Mutex<String>>, needs_login: bool) -> Readiness {
    Arc::new(move || {
        let problem = problem.lock().clone();
        let health = Health::good().with("catalogue", problem, CATALOGUE_AWAY_HINT).without_reads();
        if needs_login { health.without_details() } else { health }
    })
}
