//! Turns the cells of one source column into a typed [`Column`], and says which did not fit.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use arrow_buffer::OffsetBuffer;

use super::intern::{Interner, Raw};
use super::lists;
use super::report::{LoadReport, Misfit};
use super::typed::{
    Fit, Numbers, Typed, as_decimals, as_text, distinct_of, fit, is_date, is_rounded,
    is_rounded_whole, order,
};
use crate::column::{Codes, NULL_CODE};
use crate::{Cells, Column, ColumnSpec, Kind};

/// While a source is read, 0 stands for null and `n + 1` for the interner's cell `n`.
const NO_CELL: u32 = 0;

/// Collects one column.
pub(crate) struct ColumnBuilder {
    spec: ColumnSpec,
    null_values: Vec<String>,
    interner: Interner,
    cells: Vec<u32>,
    offsets: Option<Vec<i32>>,
    /// Values that came more than once in one list.
    n_repeated: u64,
    /// Nulls inside of lists, which are left out.
    n_nulls: u64,
    /// What a point in time of a typed source is.
    points: Points,
}

/// What a point in time of a typed source is: text says so itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Points {
    /// A date without a time of day.
    Dates,
    /// A date and a time.
    Times,
}

impl ColumnBuilder {
    pub(crate) fn new(spec: ColumnSpec, null_values: &[String]) -> Self {
        let offsets = matches!(spec.cells, Cells::Many { .. }).then(|| vec![0]);
        ColumnBuilder {
            spec,
            null_values: null_values.to_vec(),
            interner: Interner::default(),
            cells: Vec::new(),
            offsets,
            n_repeated: 0,
            n_nulls: 0,
            points: Points::Times,
        }
    }

    /// Says what the next points in time are, before they are added.
    pub(crate) fn points_are(&mut self, points: Points) {
        self.points = points;
    }

    pub(crate) fn spec(&self) -> &ColumnSpec {
        &self.spec
    }

    pub(crate) fn push_null(&mut self) {
        self.cells.push(NO_CELL);
        self.end_row();
    }

    /// Adds the next row's cell. Text in a column with several values is split.
    pub(crate) fn push(&mut self, raw: Raw<'_>) {
        match (self.spec.cells, raw) {
            (Cells::Many { separator }, Raw::Text(text)) => self.push_split(text, separator),
            (Cells::Many { .. } | Cells::One, raw) => {
                self.push_item(raw);
                self.end_row();
            }
        }
    }

    /// Adds the next row's cell from a source that has lists. Nulls in it are left out and counted.
    pub(crate) fn push_list<'a>(&mut self, items: impl Iterator<Item = Option<Raw<'a>>>) {
        let start = self.cells.len();
        for item in items {
            match item {
                Some(item) => self.push_item(item),
                None => self.n_nulls += 1,
            }
        }
        self.end_list(start);
    }

    /// Types, sorts and narrows what was collected. `line_of` tells where a row is.
    pub(crate) fn finish(self, report: &mut LoadReport, line_of: impl Fn(usize) -> u64) -> Column {
        let ColumnBuilder {
            spec,
            null_values,
            interner,
            mut cells,
            mut offsets,
            n_repeated,
            n_nulls,
            points,
        } = self;
        report.n_repeated_in_lists += n_repeated;
        report.n_nulls_in_lists += n_nulls;
        let mut typed: Vec<(u32, Typed<'_>)> = Vec::with_capacity(interner.cells().len());
        let mut misfits: BTreeMap<u32, String> = BTreeMap::new();
        let mut has_times = false;
        let mut n_rounded = 0;
        for (cell, raw) in interner.cells().enumerate() {
            match fit(raw, &spec, &null_values) {
                Fit::Null => {}
                Fit::Value(value) => {
                    n_rounded += u64::from(is_rounded(raw, &value));
                    has_times |= !is_date(raw, points, &spec);
                    typed.push((cell as u32, value));
                }
                Fit::Misfit => {
                    misfits.insert(cell as u32 + 1, as_text(raw).into_owned());
                }
            }
        }
        if spec.kind == Kind::Timestamp && !has_times && !typed.is_empty() {
            report.date_columns.push(spec.name.clone());
        }
        let has_reals = typed.iter().any(|(_, value)| matches!(value, Typed::Real(_)));
        if has_reals {
            let is_rounded = |value: &Typed<'_>| matches!(value, Typed::Integer(number) if is_rounded_whole(*number));
            n_rounded += typed.iter().filter(|(_, value)| is_rounded(value)).count() as u64;
        }
        let scale = match n_rounded {
            0 => None,
            _ => as_decimals(&mut typed, &interner, &spec),
        };
        if let Some(scale) = scale {
            report.long_decimals.insert(spec.name.clone(), Some(scale));
        } else if has_reals {
            for (_, value) in &mut typed {
                if let Typed::Integer(number) = value {
                    *value = Typed::Real(*number as f64);
                }
            }
            report.add_rounded(&spec.name, n_rounded);
        }
        let numbers = match (scale, has_reals) {
            (Some(scale), _) => Numbers::Decimals(scale),
            (None, true) => Numbers::Reals,
            (None, false) => Numbers::Wholes,
        };
        typed.sort_by(|(_, left), (_, right)| order(left, right));
        let mut code_of = vec![NULL_CODE; interner.cells().len() + 1];
        let mut values: Vec<Typed<'_>> = Vec::with_capacity(typed.len());
        for (cell, value) in typed {
            if values.last().is_none_or(|last| order(last, &value) != Ordering::Equal) {
                values.push(value);
            }
            code_of[cell as usize + 1] = values.len() as u32;
        }
        if !misfits.is_empty() {
            report_misfits(report, &spec, &cells, offsets.as_deref(), &misfits, line_of);
        }
        for cell in &mut cells {
            *cell = code_of[*cell as usize];
        }
        if let Some(offsets) = &mut offsets {
            report.n_repeated_in_lists += lists::compact(&mut cells, offsets);
        }
        let distinct = distinct_of(spec.kind, &values, numbers);
        drop(values);
        let codes = Codes::narrowed(cells, distinct.len());
        let offsets = offsets.map(|offsets| OffsetBuffer::new(offsets.into()));
        Column::new(spec.name, codes, offsets, distinct)
    }

    fn push_split(&mut self, text: &str, separator: char) {
        let start = self.cells.len();
        lists::split(text, separator, |item| match item {
            Some(item) => self.push_item(Raw::Text(item)),
            None => self.n_nulls += 1,
        });
        self.end_list(start);
    }

    fn push_item(&mut self, raw: Raw<'_>) {
        let cell = self.interner.intern(raw) + 1;
        self.cells.push(cell);
    }

    /// Closes a list: values are kept once each, and none at all becomes a null.
    fn end_list(&mut self, start: usize) {
        self.n_repeated += lists::keep_once(&mut self.cells, start);
        if self.cells.len() == start {
            self.cells.push(NO_CELL);
        }
        self.end_row();
    }

    fn end_row(&mut self) {
        if let Some(offsets) = &mut self.offsets {
            offsets.push(self.cells.len() as i32);
        }
    }
}

fn report_misfits(
    report: &mut LoadReport,
    spec: &ColumnSpec,
    cells: &[u32],
    offsets: Option<&[i32]>,
    misfits: &BTreeMap<u32, String>,
    line_of: impl Fn(usize) -> u64,
) {
    let mut is_misfit = vec![false; cells.iter().copied().max().unwrap_or(0) as usize + 1];
    for cell in misfits.keys() {
        is_misfit[*cell as usize] = true;
    }
    let mut row = 0;
    for (item, cell) in cells.iter().enumerate() {
        match offsets {
            None => row = item,
            Some(offsets) => {
                while offsets[row + 1] as usize <= item {
                    row += 1;
                }
            }
        }
        if is_misfit[*cell as usize] {
            let misfit = Misfit::of_cell(line_of(row), &spec.name, spec.kind, &misfits[cell]);
            report.add_misfit(row, misfit);
        }
    }
}
