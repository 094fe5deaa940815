//! Where documents come from.

use std::fs::File;
use std::sync::Arc;

use model::{Attributes, Block, DocumentId, ReadOutcome, Warning};

/// What is known of a document before it is read.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// Unique in the namespace.
    pub id: DocumentId,
    /// The title or name; the title that extraction finds replaces an empty one.
    pub title: String,
    /// What the document can be filtered by.
    pub attributes: Attributes,
    /// Whatever the owner wants back.
    pub metadata: serde_json::Value,
    /// Compared with the kept one: equal means unchanged. Empty means unknown.
    pub fingerprint: String,
    /// What an earlier version wrote for the same item: equal to the kept one means unchanged, too.
    pub earlier_fingerprint: Option<String>,
}

impl Item {
    /// Describes a document by its id and title.
    pub fn new(id: DocumentId, title: impl Into<String>) -> Self {
        Item {
            id,
            title: title.into(),
            attributes: Attributes::new(),
            metadata: serde_json::Value::Null,
            fingerprint: String::new(),
            earlier_fingerprint: None,
        }
    }
}

/// What a document holds.
#[derive(Debug, Clone, PartialEq)]
pub enum ItemContent {
    /// An open file, which goes to the extractor without being held in memory.
    File {
        /// The file, read from its start.
        file: OpenFile,
        /// A file name, which helps where the content leaves a choice.
        name: String,
    },
    /// Bytes, whose name helps where the content leaves a choice.
    Bytes {
        /// The whole content, in memory.
        bytes: Vec<u8>,
        /// A file name.
        name: String,
    },
    /// Text that is already in blocks.
    Blocks(Vec<Block>),
    /// Nothing that can be read, and why: the document is known by its name alone.
    Nothing(ReadOutcome, Warning),
}

/// A file that was opened for reading.
#[derive(Debug, Clone)]
pub struct OpenFile(pub(crate) Arc<File>);

impl OpenFile {
    /// Takes an open file.
    pub fn new(file: File) -> Self {
        OpenFile(Arc::new(file))
    }
}

impl PartialEq for OpenFile {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl ItemContent {
    /// Takes bytes under a file name.
    pub fn bytes(bytes: impl Into<Vec<u8>>, name: impl Into<String>) -> Self {
        ItemContent::Bytes { bytes: bytes.into(), name: name.into() }
    }

    /// Gives the memory that it takes while it waits.
    pub(crate) fn n_bytes(&self) -> usize {
        match self {
            ItemContent::File { .. } | ItemContent::Nothing(..) => 0,
            ItemContent::Bytes { bytes, .. } => bytes.len(),
            ItemContent::Blocks(blocks) => blocks.iter().map(|block| block.text.len()).sum(),
        }
    }
}

/// Gives documents one after another.
///
/// The pipeline calls [`Source::next_item`] until it gives nothing, and [`Source::content`] for
/// an item only when it is new or changed, right after the item came. Both may block on reading;
/// neither is called after the run was cancelled. What cannot be read is a warning, and the run
/// goes on with the next item.
pub trait Source: Send {
    /// Gives the next item, or nothing at the end.
    fn next_item(&mut self) -> Option<Result<Item, Warning>>;

    /// Tells whether the item that came last is to be compared with what is known of it. One that is
    /// not is there all the same, and stays as it is.
    fn is_wanted(&self) -> bool {
        true
    }

    /// Gives what the item that came last holds.
    fn content(&mut self, item: &Item) -> Result<ItemContent, Warning>;

    /// Gives how many items there will be, where that is known.
    fn n_items(&self) -> Option<usize> {
        None
    }

    /// Gives what counts the items, where that takes time; it runs while the first ones are read.
    fn counter(&self) -> Option<Counter> {
        None
    }

    /// Tells, after the last item, whether everything that the source has was given, so that
    /// what was not given is really gone.
    fn is_complete(&self) -> bool {
        true
    }

    /// Names, after the last item, documents and folders of them of which the source cannot say
    /// whether they are there: they stay, and the rest of what was not given is gone.
    fn unread(&self) -> Vec<String> {
        vec![]
    }
}

/// Counts the items of a source.
pub type Counter = Box<dyn FnOnce() -> usize + Send>;

/// A source of documents that are all at hand.
#[derive(Debug, Clone, Default)]
pub struct ListSource {
    items: std::collections::VecDeque<(Item, ItemContent)>,
    last: Option<ItemContent>,
    n_items: usize,
}

impl ListSource {
    /// Takes the documents.
    pub fn new(items: Vec<(Item, ItemContent)>) -> Self {
        ListSource { n_items: items.len(), items: items.into(), last: None }
    }
}

impl Source for ListSource {
    fn next_item(&mut self) -> Option<Result<Item, Warning>> {
        let (item, content) = self.items.pop_front()?;
        self.last = Some(content);
        Some(Ok(item))
    }

    fn content(&mut self, item: &Item) -> Result<ItemContent, Warning> {
        self.last.take().ok_or_else(|| {
            Warning::new("unreadable", format!("document `{}` was read already", item.id))
        })
    }

    fn n_items(&self) -> Option<usize> {
        Some(self.n_items)
    }
}
