//! How many passages and documents a search by words finds, without scoring, ordering or naming
//! them; and which documents have passages that fit a filter.
//!
//! Finding thousands of passages to count their documents took half of the time of a search for a
//! sentence, most of it to read their names from the catalogue. The passages of a document have
//! neighbouring numbers, and most often neighbouring entries: where in a segment documents begin is
//! found once, and a document counts when one bit of its stretch is set. Where few entries match,
//! each is asked for its document instead, so that a command need not look at every entry.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use model::Deadline;
use parking_lot::Mutex;
use tantivy::index::SegmentId;
use tantivy::postings::BlockSegmentPostings;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{SegmentReader, Term};

use super::cursor::BLOCK;
use super::index::LexicalView;
use super::lists::for_each_match;
use super::search::form_of;
use crate::bits::Bits;
use crate::{Clause, Matched, Result, WordsQuery};

/// Occurrences that are read at most; where the words of a query have more, a part of the entries
/// is counted, and the figures are scaled up.
const MAX_OCCURRENCES: u64 = 2_000_000;

/// Every entry is looked at once for all counts, where more than one in so many matches.
const ENTRIES_PER_MATCH: usize = 16;

/// The documents of every segment. A segment never changes, so that they are found once.
pub(super) type Segments = Arc<Mutex<HashMap<SegmentId, Arc<Documents>>>>;

/// The documents of a segment.
#[derive(Debug)]
pub(super) struct Documents {
    /// The number of the first passage of each, in rising order.
    firsts: Vec<u32>,
    /// Made when it pays.
    stretches: OnceLock<Vec<Stretch>>,
}

impl Documents {
    /// Gives the place of the first document behind that of a passage.
    fn next(&self, number: u32) -> usize {
        self.firsts.partition_point(|first| *first <= number)
    }

    /// Gives the number of the first passage of the document that comes before a place.
    fn before(&self, next: usize, number: u32) -> u32 {
        next.checked_sub(1).map_or(number, |before| self.firsts[before])
    }
}

/// What was found.
struct Matching {
    /// The numbers of the first passages of the documents, each once.
    documents: Vec<u32>,
    n_passages: usize,
    /// The part of the entries that was looked at.
    part: f64,
    /// The deadline came first.
    is_partial: bool,
}

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
        let Matching { documents, n_passages, part, is_partial } =
            self.find(query, allowed, deadline)?;
        let scaled = |n: usize| (n as f64 / part).round() as usize;
        Ok(Matched {
            n_documents: scaled(documents.len()),
            n_passages: scaled(n_passages),
            is_exact: part >= 1.0 && !is_partial,
        })
    }

    /// Gives the numbers of the first passages of the documents with allowed entries; nothing when
    /// the deadline came first.
    pub(crate) fn documents(
        &self,
        allowed: &[Option<Bits>],
        deadline: &Deadline,
    ) -> Result<Option<Vec<u32>>> {
        let found = self.find(None, allowed, deadline)?;
        Ok((!found.is_partial).then_some(found.documents))
    }

    fn find(
        &self,
        query: Option<&WordsQuery>,
        allowed: &[Option<Bits>],
        deadline: &Deadline,
    ) -> Result<Matching> {
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
            self.add_documents(segment_idx, segment, &matching, &mut documents)?;
        }
        documents.sort_unstable();
        documents.dedup();
        Ok(Matching { documents, n_passages, part, is_partial })
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
            for term in terms {
                let term = Term::from_field_text(field, term);
                if let Some(block) = index.read_block_postings(&term, IndexRecordOption::Basic)? {
                    insert_before(end, block, &mut matching);
                }
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

    /// Adds the documents of matching entries of a segment, some of them more than once.
    fn add_documents(
        &self,
        segment_idx: usize,
        segment: &SegmentReader,
        matching: &Bits,
        found: &mut Vec<u32>,
    ) -> Result<()> {
        let n_matching = matching.len();
        if n_matching == 0 {
            return Ok(());
        }
        let documents = self.documents_of(segment)?;
        let number_of = |entry: u32| self.numbers[segment_idx].get_val(entry) as u32;
        if n_matching.saturating_mul(ENTRIES_PER_MATCH) < segment.max_doc() as usize {
            found.extend(matching.iter().map(|entry| {
                let number = number_of(entry);
                documents.before(documents.next(number), number)
            }));
            return Ok(());
        }
        let stretches =
            documents.stretches.get_or_init(|| stretches(&documents, segment.max_doc(), number_of));
        let ends = stretches.iter().skip(1).map(|next| next.begin).chain([segment.max_doc()]);
        let matched = stretches.iter().zip(ends);
        let matched = matched.filter(|(stretch, end)| matching.has_in(stretch.begin, *end));
        found.extend(matched.map(|(stretch, _)| stretch.document));
        Ok(())
    }

    /// Gives the documents of a segment.
    fn documents_of(&self, segment: &SegmentReader) -> Result<Arc<Documents>> {
        if let Some(known) = self.segments.lock().get(&segment.segment_id()) {
            return Ok(Arc::clone(known));
        }
        let index = segment.inverted_index(self.fields.version)?;
        let mut versions = index.terms().stream()?;
        let mut firsts = Vec::with_capacity(index.terms().num_terms());
        while versions.advance() {
            let bytes = versions.key().try_into().unwrap_or_default();
            firsts.push(u64::from_be_bytes(bytes) as u32);
        }
        let documents = Arc::new(Documents { firsts, stretches: OnceLock::new() });
        self.segments.lock().insert(segment.segment_id(), Arc::clone(&documents));
        Ok(documents)
    }
}

/// Adds the entries of a term before `end`, a block at a time: they are what counting costs.
fn insert_before(end: u32, mut block: BlockSegmentPostings, matching: &mut Bits) {
    loop {
        let entries = block.docs();
        let n_before = match entries.last() {
            Some(last) if *last < end => entries.len(),
            _ => entries.partition_point(|entry| *entry < end),
        };
        entries.iter().take(n_before).for_each(|entry| matching.insert(*entry));
        // Only the last block of a term is not full.
        if n_before < entries.len() || entries.len() < BLOCK {
            return;
        }
        block.advance();
    }
}

/// Finds where in a segment the entries of each document are.
fn stretches(documents: &Documents, end: u32, number_of: impl Fn(u32) -> u32) -> Vec<Stretch> {
    let mut stretches: Vec<Stretch> = vec![];
    let mut last = 0..0;
    for begin in 0..end {
        let number = number_of(begin);
        if !last.contains(&number) {
            let next = documents.next(number);
            let document = documents.before(next, number);
            last = document..documents.firsts.get(next).copied().unwrap_or(u32::MAX);
            stretches.push(Stretch { begin, document });
        }
    }
    stretches
}
