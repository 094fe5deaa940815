//! The best passages by BM25, with the caller's own numbers, the filter inside, and exact order.
//!
//! Entries are visited in order; a list whose best possible score cannot lift an entry into the
//! result any more is only asked about entries that other lists bring up.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use model::Deadline;
use tantivy::schema::IndexRecordOption;
use tantivy::{SegmentReader, TERMINATED, Term};

use super::index::LexicalView;
use super::lists::{List, Weighted, for_each_match};
use crate::bits::Bits;
use crate::{Clause, Form, Result, TermCount, TermStatistics, WordsQuery};

/// How many entries are looked at between two looks at the clock.
const ENTRIES_PER_LOOK: u32 = 4_096;
/// Leaves room for the rounding of sums, so that no entry is passed over that could win.
const SLACK: f32 = 1.000_01;
/// Asking a list for one entry costs about as much as reading this many in order.
const SEEK_COST: usize = 8;

/// What a search by words found.
#[derive(Debug, Default)]
pub(crate) struct Matches {
    /// Passage numbers and scores, best first.
    pub(crate) hits: Vec<(u32, f32)>,
    /// The deadline came first.
    pub(crate) is_partial: bool,
    /// A prefix stood for too many terms.
    pub(crate) is_prefix_cut: bool,
}

impl LexicalView {
    /// Finds the best passages among the allowed entries.
    pub(crate) fn search(
        &self,
        query: &WordsQuery,
        allowed: &[Option<Bits>],
        limit: usize,
        deadline: &Deadline,
    ) -> Result<Matches> {
        let mut found = Matches::default();
        let weighted = self.weigh(query, &mut found.is_prefix_cut)?;
        let mut best = Best::new(limit);
        if limit > 0 && !weighted.is_empty() {
            for (segment_idx, segment) in self.searcher.segment_readers().iter().enumerate() {
                let allowed = self.narrow(segment, query, allowed[segment_idx].as_ref())?;
                let mut lists = vec![];
                for clause in &weighted {
                    lists.extend(clause.list(segment)?);
                }
                let numbers = &self.numbers[segment_idx];
                let number_of = |entry: u32| numbers.get_val(entry) as u32;
                let is_whole = visit(&mut lists, allowed.as_ref(), &mut best, &number_of, deadline);
                if !is_whole {
                    found.is_partial = true;
                    break;
                }
            }
        }
        found.hits = best.into_sorted();
        Ok(found)
    }

    /// Counts terms over the live passages: what was replaced or erased and not merged away yet
    /// does not count, so that the same passages always have the same statistics.
    pub(crate) fn statistics(&self, terms: &[(Form, String)]) -> Result<TermStatistics> {
        let n_passages = self.n_passages() as u64;
        let mut counted = Vec::with_capacity(terms.len());
        for (form, term) in terms {
            let index_term = Term::from_field_text(self.fields.text(*form), term);
            let mut n_holding = 0;
            for segment in self.searcher.segment_readers() {
                let index = segment.inverted_index(index_term.field())?;
                n_holding += match segment.alive_bitset() {
                    None => u64::from(index.doc_freq(&index_term)?),
                    Some(alive) => index
                        .read_postings(&index_term, IndexRecordOption::Basic)?
                        .map_or(0, |postings| u64::from(postings.doc_freq_given_deletes(alive))),
                };
            }
            counted.push(TermCount { form: *form, term: term.clone(), n_passages: n_holding });
        }
        let n_words = self.n_live_words()?;
        let mean_length = if n_passages == 0 { 0.0 } else { n_words as f64 / n_passages as f64 };
        Ok(TermStatistics { n_passages, mean_length, terms: counted })
    }

    /// Counts the words of the live passages, as the index codes lengths; once for each view.
    fn n_live_words(&self) -> Result<u64> {
        if let Some(n_words) = self.n_words.get() {
            return Ok(*n_words);
        }
        let mut n_words = 0;
        for segment in self.searcher.segment_readers() {
            let lengths = segment.get_fieldnorms_reader(self.fields.text(Form::Folded))?;
            n_words += segment
                .doc_ids_alive()
                .map(|entry| u64::from(lengths.fieldnorm(entry)))
                .sum::<u64>();
        }
        Ok(*self.n_words.get_or_init(|| n_words))
    }

    fn weigh<'a>(&self, query: &'a WordsQuery, is_cut: &mut bool) -> Result<Vec<Weighted<'a>>> {
        let mut weighted = vec![];
        for clause in query.must.iter().chain(&query.should) {
            for (field, boost) in [
                (self.fields.text(form_of(clause)), 1.0),
                (self.fields.title(form_of(clause)), query.title_boost),
            ] {
                if boost > 0.0 {
                    weighted.extend(Weighted::new(self, clause, field, boost, query.bm25, is_cut)?);
                }
            }
        }
        Ok(weighted)
    }

    /// Leaves only the entries that every `must` and no `must_not` clause matches.
    fn narrow(
        &self,
        segment: &SegmentReader,
        query: &WordsQuery,
        allowed: Option<&Bits>,
    ) -> Result<Option<Bits>> {
        if query.must.is_empty() && query.must_not.is_empty() {
            return Ok(allowed.cloned());
        }
        let matching = |clause: &Clause| -> Result<Bits> {
            let mut bits = Bits::none(segment.max_doc());
            let form = form_of(clause);
            for_each_match(segment, clause, self.fields.text(form), |entry| bits.insert(entry))?;
            if query.title_boost > 0.0 {
                let title = self.fields.title(form);
                for_each_match(segment, clause, title, |entry| bits.insert(entry))?;
            }
            Ok(bits)
        };
        let mut narrowed = allowed.cloned().unwrap_or_else(|| Bits::all(segment.max_doc()));
        for clause in &query.must {
            narrowed.intersect(&matching(clause)?);
        }
        for clause in &query.must_not {
            narrowed.subtract(&matching(clause)?);
        }
        Ok(Some(narrowed))
    }
}

fn form_of(clause: &Clause) -> Form {
    match clause {
        Clause::Word { form, .. } | Clause::Prefix { form, .. } => *form,
        Clause::Phrase { .. } => Form::Folded,
    }
}

/// Visits the entries of one segment; gives false when the deadline came first.
fn visit(
    lists: &mut [List],
    allowed: Option<&Bits>,
    best: &mut Best,
    number_of: &dyn Fn(u32) -> u32,
    deadline: &Deadline,
) -> bool {
    if lists.is_empty() {
        return true;
    }
    // The order among equal bounds has to be fixed too, since it decides the order of sums.
    lists.sort_by(|left, right| left.bound().total_cmp(&right.bound()));
    let n_allowed = allowed.map_or(usize::MAX, Bits::len);
    let n_occurrences: usize = lists.iter().map(List::len).sum();
    match allowed {
        Some(allowed) if n_allowed.saturating_mul(lists.len() * SEEK_COST) < n_occurrences => {
            visit_allowed(lists, allowed, best, number_of, deadline)
        }
        _ => visit_lists(lists, allowed, best, number_of, deadline),
    }
}

/// Asks every list about each allowed entry: the quick way when few are allowed.
fn visit_allowed(
    lists: &mut [List],
    allowed: &Bits,
    best: &mut Best,
    number_of: &dyn Fn(u32) -> u32,
    deadline: &Deadline,
) -> bool {
    for (n_seen, entry) in (1u32..).zip(allowed.iter()) {
        let mut is_match = false;
        for list in lists.iter_mut() {
            is_match |= list.seek(entry) == entry;
        }
        if is_match {
            best.offer(sum(lists, entry), || number_of(entry));
        }
        if n_seen.is_multiple_of(ENTRIES_PER_LOOK) && deadline.is_over() {
            return false;
        }
    }
    true
}

/// Walks through the lists that matter, and asks the others only where it can help.
fn visit_lists(
    lists: &mut [List],
    allowed: Option<&Bits>,
    best: &mut Best,
    number_of: &dyn Fn(u32) -> u32,
    deadline: &Deadline,
) -> bool {
    let mut bounds_up_to = Vec::with_capacity(lists.len());
    let mut total = 0.0;
    for list in lists.iter() {
        total += list.bound();
        bounds_up_to.push(total * SLACK);
    }
    let mut n_passive = 0;
    let mut n_seen = 0u32;
    loop {
        while n_passive < lists.len() && bounds_up_to[n_passive] < best.threshold() {
            n_passive += 1;
        }
        let Some(entry) = lists[n_passive..].iter().map(List::entry).min() else { return true };
        if entry == TERMINATED {
            return true;
        }
        n_seen += 1;
        if n_seen.is_multiple_of(ENTRIES_PER_LOOK) && deadline.is_over() {
            return false;
        }
        if allowed.is_none_or(|allowed| allowed.contains(entry)) {
            consider(lists, n_passive, &bounds_up_to, entry, best, number_of);
        }
        for list in &mut lists[n_passive..] {
            if list.entry() == entry {
                list.advance();
            }
        }
    }
}

fn consider(
    lists: &mut [List],
    n_passive: usize,
    bounds_up_to: &[f32],
    entry: u32,
    best: &mut Best,
    number_of: &dyn Fn(u32) -> u32,
) {
    let mut score = sum(&lists[n_passive..], entry);
    for list_idx in (0..n_passive).rev() {
        if score * SLACK + bounds_up_to[list_idx] < best.threshold() {
            return;
        }
        if lists[list_idx].seek(entry) == entry {
            score += lists[list_idx].score();
        }
    }
    // The sum is taken again in a fixed order, so that a score does not depend on what was
    // passive when the entry came up.
    best.offer(sum(lists, entry), || number_of(entry));
}

fn sum(lists: &[List], entry: u32) -> f32 {
    lists.iter().filter(|list| list.entry() == entry).map(List::score).sum()
}

/// The best so far: higher scores first, then lower numbers.
struct Best {
    limit: usize,
    heap: BinaryHeap<Reverse<Scored>>,
}

#[derive(Debug, PartialEq)]
struct Scored {
    score: f32,
    number: u32,
}

impl Eq for Scored {}

impl PartialOrd for Scored {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Scored {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then(other.number.cmp(&self.number))
    }
}

impl Best {
    fn new(limit: usize) -> Self {
        Best { limit, heap: BinaryHeap::new() }
    }

    /// Gives the score below which nothing can enter any more.
    fn threshold(&self) -> f32 {
        match self.heap.peek() {
            Some(Reverse(worst)) if self.heap.len() >= self.limit => worst.score,
            _ => 0.0,
        }
    }

    fn offer(&mut self, score: f32, number: impl FnOnce() -> u32) {
        if score < self.threshold() {
            return;
        }
        self.heap.push(Reverse(Scored { score, number: number() }));
        if self.heap.len() > self.limit {
            self.heap.pop();
        }
    }

    fn into_sorted(self) -> Vec<(u32, f32)> {
        let sorted = self.heap.into_sorted_vec();
        sorted.into_iter().map(|Reverse(scored)| (scored.number, scored.score)).collect()
    }
}
