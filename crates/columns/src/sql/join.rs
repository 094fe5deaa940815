//! Columns of other tables in statements: one left join for each lookup, against a table that has
//! each key once.

use super::statement::{Dialect, Key, SqlColumn};
use crate::related::{Lookup, SEVERAL_VALUES};
use crate::{Cells, ColumnSpec, Error, Kind, Result};

/// The name of the table inside its own joins.
const BASE: &str = "dowse_base";

/// A table that columns are looked up in.
#[derive(Debug, Clone)]
pub(super) struct Join {
    /// What messages call it.
    pub(super) table: String,
    /// The quoted table.
    pub(super) from: String,
    /// The expression of its key.
    pub(super) key: String,
    /// The expression of our key.
    pub(super) on: String,
    /// The name here of each looked-up column, and the column over there.
    pub(super) columns: Vec<(String, SqlColumn)>,
}

impl Join {
    /// Finds the columns of a lookup on both sides.
    ///
    /// Fails when one does not exist.
    pub(super) fn new(
        lookup: &Lookup,
        from: String,
        own: &[SqlColumn],
        others: &[SqlColumn],
    ) -> Result<Self> {
        let find = |columns: &[SqlColumn], name: &str| -> Result<SqlColumn> {
            let column = columns.iter().find(|column| column.name == name).cloned();
            column.ok_or_else(|| Error::UnknownColumn {
                column: name.to_owned(),
                known: columns.iter().map(|column| column.name.clone()).collect(),
            })
        };
        let columns = lookup.columns.iter();
        // An empty text names nothing.
        let key_of = |column: SqlColumn| match column.kind {
            Kind::Text => format!("nullif({}, '')", column.expression),
            Kind::Number | Kind::Boolean | Kind::Timestamp => column.expression,
        };
        Ok(Join {
            table: lookup.table.clone(),
            from,
            key: key_of(find(others, &lookup.key)?),
            on: key_of(find(own, &lookup.on)?),
            columns: columns
                .map(|(name, column)| Ok((name.clone(), find(others, column)?)))
                .collect::<Result<_>>()?,
        })
    }
}

/// Refuses a lookup by or of cells with several values.
pub(super) fn check_single(source_name: &str, own: &[ColumnSpec], lookup: &Lookup) -> Result<()> {
    let on = own.iter().filter(|column| column.name == lookup.on);
    let over_there = lookup.spec.columns.iter().filter(|column| {
        column.name == lookup.key || lookup.columns.iter().any(|(_, name)| *name == column.name)
    });
    let list = on.chain(over_there).find(|column| column.cells != Cells::One);
    list.map_or(Ok(()), |column| {
        Err(Error::Unsupported {
            source_name: source_name.to_owned(),
            column: column.name.clone(),
            reason: SEVERAL_VALUES,
        })
    })
}

/// Gives the source of rows with the columns of all joins, those columns, and the keys of rows as
/// they are called there.
pub(super) fn joined(
    dialect: Dialect,
    from: &str,
    alias: &str,
    keys: Vec<Key>,
    joins: &[Join],
) -> (String, Vec<SqlColumn>, Vec<Key>) {
    let mut selected = vec![format!("{BASE}.*")];
    // What tells rows apart may be a column that no `*` gives.
    let keys: Vec<Key> = keys
        .into_iter()
        .enumerate()
        .map(|(at, key)| {
            let prefix = format!("{alias}.");
            let own = key.expression.strip_prefix(&prefix).unwrap_or(&key.expression);
            selected.push(format!("{BASE}.{own} AS dowse_key_{at}"));
            Key { expression: format!("{alias}.dowse_key_{at}"), cast: key.cast }
        })
        .collect();
    let mut columns = Vec::new();
    let mut sources = format!("{from} AS {BASE}");
    for (at, join) in joins.iter().enumerate() {
        let mut given = Vec::new();
        for (place, (name, column)) in join.columns.iter().enumerate() {
            let own = format!("dowse_{at}_{place}");
            // The group has one row, of which any aggregate gives the value.
            given.push(match dialect {
                Dialect::Sqlite => format!(", min({}) AS {own}", column.expression),
                Dialect::Postgres => format!(", (array_agg({}))[1] AS {own}", column.expression),
            });
            selected.push(format!("dowse_join_{at}.{own}"));
            let expression = match (dialect, column.kind) {
                (Dialect::Sqlite, Kind::Text) => format!("({own} COLLATE BINARY)"),
                (Dialect::Postgres, Kind::Text) => format!("({own} COLLATE \"C\")"),
                (_, Kind::Number | Kind::Boolean | Kind::Timestamp) => {
                    format!("({own})")
                }
            };
            columns.push(SqlColumn {
                name: name.clone(),
                kind: column.kind,
                source: own,
                // What does not fit over there is that table's to report.
                misfit: None,
                expression,
                is_whole: column.is_whole,
                is_decimal: column.is_decimal,
                dates: column.dates.clone(),
                // As with misfits, that table reports it.
                rounded: None,
                list: None,
            });
        }
        sources.push_str(&format!(
            " LEFT JOIN (SELECT {} AS dowse_on{} FROM {} GROUP BY 1 HAVING count(*) = 1) AS dowse_join_{at} ON dowse_join_{at}.dowse_on = {}",
            join.key,
            given.concat(),
            join.from,
            join.on,
        ));
    }
    (format!("(SELECT {} FROM {sources}) AS {alias}", selected.join(", ")), columns, keys)
}

/// Counts our keys that no row over there has, and the rows that have them.
pub(super) fn missing_keys(join: &Join, base: &str) -> String {
    let Join { key, on, from, .. } = join;
    format!(
        "SELECT count(DISTINCT dowse_ours), count(dowse_ours) FROM \
         (SELECT {on} AS dowse_ours FROM {base}) AS ours LEFT JOIN \
         (SELECT DISTINCT {key} AS dowse_theirs FROM {from}) AS theirs \
         ON dowse_theirs = dowse_ours WHERE dowse_ours IS NOT NULL AND dowse_theirs IS NULL"
    )
}

/// Counts the keys that several rows have.
pub(super) fn repeated_keys(join: &Join) -> String {
    let Join { key, from, .. } = join;
    format!(
        "SELECT count(*) FROM (SELECT {key} FROM {from} WHERE {key} IS NOT NULL GROUP BY 1 HAVING count(*) > 1) AS repeated"
    )
}
