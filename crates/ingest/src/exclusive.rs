//! Work that one server at a time does, of all that share a catalogue: schedules run once.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use store::Catalogue;

use crate::Result;

/// A lease is renewed after this part of it.
const RENEWALS_PER_LEASE: u32 = 3;

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
    if !catalogue.take_lease(name, &holder, lease)? {
        return Ok(None);
    }
    let (is_done, changed) = (Mutex::new(false), Condvar::new());
    let result = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut is_done = is_done.lock();
            while !*is_done {
                changed.wait_for(&mut is_done, lease / RENEWALS_PER_LEASE);
                if !*is_done && let Err(error) = catalogue.take_lease(name, &holder, lease) {
                    tracing::debug!(error = &error as &dyn std::error::Error, "not renewed");
                }
            }
        });
        let done = Done { is_done: &is_done, changed: &changed };
        let result = work();
        drop(done);
        result
    });
    if let Err(error) = catalogue.end_lease(name, &holder) {
        tracing::debug!(error = &error as &dyn std::error::Error, "the lease ends by itself");
    }
    Ok(Some(result))
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
