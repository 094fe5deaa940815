//! Puts an answer together from the statements that a database ran.

use super::shown::seen;
use super::spread;
use super::statement::{Dialect, Statement, Target, Where, key_text, unit_millis};
use crate::query::{
    Answer, Facet, FacetRow, Filter, MAX_SINGLE_VALUES, MAX_SORTS, Position, Query, RowMark,
    SeriesAnswer, Test, TimeSeries, Unmatched,
};
use crate::{Kind, Result, Value, scan};

/// Runs one statement inside the transaction of the answer. The kinds say what each column of
/// the result holds.
pub(super) trait Run {
    fn run(&mut self, statement: &Statement, shape: &[Cell]) -> Result<Vec<Vec<Value>>>;
}

/// What a column of a result holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Cell {
    Text,
    Whole,
    Real,
    /// A decimal of PostgreSQL.
    Decimal,
    Boolean,
    Moment,
    /// Always null, or a key in the database's own type.
    Key,
    /// Several values.
    List(Item),
}

/// What a list holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Item {
    Text,
    Whole,
    Real,
    Decimal,
    Boolean,
    Moment,
}

/// Answers a query with as many statements as it needs.
pub(super) fn answer(target: &Target, run: &mut impl Run, query: &Query) -> Result<Answer> {
    if query.sort.len() > MAX_SORTS {
        let received = query.sort.len();
        return Err(crate::Error::TooManySorts { received, limit: MAX_SORTS });
    }
    let seen = seen(target, run, &query.filters, &query.any)?;
    let passing = seen.rows();
    let total = count(target, run, passing)?;
    let (rows, next) = page(target, run, query, passing)?;
    let mut facets = Vec::new();
    for name in &query.facets {
        facets.push(facet(target, run, query, passing, name)?);
    }
    let series = match &query.series {
        Some(wanted) => Some(series(target, run, passing, wanted)?),
        None => None,
    };
    let unmatched = if total == 0 { unmatched(target, run, &query.filters)? } else { Vec::new() };
    Ok(Answer { rows, total, facets, series, next, unmatched, has_changed: false })
}

/// Gives values near a wanted one.
pub(super) fn near(
    target: &Target,
    run: &mut impl Run,
    column: &str,
    wanted: &Value,
    limit: usize,
) -> Result<Vec<Value>> {
    let shape = [value_shape_of(target, column)?];
    let statement = match wanted.as_f64() {
        Some(number) if matches!(target.column(column)?.kind, Kind::Number | Kind::Timestamp) => {
            target.distinct(column, Some(number), limit)?
        }
        _ => target.distinct(column, None, crate::MAX_COMPARED)?,
    };
    let rows = run.run(&statement, &shape)?;
    Ok(rows.into_iter().flatten().collect())
}

pub(super) fn count(target: &Target, run: &mut impl Run, passing: Where<'_>) -> Result<u64> {
    let rows = run.run(&target.count(passing)?, &[Cell::Whole])?;
    Ok(whole(rows.first().and_then(|row| row.first())))
}

type Page = (Vec<Vec<Value>>, Option<Position>);

fn page(target: &Target, run: &mut impl Run, query: &Query, passing: Where<'_>) -> Result<Page> {
    if query.limit == 0 {
        return Ok((Vec::new(), None));
    }
    let mut shape: Vec<Cell> =
        query.columns.iter().map(|name| shape_of(target, name)).collect::<Result<_>>()?;
    for sort in &query.sort {
        shape.push(value_shape_of(target, &sort.column)?);
    }
    shape.extend(target.keys.iter().map(|_| match target.dialect {
        Dialect::Sqlite => Cell::Key,
        Dialect::Postgres => Cell::Text,
    }));
    let mut rows = run.run(&target.page(query, passing)?, &shape)?;
    let has_more = rows.len() > query.limit;
    rows.truncate(query.limit);
    let mut next = None;
    let last = rows.len().checked_sub(1);
    for (place, row) in rows.iter_mut().enumerate() {
        let tail = row.split_off(query.columns.len());
        let is_last = Some(place) == last;
        if is_last && has_more && !target.keys.is_empty() {
            let mut tail = tail.into_iter();
            let keys = tail.by_ref().take(query.sort.len()).collect();
            let marks = tail
                .map(|key| match (target.dialect, key) {
                    (Dialect::Postgres, Value::Text(text)) => text,
                    (_, key) => key_text(&key),
                })
                .collect();
            next = Some(Position { version: 0, keys, row: RowMark::Keyed(marks) });
        }
    }
    Ok((rows, next))
}

fn facet(
    target: &Target,
    run: &mut impl Run,
    query: &Query,
    passing: Where<'_>,
    name: &str,
) -> Result<Facet> {
    let shape = value_shape_of(target, name)?;
    let column = target.column(name)?;
    let extreme = if column.kind == Kind::Boolean { Cell::Key } else { shape };
    let shapes = [extreme, extreme, Cell::Whole, Cell::Whole];
    let extremes = run.run(&target.extremes(passing, name)?, &shapes)?;
    let extremes = extremes.first();
    let is_continuous = query.continuous.iter().any(|known| known == name)
        && whole(extremes.and_then(|row| row.get(2))) > MAX_SINGLE_VALUES;
    let distribution = match extremes {
        Some(row) if is_continuous => spread::distribution(target, run, passing, name, row)?,
        _ => None,
    };
    let rows = if is_continuous {
        Vec::new()
    } else {
        run.run(&target.facet(passing, name, query.facet_rows)?, &[shape, Cell::Whole])?
    };
    let has_order = matches!(column.kind, Kind::Number | Kind::Timestamp);
    let end = |at: usize| {
        let value = extremes.and_then(|row| row.get(at)).filter(|_| has_order);
        value.filter(|value| **value != Value::Null).cloned()
    };
    Ok(Facet {
        column: name.to_owned(),
        n_values: whole(extremes.and_then(|row| row.get(2))),
        total: whole(extremes.and_then(|row| row.get(3))),
        min: end(0),
        max: end(1),
        distribution,
        rows: rows
            .into_iter()
            .map(|row| {
                let total = whole(row.get(1));
                FacetRow { value: row.into_iter().next().unwrap_or(Value::Null), total }
            })
            .collect(),
    })
}

fn series(
    target: &Target,
    run: &mut impl Run,
    passing: Where<'_>,
    wanted: &TimeSeries,
) -> Result<SeriesAnswer> {
    let is_moment = target.column(&wanted.column)?.kind == Kind::Timestamp;
    let sums_numbers = match &wanted.sum {
        Some(name) => target.column(name)?.kind == Kind::Number,
        None => true,
    };
    if !is_moment || !sums_numbers {
        let name =
            if is_moment { wanted.sum.as_ref().unwrap_or(&wanted.column) } else { &wanted.column };
        return Err(crate::Error::WrongTest {
            column: name.clone(),
            kind: target.column(name)?.kind.as_str(),
            test: if is_moment { "a sum" } else { "a series by time" },
        });
    }
    let extremes = run.run(
        &target.extremes(Where::default(), &wanted.column)?,
        &[Cell::Moment, Cell::Moment, Cell::Whole],
    )?;
    let ends = extremes.first().map(|row| (row[0].as_f64(), row[1].as_f64()));
    let Some((Some(lowest), Some(highest))) = ends else {
        let bucket = wanted.bucket.unwrap_or(crate::Bucket::Day);
        return scan::fill(bucket, &[], count(target, run, passing)?);
    };
    let (lowest, highest) = (lowest as i64, highest as i64);
    let bucket = wanted.bucket.unwrap_or_else(|| scan::narrowest(lowest, highest));
    scan::check_points(bucket, lowest, highest)?;
    let unit = unit_millis(bucket);
    let statement = target.series(passing, &wanted.column, unit, wanted.sum.as_deref())?;
    let rows = run.run(&statement, &[Cell::Whole, Cell::Real, Cell::Whole])?;
    let mut sums: Vec<(i64, f64)> = Vec::new();
    let mut n_without_time = 0;
    for row in rows {
        let Value::Integer(index) = row[0] else {
            n_without_time += whole(row.get(2));
            continue;
        };
        let sum = row[1].as_f64().unwrap_or(0.0);
        let index = bucket.index_of(index * unit);
        match sums.last_mut() {
            Some((last, total)) if *last == index => *total += sum,
            _ => sums.push((index, sum)),
        }
    }
    sums.sort_by_key(|(index, _)| *index);
    scan::fill(bucket, &sums, n_without_time)
}

/// Finds the values that no row of the whole table has, by asking for each alone.
fn unmatched(target: &Target, run: &mut impl Run, filters: &[Filter]) -> Result<Vec<Unmatched>> {
    let mut unmatched = Vec::new();
    for (filter_idx, filter) in filters.iter().enumerate() {
        for (test, value) in alone(&filter.test) {
            let alone = Filter { test, ..filter.clone() };
            let seen = seen(target, run, std::slice::from_ref(&alone), &[])?;
            let rows = run.run(&target.exists(seen.rows())?, &[Cell::Whole])?;
            let is_found = whole(rows.first().and_then(|row| row.first())) > 0;
            if !is_found {
                unmatched.push(Unmatched { filter_idx, value });
            }
        }
    }
    Ok(unmatched)
}

/// The most values of one filter that are tried alone.
const MAX_TRIED_ALONE: usize = 20;

fn alone(test: &Test) -> Vec<(Test, Value)> {
    let mut tests: Vec<(Test, Value)> = match test {
        Test::Contains { text, .. } => vec![(test.clone(), Value::Text(text.clone()))],
        // That nothing is null is no slip of whoever asked.
        Test::AnyOf(values) => {
            let values = values.iter().filter(|value| **value != Value::Null);
            values.map(|value| (Test::AnyOf(vec![value.clone()]), value.clone())).collect()
        }
        Test::Within(ranges) => ranges
            .iter()
            .map(|range| (Test::Within(vec![range.clone()]), range.low.clone()))
            .collect(),
        Test::HasPrefix(prefixes) => prefixes
            .iter()
            .map(|prefix| (Test::HasPrefix(vec![prefix.clone()]), Value::Text(prefix.clone())))
            .collect(),
        Test::HoldsAll(lists) => lists
            .iter()
            .flatten()
            .map(|value| (Test::AnyOf(vec![value.clone()]), value.clone()))
            .collect(),
        Test::Not(_) => Vec::new(),
    };
    tests.truncate(MAX_TRIED_ALONE);
    tests
}

/// Tells what a row shows of a column.
pub(super) fn shape_of(target: &Target, name: &str) -> Result<Cell> {
    let one = value_shape_of(target, name)?;
    if target.column(name)?.list.is_none() {
        return Ok(one);
    }
    Ok(Cell::List(match one {
        Cell::Text | Cell::Key | Cell::List(_) => Item::Text,
        Cell::Whole => Item::Whole,
        Cell::Real => Item::Real,
        Cell::Decimal => Item::Decimal,
        Cell::Boolean => Item::Boolean,
        Cell::Moment => Item::Moment,
    }))
}

/// Tells what one value of a column is.
pub(super) fn value_shape_of(target: &Target, name: &str) -> Result<Cell> {
    let column = target.column(name)?;
    Ok(match column.kind {
        Kind::Text => Cell::Text,
        Kind::Number if column.is_whole => Cell::Whole,
        Kind::Number if column.is_decimal => Cell::Decimal,
        Kind::Number => Cell::Real,
        Kind::Boolean => Cell::Boolean,
        Kind::Timestamp => Cell::Moment,
    })
}

pub(super) fn whole(value: Option<&Value>) -> u64 {
    value.and_then(Value::as_f64).map_or(0, |number| number as u64)
}
