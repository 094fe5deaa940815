//! What is in a PostgreSQL database that nobody has described yet: its tables, the types of their
//! columns, and the first rows of each.

use std::path::Path;
use std::time::Duration;

use model::Deadline;
use net::PostgresSession;

use super::Inner;
use super::columns::DescribedColumn;
use crate::load::{Points, Raw, TableBuilder};
use crate::sql::statement::quoted;
use crate::{Dataset, Error, Kind, Result, TableSpec};

/// The longest that looking at a database may take.
const LOOK_LIMIT: Duration = Duration::from_secs(60);

/// The first rows of a table, and what its columns are.
#[derive(Debug)]
pub struct DatabaseSample {
    /// The rows.
    pub dataset: Dataset,
    /// The columns, in the order of the rows' own.
    pub columns: Vec<DatabaseColumn>,
}

/// What the type of a column says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseColumn {
    /// As the database has it, in its own case.
    pub name: String,
    /// What its cells, or the values of its lists, can be read as beside text.
    pub kind: Kind,
    /// Whether its cells are arrays.
    pub has_lists: bool,
    /// Whether its numbers are whole, so that they may be points in time.
    pub is_whole: bool,
    /// The values of an enum, in their order; none for other types.
    pub labels: Vec<String>,
}

/// Names the tables and views of a database that may be read, in the order of their names; those
/// outside of the search path with their schema.
///
/// Fails when the database cannot be reached.
pub fn postgres_tables(url: &str) -> Result<Vec<String>> {
    let inner = Inner::of(url, "", &TableSpec::all_text(), &[])?;
    let deadline = Deadline::after(LOOK_LIMIT);
    let session = inner.session(&deadline)?;
    let asked = session.query(
        "SELECT CASE WHEN pg_table_is_visible(c.oid) THEN c.relname::text \
         ELSE n.nspname || '.' || c.relname END FROM pg_class c \
         JOIN pg_namespace n ON n.oid = c.relnamespace \
         WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f') AND NOT c.relispartition \
         AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%' \
         AND has_table_privilege(c.oid, 'SELECT') ORDER BY 1",
        &[],
    );
    let rows = inner.wait(&deadline, async { asked.await.map_err(|cause| inner.failed(cause)) })?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

/// Reads the first rows of a table or view into memory; without columns in the specification all
/// of them, as text.
///
/// Fails when the database cannot be reached, or has no such table or column.
pub fn postgres_sample(
    url: &str,
    table: &str,
    spec: &TableSpec,
    max_rows: usize,
) -> Result<DatabaseSample> {
    let inner = Inner::of(url, table, spec, &[])?;
    let deadline = Deadline::after(LOOK_LIMIT);
    let session = inner.session(&deadline)?;
    let known = inner.wait(&deadline, inner.types_of(&session, &inner.from))?;
    if known.is_empty() {
        drop(session);
        return Err(Error::NoSuchTable {
            source_name: inner.source_name,
            known: postgres_tables(url)?,
        });
    }
    let header: Vec<String> = known.iter().map(|column| column.name.clone()).collect();
    let mut builder = TableBuilder::new(Path::new(&inner.source_name), spec);
    let places = builder.start(&header)?;
    let cells: Vec<&DescribedColumn> = places.iter().map(|place| &known[*place]).collect();
    for (column, known) in builder.columns.iter_mut().zip(&cells) {
        column.points_are(if known.type_name == "date" { Points::Dates } else { Points::Times });
    }
    for row in rows(&inner, &session, &cells, max_rows, &deadline)? {
        builder.rows(1);
        for (column_idx, known) in cells.iter().enumerate() {
            let failed = |cause| inner.failed(cause);
            let column = &mut builder.columns[column_idx];
            if is_moment(known) {
                let millis: Option<i64> = row.try_get(column_idx).map_err(failed)?;
                match millis {
                    None => column.push_null(),
                    Some(millis) => column.push(Raw::Millis(millis)),
                }
                continue;
            }
            let text: Option<String> = row.try_get(column_idx).map_err(failed)?;
            match text {
                None => column.push_null(),
                Some(text) => {
                    let text = builder.cut(&text);
                    builder.columns[column_idx].push(Raw::Text(text));
                }
            }
        }
    }
    let (columns, report) = builder.finish();
    let dataset = Dataset::new(columns, report, 0);
    Ok(DatabaseSample { dataset, columns: cells.into_iter().map(described).collect() })
}

fn rows(
    inner: &Inner,
    session: &PostgresSession<'_>,
    columns: &[&DescribedColumn],
    max_rows: usize,
    deadline: &Deadline,
) -> Result<Vec<tokio_postgres::Row>> {
    let selected: Vec<String> = columns
        .iter()
        .map(|column| {
            let name = quoted(&column.name);
            match &column.items {
                Some(_) => format!("array_to_json({name})::text"),
                None if is_moment(column) => {
                    let found = &column.type_name;
                    format!(
                        "CASE WHEN {name} >= '0001-01-01'::{found} AND {name} < '10000-01-01'::{found} \
                         THEN floor(extract(epoch FROM {name}) * 1000)::int8 END"
                    )
                }
                None => format!("{name}::text"),
            }
        })
        .collect();
    let sql = format!("SELECT {} FROM {} LIMIT {max_rows}", selected.join(", "), inner.from);
    let limit = LOOK_LIMIT.as_millis();
    let begin = format!(
        "BEGIN READ ONLY; SET LOCAL statement_timeout = {limit}; SET LOCAL TimeZone = 'UTC'"
    );
    inner.batch(session, &begin, deadline)?;
    let asked = session.query(&sql, &[]);
    inner.wait(deadline, async { asked.await.map_err(|cause| inner.failed(cause)) })
}

fn is_moment(column: &DescribedColumn) -> bool {
    column.items.is_none() && kind_of(&column.type_name) == Kind::Timestamp
}

fn kind_of(type_name: &str) -> Kind {
    match type_name {
        "int2" | "int4" | "int8" | "float4" | "float8" | "numeric" => Kind::Number,
        "bool" => Kind::Boolean,
        "timestamptz" | "timestamp" | "date" => Kind::Timestamp,
        _ => Kind::Text,
    }
}

fn described(column: &DescribedColumn) -> DatabaseColumn {
    let type_name = column.items.as_ref().unwrap_or(&column.type_name);
    DatabaseColumn {
        name: column.name.clone(),
        kind: kind_of(type_name),
        has_lists: column.items.is_some(),
        is_whole: matches!(type_name.as_str(), "int2" | "int4" | "int8"),
        labels: column.labels.clone(),
    }
}
