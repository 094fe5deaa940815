//! Statements of one query, run in one transaction, and their cells.

use model::Deadline;
use tokio_postgres::types::{FromSql, ToSql, Type};
use tokio_postgres::{Client, Row};

use super::super::answer::{Cell, Item, Run};
use super::super::statement::Statement;
use super::Inner;
use super::numeric::Numeric;
use crate::{Result, Value};

pub(super) struct Transaction<'c> {
    pub(super) inner: &'c Inner,
    pub(super) client: &'c Client,
    pub(super) deadline: &'c Deadline,
}

impl Run for Transaction<'_> {
    fn run(&mut self, statement: &Statement, shape: &[Cell]) -> Result<Vec<Vec<Value>>> {
        let parameters: Vec<(Box<dyn ToSql + Sync>, Type)> =
            statement.parameters.iter().map(bound).collect();
        let parameters: Vec<(&(dyn ToSql + Sync), Type)> =
            parameters.iter().map(|(value, kind)| (value.as_ref(), kind.clone())).collect();
        let asked = self.client.query_typed(&statement.sql, &parameters);
        let rows = self
            .inner
            .wait(self.deadline, async { asked.await.map_err(|cause| self.inner.failed(cause)) })?;
        rows.iter()
            .map(|row| {
                shape
                    .iter()
                    .enumerate()
                    .map(|(at, cell)| take(row, at, *cell))
                    .collect::<Result<Vec<_>, _>>()
                    .map_err(|cause| self.inner.failed(cause))
            })
            .collect()
    }
}

fn bound(value: &Value) -> (Box<dyn ToSql + Sync>, Type) {
    match value {
        Value::Text(text) => (Box::new(text.clone()), Type::TEXT),
        Value::Integer(number) | Value::Timestamp(number) => (Box::new(*number), Type::INT8),
        Value::Real(number) => (Box::new(*number), Type::FLOAT8),
        Value::Decimal(number) => (Box::new(number.to_string()), Type::TEXT),
        Value::Boolean(flag) => (Box::new(*flag), Type::BOOL),
        Value::Null | Value::List(_) => (Box::new(None::<String>), Type::TEXT),
    }
}

fn take(row: &Row, at: usize, cell: Cell) -> Result<Value, tokio_postgres::Error> {
    Ok(match cell {
        Cell::Text => row.try_get::<_, Option<String>>(at)?.map_or(Value::Null, Value::Text),
        Cell::Whole => row.try_get::<_, Option<i64>>(at)?.map_or(Value::Null, Value::Integer),
        Cell::Real => row.try_get::<_, Option<f64>>(at)?.map_or(Value::Null, Value::Real),
        Cell::Decimal => {
            row.try_get::<_, Option<Numeric>>(at)?.map_or(Value::Null, |number| number.0)
        }
        Cell::Boolean => row.try_get::<_, Option<bool>>(at)?.map_or(Value::Null, Value::Boolean),
        Cell::Moment => row.try_get::<_, Option<i64>>(at)?.map_or(Value::Null, Value::Timestamp),
        Cell::Key => Value::Null,
        Cell::List(items) => Value::List(match items {
            Item::Text => list::<String>(row, at, Value::Text)?,
            Item::Whole => list::<i64>(row, at, Value::Integer)?,
            Item::Real => list::<f64>(row, at, Value::Real)?,
            Item::Decimal => list::<Numeric>(row, at, |number| number.0)?,
            Item::Boolean => list::<bool>(row, at, Value::Boolean)?,
            Item::Moment => list::<i64>(row, at, Value::Timestamp)?,
        }),
    })
}

/// Gives the values of a list; of one that is null, none.
fn list<'r, T>(
    row: &'r Row,
    at: usize,
    value: impl Fn(T) -> Value,
) -> Result<Vec<Value>, tokio_postgres::Error>
where
    Vec<T>: FromSql<'r>,
{
    let items = row.try_get::<_, Option<Vec<T>>>(at)?.unwrap_or_default();
    Ok(items.into_iter().map(value).collect())
}
