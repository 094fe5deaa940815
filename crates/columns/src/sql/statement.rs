//! Generates statements that mean the same in SQLite and PostgreSQL as the scan over columns.

use super::join::Join;
use super::writer::Writer;
use crate::query::{AnyGroup, Direction, Filter, Query};
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
    /// The condition that a number has more digits than are kept; none where that cannot be.
    pub(super) rounded: Option<String>,
    /// Whether its points in time are dates without a time of day.
    pub(super) dates: Dates,
}

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
    pub(super) filters: &'q [Filter],
    pub(super) any: &'q [AnyGroup],
}

impl Target {
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
    pub(super) fn page(&self, query: &Query) -> Result<Statement> {
        let mut selected: Vec<String> = Vec::new();
        for name in &query.columns {
            selected.push(self.column(name)?.expression.clone());
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
        writer.write_source(Where { filters: &query.filters, any: &query.any }, after)?;
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
            order.extend(self.columns.iter().map(|column| column.expression.clone()));
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
        let column = self.column(name)?;
        let mut writer =
            Writer::new(self, &format!("SELECT {}, count(*) FROM ", column.expression));
        writer.write_source(rows, None)?;
        writer.push(" GROUP BY 1 ORDER BY 2 DESC, 1 ASC NULLS FIRST LIMIT ");
        writer.bind(Value::Integer(limit as i64));
        Ok(writer.finish())
    }

    /// Gives the lowest and the highest value and the number of different ones, null among
    /// them.
    pub(super) fn extremes(&self, rows: Where<'_>, name: &str) -> Result<Statement> {
        let expression = match self.column(name)? {
            // PostgreSQL has no extremes of booleans, and nobody asks for them.
            column if column.kind == Kind::Boolean => "NULL".to_owned(),
            column => column.expression.clone(),
        };
        let distinct = &self.column(name)?.expression;
        let mut writer = Writer::new(
            self,
            &format!(
                "SELECT min({expression}), max({expression}), count(DISTINCT {distinct}) + coalesce(max(CASE WHEN {distinct} IS NULL THEN 1 ELSE 0 END), 0) FROM "
            ),
        );
        writer.write_source(rows, None)?;
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
        // Both databases divide towards zero; taking the rest off first divides downwards.
        let unit = unit_millis;
        let index = format!("(({moment}) - ((({moment}) % {unit}) + {unit}) % {unit}) / {unit}");
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
        let expression = &self.column(name)?.expression;
        let mut writer = Writer::new(
            self,
            &format!(
                "SELECT {expression} FROM {} WHERE {expression} IS NOT NULL GROUP BY 1",
                self.from
            ),
        );
        if let Some(near) = near {
            writer.push(&format!(" ORDER BY min(abs({expression} - "));
            writer.bind(Value::Real(near));
            writer.push("))");
        }
        writer.push(" LIMIT ");
        writer.bind(Value::Integer(limit as i64));
        Ok(writer.finish())
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

/// Quotes an identifier.
pub(super) fn quoted(identifier: &str) -> String {
    format!("\"{}\"", identifier.replace('"', "\"\""))
}

/// Writes a SQLite key as text that remembers its type.
pub(super) fn key_text(value: &Value) -> String {
    match value {
        Value::Integer(number) => format!("i{number}"),
        Value::Real(number) => format!("r{number}"),
        Value::Text(text) => format!("t{text}"),
        Value::Null | Value::Boolean(_) | Value::Timestamp(_) | Value::List(_) => "n".to_owned(),
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
