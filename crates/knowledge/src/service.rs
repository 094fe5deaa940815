//! The family's service: what it is made of. Its calls are in the files of their objects.

use std::sync::Arc;
use std::time::Duration;

use extract::Pool;
use infer::Llm;
use ingest::{JobQueue, JoinableJobs, ObjectError, Vectors};
use model::{Caller, Clock};
use parking_lot::{Mutex, RwLock};
use retrieve::Retriever;
use store::{Change, Objects, Store, TypedObject};

use crate::access::{Right, check, sees};
use crate::again::Unfinished;
use crate::backlog::Backlog;
use crate::object_ids::{CollectionId, KnowledgeBaseId, KnowledgeDocumentId};
use crate::objects::{Collection, Document, KnowledgeBase};
use crate::{Error, KnowledgeConfig, Result, UploadFiles, limits};

/// How long a server that died while it wrote documents of a collection keeps others from it.
const WRITING_LEASE: Duration = Duration::from_secs(30);

/// What the service works with.
pub struct ServiceConfig {
    /// Where passages are kept.
    pub store: Arc<Store>,
    /// Where objects are kept.
    pub catalogue: Arc<dyn Objects>,
    /// What runs jobs.
    pub queue: Arc<JobQueue>,
    /// What searches.
    pub retriever: Retriever,
    /// Told that passages without a vector wait.
    pub vectors: Arc<Vectors>,
    /// Worker processes for extraction; this process when there are none.
    pub pool: Option<Arc<Pool>>,
    /// The language model, where one is configured.
    pub llm: Option<Arc<dyn Llm>>,
    /// Where uploads wait for their job and originals are kept.
    pub uploads: UploadFiles,
    /// What is configured.
    pub settings: KnowledgeConfig,
    /// The time.
    pub clock: Clock,
}

/// The knowledge family. Cheap to clone.
#[derive(Clone)]
pub struct Service(pub(crate) Arc<ServiceConfig>, pub(crate) Arc<Turns>);

/// Whose turn it is among the jobs.
#[derive(Default)]
pub(crate) struct Turns {
    /// Held while documents or summaries are written, by [`Service::in_turn`] where other servers
    /// may write them too.
    pub(crate) writing: Mutex<()>,
    /// Shared while rows of new documents are written, and taken alone by whoever deletes what
    /// they would belong to. New documents do not wait for each other: they share a commit.
    pub(crate) adding: RwLock<()>,
    /// Which jobs new documents join.
    pub(crate) joinable: JoinableJobs,
    /// Held while what was deleted is erased.
    pub(crate) purging: Mutex<()>,
    /// How many uploads wait.
    pub(crate) backlog: Backlog,
    /// What jobs may have left.
    pub(crate) unfinished: Unfinished,
}

impl Service {
    /// Puts the service together.
    pub fn new(config: ServiceConfig) -> Self {
        Service(Arc::new(config), Arc::default())
    }

    /// Puts the service together that follows one with another configuration: what was begun with
    /// that one goes on beside this one, so they take turns.
    pub fn succeeding(config: ServiceConfig, before: &Service) -> Self {
        Service(Arc::new(config), Arc::clone(&before.1))
    }

    /// Tells whether a language model is configured, and which.
    pub fn llm_name(&self) -> Option<&str> {
        self.0.llm.as_deref().map(Llm::name)
    }

    /// Gives a knowledge base that the caller has a right to, with its version.
    pub(crate) fn base(
        &self,
        caller: &Caller,
        id: &KnowledgeBaseId,
        right: Right,
    ) -> Result<(KnowledgeBase, u64)> {
        let found = KnowledgeBase::load(&*self.0.catalogue, id)?;
        let (base, version) = found.ok_or_else(|| Error::no_base(id))?;
        check(&base, caller, right)?;
        Ok((base, version))
    }

    /// Gives a collection that the caller sees and has a right to, with its base and version. One
    /// that they may not see is not told from one that is not there.
    pub(crate) fn collection_of(
        &self,
        caller: &Caller,
        id: &CollectionId,
        right: Right,
    ) -> Result<(KnowledgeBase, Collection, u64)> {
        let missing = || Error::missing("Collection", id);
        let (collection, version) =
            Collection::load(&*self.0.catalogue, id)?.ok_or_else(missing)?;
        if collection.tenant != caller.tenant {
            return Err(missing());
        }
        let (base, _) = match self.base(caller, &collection.knowledge_base_id, Right::Read) {
            Err(Error::Denied | Error::BaseNotFound { .. }) => return Err(missing()),
            read => read?,
        };
        if !sees(&collection, caller) {
            return Err(missing());
        }
        check(&base, caller, right)?;
        Ok((base, collection, version))
    }

    /// Gives a document that the caller sees and has a right to, with its collection and version.
    pub(crate) fn document_of(
        &self,
        caller: &Caller,
        id: &KnowledgeDocumentId,
        right: Right,
    ) -> Result<(Collection, Document, u64)> {
        let missing = || Error::missing("Document", id);
        let (document, version) = Document::load(&*self.0.catalogue, id)?.ok_or_else(missing)?;
        if document.tenant != caller.tenant {
            return Err(missing());
        }
        match self.collection_of(caller, &document.collection_id, right) {
            Err(Error::Object(ObjectError::NotFound { .. })) => Err(missing()),
            found => found.map(|(_, collection, _)| (collection, document, version)),
        }
    }

    /// Lists the collections of a knowledge base that the caller sees.
    pub(crate) fn visible_collections(
        &self,
        caller: &Caller,
        base: &KnowledgeBase,
    ) -> Result<Vec<Collection>> {
        let mut collections = self.collections_of(&base.id)?;
        collections.retain(|collection| sees(collection, caller));
        Ok(collections)
    }

    pub(crate) fn collections_of(&self, base: &KnowledgeBaseId) -> Result<Vec<Collection>> {
        let page = store::ObjectPage {
            parent: Some(base.to_string()),
            limit: limits::MAX_COLLECTIONS,
            ..store::ObjectPage::of(Collection::KIND)
        };
        Ok(Collection::list(&*self.0.catalogue, &page)?)
    }

    /// Does something in the turn of those who write documents or the summary of a collection, of
    /// this server and of others over the same catalogue: what is read is still so when it is
    /// written.
    ///
    /// # Errors
    ///
    /// Those of `work`, and when others write for longer than anybody should.
    pub(crate) fn in_turn<T>(
        &self,
        collection: &CollectionId,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        // Between threads of this server a lock does: a lease costs the catalogue two calls.
        let _writing = self.1.writing.lock();
        let name = format!("knowledge/writing/{collection}");
        ingest::in_turn(&self.0.store.catalogue(), &name, WRITING_LEASE, work)
            .map_err(ObjectError::from)?
    }

    /// Changes a collection together with other rows, trying again when someone else was first.
    ///
    /// `change` gets the collection as it stands, changes it, and gives the other changes.
    pub(crate) fn change_collection(
        &self,
        id: &CollectionId,
        mut change: impl FnMut(&mut Collection) -> Result<Vec<Change>>,
    ) -> Result<Collection> {
        let now = self.0.clock.now();
        let changed =
            ingest::change_object(&*self.0.catalogue, id, |collection: &mut Collection| {
                let changes = change(collection)?;
                collection.updated_at = now;
                Ok::<_, Error>(changes)
            })?;
        changed.ok_or_else(|| Error::missing("Collection", id.as_str()))
    }
}

/// Takes a name.
pub(crate) fn named(text: &str) -> Result<String> {
    Ok(ingest::named(text, limits::MAX_NAME_CHARS)?)
}
