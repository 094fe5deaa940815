//! The engine as a whole: turbopuffer's client and the namespaces that are in use.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use model::{Deadline, NamespaceId};
use parking_lot::Mutex;

use super::client::{Client, ENGINE};
use super::following::Follower;
use super::ledger::Named;
use super::namespace::Namespace;
use super::{TurbopufferConfig, naming, row};
use crate::remote;
use crate::store::state_of;
use crate::{
    Candidates, Catalogue, Changes, Config, Document, DroppedNamespace, Engine, EngineInfo,
    EnginePlace, EngineServer, Erased, Error, Form, Place, Position, Rebuild, Result, Search,
    StoredPassage, TermStatistics, VectorSpace, follow_known, limits,
};

/// The name under which turbopuffer follows a catalogue: servers that share a catalogue share
/// turbopuffer's namespaces too.
const FOLLOWER: &str = "turbopuffer";

/// How often to ask whether it answers: every question costs something.
const REACH_EVERY: Duration = Duration::from_secs(60);

/// Words and vectors in turbopuffer, over any catalogue.
pub struct TurbopufferEngine {
    pub(super) catalogue: Arc<dyn Catalogue>,
    pub(super) client: Client,
    config: TurbopufferConfig,
    namespaces: Mutex<HashMap<NamespaceId, Arc<Namespace>>>,
    filling: Mutex<BTreeSet<String>>,
    max_open_namespaces: usize,
}

impl TurbopufferEngine {
    /// Makes a client; nothing is asked of turbopuffer yet, so that a server starts while it
    /// cannot be reached.
    ///
    /// # Errors
    ///
    /// [`Error::EngineSettings`] when the settings cannot be used.
    pub fn open(
        config: &Config,
        turbopuffer: &TurbopufferConfig,
        catalogue: Arc<dyn Catalogue>,
    ) -> Result<Self> {
        Ok(TurbopufferEngine {
            catalogue,
            client: Client::open(turbopuffer)?,
            config: turbopuffer.clone(),
            namespaces: Mutex::default(),
            filling: Mutex::default(),
            max_open_namespaces: config.max_open_namespaces,
        })
    }

    /// Gives a namespace, opening it when it is not open yet.
    pub(super) fn namespace_of(&self, id: &NamespaceId) -> Result<Arc<Namespace>> {
        let mut namespaces = self.namespaces.lock();
        if let Some(namespace) = namespaces.get(id) {
            return Ok(namespace.clone());
        }
        if namespaces.len() >= self.max_open_namespaces {
            // An open namespace is a name and a few attributes; those in use stay.
            namespaces.retain(|_, namespace| Arc::strong_count(namespace) > 1);
        }
        let namespace = Arc::new(Namespace::open(&*self.catalogue, id)?);
        namespaces.insert(id.clone(), namespace.clone());
        Ok(namespace)
    }

    fn open_namespaces(&self) -> Vec<Arc<Namespace>> {
        self.namespaces.lock().values().cloned().collect()
    }

    /// Takes a namespace out of those that are open, unless it has another number by now.
    pub(super) fn take_out(&self, dropped: &DroppedNamespace) {
        let mut namespaces = self.namespaces.lock();
        if namespaces.get(&dropped.id).is_some_and(|open| open.number == dropped.number) {
            namespaces.remove(&dropped.id);
        }
    }

    pub(super) fn follower(&self) -> Follower<'_> {
        Follower {
            catalogue: &*self.catalogue,
            client: &self.client,
            config: &self.config,
            filling: &self.filling,
        }
    }

    /// Lets turbopuffer follow, and the catalogue forget what it does not need any more.
    pub(super) fn follow_to_the_end(&self, namespace: &Namespace) -> Result<()> {
        let mut following = namespace.following.lock();
        self.follower().catch_up(namespace, &mut following)?;
        self.catalogue.release(namespace.number, FOLLOWER, following.seen())
    }
}

impl Engine for TurbopufferEngine {
    fn info(&self) -> EngineInfo<'_> {
        EngineInfo { name: ENGINE, place: EnginePlace::Server(self) }
    }

    fn follow(&self, changes: Changes<'_>) -> Result<()> {
        let heads = match changes {
            Changes::Of { namespace, .. } => {
                return self.follow_to_the_end(&*self.namespace_of(namespace)?);
            }
            Changes::OfOthers(heads) => heads,
        };
        // Every server writes to the same namespaces of turbopuffer, and reads where they are.
        for namespace in self.open_namespaces() {
            if !heads.iter().any(|head| head.number == namespace.number) {
                let (id, number) = (namespace.id.clone(), namespace.number);
                self.take_out(&DroppedNamespace { id, number });
            }
        }
        Ok(())
    }

    fn positions(&self) -> Result<Vec<Position>> {
        let position = |namespace: Arc<Namespace>| {
            let following = namespace.following.try_lock()?;
            Some(Position { number: namespace.number, seen: following.seen() })
        };
        Ok(self.open_namespaces().into_iter().filter_map(position).collect())
    }

    fn search(
        &self,
        namespace: &NamespaceId,
        search: &Search<'_>,
        deadline: &Deadline,
    ) -> Result<(Candidates, Candidates)> {
        self.find(namespace, search, deadline)
    }

    fn term_statistics(
        &self,
        namespace: &NamespaceId,
        terms: &[(Form, String)],
    ) -> Result<TermStatistics> {
        self.count_terms(namespace, terms)
    }

    fn erase(&self, erased: Erased<'_>) -> Result<()> {
        match erased {
            Erased::Namespace(dropped) => self.erase_namespace(dropped),
            // Rows go with the deletion: only what could not be sent then is left.
            Erased::Documents(namespaces) => follow_known(self, namespaces),
        }
    }

    fn rebuild(&self, id: &NamespaceId, when: Rebuild) -> Result<()> {
        if when == Rebuild::WhenUsed {
            let number = state_of(&*self.catalogue, id)?.number;
            return remote::outdate::<Named>(&*self.catalogue, number);
        }
        let namespace = self.namespace_of(id)?;
        let mut following = namespace.following.lock();
        self.follower().make_anew(&namespace, &mut following)
    }

    fn maintain(&self) -> Result<()> {
        self.keep_in_shape()
    }

    fn problem(&self, namespace: &NamespaceId) -> Result<Option<String>> {
        self.find_problem(&*self.namespace_of(namespace)?)
    }
}

impl EngineServer for TurbopufferEngine {
    fn reach(&self) -> Result<()> {
        self.client.attributes("dowse-reachability").map(|_| ())
    }

    fn reach_every(&self) -> Duration {
        REACH_EVERY
    }

    fn accepts(&self, documents: &[Document], space: Option<&VectorSpace>) -> Result<()> {
        documents.iter().try_for_each(|document| check_size(document, space))
    }

    fn place(&self, namespace: &NamespaceId, stored: &StoredPassage) -> Result<Option<Place>> {
        let name = self.namespace_of(namespace)?.view().name.clone();
        let pointer = stored.passage.pointer.to_string();
        let id = naming::passage_id(stored.passage.id.as_str(), &pointer);
        Ok(name.map(|namespace| Place { namespace, id }))
    }
}

/// A document goes to the engine in one request, so that it is seen as a whole or not at all.
fn check_size(document: &Document, space: Option<&VectorSpace>) -> Result<()> {
    let dimensions = space.map(|space| space.dimensions);
    let received: usize = document
        .passages
        .iter()
        .map(|passage| row::weight(passage.text.len() + document.title.len(), dimensions))
        .sum();
    let allowed = limits::MAX_ENGINE_DOCUMENT_BYTES;
    if received > allowed {
        return Err(Error::TooLarge {
            what: "a document on its way to turbopuffer",
            received,
            allowed,
        });
    }
    Ok(())
}
