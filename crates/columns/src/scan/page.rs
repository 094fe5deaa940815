//! The rows of one page: the best few by their code, never a sort of all that pass.

use super::codes;
use super::select::Selected;
use crate::column::{Codes, NULL_CODE};
use crate::query::{Direction, MAX_SORTS, Position, RowMark, Sort};
use crate::{Column, Dataset, Error, Result};

/// How far from its old number a row is looked for after the data changed.
const MAX_SEARCHED: usize = 100_000;

/// A row's place in the order: by the keys of all sorted columns, 32 bits each and the most
/// significant first, then by its number.
pub(crate) type Place = (u128, u32);

const KEY_BITS: usize = 32;

/// How rows are ordered and where the page starts.
pub(crate) struct Order<'d> {
    sort: Vec<(&'d Column, Direction)>,
    /// Only rows behind this place are wanted.
    after: Option<Place>,
    /// How many rows are wanted in all, the left-out ones among them.
    n_wanted: usize,
    pub(crate) has_changed: bool,
}

/// The best rows seen so far.
pub(crate) struct Page {
    places: Vec<Place>,
    /// No place at or behind this one can still come in.
    bound: Place,
}

impl<'d> Order<'d> {
    pub(crate) fn new(
        dataset: &'d Dataset,
        sort: &[Sort],
        after: Option<&Position>,
        n_wanted: usize,
    ) -> Result<Self> {
        if sort.len() > MAX_SORTS {
            return Err(Error::TooManySorts { received: sort.len(), limit: MAX_SORTS });
        }
        let sort = sort
            .iter()
            .map(|sort| Ok((dataset.column(&sort.column)?, sort.direction)))
            .collect::<Result<_>>()?;
        let mut order = Order { sort, after: None, n_wanted, has_changed: false };
        if let Some(position) = after {
            order.has_changed = position.version != dataset.version();
            order.after = order.seek(dataset, position);
        }
        Ok(order)
    }

    /// Gives the mark of a row, from which the next page continues.
    pub(crate) fn position(&self, dataset: &Dataset, row: usize) -> Position {
        let keys = self
            .sort
            .iter()
            .map(|(column, _)| column.distinct.value(column.codes.get(column.first_item(row))))
            .collect();
        let row = RowMark::Numbered { row: row as u64, hash: dataset.row_hash(row) };
        Position { version: dataset.version(), keys, row }
    }

    /// Finds the place of a position. In data that changed, the row is looked for by its
    /// content among those with the same key, and otherwise is where it would be.
    fn seek(&self, dataset: &Dataset, position: &Position) -> Option<Place> {
        let RowMark::Numbered { row, hash } = position.row else {
            return None;
        };
        if !self.has_changed && (row as usize) < dataset.n_rows() {
            return Some((self.key(row as usize), row as u32));
        }
        if position.keys.len() < self.sort.len() {
            return self.seek_row(dataset, row, hash);
        }
        let mut packed = 0_u128;
        for (place, (column, direction)) in self.sort.iter().enumerate() {
            let shift = KEY_BITS * (MAX_SORTS - 1 - place);
            let wanted = position.keys.get(place).unwrap_or(&crate::Value::Null);
            if let Some(code) = codes::find(&column.distinct, wanted) {
                packed |= u128::from(key_of(code, *direction)) << shift;
                continue;
            }
            let at = codes::lower_bound(&column.distinct, wanted);
            let first_behind = match direction {
                Direction::Ascending if (at as usize) < column.distinct.len() => {
                    key_of(at, *direction)
                }
                Direction::Ascending => key_of(NULL_CODE, *direction),
                Direction::Descending if at > 1 => key_of(at - 1, *direction),
                Direction::Descending => key_of(NULL_CODE, *direction),
            };
            let first_behind = packed | u128::from(first_behind) << shift;
            // Nothing is before the very first key, so nothing is left out.
            return first_behind.checked_sub(1).map(|key| (key, u32::MAX));
        }
        Some((packed, self.find_again(dataset, row, hash, packed)))
    }

    /// Finds the place of a position without its keys, in data that changed: that of the same row,
    /// which has them, or of the one that has its number now.
    fn seek_row(&self, dataset: &Dataset, row: u64, hash: u64) -> Option<Place> {
        let last = dataset.n_rows().checked_sub(1)?;
        let start = (row as usize).min(last);
        let is_it = |candidate: &usize| dataset.row_hash(*candidate) == hash;
        let behind = (start..=last).take(MAX_SEARCHED).find(is_it);
        let found = behind.or_else(|| (0..start).rev().take(MAX_SEARCHED).find(is_it));
        let row = found.unwrap_or(start);
        Some((self.key(row), row as u32))
    }

    /// Looks near the old number first, since most changes move a row a little.
    fn find_again(&self, dataset: &Dataset, row: u64, hash: u64, key: u128) -> u32 {
        let n_rows = dataset.n_rows();
        let start = (row as usize).min(n_rows);
        let is_it =
            |candidate: &usize| self.key(*candidate) == key && dataset.row_hash(*candidate) == hash;
        let behind = (start..n_rows).take(MAX_SEARCHED).find(is_it);
        let found = behind.or_else(|| (0..start).rev().take(MAX_SEARCHED).find(is_it));
        found.map_or(row.min(u64::from(u32::MAX)) as u32, |row| row as u32)
    }

    fn key(&self, row: usize) -> u128 {
        let mut packed = 0;
        for (place, (column, direction)) in self.sort.iter().enumerate() {
            let code = column.codes.get(column.first_item(row));
            let shift = KEY_BITS * (MAX_SORTS - 1 - place);
            packed |= u128::from(key_of(code, *direction)) << shift;
        }
        packed
    }

    /// Puts the key of the first sorted column, which is at hand, before those of the others.
    fn complete(&self, first: u32, row: usize) -> u128 {
        let packed = u128::from(first) << (KEY_BITS * (MAX_SORTS - 1));
        if self.sort.len() > 1 { self.key(row) } else { packed }
    }
}

impl Page {
    pub(crate) fn new() -> Self {
        Page { places: Vec::new(), bound: (u128::MAX, u32::MAX) }
    }

    /// Looks at the rows of a block, which come in ascending order.
    pub(crate) fn add(&mut self, order: &Order<'_>, selected: Selected<'_>) {
        if order.n_wanted == 0 {
            return;
        }
        match order.sort.first() {
            None => {
                let is_full = self.places.len() >= order.n_wanted;
                if is_full {
                    return;
                }
                selected.for_each(|row| self.offer(order, (0, row as u32)));
            }
            Some((column, _)) if column.offsets.is_some() => {
                selected.for_each(|row| self.offer(order, (order.key(row), row as u32)));
            }
            Some((column, direction)) => match &column.codes {
                Codes::Narrow(codes) => self.add_codes(order, codes, *direction, selected),
                Codes::Medium(codes) => self.add_codes(order, codes, *direction, selected),
                Codes::Wide(codes) => self.add_codes(order, codes, *direction, selected),
            },
        }
    }

    /// Joins the pages of two parts of a table.
    pub(crate) fn merge(&mut self, order: &Order<'_>, other: Page) {
        self.places.extend(other.places);
        self.shrink(order.n_wanted);
    }

    /// Gives the wanted rows in order.
    pub(crate) fn finish(mut self, order: &Order<'_>) -> Vec<usize> {
        self.shrink(order.n_wanted);
        self.places.sort_unstable();
        self.places.into_iter().map(|(_, row)| row as usize).collect()
    }

    fn add_codes<C: Copy + Into<u32>>(
        &mut self,
        order: &Order<'_>,
        codes: &[C],
        direction: Direction,
        selected: Selected<'_>,
    ) {
        match direction {
            Direction::Ascending => selected.for_each(|row| {
                let key = codes[row].into().wrapping_sub(1);
                if key <= self.first_bound() {
                    self.offer(order, (order.complete(key, row), row as u32));
                }
            }),
            Direction::Descending => selected.for_each(|row| {
                let key = !codes[row].into();
                if key <= self.first_bound() {
                    self.offer(order, (order.complete(key, row), row as u32));
                }
            }),
        }
    }

    /// The first sorted column alone decides for nearly all rows that they are too late.
    fn first_bound(&self) -> u32 {
        (self.bound.0 >> (KEY_BITS * (MAX_SORTS - 1))) as u32
    }

    fn offer(&mut self, order: &Order<'_>, place: Place) {
        let is_wanted = place < self.bound && order.after.is_none_or(|after| place > after);
        if !is_wanted {
            return;
        }
        self.places.push(place);
        if self.places.len() >= (2 * order.n_wanted).max(1024) {
            self.shrink(order.n_wanted);
        }
    }

    /// Keeps the best places, and remembers the worst of them when there are enough.
    fn shrink(&mut self, n_wanted: usize) {
        if n_wanted == 0 || self.places.len() < n_wanted {
            return;
        }
        let (_, worst, _) = self.places.select_nth_unstable(n_wanted - 1);
        self.bound = *worst;
        self.places.truncate(n_wanted);
    }
}

/// Turns a code into a number that is small for rows that come first; null is the largest.
fn key_of(code: u32, direction: Direction) -> u32 {
    match direction {
        Direction::Ascending => code.wrapping_sub(1),
        Direction::Descending => !code,
    }
}
