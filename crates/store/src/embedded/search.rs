//! Searches: a snapshot of the indexes gives numbers and scores, the catalogue gives them names.

use std::sync::Arc;

use model::{Deadline, NamespaceId};

use super::engine::EmbeddedEngine;
use super::snapshot::Snapshot;
use crate::contract::check_limit;
use crate::{Candidate, Candidates, Filter, Result, WordsQuery, question_of};

/// A search whose passages were erased under it looks again this often.
const MAX_LOOKS: usize = 3;

impl EmbeddedEngine {
    /// Finds passages by words.
    pub(super) fn search_words(
        &self,
        namespace: &NamespaceId,
        query: &WordsQuery,
        filter: &Filter,
        limit: usize,
        deadline: &Deadline,
    ) -> Result<Candidates> {
        query.check()?;
        self.look(namespace, filter, limit, |snapshot| {
            let fitting = snapshot.fitting(filter)?;
            let found = snapshot.words.search(query, &fitting.entries, limit, deadline)?;
            let mut candidates = Candidates {
                is_partial: found.is_partial,
                is_prefix_cut: found.is_prefix_cut,
                ..Candidates::default()
            };
            candidates.counts = snapshot.counts;
            Ok((found.hits, candidates))
        })
    }

    /// Finds passages by vector.
    pub(super) fn search_vectors(
        &self,
        namespace: &NamespaceId,
        vector: &[f32],
        filter: &Filter,
        limit: usize,
        deadline: &Deadline,
    ) -> Result<Candidates> {
        self.look(namespace, filter, limit, |snapshot| {
            let question = question_of(namespace, vector, snapshot.space.as_ref())?;
            // There is a space, and a file that may not be made: nothing is near.
            let Some(vectors) = &snapshot.vectors else {
                let counts = snapshot.counts;
                return Ok((vec![], Candidates { counts, ..Candidates::default() }));
            };
            let near = if filter.is_all() {
                vectors.nearest(&question, None, limit, deadline)
            } else {
                let fitting = snapshot.fitting(filter)?;
                vectors.nearest(&question, snapshot.numbers(&fitting), limit, deadline)
            };
            let mut candidates =
                Candidates { is_partial: near.is_partial, ..Candidates::default() };
            candidates.counts = snapshot.counts;
            Ok((near.hits, candidates))
        })
    }

    /// Searches a snapshot and names what it found.
    ///
    /// Passages whose document was erased meanwhile are left out; when that happens because the
    /// snapshot is out of date, the search is made again on the newer one.
    fn look(
        &self,
        id: &NamespaceId,
        filter: &Filter,
        limit: usize,
        search: impl Fn(&Snapshot) -> Result<(Vec<(u32, f32)>, Candidates)>,
    ) -> Result<Candidates> {
        filter.check()?;
        check_limit(limit)?;
        let namespace = self.namespace_of(id)?;
        let mut n_looks = 0;
        loop {
            let snapshot = namespace.snapshot();
            let (found, mut candidates) = search(&snapshot)?;
            candidates.hits = self.name(namespace.number, &found)?;
            n_looks += 1;
            let is_outdated = candidates.hits.len() < found.len()
                && !Arc::ptr_eq(&snapshot, &namespace.snapshot());
            if !is_outdated || n_looks == MAX_LOOKS {
                return Ok(candidates);
            }
        }
    }

    fn name(&self, namespace: u32, found: &[(u32, f32)]) -> Result<Vec<Candidate>> {
        let numbers: Vec<u32> = found.iter().map(|(number, _)| *number).collect();
        let names = self.catalogue.names(namespace, &numbers)?;
        let named = found.iter().zip(names).filter_map(|((_, score), name)| {
            let (document, passage) = name?;
            Some(Candidate { document, passage, score: *score })
        });
        Ok(named.collect())
    }
}
