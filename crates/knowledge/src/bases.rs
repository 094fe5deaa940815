//! Knowledge bases: made, listed, changed, deleted.

use ingest::{Job, ObjectError, bounded, new_id};
use model::Caller;
use serde::Deserialize;
use store::{Change, ObjectKey, ObjectPage, TypedObject};

use crate::access::{Right, check};
use crate::erasures::Erasure;
use crate::jobs::Purge;
use crate::object_ids::KnowledgeBaseId;
use crate::objects::{Collection, KnowledgeBase, Sharing, Visibility, namespace_prefix};
use crate::service::named;
use crate::{Error, Result, Service, limits};

/// A knowledge base that is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewBase {
    /// What people call it.
    pub name: String,
    /// What it is about.
    #[serde(default)]
    pub description: String,
    /// Who may read it.
    #[serde(default)]
    pub visibility: Visibility,
    /// Who may read it although it is private.
    #[serde(default)]
    pub shared_with: Sharing,
}

/// What changes about a knowledge base.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BaseChange {
    /// Another name.
    pub name: Option<String>,
    /// Another description.
    pub description: Option<String>,
    /// Another circle of readers.
    pub visibility: Option<Visibility>,
    /// Others that it is shared with by name, in the place of those before.
    pub shared_with: Option<Sharing>,
}

impl Service {
    /// Makes a knowledge base that belongs to the caller and their tenant.
    pub fn create_base(&self, caller: &Caller, new: &NewBase) -> Result<KnowledgeBase> {
        let now = self.0.clock.now();
        let base = KnowledgeBase {
            id: KnowledgeBaseId::new(new_id()),
            tenant: caller.tenant.clone(),
            owner: caller.own_name().to_owned(),
            owner_identity: Some(caller.identity),
            name: named(&new.name)?,
            description: described(&new.description)?,
            visibility: new.visibility,
            shared_with: shared_with(&new.shared_with)?,
            created_at: now,
            updated_at: now,
        };
        base.save(&*self.0.catalogue)?;
        Ok(base)
    }

    /// Lists the knowledge bases that the caller may read, by name.
    pub fn list_bases(&self, caller: &Caller) -> Result<Vec<KnowledgeBase>> {
        let page = ObjectPage {
            tenant: Some(caller.tenant.clone()),
            limit: limits::MAX_BASES,
            ..ObjectPage::of(KnowledgeBase::KIND)
        };
        let mut bases = KnowledgeBase::list(&*self.0.catalogue, &page)?;
        bases.retain(|base| check(base, caller, Right::Read).is_ok());
        bases.sort_by(|one, other| (&one.name, &one.id).cmp(&(&other.name, &other.id)));
        Ok(bases)
    }

    /// Finds a knowledge base that the caller may see.
    pub fn get_base(&self, caller: &Caller, id: &KnowledgeBaseId) -> Result<KnowledgeBase> {
        Ok(self.base(caller, id, Right::Read)?.0)
    }

    /// Tells whether the caller may change a knowledge base and what is in it.
    pub fn may_change(&self, caller: &Caller, id: &KnowledgeBaseId) -> bool {
        self.base(caller, id, Right::Change).is_ok()
    }

    /// Changes a knowledge base.
    pub fn update_base(
        &self,
        caller: &Caller,
        id: &KnowledgeBaseId,
        change: &BaseChange,
    ) -> Result<KnowledgeBase> {
        self.base(caller, id, Right::Change)?;
        let name = change.name.as_deref().map(named).transpose()?;
        let description = change.description.as_deref().map(described).transpose()?;
        let sharing = change.shared_with.as_ref().map(shared_with).transpose()?;
        let now = self.0.clock.now();
        let changed = ingest::change_object(&*self.0.catalogue, id, |base: &mut KnowledgeBase| {
            if let Some(name) = &name {
                base.name.clone_from(name);
            }
            if let Some(description) = &description {
                base.description.clone_from(description);
            }
            base.visibility = change.visibility.unwrap_or(base.visibility);
            if let Some(sharing) = &sharing {
                base.shared_with.clone_from(sharing);
            }
            base.updated_at = now;
            Ok::<_, Error>(vec![])
        })?;
        changed.ok_or_else(|| Error::no_base(id))
    }

    /// Deletes a knowledge base with all that is in it. It is gone for every caller at once; a
    /// job erases its passages.
    pub fn delete_base(&self, caller: &Caller, id: &KnowledgeBaseId) -> Result<Job> {
        let (base, _) = self.base(caller, id, Right::Change)?;
        let space = self.space_to_purge()?;
        // Nothing arrives between the list of what waits and the end of the base.
        let adding = self.1.adding.write();
        let collections = self.collections_of(&base.id)?;
        let mut changes: Vec<Change> = collections
            .iter()
            .map(|collection| {
                Change::DeleteChildren(ObjectKey::new(Collection::KIND, collection.id.as_str()))
            })
            .collect();
        let folders = collections.iter().map(|collection| collection.id.clone()).collect();
        let purge = Purge::namespaces(&base.id, namespace_prefix(&base.id));
        let purge = Purge { folders, ..purge };
        let key = ObjectKey::new(KnowledgeBase::KIND, base.id.as_str());
        changes.extend([
            Change::DeleteChildren(key.clone()),
            Change::Delete(key),
            Erasure::change(&base.tenant, &purge)?,
        ]);
        self.0.catalogue.apply(&changes)?;
        drop(adding);
        for collection in &collections {
            self.1.backlog.fewer(&collection.id, usize::MAX);
        }
        self.purge(space, &base.tenant, &purge)
    }
}

/// Takes the names that something is shared with: trimmed, sorted, each once.
pub(crate) fn shared_with(given: &Sharing) -> Result<Sharing> {
    let names = |what: &'static str, given: &[String]| -> Result<Vec<String>> {
        let (received, allowed) = (given.len(), limits::MAX_SHARED_WITH);
        if received > allowed {
            return Err(Error::Object(ObjectError::TooLarge { what, received, allowed }));
        }
        let mut names = vec![];
        for name in given {
            names.push(named(name)?);
        }
        names.sort();
        names.dedup();
        Ok(names)
    };
    Ok(Sharing {
        users: names("the number of `shared_with.users`", &given.users)?,
        groups: names("the number of `shared_with.groups`", &given.groups)?,
    })
}

fn described(text: &str) -> Result<String> {
    Ok(bounded("the length of `description`", text, limits::MAX_DESCRIPTION_CHARS)?)
}
