//! What was deleted and is not erased yet. A row is written with each deletion and goes when
//! nothing of it is on the disk any more, so neither a full queue nor a crash loses one.
//!
//! Erasing rewrites indexes, which costs the same for one document as for a thousand. So a job
//! erases all that waits, whoever deleted it, and the jobs behind it find their work done.

use std::collections::{BTreeMap, BTreeSet};

use ingest::{Job, JobService, QueueSpace, new_id};
use model::{DocumentId, NamespaceId, TenantId};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::{Change, ObjectKey, ObjectPage, TypedObject};

use crate::jobs::Purge;
use crate::object_ids::CollectionId;
use crate::objects::Collection;
use crate::{Result, Service, limits};

/// Documents that one commit erases at most.
const DOCUMENTS_PER_COMMIT: usize = 200;

/// Something that was deleted.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Erasure {
    id: String,
    tenant: TenantId,
    purge: Purge,
}

impl TypedObject for Erasure {
    type Id = str;

    const KIND: &'static str = "knowledge_erasure";

    fn id(&self) -> String {
        self.id.clone()
    }

    fn tenant(&self) -> TenantId {
        self.tenant.clone()
    }
}

impl Erasure {
    /// Gives the row that goes with a deletion.
    pub(crate) fn change(tenant: &TenantId, purge: &Purge) -> Result<Change> {
        let erasure = Erasure { id: new_id(), tenant: tenant.clone(), purge: purge.clone() };
        Ok(Change::PutIfUnchanged(erasure.to_object(0)?))
    }
}

impl Service {
    /// Gives the job that erases what was deleted: one that waits already sees every row that was
    /// written before it begins. It has no priority, so deletions do not hold uploads up.
    pub(crate) fn purge(&self, space: QueueSpace, tenant: &TenantId, purge: &Purge) -> Result<Job> {
        let subject =
            purge.collection.as_ref().map_or(&*purge.knowledge_base, CollectionId::as_str);
        let (knowledge_base, collection) = (purge.knowledge_base.clone(), purge.collection.clone());
        let about = Purge { knowledge_base, collection, ..Purge::default() };
        Ok(self.jobs().submit_purge(space, subject, tenant, &about)?)
    }

    /// Asks for the job of what an earlier process deleted and did not erase.
    pub(crate) fn resume_purges(&self) -> Result<()> {
        let Some(first) = self.erasures()?.into_iter().next() else { return Ok(()) };
        self.purge(self.space_to_purge()?, &first.tenant, &first.purge)?;
        Ok(())
    }

    /// Erases all that was deleted, and what a job of an earlier version names.
    pub(crate) fn run_purge(&self, named: &Purge) -> Result<Value> {
        // What another job is erasing is not erased yet: this one waits, and then finds its row gone.
        let _purging = self.1.purging.lock();
        let erasures = self.erasures()?;
        let purges: Vec<&Purge> = erasures
            .iter()
            .map(|erasure| &erasure.purge)
            .chain(named.names_something().then_some(named))
            .collect();
        if purges.is_empty() {
            return Ok(json!({ "erased": 0 }));
        }
        let n_erased = self.erase(&purges)?;
        let rows = erasures.iter().map(|erasure| ObjectKey::new(Erasure::KIND, &erasure.id));
        let rows: Vec<Change> = rows.map(Change::Delete).collect();
        if !rows.is_empty() {
            self.0.catalogue.apply(&rows)?;
        }
        Ok(json!({ "erased": n_erased }))
    }

    fn erasures(&self) -> Result<Vec<Erasure>> {
        let mut all = vec![];
        let mut page = ObjectPage { limit: limits::MAX_PAGE, ..ObjectPage::of(Erasure::KIND) };
        loop {
            let found = Erasure::list(&*self.0.catalogue, &page)?;
            let Some(last) = found.last() else { return Ok(all) };
            page.after = Some(last.id.clone());
            all.extend(found);
        }
    }

    /// Erases documents and namespaces, and then, once for all of them, what indexes keep of them.
    fn erase(&self, purges: &[&Purge]) -> Result<usize> {
        let mut n_erased = 0;
        let prefixes: Vec<&str> =
            purges.iter().filter_map(|purge| purge.namespaces.as_deref()).collect();
        if !prefixes.is_empty() {
            for info in self.0.store.namespaces()? {
                let is_gone = prefixes.iter().any(|prefix| info.id.as_str().starts_with(prefix));
                if is_gone && self.0.store.drop_namespace(&info.id)? {
                    n_erased += 1;
                }
            }
        }
        let mut by_namespace: BTreeMap<NamespaceId, BTreeSet<&str>> = BTreeMap::new();
        for purge in purges {
            if let (Some(namespace), Some(prefix)) = (&purge.namespace, &purge.prefix) {
                by_namespace.entry(namespace.clone()).or_default().insert(prefix);
            }
        }
        for (namespace, prefixes) in &by_namespace {
            n_erased += self.erase_documents(namespace, prefixes)?;
        }
        let collections: BTreeSet<&CollectionId> =
            purges.iter().filter_map(|purge| purge.collection.as_ref()).collect();
        for collection in collections {
            if let Some((collection, _)) = Collection::load(&*self.0.catalogue, collection)? {
                self.forget_summary(&collection)?;
                self.follow_up(&collection)?;
            }
        }
        purges.iter().try_for_each(|purge| self.remove_files(purge))?;
        let namespaces: Vec<NamespaceId> = by_namespace.into_keys().collect();
        self.0.store.forget_erased(&namespaces)?;
        Ok(n_erased)
    }

    /// Erases documents whose ids begin so, as many as fit by one commit.
    fn erase_documents(&self, namespace: &NamespaceId, prefixes: &BTreeSet<&str>) -> Result<usize> {
        // Whoever writes has looked at the row before: nothing comes behind the list.
        let _writing = self.1.writing.lock();
        let (mut n_erased, mut batch) = (0, Vec::<DocumentId>::new());
        let mut delete = |batch: &mut Vec<DocumentId>| -> Result<()> {
            if !batch.is_empty() {
                n_erased += self.0.store.delete(namespace, &std::mem::take(batch))?;
            }
            Ok(())
        };
        for prefix in prefixes {
            self.each_page(namespace, prefix, |page| {
                batch.extend(page.into_iter().map(|document| document.id));
                match batch.len() < DOCUMENTS_PER_COMMIT {
                    true => Ok(()),
                    false => delete(&mut batch),
                }
            })?;
        }
        delete(&mut batch)?;
        Ok(n_erased)
    }
}
