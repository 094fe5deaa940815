//! What is stored of a passage: its vector, and its token vectors packed. Whoever makes them, for the
//! store or for a query that waits, makes them here, so that they are the same.

use model::Deadline;

use crate::{EmbeddedText, Embedder, Result, pack_tokens, token_mean};

/// What a model says of a passage, as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct PassageVectors {
    /// The vector of the whole text.
    pub vector: Vec<f32>,
    /// The token vectors, as [`pack_tokens`] makes them; empty where the model has none.
    pub blob: Vec<u8>,
}

impl PassageVectors {
    /// Makes the vectors of passages that nobody waits for, in the order given.
    ///
    /// Fails when the embedder fails, or the deadline is over first.
    pub fn make(
        embedder: &dyn Embedder,
        passages: &[&str],
        deadline: &Deadline,
    ) -> Result<Vec<PassageVectors>> {
        if embedder.has_token_vectors() {
            let embedded = embedder.embed_passages_with_tokens(passages, deadline)?;
            return PassageVectors::pack(embedder, embedded, deadline);
        }
        let vectors = embedder.embed_passages(passages, deadline)?;
        Ok(vectors.into_iter().map(|vector| PassageVectors { vector, blob: vec![] }).collect())
    }

    /// Makes the same vectors while somebody waits for them.
    ///
    /// Fails when the embedder fails, or the deadline is over first.
    pub fn make_first(
        embedder: &dyn Embedder,
        passages: &[&str],
        deadline: &Deadline,
    ) -> Result<Vec<PassageVectors>> {
        let embedded = embedder.embed_passages_first(passages, deadline)?;
        PassageVectors::pack(embedder, embedded, deadline)
    }

    fn pack(
        embedder: &dyn Embedder,
        embedded: Vec<EmbeddedText>,
        deadline: &Deadline,
    ) -> Result<Vec<PassageVectors>> {
        let mean = match embedder.has_token_vectors() {
            true => Some(token_mean(embedder, deadline)?),
            false => None,
        };
        let packed = |text: EmbeddedText| PassageVectors {
            blob: mean.as_ref().map(|mean| pack_tokens(&text.tokens, mean)).unwrap_or_default(),
            vector: text.pooled,
        };
        Ok(embedded.into_iter().map(packed).collect())
    }
}
