//! The answer to a question for rows, before it is written in a format, with everything that was
//! cut said.

use columns::{Distribution, Facet, SeriesAnswer, Value};
use model::Warning;

use crate::cells::{CellWindow, CutCells, ShowPiece};
use crate::request::{Format, Formulas, QueryRequest};

/// The most values of one facet; more are cut with a notice.
pub const MAX_FACET_ROWS: usize = 100;

/// The longest value of a facet or a suggestion, in characters.
pub const MAX_FACET_CHARS: usize = 200;

/// How often a value occurs.
#[derive(Debug, Clone, PartialEq)]
pub struct FacetRow {
    /// As rows show it.
    pub value: Value,
    /// How often it occurs.
    pub total: u64,
}

/// The values of one field over all rows that pass.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FacetMeta {
    /// Values by falling count; beside a distribution null alone, where rows have none.
    pub rows: Vec<FacetRow>,
    /// All occurrences.
    pub total: u64,
    /// The lowest value, for numbers and timestamps.
    pub min: Option<Value>,
    /// The highest value, for numbers and timestamps.
    pub max: Option<Value>,
    /// How a continuous field's values are spread, in place of single values.
    pub distribution: Option<Distribution>,
}

/// Values that a filter may have meant.
#[derive(Debug, Clone, PartialEq)]
pub struct DidYouMean {
    /// The filter.
    pub field: String,
    /// The value that no row has.
    pub received: Value,
    /// Values that rows have, the most alike first.
    pub suggestions: Vec<Value>,
}

/// A count, or a sum of a field, by time.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// The timestamp field.
    pub field: String,
    /// The number field that was added up; rows are counted without one.
    pub sum: Option<String>,
    /// The zone whose calendar the points are of.
    pub time_zone: String,
    /// The points.
    pub answer: SeriesAnswer,
}

/// An answer, before it is written in its format.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryResponse {
    /// The format that was asked for.
    pub format: Format,
    /// What happens to formulas in CSV.
    pub formulas: Formulas,
    /// The names of the cells of a row.
    pub columns: Vec<String>,
    /// The page, cell by cell; timestamps as text in ISO 8601. Whole until [`QueryResponse::show`].
    pub rows: Vec<Vec<Value>>,
    /// Which characters of long cells were asked for.
    pub window: CellWindow,
    /// Where long cells go on, once they are shown in pieces.
    pub next_offset: Option<usize>,
    /// All rows that pass, on whatever page.
    pub total: u64,
    /// Facets by field, when the format is `stats` and the data gives them.
    pub facets: Option<Vec<(String, FacetMeta)>>,
    /// The picture over time, when it was asked for.
    pub series: Option<Series>,
    /// The token of the next page, when there is one.
    pub next: Option<String>,
    /// Values that filters may have meant, when nothing passes.
    pub did_you_mean: Vec<DidYouMean>,
    /// Values in whose place a mark is, since their field is secret by a name.
    pub n_marked: usize,
    /// What went less than perfectly.
    pub warnings: Vec<Warning>,
}

impl QueryResponse {
    /// Starts an answer to a request.
    pub(crate) fn new(
        request: &QueryRequest,
        columns: Vec<String>,
        rows: Vec<Vec<Value>>,
        total: u64,
    ) -> Self {
        QueryResponse {
            format: request.format,
            formulas: request.formulas,
            columns,
            rows,
            window: CellWindow::at(request.offset),
            next_offset: None,
            total,
            facets: None,
            series: None,
            next: None,
            did_you_mean: Vec::new(),
            n_marked: 0,
            warnings: Vec::new(),
        }
    }

    /// Leaves of every cell what is in the window, and says where the others go on. `piece` is
    /// given the name of the field, the whole text and the bytes to show, for redaction that
    /// looks at more than the piece that leaves.
    pub fn show(&mut self, window: CellWindow, piece: &mut ShowPiece<'_>) {
        let cut = CutCells::cut(&self.columns, &mut self.rows, window, piece);
        if let Some((next, warning)) = cut.rest(window) {
            self.next_offset = next;
            self.warnings.insert(0, warning);
        }
    }

    /// Changes whole texts of cells: `change` is given the name of the field and the text, and
    /// gives the new text, or none to leave it. Gives the number of texts that changed.
    pub fn change_text(&mut self, mut change: impl FnMut(&str, &str) -> Option<String>) -> usize {
        let mut n_changed = 0;
        for row in &mut self.rows {
            for (name, cell) in self.columns.iter().zip(row) {
                change_cell(cell, &mut |text| change(name, text), &mut n_changed);
            }
        }
        n_changed
    }

    /// Changes the values of facets and suggestions, as [`QueryResponse::change_text`] does cells.
    pub fn change_counted(
        &mut self,
        mut change: impl FnMut(&str, &str) -> Option<String>,
    ) -> usize {
        let mut n_changed = 0;
        for (name, facet) in self.facets.iter_mut().flatten() {
            for row in &mut facet.rows {
                change_cell(&mut row.value, &mut |text| change(name, text), &mut n_changed);
            }
        }
        for meant in &mut self.did_you_mean {
            let field = meant.field.clone();
            for value in &mut meant.suggestions {
                change_cell(value, &mut |text| change(&field, text), &mut n_changed);
            }
        }
        n_changed
    }
}

impl FacetMeta {
    pub(crate) fn of(facet: &Facet) -> Self {
        let rows = facet.rows.iter();
        let mut rows: Vec<FacetRow> =
            rows.map(|row| FacetRow { value: shown(&row.value), total: row.total }).collect();
        if let Some(spread) = &facet.distribution {
            // No bar holds null, which is counted beside them.
            let n_null = facet.total.saturating_sub(spread.totals.iter().sum());
            if n_null > 0 && rows.is_empty() {
                rows.push(FacetRow { value: Value::Null, total: n_null });
            }
        }
        FacetMeta {
            rows,
            total: facet.total,
            min: facet.min.clone(),
            max: facet.max.clone(),
            distribution: facet.distribution.clone(),
        }
    }
}

/// Shows a value in a facet or a suggestion, cut where it is too long to be typed back, and never
/// in the middle of something private.
pub(crate) fn shown(value: &Value) -> Value {
    let mut shown = value.clone();
    cut_value(&mut shown);
    shown
}

/// Shows a value as rows do: a timestamp in ISO 8601, which filters take as well.
pub(crate) fn shown_as_in_rows(value: &Value) -> Value {
    let mut shown = as_in_rows(value);
    cut_value(&mut shown);
    shown
}

/// Gives a cell as rows show it: a timestamp is its text in ISO 8601.
pub(crate) fn as_in_rows(value: &Value) -> Value {
    match value {
        Value::Timestamp(millis) => Value::Text(columns::to_iso(*millis)),
        Value::List(items) => Value::List(items.iter().map(as_in_rows).collect()),
        other @ (Value::Null
        | Value::Text(_)
        | Value::Integer(_)
        | Value::Real(_)
        | Value::Decimal(_)
        | Value::Boolean(_)) => other.clone(),
    }
}

pub(crate) fn rows_shown(rows: &[Vec<Value>]) -> Vec<Vec<Value>> {
    rows.iter().map(|row| row.iter().map(as_in_rows).collect()).collect()
}

/// Tells whether a value is too long to be shown whole.
pub(crate) fn is_long(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.chars().nth(MAX_FACET_CHARS).is_some())
}

fn change_cell(
    cell: &mut Value,
    change: &mut impl FnMut(&str) -> Option<String>,
    n_changed: &mut usize,
) {
    match cell {
        Value::Text(text) => {
            if let Some(changed) = change(text) {
                *text = changed;
                *n_changed += 1;
            }
        }
        Value::List(items) => {
            for item in items {
                change_cell(item, change, n_changed);
            }
        }
        Value::Null
        | Value::Integer(_)
        | Value::Real(_)
        | Value::Decimal(_)
        | Value::Boolean(_)
        | Value::Timestamp(_) => {}
    }
}

fn cut_value(value: &mut Value) {
    match value {
        Value::Text(text) => {
            if text.chars().nth(MAX_FACET_CHARS).is_some() {
                *text = format!("{}…", text::cut_outside_private(text, MAX_FACET_CHARS));
            }
        }
        Value::List(items) => items.iter_mut().for_each(cut_value),
        Value::Null
        | Value::Integer(_)
        | Value::Real(_)
        | Value::Decimal(_)
        | Value::Boolean(_)
        | Value::Timestamp(_) => {}
    }
}
