//! The best passages by BM25, with the caller's own numbers, the filter inside, and exact order.

use model::Deadline;
use tantivy::schema::IndexRecordOption;
use tantivy::{SegmentReader, Term};

use super::index::LexicalView;
use super::lists::{Lengths, Weighted, for_each_match};
use super::visit::{Best, Window, visit};
use crate::bits::Bits;
use crate::{Clause, Form, Result, TermCount, TermStatistics, WordsQuery};

/// The sum of all bounds in whole numbers: scores are added up in these, and two thirds of what
/// fits are left for rounding up.
const MOST: f32 = (1u32 << 30) as f32;

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
        if limit == 0 || weighted.is_empty() {
            return Ok(found);
        }
        // The same for all segments, so that an entry scores the same in whichever it is.
        let scale = MOST / weighted.iter().map(Weighted::weight).sum::<f32>();
        let mut best = Best::new(limit);
        let mut window = Window::new();
        for (segment_idx, segment) in self.searcher.segment_readers().iter().enumerate() {
            let mut lists = vec![];
            for clause in &weighted {
                lists.extend(clause.list(segment_idx, segment, scale)?);
            }
            if lists.is_empty() {
                continue;
            }
            let own = self.narrow(segment, query, allowed[segment_idx].as_ref())?;
            let allowed = own.as_ref().or(allowed[segment_idx].as_ref());
            let numbers = &self.numbers[segment_idx];
            let number_of = |entry: u32| numbers.get_val(entry) as u32;
            if !visit(&mut lists, allowed, &mut best, &mut window, &number_of, deadline) {
                found.is_partial = true;
                break;
            }
        }
        found.hits =
            best.into_sorted().map(|(number, score)| (number, score as f32 / scale)).collect();
        Ok(found)
    }

    /// Counts terms over the live passages: what was replaced or erased and not merged away yet
    /// does not count, so that the same passages always have the same statistics.
    pub(crate) fn statistics(&self, terms: &[(Form, String)]) -> Result<TermStatistics> {
        let n_passages = self.n_passages() as u64;
        let mut counted = Vec::with_capacity(terms.len());
        for (form, term) in terms {
            let [in_text, in_title] = [self.fields.text(*form), self.fields.title(*form)]
                .map(|field| self.n_holding(&Term::from_field_text(field, term)));
            let n_holding = in_text?.max(in_title?);
            counted.push(TermCount { form: *form, term: term.clone(), n_passages: n_holding });
        }
        let n_words = self.n_live_words()?;
        let mean_length = if n_passages == 0 { 0.0 } else { n_words as f64 / n_passages as f64 };
        Ok(TermStatistics { n_passages, mean_length, terms: counted })
    }

    /// Counts the live passages that hold a term.
    fn n_holding(&self, term: &Term) -> Result<u64> {
        let mut n_holding = 0;
        for segment in self.searcher.segment_readers() {
            let index = segment.inverted_index(term.field())?;
            n_holding += match segment.alive_bitset() {
                None => u64::from(index.doc_freq(term)?),
                Some(alive) => index
                    .read_postings(term, IndexRecordOption::Basic)?
                    .map_or(0, |postings| u64::from(postings.doc_freq_given_deletes(alive))),
            };
        }
        Ok(n_holding)
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

    fn weigh(&self, query: &WordsQuery, is_cut: &mut bool) -> Result<Vec<Weighted>> {
        let mut weighted = vec![];
        let mut lengths = Lengths::new(query.bm25);
        for clause in query.must.iter().chain(&query.should) {
            for (field, boost) in [
                (self.fields.text(form_of(clause)), 1.0),
                (self.fields.title(form_of(clause)), query.title_boost),
            ] {
                if boost > 0.0 {
                    let of_field = lengths.of(self, field)?;
                    weighted.extend(Weighted::new(self, clause, boost, &of_field, is_cut)?);
                }
            }
        }
        Ok(weighted)
    }

    /// Gives the allowed entries that every `must` and no `must_not` clause matches; nothing where
    /// there are no such clauses.
    pub(super) fn narrow(
        &self,
        segment: &SegmentReader,
        query: &WordsQuery,
        allowed: Option<&Bits>,
    ) -> Result<Option<Bits>> {
        if query.must.is_empty() && query.must_not.is_empty() {
            return Ok(None);
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

pub(super) fn form_of(clause: &Clause) -> Form {
    match clause {
        Clause::Word { form, .. } | Clause::Prefix { form, .. } => *form,
        Clause::Phrase { .. } => Form::Folded,
    }
}
