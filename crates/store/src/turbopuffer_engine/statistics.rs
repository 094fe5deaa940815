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
        let counted: Vec<Counted> = terms
            .iter()
            .map(|(form, term)| Counted {
                field: Field::Text,
                form: *form,
                terms: vec![term.clone()],
                is_prefix: false,
            })
            .collect();
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
        let statistics = words::read_statistics(&results, counted.clone());
        let count = |((form, term), counted): (&(Form, String), &Counted)| TermCount {
            form: *form,
            term: term.clone(),
            n_passages: statistics.holding.get(counted).map_or(0, |n_holding| *n_holding as u64),
        };
        Ok(TermStatistics {
            n_passages: statistics.n_passages as u64,
            mean_length: statistics.mean_text,
            terms: terms.iter().zip(&counted).map(count).collect(),
        })
    }
}
