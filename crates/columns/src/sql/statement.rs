//! Generates statements that mean the same in SQLite and PostgreSQL as the scan over columns.

use super::join::Join;
use super::writer::Writer;
use crate::query::{Direction, Filter, Query};
use crate::{Bucket, DAY_MILLIS, Error, Kind, Result, Value};

/// The two ways to write SQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Sqlite,
    Postgres,
}

/// A table of a database as far as statements need to know it.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) dialect: Dialect,
    /// The quoted table.
    pub(super) from: String,
    pub(super) columns: Vec<SqlColumn>,
    /// What tells rows apart and orders them, most significant first; empty when nothing does.
    pub(super) keys: Vec<Key>,
    /// The tables that columns are looked up in.
    pub(super) joins: Vec<Join>,
    /// The collation by whose rules PostgreSQL makes letters small.
    pub(super) letters: String,
}

/// A column and the expression that gives its typed value, null where it does not fit.
#[derive(Debug, Clone)]
pub(super) struct SqlColumn {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) expression: String,
    /// The column as the source has it, quoted.
    pub(super) source: String,
    /// The condition that something is there which does not fit; none where everything fits.
    pub(super) misfit: Option<String>,
    /// In PostgreSQL, whether numbers come as whole ones.
    pub(super) is_whole: bool,
    /// In PostgreSQL, whether numbers come as decimals.
    pub(super) is_decimal: bool,
    /// The condition that a number has more digits than are kept; none where that cannot be.
    pub(super) rounded: Option<String>,
    /// Whether its points in time are dates without a time of day.
    pub(super) dates: Dates,
    /// What gives the values of a cell, where it can have several; the expression above gives the
    /// first of them then.
    pub(super) list: Option<List>,
}

/// How the values of a cell are reached.
#[derive(Debug, Clone)]
pub(super) struct List {
    /// All of them, each once and in their order; null where there are none.
    pub(super) whole: String,
    /// A table of them for one row, with their values in the column [`ITEM`].
    pub(super) items: String,
    /// How often a value of a row comes again.
    pub(super) n_repeated: String,
    /// How many values of a row are null.
    pub(super) n_nulls: String,
}

/// The column that holds a value of a cell with several.
pub(super) const ITEM: &str = "dowse_item";

/// Whether points in time are dates without a time of day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Dates {
    /// They have times, or the column holds something else.
    No,
    /// The type of the column says so.
    Yes,
    /// Unless this statement finds one with a time.
    Unless(String),
}

/// An expression that tells rows apart.
#[derive(Debug, Clone)]
pub(super) struct Key {
    pub(super) expression: String,
    /// The type to which PostgreSQL casts a key that comes back as text.
    pub(super) cast: String,
}

/// SQL text and its parameters in order.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Statement {
    pub(super) sql: String,
    pub(super) parameters: Vec<Value>,
}

/// Which rows pass.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Where<'q> {
    /// All of these must hold.
    pub(super) all: &'q [Condition],
    /// And one alternative of each of these; an alternative is a list that must all hold.
    pub(super) any: &'q [Vec<Vec<Condition>>],
}

/// A filter as a database tests it.
#[derive(Debug, Clone)]
pub(super) struct Condition {
    pub(super) filter: Filter,
    /// Values that fulfil the test, or what it negates, by a private piece alone: they count as
    /// not fulfilling it.
    pub(super) hidden: Vec<Value>,
}

impl Condition {
    pub(super) fn of(filter: &Filter) -> Self {
        Condition { filter: filter.clone(), hidden: Vec::new() }
    }
}

impl Target {
    /// Writes a text in small letters. The rules of the text's own collation would not do: it is
    /// compared by its code points, which knows no letters but those of ASCII.
    pub(super) fn lowered(&self, text: &str) -> String {
        match self.dialect {
            Dialect::Sqlite => format!("dowse_fold({text})"),
            Dialect::Postgres => format!("lower(({text}) COLLATE {})", self.letters),
        }
    }

    pub(super) fn column(&self, name: &str) -> Result<&SqlColumn> {
        self.columns.iter().find(|column| column.name == name).ok_or_else(|| Error::UnknownColumn {
            column: name.to_owned(),
            known: self.columns.iter().map(|column| column.name.clone()).collect(),
        })
    }

    /// Counts the rows that pass.
    pub(super) fn count(&self, rows: Where<'_>) -> Result<Statement> {
        let mut writer = Writer::new(self, "SELECT count(*) FROM ");
        writer.write_source(rows, None)?;
        Ok(writer.finish())
    }

    /// Gives the rows of the page and one more: the columns, then the sorted values, then the
    /// keys as text.
    pub(super) fn page(&self, query: &Query, rows: Where<'_>) -> Result<Statement> {
        let mut selected: Vec<String> = Vec::new();
        for name in &query.columns {
            selected.push(self.column(name)?.shown().to_owned());
        }
        for sort in &query.sort {
            selected.push(self.column(&sort.column)?.expression.clone());
        }
        selected.extend(self.keys.iter().map(|key| match self.dialect {
            Dialect::Sqlite => key.expression.clone(),
            Dialect::Postgres => format!("{}::text", key.expression),
        }));
        let mut writer = Writer::new(self, &format!("SELECT {} FROM ", selected.join(", ")));
        let after = query.after.as_ref().map(|after| (after, query.sort.as_slice()));
        writer.write_source(rows, after)?;
        let mut order: Vec<String> = Vec::new();
        for sort in &query.sort {
            let column = self.column(&sort.column)?;
            let direction = match sort.direction {
                Direction::Ascending => "ASC",
                Direction::Descending => "DESC",
            };
            order.push(format!("{} {direction} NULLS LAST", column.expression));
        }
        if self.keys.is_empty() {
            // Rows that nothing tells apart are ordered by all they show.
            order.extend(self.columns.iter().map(|column| column.shown().to_owned()));
        }
        order.extend(self.keys.iter().map(|key| key.expression.clone()));
        writer.push(&format!(" ORDER BY {} LIMIT ", order.join(", ")));
        writer.bind(Value::Integer(query.limit as i64 + i64::from(query.limit > 0)));
        writer.push(" OFFSET ");
        writer.bind(Value::Integer(i64::try_from(query.offset).unwrap_or(i64::MAX)));
        Ok(writer.finish())
    }

    /// Gives values and their counts, most frequent first.
    pub(super) fn facet(&self, rows: Where<'_>, name: &str, limit: usize) -> Result<Statement> {
        let value = self.column(name)?.value(self.dialect);
        let mut writer = Writer::new(self, &format!("SELECT {value}, count(*) FROM "));
        writer.write_values(rows, name)?;
        writer.push(" GROUP BY 1 ORDER BY 2 DESC, 1 ASC NULLS FIRST LIMIT ");
        writer.bind(Value::Integer(limit as i64));
        Ok(writer.finish())
    }

    /// Gives the lowest and the highest value, the number of different ones, null among them, and
    /// the number of all.
    pub(super) fn extremes(&self, rows: Where<'_>, name: &str) -> Result<Statement> {
        let column = self.column(name)?;
        let distinct = column.value(self.dialect);
        // PostgreSQL has no extremes of booleans, and nobody asks for them.
        let value = if column.kind == Kind::Boolean { "NULL" } else { distinct.as_str() };
        let mut writer = Writer::new(
            self,
            &format!(
                "SELECT min({value}), max({value}), count(DISTINCT {distinct}) + coalesce(max(CASE WHEN {distinct} IS NULL THEN 1 ELSE 0 END), 0), count(*) FROM "
            ),
        );
        writer.write_values(rows, name)?;
        Ok(writer.finish())
    }

    /// Gives, by the number of an hour, minute or day, the sum or count; null for rows without
    /// a time.
    pub(super) fn series(
        &self,
        rows: Where<'_>,
        column: &str,
        unit_millis: i64,
        sum: Option<&str>,
    ) -> Result<Statement> {
        let moment = &self.column(column)?.expression;
        let value = match sum {
            None => "count(*)".to_owned(),
            Some(name) => format!("coalesce(sum({}), 0)", self.column(name)?.expression),
        };
        let value = match self.dialect {
            Dialect::Sqlite => format!("CAST({value} AS REAL)"),
            Dialect::Postgres => format!("({value})::float8"),
        };
        let index = unit_number(moment, unit_millis);
        let mut writer = Writer::new(self, &format!("SELECT {index}, {value}, count(*) FROM "));
        writer.write_source(rows, None)?;
        writer.push(" GROUP BY 1 ORDER BY 1 LIMIT ");
        writer.bind(Value::Integer(MAX_SERIES_GROUPS));
        Ok(writer.finish())
    }

    /// Tells whether any row passes.
    pub(super) fn exists(&self, rows: Where<'_>) -> Result<Statement> {
        let mut writer = Writer::new(self, "SELECT count(*) FROM (SELECT 1 FROM ");
        writer.write_source(rows, None)?;
        writer.push(" LIMIT 1) AS found");
        Ok(writer.finish())
    }

    /// Gives different values of a column, the nearest first when a number is wanted.
    pub(super) fn distinct(
        &self,
        name: &str,
        near: Option<f64>,
        limit: usize,
    ) -> Result<Statement> {
        let value = self.column(name)?.value(self.dialect);
        let mut writer = Writer::new(self, &format!("SELECT {value} FROM "));
        writer.write_values(Where::default(), name)?;
        writer.push(&format!(" WHERE {value} IS NOT NULL GROUP BY 1"));
        if let Some(near) = near {
            writer.push(&format!(" ORDER BY min(abs({value} - "));
            writer.bind(Value::Real(near));
            writer.push("))");
        }
        writer.push(" LIMIT ");
        writer.bind(Value::Integer(limit as i64));
        Ok(writer.finish())
    }
}

impl SqlColumn {
    /// Gives the expression that a row shows.
    pub(super) fn shown(&self) -> &str {
        self.list.as_ref().map_or(&self.expression, |list| &list.whole)
    }

    /// Gives the expression of one value over what [`Writer::write_values`] writes.
    pub(super) fn value(&self, dialect: Dialect) -> String {
        self.value_at(dialect, 0)
    }

    /// Gives the expression of one value of the list that [`super::writer::unnested`] took apart.
    pub(super) fn value_at(&self, dialect: Dialect, place: usize) -> String {
        match (&self.list, dialect) {
            (None, _) => self.expression.clone(),
            (Some(_), Dialect::Sqlite) => format!("dowse_each_{place}.value"),
            (Some(_), Dialect::Postgres) => {
                self.collated(&format!("dowse_each_{place}.{ITEM}"), dialect)
            }
        }
    }

    /// Gives the column of single values that an expression gives.
    pub(super) fn item(&self, expression: &str, dialect: Dialect) -> SqlColumn {
        SqlColumn { expression: self.collated(expression, dialect), list: None, ..self.clone() }
    }

    /// What comes out of a list has no collation of its own.
    fn collated(&self, expression: &str, dialect: Dialect) -> String {
        match (self.kind, dialect) {
            (Kind::Text, Dialect::Postgres) => format!("({expression} COLLATE \"C\")"),
            _ => expression.to_owned(),
        }
    }
}

/// The most minutes, hours or days that are taken from a database for one series.
const MAX_SERIES_GROUPS: i64 = 200_000;

/// Gives the unit by which a database groups for a bucket; longer ones are joined afterwards.
pub(super) fn unit_millis(bucket: Bucket) -> i64 {
    match bucket {
        Bucket::Minute => 60_000,
        Bucket::Hour => 3_600_000,
        Bucket::Day | Bucket::Week | Bucket::Month | Bucket::Year => DAY_MILLIS,
    }
}

/// Writes the number of the unit of time that holds a moment. Both databases divide towards zero;
/// taking the rest off first divides downwards.
pub(super) fn unit_number(moment: &str, unit: i64) -> String {
    format!("(({moment}) - ((({moment}) % {unit}) + {unit}) % {unit}) / {unit}")
}

pub(super) fn quoted(identifier: &str) -> String {
    format!("\"{}\"", identifier.replace('"', "\"\""))
}

/// Writes a SQLite key as text that remembers its type.
pub(super) fn key_text(value: &Value) -> String {
    match value {
        Value::Integer(number) => format!("i{number}"),
        Value::Real(number) => format!("r{number}"),
        Value::Text(text) => format!("t{text}"),
        Value::Null
        | Value::Decimal(_)
        | Value::Boolean(_)
        | Value::Timestamp(_)
        | Value::List(_) => "n".to_owned(),
    }
}

pub(super) fn key_value(text: &str) -> Value {
    let mut chars = text.chars();
    let kind = chars.next();
    let rest = chars.as_str();
    match kind {
        Some('i') => rest.parse().map_or(Value::Null, Value::Integer),
        Some('r') => rest.parse().map_or(Value::Null, Value::Real),
        Some('t') => Value::Text(rest.to_owned()),
        _ => Value::Null,
    }
}
