//! Documents and jobs: add, list, replace, remove.

use std::path::Path;

use knowledge::{Accepted, Content, DocumentState, NewCollection, NewDocument, OcrRepair, limits};
use model::iso;

use super::session::Session;
use crate::kb_cli::AddArgs;
use crate::print;

impl Session {
    pub(super) fn add(&self, args: &AddArgs) -> anyhow::Result<()> {
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
        if let Some(text) = &args.text {
            let new = NewDocument { ocr, ..NewDocument::text(&args.title, text) };
            self.taken(
                &self.service.add_documents(&self.caller, &collection.id, vec![new])?,
                "text",
            )?;
        }
        for file in &args.files {
            let new = vec![document_of(file, ocr)?];
            let accepted = self.service.add_documents(&self.caller, &collection.id, new)?;
            self.taken(&accepted, &file.display().to_string())?;
        }
        self.settle()
    }

    pub(super) fn replace(&self, document: &str, file: &Path, ocr: bool) -> anyhow::Result<()> {
        let new = document_of(file, repair(ocr))?;
        let accepted = self.service.replace_document(&self.caller, document, new)?;
        self.taken(&accepted, &file.display().to_string())?;
        self.settle()
    }

    pub(super) fn list_documents(&self, collection: &str) -> anyhow::Result<()> {
        let head = ["id", "title", "status", "chunks", "version", "error"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        let mut after: Option<String> = None;
        loop {
            let page = self.service.list_documents(
                &self.caller,
                collection,
                after.as_deref(),
                limits::MAX_PAGE,
            )?;
            let Some(last) = page.last() else { break };
            after = Some(last.id.clone());
            rows.extend(page.into_iter().map(|document| {
                let state = match document.state {
                    DocumentState::Pending => "pending",
                    DocumentState::Ready => "ready",
                    DocumentState::Replacing => "replacing",
                    DocumentState::Failed => "failed",
                };
                vec![
                    document.id,
                    document.title,
                    state.to_owned(),
                    document.n_chunks.to_string(),
                    document.version.to_string(),
                    document.error.unwrap_or_default(),
                ]
            }));
        }
        print::line(print::table(&rows));
        Ok(())
    }

    pub(super) fn list_jobs(&self) -> anyhow::Result<()> {
        let head = ["id", "kind", "status", "done", "created", "error"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        for job in self.shared_state.kept()?.queue.list()? {
            if self.service.check_job(&self.caller, &job).is_err() {
                continue;
            }
            let n_total = job.progress.n_total.map_or("?".to_owned(), |n| n.to_string());
            rows.push(vec![
                job.id.to_string(),
                job.kind,
                job.state.as_str().to_owned(),
                format!("{} of {n_total}", job.progress.n_done),
                iso(job.created_at),
                job.error.unwrap_or_default(),
            ]);
        }
        print::line(print::table(&rows));
        Ok(())
    }

    /// Waits for a document and prints what became of it.
    fn taken(&self, accepted: &Accepted, name: &str) -> anyhow::Result<()> {
        match self.wait(&accepted.job) {
            Ok(()) => {}
            // One bad file does not keep the others out.
            Err(error) => print::note(format!("`{name}`: {error}")),
        }
        if let Some(document) = accepted.documents.first() {
            let document = self.service.get_document(&self.caller, &document.id)?;
            print::line(format!("{}  {} chunks  {name}", document.id, document.n_chunks));
        }
        Ok(())
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
