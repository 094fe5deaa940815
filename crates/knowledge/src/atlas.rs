//! The first stage of a search: which collections a question is about, by their summaries.
//!
//! It only narrows where there are many collections, and never to nothing: where no summary
//! shares a word with the question, all collections are searched.

use std::collections::HashSet;

use text::{Analyzer, LanguageSet, QueryWord};

use crate::limits;
use crate::objects::Collection;
use crate::summary::KeptSummary;

/// Chooses the collections to search, as positions, best first; nothing when all should be.
pub(crate) fn narrow(
    query: &str,
    collections: &[Collection],
    summaries: &[KeptSummary],
) -> Option<Vec<usize>> {
    if collections.len() <= limits::ATLAS_KEEPS {
        return None;
    }
    let words = Analyzer::new().analyze_query(query, LanguageSet::all());
    let terms: Vec<HashSet<String>> =
        collections.iter().map(|collection| terms_of(collection, summaries)).collect();
    let has = |terms: &HashSet<String>, word: &QueryWord| {
        word.terms.iter().any(|term| terms.contains(term))
    };
    let mut scores = vec![0.0_f64; collections.len()];
    for word in &words {
        let n_with = terms.iter().filter(|terms| has(terms, word)).count();
        // A word that every summary holds, or none, says nothing about where to look.
        let weight = ((collections.len() + 1) as f64 / (n_with + 1) as f64).ln();
        for (score, terms) in scores.iter_mut().zip(&terms) {
            *score += if has(terms, word) { weight } else { 0.0 };
        }
    }
    let mut order: Vec<usize> = (0..collections.len()).filter(|idx| scores[*idx] > 0.0).collect();
    order.sort_by(|one, other| scores[*other].total_cmp(&scores[*one]).then(one.cmp(other)));
    order.truncate(limits::ATLAS_KEEPS);
    (!order.is_empty()).then_some(order)
}

fn terms_of(collection: &Collection, summaries: &[KeptSummary]) -> HashSet<String> {
    let mut text = format!("{}. {}", collection.name, collection.description);
    let mut terms = HashSet::new();
    if let Some(kept) = summaries.iter().find(|kept| kept.collection_id == collection.id) {
        terms.extend(kept.keywords.iter().cloned());
        for sentence in &kept.sentences {
            text.push(' ');
            text.push_str(sentence);
        }
    }
    terms.extend(Analyzer::new().analyze(&text).into_iter().map(|token| token.stem));
    terms
}
