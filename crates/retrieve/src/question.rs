//! Analyse: from what was typed to words the index knows.

use model::Warning;
use store::{Clause, Filter, Form, WordsQuery};
use text::{Analyzer, LanguageSet, QueryWord, TokenKind, content_weight, detect_language};

use crate::Pipeline;
use crate::syntax::{Part, parse};

/// What the exact spelling counts beside the folded one.
const EXACT_BOOST: f32 = 0.1;

/// Words of a query beyond these are not looked for.
const MAX_WORDS: usize = 256;

/// A question, analysed.
pub(crate) struct Question {
    /// What is wanted, without syntax: what a model reads.
    pub(crate) plain: String,
    /// The words that are wanted, for matches and explanations.
    pub(crate) words: Vec<QueryWord>,
    /// The question for the index.
    pub(crate) for_words: WordsQuery,
    /// What the query asks of every document.
    pub(crate) filter: Filter,
    /// What was malformed.
    pub(crate) warnings: Vec<Warning>,
    /// Something has to match or must not, so that candidates by vector alone do not count.
    pub(crate) is_strict: bool,
}

/// Analyses a question for documents in the given languages.
pub(crate) fn analyse(query: &str, pipeline: &Pipeline, languages: LanguageSet) -> Question {
    let parsed = parse(query, &pipeline.fields);
    let plain = parsed.plain_text();
    let mut words = words_of(&plain, languages);
    words.truncate(MAX_WORDS);
    let mut question = Question {
        words,
        for_words: WordsQuery::new(pipeline.bm25, pipeline.title_boost),
        filter: Filter::All,
        warnings: parsed.warnings,
        is_strict: false,
        plain,
    };
    let language = detect_language(&question.plain);
    // Words are analysed together: a language, and a compound, is told from its neighbours.
    for word in &question.words {
        let weight = content_weight(word, language) as f32;
        let folded = Clause::any_term(Form::Folded, word.terms.clone()).boosted(weight);
        let exact = Clause::term(Form::Exact, word.exact.clone()).boosted(EXACT_BOOST * weight);
        question.for_words.should.extend([folded, exact]);
    }
    for part in &parsed.parts {
        add(part, languages, &mut question);
    }
    question.is_strict =
        !question.for_words.must.is_empty() || !question.for_words.must_not.is_empty();
    question
}

/// Gives the words of a text without repeating what a longer token says already.
pub(crate) fn words_of(text: &str, languages: LanguageSet) -> Vec<QueryWord> {
    let mut words = Analyzer::new().analyze_query(text, languages);
    let bigrams: std::collections::BTreeSet<u32> = words
        .iter()
        .filter(|word| word.kind == TokenKind::Bigram)
        .map(|word| word.position)
        .collect();
    // A bigram covers its own position and the next one; only a lone character stands for itself.
    words.retain(|word| {
        let is_covered = bigrams.contains(&word.position)
            || word.position.checked_sub(1).is_some_and(|before| bigrams.contains(&before));
        word.kind != TokenKind::Character || !is_covered
    });
    words
}

fn add(part: &Part, languages: LanguageSet, question: &mut Question) {
    match part {
        Part::Words(_) => {}
        Part::Phrase(text) => question.for_words.must.extend(phrase(text, languages)),
        Part::Prefix(start) => question.for_words.must.push(prefix(start)),
        Part::AnyOf(parts) => {
            // Alternatives only raise the score; their words are in the question already.
            for part in parts {
                match part {
                    Part::Phrase(text) => question.for_words.should.extend(phrase(text, languages)),
                    Part::Prefix(start) => question.for_words.should.push(prefix(start)),
                    Part::Words(_) | Part::Not(_) | Part::AnyOf(_) | Part::Field { .. } => {}
                }
            }
        }
        Part::Not(part) => match &**part {
            Part::Words(text) => {
                let clauses = words_of(text, languages)
                    .into_iter()
                    .map(|word| Clause::any_term(Form::Folded, word.terms));
                question.for_words.must_not.extend(clauses);
            }
            Part::Phrase(text) => question.for_words.must_not.extend(phrase(text, languages)),
            Part::Prefix(start) => question.for_words.must_not.push(prefix(start)),
            Part::Field { name, value } => {
                let field = Filter::Not(Box::new(field(name, value)));
                question.filter = std::mem::take(&mut question.filter).and(field);
            }
            Part::Not(_) | Part::AnyOf(_) => {}
        },
        Part::Field { name, value } => {
            question.filter = std::mem::take(&mut question.filter).and(field(name, value));
        }
    }
}

fn phrase(text: &str, languages: LanguageSet) -> Option<Clause> {
    let words: Vec<QueryWord> = words_of(text, languages)
        .into_iter()
        .filter(|word| word.kind.is_sequential() || word.kind == TokenKind::Character)
        .collect();
    match words.as_slice() {
        [] => None,
        [word] => Some(Clause::any_term(Form::Folded, word.terms.clone())),
        [first, ..] => {
            let start = first.position;
            let words =
                words.iter().map(|word| (word.position - start, word.terms.clone())).collect();
            Some(Clause::Phrase { words, boost: 1.0 })
        }
    }
}

/// A prefix is looked for among exact spellings, since a stem may be shorter than what was typed.
fn prefix(start: &str) -> Clause {
    Clause::prefix(Form::Exact, text::exact(start))
}

/// Keyword attributes are compared as they are written, numbers as numbers.
fn field(name: &str, value: &str) -> Filter {
    let mut either = vec![Filter::equals(name, value)];
    if let Ok(number) = value.parse::<i64>() {
        either.push(Filter::range(name, number..=number));
    }
    // The value of a file ending is kept with its dot.
    if !value.starts_with('.') {
        either.push(Filter::equals(name, format!(".{value}")));
    }
    Filter::Or(either)
}
