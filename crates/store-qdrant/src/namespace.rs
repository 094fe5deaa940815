//! The namespaces that this process follows, one at a time each, and one server at a time.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use model::Deadline;
use parking_lot::{Mutex, MutexGuard};
use store::{Catalogue, Error, Result};

use crate::ENGINE;

/// How long a server has a namespace to itself after its last sign of life.
const LEASE: Duration = Duration::from_secs(30);
/// How long another server is waited for.
const TURN_LIMIT: Duration = Duration::from_secs(60);
/// How often a waiting server asks.
const ASK_EVERY: Duration = Duration::from_millis(20);

/// Whose turn it is.
pub(crate) struct Turns {
    holder: String,
    locks: Mutex<HashMap<u32, Arc<Mutex<()>>>>,
    /// Tenants that are being filled here and not in use yet, so that nobody erases them meanwhile.
    pub(crate) filling: Mutex<BTreeSet<String>>,
}

/// What is held while a namespace is followed.
pub(crate) struct Turn<'a> {
    catalogue: &'a dyn Catalogue,
    name: String,
    holder: &'a str,
    _lock: MutexGuard<'a, ()>,
}

impl Turns {
    /// Names this process.
    pub(crate) fn new(holder: String) -> Self {
        Turns { holder, locks: Mutex::default(), filling: Mutex::default() }
    }

    /// Gives the lock of a namespace in this process.
    pub(crate) fn lock_of(&self, number: u32) -> Arc<Mutex<()>> {
        self.locks.lock().entry(number).or_default().clone()
    }

    /// Waits for the turn of this process.
    ///
    /// # Errors
    ///
    /// [`Error::EngineTimeout`] when another server has it for too long.
    pub(crate) fn take<'a>(
        &'a self,
        catalogue: &'a dyn Catalogue,
        number: u32,
        lock: &'a Mutex<()>,
    ) -> Result<Turn<'a>> {
        let lock = lock.lock();
        let turn = Turn {
            catalogue,
            name: format!("{ENGINE}/{number}"),
            holder: &self.holder,
            _lock: lock,
        };
        let deadline = Deadline::after(TURN_LIMIT);
        while !turn.renew()? {
            if deadline.is_over() {
                return Err(Error::EngineTimeout { engine: ENGINE, what: "turn to write" });
            }
            std::thread::sleep(ASK_EVERY);
        }
        Ok(turn)
    }
}

impl Turn<'_> {
    /// Says that this process is still there; tells whether it has the turn.
    pub(crate) fn renew(&self) -> Result<bool> {
        if !self.catalogue.is_shared() {
            return Ok(true);
        }
        self.catalogue.take_lease(&self.name, self.holder, LEASE)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if self.catalogue.is_shared() {
            // A lease that cannot be ended ends by itself.
            let _ = self.catalogue.end_lease(&self.name, self.holder);
        }
    }
}
