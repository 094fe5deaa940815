//! Text to vector: the contract of every embedder, local or remote.

use std::fmt;

use model::Deadline;

use crate::{Error, Result};

/// Which model made a vector. Vectors of different ids must never be compared, so a manifest
/// keeps the id beside them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EmbedderId {
    /// The model's name, such as `multilingual-e5-small`.
    pub name: String,
    /// What else changes the vectors: weights, prefixes, pooling.
    pub version: String,
}

impl EmbedderId {
    /// Names a model and the version of its weights: vectors of another are not comparable.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        EmbedderId { name: name.into(), version: version.into() }
    }
}

impl fmt::Display for EmbedderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.name, self.version)
    }
}

/// One vector for every token of a text, each of length 1, one after another.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TokenVectors {
    /// The length of one vector; 0 when there are none.
    pub dimensions: usize,
    /// All numbers of the first token, then all of the second.
    pub flat: Vec<f32>,
}

impl TokenVectors {
    /// Counts the tokens.
    pub fn len(&self) -> usize {
        self.flat.len().checked_div(self.dimensions).unwrap_or(0)
    }

    /// Tells whether there are no tokens.
    pub fn is_empty(&self) -> bool {
        self.flat.is_empty()
    }

    /// Goes through the vectors in the order of the text.
    pub fn iter(&self) -> impl Iterator<Item = &[f32]> {
        self.flat.chunks_exact(self.dimensions.max(1))
    }
}

/// A text's vector together with the vectors of its tokens, from one forward pass.
#[derive(Debug, Clone, PartialEq)]
pub struct EmbeddedText {
    /// The text's vector, of length 1.
    pub pooled: Vec<f32>,
    /// The tokens of the text itself: without the marks at its ends and without the prefix that
    /// tells queries from passages.
    pub tokens: TokenVectors,
    /// Whether the text was longer than the model reads, so that its end is not in the vectors.
    pub is_truncated: bool,
}

/// Turns texts into vectors of length 1 whose dot product says how close their meanings are.
///
/// Blocking and safe to share between threads. An empty text has a vector too. A text longer than
/// [`Embedder::max_tokens`] is cut there. Callers may not rely on the same bits for the same text
/// on another machine: vectors agree to about three digits.
pub trait Embedder: Send + Sync {
    /// Gives the name and version that a manifest keeps.
    fn id(&self) -> &EmbedderId;

    /// Gives the length of every vector.
    fn dimensions(&self) -> usize;

    /// Gives how many tokens of a text are read at most.
    fn max_tokens(&self) -> usize;

    /// Embeds a question.
    ///
    /// Fails with [`Error::OutOfTime`] when the deadline is over first.
    fn embed_query(&self, query: &str, deadline: &Deadline) -> Result<Vec<f32>>;

    /// Embeds texts to be found, in the order given.
    ///
    /// Gives all vectors or an error: on the deadline the finished part is lost, so a caller with
    /// many texts passes them in parts.
    fn embed_passages(&self, passages: &[&str], deadline: &Deadline) -> Result<Vec<Vec<f32>>>;

    /// Tells whether the two methods below work.
    fn has_token_vectors(&self) -> bool {
        false
    }

    /// Embeds a question and each of its tokens.
    fn embed_query_with_tokens(&self, query: &str, deadline: &Deadline) -> Result<EmbeddedText> {
        let _ = (query, deadline);
        Err(Error::NoTokenVectors { embedder: self.id().to_string() })
    }

    /// Embeds texts to be found and each of their tokens, in the same forward pass.
    fn embed_passages_with_tokens(
        &self,
        passages: &[&str],
        deadline: &Deadline,
    ) -> Result<Vec<EmbeddedText>> {
        let _ = (passages, deadline);
        Err(Error::NoTokenVectors { embedder: self.id().to_string() })
    }

    /// Embeds texts to be found while somebody waits for them: a model in this process lets other
    /// passages wait. Gives the same as the methods above; tokens where there are token vectors.
    fn embed_passages_first(
        &self,
        passages: &[&str],
        deadline: &Deadline,
    ) -> Result<Vec<EmbeddedText>> {
        if self.has_token_vectors() {
            return self.embed_passages_with_tokens(passages, deadline);
        }
        let without_tokens =
            |pooled| EmbeddedText { pooled, tokens: TokenVectors::default(), is_truncated: false };
        Ok(self.embed_passages(passages, deadline)?.into_iter().map(without_tokens).collect())
    }
}
