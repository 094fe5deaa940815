//! What other servers write to a shared catalogue is followed in the background, and an engine
//! elsewhere is asked whether it answers.

use std::sync::{Arc, Weak};
use std::time::Duration;

use store::Store;

/// How often the catalogue is asked what has changed: what another server wrote is found here after
/// about this time.
const FOLLOW_EVERY: Duration = Duration::from_millis(500);
/// How long is waited after the catalogue did not answer.
const RETRY_AFTER: Duration = Duration::from_secs(2);

/// Lets a store follow for as long as it lives; one that nobody shares, with its engine in this
/// process, needs nothing.
pub(super) fn follow(store: &Arc<Store>) -> std::io::Result<()> {
    if let Some(server) = store.engine().info().server() {
        let every = server.reach_every();
        let store = Arc::downgrade(store);
        let watch = move || watch_engine(&store, every);
        std::thread::Builder::new().name("reach".to_owned()).spawn(watch)?;
    }
    let is_shared = store.catalogue().is_shared();
    if !is_shared && store.engine().info().server().is_none() {
        return Ok(());
    }
    let store = Arc::downgrade(store);
    let follow: fn(&Store) -> store::Result<()> =
        if is_shared { Store::follow_others } else { Store::follow_behind };
    std::thread::Builder::new().name("follow".to_owned()).spawn(move || run(&store, follow))?;
    Ok(())
}

fn watch_engine(store: &Weak<Store>, every: Duration) {
    let mut was_away = false;
    while let Some(store) = store.upgrade() {
        let found = store.look_for_engine();
        drop(store);
        match &found {
            Ok(()) if was_away => tracing::info!("the engine answers again"),
            Err(error) if !was_away => tracing::warn!(
                error = error as &dyn std::error::Error,
                "the engine does not answer; it is asked again"
            ),
            _ => {}
        }
        was_away = found.is_err();
        std::thread::sleep(every);
    }
}

fn run(store: &Weak<Store>, follow: fn(&Store) -> store::Result<()>) {
    let mut was_away = false;
    while let Some(store) = store.upgrade() {
        let followed = follow(&store);
        drop(store);
        match &followed {
            Ok(()) if was_away => tracing::info!("following again"),
            Err(error) if !was_away => tracing::warn!(
                error = error as &dyn std::error::Error,
                "the index cannot follow the catalogue now; it is tried again"
            ),
            _ => {}
        }
        was_away = followed.is_err();
        std::thread::sleep(if was_away { RETRY_AFTER } else { FOLLOW_EVERY });
    }
}
