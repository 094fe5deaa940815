//! What is asked.

use model::{Deadline, NamespaceId, Score};
use store::{Bm25, Filter};

/// A namespace and the part of it that the caller may see. The filter is applied inside every
/// candidate search, never afterwards.
#[derive(Debug, Clone, PartialEq)]
pub struct Scope {
    /// Searched as a whole; its term statistics judge its passages.
    pub namespace: NamespaceId,
    /// Who and what: tenant, clearance, roots, extensions, years.
    pub filter: Filter,
}

/// Whether a document may appear more than once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grouping {
    /// Every passage for itself.
    Passages,
    /// The best passage of each document.
    Documents,
}

/// The numbers of the stages.
#[derive(Debug, Clone, PartialEq)]
pub struct Pipeline {
    /// BM25 of the candidates by words.
    pub bm25: Bm25,
    /// What a match in the title counts against one in the text.
    pub title_boost: f32,
    /// Candidates by words.
    pub n_by_words: usize,
    /// Candidates by vector; 0 leaves the stage out.
    pub n_by_vector: usize,
    /// The constant of reciprocal rank fusion.
    pub rrf_k: f64,
    /// What words and vectors weigh in the fusion.
    pub rrf_weights: [f64; 2],
    /// How many fused candidates the lexical re-rank keeps.
    pub n_lexical: usize,
    /// Whether the model re-ranker runs.
    pub model_rerank: bool,
    /// How many candidates a cross-encoder reads; the builtin re-ranker looks at all.
    pub n_model: usize,
    /// Attributes that a query may name as `field:value`; any other colon is a part of its word.
    pub fields: Vec<String>,
}

impl Default for Pipeline {
    fn default() -> Self {
        Pipeline {
            bm25: Bm25::PASSAGES,
            title_boost: 0.5,
            n_by_words: 500,
            n_by_vector: 500,
            rrf_k: 60.0,
            rrf_weights: [0.5, 0.5],
            n_lexical: 100,
            model_rerank: true,
            n_model: 50,
            fields: vec!["ext".to_owned()],
        }
    }
}

/// One search.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// What a person or an agent typed: plain words, or the query syntax.
    pub query: &'a str,
    /// Where to look.
    pub scopes: &'a [Scope],
    /// How many hits to give.
    pub limit: usize,
    /// How many hits to pass over first.
    pub offset: usize,
    /// Hits with a lower final score are dropped.
    pub threshold: Option<Score>,
    /// Whether a document may appear more than once.
    pub grouping: Grouping,
    /// The numbers of the stages.
    pub pipeline: &'a Pipeline,
    /// By when an answer is due.
    pub deadline: &'a Deadline,
}
