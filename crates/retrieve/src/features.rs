//! The evidence for a pair of query and passage, in figures that mean the same for every query.
//!
//! Each figure is a function of the query, the passage and, for the rarity of words, the term
//! statistics of the passage's namespace. Nothing here sees another candidate.

use serde::{Deserialize, Serialize};

use crate::coefficients::coefficients;

/// What the words of the query say of a passage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct WordFigures {
    /// The part of the query's worth whose words are in the passage or its title.
    pub coverage: f64,
    /// BM25 as a part of what the query could reach.
    pub bm25_share: f64,
    /// The part of the query's neighbouring words that are neighbours in the passage.
    pub proximity: f64,
    /// The part of the query's worth whose words are in the title or a heading.
    pub title: f64,
    /// The part of the title whose words are in the query.
    pub title_covered: f64,
    /// How many rare words' worth of the query is in the passage.
    pub matched: f64,
    /// Whether the rarest word of the query is in the passage: its share of the rarity.
    pub rarest: f64,
    /// How many rare words' worth the query has.
    pub content: f64,
    /// The part of the query's words that only hold sentences together.
    pub function_share: f64,
    /// How many passages the namespace has, as ln(1 + n): the more there are, the nearer the
    /// nearest of them comes by chance.
    pub ln_passages: f64,
}

/// All evidence for a pair; what was not gathered is absent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// By words: always there.
    pub words: WordFigures,
    /// How much nearer the passage's vector is than unrelated text, in deviations.
    pub vector: Option<f64>,
    /// The same for late interaction.
    pub late: Option<f64>,
    /// Tokens of the passage that late interaction looked at.
    pub n_tokens: usize,
    /// What a cross-encoder said, 0 to 1.
    pub cross_encoder: Option<f64>,
    /// Whether query and passage are in different languages: both show theirs, or the model tells.
    pub is_foreign: bool,
}

/// Which kinds of evidence there are: each has coefficients of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceKind {
    /// Words alone.
    Words,
    /// Words and the passage's vector.
    Vector,
    /// Words, the passage's vector and its token vectors.
    Tokens,
}

impl EvidenceKind {
    /// All kinds, from the least evidence to the most.
    pub const ALL: [EvidenceKind; 3] =
        [EvidenceKind::Words, EvidenceKind::Vector, EvidenceKind::Tokens];

    /// Gives how many of the figures, the first ones, are of the query alone.
    pub const N_OF_QUERY: usize = QUERY_NAMES.len();

    /// Gives what each of the figures weighs in the score, in order.
    pub fn coefficients(self) -> &'static [f64] {
        coefficients(self)
    }

    /// Gives the names of the figures that this kind is judged by, in order.
    pub fn names(self) -> Vec<&'static str> {
        let mut names = [&QUERY_NAMES[..], &WORD_NAMES[..]].concat();
        match self {
            EvidenceKind::Words => names.push("coverage × ln content"),
            EvidenceKind::Vector => {
                names.extend(VECTOR_NAMES);
                names.push("vector × uncovered");
            }
            EvidenceKind::Tokens => {
                names.extend(VECTOR_NAMES);
                names.extend(["late", "late × uncovered"]);
            }
        }
        names
    }
}

/// Deviations beyond these do not count more where the words are missing.
const MAX_UNCOVERED: f64 = 6.0;

/// Beyond this part of function words a query has no subject.
const MAX_FUNCTION_SHARE: f64 = 0.65;

/// Beyond this part it has nothing else: not even all of it in a passage makes that an answer.
const NOTHING_ELSE: f64 = 0.85;

/// How much more each part beyond that weighs.
const NOTHING_ELSE_WEIGHT: f64 = 8.0;

/// What only the query and the namespace say: it moves the level of all candidates in a namespace
/// and never their order.
const QUERY_NAMES: [&str; 6] =
    ["one", "ln content", "short", "function_share", "function_share over", "ln passages"];

/// Where the number of passages is among the figures.
pub(crate) const LN_PASSAGES: usize = 5;

const WORD_NAMES: [&str; 8] = [
    "coverage",
    "bm25_share",
    "bm25_share × ln content",
    "proximity",
    "title",
    "title_covered",
    "title × title_covered",
    "rarest",
];

const VECTOR_NAMES: [&str; 3] = ["vector", "foreign × vector", "foreign"];

impl Evidence {
    /// Tells which coefficients judge this evidence.
    pub fn kind(&self) -> EvidenceKind {
        match (self.vector, self.late) {
            (Some(_), Some(_)) => EvidenceKind::Tokens,
            (Some(_), None) => EvidenceKind::Vector,
            (None, _) => EvidenceKind::Words,
        }
    }

    /// Gives the figures that a kind is judged by, in the order of [`EvidenceKind::names`].
    pub fn figures(&self, kind: EvidenceKind) -> Vec<f64> {
        let words = &self.words;
        let content = words.content.ln_1p();
        let mut figures = vec![
            1.0,
            content,
            1.0 / (1.0 + words.content),
            words.function_share,
            (words.function_share - MAX_FUNCTION_SHARE).max(0.0)
                + NOTHING_ELSE_WEIGHT * (words.function_share - NOTHING_ELSE).max(0.0),
            words.ln_passages,
            words.coverage,
            words.bm25_share,
            words.bm25_share * content,
            words.proximity,
            words.title,
            words.title_covered,
            words.title * words.title_covered,
            words.rarest,
        ];
        // Where words say little, because the languages differ or other words were chosen, vectors
        // say more. Bounded, so that one more word in a passage always outweighs it.
        let uncovered = 1.0 - words.coverage.clamp(0.0, 1.0);
        // A name or a code that the passage has is the same in every language, and of a query that
        // has no subject the model cannot tell the language.
        let is_foreign = self.is_foreign && words.function_share <= MAX_FUNCTION_SHARE;
        let foreign = if is_foreign { uncovered } else { 0.0 };
        let vector = self.vector.unwrap_or(0.0);
        let late = self.late.unwrap_or(0.0);
        if kind >= EvidenceKind::Vector {
            figures.extend([vector, foreign * vector.min(MAX_UNCOVERED), foreign]);
        }
        match kind {
            EvidenceKind::Words => figures.push(words.coverage * content),
            EvidenceKind::Vector => figures.push(vector.min(MAX_UNCOVERED) * uncovered),
            EvidenceKind::Tokens => figures.extend([late, late.min(MAX_UNCOVERED) * uncovered]),
        }
        figures
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_a_passage_has_are_in_no_foreign_language() {
        let foreign = |coverage: f64, function_share: f64| -> f64 {
            let words = WordFigures { coverage, function_share, ..WordFigures::default() };
            let evidence =
                Evidence { words, vector: Some(1.0), is_foreign: true, ..Evidence::default() };
            let names = EvidenceKind::Vector.names();
            let at = names.iter().position(|name| *name == "foreign").unwrap();
            evidence.figures(EvidenceKind::Vector)[at]
        };
        assert_eq!([foreign(0.0, 0.0), foreign(0.75, 0.0), foreign(1.0, 0.0)], [1.0, 0.25, 0.0]);
        assert_eq!(foreign(0.0, 0.9), 0.0);
    }

    #[test]
    fn a_query_of_nothing_but_function_words_is_no_subject_by_far() {
        let over = |function_share: f64| -> f64 {
            let words = WordFigures { function_share, ..WordFigures::default() };
            Evidence { words, ..Evidence::default() }.figures(EvidenceKind::Words)[LN_PASSAGES - 1]
        };
        assert_eq!([over(0.5), over(0.65)], [0.0, 0.0]);
        assert!((over(0.75) - 0.1).abs() < 1e-9);
        assert!(over(0.88) > 0.4);
    }

    #[test]
    fn every_figure_has_a_name() {
        assert_eq!(QUERY_NAMES[LN_PASSAGES], "ln passages");
        for kind in EvidenceKind::ALL {
            assert_eq!(Evidence::default().figures(kind).len(), kind.names().len());
        }
    }
}
