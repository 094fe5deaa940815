//! The index of a table: the store holds the chunks of every long string that a tool covers, and
//! no others.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use chunk::cut_lines;
use ingest::{Progress, Stage};
use model::{Attributes, DocumentId, NamespaceId, Passage, Pointer};
use serde::Serialize;
use serde_json::json;
use store::{DocumentPage, Manifest};

use crate::ids::{node_id, sha256};
use crate::json::{Event, Kind, Walk, pointer};
use crate::objects::{Table, Tool};
use crate::reader::Reader;
use crate::scopes::Scopes;
use crate::seek::{Found, OpenDocument};
use crate::{Error, Result, Service, limits};

/// Characters of a title: the end of a string's path.
const TITLE_CHARS: usize = 200;

/// Going to a node costs as much as walking over so many bytes.
const BYTES_PER_SEEK: u64 = 256 * 1024;

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

/// What a run found under one tool.
#[derive(Debug, Clone, Default)]
pub(crate) struct Covered {
    pub(crate) n_nodes: u64,
    pub(crate) n_chunks: u64,
    /// Whether its path exists in the document.
    pub(crate) is_there: bool,
    pub(crate) problems: Vec<String>,
    pub(crate) n_problems: usize,
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
        let kept = 0..self.0.settings.max_node_chars;
        let opened = OpenDocument::open(&self.0.catalogue, &table.document, None, kept)?;
        let document = opened.ok_or(Error::NotFound { what: "Document" })?;
        let mut run = Run {
            service: self,
            table,
            namespace,
            scopes: Scopes::new(tools.iter().map(|tool| tool.json_path.as_str())),
            covered: vec![Covered::default(); tools.len()],
            changes: Changes::default(),
            hasher: RandomState::new(),
            wanted: HashSet::new(),
            batch: Batch::default(),
        };
        progress.begin(Stage::Writing, None);
        for path in run.places(document.document.n_bytes) {
            if let Some(found) = document.find(&path)? {
                run.subtree(found, &path, progress)?;
            }
        }
        run.write()?;
        run.remove_unwanted()?;
        Ok((run.changes, run.covered))
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

/// One run over a document.
struct Run<'a> {
    service: &'a Service,
    table: &'a Table,
    namespace: NamespaceId,
    scopes: Scopes,
    covered: Vec<Covered>,
    changes: Changes,
    hasher: RandomState,
    /// Hashes of the ids that must stay; they need far less room than the ids.
    wanted: HashSet<u64>,
    batch: Batch,
}

/// Strings that wait to be written.
#[derive(Default)]
struct Batch {
    documents: Vec<store::Document>,
    n_passages: usize,
    n_bytes: usize,
}

impl Run<'_> {
    /// Gives the nodes to walk: those that the tools cover where they are few for the document,
    /// or the whole of it.
    fn places(&self, n_bytes: u64) -> Vec<String> {
        let outermost = self.scopes.outermost();
        if outermost.len() as u64 * BYTES_PER_SEEK > n_bytes {
            return vec![String::new()];
        }
        outermost.into_iter().map(str::to_owned).collect()
    }

    /// Sees to every long string of a node.
    fn subtree(&mut self, found: Found, path: &str, progress: &Progress) -> Result<()> {
        let Found { event, mut walk } = found;
        let mut next = Some(event);
        while let Some(event) = next {
            if !matches!(event, Event::End(_)) {
                self.node(event, &walk, progress)?;
            }
            // What follows the node is not looked at.
            if !matches!(event, Event::Begin(_)) && walk.pointer() == path {
                return Ok(());
            }
            next = walk.next()?;
        }
        Ok(())
    }

    fn node(&mut self, event: Event, walk: &Walk<Reader>, progress: &Progress) -> Result<()> {
        for tool_idx in self.scopes.at(walk.pointer()) {
            self.covered[*tool_idx].is_there = true;
        }
        let is_long = walk.n_chars() >= self.service.0.settings.chunk_threshold_chars;
        if event != Event::Leaf(Kind::String) || !is_long {
            return Ok(());
        }
        if progress.is_cancelled() {
            return Err(Error::Queue(ingest::Error::Cancelled));
        }
        self.string(walk.pointer(), walk.text(), walk.n_chars())?;
        progress.advance(Stage::Writing, 1);
        Ok(())
    }

    /// Sees to one long string.
    fn string(&mut self, pointer: &str, text: &str, n_chars: usize) -> Result<()> {
        let tools = self.scopes.covering(pointer);
        if tools.is_empty() {
            return Ok(());
        }
        self.changes.nodes += 1;
        let n_chunks = match self.chunks(pointer, text, n_chars)? {
            Ok(n_chunks) => n_chunks,
            Err(problem) => {
                self.changes.left_out += 1;
                let shown: String = pointer.chars().take(TITLE_CHARS).collect();
                for tool_idx in &tools {
                    let covered = &mut self.covered[*tool_idx];
                    covered.n_problems += 1;
                    if covered.problems.len() < limits::MAX_NAMED_PROBLEMS {
                        covered.problems.push(format!("`{shown}`: {problem}"));
                    }
                }
                0
            }
        };
        for tool_idx in tools {
            let covered = &mut self.covered[tool_idx];
            covered.n_nodes += 1;
            covered.n_chunks += n_chunks;
        }
        Ok(())
    }

    /// Gives how many chunks a string has, after it was put into the batch where it is new; or
    /// why it has none.
    fn chunks(
        &mut self,
        pointer: &str,
        text: &str,
        n_chars: usize,
    ) -> Result<std::result::Result<u64, String>> {
        let settings = &self.service.0.settings;
        let max_chars = settings.max_node_chars;
        if n_chars > max_chars {
            return Ok(Err(chunk::Error::TooLong { n_chars, max_chars }.to_string()));
        }
        if pointer.len() > limits::MAX_POINTER_BYTES {
            let (received, allowed) = (pointer.len(), limits::MAX_POINTER_BYTES);
            return Ok(Err(format!(
                "its pointer has `{received}` bytes, the limit is `{allowed}`"
            )));
        }
        if self.wanted.len() >= limits::MAX_INDEXED_NODES {
            let allowed = limits::MAX_INDEXED_NODES;
            return Ok(Err(format!(
                "`{allowed}` strings before it are indexed, which is the limit"
            )));
        }
        let hash = sha256(text.as_bytes());
        let id = node_id(&self.table.id, pointer, &hash, store::limits::MAX_ID_BYTES);
        let fingerprint = format!("{hash} {}", settings.cut_name());
        let kept = self.service.0.store.document(&self.namespace, &id.document())?;
        if let Some(kept) = &kept
            && kept.fingerprint == fingerprint
        {
            self.wanted.insert(self.hasher.hash_one(kept.id.as_str()));
            self.changes.kept += kept.n_passages as u64;
            return Ok(Ok(kept.n_passages as u64));
        }
        let chunks = match cut_lines(text, &settings.lines()) {
            Ok(chunks) => chunks,
            Err(problem) => return Ok(Err(problem.to_string())),
        };
        let n_chunks = chunks.len();
        self.changes.added += n_chunks as u64;
        self.changes.removed += kept.map_or(0, |kept| kept.n_passages as u64);
        self.wanted.insert(self.hasher.hash_one(id.document().as_str()));
        let passages = (0_u32..)
            .zip(chunks)
            .map(|(ordinal, chunk)| Passage {
                id: id.chunk(ordinal),
                ordinal,
                text: chunk.text,
                span: chunk.span,
                pointer: place(pointer),
                headings: vec![],
            })
            .collect();
        self.batch.n_passages += n_chunks;
        self.batch.n_bytes += text.len();
        self.batch.documents.push(store::Document {
            id: id.document(),
            title: title(pointer),
            attributes: Attributes::from([("table".to_owned(), self.table.id.as_str().into())]),
            metadata: json!({
                "json_pointer": pointer,
                "content_hash": hash,
                "total_chunks": n_chunks,
            }),
            fingerprint,
            passages,
        });
        if self.batch.is_full() {
            self.write()?;
        }
        Ok(Ok(n_chunks as u64))
    }

    fn write(&mut self) -> Result<()> {
        let batch = std::mem::take(&mut self.batch);
        if !batch.documents.is_empty() {
            self.service.0.store.upsert(&self.namespace, &batch.documents)?;
        }
        Ok(())
    }

    /// Erases what no tool covers any more, or what is gone from the document.
    fn remove_unwanted(&mut self) -> Result<()> {
        let store = &self.service.0.store;
        let mut page = DocumentPage { limit: limits::LIST_PAGE, ..DocumentPage::default() };
        loop {
            let documents = store.documents(&self.namespace, &page)?;
            let Some(last) = documents.last() else { return Ok(()) };
            page.after = Some(last.id.clone());
            let mut unwanted: Vec<DocumentId> = vec![];
            for document in documents {
                if !self.wanted.contains(&self.hasher.hash_one(document.id.as_str())) {
                    self.changes.removed += document.n_passages as u64;
                    unwanted.push(document.id);
                }
            }
            if !unwanted.is_empty() {
                store.delete(&self.namespace, &unwanted)?;
            }
        }
    }
}

impl Batch {
    fn is_full(&self) -> bool {
        self.n_passages >= limits::PASSAGES_PER_COMMIT
            || self.n_bytes >= limits::TEXT_BYTES_PER_COMMIT
            || self.documents.len() >= limits::NODES_PER_COMMIT
    }
}

/// The document itself has no pointer of its own in the store.
fn place(pointer: &str) -> Pointer {
    match pointer {
        "" => Pointer::Whole,
        pointer => Pointer::Json(pointer.to_owned()),
    }
}

/// Gives the words of a path, of which the last ones say most.
fn title(path: &str) -> String {
    let words = pointer::components(path).unwrap_or_default().join(" ");
    let n_chars = words.chars().count();
    words.chars().skip(n_chars.saturating_sub(TITLE_CHARS)).collect()
}
