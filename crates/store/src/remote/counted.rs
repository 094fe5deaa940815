//! What has to be counted in a namespace to weigh the clauses of a question.

use crate::{Clause, Form, WordsQuery};

/// Where words are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    /// The text of the passage.
    Text,
    /// The title of the document and the headings above the passage.
    Title,
}

/// Words whose passages are counted together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Counted {
    /// Where they are looked for.
    pub field: Field,
    /// The form that is looked for.
    pub form: Form,
    /// The index terms, any of which counts; of a prefix the prefix alone.
    pub terms: Vec<String>,
    /// Whether every word counts that starts with the term.
    pub is_prefix: bool,
}

impl Counted {
    /// Gives what has to be counted to weigh a clause in a field; a phrase weighs what its parts
    /// weigh together.
    pub fn of(clause: &Clause, field: Field) -> Vec<Self> {
        let any = |form: Form, terms: &[String]| Counted {
            field,
            form,
            terms: terms.to_vec(),
            is_prefix: false,
        };
        match clause {
            Clause::Word { form, terms, .. } => vec![any(*form, terms)],
            Clause::Phrase { words, .. } => {
                words.iter().map(|(_, terms)| any(Form::Folded, terms)).collect()
            }
            Clause::Prefix { form, prefix, .. } => {
                vec![Counted { is_prefix: true, ..any(*form, std::slice::from_ref(prefix)) }]
            }
        }
    }
}

/// Gives everything that has to be counted to score passages, each once and in order.
pub fn counted_in(query: &WordsQuery) -> Vec<Counted> {
    let fields = fields_of(query);
    let mut counted: Vec<Counted> = query
        .must
        .iter()
        .chain(&query.should)
        .flat_map(|clause| fields.iter().flat_map(|(field, _)| Counted::of(clause, *field)))
        .filter(|counted| !counted.terms.is_empty())
        .collect();
    counted.sort();
    counted.dedup();
    counted
}

/// Gives the fields that a question looks into, with their weights.
pub fn fields_of(query: &WordsQuery) -> Vec<(Field, f64)> {
    let mut fields = vec![(Field::Text, 1.0)];
    if query.title_boost > 0.0 {
        fields.push((Field::Title, f64::from(query.title_boost)));
    }
    fields
}
