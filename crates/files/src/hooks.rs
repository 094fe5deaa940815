//! What the write path does for files beyond what it does for every document.

use std::sync::{Arc, Mutex, PoisonError};

use ingest::{Cut, Hooks, Item, Prepared, Target};
use model::{Block, DocumentId, Passage, Warning};
use serde_json::json;
use store::Upserted;

use crate::by_name;
use crate::index::attribute;
use crate::lines::Lines;
use crate::right_of_way::RightOfWay;
use crate::same::content_of;
use crate::years::years;

/// The name under which a document keeps where its lines are not those of its text.
pub(crate) const LINES: &str = "lines";

/// What is special about files: the years that they name, what became of them, and which left.
pub(crate) struct FileHooks {
    pub(crate) cut: Cut,
    /// Those that left the index in this run.
    pub(crate) gone: Arc<Mutex<Vec<DocumentId>>>,
    /// Who writes first.
    pub(crate) way: Arc<RightOfWay>,
    /// Whether this takes in what was just changed; else others are let pass before a commit, and
    /// what they have written is passed over.
    pub(crate) is_change: bool,
}

impl Hooks for FileHooks {
    fn is_written(&self, item: &Item) -> bool {
        !self.is_change && self.way.has_written(&item.id, &item.fingerprint)
    }

    fn complete(&self, item: &mut Item, blocks: &mut Vec<Block>) {
        let years = years(&item.title, blocks);
        item.attributes.insert(attribute::YEARS.to_owned(), years.into());
        if let Some(content) = content_of(blocks) {
            item.attributes.insert(attribute::CONTENT.to_owned(), content.into());
        }
        if let Some(lines) = Lines::of(item.id.as_str(), blocks).to_json() {
            item.metadata[LINES] = lines;
        }
    }

    fn cut(&self, item: &Item, blocks: Vec<Block>) -> std::result::Result<Vec<Passage>, Warning> {
        self.cut.cut(item, blocks)
    }

    fn write(&self, target: &Target<'_>, batch: &mut [Prepared]) -> ingest::Result<Upserted> {
        if !self.is_change {
            self.way.give_way();
        }
        by_name::write(target, batch)?;
        let upserted = target.upsert(batch)?;
        if self.is_change {
            let documents = batch.iter().map(|prepared| &prepared.document);
            self.way.note_written(documents.map(|one| (&one.id, one.fingerprint.as_str())));
        }
        Ok(upserted)
    }

    fn removing(&self, target: &Target<'_>, gone: &[DocumentId]) -> ingest::Result<()> {
        self.way.note_gone(gone);
        self.gone.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(gone);
        Ok(by_name::remove(target.store, gone)?)
    }

    fn finish(&self, prepared: &mut Prepared) {
        let document = &mut prepared.document;
        let code = prepared.outcome.code();
        document.attributes.insert(attribute::OUTCOME.to_owned(), code.into());
        if let Some(reason) = &prepared.reason {
            document.metadata["reason"] = json!(reason);
        }
    }
}
