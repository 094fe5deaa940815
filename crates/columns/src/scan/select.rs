//! Which rows of a block pass: one byte for each row, then the list of those that are 1.

use super::codes::{CodeSet, Condition};
use crate::Column;
use crate::column::Codes;

/// Rows that are looked at together; small enough for the first cache.
pub(crate) const BLOCK_ROWS: usize = 4096;

/// What rows must pass.
#[derive(Debug, Default)]
pub(crate) struct Conditions<'d> {
    /// All of these.
    pub(crate) all: Vec<(&'d Column, Condition)>,
    /// And one alternative of each of these; an alternative is a list that must all hold.
    pub(crate) any: Vec<Vec<Vec<(&'d Column, Condition)>>>,
}

impl Conditions<'_> {
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty() && self.any.is_empty()
    }
}

/// Rows of one block that pass.
pub(crate) struct Selection {
    marks: Vec<u8>,
    rows: Vec<u32>,
    /// Marks of one alternative, and of the alternatives together.
    alternative: Vec<u8>,
    group: Vec<u8>,
}

/// The passing rows of a block.
#[derive(Clone, Copy)]
pub(crate) enum Selected<'s> {
    /// All from the first to before the last.
    All(usize, usize),
    /// These.
    Some(&'s [u32]),
}

impl Selected<'_> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Selected::All(start, end) => end - start,
            Selected::Some(rows) => rows.len(),
        }
    }

    /// Calls `visit` with each row, in ascending order.
    pub(crate) fn for_each(&self, mut visit: impl FnMut(usize)) {
        match self {
            Selected::All(start, end) => (*start..*end).for_each(visit),
            Selected::Some(rows) => rows.iter().for_each(|row| visit(*row as usize)),
        }
    }
}

impl Selection {
    pub(crate) fn new() -> Self {
        Selection {
            marks: vec![0; BLOCK_ROWS],
            rows: vec![0; BLOCK_ROWS],
            alternative: Vec::new(),
            group: Vec::new(),
        }
    }

    /// Tests the rows of a block against all conditions.
    pub(crate) fn select(
        &mut self,
        conditions: &Conditions<'_>,
        start: usize,
        end: usize,
    ) -> Selected<'_> {
        if conditions.is_empty() {
            return Selected::All(start, end);
        }
        let marks = &mut self.marks[..end - start];
        marks.fill(1);
        for (column, condition) in &conditions.all {
            mark(marks, column, condition, start);
        }
        for alternatives in &conditions.any {
            self.group.clear();
            self.group.resize(marks.len(), 0);
            for alternative in alternatives {
                self.alternative.clear();
                self.alternative.resize(marks.len(), 1);
                for (column, condition) in alternative {
                    mark(&mut self.alternative, column, condition, start);
                }
                for (one, of_all) in self.alternative.iter().zip(&mut self.group) {
                    *of_all |= one;
                }
            }
            for (mark, of_all) in marks.iter_mut().zip(&self.group) {
                *mark &= of_all;
            }
        }
        let rows = &mut self.rows[..];
        let mut n_rows = 0;
        // Writing every row and moving on only for those that pass leaves no branch to miss.
        for (at, mark) in marks.iter().enumerate() {
            rows[n_rows] = (start + at) as u32;
            n_rows += *mark as usize;
        }
        Selected::Some(&self.rows[..n_rows])
    }
}

fn mark(marks: &mut [u8], column: &Column, condition: &Condition, start: usize) {
    if let Some(offsets) = &column.offsets {
        for (at, mark) in marks.iter_mut().enumerate() {
            let row = start + at;
            let items = offsets[row] as usize..offsets[row + 1] as usize;
            *mark &= u8::from(holds(column, condition, items));
        }
        return;
    }
    match condition {
        Condition::Any(set) => match &column.codes {
            Codes::Narrow(codes) => mark_codes(marks, &codes[start..], set),
            Codes::Medium(codes) => mark_codes(marks, &codes[start..], set),
            Codes::Wide(codes) => mark_codes(marks, &codes[start..], set),
        },
        Condition::None(_) | Condition::HoldsAll(_) | Condition::LacksAll(_) => {
            for (at, mark) in marks.iter_mut().enumerate() {
                *mark &= u8::from(holds(column, condition, start + at..start + at + 1));
            }
        }
    }
}

fn mark_codes<C: Copy + Into<u32>>(marks: &mut [u8], codes: &[C], set: &CodeSet) {
    let codes = &codes[..marks.len()];
    match set {
        CodeSet::Nothing => marks.fill(0),
        CodeSet::Everything => {}
        CodeSet::Span(first, last) => {
            let width = last - first;
            for (mark, code) in marks.iter_mut().zip(codes) {
                *mark &= u8::from((*code).into().wrapping_sub(*first) <= width);
            }
        }
        CodeSet::Table(table) => {
            for (mark, code) in marks.iter_mut().zip(codes) {
                *mark &= table[(*code).into() as usize];
            }
        }
    }
}

fn holds(column: &Column, condition: &Condition, items: std::ops::Range<usize>) -> bool {
    let mut codes = items.clone().map(|item| column.codes.get(item));
    let holds_one_list = |lists: &Vec<Vec<u32>>| {
        lists.iter().any(|list| {
            list.iter().all(|code| items.clone().any(|item| column.codes.get(item) == *code))
        })
    };
    match condition {
        Condition::Any(set) => codes.any(|code| set.contains(code)),
        Condition::None(set) => !codes.any(|code| set.contains(code)),
        Condition::HoldsAll(lists) => holds_one_list(lists),
        Condition::LacksAll(lists) => !holds_one_list(lists),
    }
}

impl CodeSet {
    pub(super) fn contains(&self, code: u32) -> bool {
        match self {
            CodeSet::Nothing => false,
            CodeSet::Everything => true,
            CodeSet::Span(first, last) => (*first..=*last).contains(&code),
            CodeSet::Table(table) => table[code as usize] == 1,
        }
    }
}
