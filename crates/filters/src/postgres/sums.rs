//! Facts summed in PostgreSQL, by period.

use std::time::Duration;

use crate::Result;
use crate::postgres::{Database, Parameter, quoted};

/// A condition on one column: any of some values or anything under some prefixes, or neither.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Condition {
    pub(crate) column: String,
    pub(crate) exact: Vec<String>,
    pub(crate) prefixes: Vec<String>,
    pub(crate) is_excluded: bool,
}

/// Gives each period with its sum and the number of facts.
pub(crate) fn sums(
    database: &Database,
    table: &str,
    period: &str,
    amount: &str,
    conditions: &[Condition],
    limit: Duration,
) -> Result<Vec<(String, f64, u64)>> {
    let mut parameters = Vec::new();
    let mut tests = Vec::new();
    for condition in conditions {
        let column = format!("{}::text", quoted(&condition.column));
        let mut exact = condition.exact.clone();
        // `70.` selects the code `70` itself too.
        exact.extend(
            condition.prefixes.iter().map(|prefix| prefix.trim_end_matches('.').to_owned()),
        );
        parameters.push(Parameter::Texts(exact));
        let exact_at = parameters.len();
        parameters.push(Parameter::Texts(condition.prefixes.clone()));
        let prefixes_at = parameters.len();
        let test = format!(
            "({column} = ANY(${exact_at}) OR EXISTS (SELECT 1 FROM unnest(${prefixes_at}::text[]) \
             AS dowse_prefix WHERE starts_with({column}, dowse_prefix)))"
        );
        tests.push(if condition.is_excluded {
            format!("NOT coalesce({test}, false)")
        } else {
            test
        });
    }
    let period = quoted(period);
    let statement = format!(
        "SELECT {period}::text, coalesce(sum({}::numeric), 0)::text, count(*)::text FROM {} \
         WHERE {} GROUP BY {period}",
        quoted(amount),
        quoted(table),
        tests.join(" AND "),
    );
    let rows = database.query(&statement, &parameters, limit)?;
    Ok(rows
        .into_iter()
        .map(|row| {
            let cell = |at: usize| row.get(at).cloned().flatten().unwrap_or_default();
            (cell(0), cell(1).parse().unwrap_or(0.0), cell(2).parse().unwrap_or(0))
        })
        .collect())
}
