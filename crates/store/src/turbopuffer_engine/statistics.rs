//! What BM25 needs to know about index terms, counted by turbopuffer.

use model::{Deadline, NamespaceId};

use super::client::QUESTION_LIMIT;
use super::engine::TurbopufferEngine;
use super::words;
use crate::remote::{Counted, Field};
use crate::{Error, Form, Result, TermCount, TermStatistics};

impl TurbopufferEngine {
    /// Counts terms in one request.
    pub(super) fn count_terms(
        &self,
        namespace: &NamespaceId,
        terms: &[(Form, String)],
    ) -> Result<TermStatistics> {
        let view = self.namespace_of(namespace)?.view();
        let of = |field: Field, (form, term): &(Form, String)| Counted {
            field,
            form: *form,
            terms: vec![term.clone()],
            is_prefix: false,
        };
        let in_field = |field: Field| terms.iter().map(move |term| of(field, term));
        let counted: Vec<Counted> = in_field(Field::Text).chain(in_field(Field::Title)).collect();
        let mut queries = vec![words::totals()];
        queries.extend(counted.iter().map(words::count_of));
        let deadline = Deadline::after(QUESTION_LIMIT);
        let answered = match &view.name {
            Some(name) if !view.attributes.is_empty() => self.client.ask(name, &queries, &deadline),
            _ => Ok(vec![]),
        };
        let results = match answered {
            Err(Error::EngineMissing { .. }) => vec![],
            answered => answered?,
        };
        let statistics = words::read_statistics(&results, counted);
        let n_holding = |field: Field, term: &(Form, String)| {
            statistics.holding.get(&of(field, term)).map_or(0, |n_holding| *n_holding as u64)
        };
        let count = |term: &(Form, String)| TermCount {
            form: term.0,
            term: term.1.clone(),
            n_passages: n_holding(Field::Text, term).max(n_holding(Field::Title, term)),
        };
        Ok(TermStatistics {
            n_passages: statistics.n_passages as u64,
            mean_length: statistics.mean_text,
            terms: terms.iter().map(count).collect(),
        })
    }
}
