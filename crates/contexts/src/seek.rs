//! A walk that begins at a node, wherever in the document it is: from mark to mark, with a
//! short stretch walked at each level.

use std::ops::Range;
use std::sync::Arc;

use model::Deadline;
use store::{Objects, TypedObject};

use crate::Result;
use crate::document::{Document, in_time};
use crate::json::{Event, Kind, SPACING, Walk, key_of};
use crate::marks::Lookup;
use crate::object_ids::JsonDocumentId;
use crate::reader::{KeptParts, Reader};

/// A document that is open for reading.
#[derive(Clone)]
pub(crate) struct OpenDocument {
    catalogue: Arc<dyn Objects>,
    pub(crate) document: Arc<Document>,
    deadline: Option<Deadline>,
    /// Characters of strings that walks keep.
    kept: Range<usize>,
    parts: KeptParts,
}

/// A node that was found: its event, and the walk that goes on behind it.
pub(crate) struct LocatedNode {
    pub(crate) event: Event,
    pub(crate) walk: Walk<Reader>,
}

/// A container that the wanted node is in.
struct Container {
    kind: Kind,
    start: u64,
    /// The length of its pointer, which the wanted one begins with.
    pointer_len: usize,
}

impl OpenDocument {
    /// Opens a document; nothing when it is gone.
    pub(crate) fn open(
        catalogue: &Arc<dyn Objects>,
        document: &JsonDocumentId,
        deadline: Option<&Deadline>,
        kept: Range<usize>,
    ) -> Result<Option<Self>> {
        let found = Document::load(&**catalogue, document)?;
        Ok(found.map(|(document, _)| OpenDocument {
            catalogue: Arc::clone(catalogue),
            document: Arc::new(document),
            deadline: deadline.cloned(),
            kept,
            parts: KeptParts::default(),
        }))
    }

    /// Gives the same document with other characters of strings kept.
    pub(crate) fn keeping(&self, kept: Range<usize>) -> Self {
        OpenDocument { kept, ..self.clone() }
    }

    /// Gives those of some members of an object that are far behind its beginning, where the
    /// object begins at a place.
    pub(crate) fn far_members(
        &self,
        object: &str,
        start: u64,
        members: &[&str],
    ) -> Result<Vec<LocatedNode>> {
        let mut marks = Lookup::new(&self.catalogue, &self.document);
        let mut found = vec![];
        for member in members {
            for mark in marks.exactly(start, key_of(member))? {
                let mut walk = self.walk_inside(mark.at, object, Kind::Object, 0);
                if let Some(event) = walk.next().map_err(in_time)?
                    && walk.pointer() == format!("{object}/{member}")
                {
                    found.push(LocatedNode { event, walk });
                }
            }
        }
        Ok(found)
    }

    /// Gives the bytes from a place on.
    pub(crate) fn reader(&self, at: u64) -> Reader {
        Reader::new(&self.catalogue, &self.document, at, self.deadline.as_ref())
            .sharing(&self.parts)
    }

    /// Walks the document from its beginning.
    pub(crate) fn walk(&self) -> Walk<Reader> {
        let mut walk = Walk::new(self.reader(0));
        walk.keep_text(self.kept.clone());
        walk
    }

    /// Goes to the node that a pointer names; nothing when there is none.
    pub(crate) fn find(&self, wanted: &str) -> Result<Option<LocatedNode>> {
        let mut marks = Lookup::new(&self.catalogue, &self.document);
        let mut walk = self.walk();
        let Some(mut event) = walk.next().map_err(in_time)? else { return Ok(None) };
        let mut pointer_len = 0;
        while pointer_len < wanted.len() {
            let Event::Begin(kind) = event else { return Ok(None) };
            let container = Container { kind, start: walk.start(), pointer_len };
            let after_slash = pointer_len + 1;
            let component_len = wanted[after_slash..].find('/');
            pointer_len = component_len.map_or(wanted.len(), |len| after_slash + len);
            let found = self.child(walk, &container, &wanted[..pointer_len], &mut marks)?;
            let Some(found) = found else { return Ok(None) };
            (event, walk) = (found.event, found.walk);
        }
        Ok(Some(LocatedNode { event, walk }))
    }

    /// Goes to a child of the container that the walk just entered.
    fn child(
        &self,
        walk: Walk<Reader>,
        container: &Container,
        wanted: &str,
        marks: &mut Lookup,
    ) -> Result<Option<LocatedNode>> {
        let (above, component) = wanted.split_at(container.pointer_len);
        let component = &component[1..];
        let Container { kind, start, .. } = *container;
        if kind == Kind::Array {
            let Some(index) = index_of(component) else { return Ok(None) };
            let walk = match marks.at_or_before(start, index)? {
                Some(mark) => self.walk_inside(mark.at, above, kind, mark.key),
                None => walk,
            };
            return scan(walk, above, wanted, u64::MAX);
        }
        for mark in marks.exactly(start, key_of(component))? {
            let mut walk = self.walk_inside(mark.at, above, kind, 0);
            if let Some(event) = walk.next().map_err(in_time)?
                && walk.pointer() == wanted
            {
                return Ok(Some(LocatedNode { event, walk }));
            }
        }
        let until = if marks.is_complete() { start + SPACING } else { u64::MAX };
        scan(walk, above, wanted, until)
    }

    fn walk_inside(&self, at: u64, pointer: &str, kind: Kind, n_children: u64) -> Walk<Reader> {
        let mut walk = Walk::inside(self.reader(at), at, pointer, kind, n_children);
        walk.keep_text(self.kept.clone());
        walk
    }
}

/// Walks on to a child of a container, unless it would begin behind a place.
fn scan(
    mut walk: Walk<Reader>,
    container: &str,
    wanted: &str,
    until: u64,
) -> Result<Option<LocatedNode>> {
    while let Some(event) = walk.next().map_err(in_time)? {
        if matches!(event, Event::End(_)) {
            if walk.pointer() == container {
                return Ok(None);
            }
        } else if walk.pointer() == wanted {
            return Ok(Some(LocatedNode { event, walk }));
        } else if walk.place() >= until {
            return Ok(None);
        }
    }
    Ok(None)
}

/// Reads an index as pointers write it: digits, without zeros before them.
fn index_of(component: &str) -> Option<u64> {
    component.parse().ok().filter(|index: &u64| index.to_string() == component)
}
