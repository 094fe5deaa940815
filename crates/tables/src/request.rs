//! A question for rows of a table, as the service takes it.

use columns::{Bucket, Direction};

use crate::field_filter::Filters;

/// The page that is given when none is asked for.
pub const DEFAULT_PAGE: u64 = 1;
/// The rows of a page when the call does not say.
pub const DEFAULT_PAGE_SIZE: u64 = 50;
/// The most rows of a page.
pub const MAX_PAGE_SIZE: u64 = 500;

/// How an answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// Rows and their total.
    #[default]
    Json,
    /// Rows, their total, and facets.
    Stats,
    /// A GitHub table and the total.
    Markdown,
    /// RFC 4180 text and the total.
    Csv,
}

impl Format {
    /// Every format, in the order of the schema.
    pub const ALL: [Format; 4] = [Format::Json, Format::Stats, Format::Markdown, Format::Csv];

    /// Gives the name used in calls.
    pub fn as_str(self) -> &'static str {
        match self {
            Format::Json => "json",
            Format::Stats => "stats",
            Format::Markdown => "markdown",
            Format::Csv => "csv",
        }
    }
}

/// What is done to CSV cells that a spreadsheet would run as a formula.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Formulas {
    /// They stay as they are.
    #[default]
    Kept,
    /// An apostrophe is before them.
    Defused,
}

/// The order that a call asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SortRequest {
    /// The field.
    pub id: String,
    /// Which end comes first.
    pub direction: Direction,
}

/// The picture over time that a call asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeriesRequest {
    /// A timestamp field.
    pub field: String,
    /// The width of a point; chosen by the table without one.
    pub bucket: Option<Bucket>,
    /// The number field to add up; rows are counted without one.
    pub sum: Option<String>,
}

/// A call of `query_table`.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryRequest {
    /// The table, where several are served.
    pub table: Option<String>,
    /// What is wanted of fields; held against their types when the table answers.
    pub filters: Filters,
    /// The page, from 1.
    pub page: u64,
    /// Rows of a page.
    pub page_size: u64,
    /// How the answer is written.
    pub format: Format,
    /// The order of rows, most significant first.
    pub sort: Vec<SortRequest>,
    /// The fields of a row, in this order; all without it.
    pub columns: Option<Vec<String>>,
    /// The fields whose values are counted; all of them with `stats` and without this.
    pub facets: Option<Vec<String>>,
    /// The time zone of dates in filters; UTC without one.
    pub time_zone: Option<String>,
    /// The continuation token of the page before; takes the place of `page`.
    pub cursor: Option<String>,
    /// A picture over time.
    pub series: Option<SeriesRequest>,
    /// What happens to formulas in CSV.
    pub formulas: Formulas,
    /// Characters of long cells that are skipped: `next_offset` of the answer before.
    pub offset: usize,
    /// Rows that one answer holds, where that is fewer than the page; `next` goes on behind them.
    pub max_rows: Option<u64>,
}

impl Default for QueryRequest {
    fn default() -> Self {
        QueryRequest {
            table: None,
            filters: Filters::default(),
            page: DEFAULT_PAGE,
            page_size: DEFAULT_PAGE_SIZE,
            format: Format::default(),
            sort: Vec::new(),
            columns: None,
            facets: None,
            time_zone: None,
            cursor: None,
            series: None,
            formulas: Formulas::default(),
            offset: 0,
            max_rows: None,
        }
    }
}
