//! Documents: added, replaced, listed, deleted; and their chunks one by one.

use ingest::Job;
use model::{Caller, PassageId, Pointer, Span};
use serde_json::Value;
use store::{Change, ObjectKey, ObjectPage, TypedObject};

use crate::access::Right;
use crate::jobs::{Addition, Additions, Purge};
use crate::objects::{Collection, Document, DocumentState, document_of_chunk};
use crate::service::{bounded, new_id};
use crate::{Error, Result, Service, limits};

/// What a new document holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Plain text.
    Text(String),
    /// A file in any format that can be read.
    File {
        /// Its bytes.
        bytes: Vec<u8>,
        /// Its name.
        name: String,
    },
}

/// Whether hyphens that OCR read for a long vowel mark are repaired before indexing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum OcrRepair {
    /// The text is taken as it is.
    #[default]
    Off,
    /// The text is repaired by rules.
    On,
}

/// A document that is to be added, or the new content of one.
#[derive(Debug, Clone, PartialEq)]
pub struct NewDocument {
    /// Its title; the file's own, or its name, when empty.
    pub title: String,
    /// What it holds.
    pub content: Content,
    /// Whatever its owner wants back: a JSON object, or nothing.
    pub metadata: Value,
    /// Whether OCR is repaired.
    pub ocr: OcrRepair,
}

impl NewDocument {
    /// Takes a text.
    pub fn text(title: impl Into<String>, text: impl Into<String>) -> Self {
        NewDocument {
            title: title.into(),
            content: Content::Text(text.into()),
            metadata: Value::Null,
            ocr: OcrRepair::Off,
        }
    }
}

/// Documents that wait for their job.
#[derive(Debug, Clone, PartialEq)]
pub struct Accepted {
    /// The documents, in the order given.
    pub documents: Vec<Document>,
    /// The job that indexes them.
    pub job: Job,
}

/// One chunk of a document.
#[derive(Debug, Clone, PartialEq)]
pub struct Chunk {
    /// Its id.
    pub id: String,
    /// The document.
    pub document: Document,
    /// The position in the document, from 0.
    pub index: u32,
    /// The text, unredacted.
    pub text: String,
    /// Where it stands in the document's text, in characters.
    pub span: Span,
    /// Where a person finds it.
    pub pointer: Pointer,
}

impl Service {
    /// Adds documents to a collection; a job indexes them.
    pub fn add_documents(
        &self,
        caller: &Caller,
        collection: &str,
        new: Vec<NewDocument>,
    ) -> Result<Accepted> {
        let (_, collection, _) = self.collection_of(caller, collection, Right::Change)?;
        let (received, allowed) = (new.len(), limits::MAX_DOCUMENTS_PER_UPLOAD);
        if received > allowed {
            return Err(Error::TooLarge { what: "the number of documents", received, allowed });
        }
        if received == 0 {
            let problem = "an upload needs at least one document".to_owned();
            return Err(Error::BadRequest { problem });
        }
        let now = self.0.clock.now();
        let mut documents = Vec::with_capacity(new.len());
        for new in &new {
            documents.push(Document {
                id: new_id(),
                collection_id: collection.id.clone(),
                knowledge_base_id: collection.knowledge_base_id.clone(),
                tenant: collection.tenant.clone(),
                title: title_of(new)?,
                file_name: file_name_of(new),
                metadata: metadata_of(new)?,
                state: DocumentState::Pending,
                n_chunks: 0,
                version: 1,
                error: None,
                created_at: now,
                updated_at: now,
            });
        }
        let rows: Vec<Change> = documents
            .iter()
            .map(|document| Ok(Change::PutIfUnchanged(document.to_object(0)?)))
            .collect::<Result<_>>()?;
        let additions = self.stage(&collection, documents.iter().zip(new))?;
        self.0.catalogue.apply(&rows)?;
        Ok(Accepted { documents, job: self.submit_additions(&collection, &additions)? })
    }

    /// Replaces what a document holds; the old content is found until the job is done.
    pub fn replace_document(
        &self,
        caller: &Caller,
        id: &str,
        new: NewDocument,
    ) -> Result<Accepted> {
        let (collection, mut document, version) = self.document_of(caller, id, Right::Change)?;
        document.title = title_of(&new)?;
        document.file_name = file_name_of(&new);
        document.metadata = metadata_of(&new)?;
        document.state = match document.state.is_indexed() {
            true => DocumentState::Replacing,
            false => DocumentState::Pending,
        };
        document.version += 1;
        document.error = None;
        document.updated_at = self.0.clock.now();
        let additions = self.stage(&collection, [(&document, new)])?;
        self.0.catalogue.apply(&[Change::PutIfUnchanged(document.to_object(version)?)])?;
        let job = self.submit_additions(&collection, &additions)?;
        Ok(Accepted { documents: vec![document], job })
    }

    /// Deletes a document. It is gone for every caller at once; a job erases its passages.
    pub fn delete_document(&self, caller: &Caller, id: &str) -> Result<Job> {
        let (collection, document, _) = self.document_of(caller, id, Right::Change)?;
        self.change_collection(&collection.id, |collection| {
            // Another call may have deleted it meanwhile: it must not be counted out twice.
            let kept = Document::load(&*self.0.catalogue, &document.id)?;
            if let Some((kept, _)) = kept.filter(|(kept, _)| kept.state.is_indexed()) {
                collection.n_documents = collection.n_documents.saturating_sub(1);
                collection.n_chunks = collection.n_chunks.saturating_sub(kept.n_chunks);
            }
            Ok(vec![Change::Delete(ObjectKey::new(Document::KIND, &document.id))])
        })?;
        self.purge(&collection.tenant, &Purge::document(&collection, &document))
    }

    /// Lists documents of a collection in the order of their ids.
    pub fn list_documents(
        &self,
        caller: &Caller,
        collection: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Document>> {
        let (_, collection, _) = self.collection_of(caller, collection, Right::Read)?;
        let page = ObjectPage {
            parent: Some(collection.id),
            after: after.map(str::to_owned),
            limit: limit.min(limits::MAX_PAGE),
            ..ObjectPage::of(Document::KIND)
        };
        Ok(Document::list(&*self.0.catalogue, &page)?)
    }

    /// Gives a document.
    pub fn get_document(&self, caller: &Caller, id: &str) -> Result<Document> {
        Ok(self.document_of(caller, id, Right::Read)?.1)
    }

    /// Gives a chunk by the id that a search gave.
    pub fn get_chunk(&self, caller: &Caller, id: &str) -> Result<Chunk> {
        let missing = || Error::NotFound { what: "Chunk" };
        let document = document_of_chunk(id).ok_or_else(missing)?;
        let (collection, document, _) = match self.document_of(caller, document, Right::Read) {
            Err(Error::NotFound { .. } | Error::BaseNotFound) => return Err(missing()),
            found => found?,
        };
        let passage = PassageId::new(id);
        let found = self.0.store.passages(&collection.namespace(), &[passage]);
        let found = match found {
            Err(store::Error::UnknownNamespace { .. }) => vec![],
            found => found?,
        };
        let stored = found.into_iter().flatten().next().ok_or_else(missing)?;
        Ok(Chunk {
            id: id.to_owned(),
            document,
            index: stored.passage.ordinal,
            text: stored.passage.text,
            span: stored.passage.span,
            pointer: stored.passage.pointer,
        })
    }

    /// Keeps uploads until their job runs.
    fn stage<'a>(
        &self,
        collection: &Collection,
        documents: impl IntoIterator<Item = (&'a Document, NewDocument)>,
    ) -> Result<Additions> {
        let mut additions = Additions::of(collection);
        fs_err::create_dir_all(&self.0.uploads).map_err(Error::Upload)?;
        for (document, new) in documents {
            let (bytes, name) = match new.content {
                Content::Text(text) => {
                    let (received, allowed) = (text.len(), limits::MAX_TEXT_BYTES);
                    if received > allowed {
                        let what = "the size of `text` in bytes";
                        return Err(Error::TooLarge { what, received, allowed });
                    }
                    (text.into_bytes(), "text.txt".to_owned())
                }
                Content::File { bytes, name } => (bytes, name),
            };
            let staged = format!("{}.{}", document.id, document.version);
            write_durably(&self.0.uploads.join(&staged), &bytes).map_err(Error::Upload)?;
            additions.documents.push(Addition {
                document: document.id.clone(),
                version: document.version,
                staged,
                name,
                ocr: new.ocr,
            });
        }
        Ok(additions)
    }
}

/// An upload that was accepted survives the death of the process.
fn write_durably(path: &std::path::Path, bytes: &[u8]) -> std::io::Result<()> {
    use std::io::Write as _;
    let mut file = fs_err::File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn title_of(new: &NewDocument) -> Result<String> {
    let title = bounded("the length of `title`", &new.title, limits::MAX_TITLE_CHARS)?;
    Ok(if title.is_empty() { file_name_of(new) } else { title })
}

fn file_name_of(new: &NewDocument) -> String {
    let Content::File { name, .. } = &new.content else { return String::new() };
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    name.chars().filter(|c| !c.is_control()).take(limits::MAX_NAME_CHARS).collect()
}

fn metadata_of(new: &NewDocument) -> Result<Value> {
    if !matches!(new.metadata, Value::Null | Value::Object(_)) {
        let problem = "`metadata` must be an object".to_owned();
        return Err(Error::BadRequest { problem });
    }
    let (received, allowed) = (new.metadata.to_string().len(), limits::MAX_METADATA_BYTES);
    if received > allowed {
        return Err(Error::TooLarge { what: "the size of `metadata` in bytes", received, allowed });
    }
    Ok(new.metadata.clone())
}
