//! The index of a table: the store holds the chunks of every long string that a tool covers, and
//! no others.

use std::sync::Arc;

use chunk::cut_lines;
use ingest::{Gone, Hooks, Item, Outcome, Pipeline, Prepared, Progress, Scope, Unchanged};
use model::{Block, NamespaceId, Passage, Pointer, Warning};
use serde::Serialize;
use serde_json::json;
use store::Manifest;

use crate::coverage::{Coverage, Covered};
use crate::ids::node_id;
use crate::object_ids::TableId;
use crate::objects::{Table, Tool};
use crate::seek::OpenDocument;
use crate::source::{StringSource, alone, choose_short, content_hash, pointer_of};
use crate::{Error, Result, Service};

/// What a run did to the chunks of a table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Changes {
    /// Long strings that are covered.
    pub nodes: u64,
    /// Chunks that were there already and stay.
    pub kept: u64,
    /// Chunks that were written.
    pub added: u64,
    /// Chunks that were erased.
    pub removed: u64,
    /// Strings that were left out for a limit.
    pub left_out: u64,
}

impl Service {
    /// Brings the chunks of a table up to its document and the paths of its tools.
    pub(crate) fn index(
        &self,
        table: &Table,
        tools: &[Tool],
        progress: &Progress,
    ) -> Result<(Changes, Vec<Covered>)> {
        let namespace = table.namespace();
        self.make_namespace(&namespace)?;
        let settings = &self.0.settings;
        let kept = 0..settings.max_node_chars;
        let opened = OpenDocument::open(&self.0.catalogue, &table.document, None, kept)?;
        let mut document = opened.ok_or(Error::missing("Document", table.document.as_str()))?;
        let mut coverage = Coverage::new(tools, settings);
        choose_short(&mut document, tools, &mut coverage)?;
        let coverage = Arc::new(coverage);
        let mut source = StringSource::new(document, table, settings, Arc::clone(&coverage));
        let hooks = StringHooks {
            table: table.id.clone(),
            lines: settings.lines(),
            coverage: Arc::clone(&coverage),
        };
        let pipeline = Pipeline {
            scope: Some(Scope::everything()),
            gone: Gone::Remove,
            unchanged: Unchanged::Skip,
            ..Pipeline::in_process(self.0.store.clone(), namespace, hooks)
        };
        let run = pipeline.run(&mut source, progress);
        if let Some(error) = source.failed {
            return Err(error);
        }
        let report = run?;
        let (covered, n_nodes, n_left_out) = coverage.finish();
        let changes = Changes {
            nodes: n_nodes,
            kept: report.n_passages_unchanged as u64,
            added: report.n_passages as u64,
            removed: report.n_passages_removed as u64,
            left_out: n_left_out,
        };
        Ok((changes, covered))
    }

    /// Erases every chunk of a table.
    pub(crate) fn drop_chunks(&self, namespace: &NamespaceId) -> Result<u64> {
        let n_chunks = match self.0.store.counts(namespace) {
            Ok(counts) => counts.n_passages as u64,
            Err(store::Error::UnknownNamespace { .. }) => return Ok(0),
            // One that cannot be opened can still be dropped.
            Err(_) => 0,
        };
        self.0.store.drop_namespace(namespace)?;
        Ok(n_chunks)
    }

    /// Makes a namespace, or makes it anew when a later program cannot go on with it: everything
    /// in it comes from the document.
    fn make_namespace(&self, namespace: &NamespaceId) -> Result<()> {
        let manifest = Manifest::current(None);
        match self.0.store.create_namespace(namespace, &manifest) {
            Err(store::Error::ManifestMismatch { .. }) => {
                self.0.store.drop_namespace(namespace)?;
                Ok(self.0.store.create_namespace(namespace, &manifest)?)
            }
            made => Ok(made?),
        }
    }
}

/// What is special about strings of a JSON document: they are cut at line ends, and their chunks
/// are named by pointer and content.
struct StringHooks {
    table: TableId,
    lines: chunk::LinesConfig,
    coverage: Arc<Coverage>,
}

impl Hooks for StringHooks {
    fn cut(&self, item: &Item, blocks: Vec<Block>) -> std::result::Result<Vec<Passage>, Warning> {
        let text = blocks.first().map(|block| block.text.as_str()).unwrap_or_default();
        let chunks = cut_lines(text, &self.lines)
            .map_err(|problem| Warning::new("left_out", problem.to_string()))?;
        let pointer = pointer_of(&item.metadata);
        let hash = content_hash(&item.metadata);
        let id = node_id(&self.table, pointer, hash, store::limits::MAX_ID_BYTES);
        let place = match pointer {
            // The document itself has no pointer of its own in the store.
            "" => Pointer::Whole,
            pointer => Pointer::Json(pointer.to_owned()),
        };
        let passages = (0_u32..).zip(chunks).map(|(ordinal, chunk)| Passage {
            id: id.chunk(ordinal),
            ordinal,
            text: chunk.text,
            span: chunk.span,
            pointer: place.clone(),
            headings: vec![],
        });
        Ok(passages.collect())
    }

    fn finish(&self, prepared: &mut Prepared) {
        let document = &mut prepared.document;
        document.metadata["total_chunks"] = json!(document.passages.len());
    }

    fn settled(&self, item: &Item, outcome: Outcome<'_>) {
        let pointer = pointer_of(&item.metadata);
        match outcome {
            Outcome::Unchanged(n_chunks) | Outcome::Cut(n_chunks) => {
                self.coverage.covers(pointer, alone(item), n_chunks as u64);
            }
            Outcome::LeftOut(warning) => {
                self.coverage.leaves_out(pointer, alone(item), &warning.message)
            }
        }
    }
}
