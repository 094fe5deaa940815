//! How many passages and documents a search by words finds, without scoring, ordering or naming
//! them.
//!
//! Finding thousands of passages to count their documents took half of the time of a search for a
//! sentence, most of it to read their names from the catalogue. The passages of a document have
//! neighbouring numbers, and most often neighbouring entries: where in a segment documents begin is
//! found once, and a document counts when one bit of its stretch is set.

use std::collections::HashMap;
use std::sync::Arc;

use model::Deadline;
use parking_lot::Mutex;
use tantivy::index::SegmentId;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{SegmentReader, Term};

use super::index::LexicalView;
use super::lists::for_each_match;
use super::phrases::AnyTerm;
use super::search::form_of;
use crate::bits::Bits;
use crate::{Clause, Matched, Result, WordsQuery};

/// Occurrences that are read at most; where the words of a query have more, a part of the entries
/// is counted, and the figures are scaled up.
const MAX_OCCURRENCES: u64 = 2_000_000;

/// The stretches of entries of one document each, of every segment. A segment never changes, so
/// that they are found once.
pub(super) type Stretches = Arc<Mutex<HashMap<SegmentId, Arc<[Stretch]>>>>;

/// Neighbouring entries of one document, up to where the next stretch begins.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stretch {
    /// The first entry.
    begin: u32,
    /// The number of the first passage of the document.
    document: u32,
}

impl LexicalView {
    /// Counts the allowed entries that a search finds, all of them without one, and their
    /// documents.
    pub(crate) fn count(
        &self,
        query: Option<&WordsQuery>,
        allowed: &[Option<Bits>],
        deadline: &Deadline,
    ) -> Result<Matched> {
        let n_occurrences = query.map_or(Ok(0), |query| self.n_occurrences(query))?;
        let part = (MAX_OCCURRENCES as f64 / n_occurrences.max(1) as f64).min(1.0);
        let mut documents = vec![];
        let (mut n_passages, mut is_partial) = (0, false);
        for (segment_idx, segment) in self.searcher.segment_readers().iter().enumerate() {
            if deadline.is_over() {
                is_partial = true;
                break;
            }
            let end = (f64::from(segment.max_doc()) * part).ceil() as u32;
            let (mut matching, own) = match query {
                Some(query) => (
                    self.matching(segment, query, end)?,
                    self.narrow(segment, query, allowed[segment_idx].as_ref())?,
                ),
                None => (Bits::all(segment.max_doc()), None),
            };
            if let Some(allowed) = own.as_ref().or(allowed[segment_idx].as_ref()) {
                matching.intersect(allowed);
            }
            n_passages += matching.len();
            let stretches = self.stretches(segment_idx, segment)?;
            let ends = stretches.iter().skip(1).map(|next| next.begin).chain([segment.max_doc()]);
            let found = stretches.iter().zip(ends);
            let found = found.filter(|(stretch, end)| matching.has_in(stretch.begin, *end));
            documents.extend(found.map(|(stretch, _)| stretch.document));
        }
        documents.sort_unstable();
        documents.dedup();
        let scaled = |n: usize| (n as f64 / part).round() as usize;
        Ok(Matched {
            n_documents: scaled(documents.len()),
            n_passages: scaled(n_passages),
            is_exact: part >= 1.0 && !is_partial,
        })
    }

    /// Gives the entries before `end` that some clause matches.
    fn matching(&self, segment: &SegmentReader, query: &WordsQuery, end: u32) -> Result<Bits> {
        let mut matching = Bits::none(segment.max_doc());
        for (clause, field) in self.counted_clauses(query) {
            let Clause::Word { terms, .. } = clause else {
                for_each_match(segment, clause, field, |entry| {
                    if entry < end {
                        matching.insert(entry);
                    }
                })?;
                continue;
            };
            let index = segment.inverted_index(field)?;
            if let Some(any) = AnyTerm::read(&index, field, terms, IndexRecordOption::Basic)? {
                any.each_before(end, |entry| matching.insert(entry));
            }
        }
        Ok(matching)
    }

    /// Counts how often the words of a query are in the index.
    fn n_occurrences(&self, query: &WordsQuery) -> Result<u64> {
        let mut sum = 0;
        for (clause, field) in self.counted_clauses(query) {
            let Clause::Word { terms, .. } = clause else { continue };
            for segment in self.searcher.segment_readers() {
                let index = segment.inverted_index(field)?;
                for term in terms {
                    sum += u64::from(index.doc_freq(&Term::from_field_text(field, term))?);
                }
            }
        }
        Ok(sum)
    }

    /// Lists the clauses whose entries a search finds, with the fields they are looked for in. A
    /// phrase one of whose words is looked for by itself finds nothing more.
    fn counted_clauses<'q>(
        &self,
        query: &'q WordsQuery,
    ) -> impl Iterator<Item = (&'q Clause, Field)> + use<'q, '_> {
        let is_covered = |clause: &Clause| match clause {
            Clause::Phrase { words, .. } => query.should.iter().any(|other| {
                let Clause::Word { form, terms, boost } = other else { return false };
                let has_all = |own: &[String]| own.iter().all(|term| terms.contains(term));
                *boost > 0.0
                    && *form == form_of(clause)
                    && words.iter().any(|(_, own)| has_all(own))
            }),
            Clause::Word { .. } | Clause::Prefix { .. } => false,
        };
        let has_titles = query.title_boost > 0.0;
        query
            .must
            .iter()
            .chain(query.should.iter().filter(move |clause| !is_covered(clause)))
            .filter(|clause| clause.boost() > 0.0)
            .flat_map(move |clause| {
                let form = form_of(clause);
                let title = has_titles.then(|| (clause, self.fields.title(form)));
                [(clause, self.fields.text(form))].into_iter().chain(title)
            })
    }

    /// Gives where in a segment the entries of each document are.
    fn stretches(&self, segment_idx: usize, segment: &SegmentReader) -> Result<Arc<[Stretch]>> {
        if let Some(known) = self.stretches.lock().get(&segment.segment_id()) {
            return Ok(Arc::clone(known));
        }
        let index = segment.inverted_index(self.fields.version)?;
        let mut versions = index.terms().stream()?;
        let mut firsts = Vec::with_capacity(index.terms().num_terms());
        while versions.advance() {
            let bytes = versions.key().try_into().unwrap_or_default();
            firsts.push(u64::from_be_bytes(bytes) as u32);
        }
        let numbers = &self.numbers[segment_idx];
        let mut stretches: Vec<Stretch> = vec![];
        let mut last = 0..0;
        for begin in 0..segment.max_doc() {
            let number = numbers.get_val(begin) as u32;
            if !last.contains(&number) {
                let next = firsts.partition_point(|first| *first <= number);
                let document = next.checked_sub(1).map_or(number, |before| firsts[before]);
                last = document..firsts.get(next).copied().unwrap_or(u32::MAX);
                stretches.push(Stretch { begin, document });
            }
        }
        let stretches: Arc<[Stretch]> = stretches.into();
        self.stretches.lock().insert(segment.segment_id(), Arc::clone(&stretches));
        Ok(stretches)
    }
}
