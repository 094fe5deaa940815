//! The distribution of a continuous column, computed by the database.

use super::answer::{Cell, Run, value_shape_of, whole};
use super::statement::{Dialect, Statement, Target, Where, unit_millis, unit_number};
use super::writer::Writer;
use crate::query::{Bars, Distribution};
use crate::scan::{DistributionPlan, QUANTILES};
use crate::{Result, Value};

/// Gives the distribution between the extremes of the rows that pass.
pub(super) fn distribution(
    target: &Target,
    run: &mut impl Run,
    rows: Where<'_>,
    name: &str,
    extremes: &[Value],
) -> Result<Option<Distribution>> {
    let (Some(min), Some(max)) = (extremes.first(), extremes.get(1)) else { return Ok(None) };
    let Some(plan) = DistributionPlan::of(min, max) else { return Ok(None) };
    let shape = vec![value_shape_of(target, name)?; QUANTILES.len()];
    let found = run.run(&quantiles(target, rows, name)?, &shape)?;
    let quantiles = QUANTILES.into_iter().zip(found.into_iter().flatten()).collect();
    let mut totals = vec![0; plan.n_bars];
    match plan.bars {
        Bars::Numbers { start, width } => {
            let statement = bars(target, rows, name, start, width)?;
            for row in run.run(&statement, &[Cell::Whole, Cell::Whole])? {
                if let Value::Integer(bar) = row[0] {
                    let bar = (bar.max(0) as usize).min(plan.n_bars - 1);
                    totals[bar] += whole(row.get(1));
                }
            }
        }
        Bars::Time { bucket, .. } => {
            let unit = unit_millis(bucket);
            let statement = units(target, rows, name, unit)?;
            for row in run.run(&statement, &[Cell::Whole, Cell::Whole])? {
                if let Value::Integer(index) = row[0] {
                    totals[plan.bar_of(&Value::Timestamp(index * unit))] += whole(row.get(1));
                }
            }
        }
    }
    Ok(Some(Distribution { quantiles, bars: plan.bars, totals }))
}

fn quantiles(target: &Target, rows: Where<'_>, name: &str) -> Result<Statement> {
    let expression = target.column(name)?.value(target.dialect);
    let each = QUANTILES.map(|percent| match target.dialect {
        Dialect::Sqlite => format!("dowse_quantile({expression}, {percent})"),
        Dialect::Postgres => {
            format!("percentile_disc({percent}::float8 / 100) WITHIN GROUP (ORDER BY {expression})")
        }
    });
    let mut writer = Writer::new(target, &format!("SELECT {} FROM ", each.join(", ")));
    writer.write_values(rows, name)?;
    Ok(writer.finish())
}

/// Counts values by the number of an hour, minute or day.
fn units(target: &Target, rows: Where<'_>, name: &str, unit: i64) -> Result<Statement> {
    let index = unit_number(&target.column(name)?.value(target.dialect), unit);
    let mut writer = Writer::new(target, &format!("SELECT {index}, count(*) FROM "));
    writer.write_values(rows, name)?;
    writer.push(" GROUP BY 1");
    Ok(writer.finish())
}

fn bars(target: &Target, rows: Where<'_>, name: &str, start: f64, width: f64) -> Result<Statement> {
    let expression = target.column(name)?.value(target.dialect);
    let mut writer = Writer::new(target, "SELECT ");
    let (open, close) = match target.dialect {
        Dialect::Sqlite => ("dowse_width(", ")"),
        Dialect::Postgres => ("floor((", "))::int8"),
    };
    writer.push(open);
    writer.push(&format!("({expression} - "));
    writer.bind(Value::Real(start));
    writer.push(if target.dialect == Dialect::Sqlite { "), " } else { ") / " });
    writer.bind(Value::Real(width));
    writer.push(close);
    writer.push(", count(*) FROM ");
    writer.write_values(rows, name)?;
    writer.push(" GROUP BY 1");
    Ok(writer.finish())
}
