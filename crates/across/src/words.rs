//! How well a short text fits a question by its words, on the scale of every other score.

use model::{Score, Span};
use text::{
    Analyzer, Language, LanguageSet, QueryWord, Scratch, TokenKind, detect_language, shown_language,
};

/// Words of a question that count at most.
const MAX_WORDS: usize = 64;

/// Two words of the question follow each other in a text when no more characters than these
/// are between them.
const MAX_GAP_CHARS: usize = 8;

/// The words of a question that say what it is about.
pub(crate) struct Words(Vec<QueryWord>);

/// What the words say of a text.
pub(crate) struct Fit {
    pub(crate) score: Score,
    /// The part of the question's worth whose words are in the text.
    pub(crate) coverage: f64,
    /// The words of the question that are in the text.
    pub(crate) found: Vec<String>,
}

impl Words {
    /// Takes a question apart.
    pub(crate) fn of(query: &str) -> Self {
        // A query of a few words shows no language: what is small in another one is a word here.
        let language = shown_language(query).unwrap_or(Language::English);
        let mut words = Analyzer::new().analyze_query(query, LanguageSet::all());
        words.retain(|word| {
            word.kind.is_sequential()
                && word.kind != TokenKind::Character
                && !text::is_small_word_of(&word.folded, language)
        });
        words.truncate(MAX_WORDS);
        Words(words)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Gives the longest words as they may be inside a text, without their endings, with
    /// their positions.
    pub(crate) fn longest(&self, limit: usize) -> Vec<(usize, String)> {
        let mut roots: Vec<(usize, String)> = self.0.iter().map(root_of).enumerate().collect();
        roots.sort_by_key(|(idx, root)| (std::cmp::Reverse(root.chars().count()), *idx));
        let mut seen = std::collections::HashSet::new();
        roots.retain(|(_, root)| seen.insert(root.clone()));
        roots.truncate(limit);
        roots
    }

    /// Says of each word whether a text has it, in any form.
    pub(crate) fn are_in(&self, text: &str) -> Vec<bool> {
        let matches =
            Analyzer::new().matches(&self.0, text, detect_language(text), &mut Scratch::new());
        let mut are_in = vec![false; self.0.len()];
        for found in &matches {
            are_in[found.word_idx] = true;
        }
        are_in
    }

    /// Judges a text. `worth` is what each word is worth.
    pub(crate) fn fit(&self, worth: &[f64], text: &str) -> Fit {
        let matches =
            Analyzer::new().matches(&self.0, text, detect_language(text), &mut Scratch::new());
        let mut spans: Vec<Vec<Span>> = vec![vec![]; self.0.len()];
        for found in &matches {
            spans[found.word_idx].push(found.chars);
        }
        let total: f64 = worth.iter().sum();
        let is_in = |idx: &usize| !spans[*idx].is_empty();
        let held: f64 = (0..self.0.len()).filter(is_in).map(|idx| worth[idx]).sum();
        let coverage = if total > 0.0 { held / total } else { 0.0 };
        let found = (0..self.0.len()).filter(is_in).map(|idx| self.0[idx].exact.clone()).collect();
        let score = retrieve::relevance_by_words(coverage, proximity(&spans, worth), self.0.len());
        Fit { score, coverage, found }
    }
}

/// The longest part of a word that all its spellings begin with.
fn root_of(word: &QueryWord) -> String {
    let stems = word.terms.iter().filter(|term| word.exact.starts_with(term.as_str()));
    stems.min_by_key(|term| term.len()).unwrap_or(&word.exact).clone()
}

/// Gives the part of neighbouring words that are neighbours in the text, each pair weighed by
/// its less rare word.
fn proximity(spans: &[Vec<Span>], worth: &[f64]) -> f64 {
    let (mut held, mut total) = (0.0, 0.0);
    for first in 0..spans.len().saturating_sub(1) {
        let weight = worth[first].min(worth[first + 1]);
        total += weight;
        let is_near = spans[first].iter().any(|one| {
            let follows =
                |other: &&Span| other.start > one.start && other.start <= one.end + MAX_GAP_CHARS;
            spans[first + 1].iter().any(|other| follows(&other))
        });
        if is_near {
            held += weight;
        }
    }
    if total > 0.0 { held / total } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_hold_more_of_the_question_score_higher() {
        let words = Words::of("Which flights did the blue jets have?");
        let worth = vec![1.0; words.len()];
        let score = |text: &str| words.fit(&worth, text).score.get();
        assert!(score("flights of the Blue Jet airline") > score("flights of the Red Kite"));
        assert!(score("flights of the Red Kite") > score("a cake recipe"));
        assert!(score("a cake recipe") < 0.01);
    }

    #[test]
    fn roots_are_found_inside_other_forms() {
        let roots: Vec<String> = Words::of("castles and airlines")
            .longest(5)
            .into_iter()
            .map(|(_, root)| root)
            .collect();
        assert!(roots.iter().all(|root| "castle airline".contains(root.as_str())), "{roots:?}");
        assert_eq!(roots.len(), 2);
        assert!(Words::of("the of and").is_empty());
        // Small words of other languages are things.
        for (query, n_words) in
            [("van hire", 2), ("hat", 1), ("wie ist der Vertrag mit der Firma", 2)]
        {
            assert_eq!(Words::of(query).len(), n_words, "{query}");
        }
    }
}
