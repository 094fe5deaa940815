//! Where each clause of a question occurs in a segment: one list of entries for each clause and
//! field, with how often, and what that is worth.

use std::collections::HashMap;
use std::ops::Bound;
use std::rc::Rc;

use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::{Postings, TermInfo};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocSet, InvertedIndexReader, SegmentReader, TERMINATED, Term};

use super::cursor::Cursor;
use super::index::LexicalView;
use super::phrases::{AnyTerm, collect_phrase};
use super::visit::Marked;
use crate::contract::prefix_range;
use crate::{Bm25, Clause, Result, limits};

/// Leaves room for the rounding of a score to a number with 24 bits.
const SLACK: f32 = 1.000_001;

/// What the lengths of a field mean for BM25, computed once for each field of a question.
pub(super) struct Lengths {
    bm25: Bm25,
    known: Vec<Rc<FieldLengths>>,
}

/// The figures of one field over the whole index.
pub(super) struct FieldLengths {
    field: Field,
    n_entries: u64,
    /// `k1 + 1`.
    factor: f32,
    /// The denominator of BM25 without the frequency, for each coded length.
    norms: [f32; 256],
}

impl Lengths {
    /// Starts without any field.
    pub(super) fn new(bm25: Bm25) -> Self {
        Lengths { bm25, known: vec![] }
    }

    /// Gives the figures of a field.
    pub(super) fn of(&mut self, view: &LexicalView, field: Field) -> Result<Rc<FieldLengths>> {
        if let Some(known) = self.known.iter().find(|known| known.field == field) {
            return Ok(Rc::clone(known));
        }
        let (mut n_entries, mut n_words) = (0, 0);
        for segment in view.searcher.segment_readers() {
            n_entries += u64::from(segment.max_doc());
            n_words += segment.inverted_index(field)?.total_num_tokens();
        }
        let mean_length = (n_words as f32 / n_entries.max(1) as f32).max(f32::MIN_POSITIVE);
        let Bm25 { k1, b } = self.bm25;
        let norms = std::array::from_fn(|code| {
            let length = FieldNormReader::id_to_fieldnorm(code as u8) as f32;
            k1 * (1.0 - b + b * length / mean_length)
        });
        let lengths = Rc::new(FieldLengths { field, n_entries, factor: k1 + 1.0, norms });
        self.known.push(Rc::clone(&lengths));
        Ok(lengths)
    }
}

impl FieldLengths {
    fn idf(&self, n_holding: u64) -> f32 {
        if n_holding == 0 {
            return 0.0;
        }
        let n_entries = self.n_entries as f64;
        let n_holding = (n_holding as f64).min(n_entries);
        (1.0 + (n_entries - n_holding + 0.5) / (n_holding + 0.5)).ln() as f32
    }
}

/// A clause in one field, with its weight over the whole index.
pub(super) struct Weighted {
    lengths: Rc<FieldLengths>,
    /// `boost × idf × (k1 + 1)`; no entry can score more than this.
    weight: f32,
    /// Where it occurs, for each segment.
    places: Vec<Places>,
}

/// Where a clause occurs in a segment.
enum Places {
    /// Under these terms.
    Terms(Vec<TermInfo>),
    /// In these entries, so often.
    Entries(Vec<(u32, u32)>),
}

impl Places {
    fn n_entries(&self) -> u64 {
        match self {
            // The sum counts a passage twice that holds two of the terms, which is rare: a
            // document is stemmed in one language.
            Places::Terms(terms) => terms.iter().map(|term| u64::from(term.doc_freq)).sum(),
            Places::Entries(entries) => entries.len() as u64,
        }
    }
}

/// The entries of one segment that a weighted clause matches, with how often.
pub(super) struct List {
    occurrences: Occurrences,
    fieldnorms: FieldNormReader,
    lengths: Rc<FieldLengths>,
    /// What an entry scores at most, in whole numbers.
    bound: u32,
    weight: f32,
}

enum Occurrences {
    Term(Box<Cursor>),
    /// Any of several terms, counted together as if they were one.
    Terms(Vec<Cursor>),
    Collected {
        entries: Vec<(u32, u32)>,
        at: usize,
    },
}

impl Weighted {
    /// Weighs a clause in a field; nothing when it occurs nowhere or counts nothing.
    ///
    /// Tells through `is_cut` when a prefix stands for too many terms.
    pub(super) fn new(
        view: &LexicalView,
        clause: &Clause,
        field_boost: f32,
        lengths: &Rc<FieldLengths>,
        is_cut: &mut bool,
    ) -> Result<Option<Self>> {
        let field = lengths.field;
        let segments = view.searcher.segment_readers();
        let mut places = Vec::with_capacity(segments.len());
        let n_holding =
            |places: &[Places]| -> u64 { places.iter().map(Places::n_entries).sum::<u64>() };
        let (boost, idf) = match clause {
            Clause::Word { terms, boost, .. } => {
                let terms = index_terms(field, terms);
                for segment in segments {
                    places.push(Places::Terms(infos(segment, field, &terms)?));
                }
                (*boost, lengths.idf(n_holding(&places)))
            }
            Clause::Phrase { words, boost, .. } => {
                let mut idf = 0.0;
                for (_, terms) in words {
                    let terms = index_terms(field, terms);
                    let mut n_holding = 0;
                    for segment in segments {
                        n_holding += Places::Terms(infos(segment, field, &terms)?).n_entries();
                    }
                    if n_holding == 0 {
                        return Ok(None);
                    }
                    idf += lengths.idf(n_holding);
                }
                for segment in segments {
                    let index = segment.inverted_index(field)?;
                    places.push(Places::Entries(collect_phrase(&index, words, field)?));
                }
                (*boost, idf)
            }
            Clause::Prefix { prefix, boost, .. } => {
                for segment in segments {
                    let index = segment.inverted_index(field)?;
                    places.push(Places::Entries(collect_prefix(&index, prefix, is_cut)?));
                }
                (*boost, lengths.idf(n_holding(&places)))
            }
        };
        let weight = boost * field_boost * idf * lengths.factor;
        // A weight that is not positive can only come from a boost of zero or nonsense.
        if weight.is_nan() || weight <= 0.0 {
            return Ok(None);
        }
        Ok(Some(Weighted { lengths: Rc::clone(lengths), weight, places }))
    }

    /// Gives the most that any entry can score.
    pub(super) fn weight(&self) -> f32 {
        self.weight
    }

    /// Gives the list of one segment, whose scores are multiplied by `scale` and rounded; nothing
    /// when the clause does not occur in it.
    pub(super) fn list(
        &self,
        segment_idx: usize,
        segment: &SegmentReader,
        scale: f32,
    ) -> Result<Option<List>> {
        let field = self.lengths.field;
        let occurrences = match &self.places[segment_idx] {
            Places::Terms(terms) if terms.is_empty() => return Ok(None),
            Places::Entries(entries) if entries.is_empty() => return Ok(None),
            Places::Terms(terms) => {
                let index = segment.inverted_index(field)?;
                match terms.as_slice() {
                    [term] => Occurrences::Term(Box::new(Cursor::new(&index, term)?)),
                    terms => {
                        let cursors = terms.iter().map(|term| Cursor::new(&index, term));
                        Occurrences::Terms(cursors.collect::<Result<_>>()?)
                    }
                }
            }
            Places::Entries(entries) => Occurrences::Collected { entries: entries.clone(), at: 0 },
        };
        let weight = self.weight * scale;
        Ok(Some(List {
            occurrences,
            fieldnorms: segment.get_fieldnorms_reader(field)?,
            lengths: Rc::clone(&self.lengths),
            bound: (weight * SLACK) as u32 + 1,
            weight,
        }))
    }
}

impl List {
    /// Gives the most that any entry can score here.
    pub(super) fn bound(&self) -> u32 {
        self.bound
    }

    /// Gives the present entry, or [`TERMINATED`].
    pub(super) fn entry(&self) -> u32 {
        match &self.occurrences {
            Occurrences::Term(cursor) => cursor.entry(),
            Occurrences::Terms(cursors) => {
                cursors.iter().map(Cursor::entry).min().unwrap_or(TERMINATED)
            }
            Occurrences::Collected { entries, at } => {
                entries.get(*at).map_or(TERMINATED, |(entry, _)| *entry)
            }
        }
    }

    /// Gives how many entries there are, about.
    pub(super) fn len(&self) -> usize {
        match &self.occurrences {
            Occurrences::Term(cursor) => cursor.n_entries(),
            Occurrences::Terms(cursors) => cursors.iter().map(Cursor::n_entries).sum(),
            Occurrences::Collected { entries, .. } => entries.len(),
        }
    }

    /// Gives the score of an entry that is in the list; never of one before an earlier one.
    pub(super) fn score_of(&mut self, entry: u32) -> Option<u32> {
        let frequency = match &mut self.occurrences {
            Occurrences::Term(cursor) => (cursor.seek(entry) == entry).then(|| cursor.frequency()),
            Occurrences::Terms(cursors) => cursors
                .iter_mut()
                .filter_map(|cursor| (cursor.seek(entry) == entry).then(|| cursor.frequency()))
                .reduce(|one, other| one + other),
            Occurrences::Collected { entries, at } => {
                *at += entries[*at..].partition_point(|(before, _)| *before < entry);
                let found = entries.get(*at).filter(|(found, _)| *found == entry);
                found.map(|(_, frequency)| *frequency)
            }
        };
        Some(score(self.weight, &self.lengths.norms, &self.fieldnorms, entry, frequency?))
    }

    /// Adds the scores of all entries from the present one to `end` to the sums of a window that
    /// begins at `first`, and goes to the next one.
    pub(super) fn add_before(
        &mut self,
        first: u32,
        end: u32,
        sums: &mut Marked,
        frequencies: &mut Marked,
    ) {
        let List { occurrences, fieldnorms, lengths, weight, .. } = self;
        let mut add = |entry: u32, frequency: u32| {
            let score = score(*weight, &lengths.norms, fieldnorms, entry, frequency);
            sums.add(entry - first, score);
        };
        match occurrences {
            Occurrences::Term(cursor) => cursor.each_before(end, add),
            Occurrences::Terms(cursors) => {
                for cursor in cursors {
                    cursor.each_before(end, |entry, frequency| {
                        frequencies.add(entry - first, frequency);
                    });
                }
                frequencies.drain(|place, frequency| add(first + place, frequency));
            }
            Occurrences::Collected { entries, at } => {
                let n_before = entries[*at..].partition_point(|(entry, _)| *entry < end);
                for (entry, frequency) in &entries[*at..*at + n_before] {
                    add(*entry, *frequency);
                }
                *at += n_before;
            }
        }
    }
}

/// Gives the BM25 of an entry, as a whole number.
#[inline]
fn score(
    weight: f32,
    norms: &[f32; 256],
    fieldnorms: &FieldNormReader,
    entry: u32,
    frequency: u32,
) -> u32 {
    let frequency = frequency as f32;
    let norm = norms[usize::from(fieldnorms.fieldnorm_id(entry))];
    (weight * frequency / (frequency + norm)) as u32
}

fn index_terms(field: Field, terms: &[String]) -> Vec<Term> {
    terms.iter().map(|term| Term::from_field_text(field, term)).collect()
}

fn infos(segment: &SegmentReader, field: Field, terms: &[Term]) -> Result<Vec<TermInfo>> {
    let index = segment.inverted_index(field)?;
    let mut infos = vec![];
    for term in terms {
        infos.extend(index.get_term_info(term)?);
    }
    Ok(infos)
}

/// Calls `each` with the entries that match a clause in a field.
pub(super) fn for_each_match(
    segment: &SegmentReader,
    clause: &Clause,
    field: Field,
    mut each: impl FnMut(u32),
) -> Result<()> {
    let index = segment.inverted_index(field)?;
    match clause {
        Clause::Word { terms, .. } => {
            if let Some(any) = AnyTerm::read(&index, field, terms, IndexRecordOption::Basic)? {
                any.each(each);
            }
        }
        Clause::Phrase { words, .. } => {
            collect_phrase(&index, words, field)?.into_iter().for_each(|(entry, _)| each(entry));
        }
        Clause::Prefix { prefix, .. } => {
            collect_prefix(&index, prefix, &mut false)?
                .into_iter()
                .for_each(|(entry, _)| each(entry));
        }
    }
    Ok(())
}

/// Gives the entries that hold a term with this start, and how many such words they hold.
fn collect_prefix(
    index: &InvertedIndexReader,
    prefix: &str,
    is_cut: &mut bool,
) -> Result<Vec<(u32, u32)>> {
    let (_, end) = prefix_range(prefix.as_bytes());
    let mut range = index.terms().range().ge(prefix.as_bytes());
    if let Bound::Excluded(end) = &end {
        range = range.lt(end);
    }
    let mut terms = range.into_stream()?;
    let mut found: HashMap<u32, u32> = HashMap::new();
    let mut n_terms = 0;
    while terms.advance() {
        n_terms += 1;
        if n_terms > limits::MAX_PREFIX_TERMS {
            *is_cut = true;
            break;
        }
        let info = terms.value().clone();
        let mut postings =
            index.read_postings_from_terminfo(&info, IndexRecordOption::WithFreqs)?;
        let mut entry = postings.doc();
        while entry != TERMINATED {
            *found.entry(entry).or_default() += postings.term_freq();
            entry = postings.advance();
        }
    }
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_unstable();
    Ok(found)
}
