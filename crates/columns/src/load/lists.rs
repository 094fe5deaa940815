//! Cells with several values: how text is taken apart, and that each value is kept once.

use std::collections::HashSet;

use super::intern::Raw;
use super::typed::value_of;
use crate::column::NULL_CODE;
use crate::{Cells, ColumnSpec, Value};

/// Lists up to this long are searched for each of their values; longer ones are hashed, or a
/// cell of a million values would take hours.
const MAX_SEARCHED: usize = 32;

/// Calls `take` with each item of a text: of a JSON array, whose nulls are none, or of what a
/// separator splits.
pub(super) fn split(text: &str, separator: char, mut take: impl FnMut(Option<&str>)) {
    let as_json =
        text.starts_with('[').then(|| serde_json::from_str::<Vec<serde_json::Value>>(text));
    if let Some(Ok(items)) = as_json {
        for item in &items {
            match item {
                serde_json::Value::Null => take(None),
                serde_json::Value::String(text) => take(Some(text)),
                serde_json::Value::Bool(_)
                | serde_json::Value::Number(_)
                | serde_json::Value::Array(_)
                | serde_json::Value::Object(_) => take(Some(&item.to_string())),
            }
        }
        return;
    }
    let items = text.split(separator).map(str::trim).filter(|item| !item.is_empty());
    items.for_each(|item| take(Some(item)));
}

/// Leaves out what comes again in the list that begins at `start` and is the last. Counts it.
pub(super) fn keep_once(cells: &mut Vec<u32>, start: usize) -> u64 {
    let mut once = Once::of(cells.len() - start);
    let mut kept = start;
    for at in start..cells.len() {
        let cell = cells[at];
        if once.is_new(&cells[start..kept], cell) {
            cells[kept] = cell;
            kept += 1;
        }
    }
    let n_repeated = cells.len() - kept;
    cells.truncate(kept);
    n_repeated as u64
}

/// Leaves out of lists of codes what did not fit and what is the same value in another spelling;
/// a list of which nothing is left holds a null. Counts the repeated values.
pub(super) fn compact(codes: &mut Vec<u32>, offsets: &mut [i32]) -> u64 {
    let (mut kept, mut start, mut n_repeated) = (0, 0, 0);
    for offset in offsets.iter_mut().skip(1) {
        let (first, end) = (kept, *offset as usize);
        let mut once = Once::of(end - start);
        for at in start..end {
            let code = codes[at];
            if code == NULL_CODE {
                continue;
            }
            if once.is_new(&codes[first..kept], code) {
                codes[kept] = code;
                kept += 1;
            } else {
                n_repeated += 1;
            }
        }
        if kept == first {
            codes[kept] = NULL_CODE;
            kept += 1;
        }
        start = end;
        *offset = kept as i32;
    }
    codes.truncate(kept);
    n_repeated
}

/// What of one list was seen.
enum Once {
    Searched,
    Hashed(HashSet<u32>),
}

impl Once {
    fn of(n_items: usize) -> Self {
        if n_items <= MAX_SEARCHED { Once::Searched } else { Once::Hashed(HashSet::new()) }
    }

    fn is_new(&mut self, before: &[u32], item: u32) -> bool {
        match self {
            Once::Searched => !before.contains(&item),
            Once::Hashed(seen) => seen.insert(item),
        }
    }
}

/// The values of one cell.
#[derive(Debug, Default)]
pub(crate) struct Items {
    /// Each once, in their order.
    pub(crate) values: Vec<Value>,
    /// Values that came again.
    pub(crate) n_repeated: u64,
    /// Nulls, which are left out.
    pub(crate) n_nulls: u64,
    /// Whether one is not of the column's kind; it is left out.
    pub(crate) has_misfits: bool,
}

impl Items {
    /// Takes a cell of a source without lists apart.
    pub(crate) fn of(cell: Raw<'_>, spec: &ColumnSpec) -> Self {
        let mut items = Items::default();
        let mut seen = HashSet::new();
        let mut take = |cell: Raw<'_>| match value_of(cell, spec) {
            None => items.has_misfits = true,
            Some(Value::Null) => {}
            Some(value) if seen.insert(value.to_json().to_string()) => items.values.push(value),
            Some(_) => items.n_repeated += 1,
        };
        match (spec.cells, cell) {
            (Cells::Many { separator }, Raw::Text(text)) => {
                let mut n_nulls = 0;
                split(text, separator, |item| match item {
                    Some(item) => take(Raw::Text(item)),
                    None => n_nulls += 1,
                });
                items.n_nulls = n_nulls;
            }
            (Cells::Many { .. } | Cells::One, cell) => take(cell),
        }
        items
    }
}
