//! `dowse kb collection`.

use anyhow::{Context as _, bail};
use knowledge::{Collection, CollectionChange, KnowledgeBase, NewCollection};
use serde_json::json;

use super::run::no_collection;
use super::session::Session;
use crate::kb_cli::CollectionCommand;
use crate::print;

impl Session {
    pub(super) fn collections(&self, command: &CollectionCommand) -> anyhow::Result<()> {
        match command {
            CollectionCommand::Create { kb, name, description, clearance, department } => {
                let new = NewCollection {
                    name: name.clone(),
                    description: description.clone(),
                    department: department.clone(),
                    clearance: *clearance,
                    ..NewCollection::default()
                };
                let base = self.base(kb)?;
                let made = self.service.create_collection(&self.caller, &base.id, &new)?;
                self.made(made.id.as_str())?;
            }
            CollectionCommand::List { kb } => self.list_collections(&self.base(kb)?)?,
            CollectionCommand::Update { collection, name, description, clearance, department } => {
                let collection = &self.collection_id(collection)?;
                let change = CollectionChange {
                    name: name.clone(),
                    description: description.clone(),
                    department: department
                        .clone()
                        .map(|department| Some(department).filter(|name| !name.is_empty())),
                    clearance: *clearance,
                    ..CollectionChange::default()
                };
                let (changed, job) = self
                    .service
                    .update_collection(
                        &self.caller,
                        &knowledge::CollectionId::new(collection),
                        &change,
                    )
                    .with_context(|| no_collection(collection))?;
                job.iter().try_for_each(|job| self.wait(job).map(drop))?;
                self.done(changed.id.as_str(), format!("changed `{}`", changed.name))?;
            }
            CollectionCommand::Delete { collection } => {
                let collection = &self.collection_id(collection)?;
                let job = self
                    .service
                    .delete_collection(&self.caller, &knowledge::CollectionId::new(collection))
                    .with_context(|| no_collection(collection))?;
                self.wait(&job)?;
                self.shared_state.erase_answers(Some(&self.caller.tenant));
                self.done(collection, format!("deleted the collection `{collection}`"))?;
            }
        }
        Ok(())
    }

    /// Finds a collection by its id, by a name that only one has, or by `BASE/NAME`, and gives its
    /// id. A text that names none is taken for an id, which the service refuses.
    pub(super) fn collection_id(&self, wanted: &str) -> anyhow::Result<String> {
        let mut named = vec![];
        for base in self.service.list_bases(&self.caller)? {
            for collection in self.service.list_collections(&self.caller, &base.id)? {
                if collection.id.as_str() == wanted {
                    return Ok(wanted.to_owned());
                }
                let is_named = collection.name == wanted
                    || wanted.split_once('/').is_some_and(|(of, name)| {
                        (base.name == of || base.id.as_str() == of) && collection.name == name
                    });
                if is_named {
                    named.push(collection.id.to_string());
                }
            }
        }
        match named.as_slice() {
            [] => Ok(wanted.to_owned()),
            [one] => Ok(one.clone()),
            _ => bail!(
                "several collections are called `{wanted}`\nhint: name one as `BASE/NAME`, or by \
                 its id, which `dowse kb collection list BASE` shows"
            ),
        }
    }

    /// Finds a collection of a knowledge base by its id or its name, or makes it.
    pub(super) fn collection_named(
        &self,
        base: &KnowledgeBase,
        new: &NewCollection,
    ) -> anyhow::Result<Collection> {
        let known = self.service.list_collections(&self.caller, &base.id)?;
        // A name may be another one's id, which is what was copied from a list.
        let by_id = known.iter().find(|collection| collection.id.as_str() == new.name);
        match by_id.or_else(|| known.iter().find(|collection| collection.name == new.name)) {
            Some(collection) => Ok(collection.clone()),
            None => Ok(self.service.create_collection(&self.caller, &base.id, new)?),
        }
    }

    fn list_collections(&self, base: &KnowledgeBase) -> anyhow::Result<()> {
        let mut rows =
            print::Table::new(["id", "name", "clearance", "department", "documents", "chunks"]);
        for collection in self.service.list_collections(&self.caller, &base.id)? {
            rows.row([
                json!(collection.id),
                json!(collection.name),
                json!(collection.clearance.to_string()),
                json!(collection.department),
                json!(collection.n_documents),
                json!(collection.n_chunks),
            ]);
        }
        rows.print(self.is_json)
    }
}
