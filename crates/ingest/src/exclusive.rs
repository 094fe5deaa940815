//! Work that one server at a time does, of all that share a catalogue: schedules run once.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use store::Catalogue;

use crate::Result;

/// A lease is renewed after this part of it.
const RENEWALS_PER_LEASE: u32 = 3;

/// How often one that waits for its turn looks.
const LOOK: Duration = Duration::from_millis(10);

/// Does something while no other server does it; gives nothing when one does. With a catalogue of
/// its own a server simply does it.
///
/// The lease is renewed while the work goes on. When the catalogue is away for longer than a lease,
/// another server may begin: work that must not be done twice still has to be guarded by versions.
///
/// # Errors
///
/// When the lease cannot be asked for.
pub fn exclusively<T>(
    catalogue: &Arc<dyn Catalogue>,
    name: &str,
    lease: Duration,
    work: impl FnOnce() -> T,
) -> Result<Option<T>> {
    if !catalogue.is_shared() {
        return Ok(Some(work()));
    }
    let holder = uuid::Uuid::new_v4().to_string();
    match catalogue.take_lease(name, &holder, lease)? {
        true => Ok(Some(renewing(catalogue, name, &holder, lease, work))),
        false => Ok(None),
    }
}

/// Does something when no other server does it, waiting for them as long as two leases last: so
/// long has a server that died while it did it. With a catalogue of its own a server simply does it.
///
/// What is said of renewals by [`exclusively`] holds here too.
///
/// # Errors
///
/// When the lease cannot be asked for, and [`crate::Error::Busy`] when others had it all the time.
pub fn in_turn<T>(
    catalogue: &Arc<dyn Catalogue>,
    name: &str,
    lease: Duration,
    work: impl FnOnce() -> T,
) -> Result<T> {
    if !catalogue.is_shared() {
        return Ok(work());
    }
    let holder = uuid::Uuid::new_v4().to_string();
    let until = Instant::now() + 2 * lease;
    while !catalogue.take_lease(name, &holder, lease)? {
        if Instant::now() > until {
            return Err(crate::Error::Busy);
        }
        std::thread::sleep(LOOK);
    }
    Ok(renewing(catalogue, name, &holder, lease, work))
}

/// Does something while a lease is renewed, and ends the lease.
fn renewing<T>(
    catalogue: &Arc<dyn Catalogue>,
    name: &str,
    holder: &str,
    lease: Duration,
    work: impl FnOnce() -> T,
) -> T {
    let (is_done, changed) = (Mutex::new(false), Condvar::new());
    let result = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut is_done = is_done.lock();
            while !*is_done {
                changed.wait_for(&mut is_done, lease / RENEWALS_PER_LEASE);
                if !*is_done && let Err(error) = catalogue.take_lease(name, holder, lease) {
                    tracing::debug!(error = &error as &dyn std::error::Error, "not renewed");
                }
            }
        });
        let done = Done { is_done: &is_done, changed: &changed };
        let result = work();
        drop(done);
        result
    });
    if let Err(error) = catalogue.end_lease(name, holder) {
        tracing::debug!(error = &error as &dyn std::error::Error, "the lease ends by itself");
    }
    result
}

/// Ends the renewals, also when the work panics.
struct Done<'a> {
    is_done: &'a Mutex<bool>,
    changed: &'a Condvar,
}

impl Drop for Done<'_> {
    fn drop(&mut self) {
        *self.is_done.lock() = true;
        self.changed.notify_all();
    }
}
