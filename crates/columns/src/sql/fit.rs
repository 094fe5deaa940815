//! Which cells of a database's table do not fit the schema: counted by the database, the first
//! few named by the key of their row.

use super::answer::{Cell, Run, whole};
use super::join::{missing_keys, repeated_keys};
use super::statement::{Dates, Dialect, SqlColumn, Statement, Target};
use crate::decimal::MAX_DIGITS;
use crate::load::{LoadReport, Misfit, MissingKeys, NAMED_MISFITS, RepeatedKeys};
use crate::{Result, Value};

/// Counts the rows and the cells that do not fit. Columns that fit by their type cost nothing.
pub(super) fn report(target: &Target, run: &mut impl Run) -> Result<LoadReport> {
    let doubtful: Vec<(&SqlColumn, &str)> = target
        .columns
        .iter()
        .filter_map(|column| Some((column, column.misfit.as_deref()?)))
        .collect();
    let rows = run.run(&counts(target, &doubtful), &vec![Cell::Whole; doubtful.len() + 2])?;
    let counted: Vec<u64> = rows
        .into_iter()
        .next()
        .unwrap_or_default()
        .iter()
        .map(|count| count.as_f64().unwrap_or(0.0) as u64)
        .collect();
    let [n_rows, n_misfit_rows, by_column @ ..] = counted.as_slice() else {
        return Ok(LoadReport::default());
    };
    let mut misfits = Vec::new();
    for ((column, condition), n_misfits) in doubtful.iter().zip(by_column) {
        if *n_misfits > 0 && misfits.len() < NAMED_MISFITS {
            misfits.extend(named(target, run, column, condition, NAMED_MISFITS - misfits.len())?);
        }
    }
    let mut report =
        LoadReport::of_database(*n_rows, *n_misfit_rows, by_column.iter().sum(), misfits);
    report.date_columns = date_columns(target, run)?;
    let counted = doubtful.iter().zip(by_column).filter(|(_, n_misfits)| **n_misfits > 0);
    report.misfits_by_column =
        counted.map(|((column, _), n_misfits)| (column.name.clone(), *n_misfits)).collect();
    add_rounded(target, run, &mut report)?;
    add_long_decimals(target, run, &mut report)?;
    add_repeated(target, run, &mut report)?;
    for join in &target.joins {
        let statement = Statement { sql: repeated_keys(join), parameters: Vec::new() };
        let rows = run.run(&statement, &[Cell::Whole])?;
        let n_keys = rows.first().and_then(|row| row.first()).and_then(Value::as_f64);
        let n_keys = n_keys.unwrap_or(0.0) as u64;
        if n_keys > 0 {
            report.repeated_keys.push(RepeatedKeys { table: join.table.clone(), n_keys });
        }
        let sql = missing_keys(join, &target.from);
        let statement = Statement { sql, parameters: Vec::new() };
        let rows = run.run(&statement, &[Cell::Whole, Cell::Whole])?;
        let count = |at: usize| whole(rows.first().and_then(|row| row.get(at)));
        let (n_keys, n_rows) = (count(0), count(1));
        if n_keys > 0 {
            report.missing_keys.push(MissingKeys { table: join.table.clone(), n_keys, n_rows });
        }
    }
    Ok(report)
}

/// Counts the different numbers with more digits than are kept.
fn add_rounded(target: &Target, run: &mut impl Run, report: &mut LoadReport) -> Result<()> {
    let doubtful: Vec<(&SqlColumn, &String)> = target
        .columns
        .iter()
        .filter_map(|column| Some((column, column.rounded.as_ref()?)))
        .collect();
    if doubtful.is_empty() {
        return Ok(());
    }
    let counts: Vec<String> = doubtful
        .iter()
        .map(|(column, rounded)| {
            format!("count(DISTINCT CASE WHEN {rounded} THEN {} END)", column.source)
        })
        .collect();
    let sql = format!("SELECT {} FROM {}", counts.join(", "), target.from);
    let statement = Statement { sql, parameters: Vec::new() };
    let rows = run.run(&statement, &vec![Cell::Whole; counts.len()])?;
    for ((column, _), count) in doubtful.iter().zip(rows.iter().flatten()) {
        report.add_rounded(&column.name, count.as_f64().unwrap_or(0.0) as u64);
    }
    Ok(())
}

/// Counts the values that come again in one list, and its nulls.
fn add_repeated(target: &Target, run: &mut impl Run, report: &mut LoadReport) -> Result<()> {
    for list in target.columns.iter().filter_map(|column| column.list.as_ref()) {
        let (n_repeated, n_nulls, from) = (&list.n_repeated, &list.n_nulls, &target.from);
        let sql = format!(
            "SELECT CAST(coalesce(sum({n_repeated}), 0) AS bigint), \
             CAST(coalesce(sum({n_nulls}), 0) AS bigint) FROM {from}"
        );
        let shape = [Cell::Whole, Cell::Whole];
        let rows = run.run(&Statement { sql, parameters: Vec::new() }, &shape)?;
        report.n_repeated_in_lists += whole(rows.first().and_then(|row| row.first()));
        report.n_nulls_in_lists += whole(rows.first().and_then(|row| row.get(1)));
    }
    Ok(())
}

/// Finds the columns of decimals that hold one which no float keeps, and how many digits behind the
/// point the column has; nothing is said of that where the digits of all would be too many.
fn add_long_decimals(target: &Target, run: &mut impl Run, report: &mut LoadReport) -> Result<()> {
    let decimals = target.columns.iter().filter(|column| column.is_decimal);
    for column in decimals.filter(|column| column.list.is_none()) {
        let (number, from) = (&column.expression, &target.from);
        let sql = format!(
            "SELECT coalesce(max(scale(trim_scale({number}))), 0)::int8, \
             coalesce(max(length(trunc(abs({number}))::text)), 0)::int8 FROM {from} \
             HAVING bool_or({})",
            not_of_floats(number)
        );
        let shape = [Cell::Whole, Cell::Whole];
        let rows = run.run(&Statement { sql, parameters: Vec::new() }, &shape)?;
        let Some(row) = rows.first() else { continue };
        let (scale, n_whole) = (whole(row.first()), whole(row.get(1)));
        let is_kept = scale + n_whole <= u64::from(MAX_DIGITS);
        let scale = u8::try_from(scale).ok().filter(|_| is_kept);
        report.long_decimals.insert(column.name.clone(), scale);
    }
    Ok(())
}

/// Writes the condition that neither a whole number of 64 bits nor a float keeps all digits.
pub(super) fn not_of_floats(number: &str) -> String {
    format!(
        "({number}::float8::text::numeric <> {number} AND \
         NOT (scale(trim_scale({number})) = 0 AND abs({number}) < 9223372036854775808))"
    )
}

/// Gives the columns of timestamps that hold dates without a time of day.
pub(super) fn date_columns(target: &Target, run: &mut impl Run) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for column in &target.columns {
        let holds_dates = match &column.dates {
            Dates::No => false,
            Dates::Yes => true,
            Dates::Unless(sql) => {
                let statement = Statement { sql: sql.clone(), parameters: Vec::new() };
                run.run(&statement, &[Cell::Whole])?.is_empty()
            }
        };
        if holds_dates {
            names.push(column.name.clone());
        }
    }
    Ok(names)
}

fn counts(target: &Target, doubtful: &[(&SqlColumn, &str)]) -> Statement {
    let conditions: Vec<&str> = doubtful.iter().map(|(_, condition)| *condition).collect();
    let any = if conditions.is_empty() { "1 = 0".to_owned() } else { conditions.join(" OR ") };
    let count = |condition: &str| format!(", count(CASE WHEN {condition} THEN 1 END)");
    let each: String = conditions.iter().map(|condition| count(condition)).collect();
    let sql = format!("SELECT count(*){}{each} FROM {}", count(&any), target.from);
    Statement { sql, parameters: Vec::new() }
}

fn named(
    target: &Target,
    run: &mut impl Run,
    column: &SqlColumn,
    condition: &str,
    limit: usize,
) -> Result<Vec<Misfit>> {
    let (source, key_cell) = match target.dialect {
        Dialect::Sqlite => (format!("CAST({} AS TEXT)", column.source), Cell::Key),
        Dialect::Postgres => (format!("{}::text", column.source), Cell::Text),
    };
    let keys: Vec<&str> = target.keys.iter().map(|key| key.expression.as_str()).collect();
    let shown = keys.iter().map(|key| match target.dialect {
        Dialect::Sqlite => (*key).to_owned(),
        Dialect::Postgres => format!("{key}::text"),
    });
    let selected: Vec<String> = std::iter::once(source).chain(shown).collect();
    let order =
        if keys.is_empty() { String::new() } else { format!(" ORDER BY {}", keys.join(", ")) };
    let sql = format!(
        "SELECT {} FROM {} WHERE {condition}{order} LIMIT {limit}",
        selected.join(", "),
        target.from
    );
    let mut shape = vec![Cell::Text];
    shape.extend(keys.iter().map(|_| key_cell));
    let rows = run.run(&Statement { sql, parameters: Vec::new() }, &shape)?;
    Ok(rows
        .into_iter()
        .map(|row| {
            let mut cells = row.iter().map(shown_value);
            let found = cells.next().unwrap_or_default();
            let key = cells.collect::<Vec<_>>().join(", ");
            let misfit = Misfit::of_cell(0, &column.name, column.kind, &found);
            Misfit { key: (!key.is_empty()).then_some(key), ..misfit }
        })
        .collect())
}

fn shown_value(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_json().to_string(), str::to_owned)
}
