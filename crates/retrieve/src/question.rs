//! Analyse: from what was typed to words the index knows.

use store::{Clause, Form, WordsQuery};
use text::{Analyzer, LanguageSet, QueryWord};

use crate::Pipeline;

/// What the exact spelling counts beside the folded one.
const EXACT_BOOST: f32 = 0.2;

/// A question, analysed.
pub(crate) struct Question {
    pub(crate) words: Vec<QueryWord>,
    pub(crate) for_words: WordsQuery,
}

/// Analyses a question.
pub(crate) fn analyse(query: &str, pipeline: &Pipeline) -> Question {
    let words = Analyzer::new().analyze_query(query, LanguageSet::all());
    let mut for_words = WordsQuery::new(pipeline.bm25, pipeline.title_boost);
    for word in &words {
        for (term_idx, term) in word.terms.iter().enumerate() {
            // Later alternatives are less plausible stems of the same word.
            let boost = if term_idx == 0 { 1.0 } else { 0.5 };
            for_words.should.push(Clause::term(Form::Folded, term.clone()).boosted(boost));
        }
        for_words.should.push(Clause::term(Form::Exact, word.exact.clone()).boosted(EXACT_BOOST));
    }
    for_words.should.truncate(store::limits::MAX_CLAUSES);
    Question { words, for_words }
}
