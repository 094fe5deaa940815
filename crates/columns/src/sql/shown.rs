//! Conditions that see only what redaction leaves, over a database, which knows no redaction.
//!
//! The values that fulfil such a condition and may hold something private are asked for, redacted
//! here, and left out by value where the condition holds of the private piece alone. Where they are
//! too many to look at, the call is refused rather than answered by what it must not tell.

use super::answer::{Run, value_shape_of};
use super::statement::{Condition, Dialect, SqlColumn, Statement, Target, Where};
use super::writer::Writer;
use crate::query::{AnyGroup, Filter, Sight, Test};
use crate::shown::{MIN_PRIVATE_NUMBER, holds_in_public, is_hidden, public_pieces};
use crate::{Error, Kind, Result, Value};

/// The most values of one condition that are looked at and left out.
const MAX_LOOKED_AT: usize = 5000;

/// Words without which letters alone are no secret: PostgreSQL looks for them, digits and signs.
const ANNOUNCING: &str = "[0-9@:=_+]|pass|paro|secre|key|token|bearer|auth|credential|pwd|pin|\
                          kenn|senha|contrase|mot de|clave|wachtwoord|hasło|parol|пароль|密|暗|비밀|begin";

/// Filters as a database can test them.
#[derive(Debug, Default)]
pub(super) struct TestableFilters {
    all: Vec<Condition>,
    any: Vec<Vec<Vec<Condition>>>,
}

impl TestableFilters {
    pub(super) fn rows(&self) -> Where<'_> {
        Where { all: &self.all, any: &self.any }
    }
}

/// Finds what of each filter passes by a private piece alone.
pub(super) fn seen(
    target: &Target,
    run: &mut impl Run,
    filters: &[Filter],
    any: &[AnyGroup],
) -> Result<TestableFilters> {
    let mut seen = TestableFilters::default();
    for (place, filter) in filters.iter().enumerate() {
        let mut others: Vec<Filter> = filters.to_vec();
        others.remove(place);
        seen.all.push(condition(target, run, filter, &others)?);
    }
    for group in any {
        let mut alternatives = Vec::new();
        for alternative in &group.alternatives {
            let conditions =
                alternative.iter().map(|filter| condition(target, run, filter, filters));
            alternatives.push(conditions.collect::<Result<_>>()?);
        }
        seen.any.push(alternatives);
    }
    Ok(seen)
}

fn condition(
    target: &Target,
    run: &mut impl Run,
    filter: &Filter,
    others: &[Filter],
) -> Result<Condition> {
    Ok(Condition { filter: filter.clone(), hidden: hidden(target, run, filter, others)? })
}

fn refused(filter: &Filter) -> Error {
    Error::TooPrivate { column: filter.column.clone(), limit: MAX_LOOKED_AT }
}

/// Gives the values that fulfil a condition, negated or not, by a private piece alone.
fn hidden(
    target: &Target,
    run: &mut impl Run,
    filter: &Filter,
    others: &[Filter],
) -> Result<Vec<Value>> {
    let mut test = &filter.test;
    while let Test::Not(inner) = test {
        test = inner;
    }
    let column = target.column(&filter.column)?;
    let asks_for_null = *test == Test::AnyOf(vec![Value::Null]);
    let may_be_private = match (column.kind, target.dialect) {
        (Kind::Text, _) | (Kind::Number, Dialect::Sqlite) => true,
        // A card or a telephone number is whole.
        (Kind::Number, Dialect::Postgres) => column.is_whole,
        (Kind::Boolean | Kind::Timestamp, _) => false,
    };
    if filter.sight == Sight::Whole || asks_for_null || !may_be_private {
        return Ok(Vec::new());
    }
    let statement = candidates(target, column, test, others)?;
    let rows = run.run(&statement, &[value_shape_of(target, &filter.column)?])?;
    let n_rows = rows.len();
    let is_hidden = |value: &Value| match value {
        Value::Text(text) => {
            public_pieces(&column.name, text).is_some_and(|pieces| !holds_in_public(test, &pieces))
        }
        Value::Integer(_) | Value::Real(_) | Value::Decimal(_) => is_hidden(&column.name, value),
        Value::Null | Value::Boolean(_) | Value::Timestamp(_) | Value::List(_) => false,
    };
    let hidden: Vec<Value> = rows.into_iter().flatten().filter(is_hidden).collect();
    // Values of which thousands are public are taken for a column without private ones.
    if n_rows > MAX_LOOKED_AT && !hidden.is_empty() {
        return Err(refused(filter));
    }
    Ok(hidden)
}

/// Asks for the different values that pass and may hold something private.
fn candidates(
    target: &Target,
    column: &SqlColumn,
    test: &Test,
    others: &[Filter],
) -> Result<Statement> {
    let value = column.value(target.dialect);
    let mut all: Vec<Condition> = others.iter().map(Condition::of).collect();
    let mut writer = Writer::new(target, &format!("SELECT {value} FROM "));
    if column.list.is_some() {
        writer.write_values(Where { all: &all, any: &[] }, &column.name)?;
        writer.push(" WHERE ");
        writer.values_test(column, test)?;
    } else {
        all.push(Condition::of(&Filter::new(&column.name, test.clone())));
        writer.write_source(Where { all: &all, any: &[] }, None)?;
    }
    let is_secret = text::is_secret_name(&column.name);
    let may_be = match (column.kind, target.dialect) {
        _ if is_secret => "1 = 1".to_owned(),
        (Kind::Text, Dialect::Sqlite) => format!("dowse_is_private({value})"),
        (Kind::Text, Dialect::Postgres) => {
            format!("({} ~ '{ANNOUNCING}' OR length({value}) > 200)", target.lowered(&value))
        }
        (Kind::Number | Kind::Boolean | Kind::Timestamp, _) => {
            format!("{value} >= {MIN_PRIVATE_NUMBER}")
        }
    };
    writer.push(&format!(" AND {may_be} GROUP BY 1 LIMIT "));
    writer.bind(Value::Integer(MAX_LOOKED_AT as i64 + 1));
    Ok(writer.finish())
}
