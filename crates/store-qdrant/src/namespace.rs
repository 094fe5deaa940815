//! The namespaces that this process follows, one at a time each, and one server at a time.

use std::collections::HashMap;
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
        Turns { holder, locks: Mutex::default() }
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
        let turn = self.turn(catalogue, number, lock.lock());
        let deadline = Deadline::after(TURN_LIMIT);
        while !turn.has_lease()? {
            if deadline.is_over() {
                return Err(lost());
            }
            std::thread::sleep(ASK_EVERY);
        }
        Ok(turn)
    }

    /// Takes the turn of this process unless somebody has it, here or on another server.
    pub(crate) fn try_take<'a>(
        &'a self,
        catalogue: &'a dyn Catalogue,
        number: u32,
        lock: &'a Mutex<()>,
    ) -> Result<Option<Turn<'a>>> {
        let Some(lock) = lock.try_lock() else { return Ok(None) };
        let turn = self.turn(catalogue, number, lock);
        Ok(turn.has_lease()?.then_some(turn))
    }

    fn turn<'a>(
        &'a self,
        catalogue: &'a dyn Catalogue,
        number: u32,
        lock: MutexGuard<'a, ()>,
    ) -> Turn<'a> {
        Turn { catalogue, name: format!("{ENGINE}/{number}"), holder: &self.holder, _lock: lock }
    }
}

fn lost() -> Error {
    Error::EngineTimeout { engine: ENGINE, what: "turn to write" }
}

impl Turn<'_> {
    /// Says that this process is still there.
    ///
    /// # Errors
    ///
    /// [`Error::EngineTimeout`] when it was not heard of for so long that another server has the
    /// turn by now: what it would write is older than what that one writes.
    pub(crate) fn renew(&self) -> Result<()> {
        if self.has_lease()? { Ok(()) } else { Err(lost()) }
    }

    fn has_lease(&self) -> Result<bool> {
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
