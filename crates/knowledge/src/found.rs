//! What a search is asked for, and what it finds.

use model::{Around, Explanation, PassageId, Score, Stage, Warning};
use retrieve::StageTiming;

use crate::object_ids::{CollectionId, KnowledgeBaseId, KnowledgeDocumentId};

/// What is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchRequest {
    /// The question, in any language.
    pub query: String,
    /// Where to look.
    pub knowledge_base_id: KnowledgeBaseId,
    /// Results with a lower final score are dropped.
    pub threshold: f64,
    /// How many results.
    pub max_results: usize,
}

/// One chunk that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct ChunkHit {
    /// The text, unredacted.
    pub content: String,
    /// Calibrated relevance.
    pub score: Score,
    /// Holds the document's id and the position.
    pub chunk_id: PassageId,
    /// Of which the chunk is a part.
    pub document_id: KnowledgeDocumentId,
    /// The document's title.
    pub title: String,
    /// The position in the document, from 0.
    pub chunk_index: u32,
    /// Which decides who may read it.
    pub collection_id: CollectionId,
    /// That of the collection.
    pub knowledge_base_id: KnowledgeBaseId,
    /// The sentences of the text that fit the question best, unredacted.
    pub snippet: String,
    /// What the document says around the text; it is looked at and never leaves.
    pub around: Around,
    /// The same around the snippet.
    pub around_snippet: Around,
    /// Where a person finds it.
    pub pointer: String,
    /// What each stage thought.
    pub explanation: Explanation,
}

impl ChunkHit {
    /// Gives the score of a stage, rounded as it is shown; nothing when it did not run.
    pub fn stage(&self, stage: Stage) -> Option<f64> {
        let score = self.explanation.stage(stage)?;
        Some((score * 10_000.0).round() / 10_000.0)
    }
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SearchResults {
    /// Chunks, best first.
    pub results: Vec<ChunkHit>,
    /// What was skipped, cut or is missing.
    pub warnings: Vec<Warning>,
    /// What each stage took, in order.
    pub timings: Vec<StageTiming>,
    /// The words that were searched for in the place of those that were typed, where they were.
    pub corrected: Option<String>,
    /// How many chunks were searched.
    pub n_passages: usize,
    /// Of a page in a fixed order: the place up to which chunks were looked at, where others are
    /// behind it.
    pub looked_to: Option<u64>,
    /// Of a page by rank: whether chunks are behind those that were judged, of which the threshold may
    /// keep some.
    pub has_unjudged: bool,
}
