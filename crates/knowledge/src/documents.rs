//! Documents: added, replaced, listed, deleted; and their chunks one by one.

use ingest::{Job, ObjectError, new_id};
use model::{Around, Caller, Passage, PassageId, Pointer, Span};
use store::{Change, ObjectKey, ObjectPage, TypedObject};

use crate::access::Right;
use crate::erasures::Erasure;
use crate::jobs::Purge;
use crate::new_document::{
    NewDocument, file_name_of, is_titled, metadata_of, tags_of, title_of, with_tags,
};
use crate::object_ids::{CollectionId, KnowledgeDocumentId};
use crate::objects::{
    Collection, Document, DocumentState, TAGS, Upload, document_of_chunk, same_content,
};
use crate::uploads::Staged;
use crate::{Error, Result, Service, limits};

/// Documents that wait for their job.
#[derive(Debug, Clone, PartialEq)]
pub struct Accepted {
    /// The documents, in the order given.
    pub documents: Vec<Document>,
    /// The job that indexes them.
    pub job: Job,
    /// Those whose content another document has already that the caller may see.
    pub duplicates: Vec<Duplicate>,
}

/// A document that holds the same content as another.
#[derive(Debug, Clone, PartialEq)]
pub struct Duplicate {
    /// The document that was added.
    pub document: KnowledgeDocumentId,
    /// The one that was there before.
    pub of: Document,
}

/// One chunk of a document.
#[derive(Debug, Clone, PartialEq)]
pub struct Chunk {
    /// Holds the document's id and the position.
    pub id: PassageId,
    /// With its title, state and metadata.
    pub document: Document,
    /// The position in the document, from 0.
    pub index: u32,
    /// The text, unredacted.
    pub text: String,
    /// What the document says around it; it is looked at and never leaves.
    pub around: Around,
    /// Where it is in the document's text, in characters.
    pub span: Span,
    /// Where a person finds it.
    pub pointer: Pointer,
}

/// What a document says, as far as it was asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct DocumentText {
    /// With its title, state and metadata.
    pub document: Document,
    /// Its text, unredacted.
    pub text: String,
    /// Whether its end is missing.
    pub is_cut: bool,
}

impl Service {
    /// Adds documents to a collection; a job indexes them.
    pub fn add_documents(
        &self,
        caller: &Caller,
        collection: &CollectionId,
        new: Vec<NewDocument>,
    ) -> Result<Accepted> {
        let (_, collection, _) = self.collection_of(caller, collection, Right::Change)?;
        let (received, allowed) = (new.len(), limits::MAX_DOCUMENTS_PER_UPLOAD);
        if received > allowed {
            return Err(Error::Object(ObjectError::TooLarge {
                what: "the number of documents",
                received,
                allowed,
            }));
        }
        if received == 0 {
            let problem = "an upload needs at least one document".to_owned();
            return Err(Error::Object(ObjectError::BadRequest { problem }));
        }
        // Files of a folder are looked at again by themselves; whoever sends some has to know.
        if new.iter().all(|new| new.source.is_none()) {
            self.0.store.accepts_changes()?;
        }
        // Beside others an empty file is kept as failed, with the reason; alone it is a mistake.
        if let [only] = new.as_slice()
            && only.source.is_none()
            && only.is_empty_file()?
        {
            let problem = format!("`{}` is empty: it has 0 bytes", file_name_of(only));
            return Err(Error::Object(ObjectError::BadRequest { problem }));
        }
        let now = self.0.clock.now();
        let mut documents = Vec::with_capacity(new.len());
        for new in &new {
            documents.push(Document {
                id: KnowledgeDocumentId::new(new_id()),
                collection_id: collection.id.clone(),
                knowledge_base_id: collection.knowledge_base_id.clone(),
                tenant: collection.tenant.clone(),
                title: title_of(new)?,
                is_titled: is_titled(new),
                file_name: file_name_of(new),
                metadata: with_tags(metadata_of(&new.metadata)?, tags_of(&new.tags)?),
                sha256: String::new(),
                source: new.source.clone(),
                original: None,
                state: DocumentState::Pending,
                n_chunks: 0,
                version: 1,
                error: None,
                upload: None,
                before: None,
                created_at: now,
                updated_at: now,
            });
        }
        self.1.backlog.enter(&collection.id, documents.len())?;
        let accepted = self.accept(&collection, &mut documents, new);
        let accepted =
            accepted.and_then(|duplicates| Ok((duplicates, self.submit_additions(&collection)?)));
        match accepted {
            Ok((duplicates, job)) => {
                let duplicates = self.visible_duplicates(caller, duplicates)?;
                Ok(Accepted { documents, job, duplicates })
            }
            Err(error) => {
                // Nobody was told of these documents: no trace of them may stay.
                let keys = documents.iter().map(|document| document.id.as_str());
                let rows: Vec<Change> =
                    keys.map(|id| Change::Delete(ObjectKey::new(Document::KIND, id))).collect();
                let _ = self.0.catalogue.apply(&rows);
                self.forget_uploads(documents.iter().filter_map(Document::staged));
                self.1.backlog.fewer(&collection.id, documents.len());
                Err(error)
            }
        }
    }

    /// Stores contents and writes the rows of their documents, on the condition that the
    /// collection is there: one that is deleted meanwhile gets no documents. What is small comes
    /// with the rows, by one commit.
    fn accept(
        &self,
        collection: &Collection,
        documents: &mut [Document],
        new: Vec<NewDocument>,
    ) -> Result<Vec<Same>> {
        let (mut contents, mut n_content_bytes) = (vec![], 0);
        let mut new = new.into_iter();
        for idx in 0..documents.len() {
            let Some((document, new)) = documents.get_mut(idx).zip(new.next()) else { break };
            let staged = self.stage(document, new)?;
            contents.extend(staged.with_row);
            n_content_bytes += staged.upload.n_bytes;
            if n_content_bytes > limits::MAX_CONTENT_BYTES_PER_COMMIT {
                self.0.catalogue.apply(&std::mem::take(&mut contents))?;
                n_content_bytes = 0;
            }
            document.upload = Some(staged.upload);
            document.sha256 = staged.sha256;
        }
        let mut changes =
            vec![Change::Require(ObjectKey::new(Collection::KIND, collection.id.as_str()))];
        changes.append(&mut contents);
        for document in documents.iter() {
            changes.push(Change::PutIfUnchanged(document.to_object(0)?));
        }
        let _adding = self.1.adding.read();
        match self.0.catalogue.apply(&changes) {
            Err(store::Error::MissingObject { .. }) => {
                return Err(Error::missing("Collection", collection.id.as_str()));
            }
            applied => applied.map(|_| ())?,
        }
        // Looked for behind the commit: of several that come at once, only the first can find none.
        let mut duplicates = Vec::with_capacity(documents.len());
        for (idx, document) in documents.iter().enumerate() {
            let mut others = self.same_as(document)?;
            others.retain(|other| !documents.iter().skip(idx).any(|later| later.id == other.id));
            duplicates.push(Same { document: document.id.clone(), others });
        }
        Ok(duplicates)
    }

    /// Replaces what a document holds; the old content is found until the job is done.
    ///
    /// Fails with [`Error::FollowsFile`] where the document is that of a file in a folder.
    pub fn replace_document(
        &self,
        caller: &Caller,
        id: &KnowledgeDocumentId,
        new: NewDocument,
    ) -> Result<Accepted> {
        let (_, document, _) = self.document_of(caller, id, Right::Change)?;
        self.check_follows_no_file(&document)?;
        self.replace_content(caller, id, new)
    }

    /// Replaces what a document holds, whether it follows a file or not.
    pub(crate) fn replace_content(
        &self,
        caller: &Caller,
        id: &KnowledgeDocumentId,
        new: NewDocument,
    ) -> Result<Accepted> {
        let (collection, before, _) = self.document_of(caller, id, Right::Change)?;
        if new.source.is_none() {
            self.0.store.accepts_changes()?;
        }
        let (title, is_titled, file_name) = (title_of(&new)?, is_titled(&new), file_name_of(&new));
        let metadata = metadata_of(&new.metadata)?;
        let (tags, source) = (tags_of(&new.tags)?, new.source.clone());
        self.1.backlog.enter(&collection.id, 1)?;
        let staged = self.stage(&before, new);
        let Staged { upload, sha256, with_row } =
            staged.inspect_err(|_| self.1.backlog.fewer(&collection.id, 1))?;
        let mut before = None;
        let now = self.0.clock.now();
        let adding = self.1.adding.read();
        let changed = ingest::change_object(&*self.0.catalogue, id, |document: &mut Document| {
            before = Some(document.clone());
            document.remember();
            // A title that somebody gave stays, and so do metadata and tags, unless the new content
            // has its own.
            if is_titled || !document.is_titled {
                document.title.clone_from(&title);
                document.is_titled = is_titled;
            }
            document.file_name.clone_from(&file_name);
            let tags = match tags.is_empty() && metadata[TAGS].is_null() {
                true => document.tags().into_iter().map(str::to_owned).collect(),
                false => tags.clone(),
            };
            let metadata = if metadata.is_null() { &document.metadata } else { &metadata };
            document.metadata = with_tags(metadata.clone(), tags);
            document.sha256.clone_from(&sha256);
            document.source.clone_from(&source);
            document.state = match document.state.is_indexed() {
                true => DocumentState::Replacing,
                false => DocumentState::Pending,
            };
            document.version += 1;
            document.error = None;
            document.updated_at = now;
            document.upload = Some(upload.clone());
            Ok::<_, Error>(with_row.iter().cloned().collect())
        });
        drop(adding);
        let accepted = changed
            .and_then(|found| found.ok_or_else(|| Error::missing("Document", id)))
            .and_then(|document| Ok((document, self.submit_additions(&collection)?)));
        let (document, job) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // What is refused must not come all the same.
                if let Some(before) = &before
                    && let Err(error) = self.take_back(before, &upload)
                {
                    let cause = model::with_causes(&error);
                    tracing::warn!(
                        document = %id,
                        cause,
                        "a refused content could not be taken back"
                    );
                }
                self.forget_uploads([upload.staged.as_str()]);
                self.1.backlog.fewer(&collection.id, 1);
                return Err(error);
            }
        };
        // The content before waited in vain: nobody will read it any more.
        let earlier = before.as_ref().and_then(Document::staged);
        self.forget_uploads(earlier);
        self.1.backlog.fewer(&collection.id, usize::from(earlier.is_some()));
        let same = Same { document: document.id.clone(), others: self.same_as(&document)? };
        let duplicates = self.visible_duplicates(caller, vec![same])?;
        Ok(Accepted { documents: vec![document], job, duplicates })
    }

    /// Makes a document what it was before an upload that nobody asked a job for, unless somebody
    /// else has changed it since.
    fn take_back(&self, before: &Document, upload: &Upload) -> Result<()> {
        // Nobody is between its two looks at the row.
        self.in_turn(&before.collection_id, || {
            let Some((document, version)) = Document::load(&*self.0.catalogue, &before.id)? else {
                return Ok(());
            };
            if document.staged() != Some(upload.staged.as_str()) {
                return Ok(());
            }
            match self.0.catalogue.apply(&[Change::PutIfUnchanged(before.to_object(version)?)]) {
                Err(store::Error::Conflict { .. }) => Ok(()),
                applied => Ok(applied.map(|_| ())?),
            }
        })
    }

    /// Deletes a document. It is gone for every caller at once; a job erases its passages.
    ///
    /// Fails with [`Error::FollowsFile`] where the document is that of a file in a folder.
    pub fn delete_document(&self, caller: &Caller, id: &KnowledgeDocumentId) -> Result<Job> {
        let (_, document, _) = self.document_of(caller, id, Right::Change)?;
        self.check_follows_no_file(&document)?;
        self.remove_document(caller, id)
    }

    /// Deletes a document, whether it follows a file or not.
    pub(crate) fn remove_document(&self, caller: &Caller, id: &KnowledgeDocumentId) -> Result<Job> {
        let (collection, document, _) = self.document_of(caller, id, Right::Change)?;
        self.remove_documents(&collection, &[document])
    }

    /// Deletes documents of a collection by one commit, and gives the job that erases them.
    pub(crate) fn remove_documents(
        &self,
        collection: &Collection,
        documents: &[Document],
    ) -> Result<Job> {
        let space = self.space_to_purge()?;
        self.change_collection(&collection.id, |collection| {
            let mut changes = vec![];
            let ids = documents.iter().map(|document| &document.id);
            let kept = Document::load_many(&*self.0.catalogue, ids)?;
            for (document, kept) in documents.iter().zip(kept) {
                // Another call may have deleted it meanwhile: it must not be counted out twice.
                if let Some((kept, _)) = kept.filter(|(kept, _)| kept.state.is_indexed()) {
                    collection.n_documents = collection.n_documents.saturating_sub(1);
                    collection.n_chunks = collection.n_chunks.saturating_sub(kept.n_chunks);
                }
                changes.push(Change::Delete(ObjectKey::new(Document::KIND, document.id.as_str())));
                changes.extend(self.version_keys(&document.id)?.into_iter().map(Change::Delete));
                let purge = Purge::document(collection, document);
                changes.push(Erasure::change(&collection.tenant, &purge)?);
            }
            Ok(changes)
        })?;
        self.forget_uploads(documents.iter().flat_map(Document::files));
        let n_waiting = documents.iter().filter(|document| document.upload.is_some()).count();
        self.1.backlog.fewer(&collection.id, n_waiting);
        self.purge(space, &collection.tenant, &Purge::collection(collection))
    }

    /// Lists documents of a collection in the order of their ids.
    pub fn list_documents(
        &self,
        caller: &Caller,
        collection: &CollectionId,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Document>> {
        let (_, collection, _) = self.collection_of(caller, collection, Right::Read)?;
        let page = ObjectPage {
            parent: Some(collection.id.to_string()),
            after: after.map(str::to_owned),
            limit: limit.min(limits::MAX_PAGE),
            ..ObjectPage::of(Document::KIND)
        };
        Ok(Document::list(&*self.0.catalogue, &page)?)
    }

    /// Finds a document of a collection that the caller may see.
    pub fn get_document(&self, caller: &Caller, id: &KnowledgeDocumentId) -> Result<Document> {
        Ok(self.document_of(caller, id, Right::Read)?.1)
    }

    /// Gives a chunk by the id that a search gave.
    pub fn get_chunk(&self, caller: &Caller, id: &PassageId) -> Result<Chunk> {
        let missing = || Error::missing("Chunk", id);
        let document = document_of_chunk(id).ok_or_else(missing)?;
        let (collection, document, _) = match self.document_of(caller, &document, Right::Read) {
            Err(Error::Object(ObjectError::NotFound { .. }) | Error::BaseNotFound { .. }) => {
                return Err(missing());
            }
            found => found?,
        };
        let found = self.0.store.passages(&collection.namespace(), std::slice::from_ref(id));
        let found = match found {
            Err(store::Error::UnknownNamespace { .. }) => vec![],
            found => found?,
        };
        let stored = found.into_iter().flatten().next().ok_or_else(missing)?;
        Ok(Chunk {
            id: id.clone(),
            around: self.around(&collection.namespace(), &stored.passage)?,
            document,
            index: stored.passage.ordinal,
            text: stored.passage.text,
            span: stored.passage.span,
            pointer: stored.passage.pointer,
        })
    }

    /// Gives what a document says, up to so many characters.
    pub fn document_text(
        &self,
        caller: &Caller,
        id: &KnowledgeDocumentId,
        max_chars: usize,
    ) -> Result<DocumentText> {
        let (collection, document, _) = self.document_of(caller, id, Right::Read)?;
        let passages = match self.0.store.passages_of(&collection.namespace(), &document.store_id())
        {
            Err(store::Error::UnknownNamespace { .. }) => vec![],
            passages => passages?,
        };
        let (text, is_cut) = joined(&passages, max_chars);
        Ok(DocumentText { document, text, is_cut })
    }
}

impl Service {
    /// Finds the other documents of the tenant with the same content.
    fn same_as(&self, document: &Document) -> Result<Vec<Document>> {
        let lookup = same_content(&document.tenant, &document.sha256);
        let found = self.0.catalogue.find(Document::KIND, &lookup)?;
        let mut others =
            found.into_iter().map(Document::from_object).collect::<store::Result<Vec<_>>>()?;
        others.retain(|other| other.id != document.id);
        Ok(others)
    }

    /// Names the first of the same documents that the caller may see; what they may not see does
    /// not exist for them.
    fn visible_duplicates(&self, caller: &Caller, same: Vec<Same>) -> Result<Vec<Duplicate>> {
        let mut duplicates = vec![];
        for Same { document, others } in same {
            for of in others {
                match self.document_of(caller, &of.id, Right::Read) {
                    Ok(_) => {
                        duplicates.push(Duplicate { document, of });
                        break;
                    }
                    Err(
                        Error::Object(ObjectError::NotFound { .. })
                        | Error::BaseNotFound { .. }
                        | Error::Denied,
                    ) => {}
                    Err(other) => return Err(other),
                }
            }
        }
        Ok(duplicates)
    }
}

/// A document, and others with the same content, whoever may see them.
struct Same {
    document: KnowledgeDocumentId,
    others: Vec<Document>,
}

/// Puts the text of a document together from its passages, up to so many characters; tells whether
/// its end is missing.
pub(crate) fn joined(passages: &[Passage], max_chars: usize) -> (String, bool) {
    let (mut text, mut end, mut n_chars) = (String::new(), 0_usize, 0);
    for passage in passages {
        // Chunks overlap: what was said already is not said again.
        let n_known = end.saturating_sub(passage.span.start);
        if passage.span.start > end && !text.is_empty() {
            text.push('\n');
            n_chars += 1;
        }
        let rest: String = passage.text.chars().skip(n_known).collect();
        n_chars += rest.chars().count();
        text.push_str(&rest);
        end = end.max(passage.span.end);
        if n_chars > max_chars {
            return (text.chars().take(max_chars).collect(), true);
        }
    }
    (text, false)
}
