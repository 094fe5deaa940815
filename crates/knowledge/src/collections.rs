//! Collections: made, listed, changed, deleted.

use ingest::{Job, ObjectError, bounded, new_id};
use model::{Caller, Clearance};
use serde::{Deserialize, Deserializer};
use store::{Change, ObjectKey, TypedObject};

use crate::access::Right;
use crate::bases::shared_with;
use crate::erasures::Erasure;
use crate::jobs::Purge;
use crate::object_ids::{CollectionId, KnowledgeBaseId};
use crate::objects::{Collection, KnowledgeBase, Sharing};
use crate::service::named;
use crate::summary::StoredSummary;
use crate::{Error, Result, Service, limits};

/// A collection that is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewCollection {
    /// What people call it.
    pub name: String,
    /// What it is about.
    #[serde(default)]
    pub description: String,
    /// The department it is for; all when absent.
    #[serde(default)]
    pub department: Option<String>,
    /// How far a reader must be trusted.
    #[serde(default)]
    pub clearance: Clearance,
    /// Who sees it from other departments.
    #[serde(default)]
    pub shared_with: Sharing,
}

/// What changes about a collection.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CollectionChange {
    /// Another name.
    pub name: Option<String>,
    /// Another description.
    pub description: Option<String>,
    /// Another department; `null` for all.
    #[serde(default, deserialize_with = "given")]
    pub department: Option<Option<String>>,
    /// Another clearance.
    pub clearance: Option<Clearance>,
    /// Others that it is shared with by name, in the place of those before.
    pub shared_with: Option<Sharing>,
}

impl Service {
    /// Makes a collection. Nobody can make one that they would not see.
    pub fn create_collection(
        &self,
        caller: &Caller,
        base: &KnowledgeBaseId,
        new: &NewCollection,
    ) -> Result<Collection> {
        let (base, _) = self.base(caller, base, Right::Change)?;
        let now = self.0.clock.now();
        let collection = Collection {
            id: CollectionId::new(new_id()),
            knowledge_base_id: base.id.clone(),
            tenant: base.tenant.clone(),
            name: named(&new.name)?,
            description: described(&new.description)?,
            department: department(new.department.as_deref())?,
            clearance: new.clearance,
            shared_with: shared_with(&new.shared_with)?,
            n_documents: 0,
            n_chunks: 0,
            created_at: now,
            updated_at: now,
        };
        refuse_invisible(&collection, caller)?;
        if self.collections_of(&base.id)?.len() >= limits::MAX_COLLECTIONS {
            let (received, allowed) = (limits::MAX_COLLECTIONS + 1, limits::MAX_COLLECTIONS);
            return Err(Error::Object(ObjectError::TooLarge {
                what: "the number of collections",
                received,
                allowed,
            }));
        }
        // On the condition that its base is there: one that is deleted meanwhile gets none.
        let _adding = self.1.adding.read();
        let applied = self.0.catalogue.apply(&[
            Change::Require(ObjectKey::new(KnowledgeBase::KIND, base.id.as_str())),
            Change::PutIfUnchanged(collection.to_object(0)?),
        ]);
        match applied {
            Err(store::Error::MissingObject { .. }) => Err(Error::no_base(&base.id)),
            applied => Ok(applied.map(|_| collection)?),
        }
    }

    /// Lists the collections of a knowledge base that the caller sees, by name.
    pub fn list_collections(
        &self,
        caller: &Caller,
        base: &KnowledgeBaseId,
    ) -> Result<Vec<Collection>> {
        let (base, _) = self.base(caller, base, Right::Read)?;
        let mut collections = self.visible_collections(caller, &base)?;
        collections.sort_by(|one, other| (&one.name, &one.id).cmp(&(&other.name, &other.id)));
        Ok(collections)
    }

    /// Finds a collection that the caller may see.
    pub fn get_collection(&self, caller: &Caller, id: &CollectionId) -> Result<Collection> {
        Ok(self.collection_of(caller, id, Right::Read)?.1)
    }

    /// Changes a collection. A change of department or clearance holds at once; a job moves the
    /// passages, which cannot be found until it is done.
    pub fn update_collection(
        &self,
        caller: &Caller,
        id: &CollectionId,
        change: &CollectionChange,
    ) -> Result<(Collection, Option<Job>)> {
        let (_, before, _) = self.collection_of(caller, id, Right::Change)?;
        let after = self.change_collection(&before.id, |collection| {
            if let Some(name) = &change.name {
                collection.name = named(name)?;
            }
            if let Some(description) = &change.description {
                collection.description = described(description)?;
            }
            if let Some(given) = &change.department {
                collection.department = department(given.as_deref())?;
            }
            collection.clearance = change.clearance.unwrap_or(collection.clearance);
            if let Some(given) = &change.shared_with {
                collection.shared_with = shared_with(given)?;
            }
            refuse_invisible(collection, caller)?;
            Ok(vec![])
        })?;
        let job = match before.namespace() == after.namespace() {
            true => None,
            false => Some(self.move_passages(&after, &before.namespace())?),
        };
        Ok((after, job))
    }

    /// Deletes a collection with its documents. It is gone for every caller at once; a job
    /// erases its passages.
    pub fn delete_collection(&self, caller: &Caller, id: &CollectionId) -> Result<Job> {
        let (_, collection, _) = self.collection_of(caller, id, Right::Change)?;
        let space = self.space_to_purge()?;
        // Whoever adds documents has counted them in the backlog before they are taken out there.
        let adding = self.1.adding.write();
        let key = ObjectKey::new(Collection::KIND, collection.id.as_str());
        let purge = Purge::collection(&collection);
        self.0.catalogue.apply(&[
            Change::DeleteChildren(key.clone()),
            Change::Delete(key),
            Change::Delete(ObjectKey::new(StoredSummary::KIND, collection.id.as_str())),
            Erasure::change(&collection.tenant, &purge)?,
        ])?;
        drop(adding);
        self.1.backlog.fewer(&collection.id, usize::MAX);
        self.purge(space, &collection.tenant, &purge)
    }
}

/// Whoever makes or changes a collection must see it afterwards.
fn refuse_invisible(collection: &Collection, caller: &Caller) -> Result<()> {
    if crate::access::sees(collection, caller) {
        return Ok(());
    }
    let problem = if collection.clearance > caller.clearance {
        format!("`clearance` `{}` is above your own, `{}`", collection.clearance, caller.clearance)
    } else {
        "`department` must be your own, or absent".to_owned()
    };
    Err(Error::Object(ObjectError::BadRequest { problem }))
}

fn department(given: Option<&str>) -> Result<Option<String>> {
    let Some(given) = given else { return Ok(None) };
    let name = bounded("the length of `department`", given, limits::MAX_DEPARTMENT_CHARS)?;
    Ok(Some(name).filter(|name| !name.is_empty()))
}

fn described(text: &str) -> Result<String> {
    Ok(bounded("the length of `description`", text, limits::MAX_DESCRIPTION_CHARS)?)
}

/// Tells `null` from a member that is not there.
fn given<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Option<Option<String>>, D::Error> {
    Option::<String>::deserialize(deserializer).map(Some)
}
