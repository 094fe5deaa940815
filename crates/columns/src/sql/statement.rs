//! Generates statements that mean the same in SQLite and PostgreSQL as the scan over columns.

use crate::query::{Case, Direction, Filter, Position, Query, Range, RowMark, Sort, Test};
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

impl Target {
    pub(super) fn column(&self, name: &str) -> Result<&SqlColumn> {
        self.columns.iter().find(|column| column.name == name).ok_or_else(|| Error::UnknownColumn {
            column: name.to_owned(),
            known: self.columns.iter().map(|column| column.name.clone()).collect(),
        })
    }

    /// Counts the rows that pass.
    pub(super) fn count(&self, filters: &[Filter]) -> Result<Statement> {
        let mut writer = Writer::new(self, "SELECT count(*) FROM ");
        writer.write_source(filters, None)?;
        Ok(writer.finish())
    }

    /// Gives the rows of the page and one more: the columns, then the sorted value, then the
    /// keys as text.
    pub(super) fn page(&self, query: &Query) -> Result<Statement> {
        let mut selected: Vec<String> = Vec::new();
        for name in &query.columns {
            selected.push(self.column(name)?.expression.clone());
        }
        let sort =
            query.sort.as_ref().map(|sort| Ok::<_, Error>((self.column(&sort.column)?, sort)));
        let sort = sort.transpose()?;
        selected.push(sort.map_or("NULL".to_owned(), |(column, _)| column.expression.clone()));
        selected.extend(self.keys.iter().map(|key| match self.dialect {
            Dialect::Sqlite => key.expression.clone(),
            Dialect::Postgres => format!("{}::text", key.expression),
        }));
        let mut writer = Writer::new(self, &format!("SELECT {} FROM ", selected.join(", ")));
        let after = query.after.as_ref().map(|after| (after, query.sort.as_ref()));
        writer.write_source(&query.filters, after)?;
        let mut order: Vec<String> = Vec::new();
        if let Some((column, sort)) = sort {
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
    pub(super) fn facet(&self, filters: &[Filter], name: &str, limit: usize) -> Result<Statement> {
        let column = self.column(name)?;
        let mut writer =
            Writer::new(self, &format!("SELECT {}, count(*) FROM ", column.expression));
        writer.write_source(filters, None)?;
        writer.push(" GROUP BY 1 ORDER BY 2 DESC, 1 ASC NULLS FIRST LIMIT ");
        writer.bind(Value::Integer(limit as i64));
        Ok(writer.finish())
    }

    /// Gives the lowest and the highest value and the number of different ones, null among
    /// them.
    pub(super) fn extremes(&self, filters: &[Filter], name: &str) -> Result<Statement> {
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
        writer.write_source(filters, None)?;
        Ok(writer.finish())
    }

    /// Gives, by the number of an hour, minute or day, the sum or count; null for rows without
    /// a time.
    pub(super) fn series(
        &self,
        filters: &[Filter],
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
        writer.write_source(filters, None)?;
        writer.push(" GROUP BY 1 ORDER BY 1 LIMIT ");
        writer.bind(Value::Integer(MAX_SERIES_GROUPS));
        Ok(writer.finish())
    }

    /// Tells whether any row passes a filter.
    pub(super) fn exists(&self, filter: &Filter) -> Result<Statement> {
        let mut writer = Writer::new(self, "SELECT count(*) FROM (SELECT 1 FROM ");
        writer.write_source(std::slice::from_ref(filter), None)?;
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

/// Writes one statement.
struct Writer<'t> {
    target: &'t Target,
    sql: String,
    parameters: Vec<Value>,
}

impl<'t> Writer<'t> {
    fn new(target: &'t Target, sql: &str) -> Self {
        Writer { target, sql: sql.to_owned(), parameters: Vec::new() }
    }

    fn finish(self) -> Statement {
        Statement { sql: self.sql, parameters: self.parameters }
    }

    fn push(&mut self, sql: &str) {
        self.sql.push_str(sql);
    }

    /// Writes the place of a parameter, with its type where the database wants one.
    fn bind(&mut self, value: Value) {
        let cast = match (&self.target.dialect, &value) {
            (Dialect::Sqlite, _) => "",
            (Dialect::Postgres, Value::Integer(_) | Value::Timestamp(_)) => "::int8",
            (Dialect::Postgres, Value::Real(_)) => "::float8",
            (Dialect::Postgres, Value::Boolean(_)) => "::bool",
            (Dialect::Postgres, Value::Text(_) | Value::Null | Value::List(_)) => "::text",
        };
        self.parameters.push(value);
        let sign = match self.target.dialect {
            Dialect::Sqlite => '?',
            Dialect::Postgres => '$',
        };
        self.sql.push_str(&format!("{sign}{}{cast}", self.parameters.len()));
    }

    fn write_source(
        &mut self,
        filters: &[Filter],
        after: Option<(&Position, Option<&Sort>)>,
    ) -> Result<()> {
        let target = self.target;
        self.push(&target.from);
        let mut word = " WHERE ";
        for filter in filters {
            self.push(word);
            let column = target.column(&filter.column)?;
            self.test(column, &filter.test)?;
            word = " AND ";
        }
        if let Some((position, sort)) = after {
            self.push(word);
            self.behind(position, sort)?;
        }
        Ok(())
    }

    fn test(&mut self, column: &SqlColumn, test: &Test) -> Result<()> {
        match test {
            Test::Contains { text, case } => self.contains(column, text, *case),
            Test::AnyOf(values) => {
                self.any(values, |writer, value| writer.equal(column, value));
                Ok(())
            }
            Test::Within(ranges) => {
                self.any(ranges, |writer, range| writer.within(column, range));
                Ok(())
            }
            Test::HasPrefix(prefixes) => {
                self.expect_text(column, "a prefix")?;
                self.any(prefixes, |writer, prefix| writer.prefix(column, prefix));
                Ok(())
            }
            Test::HoldsAll(lists) => {
                self.any(lists, |writer, list| {
                    writer.push("(1 = 1");
                    for value in list {
                        writer.push(" AND ");
                        writer.equal(column, value);
                    }
                    writer.push(")");
                });
                Ok(())
            }
            Test::Not(inner) => {
                self.push("NOT coalesce(");
                self.test(column, inner)?;
                self.push(", 1 = 0)");
                Ok(())
            }
        }
    }

    /// Writes alternatives; none at all is false.
    fn any<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Self, &T)) {
        self.push("(1 = 0");
        for item in items {
            self.push(" OR ");
            write(self, item);
        }
        self.push(")");
    }

    fn contains(&mut self, column: &SqlColumn, text: &str, case: Case) -> Result<()> {
        self.expect_text(column, "a text inside")?;
        if !self.can_hold(text) {
            self.push("1 = 0");
            return Ok(());
        }
        let expression = &column.expression;
        let (open, close) = match (self.target.dialect, case) {
            (Dialect::Sqlite, Case::Sensitive) => (format!("instr({expression}, "), ") > 0"),
            (Dialect::Sqlite, Case::Ignored) => {
                (format!("instr(dowse_fold({expression}), dowse_fold("), ")) > 0")
            }
            (Dialect::Postgres, Case::Sensitive) => (format!("strpos({expression}, "), ") > 0"),
            (Dialect::Postgres, Case::Ignored) => {
                (format!("strpos(lower({expression}), lower("), ")) > 0")
            }
        };
        self.push(&open);
        self.bind(Value::Text(text.to_owned()));
        self.push(close);
        Ok(())
    }

    fn prefix(&mut self, column: &SqlColumn, prefix: &str) {
        if !self.can_hold(prefix) {
            self.push("1 = 0");
            return;
        }
        let text = Value::Text(prefix.to_owned());
        match self.target.dialect {
            Dialect::Sqlite => {
                self.push(&format!("substr({}, 1, length(", column.expression));
                self.bind(text.clone());
                self.push(")) = ");
                self.bind(text);
            }
            Dialect::Postgres => {
                self.push(&format!("starts_with({}, ", column.expression));
                self.bind(text);
                self.push(")");
            }
        }
    }

    fn equal(&mut self, column: &SqlColumn, value: &Value) {
        if *value == Value::Null {
            self.push(&format!("{} IS NULL", column.expression));
        } else {
            self.compare(column, "=", value);
        }
    }

    fn within(&mut self, column: &SqlColumn, range: &Range) {
        self.push(&format!("({} IS NOT NULL", column.expression));
        for (sign, end) in [(">=", &range.low), ("<=", &range.high)] {
            if *end != Value::Null {
                self.push(" AND ");
                self.compare(column, sign, end);
            }
        }
        self.push(")");
    }

    /// Compares with a value that is not null; one of another type is never met.
    fn compare(&mut self, column: &SqlColumn, sign: &str, value: &Value) {
        let value = match (column.kind, value) {
            (Kind::Text, Value::Text(text)) if self.can_hold(text) => value.clone(),
            (Kind::Number, Value::Integer(_) | Value::Real(_))
            | (Kind::Boolean, Value::Boolean(_)) => value.clone(),
            (Kind::Timestamp, Value::Timestamp(millis) | Value::Integer(millis)) => {
                Value::Integer(*millis)
            }
            _ => {
                self.push("1 = 0");
                return;
            }
        };
        self.push(&format!("{} {sign} ", column.expression));
        self.bind(value);
    }

    /// Writes the condition that a row stands behind a position.
    fn behind(&mut self, position: &Position, sort: Option<&Sort>) -> Result<()> {
        let RowMark::Keyed(keys) = &position.row else {
            self.push("1 = 1");
            return Ok(());
        };
        let Some(sort) = sort else {
            self.keys_behind(keys);
            return Ok(());
        };
        let target = self.target;
        let column = target.column(&sort.column)?;
        if position.key == Value::Null {
            self.push(&format!("({} IS NULL AND ", column.expression));
            self.keys_behind(keys);
            self.push(")");
            return Ok(());
        }
        let sign = match sort.direction {
            Direction::Ascending => ">",
            Direction::Descending => "<",
        };
        self.push(&format!("({} IS NULL OR ", column.expression));
        self.compare(column, sign, &position.key);
        self.push(" OR (");
        self.compare(column, "=", &position.key);
        self.push(" AND ");
        self.keys_behind(keys);
        self.push("))");
        Ok(())
    }

    fn keys_behind(&mut self, values: &[String]) {
        let target = self.target;
        let fits = values.len() == target.keys.len() && !values.is_empty();
        if !fits {
            self.push("1 = 1");
            return;
        }
        let expressions: Vec<&str> =
            target.keys.iter().map(|key| key.expression.as_str()).collect();
        self.push(&format!("({}) > (", expressions.join(", ")));
        for (place, (key, value)) in target.keys.iter().zip(values).enumerate() {
            if place > 0 {
                self.push(", ");
            }
            match target.dialect {
                Dialect::Sqlite => self.bind(key_value(value)),
                Dialect::Postgres => {
                    self.bind(Value::Text(value.clone()));
                    self.push(&format!("::{}", key.cast));
                }
            }
        }
        self.push(")");
    }

    fn expect_text(&self, column: &SqlColumn, test: &'static str) -> Result<()> {
        if column.kind == Kind::Text {
            return Ok(());
        }
        Err(Error::WrongTest { column: column.name.clone(), kind: column.kind.as_str(), test })
    }

    /// PostgreSQL holds no text with a zero byte, and refuses one as a parameter.
    fn can_hold(&self, text: &str) -> bool {
        self.target.dialect == Dialect::Sqlite || !text.contains('\0')
    }
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

fn key_value(text: &str) -> Value {
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
