//! Where a walk through the answers of a batch is: what was given for each of its queries.
//!
//! A cursor has one entry for each query: `.` when it was not answered yet, `-` when all of it was
//! given, or four characters: how many results were given, and a mark of the last of them, so
//! that names which come or go between two pages move nothing. What was not answered at the end is
//! left out. Nothing is remembered on a server.

use across::Given;
use filters::{MAX_LIMIT, SearchRequest, SearchResult};

use super::search_filters::{behind, name_of};
use crate::ToolError;
use crate::paging::bad_cursor;

/// Begins every cursor, so that none looks like a number.
const BEGIN: char = 'b';
const NOTHING: char = '.';
const ALL: char = '-';

/// Characters of an entry, and of the mark of the queries.
const ENTRY_CHARS: usize = 4;
const RADIX: u32 = 36;

/// Bits of a mark: with the number of results they are less than four digits hold.
const MARK_BITS: u32 = 15;
const _: () = assert!(((MAX_LIMIT as u64 + 1) << MARK_BITS) <= (RADIX as u64).pow(4));

/// What was given for one query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// It was not answered yet.
    Nothing,
    /// It was answered with a part of its results.
    Part {
        /// How many.
        n_given: usize,
        /// The mark of the last of them.
        last: u64,
    },
    /// All that was asked for.
    All,
}

impl Progress {
    /// Tells what is given once so many results were, of which this is the last.
    pub(super) fn behind(last: &SearchResult, n_given: usize) -> Self {
        Progress::Part { n_given, last: mark(&name_of(last)) }
    }

    /// Gives the position behind what was given.
    pub(super) fn find(self, results: &[SearchResult]) -> usize {
        match self {
            Progress::Nothing => 0,
            Progress::Part { n_given, last } => behind(results, n_given, |name| mark(name) == last),
            Progress::All => results.len(),
        }
    }

    /// Counts the results that were given.
    pub(super) fn n_given(self) -> usize {
        match self {
            Progress::Part { n_given, .. } => n_given,
            Progress::Nothing | Progress::All => 0,
        }
    }
}

/// What was given for each query of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BatchPlace {
    of_queries: u64,
    given: Vec<Progress>,
}

impl BatchPlace {
    /// Begins a walk.
    pub(super) fn begin(queries: &[SearchRequest]) -> Self {
        let words = queries.iter().flat_map(|query| {
            [query.category.as_str(), query.query.as_str(), query.hint.as_deref().unwrap_or("")]
        });
        let of_queries = mark(&words.collect::<Vec<_>>().join("\n"));
        BatchPlace { of_queries, given: vec![Progress::Nothing; queries.len()] }
    }

    /// Reads what [`BatchPlace::written`] wrote for the same queries.
    ///
    /// Fails with the sentence for the caller when it is no cursor of this kind, or one of other
    /// queries.
    pub(super) fn read(cursor: &str, queries: &[SearchRequest]) -> Result<Self, ToolError> {
        let mut place = BatchPlace::begin(queries);
        let (of_queries, given) = entries(cursor).ok_or_else(|| bad_cursor(cursor))?;
        if of_queries != place.of_queries || given.len() > place.given.len() {
            return Err(ToolError::bad_request("`cursor` is of a batch with other `queries`")
                .with_detail("argument", "cursor")
                .with_hint(
                    "pass the same `queries` in the same order with `next` of their answer, or \
                     leave `cursor` out to begin again",
                ));
        }
        for (known, read) in place.given.iter_mut().zip(given) {
            *known = read;
        }
        Ok(place)
    }

    /// Writes it as an opaque text; nothing when all of every query was given.
    pub(super) fn written(&self) -> Option<String> {
        if self.given.iter().all(|progress| *progress == Progress::All) {
            return None;
        }
        let mut text = String::from(BEGIN);
        write(self.of_queries, &mut text);
        for progress in &self.given {
            match progress {
                Progress::Nothing => text.push(NOTHING),
                Progress::All => text.push(ALL),
                Progress::Part { n_given, last } => {
                    write(((*n_given as u64) << MARK_BITS) | last, &mut text);
                }
            }
        }
        text.truncate(text.trim_end_matches(NOTHING).len());
        Some(text)
    }

    /// Gives a text as long as the cursor of this walk can become.
    pub(super) fn longest(&self) -> String {
        let given = (0..self.given.len())
            .map(|at| Progress::Part { n_given: at % MAX_LIMIT, last: mark(&at.to_string()) });
        let longest = BatchPlace { of_queries: self.of_queries, given: given.collect() };
        longest.written().unwrap_or_default()
    }

    /// Lists the queries that an answer is for: those without one, or else those with more.
    pub(super) fn open(&self) -> Vec<usize> {
        let is = |is_open: fn(&Progress) -> bool| -> Vec<usize> {
            let queries = self.given.iter().enumerate();
            queries.filter(|(_, progress)| is_open(progress)).map(|(at, _)| at).collect()
        };
        match is(|progress| *progress == Progress::Nothing) {
            none if none.is_empty() => is(|progress| *progress != Progress::All),
            unanswered => unanswered,
        }
    }

    /// Tells whether no query was answered yet.
    pub(super) fn is_begin(&self) -> bool {
        self.given.iter().all(|progress| *progress == Progress::Nothing)
    }

    pub(super) fn of(&self, query_idx: usize) -> Progress {
        self.given.get(query_idx).copied().unwrap_or(Progress::All)
    }

    pub(super) fn set(&mut self, query_idx: usize, progress: Progress) {
        if let Some(known) = self.given.get_mut(query_idx) {
            *known = progress;
        }
    }
}

fn mark(name: &str) -> u64 {
    Given::place_of(name) & ((1 << MARK_BITS) - 1)
}

fn write(mut number: u64, text: &mut String) {
    let mut digits = ['0'; ENTRY_CHARS];
    for digit in digits.iter_mut().rev() {
        *digit = char::from_digit((number % u64::from(RADIX)) as u32, RADIX).unwrap_or('0');
        number /= u64::from(RADIX);
    }
    text.extend(digits);
}

/// Reads the mark of the queries and the entries of a cursor.
fn entries(cursor: &str) -> Option<(u64, Vec<Progress>)> {
    let number = |digits: &str| u64::from_str_radix(digits, RADIX).ok();
    let rest = cursor.trim().strip_prefix(BEGIN)?;
    let (of_queries, mut rest) = rest.split_at_checked(ENTRY_CHARS)?;
    let mut given = Vec::new();
    while let Some(first) = rest.chars().next() {
        let n_chars = if [NOTHING, ALL].contains(&first) { 1 } else { ENTRY_CHARS };
        let (entry, behind) = rest.split_at_checked(n_chars)?;
        given.push(match first {
            NOTHING => Progress::Nothing,
            ALL => Progress::All,
            _ => {
                let number = number(entry)?;
                let n_given = (number >> MARK_BITS) as usize;
                Progress::Part { n_given, last: number & ((1 << MARK_BITS) - 1) }
            }
        });
        rest = behind;
    }
    Some((number(of_queries)?, given))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_read_back_and_others_are_refused() {
        let queries: Vec<SearchRequest> =
            (0..5).map(|n| SearchRequest::new("place", format!("Place {n}"))).collect();
        let mut place = BatchPlace::begin(&queries);
        let first = place.written().unwrap();
        assert_eq!(first.len(), 1 + ENTRY_CHARS);
        assert_eq!(BatchPlace::read(&first, &queries).unwrap(), place);
        place.set(0, Progress::All);
        place.set(2, Progress::Part { n_given: MAX_LIMIT, last: mark("x=1") });
        assert_eq!(place.open(), [1, 3, 4]);
        let cursor = place.written().unwrap();
        assert_eq!(BatchPlace::read(&cursor, &queries).unwrap(), place);
        assert!(cursor.len() < place.longest().len());
        for at in [1, 3, 4] {
            place.set(at, Progress::All);
        }
        assert_eq!(place.open(), [2]);
        place.set(2, Progress::All);
        assert_eq!(place.written(), None);
        let others = &queries[1..];
        for (cursor, queries, word) in
            [(&*cursor, others, "other"), ("60", &*queries, "not a cursor"), ("b", &*queries, "no")]
        {
            let refused = BatchPlace::read(cursor, queries).unwrap_err();
            assert!(refused.message.contains(word), "{refused}");
        }
        for nonsense in ["", "b000!", "b0000+", "b0000zz", "bÄÖÜß", "b0000資料資料"] {
            assert!(BatchPlace::read(nonsense, &queries).is_err(), "{nonsense}");
        }
    }
}
