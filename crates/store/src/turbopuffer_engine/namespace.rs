//! A namespace that is in use: its name in the engine, and what is known of its rows.

use std::collections::BTreeSet;
use std::sync::Arc;

use model::NamespaceId;
use parking_lot::{Mutex, RwLock};

use super::ledger::Entry;
use crate::remote;
use crate::store::current_state;
use crate::{Catalogue, Result};

/// A namespace that is in use.
pub(super) struct Namespace {
    pub(super) id: NamespaceId,
    pub(super) number: u32,
    /// Held while the engine follows.
    pub(super) following: Mutex<Following>,
    view: RwLock<Arc<View>>,
}

/// How far the engine has followed; nothing while it has no namespace of ours.
#[derive(Debug, Default)]
pub(super) struct Following {
    pub(super) entry: Option<Entry>,
}

impl Following {
    /// Gives the last change that the engine has.
    pub(super) fn seen(&self) -> u64 {
        self.entry.as_ref().map_or(0, |entry| entry.seen)
    }
}

/// What a search has to know.
#[derive(Debug, Default)]
pub(super) struct View {
    /// The name in the engine; nothing while nothing was written.
    pub(super) name: Option<String>,
    /// The attributes that rows have; the engine refuses a filter on any other.
    pub(super) attributes: BTreeSet<String>,
}

impl Namespace {
    /// Opens a namespace; nothing is asked of the engine yet.
    pub(super) fn open(catalogue: &dyn Catalogue, id: &NamespaceId) -> Result<Self> {
        let state = current_state(catalogue, id)?;
        let entry: Option<Entry> = remote::entry(catalogue, state.number)?;
        let view = match &entry {
            Some(entry) => {
                View { name: Some(entry.at.name.clone()), attributes: entry.fields.clone() }
            }
            None => View::default(),
        };
        Ok(Namespace {
            id: id.clone(),
            number: state.number,
            following: Mutex::new(Following { entry }),
            view: RwLock::new(Arc::new(view)),
        })
    }

    /// Gives what a search has to know now.
    pub(super) fn view(&self) -> Arc<View> {
        self.view.read().clone()
    }

    /// Lets searches use a name and attributes; those of the same name are added to.
    pub(super) fn publish(&self, name: &str, mut attributes: BTreeSet<String>) {
        let mut place = self.view.write();
        if place.name.as_deref() == Some(name) {
            attributes.extend(place.attributes.iter().cloned());
        }
        *place = Arc::new(View { name: Some(name.to_owned()), attributes });
    }
}
