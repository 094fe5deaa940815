//! Analyse: from what was typed to words the index knows.

use store::{Clause, Form, WordsQuery};
use text::{Analyzer, LanguageSet, QueryWord};

use crate::Pipeline;

/// What the exact spelling counts beside the folded one.
const EXACT_BOOST: f32 = 0.2;

/// Words of a query beyond these are not looked for.
const MAX_WORDS: usize = 256;

/// A question, analysed.
pub(crate) struct Question {
    pub(crate) words: Vec<QueryWord>,
    pub(crate) for_words: WordsQuery,
}

/// Analyses a question.
pub(crate) fn analyse(query: &str, pipeline: &Pipeline) -> Question {
    let words = Analyzer::new().analyze_query(query, LanguageSet::all());
    let mut for_words = WordsQuery::new(pipeline.bm25, pipeline.title_boost);
    for word in words.iter().take(MAX_WORDS) {
        for_words.should.push(Clause::any_term(Form::Folded, word.terms.clone()));
        for_words.should.push(Clause::term(Form::Exact, word.exact.clone()).boosted(EXACT_BOOST));
    }
    Question { words, for_words }
}
