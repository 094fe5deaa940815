//! Vectors as a debt: what lacks one is a question to the catalogue, and one worker pays it off.
//!
//! Nobody has to remember that vectors are missing. Whatever the reason (they were never made, the
//! model arrived late or was changed, a run was stopped), the worker finds the passages and goes
//! on: those that people asked for first, then the others of the namespaces that were asked last,
//! then those of the namespaces that lack the fewest, so that a small base does not wait for a large
//! one. While nothing is missing it writes nothing.

mod before_end;

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use infer::{Embedder, EmbedderSlot, ModelState, PassageVectors};
use model::{Deadline, Hit, NamespaceId, PassageId, Warning};
use parking_lot::{Condvar, Mutex};
use store::{NamespaceInfo, Store, StoredPassage};

use crate::embedding::Remembered;
use crate::fresh::FreshVectors;
use crate::{Embedding, Error, Progress, Result, Stage, limits};

/// How long the worker waits for a model to load.
const MODEL_WAIT: Duration = Duration::from_secs(60);

/// How long the worker sleeps before it asks again: for a model that may have arrived, and for
/// passages that another process may have written.
const ASK_AGAIN: Duration = Duration::from_secs(30);

/// How often namespaces are looked through that others write to while vectors are made.
const LOOK_AGAIN: Duration = Duration::from_secs(2);

/// How long one server has the vectors of a namespace to itself after its last step.
const PAYING_LEASE: Duration = Duration::from_secs(60);

/// Which part of some passages can be found by vector.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct VectorDebt {
    /// Whether they have a vector or not.
    pub n_passages: usize,
    /// Those that wait for one.
    pub n_without: usize,
}

/// The code of the warning that some passages have no vector yet.
pub const VECTORS_INCOMPLETE: &str = "vectors_incomplete";

/// The code of the warning that vectors are not used, so that words alone find something.
pub const VECTORS_OFF: &str = "vectors_off";

impl VectorDebt {
    /// Says what an answer has to say about it: nothing when every passage has its vector.
    pub fn warning(self) -> Option<Warning> {
        if self.n_without == 0 {
            return None;
        }
        let n_with = self.n_passages.saturating_sub(self.n_without);
        let message = format!(
            "{n_with} of {} passages can be found by vector so far, the others by words",
            self.n_passages
        );
        Some(Warning::new(VECTORS_INCOMPLETE, message))
    }
}

impl std::ops::AddAssign for VectorDebt {
    fn add_assign(&mut self, other: Self) {
        self.n_passages += other.n_passages;
        self.n_without += other.n_without;
    }
}

/// Knows which passages lack a vector, and makes vectors.
pub struct Vectors {
    store: Arc<Store>,
    embedder: Arc<EmbedderSlot>,
    /// Names this process among the servers that share a catalogue.
    holder: String,
    wanted: Mutex<VecDeque<(NamespaceId, PassageId)>>,
    /// What queries made because they could not wait for the worker.
    fresh: Arc<FreshVectors>,
    /// Namespaces that people asked, the last one first.
    asked: Mutex<VecDeque<NamespaceId>>,
    /// Namespaces that this process wrote passages to, since all vectors were made.
    written: Mutex<BTreeSet<NamespaceId>>,
    /// Namespaces that are searched by words alone.
    without: Mutex<BTreeSet<NamespaceId>>,
    /// One at a time makes vectors, so that none is made twice; it remembers the last ones.
    paying: Mutex<Remembered>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    is_woken: bool,
    is_closing: bool,
}

impl Vectors {
    /// Prepares; nothing is loaded or embedded yet.
    pub fn new(store: Arc<Store>, embedder: Arc<EmbedderSlot>) -> Arc<Self> {
        let fresh = Arc::<FreshVectors>::default();
        Arc::new(Vectors {
            store,
            embedder,
            holder: uuid::Uuid::new_v4().to_string(),
            wanted: Mutex::default(),
            asked: Mutex::default(),
            written: Mutex::default(),
            without: Mutex::default(),
            paying: Mutex::new(Remembered::with(&fresh)),
            fresh,
            state: Mutex::default(),
            changed: Condvar::new(),
        })
    }

    /// Gives the model that makes vectors, as far as it is there.
    pub fn embedder(&self) -> &Arc<EmbedderSlot> {
        &self.embedder
    }

    /// Tells the worker that passages were written.
    pub fn wake(&self) {
        self.state.lock().is_woken = true;
        self.changed.notify_all();
    }

    /// Makes no vectors in a namespace: it is searched by words alone.
    pub fn leave_out(&self, namespace: NamespaceId) {
        self.without.lock().insert(namespace);
    }

    /// Says that people ask for these passages: they get their vectors before all others. Beyond
    /// [`limits::MAX_WANTED_PASSAGES`] the ones that were asked for first are forgotten.
    pub fn want(&self, namespace: &NamespaceId, passages: impl IntoIterator<Item = PassageId>) {
        let mut wanted = self.wanted.lock();
        for passage in passages {
            let entry = (namespace.clone(), passage);
            if !wanted.contains(&entry) {
                wanted.push_back(entry);
            }
            if wanted.len() > limits::MAX_WANTED_PASSAGES {
                wanted.pop_front();
            }
        }
        drop(wanted);
        self.wake();
    }

    /// Gives the vectors of passages that have none yet, for a query that waits for them: they are the
    /// ones that the worker would make, and it stores them before it makes others.
    ///
    /// # Errors
    ///
    /// When the embedder fails, or the deadline is over first.
    pub fn make_now(
        &self,
        embedder: &dyn Embedder,
        namespace: &NamespaceId,
        passages: &[&StoredPassage],
        deadline: &Deadline,
    ) -> infer::Result<Vec<PassageVectors>> {
        let texts: Vec<String> = passages.iter().map(|stored| stored.embedded_text()).collect();
        let made = self.fresh.make(embedder, &texts, deadline);
        // Whether or not there was time: the next query finds them stored. Not before, so that the
        // worker does not make them once more meanwhile.
        self.want(namespace, passages.iter().map(|stored| stored.id().clone()));
        made
    }

    /// Counts what lacks a vector in some namespaces; one that does not exist has nothing.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub fn debt<'a>(
        &self,
        namespaces: impl IntoIterator<Item = &'a NamespaceId>,
    ) -> Result<VectorDebt> {
        let mut debt = VectorDebt::default();
        for namespace in namespaces {
            debt += match self.store.counts(namespace) {
                Err(store::Error::UnknownNamespace { .. }) => VectorDebt::default(),
                counts => {
                    let counts = counts?;
                    let n_without = counts.n_passages - counts.n_vectors;
                    VectorDebt { n_passages: counts.n_passages, n_without }
                }
            };
        }
        Ok(debt)
    }

    /// Tells whether the configuration asks for no vectors, so that none is owed.
    pub fn are_off(&self) -> bool {
        self.embedder.state() == ModelState::Off
    }

    /// Says what an answer over so many passages has to say about vectors: how many have none yet,
    /// or that none is looked at. Nothing where every passage can be found by its vector.
    pub fn warning(&self, n_passages: usize, n_vectors: usize) -> Option<Warning> {
        if self.are_off() {
            // Without figures, so that several families say it once.
            let message = "0 passages can be found by vector: there is no embedding model";
            return (n_passages > 0).then(|| Warning::new(VECTORS_OFF, message));
        }
        VectorDebt { n_passages, n_without: n_passages.saturating_sub(n_vectors) }.warning()
    }

    /// Takes note of an answer: what it found and lacks a vector gets one first, then what else is in
    /// the namespaces that were searched, where vectors are made at all; and the answer says which
    /// part could be found by vector.
    pub fn notice<'a>(
        &self,
        n_passages: usize,
        n_vectors: usize,
        namespaces: impl IntoIterator<Item = NamespaceId>,
        hits: impl IntoIterator<Item = &'a Hit>,
    ) -> Option<Warning> {
        let warning = self.warning(n_passages, n_vectors)?;
        if warning.code == VECTORS_OFF {
            return Some(warning);
        }
        self.note_asked(namespaces);
        for hit in hits.into_iter().take(limits::PASSAGES_PER_EMBEDDING) {
            self.want(&hit.namespace, [hit.passage.clone()]);
        }
        self.wake();
        Some(warning)
    }

    /// Says that people ask these namespaces: beyond [`limits::MAX_ASKED_NAMESPACES`] the ones that
    /// were asked first are forgotten.
    fn note_asked(&self, namespaces: impl IntoIterator<Item = NamespaceId>) {
        let mut asked = self.asked.lock();
        for namespace in namespaces {
            asked.retain(|known| *known != namespace);
            asked.push_front(namespace);
        }
        asked.truncate(limits::MAX_ASKED_NAMESPACES);
    }

    /// Makes every vector that is missing and gives how many that were; none without a model. A
    /// model that is not the one of a namespace makes all its vectors anew.
    ///
    /// # Errors
    ///
    /// When the store or the embedder fails; what was made before stays.
    pub fn pay(&self, progress: &Progress) -> Result<usize> {
        let Ok(embedder) = self.embedder.get(&Deadline::after(MODEL_WAIT)) else { return Ok(0) };
        let mut remembered = self.paying.lock();
        // What is written from here on is looked at again.
        self.written.lock().clear();
        let n_made = self.pay_in(|_| true, &embedder, &mut remembered, progress);
        // What is remembered is of use while passages wait, and costs memory.
        *remembered = Remembered::with(&self.fresh);
        n_made
    }

    /// Makes the vectors that some namespaces lack.
    fn pay_in(
        &self,
        is_meant: impl Fn(&NamespaceInfo) -> bool,
        embedder: &Arc<dyn Embedder>,
        remembered: &mut Remembered,
        progress: &Progress,
    ) -> Result<usize> {
        let mut n_made = 0;
        let mut owing = self.owing(&is_meant, &**embedder)?;
        let mut looked_at = Instant::now();
        progress.begin(Stage::Embedding, Some(owing.iter().map(|debt| debt.n_without).sum()));
        while !progress.is_cancelled() {
            // What was written since may be of a namespace that nobody knew, and may be asked for.
            if looked_at.elapsed() > LOOK_AGAIN && self.take_woken() {
                owing = self.owing(&is_meant, &**embedder)?;
                looked_at = Instant::now();
            }
            n_made += self.pay_wanted(embedder, remembered)?;
            let Some(place) = self.next_of(&owing) else { break };
            let namespace = owing[place].namespace.clone();
            let n_step = match self.is_ours(&namespace)? {
                true => self.step(&namespace, embedder, remembered)?,
                false => 0,
            };
            if n_step == 0 {
                owing.remove(place);
            }
            n_made += n_step;
            progress.advance(Stage::Embedding, n_step);
        }
        Ok(n_made)
    }

    fn step(
        &self,
        namespace: &NamespaceId,
        embedder: &Arc<dyn Embedder>,
        remembered: &mut Remembered,
    ) -> Result<usize> {
        let embedding = self.embedding(namespace, embedder);
        match embedding.step(limits::PASSAGES_PER_EMBEDDING, remembered) {
            // It was dropped meanwhile.
            Err(Error::Store(store::Error::UnknownNamespace { .. })) => Ok(0),
            made => made,
        }
    }

    /// Chooses whose turn it is: the namespace that people asked last, else the one that lacked the
    /// fewest.
    fn next_of(&self, owing: &[Owing]) -> Option<usize> {
        let asked = self.asked.lock();
        let mut of_asked = asked
            .iter()
            .filter_map(|namespace| owing.iter().position(|debt| debt.namespace == *namespace));
        of_asked.next().or_else(|| {
            let least = owing.iter().enumerate().min_by_key(|(_, debt)| debt.n_without);
            least.map(|(place, _)| place)
        })
    }

    /// Tells whether somebody woke the worker, once.
    fn take_woken(&self) -> bool {
        std::mem::take(&mut self.state.lock().is_woken)
    }

    /// Starts the worker, which lives until the value is dropped.
    ///
    /// # Errors
    ///
    /// When the system gives no thread.
    pub fn start(self: &Arc<Self>) -> Result<VectorWorker> {
        let (vectors, progress) = (Arc::clone(self), Progress::silent());
        let of_thread = progress.clone();
        let thread = Builder::new()
            .name("vectors".to_owned())
            .spawn(move || vectors.work(&of_thread))
            .map_err(Error::Thread)?;
        Ok(VectorWorker { vectors: Arc::clone(self), progress, thread: Some(thread) })
    }

    fn work(&self, progress: &Progress) {
        loop {
            // Whoever wakes the worker from here on makes it look once more.
            self.state.lock().is_woken = false;
            match self.pay(progress) {
                Ok(n_made) if n_made > 0 => tracing::info!(n_made, "vectors were made"),
                Ok(_) => {}
                Err(error) => tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "vectors could not be made; the next try follows"
                ),
            }
            let mut state = self.state.lock();
            if !state.is_woken && !state.is_closing {
                self.changed.wait_for(&mut state, ASK_AGAIN);
            }
            if state.is_closing {
                return;
            }
        }
    }

    /// Tells whether this process makes the vectors of a namespace: of several servers one does, for
    /// as long as it goes on.
    fn is_ours(&self, namespace: &NamespaceId) -> Result<bool> {
        let catalogue = self.store.catalogue();
        if !catalogue.is_shared() {
            return Ok(true);
        }
        Ok(catalogue.take_lease(&format!("vectors/{namespace}"), &self.holder, PAYING_LEASE)?)
    }

    /// Names the namespaces among those that are meant in which passages lack a vector of this model.
    fn owing(
        &self,
        is_meant: impl Fn(&NamespaceInfo) -> bool,
        embedder: &dyn Embedder,
    ) -> Result<Vec<Owing>> {
        let space = Embedding::space_of(embedder);
        let mut owing = vec![];
        for namespace in self.store.namespaces()? {
            if self.without.lock().contains(&namespace.id) || !is_meant(&namespace) {
                continue;
            }
            let counts = match self.store.counts(&namespace.id) {
                Ok(counts) if counts.n_passages > 0 => counts,
                // Empty, dropped meanwhile, or damaged, which others report.
                _ => continue,
            };
            let is_other = namespace.manifest.vectors.as_ref() != Some(&space);
            if is_other {
                match self.store.set_vector_space(&namespace.id, Some(&space)) {
                    Err(store::Error::UnknownNamespace { .. }) => continue,
                    set => set?,
                }
            }
            let n_vectors = if is_other { 0 } else { counts.n_vectors };
            let n_without = counts.n_passages.saturating_sub(n_vectors);
            if n_without > 0 {
                owing.push(Owing { namespace: namespace.id, n_without });
            }
        }
        Ok(owing)
    }

    /// Makes the vectors that people wait for.
    fn pay_wanted(
        &self,
        embedder: &Arc<dyn Embedder>,
        remembered: &mut Remembered,
    ) -> Result<usize> {
        let mut by_namespace: Vec<(NamespaceId, Vec<PassageId>)> = vec![];
        {
            let mut wanted = self.wanted.lock();
            let n_taken = wanted.len().min(limits::PASSAGES_PER_EMBEDDING);
            for (namespace, passage) in wanted.drain(..n_taken) {
                match by_namespace.iter_mut().find(|(known, _)| *known == namespace) {
                    Some((_, passages)) => passages.push(passage),
                    None => by_namespace.push((namespace, vec![passage])),
                }
            }
        }
        let mut n_made = 0;
        for (namespace, passages) in by_namespace {
            let embedding = self.embedding(&namespace, embedder);
            let mut made = embedding.step_of(&passages, remembered);
            if let Err(Error::Store(store::Error::NoVectorSpace { .. })) = made {
                // It is newer than the list of those that wait.
                let space = Embedding::space_of(&**embedder);
                made = match self.store.set_vector_space(&namespace, Some(&space)) {
                    Ok(()) => embedding.step_of(&passages, remembered),
                    Err(error) => Err(error.into()),
                };
            }
            n_made += match made {
                Err(Error::Store(store::Error::UnknownNamespace { .. })) => 0,
                made => made?,
            };
        }
        Ok(n_made)
    }

    fn embedding(&self, namespace: &NamespaceId, embedder: &Arc<dyn Embedder>) -> Embedding {
        Embedding {
            store: Arc::clone(&self.store),
            namespace: namespace.clone(),
            embedder: Arc::clone(embedder),
        }
    }
}

/// A namespace in which passages lack a vector.
struct Owing {
    namespace: NamespaceId,
    n_without: usize,
}

/// The thread that makes vectors. Dropping it lets the step at hand end and stops.
pub struct VectorWorker {
    vectors: Arc<Vectors>,
    progress: Progress,
    thread: Option<JoinHandle<()>>,
}

impl Drop for VectorWorker {
    fn drop(&mut self) {
        self.progress.cancel();
        self.vectors.state.lock().is_closing = true;
        self.vectors.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was reported when it happened.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_says_which_part_is_missing_zero_included() {
        let warning = |n_passages, n_without| VectorDebt { n_passages, n_without }.warning();
        assert_eq!(warning(10, 0), None);
        assert_eq!(warning(0, 0), None);
        let message = |n_passages, n_without| warning(n_passages, n_without).unwrap().message;
        assert!(message(10, 4).starts_with("6 of 10 passages can be found by vector"));
        assert!(message(10, 10).starts_with("0 of 10 passages can be found by vector"));
    }
}
