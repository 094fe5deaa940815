//! What is asked of a reconciliation, and what it finds.

/// One name of a list, with what else its row says.
#[derive(Debug, Clone, Default)]
pub struct ReconcileQuery {
    /// The name, of which as much is looked up as of any query; blank where properties alone
    /// choose.
    pub text: String,
    /// Categories to look in, all where none is named; one that does not exist for the caller has
    /// no entities.
    pub types: Vec<String>,
    /// Candidates at most; 0 is taken for 1, and more than 50 for 50.
    pub limit: usize,
    /// What the row says: a candidate by name that contradicts it has a lower score.
    pub properties: Vec<WantedProperty>,
}

/// What a property of an entity has to be.
#[derive(Debug, Clone)]
pub struct WantedProperty {
    /// As [`crate::Reconciliation::properties`] names it; an entity that has no such property
    /// contradicts nothing.
    pub name: String,
    /// Texts of which it has one, in any spelling.
    pub values: Vec<String>,
}

/// An entity that may be the one that is meant.
#[derive(Debug, Clone)]
pub struct ReconcileCandidate {
    /// `category/value`, which [`crate::Reconciliation::entity`] takes.
    pub id: String,
    /// Its name in the first language of the dimension.
    pub name: String,
    /// The context that the dimension gives; empty without one.
    pub description: String,
    /// The dimension that it is of.
    pub category: String,
    /// From 0 to 1.
    pub score: f64,
    /// Whether it is sure enough to be taken without asking; true of the first alone.
    pub is_match: bool,
    /// Why it is a candidate.
    pub evidence: ReconcileEvidence,
}

/// Why an entity is a candidate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ReconcileEvidence {
    /// Its name is like the one that was asked for.
    Name {
        /// The score of the name alone, before properties contradict it.
        score: f64,
        /// pg_trgm's measure, which clients know.
        trigram_similarity: f64,
    },
    /// It has every property that was asked for.
    Properties {
        /// How many were asked for.
        n_wanted: usize,
    },
}

/// What a property says; the protocol tells numbers from texts.
#[derive(Debug, Clone, PartialEq)]
pub enum PropertyValue {
    /// A whole number of up to 64 bits, with or without a sign.
    Whole(i128),
    /// Any other number.
    Number(f64),
    /// A text; yes and no are `true` and `false`, for which the protocol has nothing else.
    Text(String),
}

impl PropertyValue {
    /// Gives the text under which it is compared.
    pub(crate) fn folded(&self) -> String {
        match self {
            PropertyValue::Whole(number) => text::fold(&number.to_string()),
            PropertyValue::Number(number) => text::fold(&number.to_string()),
            PropertyValue::Text(value) => text::fold(value),
        }
    }
}
