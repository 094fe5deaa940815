//! A source that may be away when a server starts: it is tried again when it is asked, and
//! until it is back its calls say that it is unavailable.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use model::{Deadline, with_causes};
use parking_lot::Mutex;

use crate::query::{Answer, ColumnInfo, Query, Table};
use crate::related::Lookup;
use crate::source::without_password;
use crate::{
    Aggregate, AggregateAnswer, Cells, Error, LoadReport, Result, TableSpec, Value, source,
};

/// How long a failure is repeated before the source is tried again.
const RETRY_AFTER: Duration = Duration::from_secs(2);

/// A table whose source is opened when it is there.
pub struct ReopeningTable {
    source: String,
    spec: TableSpec,
    lookups: Vec<Lookup>,
    base_folder: PathBuf,
    cache_folder: PathBuf,
    state: Mutex<State>,
    /// Why it is away, for those who ask while somebody tries to open it and holds the state.
    reason: Mutex<Option<String>>,
}

enum State {
    Open(Arc<dyn Table>),
    Away { since: Instant, reason: String },
}

impl ReopeningTable {
    /// Opens a source, or remembers that it is away.
    ///
    /// Fails on what waiting does not mend: a source of an unknown format, tables that cannot be
    /// related. A source that is not what the schema says is away until it is.
    pub fn open(
        source: &str,
        spec: TableSpec,
        base_folder: &Path,
        cache_folder: &Path,
    ) -> Result<Self> {
        ReopeningTable::open_related(source, spec, Vec::new(), base_folder, cache_folder)
    }

    /// Opens a source whose rows also have columns of other tables, or remembers that one of them
    /// is away.
    ///
    /// Fails as [`ReopeningTable::open`] does, and when the tables cannot be related.
    pub fn open_related(
        source: &str,
        spec: TableSpec,
        lookups: Vec<Lookup>,
        base_folder: &Path,
        cache_folder: &Path,
    ) -> Result<Self> {
        let opened =
            source::open_related(source, spec.clone(), &lookups, base_folder, cache_folder);
        let state = match opened {
            Ok(table) => State::Open(table),
            Err(error) if error.is_away() => {
                let source = without_password(source);
                let reason = with_causes(&error);
                tracing::warn!(
                    source,
                    reason,
                    "the source of a table cannot be reached and is tried again"
                );
                State::Away { since: Instant::now(), reason }
            }
            Err(error) => return Err(error),
        };
        let reason = match &state {
            State::Open(_) => None,
            State::Away { reason, .. } => Some(reason.clone()),
        };
        Ok(ReopeningTable {
            source: source.to_owned(),
            spec,
            lookups,
            base_folder: base_folder.to_owned(),
            cache_folder: cache_folder.to_owned(),
            state: Mutex::new(state),
            reason: Mutex::new(reason),
        })
    }

    fn table(&self) -> Result<Arc<dyn Table>> {
        let mut state = self.state.lock();
        if let State::Away { since, reason } = &*state {
            let away = |reason: String| Error::Unavailable {
                source_name: without_password(&self.source),
                reason,
            };
            if since.elapsed() < RETRY_AFTER {
                return Err(away(reason.clone()));
            }
            let opened = source::open_related(
                &self.source,
                self.spec.clone(),
                &self.lookups,
                &self.base_folder,
                &self.cache_folder,
            );
            match opened {
                Ok(table) => {
                    tracing::info!(
                        source = without_password(&self.source),
                        "a table's source is back"
                    );
                    *state = State::Open(table);
                    *self.reason.lock() = None;
                }
                Err(error) => {
                    let reason = with_causes(&error);
                    *self.reason.lock() = Some(reason.clone());
                    *state = State::Away { since: Instant::now(), reason: reason.clone() };
                    return Err(away(reason));
                }
            }
        }
        match &*state {
            State::Open(table) => Ok(table.clone()),
            State::Away { reason, .. } => Err(Error::Unavailable {
                source_name: without_password(&self.source),
                reason: reason.clone(),
            }),
        }
    }
}

impl Table for ReopeningTable {
    fn away(&self) -> Option<String> {
        match self.state.try_lock().as_deref() {
            Some(State::Open(table)) => table.away(),
            Some(State::Away { reason, .. }) => Some(reason.clone()),
            // Somebody opens it: what was last known of it is what is said.
            None => self.reason.lock().clone(),
        }
    }

    fn columns(&self) -> Vec<ColumnInfo> {
        match self.table() {
            Ok(table) => table.columns(),
            Err(_) => self
                .spec
                .columns
                .iter()
                .map(|column| ColumnInfo {
                    name: column.name.clone(),
                    kind: column.kind,
                    has_lists: column.cells != Cells::One,
                    is_whole: false,
                })
                .collect(),
        }
    }

    fn query(&self, query: &Query, deadline: &Deadline) -> Result<Answer> {
        self.table()?.query(query, deadline)
    }

    fn aggregate(&self, aggregate: &Aggregate, deadline: &Deadline) -> Result<AggregateAnswer> {
        self.table()?.aggregate(aggregate, deadline)
    }

    fn nearest_values(
        &self,
        column: &str,
        wanted: &Value,
        limit: usize,
        deadline: &Deadline,
    ) -> Result<Vec<Value>> {
        self.table()?.nearest_values(column, wanted, limit, deadline)
    }

    fn load_report(&self, deadline: &Deadline) -> Result<LoadReport> {
        self.table()?.load_report(deadline)
    }

    fn date_columns(&self, deadline: &Deadline) -> Result<Vec<String>> {
        self.table()?.date_columns(deadline)
    }

    fn staleness(&self) -> Option<String> {
        self.table().ok()?.staleness()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::deadline;
    use crate::{ColumnSpec, Kind};

    #[test]
    fn a_file_that_comes_later_is_served_then() {
        let folder = tempfile::tempdir().unwrap();
        let spec = TableSpec::of(vec![ColumnSpec::new("name", Kind::Text)]);
        let cache = folder.path().join("cache");
        let table = ReopeningTable::open("late.csv", spec.clone(), folder.path(), &cache).unwrap();
        let query = Query::first(5, vec!["name".to_owned()]);
        let outcome = table.query(&query, &deadline());
        assert!(matches!(outcome, Err(Error::Unavailable { .. })), "{outcome:?}");
        assert_eq!(table.columns()[0].name, "name");
        assert!(table.away().is_some());
        let opening = table.state.lock();
        assert!(table.away().is_some(), "also while somebody tries to open it");
        drop(opening);

        fs_err::write(folder.path().join("late.csv"), "name\nAda\n").unwrap();
        // The wait between two attempts is over.
        if let State::Away { since, .. } = &mut *table.state.lock() {
            *since = Instant::now().checked_sub(RETRY_AFTER).unwrap();
        }
        assert_eq!(table.query(&query, &deadline()).unwrap().total, 1);
        let looking = table.state.lock();
        assert_eq!(table.away(), None);
        drop(looking);

        let outcome = ReopeningTable::open("late.docx", spec, folder.path(), &cache);
        assert!(matches!(outcome.err(), Some(Error::UnknownFormat { .. })));
    }
}
