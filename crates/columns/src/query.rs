//! The question and the answer, the same for columns in memory, SQLite and PostgreSQL.

use model::Deadline;
use serde::{Deserialize, Serialize};

use crate::{Aggregate, AggregateAnswer, Bucket, Kind, LoadReport, Result, Value};

/// A table that can be asked.
///
/// Every implementation gives the same rows, totals, facets and series for the same data: text
/// is compared by its code points, nulls sort last in both directions, ties keep the order of
/// the source.
pub trait Table: Send + Sync {
    /// Describes the columns as the schema names them, in its order.
    fn columns(&self) -> Vec<ColumnInfo>;

    /// Answers a query over one state of the data. Fails with [`crate::Error::TimedOut`] when
    /// the deadline passes first; a partial answer is never given.
    fn query(&self, query: &Query, deadline: &Deadline) -> Result<Answer>;

    /// Measures groups of the rows that pass, over one state of the data. Exact; fails with
    /// [`crate::Error::TooManyGroups`] rather than leave groups out.
    fn aggregate(&self, aggregate: &Aggregate, deadline: &Deadline) -> Result<AggregateAnswer>;

    /// Gives the values of a column that look most like a text (or are nearest to a number),
    /// best first, at most `limit`. May give nothing when the column is too large to compare.
    fn nearest_values(
        &self,
        column: &str,
        wanted: &Value,
        limit: usize,
        deadline: &Deadline,
    ) -> Result<Vec<Value>>;

    /// Tells what of the source does not fit the schema. A file was checked when it was read; a
    /// table of a database is checked now, or was checked a moment ago. Fails with
    /// [`crate::Error::TimedOut`] when the deadline passes before a database has answered.
    fn load_report(&self, deadline: &Deadline) -> Result<LoadReport>;

    /// Gives the columns of timestamps that hold dates without a time of day. A time zone moves
    /// no date, so it does not apply to them.
    fn date_columns(&self, deadline: &Deadline) -> Result<Vec<String>> {
        Ok(self.load_report(deadline)?.date_columns)
    }

    /// Tells why the source cannot be asked now, as far as that is known without asking it.
    fn away(&self) -> Option<String> {
        None
    }

    /// Tells why the data may be older than the source, when it may.
    fn staleness(&self) -> Option<String> {
        None
    }
}

/// What a reader of a table has to know of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnInfo {
    /// The name by which queries call it.
    pub name: String,
    /// What its cells hold.
    pub kind: Kind,
    /// Whether a cell can hold several values.
    pub has_lists: bool,
    /// Whether all its numbers are known to be whole.
    pub is_whole: bool,
}

/// The most columns that rows are sorted by.
pub const MAX_SORTS: usize = 4;
/// A continuous column with more values than this has a distribution for its facet.
pub const MAX_SINGLE_VALUES: u64 = 25;

/// What is asked of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// All of these must hold.
    pub filters: Vec<Filter>,
    /// And one alternative of each of these.
    pub any: Vec<AnyGroup>,
    /// The order of rows, most significant first, at most [`MAX_SORTS`]; the source's own
    /// without one, and among equals.
    pub sort: Vec<Sort>,
    /// Rows to leave out before the page. Counted after `after`.
    pub offset: u64,
    /// The most rows of the page.
    pub limit: usize,
    /// Where the page before ended.
    pub after: Option<Position>,
    /// Columns whose values are counted over all rows that pass.
    pub facets: Vec<String>,
    /// The most values of one facet.
    pub facet_rows: usize,
    /// Facets of numbers or timestamps that are given as a distribution, without single values,
    /// once they have more than [`MAX_SINGLE_VALUES`].
    pub continuous: Vec<String>,
    /// The columns of a row, in this order.
    pub columns: Vec<String>,
    /// A picture of the rows that pass, over time.
    pub series: Option<TimeSeries>,
}

impl Query {
    /// Asks for the first rows of everything.
    pub fn first(limit: usize, columns: Vec<String>) -> Self {
        Query {
            filters: Vec::new(),
            any: Vec::new(),
            sort: Vec::new(),
            offset: 0,
            limit,
            after: None,
            facets: Vec::new(),
            facet_rows: 100,
            continuous: Vec::new(),
            columns,
            series: None,
        }
    }
}

/// A condition on one column.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter {
    /// Whose cells are tested; its name in the schema.
    pub column: String,
    /// The condition.
    pub test: Test,
    /// What of a cell the condition sees.
    pub sight: Sight,
}

impl Filter {
    /// Makes a filter that sees cells as they are.
    pub fn new(column: impl Into<String>, test: Test) -> Self {
        Filter { column: column.into(), test, sight: Sight::Whole }
    }

    /// Makes the filter see only what redaction leaves.
    #[must_use]
    pub fn of_shown(self) -> Self {
        Filter { sight: Sight::Shown, ..self }
    }
}

/// What of a cell a condition sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sight {
    /// All of it.
    Whole,
    /// What redaction leaves: a row that fulfils the condition only through a private piece does
    /// not pass.
    Shown,
}

/// Alternatives, of which a row must pass one: each is a list of filters that must all hold.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AnyGroup {
    /// The alternatives; none at all lets nothing pass.
    pub alternatives: Vec<Vec<Filter>>,
}

/// A condition on a cell. In a cell with several values, one that fulfils it is enough.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    /// The text is inside the cell.
    Contains {
        /// Compared as letters, with no pattern in it.
        text: String,
        /// How letters are compared.
        case: Case,
    },
    /// The cell is one of these; null is a value.
    AnyOf(Vec<Value>),
    /// The cell lies in one of these ranges.
    Within(Vec<Range>),
    /// The cell starts with one of these.
    HasPrefix(Vec<String>),
    /// The cell holds all values of one of these lists.
    HoldsAll(Vec<Vec<Value>>),
    /// The condition does not hold; null passes unless the condition names null.
    Not(Box<Test>),
}

/// How letters are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    /// `A` is not `a`.
    Sensitive,
    /// `A` is `a`.
    Ignored,
}

/// An inclusive range; an end that is null is open.
#[derive(Debug, Clone, PartialEq)]
pub struct Range {
    /// The lowest value.
    pub low: Value,
    /// The highest value.
    pub high: Value,
}

/// The order of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sort {
    /// Whose cells decide; its name in the schema.
    pub column: String,
    /// Which end comes first.
    pub direction: Direction,
}

/// Which end comes first. Nulls are last in both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// The lowest value first.
    Ascending,
    /// The highest value first.
    Descending,
}

/// A count or sum by time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeSeries {
    /// A column of timestamps.
    pub column: String,
    /// The width of one point; without one the narrowest that gives at most
    /// [`AUTO_POINTS`](crate::AUTO_POINTS).
    pub bucket: Option<Bucket>,
    /// The column of numbers to add up; rows are counted without one.
    pub sum: Option<String>,
}

/// What a table answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The page, each row with the columns that were asked for.
    pub rows: Vec<Vec<Value>>,
    /// All rows that pass, on whatever page.
    pub total: u64,
    /// One for each facet that was asked for, in that order.
    pub facets: Vec<Facet>,
    /// The picture over time, when it was asked for.
    pub series: Option<SeriesAnswer>,
    /// Where this page ended, when there are rows behind it.
    pub next: Option<Position>,
    /// For each filter, the values it names that no row of the whole table has. Only given
    /// when nothing passes.
    pub unmatched: Vec<Unmatched>,
    /// Whether the data changed since the position in `after` was given.
    pub has_changed: bool,
}

/// How often each value occurs.
#[derive(Debug, Clone, PartialEq)]
pub struct Facet {
    /// Its name in the schema.
    pub column: String,
    /// Values by falling count, then ascending, null first.
    pub rows: Vec<FacetRow>,
    /// Different values that occur, null among them, before the list was cut.
    pub n_values: u64,
    /// All occurrences: the rows that pass, or their values where a cell can hold several.
    pub total: u64,
    /// The lowest value, for numbers and timestamps.
    pub min: Option<Value>,
    /// The highest value, for numbers and timestamps.
    pub max: Option<Value>,
    /// How a continuous column's values are spread; `rows` is empty then.
    pub distribution: Option<Distribution>,
}

/// How the values of a continuous column are spread, null left out.
#[derive(Debug, Clone, PartialEq)]
pub struct Distribution {
    /// Percent, and the value at or below which so many lie.
    pub quantiles: Vec<(u8, Value)>,
    /// The width of the bars of the histogram.
    pub bars: Bars,
    /// Values in each bar, from the lowest, without gaps.
    pub totals: Vec<u64>,
}

/// The bars of a histogram.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bars {
    /// Of numbers: the first bar starts here, each is so wide.
    Numbers {
        /// Where the first bar starts.
        start: f64,
        /// The width of each.
        width: f64,
    },
    /// Of time, in UTC.
    Time {
        /// The first millisecond of the first bar.
        start: i64,
        /// What each bar is.
        bucket: Bucket,
    },
}

/// A value and how often it occurs.
#[derive(Debug, Clone, PartialEq)]
pub struct FacetRow {
    /// As rows show it; null is a value here.
    pub value: Value,
    /// How often it occurs.
    pub total: u64,
}

/// A count or sum by time.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesAnswer {
    /// The width of a point.
    pub bucket: Bucket,
    /// Points without gaps, oldest first.
    pub points: Vec<SeriesPoint>,
    /// Rows that pass but have no time.
    pub n_without_time: u64,
}

/// A bar: from its start to that of the next one.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesPoint {
    /// The first millisecond.
    pub start: i64,
    /// The count or sum.
    pub value: f64,
}

/// A filter of which no row of the whole table has this value.
#[derive(Debug, Clone, PartialEq)]
pub struct Unmatched {
    /// The place of the filter in the query.
    pub filter_idx: usize,
    /// The value; of a range, its lower end.
    pub value: Value,
}

/// Where a page ended, in terms that survive a change of the data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Position {
    /// The state of the data it was taken from.
    pub version: u64,
    /// The values of the sorted columns in the last row.
    pub keys: Vec<Value>,
    /// The last row itself.
    pub row: RowMark,
}

/// How a row is found again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowMark {
    /// By its number, and by its content once the numbers have shifted.
    Numbered {
        /// The number, from 0.
        row: u64,
        /// A hash of the row's values.
        hash: u64,
    },
    /// By its key in a database, as text.
    Keyed(Vec<String>),
}
