//! Documents and jobs: add, list, replace, remove.

use std::path::Path;

use anyhow::Context;
use ingest::JobService as _;
use knowledge::{Accepted, Content, DocumentState, NewCollection, NewDocument, OcrRepair, limits};
use model::iso;
use serde_json::{Value, json};

use super::run::{no_collection, no_document};
use super::session::Session;
use crate::commands::Outcome;
use crate::kb_cli::AddArgs;
use crate::print;

impl Session {
    pub(super) fn add(&self, args: &AddArgs) -> anyhow::Result<Outcome> {
        let base = self.base(&args.kb)?;
        let new = NewCollection {
            name: args.collection.clone(),
            description: String::new(),
            department: args.department.clone(),
            clearance: args.clearance,
            ..NewCollection::default()
        };
        let collection = self.collection_named(&base, &new)?;
        let ocr = repair(args.normalize_ocr);
        let mut added = Added::default();
        if let Some(text) = &args.text {
            let new = NewDocument { ocr, ..NewDocument::text(&args.title, text) };
            let accepted = self.service.add_documents(&self.caller, &collection.id, vec![new])?;
            self.taken(&accepted, "text", &mut added)?;
        }
        for file in &args.files {
            let new = vec![document_of(&self.folder.join(file), ocr)?];
            let accepted = self.service.add_documents(&self.caller, &collection.id, new)?;
            self.taken(&accepted, &file.display().to_string(), &mut added)?;
        }
        self.settle()?;
        added.print(self.is_json)
    }

    pub(super) fn replace(
        &self,
        document: &str,
        file: &Path,
        ocr: bool,
    ) -> anyhow::Result<Outcome> {
        let new = document_of(&self.folder.join(file), repair(ocr))?;
        let accepted = self
            .service
            .replace_document(&self.caller, &knowledge::KnowledgeDocumentId::new(document), new)
            .with_context(|| no_document(document))?;
        let mut added = Added::default();
        self.taken(&accepted, &file.display().to_string(), &mut added)?;
        self.settle()?;
        added.print(self.is_json)
    }

    pub(super) fn list_documents(&self, collection: &str) -> anyhow::Result<()> {
        let collection = &self.collection_id(collection)?;
        let mut rows = print::Table::new(["id", "title", "status", "chunks", "version", "error"]);
        let mut after: Option<String> = None;
        loop {
            let after_id = after.as_deref();
            let page = self
                .service
                .list_documents(
                    &self.caller,
                    &knowledge::CollectionId::new(collection),
                    after_id,
                    limits::MAX_PAGE,
                )
                .with_context(|| no_collection(collection))?;
            let Some(last) = page.last() else { break };
            after = Some(last.id.to_string());
            for document in page {
                let state = match document.state {
                    DocumentState::Pending => "pending",
                    DocumentState::Ready => "ready",
                    DocumentState::Replacing => "replacing",
                    DocumentState::Failed => "failed",
                };
                rows.row([
                    json!(document.id),
                    json!(document.title),
                    json!(state),
                    json!(document.n_chunks),
                    json!(document.version),
                    json!(document.error),
                ]);
            }
        }
        rows.print(self.is_json)
    }

    pub(super) fn list_jobs(&self) -> anyhow::Result<()> {
        let mut rows = print::Table::new(["id", "kind", "status", "done", "created", "error"]);
        for job in self.shared_state.open_store()?.queue.list()? {
            if self.service.check_job(&self.caller, &job).is_err() {
                continue;
            }
            let done = match (job.progress.n_done, job.progress.n_total) {
                (n_done, Some(n_total)) => Some(format!("{n_done} of {n_total}")),
                (0, None) => None,
                (n_done, None) => Some(n_done.to_string()),
            };
            rows.row([
                json!(job.id.to_string()),
                json!(job.kind),
                json!(job.state.as_str()),
                json!(done),
                json!(iso(job.created_at)),
                json!(job.error),
            ]);
        }
        rows.print(self.is_json)
    }

    /// Waits for a document and prints what became of it.
    fn taken(&self, accepted: &Accepted, name: &str, added: &mut Added) -> anyhow::Result<()> {
        match self.wait(&accepted.job) {
            Ok(_) => {}
            // One bad file does not keep the others out.
            Err(error) => {
                added.n_failed += 1;
                print::note(format!("`{name}`: {error}"));
            }
        }
        let same: Vec<_> = accepted.duplicates.iter().map(|duplicate| &duplicate.of).collect();
        for of in &same {
            print::note(format!("`{name}` has the same content as {}  {}", of.id, of.title));
        }
        if let Some(document) = accepted.documents.first() {
            let document = self.service.get_document(&self.caller, &document.id)?;
            if !self.is_json {
                let chunks = print::counted(document.n_chunks, "chunk", "chunks");
                print::line(format!("{}  {chunks}  {name}", document.id));
            }
            added.documents.push(json!({
                "id": document.id,
                "name": name,
                "chunks": document.n_chunks,
                "error": document.error,
                "same_as": same.iter().map(|of| &of.id).collect::<Vec<_>>(),
            }));
        }
        Ok(())
    }
}

/// What became of documents that were added.
#[derive(Default)]
struct Added {
    documents: Vec<Value>,
    n_failed: usize,
}

impl Added {
    /// A file that could not be taken is a problem that scripts must see.
    fn print(self, is_json: bool) -> anyhow::Result<Outcome> {
        if is_json {
            print::json(&Value::Array(self.documents))?;
        }
        Ok(if self.n_failed == 0 { Outcome::Done } else { Outcome::Problems })
    }
}

fn document_of(file: &Path, ocr: OcrRepair) -> anyhow::Result<NewDocument> {
    let bytes = fs_err::read(file)?;
    let name = file.file_name().and_then(|name| name.to_str()).unwrap_or("file").to_owned();
    let content = Content::File { bytes, name };
    Ok(NewDocument { content, ocr, ..NewDocument::text("", "") })
}

fn repair(is_asked: bool) -> OcrRepair {
    if is_asked { OcrRepair::On } else { OcrRepair::Off }
}
