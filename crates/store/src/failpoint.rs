//! Places where a test can make a commit fail or the process die.
//!
//! Without the feature `testing` a failpoint is nothing at all.

/// What happens when a failpoint is reached.
#[cfg(feature = "testing")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// The step fails with [`crate::Error::Failpoint`].
    Error,
    /// The step fails as on a full disk.
    DiskFull,
    /// The process ends at once, without unwinding or flushing anything.
    Abort,
}

#[cfg(feature = "testing")]
mod armed {
    use std::collections::{BTreeMap, HashMap};
    use std::time::Duration;

    use parking_lot::{Condvar, Mutex};

    use super::Failure;

    /// How long a test waits for somebody to come to a place where they are held.
    const PATIENCE: Duration = Duration::from_secs(60);

    static ARMED: Mutex<Option<HashMap<String, (u32, Failure)>>> = Mutex::new(None);

    /// Names of failpoints where everybody is held, and whether somebody is.
    static HELD: Mutex<BTreeMap<&'static str, bool>> = Mutex::new(BTreeMap::new());
    static HELD_CHANGED: Condvar = Condvar::new();

    /// Whoever comes to a failpoint waits there until this is dropped.
    #[derive(Debug)]
    pub struct Hold(&'static str);

    impl Hold {
        /// Holds everybody at a failpoint.
        pub fn at(name: &'static str) -> Self {
            HELD.lock().insert(name, false);
            Hold(name)
        }

        /// Waits for somebody to come, and tells whether somebody did.
        pub fn is_reached(&self) -> bool {
            let is_nobody_there =
                |held: &mut BTreeMap<&str, bool>| held.get(self.0) == Some(&false);
            !HELD_CHANGED.wait_while_for(&mut HELD.lock(), is_nobody_there, PATIENCE).timed_out()
        }
    }

    impl Drop for Hold {
        fn drop(&mut self) {
            HELD.lock().remove(self.0);
            HELD_CHANGED.notify_all();
        }
    }

    fn wait_where_held(name: &'static str) {
        let mut held = HELD.lock();
        if let Some(is_reached) = held.get_mut(name) {
            *is_reached = true;
            HELD_CHANGED.notify_all();
            HELD_CHANGED.wait_while(&mut held, |held| held.contains_key(name));
        }
    }

    /// Arms a failpoint: after being passed `skip` times it fails once.
    pub fn arm(name: &str, skip: u32, failure: Failure) {
        ARMED.lock().get_or_insert_default().insert(name.to_owned(), (skip, failure));
    }

    /// Disarms a failpoint that has not fired.
    pub fn disarm(name: &str) {
        if let Some(armed) = ARMED.lock().as_mut() {
            armed.remove(name);
        }
    }

    pub(crate) fn reach(name: &'static str) -> crate::Result<()> {
        wait_where_held(name);
        let failure = {
            let mut armed = ARMED.lock();
            let Some((skip, failure)) = armed.as_mut().and_then(|armed| armed.get_mut(name)) else {
                return Ok(());
            };
            if *skip > 0 {
                *skip -= 1;
                return Ok(());
            }
            let failure = *failure;
            if let Some(armed) = armed.as_mut() {
                armed.remove(name);
            }
            failure
        };
        match failure {
            Failure::Error => Err(crate::Error::Failpoint { name }),
            Failure::DiskFull => Err(crate::Error::DiskFull {
                what: name,
                source: Box::new(std::io::Error::from(std::io::ErrorKind::StorageFull)),
            }),
            Failure::Abort => std::process::abort(),
        }
    }
}

#[cfg(feature = "testing")]
pub(crate) use armed::reach;
#[cfg(feature = "testing")]
pub use armed::{Hold, arm, disarm};

/// Passes a step of a commit.
#[cfg(not(feature = "testing"))]
#[expect(clippy::unnecessary_wraps, reason = "the armed form can fail")]
pub(crate) fn reach(_name: &'static str) -> crate::Result<()> {
    Ok(())
}

/// The failpoints of an upgrade of a catalogue, in order.
#[cfg(feature = "testing")]
pub const UPGRADE: &[&str] = &["upgrade half written", "upgrade written"];

/// The failpoint of indexes that are made anew, where those before are gone from the disk.
#[cfg_attr(not(feature = "testing"), expect(unreachable_pub, reason = "tests name it"))]
pub const REBUILD: &str = "indexes gone";

/// Every failpoint of a commit, in the order in which it passes them.
#[cfg(feature = "testing")]
pub const ALL: &[&str] = &[
    "catalogue begun",
    "catalogue written",
    "catalogue committed",
    "words prepared",
    "words committed",
    "vectors appended",
    "vectors synced",
    "vectors committed",
    "snapshot published",
    "removed purged",
];
