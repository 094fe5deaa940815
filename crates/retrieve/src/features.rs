//! What the words of a query are worth, and how a passage holds them.

use std::cell::RefCell;
use std::collections::BTreeSet;

use model::Span;
use store::{Form, Store, StoredPassage};
use text::{Analyzer, Language, Match, QueryWord, Scratch, shown_language};

use crate::{Result, Scope};

/// Two words that follow each other in the query do so in the passage when no more characters
/// than these stand between them.
const MAX_GAP_CHARS: usize = 8;

/// The language of a passage is told from this many bytes of its beginning.
const LANGUAGE_SAMPLE_BYTES: usize = 512;

thread_local! {
    /// Kept between queries, since most words of a corpus come again.
    static SCRATCH: RefCell<Scratch> = RefCell::new(Scratch::new());
}

/// How a passage stands to a query, in figures that mean the same for every query.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Features {
    /// BM25.
    pub(crate) bm25: f64,
    /// BM25 as a part of what the words of the query are worth together.
    pub(crate) bm25_share: f64,
    /// The part of the query's worth whose words stand in the passage or its title.
    pub(crate) coverage: f64,
    /// The part of the query's neighbouring words that are neighbours in the passage.
    pub(crate) proximity: f64,
    /// The part of the query's worth whose words stand in the title.
    pub(crate) title: f64,
    /// The cosine of the two vectors, where there are any.
    pub(crate) cosine: Option<f64>,
    /// Late interaction, where there are token vectors.
    pub(crate) late: Option<f64>,
    /// Whether the query and the passage show that they are in different languages.
    pub(crate) is_foreign: bool,
}

/// The words of a query with what each is worth.
pub(crate) struct WeighedWords<'a> {
    words: &'a [QueryWord],
    worth: Vec<f64>,
    total: f64,
    /// The language that the query shows, if it shows one.
    language: Option<Language>,
}

/// What the words alone say of a passage.
#[derive(Debug, Default)]
pub(crate) struct WordEvidence {
    pub(crate) coverage: f64,
    pub(crate) proximity: f64,
    pub(crate) title: f64,
    pub(crate) is_foreign: bool,
    pub(crate) matches: Vec<Match>,
    pub(crate) exact: Vec<String>,
    pub(crate) folded: Vec<String>,
}

impl<'a> WeighedWords<'a> {
    /// Asks the store how rare each word is.
    pub(crate) fn new(
        store: &Store,
        scopes: &[Scope],
        query: &str,
        words: &'a [QueryWord],
    ) -> Result<Self> {
        let terms: Vec<(Form, String)> = words
            .iter()
            .flat_map(|word| word.terms.iter().map(|term| (Form::Folded, term.clone())))
            .collect();
        let mut n_passages = 0.0;
        let mut counts = vec![0.0; terms.len()];
        for scope in scopes {
            let statistics = store.term_statistics(&scope.namespace, &terms)?;
            n_passages += statistics.n_passages as f64;
            for (count, term) in counts.iter_mut().zip(&statistics.terms) {
                *count += term.n_passages as f64;
            }
        }
        let mut counts = counts.into_iter();
        let worth: Vec<f64> = words
            .iter()
            .map(|word| {
                let n_with: f64 = counts.by_ref().take(word.terms.len()).fold(0.0, f64::max);
                (1.0 + (n_passages - n_with + 0.5).max(0.0) / (n_with + 0.5)).ln()
            })
            .collect();
        let total = worth.iter().sum();
        Ok(WeighedWords { words, worth, total, language: shown_language(query) })
    }

    /// Gives a BM25 score as a part of what a passage with every word once would have.
    pub(crate) fn share_of(&self, bm25: f64) -> f64 {
        if self.total > 0.0 { bm25 / self.total } else { 0.0 }
    }

    /// Looks for the words in a passage and its title.
    pub(crate) fn evidence(&self, stored: &StoredPassage) -> WordEvidence {
        SCRATCH.with_borrow_mut(|scratch| self.evidence_with(stored, scratch))
    }

    fn evidence_with(&self, stored: &StoredPassage, scratch: &mut Scratch) -> WordEvidence {
        let analyzer = Analyzer::new();
        let (text, language) = (&stored.passage.text, stored.language);
        // Only a query that shows its language can find another one foreign.
        let shown = self.language.and_then(|_| {
            let end = text.floor_char_boundary(LANGUAGE_SAMPLE_BYTES);
            shown_language(text.get(..end).unwrap_or(text))
        });
        let mut title = stored.title.clone();
        for heading in &stored.passage.headings {
            title.push('\n');
            title.push_str(heading);
        }
        let matches = analyzer.matches(self.words, text, language, scratch);
        let in_title = analyzer.matches(self.words, &title, language, scratch);
        let mut spans: Vec<Vec<Span>> = vec![vec![]; self.words.len()];
        for found in &matches {
            spans[found.word_idx].push(found.chars);
        }
        let title_words: BTreeSet<usize> = in_title.iter().map(|found| found.word_idx).collect();
        let worth_of = |is_in: &dyn Fn(usize) -> bool| -> f64 {
            let held = (0..self.words.len()).filter(|idx| is_in(*idx));
            let sum: f64 = held.map(|idx| self.worth[idx]).sum();
            if self.total > 0.0 { sum / self.total } else { 0.0 }
        };
        let (exact, folded) = self.spellings(matches.iter().chain(&in_title));
        WordEvidence {
            coverage: worth_of(&|idx| !spans[idx].is_empty() || title_words.contains(&idx)),
            title: worth_of(&|idx| title_words.contains(&idx)),
            proximity: self.proximity(&spans),
            is_foreign: is_foreign(self.language, shown),
            matches,
            exact,
            folded,
        }
    }

    /// Gives the part of neighbouring pairs that are neighbours in the passage too, each pair
    /// weighed by its less rare word.
    fn proximity(&self, spans: &[Vec<Span>]) -> f64 {
        let (mut held, mut total) = (0.0, 0.0);
        let sequence: Vec<usize> =
            (0..self.words.len()).filter(|idx| self.words[*idx].kind.is_sequential()).collect();
        for pair in sequence.windows(2) {
            let &[first, second] = pair else { continue };
            let weight = self.worth[first].min(self.worth[second]);
            total += weight;
            let is_near = spans[first].iter().any(|one| {
                let from = spans[second].partition_point(|other| other.start <= one.start);
                spans[second].get(from).is_some_and(|other| other.start <= one.end + MAX_GAP_CHARS)
            });
            if is_near {
                held += weight;
            }
        }
        if total > 0.0 { held / total } else { 0.0 }
    }

    fn spellings<'m>(
        &self,
        matches: impl Iterator<Item = &'m Match>,
    ) -> (Vec<String>, Vec<String>) {
        let mut exact = BTreeSet::new();
        let mut folded = BTreeSet::new();
        for found in matches {
            let word = &self.words[found.word_idx];
            if found.is_exact {
                exact.insert((found.word_idx, word.exact.clone()));
            } else {
                folded.insert((found.word_idx, format!("{} → {}", word.exact, found.term)));
            }
        }
        folded.retain(|(word_idx, _)| !exact.iter().any(|(other, _)| other == word_idx));
        let texts =
            |set: BTreeSet<(usize, String)>| set.into_iter().map(|(_, text)| text).collect();
        (texts(exact), texts(folded))
    }
}

/// Tells whether a passage shows another language than the query's. Chinese and Japanese count as
/// one here: a query of a few characters can be either.
fn is_foreign(query: Option<Language>, passage: Option<Language>) -> bool {
    let (Some(query), Some(passage)) = (query, passage) else { return false };
    let one_of_han = |language| matches!(language, Language::Chinese | Language::Japanese);
    passage != query && !(one_of_han(passage) && one_of_han(query))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_is_foreign_when_both_sides_show_theirs() {
        let english = "The committee met on the first day of the month to agree on the plan.";
        let check = |query: &str, expected: bool| {
            let found = is_foreign(shown_language(query), shown_language(english));
            assert_eq!(found, expected, "{query}");
        };
        check("委員会はいつ集まりましたか", true);
        check("Când s-a întrunit comitetul pentru a stabili planul și cine a fost acolo?", true);
        check("When did the committee meet, and what was it about?", false);
        check("committee plan", false);
        assert!(!is_foreign(Some(Language::Japanese), Some(Language::Chinese)));
    }
}
