//! How many passages and documents a query matches by words, where they are more than were looked
//! at.

use std::collections::HashSet;

use store::limits::MAX_CANDIDATES;
use text::QueryWord;

use store::Form;

use crate::candidates::by_words;
use crate::question::analyse;
use crate::{Pipeline, Request, Result, Retriever, Total};

/// How many documents and passages hold words of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Matching {
    /// Documents.
    pub documents: Total,
    /// Their passages that were counted.
    pub n_passages: usize,
}

impl Retriever {
    /// Counts the documents that a search by words finds, behind the filters of the scopes; exact
    /// unless more passages match than one search gives. Nothing is read or judged for it.
    pub fn count_by_words(&self, request: &Request<'_>) -> Result<Matching> {
        let pipeline = Pipeline { n_by_words: MAX_CANDIDATES, ..request.pipeline.clone() };
        let request = &Request { pipeline: &pipeline, ..request.clone() };
        let question = analyse(request.query, request.pipeline, self.languages(request));
        let list = by_words(&self.store, request, &question.for_words, &question.filter)?;
        let documents: HashSet<_> =
            list.found.iter().map(|found| (found.scope_idx, &found.document)).collect();
        let documents = Total { n: documents.len(), is_exact: !list.is_full && !list.is_partial };
        Ok(Matching { documents, n_passages: list.found.len() })
    }

    /// Estimates how many passages of the scopes' namespaces hold a word of a query, from how many
    /// hold each of them, as if words were independent; for one word it is exact. Filters of the
    /// scopes are left aside.
    pub fn estimate_by_words(&self, request: &Request<'_>) -> Result<usize> {
        let question = analyse(request.query, request.pipeline, self.languages(request));
        let terms: Vec<(Form, String)> = question
            .words
            .iter()
            .flat_map(|word| word.terms.iter().map(|term| (Form::Folded, term.clone())))
            .collect();
        let mut sum = 0.0;
        for scope in request.scopes {
            let statistics = self.store.term_statistics(&scope.namespace, &terms)?;
            let counts: Vec<u64> = statistics.terms.iter().map(|term| term.n_passages).collect();
            sum += union(statistics.n_passages as f64, &question.words, &counts);
        }
        Ok(sum as usize)
    }
}

/// Gives how many of some passages hold one of some words, each of which has several terms, of which
/// the most frequent counts.
fn union(n_passages: f64, words: &[QueryWord], counts: &[u64]) -> f64 {
    if n_passages <= 0.0 {
        return 0.0;
    }
    let mut counts = counts.iter().map(|count| *count as f64);
    let without: f64 = words
        .iter()
        .map(|word| counts.by_ref().take(word.terms.len()).fold(0.0, f64::max))
        .map(|n_with| (1.0 - n_with / n_passages).max(0.0))
        .product();
    (n_passages * (1.0 - without)).round()
}
