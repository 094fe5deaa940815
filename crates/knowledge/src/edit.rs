//! Changes to what is known of a document, without a new content.

use model::Caller;
use serde::Deserialize;
use serde_json::Value;
use store::TypedObject;

use crate::access::Right;
use crate::index::attributes;
use crate::new_document::{metadata_of, tags_of, with_tags};
use crate::object_ids::KnowledgeDocumentId;
use crate::objects::{Collection, Document, TAGS};
use crate::{Error, Result, Service, limits};

/// What changes about a document.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DocumentChange {
    /// Another title.
    pub title: Option<String>,
    /// Other metadata, in the place of all before; tags stay where it has none.
    pub metadata: Option<Value>,
    /// Other tags, in the place of all before: the member `tags` of the metadata.
    pub tags: Option<Vec<String>>,
}

impl Service {
    /// Changes title, metadata or tags of a document. Searches see it when this returns.
    pub fn update_document(
        &self,
        caller: &Caller,
        id: &KnowledgeDocumentId,
        change: &DocumentChange,
    ) -> Result<Document> {
        let (collection, _, _) = self.document_of(caller, id, Right::Change)?;
        self.0.store.accepts_changes()?;
        let title = change.title.as_deref();
        let title = title
            .map(|title| ingest::bounded("the length of `title`", title, limits::MAX_TITLE_CHARS))
            .transpose()?;
        let metadata = change.metadata.as_ref().map(metadata_of).transpose()?;
        let tags = change.tags.as_deref().map(tags_of).transpose()?;
        let now = self.0.clock.now();
        // Not while a batch is written, here or by another server: that would put the title before
        // back, or this the content before.
        self.in_turn(&collection.id, || {
            let changed =
                ingest::change_object(&*self.0.catalogue, id, |document: &mut Document| {
                    if let Some(title) = title.as_ref().filter(|title| !title.is_empty()) {
                        document.title.clone_from(title);
                        document.is_titled = true;
                    }
                    if let Some(metadata) = &metadata {
                        let kept: Vec<String> = match metadata[TAGS].is_null() {
                            true => document.tags().into_iter().map(str::to_owned).collect(),
                            false => vec![],
                        };
                        document.metadata = with_tags(metadata.clone(), kept);
                    }
                    match &tags {
                        None => {}
                        Some(tags) if tags.is_empty() => {
                            if let Some(metadata) = document.metadata.as_object_mut() {
                                metadata.remove(TAGS);
                            }
                        }
                        Some(tags) => {
                            let metadata = std::mem::take(&mut document.metadata);
                            document.metadata = with_tags(metadata, tags.clone());
                        }
                    }
                    // It holds whatever becomes of a content that waits.
                    if let Some(before) = &mut document.before {
                        if title.as_ref().is_some_and(|title| !title.is_empty()) {
                            before.title.clone_from(&document.title);
                            before.is_titled = true;
                        }
                        if metadata.is_some() || tags.is_some() {
                            before.metadata.clone_from(&document.metadata);
                        }
                    }
                    document.updated_at = now;
                    Ok::<_, Error>(vec![])
                })?;
            let document = changed.ok_or_else(|| Error::missing("Document", id))?;
            if document.state.is_indexed() && title.is_some() {
                // Where it is now: it may have moved before it was this one's turn.
                let at = Collection::load(&*self.0.catalogue, &collection.id)?;
                let (collection, _) = at.ok_or_else(|| Error::missing("Document", id))?;
                self.rewrite(&collection, &document)?;
            }
            Ok(document)
        })
    }

    /// Writes an indexed document again with the title that it has now; its passages and their
    /// vectors stay.
    fn rewrite(&self, collection: &Collection, document: &Document) -> Result<()> {
        let (namespace, id) = (collection.namespace(), document.store_id());
        let info = match self.0.store.document(&namespace, &id) {
            Err(store::Error::UnknownNamespace { .. }) => None,
            info => info?,
        };
        // A collection that is being moved is written with the titles that it has by then.
        let Some(info) = info.filter(|info| info.title != document.title) else { return Ok(()) };
        let rewritten = store::Document {
            id: info.id,
            title: document.title.clone(),
            attributes: attributes(collection),
            metadata: info.metadata,
            fingerprint: info.fingerprint,
            passages: self.0.store.passages_of(&namespace, &id)?,
        };
        self.0.store.upsert(&namespace, &[rewritten])?;
        Ok(())
    }
}
