//! The answer of `query_table`, in the four formats, with everything that was cut said.

use columns::{Bars, Distribution, Facet, SeriesAnswer};
use model::Warning;
use serde_json::{Map, Value, json};

use crate::cells::{CellWindow, CutCells, ShowPiece};
use crate::format::{to_csv, to_markdown};
use crate::request::{Format, Formulas, QueryRequest};

/// The most values of one facet; more are cut with a notice.
pub const MAX_FACET_ROWS: usize = 100;

/// The longest value of a facet or a suggestion, in characters.
pub const MAX_FACET_CHARS: usize = 200;

/// How often a value occurs.
#[derive(Debug, Clone, PartialEq)]
pub struct FacetRow {
    /// The value; timestamps in milliseconds.
    pub value: Value,
    /// How often it occurs.
    pub total: u64,
}

/// The values of one field over all rows that pass.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FacetMeta {
    /// Values by falling count.
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

/// An answer, before it is written in its format.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryResponse {
    /// The format that was asked for.
    pub format: Format,
    /// What happens to formulas in CSV.
    pub formulas: Formulas,
    /// The names of the cells of a row.
    pub columns: Vec<String>,
    /// The page, cell by cell; timestamps as ISO 8601. Whole until [`QueryResponse::show`].
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
    pub series: Option<Value>,
    /// The token of the next page, when there is one.
    pub next: Option<String>,
    /// Values that filters may have meant, when nothing passes.
    pub did_you_mean: Vec<DidYouMean>,
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
            warnings: Vec::new(),
        }
    }

    /// Leaves of every cell what is in the window, and says where the others go on. `piece` is
    /// given the name of the field, the whole text and the bytes to show, for redaction that
    /// looks at more than the piece that leaves.
    pub fn show(&mut self, window: CellWindow, piece: &mut ShowPiece<'_>) {
        let cut = CutCells::cut(&self.columns, &mut self.rows, window, piece);
        if let Some((next, warning)) = cut.rest(window) {
            self.next_offset = Some(next);
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

    /// Writes the answer in its format: `{rows, total}`, `{rows, total, facets}`,
    /// `{markdown, total}` or `{csv, total}`, and beside it only what there is to say.
    pub fn to_json(&self) -> Value {
        let mut answer = Map::new();
        match self.format {
            Format::Json => {
                answer.insert("rows".to_owned(), self.row_objects());
                answer.insert("total".to_owned(), self.total.into());
            }
            Format::Stats => {
                answer.insert("rows".to_owned(), self.row_objects());
                answer.insert("total".to_owned(), self.total.into());
            }
            Format::Markdown => {
                let markdown = to_markdown(&self.columns, &self.rows);
                answer.insert("markdown".to_owned(), markdown.into());
                answer.insert("total".to_owned(), self.total.into());
            }
            Format::Csv => {
                let csv = to_csv(&self.columns, &self.rows, self.formulas);
                answer.insert("csv".to_owned(), csv.into());
                answer.insert("total".to_owned(), self.total.into());
            }
        }
        if let Some(facets) = &self.facets {
            let facets: Map<String, Value> =
                facets.iter().map(|(name, facet)| (name.clone(), facet.to_json())).collect();
            answer.insert("facets".to_owned(), facets.into());
        }
        if let Some(series) = &self.series {
            answer.insert("series".to_owned(), series.clone());
        }
        if let Some(next) = &self.next {
            answer.insert("next".to_owned(), next.as_str().into());
        }
        if let Some(offset) = self.next_offset {
            answer.insert("next_offset".to_owned(), offset.into());
        }
        if !self.did_you_mean.is_empty() {
            let meant = self.did_you_mean.iter().map(DidYouMean::to_json).collect::<Vec<_>>();
            answer.insert("did_you_mean".to_owned(), meant.into());
        }
        if !self.warnings.is_empty() {
            answer.insert("warnings".to_owned(), json!(self.warnings));
        }
        Value::Object(answer)
    }

    fn row_objects(&self) -> Value {
        self.rows
            .iter()
            .map(|row| {
                let cells = self.columns.iter().cloned().zip(row.iter().cloned());
                Value::Object(cells.collect())
            })
            .collect()
    }
}

/// Gives the JSON Schema of what [`QueryResponse::to_json`] gives.
pub fn query_output_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "rows": { "type": "array", "items": { "type": "object" } },
            "total": { "type": "integer" },
            "facets": { "type": "object" },
            "markdown": { "type": "string" },
            "csv": { "type": "string" },
            "series": { "type": "object" },
            "next": { "type": "string" },
            "next_offset": { "type": "integer" },
            "export": { "type": "object" },
            "did_you_mean": { "type": "array", "items": { "type": "object" } },
            "warnings": { "type": "array", "items": { "type": "string" } }
        },
        "required": ["total"]
    })
}

impl FacetMeta {
    pub(crate) fn of(facet: &Facet) -> Self {
        FacetMeta {
            rows: facet
                .rows
                .iter()
                .map(|row| FacetRow { value: shown(&row.value), total: row.total })
                .collect(),
            total: facet.total,
            min: facet.min.as_ref().map(columns::Value::to_json),
            max: facet.max.as_ref().map(columns::Value::to_json),
            distribution: facet.distribution.clone(),
        }
    }

    /// Writes the facet.
    pub fn to_json(&self) -> Value {
        let rows: Vec<Value> =
            self.rows.iter().map(|row| json!({ "value": row.value, "total": row.total })).collect();
        let mut facet = json!({ "rows": rows, "total": self.total });
        if let Some(min) = &self.min {
            facet["min"] = min.clone();
        }
        if let Some(max) = &self.max {
            facet["max"] = max.clone();
        }
        if let Some(spread) = &self.distribution {
            facet["quantiles"] = quantiles(spread);
            facet["histogram"] = histogram(spread);
        }
        facet
    }
}

fn quantiles(spread: &Distribution) -> Value {
    let named = spread
        .quantiles
        .iter()
        .map(|(percent, value)| (format!("p{percent}"), value.to_json()))
        .collect::<Map<_, _>>();
    Value::Object(named)
}

/// Bars are one after the other, so their start and width are said once.
fn histogram(spread: &Distribution) -> Value {
    let number = |number: f64| columns::Value::Real(number).to_json();
    match spread.bars {
        Bars::Numbers { start, width } => {
            json!({ "start": number(start), "width": number(width), "totals": spread.totals })
        }
        Bars::Time { start, bucket } => {
            json!({ "start": start, "bucket": bucket.as_str(), "totals": spread.totals })
        }
    }
}

impl DidYouMean {
    fn to_json(&self) -> Value {
        json!({ "field": self.field, "received": self.received, "suggestions": self.suggestions })
    }
}

pub(crate) fn series_to_json(field: &str, sum: Option<&str>, series: &SeriesAnswer) -> Value {
    let points: Vec<Value> = series
        .points
        .iter()
        .map(|point| {
            let value = columns::Value::Real(point.value).to_json();
            json!({ "start": point.start, "value": value })
        })
        .collect();
    let measure = sum.map_or_else(|| "count".to_owned(), |field| format!("sum of {field}"));
    json!({
        "field": field,
        "bucket": series.bucket.as_str(),
        "time_zone": "UTC",
        "measure": measure,
        "points": points
    })
}

/// Shows a value in a facet or a suggestion, cut where it is too long to be typed back, and never
/// in the middle of something private.
pub(crate) fn shown(value: &columns::Value) -> Value {
    let mut shown = value.to_json();
    cut_value(&mut shown);
    shown
}

/// Shows a value as rows do: a timestamp in ISO 8601, which filters take as well.
pub(crate) fn shown_as_in_rows(value: &columns::Value) -> Value {
    let mut shown = value.to_row_json();
    cut_value(&mut shown);
    shown
}

/// Tells whether a value is too long to be shown whole.
pub(crate) fn is_long(value: &columns::Value) -> bool {
    value.as_str().is_some_and(|text| text.chars().nth(MAX_FACET_CHARS).is_some())
}

fn change_cell(
    cell: &mut Value,
    change: &mut impl FnMut(&str) -> Option<String>,
    n_changed: &mut usize,
) {
    match cell {
        Value::String(text) => {
            if let Some(changed) = change(text) {
                *text = changed;
                *n_changed += 1;
            }
        }
        Value::Array(items) => {
            for item in items {
                change_cell(item, change, n_changed);
            }
        }
        Value::Object(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn cut_value(value: &mut Value) {
    match value {
        Value::String(text) => {
            if text.chars().nth(MAX_FACET_CHARS).is_some() {
                *text = format!("{}…", text::cut_outside_private(text, MAX_FACET_CHARS));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(cut_value),
        Value::Object(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
