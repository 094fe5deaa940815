//! The embedded engine as a whole: the folder and the namespaces that are open.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use model::{Deadline, DocumentId, NamespaceId};
use parking_lot::Mutex;

use super::derived::Derived;
use super::following::remove_folder;
use super::namespace::{Namespace, folder_of, outdated_note};
use crate::store::state_of;
use crate::{
    Access, ByVector, ByWords, Candidates, Catalogue, Changes, Config, DroppedNamespace, Engine,
    EngineHere, EngineInfo, EnginePlace, Erased, Error, Filter, Form, Fresh, Matched,
    NamespaceHead, Position, Rebuild, Result, Search, TermStatistics, WordsQuery,
};

/// The engine in this process, over any catalogue.
pub struct EmbeddedEngine {
    pub(super) root: PathBuf,
    pub(super) catalogue: Arc<dyn Catalogue>,
    pub(super) config: Config,
    pub(super) follower: String,
    slots: Mutex<HashMap<NamespaceId, Arc<Slot>>>,
    n_uses: AtomicU64,
}

/// A place for an open namespace; whoever opens it holds the lock meanwhile.
type Slot = Mutex<Option<Arc<Namespace>>>;

impl EmbeddedEngine {
    /// Opens the indexes in a folder, which belongs to this engine alone. Indexes that the
    /// catalogue does not know any more are removed; each other one is opened when it is first
    /// used, and made anew when it is missing.
    ///
    /// `follower` names this folder among all that follow the catalogue.
    ///
    /// # Errors
    ///
    /// When the folder cannot be read or the catalogue does not answer.
    pub fn open(
        folder: &Path,
        config: &Config,
        catalogue: Arc<dyn Catalogue>,
        follower: &str,
    ) -> Result<Self> {
        let engine = EmbeddedEngine {
            root: folder.to_owned(),
            catalogue,
            config: config.clone(),
            follower: follower.to_owned(),
            slots: Mutex::default(),
            n_uses: AtomicU64::new(0),
        };
        if config.access == Access::Write {
            engine.remove_unknown_folders()?;
        }
        Ok(engine)
    }

    fn refuse_reader(&self) -> Result<()> {
        match self.config.access {
            Access::Write => Ok(()),
            Access::Read => {
                let source = std::io::ErrorKind::ReadOnlyFilesystem.into();
                Err(Error::ReadOnly { path: self.root.clone(), source })
            }
        }
    }

    /// Counts the namespaces that are open.
    pub fn n_open(&self) -> usize {
        self.slots.lock().len()
    }

    /// Lets one namespace follow to its last change.
    fn follow_one(&self, id: &NamespaceId, fresh: Option<&Fresh<'_>>) -> Result<()> {
        let mut namespace = self.namespace_of(id)?;
        let number = state_of(&*self.catalogue, id)?.number;
        if namespace.number != number {
            // Another server has dropped it and made one of the same name.
            self.take_out(id);
            namespace = self.namespace_of(id)?;
        }
        let mut derived = namespace.derived.lock();
        self.follow_in(&namespace, &mut derived, fresh)?;
        self.catalogue.release(namespace.number, &self.follower, derived.written())?;
        drop(derived);
        self.rest_unused_writers(id)
    }

    /// Lets the open namespaces follow what other servers have written.
    fn follow_others(&self, heads: &[NamespaceHead]) -> Result<()> {
        let heads: HashMap<u32, &NamespaceHead> =
            heads.iter().map(|head| (head.number, head)).collect();
        let mut first_failure = Ok(());
        for namespace in self.open_namespaces() {
            let Some(head) = heads.get(&namespace.number) else {
                // Another server has dropped it.
                self.take_out(&namespace.id);
                continue;
            };
            // One that is being written follows by itself.
            let Some(mut derived) = namespace.derived.try_lock() else { continue };
            let followed = match derived.seen() >= head.sequence {
                true => Ok(()),
                false => self.follow_in(&namespace, &mut derived, None),
            };
            // What was made durable since is let go of, also where nothing was new.
            let followed = followed.and_then(|()| {
                self.catalogue.release(namespace.number, &self.follower, derived.written())
            });
            match followed {
                Ok(()) | Err(Error::UnknownNamespace { .. }) => {}
                Err(error) if first_failure.is_ok() => first_failure = Err(error),
                Err(_) => {}
            }
        }
        first_failure
    }

    /// Lets the indexes follow the catalogue, and the searches the indexes.
    ///
    /// After a failure it goes back to what is on disk and tries once more from the catalogue:
    /// a change that the catalogue has is never given up.
    fn follow_in(
        &self,
        namespace: &Namespace,
        derived: &mut Derived,
        fresh: Option<&Fresh<'_>>,
    ) -> Result<()> {
        let catalogue = &*self.catalogue;
        let followed = self
            .step(namespace, derived, fresh)
            .and_then(|()| namespace.publish(derived, catalogue));
        match followed {
            Ok(()) => return Ok(()),
            Err(error @ (Error::UnknownNamespace { .. } | Error::CatalogueBehind { .. })) => {
                return Err(error);
            }
            Err(first_failure) => tracing::warn!(
                namespace = %namespace.id,
                error = &first_failure as &dyn std::error::Error,
                "index could not follow; trying again from the catalogue"
            ),
        }
        derived.recover(catalogue).and_then(|()| namespace.publish(derived, catalogue))
    }

    /// Makes the indexes of a namespace anew on a thread of its own. Searches go on with those
    /// that are there; writers wait. A process that ends before leaves the note, or no indexes at
    /// all, and the next one does it again.
    fn make_anew_aside(&self, namespace: &Arc<Namespace>) {
        let (namespace, catalogue) = (namespace.clone(), self.catalogue.clone());
        let id = namespace.id.clone();
        let rebuild = move || {
            let mut derived = namespace.derived.lock();
            let rebuilt = derived
                .rebuild(&*catalogue)
                .and_then(|()| namespace.publish(&mut derived, &*catalogue));
            if let Err(error) = rebuilt {
                tracing::warn!(
                    namespace = %namespace.id,
                    error = &error as &dyn std::error::Error,
                    "an outdated index could not be rebuilt; it is tried again after a restart"
                );
            }
        };
        if let Err(error) = std::thread::Builder::new().name("reindex".to_owned()).spawn(rebuild) {
            tracing::warn!(namespace = %id, %error, "no thread to rebuild an outdated index");
        }
    }

    fn step(
        &self,
        namespace: &Namespace,
        derived: &mut Derived,
        fresh: Option<&Fresh<'_>>,
    ) -> Result<()> {
        let state = state_of(&*self.catalogue, &namespace.id)?;
        if state.number != namespace.number {
            // It was dropped and made again meanwhile.
            return Err(Error::UnknownNamespace { namespace: namespace.id.clone() });
        }
        let space = state.info.manifest.vectors;
        if derived.space() != space.as_ref() {
            derived.open_vectors(&*self.catalogue, space)?;
        }
        if let Some(fresh) = fresh {
            derived.take_in(fresh)?;
        }
        derived.catch_up(&*self.catalogue)
    }

    /// Gives a namespace, opening it when it is not open yet.
    pub(super) fn namespace_of(&self, id: &NamespaceId) -> Result<Arc<Namespace>> {
        let now = self.n_uses.fetch_add(1, Ordering::Relaxed);
        let slot = self.slots.lock().entry(id.clone()).or_default().clone();
        let mut place = slot.lock();
        let namespace = match &*place {
            Some(namespace) => namespace.clone(),
            None => {
                let opened = Namespace::open(&*self.catalogue, &self.root, &self.config, id);
                let namespace = match opened {
                    Ok(namespace) => Arc::new(namespace),
                    Err(error) => {
                        drop(place);
                        drop(slot);
                        self.forget_if_empty(id);
                        return Err(error);
                    }
                };
                namespace.touch(now);
                *place = Some(namespace.clone());
                drop(place);
                if outdated_note(&self.root, namespace.number).exists() {
                    match self.config.access {
                        Access::Write => self.make_anew_aside(&namespace),
                        Access::Read => tracing::warn!(
                            namespace = %namespace.id,
                            "an index of an earlier version is searched; its owner's next command rebuilds it"
                        ),
                    }
                }
                self.close_unused();
                return Ok(namespace);
            }
        };
        namespace.touch(now);
        Ok(namespace)
    }

    /// Gives the namespaces that are open now.
    pub(super) fn open_namespaces(&self) -> Vec<Arc<Namespace>> {
        let slots = self.slots.lock();
        slots.values().filter_map(|slot| slot.try_lock().and_then(|place| place.clone())).collect()
    }

    /// Takes a namespace out of those that are open.
    pub(super) fn take_out(&self, id: &NamespaceId) {
        self.slots.lock().remove(id);
    }

    /// Erases the indexes of a namespace that the catalogue has dropped. Whoever opens or writes
    /// them is waited for.
    fn erase_folder(&self, dropped: &DroppedNamespace) -> Result<()> {
        let folder = folder_of(&self.root, dropped.number);
        let slot = self.slots.lock().entry(dropped.id.clone()).or_default().clone();
        let mut place = slot.lock();
        let open = place.take_if(|namespace| namespace.number == dropped.number);
        let erased = match open {
            Some(namespace) => {
                let mut derived = namespace.derived.lock();
                derived.words().abandon();
                remove_folder(&folder)
            }
            None => remove_folder(&folder),
        };
        drop(place);
        drop(slot);
        self.forget_if_empty(&dropped.id);
        erased
    }

    /// Lets go of writers beyond the bound, except the one in use.
    pub(super) fn rest_unused_writers(&self, in_use: &NamespaceId) -> Result<()> {
        let mut writing = self.open_namespaces();
        writing.retain(|namespace| {
            namespace.id != *in_use
                && namespace.derived.try_lock().is_some_and(|derived| derived.is_writing())
        });
        writing.sort_by_key(|namespace| namespace.used_at.load(Ordering::Relaxed));
        let n_over = (writing.len() + 1).saturating_sub(self.config.max_open_writers.max(1));
        for namespace in writing.into_iter().take(n_over) {
            if let Some(mut derived) = namespace.derived.try_lock() {
                derived.rest()?;
            }
        }
        Ok(())
    }

    fn forget_if_empty(&self, id: &NamespaceId) {
        let mut slots = self.slots.lock();
        let is_unused = slots.get(id).is_some_and(|slot| {
            Arc::strong_count(slot) == 1 && slot.try_lock().is_some_and(|place| place.is_none())
        });
        if is_unused {
            slots.remove(id);
        }
    }

    /// Closes the namespaces used longest ago while more are open than the bound allows.
    fn close_unused(&self) {
        let mut slots = self.slots.lock();
        if slots.len() <= self.config.max_open_namespaces {
            return;
        }
        let mut idle: Vec<(u64, NamespaceId)> = slots
            .iter()
            .filter(|(_, slot)| Arc::strong_count(slot) == 1)
            .filter_map(|(id, slot)| {
                let place = slot.try_lock()?;
                let namespace = place.as_ref()?;
                (Arc::strong_count(namespace) == 1)
                    .then(|| (namespace.used_at.load(Ordering::Relaxed), id.clone()))
            })
            .collect();
        idle.sort();
        let n_over = slots.len() - self.config.max_open_namespaces;
        for (_, id) in idle.into_iter().take(n_over) {
            slots.remove(&id);
        }
    }
}

impl Engine for EmbeddedEngine {
    fn info(&self) -> EngineInfo<'_> {
        EngineInfo { name: "embedded", place: EnginePlace::Here(self) }
    }

    fn follow(&self, changes: Changes<'_>) -> Result<()> {
        if self.config.access == Access::Read {
            return Ok(());
        }
        match changes {
            Changes::Of { namespace, fresh } => self.follow_one(namespace, fresh),
            Changes::OfOthers(heads) => self.follow_others(heads),
        }
    }

    fn positions(&self) -> Result<Vec<Position>> {
        let position = |namespace: Arc<Namespace>| {
            let derived = namespace.derived.try_lock()?;
            Some(Position { number: namespace.number, seen: derived.seen() })
        };
        Ok(self.open_namespaces().into_iter().filter_map(position).collect())
    }

    fn search(
        &self,
        namespace: &NamespaceId,
        search: &Search<'_>,
        deadline: &Deadline,
    ) -> Result<(Candidates, Candidates)> {
        let filter = search.filter;
        let words = search.by_words.map(|ByWords { query, limit }| {
            self.search_words(namespace, query, filter, limit, deadline)
        });
        let near = search.by_vector.map(|ByVector { vector, limit }| {
            self.search_vectors(namespace, vector, filter, limit, deadline)
        });
        Ok((words.transpose()?.unwrap_or_default(), near.transpose()?.unwrap_or_default()))
    }

    fn term_statistics(
        &self,
        namespace: &NamespaceId,
        terms: &[(Form, String)],
    ) -> Result<TermStatistics> {
        self.namespace_of(namespace)?.snapshot().words.statistics(terms)
    }

    fn erase(&self, erased: Erased<'_>) -> Result<()> {
        self.refuse_reader()?;
        match erased {
            Erased::Namespace(dropped) => self.erase_folder(dropped),
            Erased::Documents(namespaces) => self.take_off_disk(namespaces),
        }
    }

    fn maintain(&self) -> Result<()> {
        self.refuse_reader()?;
        self.keep_in_shape()
    }

    fn problem(&self, namespace: &NamespaceId) -> Result<Option<String>> {
        self.find_problem(namespace)
    }

    fn rebuild(&self, id: &NamespaceId, when: Rebuild) -> Result<()> {
        self.refuse_reader()?;
        if when == Rebuild::WhenUsed {
            let note = outdated_note(&self.root, state_of(&*self.catalogue, id)?.number);
            if note.parent().is_some_and(Path::exists) {
                fs_err::File::create(&note)?.file().sync_all()?;
            }
            return Ok(());
        }
        let namespace = self.namespace_of(id)?;
        let mut derived = namespace.derived.lock();
        derived.rebuild(&*self.catalogue)?;
        namespace.publish(&mut derived, &*self.catalogue)
    }
}

impl EngineHere for EmbeddedEngine {
    fn count(
        &self,
        namespace: &NamespaceId,
        query: Option<&WordsQuery>,
        filter: &Filter,
        deadline: &Deadline,
    ) -> Result<Matched> {
        query.map_or(Ok(()), WordsQuery::check)?;
        filter.check()?;
        let snapshot = self.namespace_of(namespace)?.snapshot();
        // What is counted alone is the copies of what one search found.
        let fitting = match query {
            Some(_) => snapshot.fitting(filter)?,
            None => snapshot.fitting_once(filter)?,
        };
        snapshot.words.count(query, &fitting.entries, deadline)
    }

    fn documents(
        &self,
        id: &NamespaceId,
        filter: &Filter,
        deadline: &Deadline,
    ) -> Result<Option<Vec<DocumentId>>> {
        filter.check()?;
        let namespace = self.namespace_of(id)?;
        let snapshot = namespace.snapshot();
        let fitting = snapshot.fitting_once(filter)?;
        let found = snapshot.words.documents(&fitting.entries, deadline)?;
        let Some(firsts) = found else { return Ok(None) };
        // Documents that were erased meanwhile have no name any more.
        let names = self.catalogue.names(namespace.number, &firsts)?;
        Ok(Some(names.into_iter().flatten().map(|(document, _)| document).collect()))
    }

    fn close(&self) -> Result<()> {
        if self.config.access == Access::Read {
            return Ok(());
        }
        for namespace in self.open_namespaces() {
            let mut derived = namespace.derived.lock();
            derived.rest()?;
            derived.remember_closed()?;
        }
        Ok(())
    }
}
