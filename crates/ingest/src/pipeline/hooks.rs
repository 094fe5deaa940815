//! What is special about the documents of one family: everything else is the pipeline's.

use model::{Block, DocumentId, NamespaceId, Passage, ReadOutcome, Warning};
use store::{Document, Store, Upserted};

use super::Cut;
use crate::{Item, Result, limits};

/// A document that was read and cut and waits to be written.
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared {
    /// As it is written; a hook may change it until then.
    pub document: Document,
    /// What became of it when it was read.
    pub outcome: ReadOutcome,
    /// Why there is no text, where there is none.
    pub reason: Option<String>,
}

/// What became of an item, for a family that keeps account of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome<'a> {
    /// It has not changed since it was written with so many passages.
    Unchanged(usize),
    /// It was cut into so many passages, which are written with the next commit.
    Cut(usize),
    /// It was left out.
    LeftOut(&'a Warning),
}

/// Where a batch goes.
pub struct Target<'a> {
    /// Both halves of it: what is written is searchable once the call is over.
    pub store: &'a Store,
    /// That of the pipeline.
    pub namespace: &'a NamespaceId,
}

impl Target<'_> {
    /// Writes a batch as one commit. Its passages are the store's then; when the catalogue does not
    /// take them, the batch is as it was.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub fn upsert(&self, batch: &mut [Prepared]) -> Result<Upserted> {
        // Passages are moved and not copied: they are most of what a run holds in memory.
        let mut documents: Vec<Document> = batch
            .iter_mut()
            .map(|Prepared { document, .. }| {
                let passages = std::mem::take(&mut document.passages);
                Document { passages, ..document.clone() }
            })
            .collect();
        let upserted = self.store.upsert_and_let_go(self.namespace, &mut documents);
        for (prepared, document) in batch.iter_mut().zip(documents) {
            prepared.document.passages = document.passages;
        }
        Ok(upserted?)
    }
}

/// The places of the pipeline where families differ.
///
/// The methods are called from several threads at once; the calls for one item come in the order
/// of the methods below.
pub trait Hooks: Send + Sync {
    /// Tells whether somebody else has written an item as it is now since the run began.
    fn is_written(&self, item: &Item) -> bool {
        let _ = item;
        false
    }

    /// Completes an item once its text is known: a title, the years it names, repaired text.
    fn complete(&self, item: &mut Item, blocks: &mut Vec<Block>) {
        let _ = (item, blocks);
    }

    /// Cuts an item's text into passages, or says why the item is left out. What was written of
    /// an item that is left out is removed. The blocks are used up: a large text is not held twice.
    fn cut(&self, item: &Item, blocks: Vec<Block>) -> std::result::Result<Vec<Passage>, Warning>;

    /// Adds what is known only now: how many passages there are, why there are none.
    fn finish(&self, prepared: &mut Prepared) {
        let _ = prepared;
    }

    /// Hears what became of an item.
    fn settled(&self, item: &Item, outcome: Outcome<'_>) {
        let _ = (item, outcome);
    }

    /// Writes a batch as one commit. A failure that is one document's own
    /// ([`store::Error::TooLarge`], [`store::Error::DuplicatePassage`]) makes the pipeline call
    /// this again for each document alone; any other ends the run.
    ///
    /// The batch is as it was when this fails: what is taken from it is put back. Once it is
    /// written, nobody needs its passages.
    fn write(&self, target: &Target<'_>, batch: &mut [Prepared]) -> Result<Upserted> {
        target.upsert(batch)
    }

    /// Hears which documents leave the namespace, before they do.
    fn removing(&self, target: &Target<'_>, gone: &[DocumentId]) -> Result<()> {
        let _ = (target, gone);
        Ok(())
    }

    /// Gives how many documents one commit may have.
    fn documents_per_commit(&self) -> usize {
        limits::DOCUMENTS_PER_COMMIT
    }
}

impl Prepared {
    /// Counts the bytes of its text.
    pub(super) fn n_text_bytes(&self) -> usize {
        self.document.passages.iter().map(|passage| passage.text.len()).sum()
    }
}

impl Hooks for Cut {
    fn cut(&self, item: &Item, blocks: Vec<Block>) -> std::result::Result<Vec<Passage>, Warning> {
        Ok(self.passages(&item.id, blocks))
    }
}
