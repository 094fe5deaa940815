//! What the words of a small namespace say, in memory: how many passages hold a word, how often each
//! passage does, what passages are called, and what filters look at.
//!
//! With it a question by words needs nothing from Qdrant. Everything in it follows from the points,
//! and a point never changes: passages come and go, and keep their number.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use model::{Attributes, DocumentId, PassageId};
use parking_lot::Mutex;
use qdrant_client::qdrant::{PointId, Value, point_id::PointIdOptions};
use store::Filter;
use store::remote::coded_length;

use crate::condition;
use crate::figures::Totals;
use crate::occurrences::{CountedTokens, QueryTokens, integer_in, number_in, text_in};
use crate::point::{
    ATTRIBUTES, DOCUMENT, NUMBER, PASSAGE, POINTER, TERMS, TEXT_LENGTH, TITLE_LENGTH,
};
use crate::terms::{self, Term, Token};

/// What a table is made of.
pub(crate) const FIELDS: [&str; 8] =
    [DOCUMENT, PASSAGE, NUMBER, TERMS, TEXT_LENGTH, TITLE_LENGTH, POINTER, ATTRIBUTES];
/// Filters whose rows are remembered until something changes.
const MAX_FITTINGS: usize = 16;
/// The occurrences that fit beside a row; the few larger numbers are kept apart.
const MAX_SMALL: u32 = 255;
const SMALL_BITS: u32 = 8;

/// A passage.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub(crate) number: u32,
    pub(crate) document: DocumentId,
    pub(crate) passage: PassageId,
    text_length: u32,
    title_length: u32,
    pointer: Box<str>,
    attributes: Arc<Attributes>,
}

/// The words of a namespace.
#[derive(Debug, Default)]
pub(crate) struct WordTable {
    rows: Vec<Option<Row>>,
    /// The lengths of the text and the title of each row, as BM25 counts with them.
    coded_lengths: Vec<[u32; 2]>,
    /// The attributes of documents by how they are written, since their passages share them.
    attributes: HashMap<Box<str>, Arc<Attributes>>,
    fittings: Mutex<VecDeque<(Filter, Arc<[bool]>)>>,
    by_id: HashMap<u128, u32>,
    /// For each word the rows that hold it, in their order, each with how often.
    postings: HashMap<Token, Vec<u32>>,
    /// Occurrences that are too many for a posting.
    many: HashMap<(Token, u32), u32>,
    text_length: u64,
    title_length: u64,
    coded_length: u64,
}

impl WordTable {
    /// Takes a point in, once.
    pub(crate) fn add(&mut self, id: u128, payload: &HashMap<String, Value>) {
        if self.by_id.contains_key(&id) {
            return;
        }
        let length = |field: &str| {
            integer_in(payload, field).and_then(|length| u32::try_from(length).ok()).unwrap_or(0)
        };
        let written = text_in(payload, ATTRIBUTES);
        let attributes = match self.attributes.get(written) {
            Some(known) => Arc::clone(known),
            None => {
                let read = Arc::new(serde_json::from_str(written).unwrap_or_default());
                self.attributes.insert(written.into(), Arc::clone(&read));
                read
            }
        };
        let row = Row {
            number: number_in(payload),
            document: DocumentId::new(text_in(payload, DOCUMENT)),
            passage: PassageId::new(text_in(payload, PASSAGE)),
            text_length: length(TEXT_LENGTH),
            title_length: length(TITLE_LENGTH),
            pointer: text_in(payload, POINTER).into(),
            attributes,
        };
        self.fittings.get_mut().clear();
        let coded = [row.text_length, row.title_length]
            .map(|length| u32::try_from(coded_length(length as usize)).unwrap_or(u32::MAX));
        self.coded_lengths.push(coded);
        let row_idx = self.rows.len() as u32;
        let mut counts: HashMap<Token, u32> = HashMap::new();
        for token in terms::tokens_of(text_in(payload, TERMS)) {
            *counts.entry(token).or_default() += 1;
        }
        for (token, count) in counts {
            if count > MAX_SMALL {
                self.many.insert((token, row_idx), count);
            }
            let posting = row_idx << SMALL_BITS | count.min(MAX_SMALL);
            self.postings.entry(token).or_default().push(posting);
        }
        self.text_length += u64::from(row.text_length);
        self.title_length += u64::from(row.title_length);
        self.coded_length += coded_length(row.text_length as usize) as u64;
        self.by_id.insert(id, row_idx);
        self.rows.push(Some(row));
    }

    /// Takes a point out.
    pub(crate) fn remove(&mut self, id: u128) {
        let Some(row_idx) = self.by_id.remove(&id) else { return };
        let Some(row) = self.rows[row_idx as usize].take() else { return };
        self.fittings.get_mut().clear();
        self.text_length -= u64::from(row.text_length);
        self.title_length -= u64::from(row.title_length);
        self.coded_length -= coded_length(row.text_length as usize) as u64;
    }

    /// Gives how many rows there are, those of passages that went included.
    pub(crate) fn n_rows(&self) -> usize {
        self.rows.len()
    }

    /// Gives how many rows are of passages that went.
    pub(crate) fn n_gone(&self) -> usize {
        self.rows.len() - self.by_id.len()
    }

    /// Gives what BM25 needs of all passages together.
    pub(crate) fn totals(&self) -> Totals {
        let n_passages = self.by_id.len() as f64;
        let mean = |sum: u64| if n_passages > 0.0 { sum as f64 / n_passages } else { 0.0 };
        Totals {
            n_passages,
            mean_text: mean(self.text_length),
            mean_title: mean(self.title_length),
            mean_coded: mean(self.coded_length),
        }
    }

    /// Counts the passages that hold one of some words.
    pub(crate) fn n_holding(&self, words: &[Term]) -> usize {
        let is_there = |row_idx: &u32| self.rows[*row_idx as usize].is_some();
        let rows_of = |word: &Term| self.postings.get(&word.token()).map_or(&[][..], Vec::as_slice);
        match words {
            [word] if self.n_gone() == 0 => rows_of(word).len(),
            [word] => rows_of(word).iter().map(|one| one >> SMALL_BITS).filter(is_there).count(),
            words => {
                let all = words.iter().flat_map(|word| rows_of(word).iter());
                let mut rows: Vec<u32> =
                    all.map(|one| one >> SMALL_BITS).filter(is_there).collect();
                rows.sort_unstable();
                rows.dedup();
                rows.len()
            }
        }
    }

    /// Gives the row of a point with its index.
    pub(crate) fn row(&self, id: u128) -> Option<(u32, &Row)> {
        let row_idx = *self.by_id.get(&id)?;
        Some((row_idx, self.rows[row_idx as usize].as_ref()?))
    }

    /// Gives a row by its index; nothing where its passage went.
    pub(crate) fn at(&self, row_idx: u32) -> Option<&Row> {
        self.rows.get(row_idx as usize)?.as_ref()
    }

    /// Gives the lengths of the text and the title of a row, as BM25 counts with them.
    pub(crate) fn coded_length(&self, row_idx: u32) -> [u32; 2] {
        self.coded_lengths[row_idx as usize]
    }

    /// Tells for every row whether its passage is there.
    pub(crate) fn living(&self) -> Vec<bool> {
        self.rows.iter().map(Option::is_some).collect()
    }

    /// Tells for every row whether its passage is there and fits a filter.
    pub(crate) fn fitting(&self, filter: &Filter) -> Arc<[bool]> {
        let known = |fittings: &VecDeque<(Filter, Arc<[bool]>)>| {
            let found = fittings.iter().find(|(known, _)| known == filter);
            found.map(|(_, rows)| Arc::clone(rows))
        };
        if let Some(rows) = known(&self.fittings.lock()) {
            return rows;
        }
        let fits = |row: &Option<Row>| {
            row.as_ref().is_some_and(|row| {
                let candidate = condition::Candidate {
                    document: row.document.as_str(),
                    passage: row.passage.as_str(),
                    pointer: &row.pointer,
                    attributes: &row.attributes,
                };
                condition::fits(filter, &candidate)
            })
        };
        let rows: Arc<[bool]> = self.rows.iter().map(fits).collect();
        let mut fittings = self.fittings.lock();
        fittings.push_front((filter.clone(), Arc::clone(&rows)));
        fittings.truncate(MAX_FITTINGS);
        rows
    }

    /// Gives the rows that hold one of some words, counted together; nothing where none does.
    pub(crate) fn list(&self, tokens: &[Token]) -> Option<List<'_>> {
        let held: Vec<(Token, &[u32])> = tokens
            .iter()
            .filter_map(|token| Some((*token, self.postings.get(token)?.as_slice())))
            .collect();
        match held.as_slice() {
            [] => None,
            [(token, postings)] => Some(List::One { table: self, token: *token, postings }),
            several => {
                let mut counts: Vec<(u32, u32)> = vec![];
                for (token, postings) in several {
                    let count = |posting: &u32| self.count_of(token, *posting);
                    counts.extend(postings.iter().map(count));
                }
                counts.sort_unstable_by_key(|(row_idx, _)| *row_idx);
                counts.dedup_by(|next, one| {
                    let is_same = next.0 == one.0;
                    one.1 += if is_same { next.1 } else { 0 };
                    is_same
                });
                Some(List::Several(counts))
            }
        }
    }

    /// Reads a posting: the row, and how often it holds the word.
    fn count_of(&self, token: &Token, posting: u32) -> (u32, u32) {
        let (row_idx, count) = (posting >> SMALL_BITS, posting & MAX_SMALL);
        match count {
            MAX_SMALL => (row_idx, self.many.get(&(*token, row_idx)).copied().unwrap_or(MAX_SMALL)),
            count => (row_idx, count),
        }
    }

    /// Gives where the words of a question are.
    pub(crate) fn found<'a>(&'a self, tokens: &'a QueryTokens) -> QueryPostings<'a> {
        let lists = tokens.slots().filter_map(|(token, slots)| {
            let postings = self.postings.get(token)?;
            Some((*token, postings.as_slice(), slots))
        });
        QueryPostings { table: self, lists: lists.collect(), n_slots: tokens.n_slots() }
    }
}

/// Rows in their order, each with how often it holds a word; those of passages that went may be
/// among them.
pub(crate) enum List<'a> {
    /// A word under one token.
    One { table: &'a WordTable, token: Token, postings: &'a [u32] },
    /// A word under several.
    Several(Vec<(u32, u32)>),
}

impl List<'_> {
    /// Calls `each` with every row and how often it holds the word.
    pub(crate) fn each(&self, mut each: impl FnMut(u32, u32)) {
        match self {
            List::One { table, token, postings } => {
                for posting in *postings {
                    let (row_idx, count) = table.count_of(token, *posting);
                    each(row_idx, count);
                }
            }
            List::Several(counts) => counts.iter().for_each(|(row, count)| each(*row, *count)),
        }
    }

    /// Tells how often a row holds the word; `from` is where to look from on, and rows are asked
    /// about in their order.
    pub(crate) fn count_in(&self, row_idx: u32, from: &mut usize) -> Option<u32> {
        match self {
            List::One { table, token, postings } => {
                *from += postings[*from..].partition_point(|one| one >> SMALL_BITS < row_idx);
                let (found, count) = table.count_of(token, *postings.get(*from)?);
                (found == row_idx).then_some(count)
            }
            List::Several(counts) => {
                *from += counts[*from..].partition_point(|(one, _)| *one < row_idx);
                let (found, count) = counts.get(*from)?;
                (*found == row_idx).then_some(*count)
            }
        }
    }
}

/// The postings of the words of a question.
pub(crate) struct QueryPostings<'a> {
    table: &'a WordTable,
    lists: Vec<(Token, &'a [u32], &'a [usize])>,
    n_slots: usize,
}

impl QueryPostings<'_> {
    /// Counts the words of the question in a passage.
    pub(crate) fn counted(&self, row_idx: u32, row: &Row) -> CountedTokens {
        let mut counts = vec![0; self.n_slots];
        for (token, postings, slots) in &self.lists {
            let at = postings.binary_search_by_key(&row_idx, |posting| posting >> SMALL_BITS);
            let Ok(at) = at else { continue };
            let (_, count) = self.table.count_of(token, postings[at]);
            for slot in *slots {
                counts[*slot] += count as usize;
            }
        }
        CountedTokens::new(counts, row.text_length as usize, row.title_length as usize)
    }
}

pub(crate) fn id_in(id: Option<&PointId>) -> Option<u128> {
    match id?.point_id_options.as_ref()? {
        PointIdOptions::Uuid(text) => {
            let mut digits = text.bytes().filter(|byte| *byte != b'-');
            digits.try_fold(0_u128, |bits, digit| {
                Some(bits << 4 | u128::from(char::from(digit).to_digit(16)?))
            })
        }
        PointIdOptions::Num(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;
    use store::remote::{Field, Occurrences as _};
    use store::{Bm25, Clause, Form, WordsQuery};

    use super::*;
    use crate::point;

    const WORDS: [&str; 5] = ["red", "tram", "castle", "harbour", "sky"];

    fn word(at: usize) -> Term {
        Term::word(Field::Text, Form::Folded, WORDS[at])
    }

    fn payload(number: usize, words: &[usize]) -> HashMap<String, Value> {
        let tokens = terms::text_of(words.iter().map(|at| word(*at).token()));
        HashMap::from([
            (DOCUMENT.to_owned(), "d".into()),
            (PASSAGE.to_owned(), format!("d#{number}").into()),
            (NUMBER.to_owned(), (number as i64).into()),
            (TERMS.to_owned(), tokens.into()),
            (TEXT_LENGTH.to_owned(), (words.len() as i64).into()),
            (TITLE_LENGTH.to_owned(), 2_i64.into()),
        ])
    }

    fn id(number: usize) -> u128 {
        id_in(Some(&point::id_of("t", number as u32))).unwrap()
    }

    proptest! {
        /// Whatever came and went, the table says what counting every passage says.
        #[test]
        fn a_table_counts_as_reading_every_passage(
            steps in proptest::collection::vec(
                (0..12_usize, any::<bool>(), proptest::collection::vec(0..WORDS.len(), 0..300)),
                0..30,
            ),
            asked in proptest::collection::vec(0..WORDS.len(), 1..4),
        ) {
            let mut table = WordTable::default();
            let mut naive: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
            for (step, (at, is_removed, words)) in steps.into_iter().enumerate() {
                // A number is never used again.
                let number = if is_removed { at } else { step + 12 };
                if is_removed {
                    table.remove(id(number + 12));
                    naive.remove(&(number + 12));
                } else {
                    for _ in 0..2 {
                        table.add(id(number), &payload(number, &words));
                    }
                    naive.insert(number, words);
                }
            }
            let set: BTreeSet<usize> = asked.iter().copied().collect();
            let terms: Vec<Term> = asked.iter().map(|at| word(*at)).collect();
            let holding = naive.values().filter(|words| words.iter().any(|at| set.contains(at)));
            prop_assert_eq!(table.n_holding(&terms), holding.count());
            let totals = table.totals();
            let n_words: usize = naive.values().map(Vec::len).sum();
            let mean = if naive.is_empty() { 0.0 } else { n_words as f64 / naive.len() as f64 };
            prop_assert_eq!((totals.n_passages, totals.mean_text), (naive.len() as f64, mean));

            let mut query = WordsQuery::new(Bm25::PASSAGES, 0.0);
            query.should.push(Clause::any_term(Form::Folded, set.iter().map(|at| WORDS[*at])));
            let tokens = QueryTokens::of(&query).unwrap();
            let found = table.found(&tokens);
            for (number, words) in &naive {
                let (row_idx, row) = table.row(id(*number)).unwrap();
                let counted = found.counted(row_idx, row);
                let expected = words.iter().filter(|at| set.contains(at)).count();
                prop_assert_eq!(counted.count(0, &query.should[0], Field::Text), expected);
                prop_assert_eq!(counted.length(Field::Text), words.len());
                prop_assert_eq!(row.number, *number as u32);
            }
        }
    }

    #[test]
    fn a_word_that_is_repeated_often_is_counted() {
        let mut table = WordTable::default();
        for (number, n_words) in [(0, 254), (1, 255), (2, 256), (3, 1_000)] {
            table.add(id(number), &payload(number, &vec![1; n_words]));
            let mut query = WordsQuery::new(Bm25::PASSAGES, 0.0);
            query.should.push(Clause::term(Form::Folded, WORDS[1]));
            let tokens = QueryTokens::of(&query).unwrap();
            let (row_idx, row) = table.row(id(number)).unwrap();
            let counted = table.found(&tokens).counted(row_idx, row);
            assert_eq!(counted.count(0, &query.should[0], Field::Text), n_words);
        }
    }
}
