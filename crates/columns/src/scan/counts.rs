//! How often each code occurs among the rows that pass.

use super::select::Selected;
use crate::column::{Codes, NULL_CODE};
use crate::query::{Facet, FacetRow};
use crate::{Column, Kind};

/// Small dictionaries are counted in this many lanes, since adding twice to one place in a row
/// waits for the first addition.
const LANES: usize = 4;
/// The largest dictionary that is counted in lanes.
const MAX_LANED: usize = 4096;

/// Counts of one column.
pub(crate) struct Counts {
    n_codes: usize,
    lanes: Vec<u32>,
}

impl Counts {
    pub(crate) fn new(column: &Column) -> Self {
        let n_codes = column.distinct.len();
        let n_lanes = if n_codes <= MAX_LANED { LANES } else { 1 };
        Counts { n_codes, lanes: vec![0; n_codes * n_lanes] }
    }

    pub(crate) fn add(&mut self, column: &Column, selected: Selected<'_>) {
        if let Some(offsets) = &column.offsets {
            selected.for_each(|row| {
                for item in offsets[row] as usize..offsets[row + 1] as usize {
                    self.lanes[column.codes.get(item) as usize] += 1;
                }
            });
            return;
        }
        match &column.codes {
            Codes::Narrow(codes) => self.add_codes(codes, selected),
            Codes::Medium(codes) => self.add_codes(codes, selected),
            Codes::Wide(codes) => self.add_codes(codes, selected),
        }
    }

    pub(crate) fn merge(&mut self, other: &Counts) {
        for (sum, count) in self.lanes.iter_mut().zip(&other.lanes) {
            *sum += count;
        }
    }

    pub(crate) fn finish(mut self) -> Vec<u32> {
        let (first, others) = self.lanes.split_at_mut(self.n_codes);
        for lane in others.chunks(self.n_codes) {
            for (sum, count) in first.iter_mut().zip(lane) {
                *sum += count;
            }
        }
        self.lanes.truncate(self.n_codes);
        self.lanes
    }

    fn add_codes<C: Copy + Into<u32>>(&mut self, codes: &[C], selected: Selected<'_>) {
        let has_lanes = self.lanes.len() > self.n_codes;
        match (has_lanes, selected) {
            (false, selected) => {
                selected.for_each(|row| self.lanes[codes[row].into() as usize] += 1);
            }
            (true, Selected::All(start, end)) => {
                let codes = codes[start..end].iter().map(|code| (*code).into() as usize);
                self.add_in_lanes(codes);
            }
            (true, Selected::Some(rows)) => {
                self.add_in_lanes(rows.iter().map(|row| codes[*row as usize].into() as usize));
            }
        }
    }

    fn add_in_lanes(&mut self, mut codes: impl Iterator<Item = usize>) {
        let (one, rest) = self.lanes.split_at_mut(self.n_codes);
        let (two, rest) = rest.split_at_mut(self.n_codes);
        let (three, four) = rest.split_at_mut(self.n_codes);
        while let Some(code) = codes.next() {
            one[code] += 1;
            if let Some(code) = codes.next() {
                two[code] += 1;
            }
            if let Some(code) = codes.next() {
                three[code] += 1;
            }
            if let Some(code) = codes.next() {
                four[code] += 1;
            }
        }
    }
}

/// Turns counts into a facet with at most `n_rows` values.
pub(crate) fn facet(column: &Column, counts: &[u32], n_rows: usize) -> Facet {
    let mut present: Vec<(u32, u32)> = counts
        .iter()
        .enumerate()
        .filter(|(_, count)| **count > 0)
        .map(|(code, count)| (code as u32, *count))
        .collect();
    let n_values = present.len() as u64;
    let total = present.iter().map(|(_, count)| u64::from(*count)).sum();
    let has_order = matches!(column.kind(), Kind::Number | Kind::Timestamp);
    let lowest = present.iter().find(|(code, _)| *code != NULL_CODE).filter(|_| has_order);
    let highest = present.last().filter(|(code, _)| has_order && *code != NULL_CODE);
    let min = lowest.map(|(code, _)| column.distinct.value(*code));
    let max = highest.map(|(code, _)| column.distinct.value(*code));
    let by_count = |(left_code, left): &(u32, u32), (right_code, right): &(u32, u32)| {
        right.cmp(left).then(left_code.cmp(right_code))
    };
    if present.len() > n_rows && n_rows > 0 {
        present.select_nth_unstable_by(n_rows - 1, by_count);
    }
    present.truncate(n_rows);
    present.sort_unstable_by(by_count);
    let rows = present
        .into_iter()
        .map(|(code, count)| FacetRow {
            value: column.distinct.value(code),
            total: u64::from(count),
        })
        .collect();
    Facet { column: column.name().to_owned(), rows, n_values, total, min, max, distribution: None }
}
