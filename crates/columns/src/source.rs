//! From the text of a configured source to a table.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::cache;
use crate::query::Table;
use crate::related::{Lookup, RelatedTable};
use crate::sql::{PostgresTable, SqliteTable};
use crate::{Error, Format, LiveTable, Result, TableSpec};

/// What a configured source names.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Source {
    File(PathBuf),
    Sheet { path: PathBuf, sheet: String },
    Sqlite { path: PathBuf, table: String },
    Postgres { url: String, table: String },
}

/// Opens a source: a file, a folder of files, a sheet of a workbook (`book.xlsx#SHEET`), `sqlite:PATH#TABLE` or `postgres://…#TABLE`. Paths are relative to
/// the base folder. A file is read now (or mapped, when it was read before); a SQLite table is
/// checked now; PostgreSQL is reached when it is first asked.
pub fn open(
    source: &str,
    spec: TableSpec,
    base_folder: &Path,
    cache_folder: &Path,
) -> Result<Arc<dyn Table>> {
    Ok(match parse(source, base_folder)? {
        // A name that says no format is a mistake, whether the file is there or not.
        Source::File(path) if !path.is_dir() && Format::of(&path).is_none() => {
            return Err(Error::UnknownFormat { source_name: without_password(source) });
        }
        Source::File(path) => Arc::new(LiveTable::open(&path, spec, cache_folder)?),
        Source::Sheet { path, sheet } => {
            let spec = TableSpec { sheet: Some(sheet), ..spec };
            Arc::new(LiveTable::open(&path, spec, cache_folder)?)
        }
        Source::Sqlite { path, table } => Arc::new(SqliteTable::open(&path, &table, &spec)?),
        Source::Postgres { url, table } => Arc::new(PostgresTable::open(&url, &table, &spec)?),
    })
}

/// Opens a source whose rows also have columns of other tables.
///
/// Fails as [`open`] does, and when the tables are neither all in files nor all in one database.
pub fn open_related(
    source: &str,
    spec: TableSpec,
    lookups: &[Lookup],
    base_folder: &Path,
    cache_folder: &Path,
) -> Result<Arc<dyn Table>> {
    if lookups.is_empty() {
        return open(source, spec, base_folder, cache_folder);
    }
    let apart = |lookup: &Lookup| Error::Apart {
        source_name: without_password(source),
        other: without_password(&lookup.source),
    };
    let own = parse(source, base_folder)?;
    let mut tables = Vec::new();
    for lookup in lookups {
        let other = parse(&lookup.source, base_folder)?;
        let is_together = match (&own, &other) {
            (Source::File(_) | Source::Sheet { .. }, Source::File(_) | Source::Sheet { .. }) => {
                true
            }
            (Source::Sqlite { path, .. }, Source::Sqlite { path: other, .. }) => path == other,
            (Source::Postgres { url, .. }, Source::Postgres { url: other, .. }) => url == other,
            _ => false,
        };
        if !is_together {
            return Err(apart(lookup));
        }
        tables.push(other);
    }
    let names = || -> Vec<(&Lookup, &str)> {
        let names = tables.iter().map(|table| match table {
            Source::Sqlite { table, .. } | Source::Postgres { table, .. } => table.as_str(),
            Source::File(_) | Source::Sheet { .. } => "",
        });
        lookups.iter().zip(names).collect()
    };
    let live = |source: &Source, spec: &TableSpec| match source {
        Source::Sheet { path, sheet } => {
            let spec = TableSpec { sheet: Some(sheet.clone()), ..spec.clone() };
            LiveTable::open(path, spec, cache_folder)
        }
        Source::File(path) if !path.is_dir() && Format::of(path).is_none() => {
            Err(Error::UnknownFormat { source_name: path.display().to_string() })
        }
        Source::File(path) | Source::Sqlite { path, .. } => {
            LiveTable::open(path, spec.clone(), cache_folder)
        }
        Source::Postgres { url, .. } => {
            Err(Error::UnknownFormat { source_name: without_password(url) })
        }
    };
    Ok(match &own {
        Source::Sqlite { path, table } => {
            Arc::new(SqliteTable::open_related(path, table, &spec, &names())?)
        }
        Source::Postgres { url, table } => {
            Arc::new(PostgresTable::open_related(url, table, &spec, &names())?)
        }
        Source::File(_) | Source::Sheet { .. } => {
            let mut others = Vec::new();
            for (lookup, table) in lookups.iter().zip(&tables) {
                others.push((lookup.clone(), live(table, &lookup.spec)?));
            }
            Arc::new(RelatedTable::new(live(&own, &spec)?, others)?)
        }
    })
}

/// Removes the column files of sources that are none of these from a cache folder, such as when a
/// table left the configuration: they hold its rows.
pub fn keep_columns_of(sources: &[&str], base_folder: &Path, cache_folder: &Path) {
    let files = sources.iter().filter_map(|source| match parse(source, base_folder) {
        Ok(Source::File(path) | Source::Sheet { path, .. } | Source::Sqlite { path, .. }) => {
            Some(path)
        }
        Ok(Source::Postgres { .. }) | Err(_) => None,
    });
    cache::keep_only(cache_folder, &files.collect::<Vec<_>>());
}

fn parse(source: &str, base_folder: &Path) -> Result<Source> {
    let no_table = || Error::NoTableName { source_name: without_password(source) };
    if let Some(rest) = source.strip_prefix("sqlite:") {
        let (path, table) = rest.rsplit_once('#').ok_or_else(no_table)?;
        if table.is_empty() {
            return Err(no_table());
        }
        return Ok(Source::Sqlite { path: base_folder.join(path), table: table.to_owned() });
    }
    if source.starts_with("postgres://") || source.starts_with("postgresql://") {
        let (url, table) = source.rsplit_once('#').ok_or_else(no_table)?;
        if table.is_empty() {
            return Err(no_table());
        }
        return Ok(Source::Postgres { url: url.to_owned(), table: table.to_owned() });
    }
    if let Some((path, sheet)) = source.rsplit_once('#')
        && Format::of(Path::new(path)) == Some(Format::Workbook)
        && !sheet.is_empty()
    {
        return Ok(Source::Sheet { path: base_folder.join(path), sheet: sheet.to_owned() });
    }
    Ok(Source::File(base_folder.join(source)))
}

/// Leaves the password out of what is logged and shown.
pub(crate) fn without_password(source: &str) -> String {
    let Some((scheme, rest)) = source.split_once("://") else {
        return source.to_owned();
    };
    match rest.split_once('@') {
        Some((user, host)) => {
            let user = user.split(':').next().unwrap_or_default();
            format!("{scheme}://{user}@{host}")
        }
        None => source.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ColumnSpec, Kind};

    #[track_caller]
    fn check(source: &str, expected: &str) {
        let parsed = match parse(source, Path::new("/base")) {
            Ok(parsed) => format!("{parsed:?}"),
            Err(error) => error.to_string(),
        };
        assert_eq!(parsed, expected);
    }

    /// A table that had left the configuration left its rows on the disk.
    #[test]
    fn columns_of_other_sources_go_unless_one_is_away() {
        let folder = testkit::Folder::new();
        let cache = folder.join("cache");
        let spec = || TableSpec::of(vec![ColumnSpec::new("a", Kind::Text)]);
        for name in ["one.csv", "two.csv"] {
            folder.write(name, "a\nx\n");
            open(name, spec(), folder.path(), &cache).unwrap();
        }
        let n_files = || fs_err::read_dir(&cache).unwrap().count();
        keep_columns_of(&["one.csv", "gone.csv"], folder.path(), &cache);
        assert_eq!(n_files(), 2, "what is away may be one of them");
        keep_columns_of(&["one.csv", "postgres://h/d#t"], folder.path(), &cache);
        assert_eq!(n_files(), 1);
        keep_columns_of(&[], folder.path(), &cache);
        assert_eq!(n_files(), 0);
        keep_columns_of(&[], folder.path(), &folder.join("none"));
    }

    #[test]
    fn sources_say_what_they_are() {
        check("a.csv", "File(\"/base/a.csv\")");
        check("b.xlsx#Q2", "Sheet { path: \"/base/b.xlsx\", sheet: \"Q2\" }");
        check("sqlite:x.db#t", "Sqlite { path: \"/base/x.db\", table: \"t\" }");
        check("sqlite:x.db", "source `sqlite:x.db` names no table: expected `…#TABLE`");
        check(
            "postgres://u:secret@h/d",
            "source `postgres://u@h/d` names no table: expected `…#TABLE`",
        );
        check("postgres://u:p@h/d#s.t", "Postgres { url: \"postgres://u:p@h/d\", table: \"s.t\" }");
    }
}
