//! Writes conditions as SQL: values are always parameters, and each condition means what it
//! means in a scan over columns.

use super::statement::{
    Condition, Dialect, ITEM, List, SqlColumn, Statement, Target, Where, key_value,
};
use crate::query::{Case, Direction, Position, Range, RowMark, Sort, Test};
use crate::{Decimal, Error, Kind, Result, Value};

/// Writes one statement.
pub(super) struct Writer<'t> {
    target: &'t Target,
    sql: String,
    parameters: Vec<Value>,
}

impl<'t> Writer<'t> {
    pub(super) fn new(target: &'t Target, sql: &str) -> Self {
        Writer { target, sql: sql.to_owned(), parameters: Vec::new() }
    }

    pub(super) fn finish(self) -> Statement {
        Statement { sql: self.sql, parameters: self.parameters }
    }

    pub(super) fn push(&mut self, sql: &str) {
        self.sql.push_str(sql);
    }

    /// Writes the place of a parameter, with its type where the database wants one.
    pub(super) fn bind(&mut self, value: Value) {
        let place = self.bound(value);
        self.push(&place);
    }

    /// Gives the place of a parameter.
    fn bound(&mut self, value: Value) -> String {
        let cast = match (&self.target.dialect, &value) {
            (Dialect::Sqlite, _) => "",
            (Dialect::Postgres, Value::Integer(_) | Value::Timestamp(_)) => "::int8",
            (Dialect::Postgres, Value::Real(_)) => "::float8",
            (Dialect::Postgres, Value::Decimal(_)) => "::text::numeric",
            (Dialect::Postgres, Value::Boolean(_)) => "::bool",
            (Dialect::Postgres, Value::Text(_) | Value::Null | Value::List(_)) => "::text",
        };
        self.parameters.push(value);
        let sign = match self.target.dialect {
            Dialect::Sqlite => '?',
            Dialect::Postgres => '$',
        };
        format!("{sign}{}{cast}", self.parameters.len())
    }

    /// Writes the table and the condition that its rows must pass, and where a page starts.
    pub(super) fn write_source(
        &mut self,
        rows: Where<'_>,
        after: Option<(&Position, &[Sort])>,
    ) -> Result<()> {
        let target = self.target;
        self.push(&target.from);
        let mut word = " WHERE ";
        for condition in rows.all {
            self.push(word);
            self.condition(condition)?;
            word = " AND ";
        }
        for group in rows.any {
            self.push(word);
            self.any_group(group)?;
            word = " AND ";
        }
        if let Some((position, sort)) = after {
            self.push(word);
            self.behind(position, sort)?;
        }
        Ok(())
    }

    /// Writes the values of a column in the rows that pass: one row for each, and one with null
    /// for a cell that has none.
    pub(super) fn write_values(&mut self, rows: Where<'_>, name: &str) -> Result<()> {
        let column = self.target.column(name)?;
        let Some(list) = &column.list else { return self.write_source(rows, None) };
        self.push(&format!("(SELECT {} AS dowse_list FROM ", list.whole));
        self.write_source(rows, None)?;
        self.push(") AS dowse_used");
        self.push(&unnested(self.target.dialect, "dowse_used.dowse_list", 0));
        Ok(())
    }

    /// Writes alternatives. What is unknown of a null is false here, as in a scan over columns.
    fn any_group(&mut self, group: &[Vec<Condition>]) -> Result<()> {
        self.push("(1 = 0");
        for alternative in group {
            self.push(" OR (1 = 1");
            for condition in alternative {
                self.push(" AND coalesce(");
                self.condition(condition)?;
                self.push(", 1 = 0)");
            }
            self.push(")");
        }
        self.push(")");
        Ok(())
    }

    /// Writes a filter, without what fulfils it by a private piece alone.
    fn condition(&mut self, condition: &Condition) -> Result<()> {
        let column = self.target.column(&condition.filter.column)?;
        self.seen_test(column, &condition.filter.test, &condition.hidden)
    }

    /// Writes a test on a cell. In a cell with several values, one that fulfils it is enough.
    fn seen_test(&mut self, column: &SqlColumn, test: &Test, hidden: &[Value]) -> Result<()> {
        if let Test::Not(inner) = test {
            self.push("NOT coalesce(");
            self.seen_test(column, inner, hidden)?;
            self.push(", 1 = 0)");
            return Ok(());
        }
        match &column.list {
            Some(list) => self.list_test(column, list, test, hidden),
            None if hidden.is_empty() => self.test(column, test),
            None => {
                self.push("(");
                self.test(column, test)?;
                self.without(column, hidden);
                self.push(")");
                Ok(())
            }
        }
    }

    fn without(&mut self, column: &SqlColumn, hidden: &[Value]) {
        if !hidden.is_empty() {
            self.push(" AND NOT coalesce(");
            self.any(hidden, |writer, value| writer.equal(column, value));
            self.push(", 1 = 0)");
        }
    }

    /// Writes a test on the values of a column whose cells have several. Of values of which all are
    /// wanted, each alone counts.
    pub(super) fn values_test(&mut self, column: &SqlColumn, test: &Test) -> Result<()> {
        let dialect = self.target.dialect;
        let item = column.item(&column.value(dialect), dialect);
        match test {
            Test::HoldsAll(lists) => {
                self.test(&item, &Test::AnyOf(lists.iter().flatten().cloned().collect()))
            }
            Test::Contains { .. }
            | Test::AnyOf(_)
            | Test::Within(_)
            | Test::HasPrefix(_)
            | Test::Not(_) => self.test(&item, test),
        }
    }

    /// Writes a test on a cell with several values; no value at all is null.
    fn list_test(
        &mut self,
        column: &SqlColumn,
        list: &List,
        test: &Test,
        hidden: &[Value],
    ) -> Result<()> {
        if let Test::HoldsAll(alternatives) = test {
            self.push("(1 = 0");
            for values in alternatives {
                self.push(" OR (1 = 1");
                for value in values {
                    self.push(" AND ");
                    let one = Test::AnyOf(vec![value.clone()]);
                    self.list_test(column, list, &one, hidden)?;
                }
                self.push(")");
            }
            self.push(")");
            return Ok(());
        }
        let item = column.item(ITEM, self.target.dialect);
        self.push("(");
        if matches!(test, Test::AnyOf(values) if values.contains(&Value::Null)) {
            self.push(&format!(
                "NOT EXISTS (SELECT 1 FROM {} WHERE {ITEM} IS NOT NULL) OR ",
                list.items
            ));
        }
        self.push(&format!("EXISTS (SELECT 1 FROM {} WHERE {ITEM} IS NOT NULL AND ", list.items));
        self.test(&item, test)?;
        self.without(&item, hidden);
        self.push("))");
        Ok(())
    }

    /// Writes a test on one value.
    pub(super) fn test(&mut self, column: &SqlColumn, test: &Test) -> Result<()> {
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
        let is_folded = case == Case::Ignored;
        let cell = if is_folded { self.target.lowered(expression) } else { expression.clone() };
        self.push(match self.target.dialect {
            Dialect::Sqlite => "instr(",
            Dialect::Postgres => "strpos(",
        });
        self.push(&format!("{cell}, "));
        let place = self.bound(Value::Text(text.to_owned()));
        let wanted = if is_folded { self.target.lowered(&place) } else { place };
        self.push(&format!("{wanted}) > 0"));
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
            // Compared with a float PostgreSQL would make a float of the decimal.
            (Kind::Number, Value::Real(number)) if column.is_decimal => {
                let decimal = Decimal::of_real(*number);
                decimal.map_or_else(|| value.clone(), |number| Value::Decimal(Box::new(number)))
            }
            (Kind::Number, Value::Decimal(number)) if !column.is_decimal && !column.is_whole => {
                Value::Real(number.as_f64())
            }
            (Kind::Number, Value::Integer(_) | Value::Real(_) | Value::Decimal(_))
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

    /// Writes the condition that a row comes after a position: it is after in the first sorted
    /// column, or equal there and after in the rest.
    fn behind(&mut self, position: &Position, sort: &[Sort]) -> Result<()> {
        let RowMark::Keyed(keys) = &position.row else {
            self.push("1 = 1");
            return Ok(());
        };
        let target = self.target;
        for (place, sort) in sort.iter().enumerate() {
            let column = target.column(&sort.column)?;
            let key = position.keys.get(place).unwrap_or(&Value::Null);
            if *key == Value::Null {
                self.push(&format!("({} IS NULL AND ", column.expression));
                continue;
            }
            let sign = match sort.direction {
                Direction::Ascending => ">",
                Direction::Descending => "<",
            };
            self.push(&format!("({} IS NULL OR ", column.expression));
            self.compare(column, sign, key);
            self.push(" OR ");
            self.compare(column, "=", key);
            self.push(" AND ");
        }
        self.keys_behind(keys);
        self.push(&")".repeat(sort.len()));
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

/// Writes the join that gives a row for each value of a list, and one with null for a list of none.
pub(super) fn unnested(dialect: Dialect, list: &str, place: usize) -> String {
    match dialect {
        Dialect::Sqlite => format!(" LEFT JOIN json_each({list}) AS dowse_each_{place} ON 1"),
        Dialect::Postgres => {
            format!(" LEFT JOIN LATERAL unnest({list}) AS dowse_each_{place}({ITEM}) ON true")
        }
    }
}
