//! Groups and measures computed by a database: it groups, we choose and order the groups.
//!
//! Zones are ours, not the database's: PostgreSQL gets the offsets of the zone between the
//! first and the last moment as a `CASE`, SQLite a function. So all engines have one calendar.

use super::answer::{Cell, Run, count, value_shape_of, whole};
use super::fit::not_of_floats;
use super::shown::seen;
use super::statement::{Dialect, Statement, Target, Where};
use super::writer::{Writer, unnested};
use crate::aggregate::{
    LAST_RANGE, MAX_DATABASE_GROUPS, PercentilePlace, arrange, directed, ranges_in_one, whole_mean,
    whole_sum, whole_width, width_start,
};
use crate::decimal::mean_of;
use crate::{
    Aggregate, AggregateAnswer, Calendar, DAY_MILLIS, Decimal, Error, GroupBy, Kind, Op, Result,
    Value, Zone,
};

/// The most changes of a zone's offset that one statement lists: two a year from the first zones
/// to the end of the cycle below.
const MAX_OFFSETS: usize = 1500;

/// From here on a zone's rules are those of its last rule: 2100-01-01.
const CYCLE_START: i64 = 4_102_444_800_000;
/// What the calendar repeats after, weekdays too: 400 years. So the offset of a moment of the
/// year 9999 is that of a moment of one cycle, and a statement need not list 16,000 changes.
const CYCLE_MILLIS: i64 = 146_097 * DAY_MILLIS;

/// Answers an aggregate that was checked.
pub(super) fn aggregate(
    target: &Target,
    run: &mut impl Run,
    wanted: &Aggregate,
) -> Result<AggregateAnswer> {
    let seen = seen(target, run, &wanted.filters, &wanted.any)?;
    let passing = seen.rows();
    let (statement, shape) = statement(target, run, wanted, passing)?;
    let rows = run.run(&statement, &shape)?;
    if rows.len() > MAX_DATABASE_GROUPS {
        return Err(Error::TooManyGroups { limit: MAX_DATABASE_GROUPS });
    }
    let n_keys = wanted.group_by.len();
    let mut grouped = wanted.group_by.iter().map(|grouping| target.column(&grouping.column));
    let has_lists = grouped.any(|column| column.is_ok_and(|column| column.list.is_some()));
    // A row with several values is in several groups.
    let total_rows = if has_lists {
        count(target, run, passing)?
    } else {
        rows.iter().map(|row| whole(row.get(n_keys))).sum()
    };
    let measures: Vec<Vec<Value>> = wanted
        .measures
        .iter()
        .enumerate()
        .map(|(place, measure)| {
            let measured = measure.column.as_ref().and_then(|name| target.column(name).ok());
            // The lowest and the highest text are no figures.
            let is_number = measured.is_some_and(|column| column.kind == Kind::Number);
            let is_whole = measured.is_some_and(|column| column.is_whole);
            let cells = rows.iter().map(|row| row[n_keys + 1 + place].clone());
            cells
                .map(|cell| if is_number { figure(measure.op, is_whole, cell) } else { cell })
                .collect()
        })
        .collect();
    let (order, total_groups) =
        arrange(wanted, rows.len(), &measures, |place, left, right, direction| {
            directed(&rows[left][place], &rows[right][place], direction)
        });
    let rows = order
        .into_iter()
        .map(|group| {
            let keys = wanted
                .group_by
                .iter()
                .zip(&rows[group])
                .map(|(grouping, value)| shown(&grouping.by, value));
            keys.chain(measures.iter().map(|values| values[group].clone())).collect()
        })
        .collect();
    Ok(AggregateAnswer { rows, total_groups, total_rows })
}

/// Computes a figure of whole numbers or decimals from what PostgreSQL gives as text: the sum, the sum and the
/// count, or two neighbours and the count. All of them can be longer than a float keeps.
fn figure(op: Op, is_whole: bool, cell: Value) -> Value {
    let Value::Text(parts) = &cell else { return cell };
    let parts: Vec<&str> = parts.split(' ').collect();
    let count = |at: usize| parts.get(at).and_then(|part| part.parse::<u64>().ok());
    let written = |at: usize| parts.get(at).copied();
    let figure = match (op, is_whole) {
        (Op::Avg, false) => written(0).zip(count(1)).and_then(|(sum, n)| mean_of(sum, n)),
        (Op::Percentile(percent), false) => {
            written(0).zip(written(1)).zip(count(2)).and_then(|((low, high), n)| {
                PercentilePlace::among(n, percent).between_written(low, high)
            })
        }
        (Op::Sum | Op::Avg | Op::Percentile(_), _) => whole_figure(op, &parts),
        (Op::Count | Op::CountDistinct | Op::Min | Op::Max, _) => return cell,
    };
    figure.unwrap_or(Value::Null)
}

fn whole_figure(op: Op, parts: &[&str]) -> Option<Value> {
    let mut parts = parts.iter().map(|part| part.parse::<i128>());
    let mut part = || parts.next().and_then(Result::ok);
    match op {
        Op::Sum => part().map(whole_sum),
        Op::Avg => part().zip(part()).map(|(sum, n)| whole_mean(sum, n as u64)),
        Op::Percentile(percent) => part().zip(part()).zip(part()).map(|((low, high), n)| {
            PercentilePlace::among(n as u64, percent).between_whole(low as i64, high as i64)
        }),
        Op::Count | Op::CountDistinct | Op::Min | Op::Max => None,
    }
}

fn shown(by: &GroupBy, value: &Value) -> Value {
    match (by, value) {
        (GroupBy::Calendar(calendar, zone), Value::Integer(number)) => {
            Value::Text(calendar.label(*number, zone))
        }
        (GroupBy::Width(width), Value::Integer(number)) => width_start(*number, *width),
        _ => value.clone(),
    }
}

/// Writes the statement: values of the used columns inside, groups and measures outside.
fn statement(
    target: &Target,
    run: &mut impl Run,
    wanted: &Aggregate,
    rows: Where<'_>,
) -> Result<(Statement, Vec<Cell>)> {
    let mut inner: Vec<String> = Vec::new();
    let mut lists: Vec<(usize, String)> = Vec::new();
    let mut has_repeated_keys = false;
    let mut offsets: Vec<String> = Vec::new();
    let mut keys: Vec<String> = Vec::new();
    let mut shape: Vec<Cell> = Vec::new();
    for (place, grouping) in wanted.group_by.iter().enumerate() {
        let column = target.column(&grouping.column)?;
        inner.push(format!("{} AS g{place}", column.shown()));
        let mut value = format!("g{place}");
        if column.list.is_some() {
            value = format!("v{place}");
            lists.push((place, format!("{} AS {value}", column.value_at(target.dialect, place))));
            has_repeated_keys |= grouping.by != GroupBy::Value;
        }
        let (key, cell) = match (&grouping.by, target.dialect) {
            (GroupBy::Value, _) => (value, value_shape_of(target, &grouping.column)?),
            (GroupBy::Calendar(calendar, zone), Dialect::Sqlite) => {
                let zone = zone.name().replace('\'', "''");
                let bucket = calendar.as_str();
                (format!("dowse_bucket({value}, '{bucket}', '{zone}')"), Cell::Whole)
            }
            (GroupBy::Calendar(calendar, zone), Dialect::Postgres) => {
                let offset = offset(target, run, rows, &grouping.column, zone, &value)?;
                offsets.push(format!("{offset} AS o{place}"));
                (number(*calendar, &value, &format!("o{place}")), Cell::Whole)
            }
            (GroupBy::Width(width), Dialect::Sqlite) => {
                (format!("dowse_range({value}, {width:?})"), Cell::Whole)
            }
            (GroupBy::Width(width), Dialect::Postgres)
                if column.is_whole && whole_width(*width).is_some() =>
            {
                let width = *width as i64;
                (
                    format!("({value} - (({value} % {width}) + {width}) % {width}) / {width}"),
                    Cell::Whole,
                )
            }
            (GroupBy::Width(width), Dialect::Postgres) => {
                let number = match Decimal::of_real(*width) {
                    Some(width) if column.is_decimal => decimal_range_number(&value, width),
                    _ => range_number_in_sql(&value, *width),
                };
                // PostgreSQL's `least` passes over nulls, so a null has to be kept apart.
                let number = format!(
                    "CASE WHEN {number} IS NULL THEN NULL \
                     ELSE greatest(least({number}, {LAST_RANGE:e}), -{LAST_RANGE:e})::int8 END"
                );
                (number, Cell::Whole)
            }
        };
        keys.push(key);
        shape.push(cell);
    }
    let mut selected = vec!["count(*)".to_owned()];
    shape.push(Cell::Whole);
    for (place, measure) in wanted.measures.iter().enumerate() {
        let Some(name) = &measure.column else {
            selected.push("count(*)".to_owned());
            shape.push(Cell::Whole);
            continue;
        };
        let column = target.column(name)?;
        inner.push(format!("{} AS m{place}", column.expression));
        let is_whole = column.kind == Kind::Number && column.is_whole;
        let numbers = match measure.op {
            Op::Percentile(_)
                if column.is_decimal && has_long_decimals(target, run, rows, name)? =>
            {
                Numbers::LongDecimal
            }
            _ if column.is_decimal => Numbers::Decimal,
            _ if !is_whole => Numbers::Real,
            Op::Percentile(_)
                if target.dialect == Dialect::Postgres
                    && has_long_numbers(target, run, rows, name)? =>
            {
                Numbers::LongWhole
            }
            Op::Count
            | Op::CountDistinct
            | Op::Sum
            | Op::Avg
            | Op::Min
            | Op::Max
            | Op::Percentile(_) => Numbers::Whole,
        };
        let (expression, cell) =
            measured(target.dialect, measure.op, &format!("m{place}"), numbers);
        selected.push(expression);
        shape.push(match cell {
            Some(cell) => cell,
            None => value_shape_of(target, name)?,
        });
    }
    if inner.is_empty() {
        inner.push("1 AS unused".to_owned());
    }
    if has_repeated_keys {
        inner.push("row_number() OVER () AS dowse_row_number".to_owned());
    }
    // `OFFSET 0` keeps PostgreSQL from computing an expression again at each of its uses.
    let fence = match target.dialect {
        Dialect::Sqlite => "",
        Dialect::Postgres => " OFFSET 0",
    };
    // Two values of one cell can be in one bucket; the row is in it once.
    let once = has_repeated_keys.then(|| {
        let placed = keys.iter().enumerate();
        let placed: Vec<String> = placed.map(|(place, key)| format!("{key} AS k{place}")).collect();
        let measured =
            (0..wanted.measures.len()).filter(|at| wanted.measures[*at].column.is_some());
        let measured: String = measured.map(|at| format!(", m{at}")).collect();
        keys = (0..keys.len()).map(|place| format!("k{place}")).collect();
        format!("SELECT DISTINCT dowse_row_number, {}{measured} FROM (", placed.join(", "))
    });
    selected.splice(0..0, keys.iter().cloned());
    // From the inside: the rows, the values of their lists, the offsets of zones, each row once.
    let mut stages: Vec<(String, String)> = Vec::new();
    if let Some(once) = once {
        stages.push((once, format!("{fence}) AS repeated")));
    }
    if !offsets.is_empty() {
        let head = format!("SELECT *, {} FROM (", offsets.join(", "));
        stages.push((head, format!("{fence}) AS placed")));
    }
    if !lists.is_empty() {
        let values: Vec<&str> = lists.iter().map(|(_, value)| value.as_str()).collect();
        let joins: String = lists
            .iter()
            .map(|(place, _)| unnested(target.dialect, &format!("listed.g{place}"), *place))
            .collect();
        let head = format!("SELECT listed.*, {} FROM (", values.join(", "));
        stages.push((head, format!("{fence}) AS listed{joins}")));
    }
    let mut writer = Writer::new(target, &format!("SELECT {} FROM (", selected.join(", ")));
    stages.iter().for_each(|(head, _)| writer.push(head));
    writer.push(&format!("SELECT {} FROM ", inner.join(", ")));
    writer.write_source(rows, None)?;
    stages.iter().rev().for_each(|(_, tail)| writer.push(tail));
    writer.push(&format!("{fence}) AS used"));
    if !keys.is_empty() {
        let places: Vec<String> = (1..=keys.len()).map(|place| place.to_string()).collect();
        writer.push(&format!(" GROUP BY {}", places.join(", ")));
    }
    writer.push(" LIMIT ");
    writer.bind(Value::Integer(MAX_DATABASE_GROUPS as i64 + 1));
    Ok((writer.finish(), shape))
}

/// What is measured.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Numbers {
    Real,
    /// Whole numbers that a float holds, with what lies between two of them.
    Whole,
    /// Whole numbers of which some are too long for the arithmetic of floats.
    LongWhole,
    Decimal,
    /// Decimals of which some have more digits than a float.
    LongDecimal,
}

/// Tells whether some decimals have more digits than a float.
fn has_long_decimals(
    target: &Target,
    run: &mut impl Run,
    rows: Where<'_>,
    name: &str,
) -> Result<bool> {
    let is_long = not_of_floats(&target.column(name)?.expression);
    let mut writer = Writer::new(target, &format!("SELECT bool_or({is_long}) FROM "));
    writer.write_source(rows, None)?;
    let found = run.run(&writer.finish(), &[Cell::Boolean])?;
    Ok(found.iter().flatten().any(|found| *found == Value::Boolean(true)))
}

/// Tells whether whole numbers are so long that a float does not hold what lies between two.
fn has_long_numbers(
    target: &Target,
    run: &mut impl Run,
    rows: Where<'_>,
    name: &str,
) -> Result<bool> {
    /// Of the 53 bits of a float seven are for hundredths.
    const EXACT: u64 = 1 << 46;
    let expression = &target.column(name)?.expression;
    let mut writer =
        Writer::new(target, &format!("SELECT min({expression}), max({expression}) FROM "));
    writer.write_source(rows, None)?;
    let ends = run.run(&writer.finish(), &[Cell::Whole, Cell::Whole])?;
    let is_long =
        |end: &Value| matches!(end, Value::Integer(number) if number.unsigned_abs() > EXACT);
    Ok(ends.iter().flatten().any(is_long))
}

/// Writes a measure, and says what it gives; nothing said is what the column holds.
fn measured(dialect: Dialect, op: Op, value: &str, numbers: Numbers) -> (String, Option<Cell>) {
    let real = Some(Cell::Real);
    let is_whole = matches!(numbers, Numbers::Whole | Numbers::LongWhole);
    let is_decimal = matches!(numbers, Numbers::Decimal | Numbers::LongDecimal);
    match (op, dialect) {
        (Op::Count, _) => (format!("count({value})"), Some(Cell::Whole)),
        (Op::CountDistinct, _) => (format!("count(DISTINCT {value})"), Some(Cell::Whole)),
        (Op::Min, _) => (format!("min({value})"), None),
        (Op::Max, _) => (format!("max({value})"), None),
        (Op::Sum, Dialect::Sqlite) => (format!("dowse_sum({value})"), real),
        (Op::Avg, Dialect::Sqlite) => (format!("dowse_avg({value})"), real),
        (Op::Percentile(percent), Dialect::Sqlite) => {
            (format!("dowse_percentile({value}, {percent})"), real)
        }
        (Op::Sum, Dialect::Postgres) if is_whole => {
            (format!("sum({value})::text"), Some(Cell::Text))
        }
        (Op::Sum, Dialect::Postgres) if is_decimal => {
            (format!("sum({value})"), Some(Cell::Decimal))
        }
        (Op::Sum, Dialect::Postgres) => (format!("sum({value})::float8"), real),
        (Op::Avg, Dialect::Postgres) if is_whole || is_decimal => {
            (format!("sum({value})::text || ' ' || count({value})"), Some(Cell::Text))
        }
        (Op::Avg, Dialect::Postgres) => {
            (format!("sum({value})::float8 / nullif(count({value}), 0)"), real)
        }
        (Op::Percentile(percent), Dialect::Postgres)
            if matches!(numbers, Numbers::LongWhole | Numbers::LongDecimal) =>
        {
            let all =
                format!("(array_agg({value} ORDER BY {value}) FILTER (WHERE {value} IS NOT NULL))");
            let place = format!("(count({value}) - 1) * {percent}");
            (
                format!(
                    "{all}[({place} / 100 + 1)::int4] || ' ' || {all}[(({place} + 99) / 100 + 1)::int4] || ' ' || count({value})"
                ),
                Some(Cell::Text),
            )
        }
        (Op::Percentile(percent), Dialect::Postgres) => (
            format!(
                "percentile_cont({percent}::float8 / 100) WITHIN GROUP (ORDER BY {value}::float8)"
            ),
            real,
        ),
    }
}

/// Writes the offset of a zone at a moment, from the changes between the extremes.
fn offset(
    target: &Target,
    run: &mut impl Run,
    rows: Where<'_>,
    column: &str,
    zone: &Zone,
    moment: &str,
) -> Result<String> {
    let shape = [Cell::Moment, Cell::Moment];
    let extremes = run.run(&target.extremes(rows, column)?, &shape)?;
    let end =
        |at: usize| extremes.first().and_then(|row| row[at].as_f64()).map(|millis| millis as i64);
    let (Some(first), Some(last)) = (end(0), end(1)) else { return Ok("0::int8".to_owned()) };
    let end_of_cycle = CYCLE_START + CYCLE_MILLIS;
    let offsets = zone.offsets(first, last.min(end_of_cycle), MAX_OFFSETS);
    let offsets = offsets.ok_or_else(|| Error::WrongTest {
        column: column.to_owned(),
        kind: Kind::Timestamp.as_str(),
        test: "a time zone over so many centuries; filter by time or use UTC",
    })?;
    let listed = cases(&offsets, moment);
    if last <= end_of_cycle {
        return Ok(format!("({listed})::int8"));
    }
    let in_cycle = format!("({CYCLE_START} + ({moment} - {CYCLE_START}) % {CYCLE_MILLIS})");
    let behind = offsets.partition_point(|(at, _)| *at <= CYCLE_START).saturating_sub(1);
    let repeated = cases(&offsets[behind..], &in_cycle);
    Ok(format!(
        "(CASE WHEN {moment} IS NULL OR {moment} < {end_of_cycle} THEN {listed} ELSE {repeated} END)::int8"
    ))
}

/// Writes the offset that holds at a moment, from the changes in their order.
fn cases(offsets: &[(i64, i64)], moment: &str) -> String {
    let mut case = String::new();
    for pair in offsets.windows(2) {
        case.push_str(&format!(" WHEN {moment} < {} THEN {}", pair[1].0, pair[0].1));
    }
    let last = offsets.last().map_or(0, |(_, offset)| *offset);
    if case.is_empty() { format!("({last})") } else { format!("(CASE{case} ELSE {last} END)") }
}

/// Writes the number of a bucket, as [`Calendar::number`] computes it. PostgreSQL divides
/// towards zero; taking the rest off first divides downwards.
fn number(calendar: Calendar, moment: &str, offset: &str) -> String {
    let local = format!("({moment} + {offset})");
    let down =
        |value: &str, unit: i64| format!("({value} - ((({value}) % {unit}) + {unit}) % {unit})");
    let day = format!("({} / {DAY_MILLIS})", down(&local, DAY_MILLIS));
    let from_monday = format!("({day} + 3)");
    let part = |part: &str| format!("extract({part} FROM (date '1970-01-01' + {day}::int4))::int8");
    match calendar {
        Calendar::Hour => format!("({} - {offset})", down(&local, 3_600_000)),
        Calendar::Day => day,
        Calendar::Week => format!("({} - 3)", down(&from_monday, 7)),
        Calendar::Weekday => format!("((({from_monday} % 7) + 7) % 7)"),
        Calendar::Year => part("year"),
        Calendar::Quarter => format!("({} * 4 + {} - 1)", part("year"), part("quarter")),
        Calendar::Month => format!("({} * 12 + {} - 1)", part("year"), part("month")),
    }
}

/// Writes [`Decimal::range_of`] for PostgreSQL, whose remainders of decimals are exact.
fn decimal_range_number(value: &str, width: Decimal) -> String {
    let width = format!("{width}::numeric");
    format!("(({value} - (({value} % {width}) + {width}) % {width}) / {width})")
}

/// Writes [`crate::aggregate::range_number`] for PostgreSQL.
fn range_number_in_sql(value: &str, width: f64) -> String {
    let start = |number: &str| match ranges_in_one(width) {
        Some(inverse) => format!("({number}) / {inverse:?}::float8"),
        None => format!("({number}) * {width:?}::float8"),
    };
    let value = format!("{value}::float8");
    let number = format!("floor({value} / {width:?}::float8)");
    let (this, next) = (start(&number), start(&format!("{number} + 1")));
    format!(
        "({number} + CASE WHEN {next} <= {value} THEN 1 WHEN {this} > {value} THEN -1 ELSE 0 END)"
    )
}
