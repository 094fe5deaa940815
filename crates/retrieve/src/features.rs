//! The evidence for a pair of query and passage, in figures that mean the same for every query.
//!
//! Each figure is a function of the query, the passage and, for the rarity of words, the term
//! statistics of the passage's namespace. Nothing here sees another candidate.

use serde::{Deserialize, Serialize};

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
    /// Whether query and passage show that they are in different languages.
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

    /// Gives the names of the figures that this kind is judged by, in order.
    pub fn names(self) -> Vec<&'static str> {
        let mut names = WORD_NAMES.to_vec();
        if self >= EvidenceKind::Vector {
            names.extend(VECTOR_NAMES);
        }
        if self >= EvidenceKind::Tokens {
            names.extend(TOKEN_NAMES);
        }
        names
    }
}

const WORD_NAMES: [&str; 14] = [
    "one",
    "coverage",
    "half covered",
    "bm25_share",
    "proximity",
    "title",
    "title_covered",
    "title × title_covered",
    "ln matched",
    "rarest",
    "ln content",
    "coverage × ln content",
    "function_share",
    "bm25_share × ln content",
];

const VECTOR_NAMES: [&str; 6] = [
    "vector",
    "vector over 2",
    "vector × coverage",
    "foreign",
    "foreign × vector",
    "vector × short",
];

const TOKEN_NAMES: [&str; 5] =
    ["late", "late over 2", "foreign × late", "ln tokens", "late × short"];

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
            words.coverage,
            (words.coverage - 0.5).max(0.0),
            words.bm25_share,
            words.proximity,
            words.title,
            words.title_covered,
            words.title * words.title_covered,
            words.matched.ln_1p(),
            words.rarest,
            content,
            words.coverage * content,
            words.function_share,
            words.bm25_share * content,
        ];
        let foreign = f64::from(u8::from(self.is_foreign));
        // A query of one or two words has a vector that says less.
        let short = 1.0 / (1.0 + words.content);
        if kind >= EvidenceKind::Vector {
            let vector = self.vector.unwrap_or(0.0);
            figures.extend([
                vector,
                (vector - 2.0).max(0.0),
                vector * words.coverage,
                foreign,
                foreign * vector,
                vector * short,
            ]);
        }
        if kind >= EvidenceKind::Tokens {
            let late = self.late.unwrap_or(0.0);
            let tokens = (self.n_tokens.max(1) as f64).ln() - 4.5;
            figures.extend([late, (late - 2.0).max(0.0), foreign * late, tokens, late * short]);
        }
        figures
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_has_a_name() {
        for kind in EvidenceKind::ALL {
            assert_eq!(Evidence::default().figures(kind).len(), kind.names().len());
        }
    }
}
