//! Which processes use a catalogue that several servers share: each renews a lease of its own for as
//! long as it runs, by the catalogue's clock. A move asks for them, since a lock in a data folder says
//! nothing of servers that have another one.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use model::TenantId;
use serde::{Deserialize, Serialize};
use store::{Catalogue, Change, ObjectKey, ObjectPage, Store, TypedObject};

/// How long a process counts as present after it renewed its lease.
const PRESENCE: Duration = Duration::from_secs(20);
/// How often it renews it.
const RENEW_EVERY: Duration = Duration::from_secs(5);
/// How often somebody who waits for a lease to end looks.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Those of this process, which end when it stops.
static PRESENT: Mutex<Vec<(Weak<Store>, Presence)>> = Mutex::new(Vec::new());

/// A process that has opened the catalogue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Presence {
    id: String,
    /// Where its own files are, for people.
    data_dir: String,
}

impl TypedObject for Presence {
    type Id = str;

    const KIND: &'static str = "moment_server";

    fn id(&self) -> String {
        self.id.clone()
    }

    fn tenant(&self) -> TenantId {
        TenantId::new("")
    }
}

impl Presence {
    fn lease(&self) -> String {
        format!("presence/{}", self.id)
    }

    fn key(&self) -> ObjectKey {
        ObjectKey::new(Presence::KIND, &self.id)
    }
}

fn present() -> std::sync::MutexGuard<'static, Vec<(Weak<Store>, Presence)>> {
    PRESENT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lets others know that this process uses a store, until it stops; a store that nobody shares has
/// a lock instead.
pub(super) fn announce(store: &Arc<Store>, data_dir: &Path) -> store::Result<()> {
    let catalogue = store.catalogue();
    if !catalogue.is_shared() {
        return Ok(());
    }
    let id = uuid::Uuid::new_v4().to_string();
    let presence = Presence { id, data_dir: data_dir.display().to_string() };
    // Before anything is written: a move that looks now sees it.
    begin(&*catalogue, &presence)?;
    let store = Arc::downgrade(store);
    present().push((Weak::clone(&store), presence.clone()));
    let renew = move || renew(&store, &presence);
    std::thread::Builder::new().name("presence".to_owned()).spawn(renew)?;
    Ok(())
}

/// Says that this process uses no store any more.
pub(super) fn leave() {
    for (store, presence) in std::mem::take(&mut *present()) {
        let Some(store) = store.upgrade() else { continue };
        let catalogue = store.catalogue();
        let left = catalogue
            .end_lease(&presence.lease(), &presence.id)
            .and_then(|_| catalogue.apply(&[Change::Delete(presence.key())]));
        if let Err(error) = left {
            tracing::debug!(%error, "the lease of this process ends by itself");
        }
    }
}

fn begin(catalogue: &dyn Catalogue, presence: &Presence) -> store::Result<()> {
    catalogue.take_lease(&presence.lease(), &presence.id, PRESENCE)?;
    for gone in Presence::list(catalogue, &ObjectPage::of(Presence::KIND))? {
        if catalogue.lease(&gone.lease())?.is_none() {
            catalogue.apply(&[Change::Delete(gone.key())])?;
        }
    }
    presence.save(catalogue).map(|_| ())
}

fn renew(store: &Weak<Store>, presence: &Presence) {
    loop {
        std::thread::sleep(RENEW_EVERY);
        let Some(store) = store.upgrade() else { return };
        let catalogue = store.catalogue();
        drop(store);
        // Locked over the call, so that a lease is not renewed after it was ended.
        let present = present();
        if !present.iter().any(|(_, one)| one == presence) {
            return;
        }
        // Whoever follows the catalogue says that it is away. A process that others took for gone
        // while it was away is written down again.
        let renewed = catalogue
            .take_lease(&presence.lease(), &presence.id, PRESENCE)
            .and_then(|_| presence.save(&*catalogue));
        if let Err(error) = renewed {
            tracing::debug!(%error, "the lease of this process could not be renewed");
        }
    }
}

/// Gives the data folder of a process that uses the catalogue now, or nothing. One that ended
/// without a word is waited for until its lease is over.
pub(crate) fn server_of(catalogue: &dyn Catalogue) -> store::Result<Option<String>> {
    if !catalogue.is_shared() {
        return Ok(None);
    }
    for presence in Presence::list(catalogue, &ObjectPage::of(Presence::KIND))? {
        let Some(first) = catalogue.lease(&presence.lease())? else { continue };
        loop {
            std::thread::sleep(LOOK_EVERY);
            match catalogue.lease(&presence.lease())? {
                None => break,
                Some(later) if later.until > first.until => return Ok(Some(presence.data_dir)),
                Some(_) => {}
            }
        }
    }
    Ok(None)
}
