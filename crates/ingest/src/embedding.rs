//! Vectors after words: passages without a vector get one, a few at a time.

use std::sync::Arc;
use std::time::Duration;

use infer::Embedder;
use model::{Deadline, NamespaceId, PassageId};
use store::{Store, StoredPassage, VectorSpace};

use crate::{Error, Progress, Result, Stage, limits, pack_tokens};

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
        while !progress.is_cancelled() {
            let n_set = self.step(limits::PASSAGES_PER_EMBEDDING)?;
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
    pub(crate) fn step(&self, limit: usize) -> Result<usize> {
        let waiting = self.store.passages_without_vectors(&self.namespace, limit)?;
        self.embed(&waiting)
    }

    /// Makes the vectors of some passages; one that is gone, or has its vector, is passed over.
    pub(crate) fn step_of(&self, passages: &[PassageId]) -> Result<usize> {
        self.embed(&self.store.without_vectors(&self.namespace, passages)?)
    }

    fn embed(&self, waiting: &[StoredPassage]) -> Result<usize> {
        if waiting.is_empty() {
            return Ok(0);
        }
        let deadline = Deadline::after(STEP_TIME);
        let texts: Vec<String> = waiting.iter().map(text_of).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let ids = waiting.iter().map(|passage| passage.id().clone());
        let mean = match self.embedder.has_token_vectors() {
            true => Some(infer::token_mean(&*self.embedder, &deadline)?),
            false => None,
        };
        let vectors: Vec<(PassageId, Vec<f32>)> = match mean {
            Some(mean) => {
                let embedded = self.embedder.embed_passages_with_tokens(&texts, &deadline)?;
                let blobs: Vec<_> = ids
                    .clone()
                    .zip(&embedded)
                    .map(|(id, text)| (id, pack_tokens(&text.tokens, &mean)))
                    .collect();
                // The blob goes first: a passage that has a vector is never looked at again.
                self.store.set_blobs(&self.namespace, &blobs)?;
                ids.zip(embedded.into_iter().map(|text| text.pooled)).collect()
            }
            None => ids.zip(self.embedder.embed_passages(&texts, &deadline)?).collect(),
        };
        self.store.set_vectors(&self.namespace, &vectors).map_err(Error::from)
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
    text
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
