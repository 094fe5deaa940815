//! Entries that wait for the thread that writes them down: so many bytes of them and no more.
//!
//! The engine's own queue holds ten thousand, however large they are. Where words are told apart
//! faster than they are written, those of a large document were in memory a second time.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use tantivy::{Document, TantivyDocument};

/// Bytes of entries that wait; a single entry may be larger.
const MAX_AHEAD_BYTES: usize = 1 << 20;

/// How long one entry waits at most: a thread that has ended writes no more, which is an error of
/// whoever gives it the entry.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// Counts the bytes of the entries that wait.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    n_bytes: Mutex<usize>,
    fewer: Condvar,
}

impl Ahead {
    /// Waits until there is space for an entry.
    pub(super) fn queue(self: &Arc<Self>, document: TantivyDocument, n_bytes: usize) -> Queued {
        let mut waiting = self.n_bytes.lock();
        while *waiting > 0 && *waiting + n_bytes > MAX_AHEAD_BYTES {
            if self.fewer.wait_for(&mut waiting, LONGEST_WAIT).timed_out() {
                break;
            }
        }
        *waiting += n_bytes;
        Queued { document, _place: Place { ahead: Arc::clone(self), n_bytes } }
    }
}

/// An entry that waits.
pub(super) struct Queued {
    document: TantivyDocument,
    _place: Place,
}

/// The space of an entry, until the value goes.
struct Place {
    ahead: Arc<Ahead>,
    n_bytes: usize,
}

impl Drop for Place {
    fn drop(&mut self) {
        *self.ahead.n_bytes.lock() -= self.n_bytes;
        self.ahead.fewer.notify_one();
    }
}

impl Document for Queued {
    type Value<'a> = <TantivyDocument as Document>::Value<'a>;
    type FieldsValuesIter<'a> = <TantivyDocument as Document>::FieldsValuesIter<'a>;

    fn iter_fields_and_values(&self) -> Self::FieldsValuesIter<'_> {
        self.document.iter_fields_and_values()
    }

    fn into_tantivy_document(self) -> TantivyDocument {
        self.document
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_wait_for_space_and_a_large_one_passes_alone() {
        let ahead = Arc::new(Ahead::default());
        let large = ahead.queue(TantivyDocument::new(), 2 * MAX_AHEAD_BYTES);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| ahead.queue(TantivyDocument::new(), 1));
            let _ = large.into_tantivy_document();
            drop(waiting.join().unwrap());
        });
        assert_eq!(*ahead.n_bytes.lock(), 0);
        let half: Vec<Queued> =
            (0..2).map(|_| ahead.queue(TantivyDocument::new(), MAX_AHEAD_BYTES / 2)).collect();
        assert_eq!(*ahead.n_bytes.lock(), MAX_AHEAD_BYTES);
        // Where nobody takes any, nobody waits for ever.
        let third = ahead.queue(TantivyDocument::new(), 1);
        assert_eq!(*ahead.n_bytes.lock(), MAX_AHEAD_BYTES + 1);
        drop((half, third));
        assert_eq!(*ahead.n_bytes.lock(), 0);
    }
}
