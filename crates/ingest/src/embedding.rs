//! Vectors after words: passages without a vector get one, a few at a time.
//!
//! A text that comes again (a copy of a file, a footer of every page) is embedded once: within a
//! step always, and between steps as long as it is among the last [`limits::MAX_REMEMBERED_TEXTS`].

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use infer::{Embedder, PassageVectors};
use model::{Deadline, NamespaceId, PassageId};
use store::{Store, StoredPassage, VectorSpace};

use crate::fresh::FreshVectors;
use crate::{Progress, Result, Stage, limits};

/// How long one step of the embedder may take.
const STEP_TIME: Duration = Duration::from_secs(600);

/// Makes the vectors of one namespace.
pub struct Embedding {
    /// Where the passages are.
    pub store: Arc<Store>,
    /// Whose passages get vectors, and no other's.
    pub namespace: NamespaceId,
    /// What makes the vectors.
    pub embedder: Arc<dyn Embedder>,
}

/// What a run of [`Embedding`] did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Embedded {
    /// Passages that got a vector.
    pub n_embedded: usize,
    /// Passages that are left without one, since the run was cancelled.
    pub n_left: usize,
}

impl Embedding {
    /// Gives the vector space of an embedder.
    pub fn space_of(embedder: &dyn Embedder) -> VectorSpace {
        VectorSpace { embedder: embedder.id().to_string(), dimensions: embedder.dimensions() }
    }

    /// Embeds until no passage waits, or the run is cancelled.
    ///
    /// Each step is durable when it is done, so a run that ends early loses nothing: the next
    /// one goes on with what still waits. New passages that come in meanwhile are embedded too.
    ///
    /// # Errors
    ///
    /// When the store or the embedder fails; what was embedded before stays.
    pub fn run(&self, progress: &Progress) -> Result<Embedded> {
        let counts = self.store.counts(&self.namespace)?;
        progress.begin(Stage::Embedding, Some(counts.n_passages - counts.n_vectors));
        let mut embedded = Embedded::default();
        let mut remembered = Remembered::default();
        while !progress.is_cancelled() {
            let n_set = self.step(limits::PASSAGES_PER_EMBEDDING, &mut remembered)?;
            if n_set == 0 {
                return Ok(embedded);
            }
            embedded.n_embedded += n_set;
            progress.advance(Stage::Embedding, n_set);
        }
        let counts = self.store.counts(&self.namespace)?;
        embedded.n_left = counts.n_passages - counts.n_vectors;
        Ok(embedded)
    }

    /// Makes the vectors of the passages that have waited longest; 0 when none is missing.
    pub(crate) fn step(&self, limit: usize, remembered: &mut Remembered) -> Result<usize> {
        let waiting = self.store.passages_without_vectors(&self.namespace, limit)?;
        self.embed(&waiting, remembered)
    }

    /// Makes the vectors of some passages; one that is gone, or has its vector, is passed over.
    pub(crate) fn step_of(
        &self,
        passages: &[PassageId],
        remembered: &mut Remembered,
    ) -> Result<usize> {
        self.embed(&self.store.without_vectors(&self.namespace, passages)?, remembered)
    }

    fn embed(&self, waiting: &[StoredPassage], remembered: &mut Remembered) -> Result<usize> {
        if waiting.is_empty() {
            return Ok(0);
        }
        remembered.begin(&*self.embedder);
        let texts: Vec<String> = waiting.iter().map(StoredPassage::embedded_text).collect();
        let made = self.make(&texts, remembered)?;
        let passages = || waiting.iter().map(|passage| passage.id().clone()).zip(&texts);
        if self.embedder.has_token_vectors() {
            let blobs: Vec<_> =
                passages().map(|(id, text)| (id, made[text.as_str()].blob.clone())).collect();
            // The blob goes first: a passage that has a vector is never looked at again.
            self.store.set_blobs(&self.namespace, &blobs)?;
        }
        let vectors: Vec<_> =
            passages().map(|(id, text)| (id, made[text.as_str()].vector.clone())).collect();
        let n_set = self.store.set_vectors(&self.namespace, &vectors)?;
        for ((id, text), (_, vector)) in passages().zip(vectors) {
            remembered.add(text, &self.namespace, id, vector);
        }
        Ok(n_set)
    }

    /// Gives what belongs to each text, made once or remembered.
    fn make<'t>(
        &self,
        texts: &'t [String],
        remembered: &Remembered,
    ) -> Result<HashMap<&'t str, PassageVectors>> {
        let mut made: HashMap<&str, PassageVectors> = HashMap::new();
        let mut missing: Vec<&str> = vec![];
        for text in texts.iter().map(String::as_str) {
            if made.contains_key(text) || missing.contains(&text) {
                continue;
            }
            match self.known(text, remembered)? {
                Some(known) => drop(made.insert(text, known)),
                None => missing.push(text),
            }
        }
        let deadline = Deadline::after(STEP_TIME);
        let vectors = PassageVectors::make(&*self.embedder, &missing, &deadline)?;
        made.extend(missing.into_iter().zip(vectors));
        Ok(made)
    }

    /// Gives what was made of a text before, for a query or for another passage; nothing where that
    /// is forgotten, or its passage is gone.
    fn known(&self, text: &str, remembered: &Remembered) -> Result<Option<PassageVectors>> {
        if let Some(fresh) = remembered.fresh.get(&*self.embedder, text) {
            return Ok(Some(fresh));
        }
        let Some(twin) = remembered.by_text.get(text) else { return Ok(None) };
        let vector = twin.vector.clone();
        if !self.embedder.has_token_vectors() {
            return Ok(Some(PassageVectors { vector, blob: vec![] }));
        }
        let blobs = match self.store.blobs(&twin.namespace, std::slice::from_ref(&twin.passage)) {
            Err(store::Error::UnknownNamespace { .. }) => return Ok(None),
            blobs => blobs?,
        };
        Ok(blobs.into_iter().flatten().next().map(|blob| PassageVectors { vector, blob }))
    }
}

/// The texts that were embedded last, with their vectors. Token vectors are larger, so they are
/// read from the passage that has them.
#[derive(Default)]
pub(crate) struct Remembered {
    /// What queries had to make.
    fresh: Arc<FreshVectors>,
    /// Whose vectors the others are.
    embedder: String,
    by_text: HashMap<String, Twin>,
    /// The texts in the order in which they came.
    order: VecDeque<String>,
}

struct Twin {
    namespace: NamespaceId,
    passage: PassageId,
    vector: Vec<f32>,
}

impl Remembered {
    /// Remembers nothing yet but what queries make.
    pub(crate) fn with(fresh: &Arc<FreshVectors>) -> Self {
        Remembered { fresh: Arc::clone(fresh), ..Remembered::default() }
    }

    /// Forgets everything when it belongs to another model.
    fn begin(&mut self, embedder: &dyn Embedder) {
        let id = embedder.id().to_string();
        if self.embedder != id {
            *self = Remembered { embedder: id, ..Remembered::with(&self.fresh) };
        }
    }

    fn add(&mut self, text: &str, namespace: &NamespaceId, passage: PassageId, vector: Vec<f32>) {
        let twin = Twin { namespace: namespace.clone(), passage, vector };
        if self.by_text.insert(text.to_owned(), twin).is_some() {
            return;
        }
        self.order.push_back(text.to_owned());
        if self.order.len() > limits::MAX_REMEMBERED_TEXTS
            && let Some(oldest) = self.order.pop_front()
        {
            self.by_text.remove(&oldest);
        }
    }
}
