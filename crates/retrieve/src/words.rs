//! What the words of a query are worth, and how a passage holds them.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use model::Span;
use store::{Form, Store, StoredPassage};
use text::{
    Analyzer, Language, LanguageSet, Match, QueryWord, Scratch, TokenKind, WantedWords,
    content_weight, detect_language, shown_language,
};

use crate::features::WordFigures;
use crate::question::{Question, TermsByLanguage, language_of};
use crate::snippet::WordMatch;
use crate::{Result, Scope};

/// Two words that follow each other in the query do so in the passage when no more characters
/// than these are between them.
const MAX_GAP_CHARS: usize = 8;

/// The language of a passage is told from this many bytes of its beginning.
const LANGUAGE_SAMPLE_BYTES: usize = 512;

/// What a pair of characters counts that no passage has and that shares a character with one that
/// some passage has: in a script without spaces it is most often the end of one word and the
/// beginning of the next, which nobody asked for.
const ACROSS_WORDS: f64 = 0.3;

/// How fast repetition stops to count; passages of a few hundred characters.
const K1: f64 = 0.9;
/// How much a long passage is held against it.
const B: f64 = 0.4;

thread_local! {
    /// Kept between queries, since most words of a corpus come again.
    static SCRATCH: RefCell<Scratch> = RefCell::new(Scratch::new());
}

/// The words of a query with what each is worth in one namespace.
pub(crate) struct WeighedWords<'a> {
    words: &'a [QueryWord],
    /// With their terms in the language of each passage.
    wanted: BTreeMap<Language, WantedWords<'a>>,
    usual: WantedWords<'a>,
    /// Rarity in the namespace times what the word says at all.
    worth: Vec<f64>,
    /// The same as a part of what the rarest word would be worth.
    rarity: Vec<f64>,
    total: f64,
    mean_length: f64,
    function_share: f64,
    ln_passages: f64,
    /// How like the words are to those that were typed.
    likeness: f64,
    /// The language that the query shows, if it shows one.
    language: Option<Language>,
}

/// What the words alone say of a passage.
#[derive(Debug, Default)]
pub(crate) struct WordEvidence {
    pub(crate) figures: WordFigures,
    pub(crate) is_foreign: bool,
    pub(crate) matches: Vec<Match>,
    pub(crate) exact: Vec<String>,
    pub(crate) folded: Vec<String>,
}

impl<'a> WeighedWords<'a> {
    /// Asks the store how rare each word is in the namespace of a scope, whose documents are in
    /// `languages`. Passages in the languages of `wanted` are going to be looked at.
    pub(crate) fn new(
        store: &Store,
        scope: &Scope,
        languages: LanguageSet,
        question: &Question,
        terms: &'a TermsByLanguage<'_>,
        wanted: &BTreeSet<Language>,
    ) -> Result<Self> {
        let (query, words) = (question.plain.as_str(), terms.of(languages));
        let prepared = |language: &Language| {
            (*language, WantedWords::of(terms.of(LanguageSet::from_iter([*language]))))
        };
        let wanted = wanted.iter().map(prepared).collect();
        let counted: Vec<(Form, String)> = words
            .iter()
            .flat_map(|word| word.terms.iter().map(|term| (Form::Folded, term.clone())))
            .collect();
        let statistics = store.term_statistics(&scope.namespace, &counted)?;
        let n_passages = statistics.n_passages as f64;
        let rarity_of = |n_with: f64| rarity(n_passages, n_with);
        let most = rarity_of(0.0).max(f64::MIN_POSITIVE);
        let (language, usual) = (language_of(query, words, languages), detect_language(query));
        let mut counts = statistics.terms.iter().map(|term| term.n_passages as f64);
        let n_with: Vec<f64> = words
            .iter()
            .map(|word| counts.by_ref().take(word.terms.len()).fold(0.0, f64::max))
            .collect();
        let weights =
            |word: &QueryWord| (content_weight(word, language), content_weight(word, usual));
        let is_in_doubt = |(idx, word): &(usize, &QueryWord)| {
            let (weight, as_usual) = weights(word);
            as_usual < weight && n_with[*idx] > 0.0 && !languages.contains(usual)
        };
        let doubtful = words.iter().enumerate().filter(is_in_doubt);
        let unwritten = unwritten(store, scope, doubtful)?;
        let (mut worth, mut rarity) = (Vec::new(), Vec::new());
        let mut n_content = 0.0;
        for (idx, word) in words.iter().enumerate() {
            let (mut weight, as_usual) = weights(word);
            // A word that no passage has is what it usually is: `the` over German documents. So is
            // one of another language whose stem alone some passage has: `any` over Romanian ones,
            // where it is cut to the word for a year.
            if as_usual < weight && (n_with[idx] == 0.0 || unwritten.contains(&idx)) {
                weight = as_usual;
            }
            n_content += weight;
            if is_across_words(words, &n_with, idx) {
                weight *= ACROSS_WORDS;
            }
            worth.push(rarity_of(n_with[idx]) * weight);
            rarity.push(rarity_of(n_with[idx]) / most * weight);
        }
        let total = worth.iter().sum();
        let function_share =
            if words.is_empty() { 1.0 } else { 1.0 - n_content / words.len() as f64 };
        Ok(WeighedWords {
            words,
            wanted,
            usual: WantedWords::of(words),
            worth,
            rarity,
            total,
            mean_length: statistics.mean_length,
            function_share,
            ln_passages: n_passages.ln_1p(),
            likeness: question.likeness,
            language: shown_language(query),
        })
    }

    /// Gives a BM25 score of the index as a part of what the query could reach there, 0 to 1.
    pub(crate) fn share_of(&self, bm25: f64, k1: f64) -> f64 {
        let most = self.total * (k1 + 1.0);
        if most > 0.0 { (bm25 / most).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Gives words of the query in a passage with what each is worth.
    pub(crate) fn found(&self, matches: &[Match]) -> Vec<WordMatch> {
        let found = |one: &Match| WordMatch {
            word_idx: one.word_idx,
            chars: one.chars,
            worth: self.worth.get(one.word_idx).copied().unwrap_or_default(),
        };
        matches.iter().map(found).collect()
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
        let wanted = self.wanted.get(&language).unwrap_or(&self.usual);
        let (matches, n_tokens) = analyzer.matches_and_length(wanted, text, language, scratch);
        let (in_title, _) = analyzer.matches_and_length(wanted, &title, language, scratch);
        let mut spans: Vec<Vec<Span>> = vec![vec![]; self.words.len()];
        let mut frequency = vec![0.0; self.words.len()];
        for found in &matches {
            spans[found.word_idx].push(found.chars);
            frequency[found.word_idx] += 1.0;
        }
        let mut is_in_title = vec![false; self.words.len()];
        for found in &in_title {
            is_in_title[found.word_idx] = true;
            frequency[found.word_idx] += 1.0;
        }
        // A word that was put in the place of a typed one counts as much as it is like it.
        let part = |sum: f64| if self.total > 0.0 { self.likeness * sum / self.total } else { 0.0 };
        let sum_of = |values: &[f64], is_in: &dyn Fn(usize) -> bool| -> f64 {
            (0..values.len()).filter(|idx| is_in(*idx)).map(|idx| values[idx]).sum()
        };
        let is_found = |idx: usize| frequency[idx] > 0.0;
        let length = n_tokens as f64 / self.mean_length.max(1.0);
        let norm = K1 * (1.0 - B + B * length);
        let reached: f64 = (0..self.words.len())
            .map(|idx| self.worth[idx] * frequency[idx] / (frequency[idx] + norm))
            .sum();
        let most = self.rarity.iter().copied().fold(0.0, f64::max);
        let most_found = (0..self.words.len())
            .filter(|idx| is_found(*idx))
            .map(|idx| self.rarity[idx])
            .fold(0.0, f64::max);
        let (exact, folded) = self.spellings(matches.iter().chain(&in_title));
        WordEvidence {
            figures: WordFigures {
                coverage: part(sum_of(&self.worth, &is_found)),
                bm25_share: part(reached),
                proximity: self.likeness * self.proximity(&spans),
                title: part(sum_of(&self.worth, &|idx| is_in_title[idx])),
                title_covered: self.likeness * covered(&stored.title, &in_title),
                matched: sum_of(&self.rarity, &is_found),
                rarest: if most > 0.0 { self.likeness * most_found / most } else { 0.0 },
                content: self.rarity.iter().sum(),
                function_share: self.function_share,
                ln_passages: self.ln_passages,
            },
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
        matches: impl Iterator<Item = &'m Match> + Clone,
    ) -> (Vec<String>, Vec<String>) {
        let mut is_exact = vec![false; self.words.len()];
        matches.clone().for_each(|found| is_exact[found.word_idx] |= found.is_exact);
        let exact = (self.words.iter().zip(&is_exact))
            .filter(|(_, is_exact)| **is_exact)
            .map(|(word, _)| word.exact.clone());
        let folded: BTreeSet<(usize, &str)> = matches
            .filter(|found| !is_exact[found.word_idx])
            .map(|found| (found.word_idx, found.term.as_str()))
            .collect();
        let folded = folded
            .into_iter()
            .map(|(word_idx, term)| format!("{} → {term}", self.words[word_idx].exact));
        (exact.collect(), folded.collect())
    }
}

/// Gives those of some words, by their places, that no passage of a namespace has as they were typed;
/// all are asked for at once.
fn unwritten<'w>(
    store: &Store,
    scope: &Scope,
    words: impl Iterator<Item = (usize, &'w QueryWord)>,
) -> Result<BTreeSet<usize>> {
    let (places, exact): (Vec<usize>, Vec<(Form, String)>) =
        words.map(|(idx, word)| (idx, (Form::Exact, word.exact.clone()))).unzip();
    if places.is_empty() {
        return Ok(BTreeSet::new());
    }
    let statistics = store.term_statistics(&scope.namespace, &exact)?;
    let counted = places.into_iter().zip(statistics.terms);
    Ok(counted.filter(|(_, term)| term.n_passages == 0).map(|(idx, _)| idx).collect())
}

/// Tells whether a pair of characters lies across two words: no passage has it, and some passage
/// has the pair before or after it, or the word of one character that is in it.
fn is_across_words(words: &[QueryWord], n_with: &[f64], idx: usize) -> bool {
    let overlaps = |other: usize| {
        let (pair, other) = (&words[idx], &words[other]);
        match other.kind {
            TokenKind::Bigram => other.position.abs_diff(pair.position) == 1,
            TokenKind::Character => matches!(other.position.wrapping_sub(pair.position), 0 | 1),
            TokenKind::Word | TokenKind::Compound | TokenKind::Part | TokenKind::Private => false,
        }
    };
    let is_known = |other: usize| n_with[other] > 0.0 && overlaps(other);
    words[idx].kind == TokenKind::Bigram && n_with[idx] == 0.0 && (0..words.len()).any(is_known)
}

/// Gives how rare a word is that so many of all passages have.
pub(crate) fn rarity(n_passages: f64, n_with: f64) -> f64 {
    (1.0 + (n_passages - n_with + 0.5).max(0.0) / (n_with + 0.5)).ln()
}

/// Gives the part of a title's letters that words of the query cover.
fn covered(title: &str, in_title: &[Match]) -> f64 {
    let chars: Vec<char> = title.chars().collect();
    let mut is_covered = vec![false; chars.len()];
    for found in in_title {
        let end = found.chars.end.min(chars.len());
        is_covered.iter_mut().take(end).skip(found.chars.start).for_each(|one| *one = true);
    }
    let letters = || chars.iter().zip(&is_covered).filter(|(char, _)| char.is_alphanumeric());
    let n_covered = letters().filter(|(_, is_covered)| **is_covered).count();
    n_covered as f64 / letters().count().max(1) as f64
}

/// Tells whether a passage shows another language than the query's.
fn is_foreign(query: Option<Language>, passage: Option<Language>) -> bool {
    query.zip(passage).is_some_and(|(query, passage)| are_two(query, passage))
}

/// Tells whether two languages count as two. Chinese and Japanese are one: a query of a few
/// characters can be either.
pub(crate) fn are_two(one: Language, other: Language) -> bool {
    let is_of_han = |language| matches!(language, Language::Chinese | Language::Japanese);
    one != other && !(is_of_han(one) && is_of_han(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_of_characters_beside_a_known_one_lies_across_words() {
        let words = crate::question::words_of("公司的车出了事故", text::LanguageSet::all());
        let spelled: Vec<&str> = words.iter().map(|word| word.exact.as_str()).collect();
        assert_eq!(spelled, ["公司", "司的", "的车", "车出", "出了", "了事", "事故"]);
        let known = |word: &QueryWord| if word.exact == "事故" { 3.0 } else { 0.0 };
        let n_with: Vec<f64> = words.iter().map(known).collect();
        let across: Vec<&str> = (0..words.len())
            .filter(|idx| is_across_words(&words, &n_with, *idx))
            .map(|idx| spelled[idx])
            .collect();
        assert_eq!(across, ["了事"]);
        let words = crate::question::words_of("quarterly report", text::LanguageSet::all());
        let n_with: Vec<f64> = (0..words.len()).map(|idx| idx as f64).collect();
        assert!((0..words.len()).all(|idx| !is_across_words(&words, &n_with, idx)));
    }

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
