//! What the write path does for files beyond what it does for every document.

use ingest::{Cut, Hooks, Item, Prepared};
use model::{Block, Passage, Warning};
use serde_json::json;

use crate::index::attribute;
use crate::lines::Lines;
use crate::same::content_of;
use crate::years::years;

/// The name under which a document keeps where its lines are not those of its text.
pub(crate) const LINES: &str = "lines";

/// What is special about files: the years that they name, and what became of them.
pub(crate) struct FileHooks(pub(crate) Cut);

impl Hooks for FileHooks {
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

    fn cut(&self, item: &Item, blocks: &[Block]) -> std::result::Result<Vec<Passage>, Warning> {
        self.0.cut(item, blocks)
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
