//! What is in a SQLite file that nobody has described yet: its tables, and the beginning of each.

use std::path::Path;

use rusqlite::types::ValueRef;

use super::sqlite::{column_names, connect};
use super::statement::quoted;
use crate::load::{Raw, TableBuilder};
use crate::{Dataset, Error, Result, TableSpec};

/// The first bytes of every SQLite file.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// Tells whether a file is a SQLite database, whatever its name.
pub fn is_sqlite(path: &Path) -> bool {
    use std::io::Read as _;
    let mut begins = [0; 16];
    let read = fs_err::File::open(path).and_then(|mut file| file.read_exact(&mut begins));
    read.is_ok() && begins == MAGIC
}

/// Names the tables and views of a SQLite file, in the order of their names; not those that SQLite
/// or a virtual table keeps for itself.
///
/// Fails when the file cannot be read.
pub fn sqlite_tables(path: &Path) -> Result<Vec<String>> {
    let source_name = format!("sqlite:{}", path.display());
    let names = || -> rusqlite::Result<Vec<String>> {
        let connection = connect(path)?;
        let mut statement = connection.prepare(
            "SELECT name FROM pragma_table_list WHERE schema = 'main' \
             AND type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
        )?;
        statement.query_map([], |row| row.get(0))?.collect()
    };
    names().map_err(|cause| Error::Sqlite { source_name, cause })
}

/// Reads the first rows of a table or view of a SQLite file into memory.
///
/// Fails when the file cannot be read, or has no such table or column.
pub fn sqlite_sample(
    path: &Path,
    table: &str,
    spec: &TableSpec,
    max_rows: usize,
) -> Result<Dataset> {
    let source_name = format!("sqlite:{}#{table}", path.display());
    let failed = |cause| Error::Sqlite { source_name: source_name.clone(), cause };
    let connection = connect(path).map_err(failed)?;
    let known = column_names(&connection, table).map_err(failed)?;
    let header: Vec<String> = known.into_iter().map(|(name, _)| name).collect();
    let mut builder = TableBuilder::new(Path::new(&source_name), spec);
    let places = builder.start(&header)?;
    let query = format!("SELECT * FROM {} LIMIT {max_rows}", quoted(table));
    let mut statement = connection.prepare(&query).map_err(failed)?;
    let mut rows = statement.query([]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        builder.rows(1);
        for (column_idx, place) in places.iter().enumerate() {
            let cell = row.get_ref(*place).map_err(failed)?;
            let number;
            let text = match cell {
                ValueRef::Null | ValueRef::Blob(_) => None,
                ValueRef::Integer(integer) => {
                    number = integer.to_string();
                    Some(number.as_str().into())
                }
                ValueRef::Real(real) => {
                    number = real.to_string();
                    Some(number.as_str().into())
                }
                ValueRef::Text(bytes) => Some(String::from_utf8_lossy(bytes)),
            };
            match text {
                None => builder.columns[column_idx].push_null(),
                Some(text) => {
                    let text = builder.cut(&text);
                    builder.columns[column_idx].push(Raw::Text(text));
                }
            }
        }
    }
    let (columns, report) = builder.finish();
    Ok(Dataset::new(columns, report, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_and_views_are_named_and_their_beginning_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("no extension");
        let connection = rusqlite::Connection::open(&path).unwrap();
        connection
            .execute_batch(
                "CREATE TABLE \"odd \"\" name\" (id INTEGER PRIMARY KEY AUTOINCREMENT, price REAL, note TEXT, blob BLOB);
                 INSERT INTO \"odd \"\" name\" (price, note, blob) VALUES (1.5, 'a', x'00'), (2, NULL, NULL), (3, 'b', NULL);
                 CREATE VIEW cheap AS SELECT * FROM \"odd \"\" name\" WHERE price < 2;
                 CREATE VIRTUAL TABLE words USING fts5(text);",
            )
            .unwrap();
        drop(connection);
        assert!(is_sqlite(&path) && !is_sqlite(folder.path()));
        assert_eq!(sqlite_tables(&path).unwrap(), ["cheap", "odd \" name"]);
        let sample = sqlite_sample(&path, "odd \" name", &TableSpec::all_text(), 2).unwrap();
        assert_eq!(sample.n_rows(), 2);
        let names: Vec<&str> = sample.all_columns().iter().map(crate::Column::name).collect();
        assert_eq!(names, ["id", "price", "note", "blob"]);
        assert!(sqlite_sample(&path, "none", &TableSpec::all_text(), 2).is_err());
    }
}
