//! Places inside large containers where a walk can begin.
//!
//! A child that is far behind the beginning of its container is marked: in an object by its
//! key, in an array by its index, there only one in every stretch of [`SPACING`] bytes. Whoever
//! wants a node goes from mark to mark and walks a short stretch at each level, however large
//! the document is. A document without large containers has no marks, and none needs them.

use std::io::Read;

use sha2::{Digest, Sha256};

use super::walk::{Event, Kind, Walk};
use crate::limits;

/// Bytes that are walked rather than marked.
pub(crate) const SPACING: u64 = 64 * 1024;

/// Containers inside more containers than this are reached by walking.
const MAX_MARKED_DEPTH: usize = 64;

/// One place. Marks are looked up by container and key, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Mark {
    /// Where the container begins, in bytes.
    pub(crate) container: u64,
    /// The index in an array, [`key_of`] in an object.
    pub(crate) key: u64,
    /// Where the child begins: its key in an object, itself in an array.
    pub(crate) at: u64,
}

/// The marks of a document, in order.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    pub(crate) marks: Vec<Mark>,
    /// Whether every key that is far behind its object's beginning has a mark.
    pub(crate) is_complete: bool,
}

/// Turns a component of a pointer into the key of a mark. It is the same in every version of
/// this program, since it is kept.
pub(crate) fn key_of(component: &str) -> u64 {
    let digest = Sha256::digest(component.as_bytes());
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&digest[..8]);
    u64::from_be_bytes(bytes)
}

/// Collects marks during a walk.
#[derive(Default)]
pub(super) struct Marker {
    open: Vec<Open>,
    marks: Vec<Mark>,
    is_full: bool,
}

/// A container that is open.
struct Open {
    kind: Kind,
    start: u64,
    /// Where the last mark of an array is.
    last: u64,
    n_children: u64,
}

impl Marker {
    /// Looks at the node of an event.
    pub(super) fn see<R: Read>(&mut self, event: Event, walk: &Walk<R>) {
        let begun = match event {
            Event::End(_) => return,
            Event::Leaf(_) => None,
            Event::Begin(kind) => Some(kind),
        };
        let n_above = walk.depth() - usize::from(begun.is_some());
        if n_above > MAX_MARKED_DEPTH {
            return;
        }
        self.open.truncate(n_above);
        if let Some(parent) = self.open.last_mut() {
            let (index, at) = (parent.n_children, walk.place());
            parent.n_children += 1;
            if at >= parent.last + SPACING {
                let key = if parent.kind == Kind::Array {
                    parent.last = at;
                    index
                } else {
                    key_of(walk.pointer().rsplit('/').next().unwrap_or_default())
                };
                let mark = Mark { container: parent.start, key, at };
                self.add(mark);
            }
        }
        if let Some(kind) = begun {
            let start = walk.start();
            self.open.push(Open { kind, start, last: start, n_children: 0 });
        }
    }

    /// Gives the marks in order.
    pub(super) fn into_marks(mut self) -> Marks {
        self.marks.sort_unstable();
        Marks { marks: self.marks, is_complete: !self.is_full }
    }

    fn add(&mut self, mark: Mark) {
        self.is_full |= self.marks.len() >= limits::MAX_MARKS;
        if !self.is_full {
            self.marks.push(mark);
        }
    }
}
