//! The rows of one page: the best few by their code, never a sort of all that pass.

use super::codes;
use super::select::Selected;
use crate::column::{Codes, NULL_CODE};
use crate::query::{Direction, Position, RowMark, Sort};
use crate::{Column, Dataset, Result, Value};

/// How far from its old number a row is looked for after the data changed.
const MAX_SEARCHED: usize = 100_000;

/// A row's place in the order: by key, then by its number.
pub(crate) type Place = (u32, u32);

/// How rows are ordered and where the page starts.
pub(crate) struct Order<'d> {
    sort: Option<(&'d Column, Direction)>,
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
        sort: Option<&Sort>,
        after: Option<&Position>,
        n_wanted: usize,
    ) -> Result<Self> {
        let sort = match sort {
            Some(sort) => Some((dataset.column(&sort.column)?, sort.direction)),
            None => None,
        };
        let mut order = Order { sort, after: None, n_wanted, has_changed: false };
        if let Some(position) = after {
            order.has_changed = position.version != dataset.version();
            order.after = order.seek(dataset, position);
        }
        Ok(order)
    }

    /// Gives the mark of a row, from which the next page continues.
    pub(crate) fn position(&self, dataset: &Dataset, row: usize) -> Position {
        let key = self.sort.map_or(Value::Null, |(column, _)| {
            column.distinct.value(column.codes.get(column.first_item(row)))
        });
        let row = RowMark::Numbered { row: row as u64, hash: dataset.row_hash(row) };
        Position { version: dataset.version(), key, row }
    }

    /// Finds the place of a position. In data that changed, the row is looked for by its
    /// content among those with the same key, and otherwise stands where it would stand.
    fn seek(&self, dataset: &Dataset, position: &Position) -> Option<Place> {
        let RowMark::Numbered { row, hash } = position.row else {
            return None;
        };
        if !self.has_changed && (row as usize) < dataset.n_rows() {
            return Some((self.key(row as usize), row as u32));
        }
        let Some((column, direction)) = self.sort else {
            return Some((0, self.find_again(dataset, row, hash, None)));
        };
        match codes::find(&column.distinct, &position.key) {
            Some(code) => {
                let key = key_of(code, direction);
                Some((key, self.find_again(dataset, row, hash, Some(key))))
            }
            None => {
                let at = codes::lower_bound(&column.distinct, &position.key);
                let first_behind = match direction {
                    Direction::Ascending => key_of(at, direction),
                    Direction::Descending if at > 1 => key_of(at - 1, direction),
                    Direction::Descending => key_of(NULL_CODE, direction),
                };
                // Nothing stands before the very first key, so nothing is left out.
                first_behind.checked_sub(1).map(|key| (key, u32::MAX))
            }
        }
    }

    /// Looks near the old number first, since most changes move a row a little.
    fn find_again(&self, dataset: &Dataset, row: u64, hash: u64, key: Option<u32>) -> u32 {
        let n_rows = dataset.n_rows();
        let start = (row as usize).min(n_rows);
        let is_it = |candidate: &usize| {
            key.is_none_or(|key| self.key(*candidate) == key)
                && dataset.row_hash(*candidate) == hash
        };
        let behind = (start..n_rows).take(MAX_SEARCHED).find(is_it);
        let found = behind.or_else(|| (0..start).rev().take(MAX_SEARCHED).find(is_it));
        found.map_or(row.min(u64::from(u32::MAX)) as u32, |row| row as u32)
    }

    fn key(&self, row: usize) -> u32 {
        self.sort.map_or(0, |(column, direction)| {
            key_of(column.codes.get(column.first_item(row)), direction)
        })
    }
}

impl Page {
    pub(crate) fn new() -> Self {
        Page { places: Vec::new(), bound: (u32::MAX, u32::MAX) }
    }

    /// Looks at the rows of a block, which come in ascending order.
    pub(crate) fn add(&mut self, order: &Order<'_>, selected: Selected<'_>) {
        if order.n_wanted == 0 {
            return;
        }
        match order.sort {
            None => {
                let is_full = self.places.len() >= order.n_wanted;
                if is_full {
                    return;
                }
                selected.for_each(|row| self.offer(order, (0, row as u32)));
            }
            Some((column, direction)) if column.offsets.is_some() => {
                selected.for_each(|row| {
                    let code = column.codes.get(column.first_item(row));
                    self.offer(order, (key_of(code, direction), row as u32));
                });
            }
            Some((column, direction)) => match &column.codes {
                Codes::Narrow(codes) => self.add_codes(order, codes, direction, selected),
                Codes::Medium(codes) => self.add_codes(order, codes, direction, selected),
                Codes::Wide(codes) => self.add_codes(order, codes, direction, selected),
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
                if key <= self.bound.0 {
                    self.offer(order, (key, row as u32));
                }
            }),
            Direction::Descending => selected.for_each(|row| {
                let key = !codes[row].into();
                if key <= self.bound.0 {
                    self.offer(order, (key, row as u32));
                }
            }),
        }
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
