//! Work that waits for other work says so, so that what it holds can be lent meanwhile.
//!
//! A call runs on a thread of its own and holds one of the server's slots. While it only waits
//! (for a job that others run), it needs no slot: [`while_waiting`] gives the slot back for that
//! time. Whoever hands out slots sets the [`Lender`] of the thread with [`with_lender`]; without
//! one, waiting is only waiting.

use std::cell::RefCell;
use std::sync::Arc;

/// What a thread holds and can do without while it waits.
pub trait Lender: Send + Sync {
    /// Gives it back.
    fn lend(&self);

    /// Takes it again; blocks until it is there.
    fn take_back(&self);
}

thread_local! {
    static LENDER: RefCell<Option<Arc<dyn Lender>>> = const { RefCell::new(None) };
}

/// Does work on this thread whose waits lend what `lender` holds.
pub fn with_lender<T>(lender: Arc<dyn Lender>, work: impl FnOnce() -> T) -> T {
    struct Reset(Option<Arc<dyn Lender>>);
    impl Drop for Reset {
        fn drop(&mut self) {
            let previous = self.0.take();
            LENDER.with(|current| *current.borrow_mut() = previous);
        }
    }
    let previous = LENDER.with(|current| current.borrow_mut().replace(lender));
    let _reset = Reset(previous);
    work()
}

/// Does work that only waits, and holds nothing meanwhile.
pub fn while_waiting<T>(wait: impl FnOnce() -> T) -> T {
    struct TakeBack(Arc<dyn Lender>);
    impl Drop for TakeBack {
        fn drop(&mut self) {
            self.0.take_back();
        }
    }
    let lender = LENDER.with(|current| current.borrow().clone());
    let Some(lender) = lender else { return wait() };
    lender.lend();
    let _take_back = TakeBack(lender);
    wait()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicIsize, Ordering};

    use super::*;

    #[derive(Default)]
    struct Counted(AtomicIsize);

    impl Lender for Counted {
        fn lend(&self) {
            self.0.fetch_sub(1, Ordering::Relaxed);
        }

        fn take_back(&self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn waiting_holds_nothing_and_takes_it_back_even_after_a_panic() {
        let held = Arc::new(Counted(AtomicIsize::new(1)));
        let count = || held.0.load(Ordering::Relaxed);
        let lender: Arc<dyn Lender> = held.clone();
        with_lender(lender, || {
            assert_eq!(while_waiting(count), 0);
            assert_eq!(count(), 1);
            let caught = std::panic::catch_unwind(|| while_waiting(|| panic!("it broke")));
            assert!(caught.is_err());
            assert_eq!(count(), 1);
        });
        assert_eq!(while_waiting(count), 1);
    }
}
