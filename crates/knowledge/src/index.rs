//! What jobs do to the store: write uploads, move; what erases is in [`crate::erasures`].

use std::time::{Duration, Instant};

use ingest::{BatchWait, Job, JobFailure, Progress, Stage, job_failure};
use model::{Attributes, DocumentId, NamespaceId};
use serde_json::{Value, json};
use store::{DocumentInfo, DocumentPage, Manifest, TypedObject};

use crate::access::attribute;
use crate::jobs::{Additions, Move};
use crate::objects::{Collection, Document, document_of};
use crate::{Error, Result, Service};

/// Documents looked at in one go.
const LIST_PAGE: usize = 200;

/// How often a job that waits for uploads looks whether it is to stop.
const LOOK: Duration = Duration::from_millis(10);

impl Service {
    /// Indexes the uploads of a collection that wait, and those that come meanwhile. One that
    /// cannot be read says why; the job fails when none can.
    pub(crate) fn run_additions(
        &self,
        job: &Job,
        additions: &Additions,
        progress: &Progress,
    ) -> std::result::Result<Value, JobFailure> {
        let mut named = additions.clone();
        let begun = Instant::now();
        let mut open = Some(self.1.joinable.open(additions.collection.as_str(), job));
        let (mut n_written, mut n_failed) = (0, 0);
        let collection = loop {
            let found = Collection::load(&*self.0.catalogue, &additions.collection);
            let Some((collection, _)) = found.map_err(failure_of_store)? else {
                self.forget_uploads(named.documents.iter().map(|named| named.staged.as_str()));
                return Ok(json!({ "documents": n_written, "failed": n_failed }));
            };
            if begun.elapsed() >= ingest::limits::JOIN_LIMIT {
                open = None;
            }
            let waiting = self.waiting_uploads(&collection, &named).map_err(job_failure)?;
            named.documents.clear();
            let (is_open, round) = (open.is_some(), Instant::now());
            let is_idle = waiting.is_empty();
            if !is_idle {
                progress.go_on();
                let (n_more, n_more_failed) =
                    self.take_in(&collection, waiting, progress).map_err(job_failure)?;
                n_written += n_more;
                n_failed += n_more_failed;
                if n_more + n_more_failed > 0 && is_open {
                    self.wait_for_more(round.elapsed(), progress);
                    continue;
                }
            }
            // Rows are looked at once more after the last one could join.
            open = None;
            if !is_open {
                break collection;
            }
        };
        // While more waits, the job after this one is followed: one summary serves them all.
        match self.documents_waiting_in(&collection.id).map_err(job_failure)?.is_empty() {
            true => self.follow_up(&collection).map_err(job_failure)?,
            false => self.0.vectors.written(collection.namespace()),
        }
        if n_written == 0 && n_failed > 0 {
            return Err(JobFailure::Final(
                "no text could be read; each document says why".to_owned(),
            ));
        }
        Ok(json!({ "documents": n_written, "failed": n_failed }))
    }

    /// Waits for uploads to join a job, unless it is to stop or others wait for their turn.
    fn wait_for_more(&self, round: Duration, progress: &Progress) {
        self.0.vectors.wake();
        let until = Instant::now() + BatchWait::FOR_ROUNDS.after(round);
        let (n_waiting_jobs, _) = self.0.queue.counts();
        while n_waiting_jobs == 0 && !progress.is_cancelled() && Instant::now() < until {
            std::thread::sleep(LOOK);
        }
    }

    /// Moves passages into the namespace that their collection has now. They are copied as they
    /// are stored: nothing is read or cut again, so this is no run of the pipeline.
    pub(crate) fn run_move(&self, move_: &Move, progress: &Progress) -> Result<Value> {
        let Some((collection, _)) = Collection::load(&*self.0.catalogue, &move_.collection)? else {
            return Ok(Value::Null);
        };
        let (from, to) = (NamespaceId::new(move_.from.as_str()), collection.namespace());
        if from == to {
            return Ok(Value::Null);
        }
        progress.begin(Stage::Writing, Some(collection.n_documents));
        self.0.store.create_namespace(&to, &Manifest::current(None))?;
        let mut n_moved = 0;
        self.in_turn(&collection.id, || {
            self.each_page(&from, &collection.document_prefix(), |page| {
                let ids: Vec<DocumentId> = page.iter().map(|info| info.id.clone()).collect();
                let mut documents = vec![];
                // Titles may have changed while the move waited.
                let rows: Vec<_> = ids.iter().map(document_of).collect();
                let rows = Document::load_many(&*self.0.catalogue, &rows)?;
                for (info, row) in page.into_iter().zip(rows) {
                    let title = row.and_then(|(row, _)| row.indexed_title());
                    documents.push(store::Document {
                        passages: self.0.store.passages_of(&from, &info.id)?,
                        id: info.id,
                        title: title.unwrap_or(info.title),
                        attributes: attributes(&collection),
                        metadata: info.metadata,
                        fingerprint: info.fingerprint,
                    });
                }
                self.0.store.upsert(&to, &documents)?;
                self.0.store.delete(&from, &ids)?;
                n_moved += documents.len();
                progress.advance(Stage::Writing, documents.len());
                Ok(())
            })
        })?;
        self.follow_up(&collection)?;
        Ok(json!({ "moved": n_moved }))
    }

    /// Shows documents whose ids begin so, a page at a time; `work` may erase them.
    pub(crate) fn each_page(
        &self,
        namespace: &NamespaceId,
        prefix: &str,
        mut work: impl FnMut(Vec<DocumentInfo>) -> Result<()>,
    ) -> Result<()> {
        let mut page = DocumentPage { prefix: prefix.to_owned(), after: None, limit: LIST_PAGE };
        loop {
            let documents = match self.0.store.documents(namespace, &page) {
                Err(store::Error::UnknownNamespace { .. }) => return Ok(()),
                documents => documents?,
            };
            let Some(last) = documents.last() else { return Ok(()) };
            page.after = Some(last.id.clone());
            work(documents)?;
        }
    }
}

/// What passages of a collection are filtered by.
pub(crate) fn attributes(collection: &Collection) -> Attributes {
    let department = collection.department.as_deref().unwrap_or_default();
    Attributes::from([
        (attribute::TENANT.to_owned(), collection.tenant.as_str().into()),
        (attribute::BASE.to_owned(), collection.knowledge_base_id.as_str().into()),
        (attribute::COLLECTION.to_owned(), collection.id.as_str().into()),
        (attribute::DEPARTMENT.to_owned(), department.into()),
        (attribute::CLEARANCE.to_owned(), i64::from(collection.clearance.level()).into()),
    ])
}

fn failure_of_store(error: store::Error) -> JobFailure {
    job_failure(Error::from(error))
}
