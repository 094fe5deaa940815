//! Vectors after words: passages without a vector get one, a few at a time.
//!
//! A text that comes again (a copy of a file, a footer of every page) is embedded once: within a
//! step always, and between steps as long as it is among the last [`limits::MAX_REMEMBERED_TEXTS`].

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use infer::Embedder;
use model::{Deadline, NamespaceId, PassageId};
use store::{Store, StoredPassage, VectorSpace};

use crate::{Progress, Result, Stage, limits, pack_tokens};

/// How long one step of the embedder may take.
const STEP_TIME: Duration = Duration::from_secs(600);

/// Makes the vectors of one namespace.
pub struct Embedding {
    /// Where the passages are.
    pub store: Arc<Store>,
    /// The namespace.
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
        let texts: Vec<String> = waiting.iter().map(text_of).collect();
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
    ) -> Result<HashMap<&'t str, Made>> {
        let mut made: HashMap<&str, Made> = HashMap::new();
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
        if self.embedder.has_token_vectors() {
            let mean = infer::token_mean(&*self.embedder, &deadline)?;
            let embedded = self.embedder.embed_passages_with_tokens(&missing, &deadline)?;
            for (text, embedded) in missing.into_iter().zip(embedded) {
                let blob = pack_tokens(&embedded.tokens, &mean);
                made.insert(text, Made { vector: embedded.pooled, blob });
            }
        } else {
            let vectors = self.embedder.embed_passages(&missing, &deadline)?;
            for (text, vector) in missing.into_iter().zip(vectors) {
                made.insert(text, Made { vector, blob: vec![] });
            }
        }
        Ok(made)
    }

    /// Gives what was made of a text before; nothing where that is forgotten, or its passage is
    /// gone.
    fn known(&self, text: &str, remembered: &Remembered) -> Result<Option<Made>> {
        let Some(twin) = remembered.by_text.get(text) else { return Ok(None) };
        let vector = twin.vector.clone();
        if !self.embedder.has_token_vectors() {
            return Ok(Some(Made { vector, blob: vec![] }));
        }
        let blobs = match self.store.blobs(&twin.namespace, std::slice::from_ref(&twin.passage)) {
            Err(store::Error::UnknownNamespace { .. }) => return Ok(None),
            blobs => blobs?,
        };
        Ok(blobs.into_iter().flatten().next().map(|blob| Made { vector, blob }))
    }
}

/// What is made of a text.
struct Made {
    vector: Vec<f32>,
    /// Its token vectors, packed; empty where the model gives none.
    blob: Vec<u8>,
}

/// The texts that were embedded last, with their vectors. Token vectors are larger, so they are
/// read from the passage that has them.
#[derive(Default)]
pub(crate) struct Remembered {
    /// Whose vectors these are.
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
    /// Forgets everything when it belongs to another model.
    fn begin(&mut self, embedder: &dyn Embedder) {
        let id = embedder.id().to_string();
        if self.embedder != id {
            *self = Remembered { embedder: id, ..Remembered::default() };
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

/// Gives what the vector of a passage is made of: the title of its document, its headings and its
/// text. A passage from the middle of a document seldom says what it speaks of.
fn text_of(stored: &StoredPassage) -> String {
    let headings = stored.passage.headings.iter().map(String::as_str);
    let above = std::iter::once(stored.title.as_str()).chain(headings);
    let mut text = String::new();
    let mut last = "";
    for line in above.filter(|line| !line.trim().is_empty()) {
        // The first heading of a document is often its title.
        if line != last && !stored.passage.text.starts_with(line) {
            text.push_str(line);
            text.push('\n');
        }
        last = line;
    }
    text.push_str(&stored.passage.text);
    // A score must not tell what an answer hides, nor a model elsewhere read it.
    text::redact(&text).text
}

#[cfg(test)]
mod tests {
    use model::{DocumentId, Passage, Pointer, Span};

    use super::*;

    #[test]
    fn a_vector_is_made_of_title_headings_and_text_each_once() {
        let check = |title: &str, headings: &[&str], text: &str, expected: &str| {
            let passage = Passage {
                id: PassageId::new("p"),
                ordinal: 0,
                text: text.to_owned(),
                span: Span::new(0, 1),
                pointer: Pointer::Whole,
                headings: headings.iter().map(|heading| (*heading).to_owned()).collect(),
            };
            let (document, title) = (DocumentId::new("d"), title.to_owned());
            let language = "en".parse().unwrap();
            assert_eq!(text_of(&StoredPassage { document, title, language, passage }), expected);
        };
        check("Report", &["Costs", "2024"], "They fell.", "Report\nCosts\n2024\nThey fell.");
        check("Report", &["Report", "Costs"], "They fell.", "Report\nCosts\nThey fell.");
        check("Report", &[], "Report\nThey fell.", "Report\nThey fell.");
        check("", &[], "They fell.", "They fell.");
    }
}
