//! The bytes of a document, read part by part.

use std::io::{self, Read};
use std::sync::Arc;

use model::Deadline;
use parking_lot::Mutex;
use store::{Objects, TypedObject};

use crate::document::{Document, Part, part_id, time_over};

/// Parts that are kept for other readers of the same document.
const MAX_KEPT: usize = 8;

/// The last parts that were read of one document.
#[derive(Default, Clone)]
pub(crate) struct KeptParts(Arc<Mutex<Vec<KeptPart>>>);

/// The number of a part, and its text.
type KeptPart = (usize, Arc<str>);

impl KeptParts {
    fn get(&self, part_idx: usize) -> Option<Arc<str>> {
        let kept = self.0.lock();
        kept.iter().find(|(idx, _)| *idx == part_idx).map(|(_, text)| Arc::clone(text))
    }

    fn keep(&self, part_idx: usize, text: &Arc<str>) {
        let mut kept = self.0.lock();
        if kept.len() == MAX_KEPT {
            kept.remove(0);
        }
        kept.push((part_idx, Arc::clone(text)));
    }
}

/// Reads a document from any byte on.
pub(crate) struct Reader {
    catalogue: Arc<dyn Objects>,
    document: Arc<Document>,
    deadline: Option<Deadline>,
    at: u64,
    part: Option<KeptPart>,
    kept: Option<KeptParts>,
}

impl Reader {
    /// Reads a document from a byte on.
    pub(crate) fn new(
        catalogue: &Arc<dyn Objects>,
        document: &Arc<Document>,
        at: u64,
        deadline: Option<&Deadline>,
    ) -> Self {
        Reader {
            catalogue: Arc::clone(catalogue),
            document: Arc::clone(document),
            deadline: deadline.cloned(),
            at,
            part: None,
            kept: None,
        }
    }

    /// Shares the parts that are read with other readers of the document.
    pub(crate) fn sharing(mut self, kept: &KeptParts) -> Self {
        self.kept = Some(kept.clone());
        self
    }

    fn load(&self, part_idx: usize) -> io::Result<Arc<str>> {
        if let Some(kept) = self.kept.as_ref().and_then(|kept| kept.get(part_idx)) {
            return Ok(kept);
        }
        let id = part_id(&self.document.id, part_idx);
        let found = Part::load(&*self.catalogue, &id).map_err(io::Error::other)?;
        let gone = || io::Error::new(io::ErrorKind::NotFound, "the document was replaced");
        let (part, _) = found.ok_or_else(gone)?;
        let text: Arc<str> = part.text.into();
        if let Some(kept) = &self.kept {
            kept.keep(part_idx, &text);
        }
        Ok(text)
    }
}

impl Read for Reader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.at >= self.document.n_bytes {
            return Ok(0);
        }
        if self.deadline.as_ref().is_some_and(Deadline::is_over) {
            return Err(time_over());
        }
        let part_idx = self.document.starts.partition_point(|start| *start <= self.at) - 1;
        if self.part.as_ref().is_none_or(|(kept_idx, _)| *kept_idx != part_idx) {
            self.part = Some((part_idx, self.load(part_idx)?));
        }
        let Some((_, text)) = &self.part else { return Ok(0) };
        let offset = (self.at - self.document.starts[part_idx]) as usize;
        let rest = text.as_bytes().get(offset..).unwrap_or_default();
        let n_bytes = rest.len().min(into.len());
        into[..n_bytes].copy_from_slice(&rest[..n_bytes]);
        self.at += n_bytes as u64;
        Ok(n_bytes)
    }
}
