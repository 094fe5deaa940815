//! Turns the cells of one source column into a typed [`Column`], and says which did not fit.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use arrow_array::{
    BooleanArray, Float64Array, Int64Array, LargeStringArray, TimestampMillisecondArray,
};
use arrow_buffer::OffsetBuffer;

use super::intern::{Interner, Raw};
use super::lists;
use super::report::{LoadReport, Misfit};
use crate::column::{Codes, Distinct, NULL_CODE};
use crate::spec::NULL_WORDS;
use crate::{Cells, Column, ColumnSpec, DateOrder, DecimalMark, Kind, Value, moment, read_numeral};

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

/// A typed distinct value.
#[derive(Debug, Clone, PartialEq)]
enum Typed<'a> {
    Text(std::borrow::Cow<'a, str>),
    Integer(i64),
    Real(f64),
    Boolean(bool),
    Millis(i64),
}

/// What became of a raw cell.
enum Fit<'a> {
    Null,
    Value(Typed<'a>),
    Misfit,
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

    /// Adds the next row's cell from a source that has lists.
    pub(crate) fn push_list<'a>(&mut self, items: impl Iterator<Item = Raw<'a>>) {
        let start = self.cells.len();
        for item in items {
            self.push_item(item);
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
            points,
        } = self;
        report.n_repeated_in_lists += n_repeated;
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
            for (_, value) in &mut typed {
                if let Typed::Integer(number) = value {
                    n_rounded += u64::from(is_rounded_whole(*number));
                    *value = Typed::Real(*number as f64);
                }
            }
        }
        report.add_rounded(&spec.name, n_rounded);
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
        let distinct = distinct_of(spec.kind, &values, has_reals);
        drop(values);
        let codes = Codes::narrowed(cells, distinct.len());
        let offsets = offsets.map(|offsets| OffsetBuffer::new(offsets.into()));
        Column::new(spec.name, codes, offsets, distinct)
    }

    fn push_split(&mut self, text: &str, separator: char) {
        let start = self.cells.len();
        lists::split(text, separator, |item| self.push_item(Raw::Text(item)));
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

fn fit<'a>(raw: Raw<'a>, spec: &ColumnSpec, null_values: &[String]) -> Fit<'a> {
    if let Raw::Text(text) = raw {
        let is_null = null_values.iter().any(|null| null == text)
            || (spec.kind != Kind::Text && NULL_WORDS.contains(&text.trim()));
        if is_null {
            return Fit::Null;
        }
    }
    let value = match spec.kind {
        Kind::Text => Some(Typed::Text(as_text(raw))),
        Kind::Number => match (spec.decimal, raw) {
            (Some(mark), Raw::Text(text)) => as_numeral(text, mark),
            (Some(_) | None, raw) => as_number(raw),
        },
        Kind::Boolean => as_boolean(raw).map(Typed::Boolean),
        Kind::Timestamp => as_millis(raw, spec).map(Typed::Millis),
    };
    match (value, raw) {
        (Some(value), _) => Fit::Value(value),
        // A typed source says "not a number" for what a text file leaves empty.
        (None, Raw::Real(number)) if number.is_nan() => Fit::Null,
        (None, _) => Fit::Misfit,
    }
}

fn as_text(raw: Raw<'_>) -> std::borrow::Cow<'_, str> {
    match raw {
        Raw::Text(text) => text.into(),
        Raw::Integer(number) => number.to_string().into(),
        Raw::Real(number) => number.to_string().into(),
        Raw::Boolean(flag) => flag.to_string().into(),
        Raw::Millis(millis) => moment::to_iso(millis).into(),
    }
}

fn as_number(raw: Raw<'_>) -> Option<Typed<'static>> {
    match raw {
        Raw::Text(text) => {
            let text = text.trim();
            if let Ok(number) = text.parse::<i64>() {
                return Some(Typed::Integer(number));
            }
            text.parse::<f64>().ok().filter(|number| number.is_finite()).map(real)
        }
        Raw::Integer(number) | Raw::Millis(number) => Some(Typed::Integer(number)),
        Raw::Real(number) => number.is_finite().then(|| real(number)),
        Raw::Boolean(_) => None,
    }
}

/// Reads a number as people write it; an exponent is no part of that, but programs write it.
fn as_numeral(text: &str, mark: DecimalMark) -> Option<Typed<'static>> {
    let has_exponent = text.contains(['e', 'E']) && text.trim().parse::<f64>().is_ok();
    if has_exponent {
        return as_number(Raw::Text(text));
    }
    let numeral = read_numeral(text, mark)?;
    as_number(Raw::Text(&numeral.plain))
}

/// Tells whether a number has other digits than its value shows: a float keeps fifteen for sure,
/// and often more.
fn is_rounded(raw: Raw<'_>, value: &Typed<'_>) -> bool {
    let (Raw::Text(text), Typed::Real(number)) = (raw, value) else { return false };
    is_rounded_to(text, *number)
}

/// Tells whether a float does not hold a whole number. Compared in a wider type: the float nearest to
/// the largest whole number is beyond it.
fn is_rounded_whole(number: i64) -> bool {
    number as f64 as i128 != i128::from(number)
}

/// Tells whether the digits of a text are not those of the number it was read as.
pub(crate) fn is_rounded_to(text: &str, number: f64) -> bool {
    /// So many digits come back from a float as they were.
    const EXACT_DIGITS: usize = 15;
    let written = significant(text);
    written.len() > EXACT_DIGITS && written != significant(&number.to_string())
}

/// Gives the digits that say something, wherever the decimal mark is.
fn significant(text: &str) -> String {
    let mantissa = text.trim().split(['e', 'E']).next().unwrap_or_default();
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    digits.trim_matches('0').to_owned()
}

/// Reads the text of a number, as [`fit`] does.
pub(crate) fn number_of(text: &str) -> Option<Value> {
    as_number(Raw::Text(text)).map(Typed::into_value)
}

/// Gives the value of one cell, null where nothing is there; none where it does not fit.
pub(crate) fn value_of(raw: Raw<'_>, spec: &ColumnSpec) -> Option<Value> {
    match fit(raw, spec, &[]) {
        Fit::Null => Some(Value::Null),
        Fit::Value(value) => Some(value.into_value()),
        Fit::Misfit => None,
    }
}

impl Typed<'_> {
    fn into_value(self) -> Value {
        match self {
            Typed::Text(text) => Value::Text(text.into_owned()),
            Typed::Integer(number) => Value::Integer(number),
            Typed::Real(number) => Value::Real(number),
            Typed::Boolean(flag) => Value::Boolean(flag),
            Typed::Millis(millis) => Value::Timestamp(millis),
        }
    }
}

/// Adding zero turns the negative zero into the positive one, so that they are one value.
fn real(number: f64) -> Typed<'static> {
    Typed::Real(number + 0.0)
}

fn as_boolean(raw: Raw<'_>) -> Option<bool> {
    match raw {
        Raw::Boolean(flag) => Some(flag),
        Raw::Integer(0) => Some(false),
        Raw::Integer(1) => Some(true),
        Raw::Text(text) => match text.trim().to_ascii_lowercase().as_str() {
            "true" | "t" | "yes" | "y" | "1" => Some(true),
            "false" | "f" | "no" | "n" | "0" => Some(false),
            _ => None,
        },
        Raw::Integer(_) | Raw::Real(_) | Raw::Millis(_) => None,
    }
}

fn as_millis(raw: Raw<'_>, spec: &ColumnSpec) -> Option<i64> {
    match raw {
        Raw::Text(text) => moment::parse_ordered(text, spec.epoch, spec.date_order),
        Raw::Integer(number) if spec.date_order == Some(DateOrder::Ymd) => {
            moment::parse_ordered(&number.to_string(), spec.epoch, spec.date_order)
        }
        Raw::Integer(number) => spec.epoch.to_millis(number as f64),
        Raw::Real(number) => spec.epoch.to_millis(number),
        Raw::Millis(millis) => moment::checked(millis),
        Raw::Boolean(_) => None,
    }
}

/// Tells whether a cell that fits a timestamp is a date without a time of day.
fn is_date(raw: Raw<'_>, points: Points, spec: &ColumnSpec) -> bool {
    let has_digits_alone = spec.date_order == Some(DateOrder::Ymd);
    match raw {
        Raw::Text(text) => has_digits_alone || moment::is_date(text),
        Raw::Millis(_) => points == Points::Dates,
        Raw::Integer(_) => has_digits_alone,
        Raw::Real(_) | Raw::Boolean(_) => false,
    }
}

fn order(left: &Typed<'_>, right: &Typed<'_>) -> Ordering {
    match (left, right) {
        (Typed::Text(left), Typed::Text(right)) => left.cmp(right),
        (Typed::Integer(left), Typed::Integer(right))
        | (Typed::Millis(left), Typed::Millis(right)) => left.cmp(right),
        (Typed::Real(left), Typed::Real(right)) => left.total_cmp(right),
        (Typed::Boolean(left), Typed::Boolean(right)) => left.cmp(right),
        _ => unreachable!("a column's values have one type by the time they are sorted"),
    }
}

fn distinct_of(kind: Kind, values: &[Typed<'_>], has_reals: bool) -> Distinct {
    macro_rules! collected {
        ($array:ty, $($pattern:pat => $value:expr),+) => {
            std::iter::once(None)
                .chain(values.iter().map(|value| match value {
                    $($pattern => Some($value),)+
                    _ => None,
                }))
                .collect::<$array>()
        };
    }
    match kind {
        Kind::Text => {
            Distinct::Text(collected!(LargeStringArray, Typed::Text(text) => text.as_ref()))
        }
        Kind::Number if has_reals => {
            Distinct::Reals(collected!(Float64Array, Typed::Real(number) => *number))
        }
        Kind::Number => {
            Distinct::Integers(collected!(Int64Array, Typed::Integer(number) => *number))
        }
        Kind::Boolean => {
            Distinct::Booleans(collected!(BooleanArray, Typed::Boolean(flag) => *flag))
        }
        Kind::Timestamp => Distinct::Timestamps(
            collected!(TimestampMillisecondArray, Typed::Millis(millis) => *millis),
        ),
    }
}
