//! A question in index terms: which words should, must and must not be in a passage.

use crate::{Error, Result, limits};

/// The two numbers of BM25.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bm25 {
    /// How fast repetition stops to count.
    pub k1: f32,
    /// How much a long passage is held against it, 0 to 1.
    pub b: f32,
}

impl Bm25 {
    /// The numbers that fit passages of a few hundred characters.
    pub const PASSAGES: Bm25 = Bm25 { k1: 0.9, b: 0.4 };
    /// The numbers of the knowledge pipeline.
    pub const KNOWLEDGE: Bm25 = Bm25 { k1: 1.5, b: 0.75 };
}

/// Which form of a word an index term is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Form {
    /// As it is written, lower case.
    Exact,
    /// Folded and stemmed.
    Folded,
}

/// One part of a question. The texts are index terms: the analyser of the namespace made them.
#[derive(Debug, Clone, PartialEq)]
pub enum Clause {
    /// One word under any of the terms that it may be indexed under, counted together as if
    /// they were one term.
    Word {
        /// The form that is looked for.
        form: Form,
        /// The index terms, any of which is this word.
        terms: Vec<String>,
        /// What its score is multiplied by.
        boost: f32,
    },
    /// Words in their folded form that are together, each at its distance from the first.
    Phrase {
        /// Offsets and, for each, the index terms any of which may be there.
        words: Vec<(u32, Vec<String>)>,
        /// What its score is multiplied by.
        boost: f32,
    },
    /// Every word that starts with a text, counted together as if it were one word.
    Prefix {
        /// The form that is looked for.
        form: Form,
        /// The start of the index term.
        prefix: String,
        /// What its score is multiplied by.
        boost: f32,
    },
}

impl Clause {
    /// Looks for a word in the given form.
    pub fn term(form: Form, term: impl Into<String>) -> Self {
        Clause::any_term(form, [term])
    }

    /// Looks for a word that may be indexed under several terms.
    pub fn any_term<T: Into<String>>(form: Form, terms: impl IntoIterator<Item = T>) -> Self {
        Clause::Word { form, terms: terms.into_iter().map(Into::into).collect(), boost: 1.0 }
    }

    /// Looks for folded words that follow each other.
    pub fn phrase<T: Into<String>>(terms: impl IntoIterator<Item = T>) -> Self {
        let words = (0..).zip(terms.into_iter().map(|term| vec![term.into()])).collect();
        Clause::Phrase { words, boost: 1.0 }
    }

    /// Looks for every word with the given start.
    pub fn prefix(form: Form, prefix: impl Into<String>) -> Self {
        Clause::Prefix { form, prefix: prefix.into(), boost: 1.0 }
    }

    /// Gives what its score is multiplied by, never less than nothing.
    pub fn boost(&self) -> f32 {
        match self {
            Clause::Word { boost, .. }
            | Clause::Phrase { boost, .. }
            | Clause::Prefix { boost, .. } => boost.max(0.0),
        }
    }

    /// Tells whether any passage could match: a clause without words matches none, and so does a
    /// phrase with a place at which no word may be. The empty prefix is the start of every word.
    pub fn can_match(&self) -> bool {
        match self {
            Clause::Word { terms, .. } => !terms.is_empty(),
            Clause::Phrase { words, .. } => {
                !words.is_empty() && words.iter().all(|(_, terms)| !terms.is_empty())
            }
            Clause::Prefix { .. } => true,
        }
    }

    /// Weighs the clause.
    #[must_use]
    pub fn boosted(mut self, by: f32) -> Self {
        match &mut self {
            Clause::Word { boost, .. }
            | Clause::Phrase { boost, .. }
            | Clause::Prefix { boost, .. } => *boost = by,
        }
        self
    }
}

/// A question by words.
///
/// A passage is found when every `must` clause and no `must_not` clause matches it and, where
/// there is no `must` clause, at least one `should` clause does. A clause matches in the text or
/// in the title (which includes the headings above the passage). The score is the sum over the
/// matching `should` and `must` clauses of `boost × (BM25 in the text + title_boost × BM25 in
/// the title)`.
#[derive(Debug, Clone, PartialEq)]
pub struct WordsQuery {
    /// Clauses that raise the score.
    pub should: Vec<Clause>,
    /// Clauses that have to match, and raise the score.
    pub must: Vec<Clause>,
    /// Clauses that must not match.
    pub must_not: Vec<Clause>,
    /// The numbers of BM25.
    pub bm25: Bm25,
    /// What a match in the title counts against one in the text; 0 leaves titles out.
    pub title_boost: f32,
}

impl WordsQuery {
    /// Starts an empty question.
    pub fn new(bm25: Bm25, title_boost: f32) -> Self {
        WordsQuery { should: vec![], must: vec![], must_not: vec![], bm25, title_boost }
    }

    /// Asks for any of the words of a plain text: their folded forms in any language, and with
    /// a weight of their own their exact forms, so that the same spelling ranks first.
    pub fn from_text(text: &str, bm25: Bm25, title_boost: f32, exact_boost: f32) -> Self {
        let mut query = WordsQuery::new(bm25, title_boost);
        for word in crate::analysis::query_words(text) {
            if exact_boost > 0.0 {
                query.should.push(Clause::term(Form::Exact, word.exact).boosted(exact_boost));
            }
            query.should.push(Clause::any_term(Form::Folded, word.terms));
        }
        query.should.truncate(limits::MAX_QUERY_TERMS);
        query
    }

    /// Tells whether any passage could be found: one that every `must` clause matches.
    pub fn can_match(&self) -> bool {
        match self.must.is_empty() {
            true => self.should.iter().any(Clause::can_match),
            false => self.must.iter().all(Clause::can_match),
        }
    }

    /// Checks that the question stays inside the limits.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`] when there are too many terms in all clauses together.
    pub fn check(&self) -> Result<()> {
        let n_terms: usize = [&self.should, &self.must, &self.must_not]
            .into_iter()
            .flatten()
            .map(|clause| match clause {
                Clause::Word { terms, .. } => terms.len(),
                Clause::Phrase { words, .. } => words.iter().map(|(_, terms)| terms.len()).sum(),
                Clause::Prefix { .. } => 1,
            })
            .sum();
        if n_terms > limits::MAX_QUERY_TERMS {
            return Err(Error::TooLarge {
                what: "the number of terms of a query",
                received: n_terms,
                allowed: limits::MAX_QUERY_TERMS,
            });
        }
        Ok(())
    }
}
