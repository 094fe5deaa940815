//! Texts inside tables: which values of which columns hold some words.
//!
//! For a question over everything, where nobody has named a table or a column yet. Values are
//! found by what they contain, each once with the number of its rows; how well they fit is
//! decided by whoever asked.

use std::ops::Range;

use columns::{Answer, Case, Filter, Kind, Query, Test, Value as Cell};
use model::{Caller, Deadline};

use crate::response::rows_shown;
use crate::schema::{kind, leaf};
use crate::secret::{hide_columns, seen};
use crate::served_table::ServedTable;
use crate::{Error, Result, Service};

/// Values of one column that one question finds.
pub const MAX_FOUND_VALUES: usize = 25;

/// A value that holds a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueMatch {
    /// By its name in the schema.
    pub field: String,
    /// The whole value, of which the word may be a part.
    pub value: String,
    /// How many rows have it.
    pub n_rows: u64,
}

/// What a table says to some words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextMatch {
    /// Values that hold at least one of them.
    pub values: Vec<ValueMatch>,
    /// For each word the number of rows that hold it, in the column that holds it most often.
    pub n_rows_with: Vec<u64>,
    /// Of the table, whatever they hold.
    pub n_rows: u64,
}

/// Rows of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    /// Names of the schema, in its order.
    pub columns: Vec<String>,
    /// The first rows, as answers show them.
    pub rows: Vec<Vec<Cell>>,
    /// How many there are in all.
    pub total: u64,
}

impl Service {
    /// Finds the values of a table's text columns that contain words, whatever their case.
    ///
    /// Fails when the table does not exist for the caller, its source fails, or the deadline is
    /// over.
    pub fn find_text(
        &self,
        caller: &Caller,
        table: &str,
        words: &[String],
        deadline: &Deadline,
    ) -> Result<TextMatch> {
        let table = self.table(caller, Some(table))?;
        let mut found = TextMatch { n_rows_with: vec![0; words.len()], ..TextMatch::default() };
        found.n_rows = table.ask(&Query::first(0, Vec::new()), deadline)?.total;
        let texts = table
            .schema
            .columns()
            .filter(|(name, _)| !table.schema.is_secret(name))
            .filter(|(_, field)| kind(leaf(field).field_type) == Kind::Text)
            .map(|(name, _)| name.as_str());
        for field in texts {
            let mut singles = Vec::with_capacity(words.len());
            for (word_idx, word) in words.iter().enumerate() {
                let answer = table.containing(field, &[word], MAX_FOUND_VALUES, deadline)?;
                found.n_rows_with[word_idx] = found.n_rows_with[word_idx].max(answer.total);
                singles.push(answer);
            }
            // Values with all the words come first, so that a frequent word cannot hide them. A
            // column that lacks one of the words has none.
            if words.len() > 1 && singles.iter().all(|answer| answer.total > 0) {
                let all: Vec<&str> = words.iter().map(String::as_str).collect();
                let answer = table.containing(field, &all, MAX_FOUND_VALUES, deadline)?;
                found.take(field, answer);
            }
            for answer in singles {
                found.take(field, answer);
            }
        }
        Ok(found)
    }

    /// Lists the values of a field that contain all of these words, the most frequent first.
    ///
    /// Fails as [`Service::find_text`] does, and when the table has no such field.
    pub fn values_with(
        &self,
        caller: &Caller,
        table: &str,
        field: &str,
        words: &[&str],
        limit: usize,
        deadline: &Deadline,
    ) -> Result<Vec<ValueMatch>> {
        let table = self.table(caller, Some(table))?;
        if table.schema.is_secret(field) {
            return Ok(Vec::new());
        }
        let mut found = TextMatch::default();
        found.take(field, table.containing(field, words, limit, deadline)?);
        Ok(found.values)
    }

    /// Gives those of the rows that have exactly this value which are at these places.
    ///
    /// Fails as [`Service::values_with`] does.
    pub fn rows_with(
        &self,
        caller: &Caller,
        table: &str,
        found: &ValueMatch,
        places: Range<usize>,
        deadline: &Deadline,
    ) -> Result<Rows> {
        let value = vec![Cell::from(found.value.as_str())];
        let mut test = Test::AnyOf(value);
        if self.table(caller, Some(table))?.schema.is_secret(&found.field) {
            test = seen(&test);
        }
        let filter = Filter::new(&found.field, test);
        self.rows_at(caller, table, vec![filter], places, deadline)
    }

    /// Gives the rows of a table that are at these places.
    ///
    /// Fails as [`Service::find_text`] does.
    pub fn some_rows(
        &self,
        caller: &Caller,
        table: &str,
        places: Range<usize>,
        deadline: &Deadline,
    ) -> Result<Rows> {
        self.rows_at(caller, table, Vec::new(), places, deadline)
    }

    fn rows_at(
        &self,
        caller: &Caller,
        table: &str,
        filters: Vec<Filter>,
        places: Range<usize>,
        deadline: &Deadline,
    ) -> Result<Rows> {
        let table = self.table(caller, Some(table))?;
        let first = Query::first(places.len(), table.schema.column_names());
        let query = Query { filters, offset: places.start as u64, ..first };
        let mut answer = table.ask(&query, deadline)?;
        let is_secret: Vec<bool> =
            query.columns.iter().map(|name| table.schema.is_secret(name)).collect();
        hide_columns(&mut answer.rows, &is_secret);
        Ok(Rows { columns: query.columns, rows: rows_shown(&answer.rows), total: answer.total })
    }
}

impl ServedTable {
    /// Counts the values of a field in the rows where it contains all of these words.
    fn containing(
        &self,
        field: &str,
        words: &[&str],
        limit: usize,
        deadline: &Deadline,
    ) -> Result<Answer> {
        let is_redacted = self.schema.is_redacted(field);
        let is_secret = self.schema.is_secret(field);
        let contains = |word: &&str| {
            let test = Test::Contains { text: (*word).to_owned(), case: Case::Ignored };
            if is_secret {
                return Filter::new(field, seen(&test));
            }
            let filter = Filter::new(field, test);
            if is_redacted { filter.of_shown() } else { filter }
        };
        let query = Query {
            filters: words.iter().map(contains).collect(),
            facets: vec![field.to_owned()],
            facet_rows: limit,
            ..Query::first(0, Vec::new())
        };
        self.ask(&query, deadline)
    }

    pub(crate) fn ask(&self, query: &Query, deadline: &Deadline) -> Result<Answer> {
        self.engine
            .query(query, deadline)
            .map_err(|cause| Error::of_source(&self.schema.name, cause))
    }
}

impl TextMatch {
    fn take(&mut self, field: &str, answer: Answer) {
        for row in answer.facets.into_iter().flat_map(|facet| facet.rows) {
            let Some(value) = row.value.as_str().filter(|value| !value.is_empty()) else {
                continue;
            };
            let is_known =
                self.values.iter().any(|known| known.field == field && known.value == value);
            if !is_known {
                let (field, value) = (field.to_owned(), value.to_owned());
                self.values.push(ValueMatch { field, value, n_rows: row.total });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use model::Access;

    use super::*;
    use crate::{Field, Fields, ServiceConfig, TableConfig};

    fn service(folder: &std::path::Path, allow: Access) -> Service {
        let csv = "airline,city,seats\nBlue Jet,Oslo,10\nBlue Jet,Rome,20\nRed Kite,Oslo,5\n";
        fs_err::write(folder.join("a.csv"), csv).unwrap();
        Service::open(ServiceConfig {
            tables: vec![TableConfig {
                name: "flights".to_owned(),
                source: "a.csv".to_owned(),
                description: None,
                allow,
                null_values: vec![],
                delimiter: None,
                fields: Fields::from([
                    ("airline", Field::string()),
                    ("city", Field::any_of(Field::string())),
                    ("seats", Field::number()),
                ]),
                relations: vec![],
            }],
            base_folder: folder.to_owned(),
            cache_folder: folder.join("cache"),
            export_link_minutes: crate::EXPORT_LINK_MINUTES,
        })
        .unwrap()
    }

    #[test]
    fn values_are_found_once_with_their_rows() {
        let folder = tempfile::tempdir().unwrap();
        let service = service(folder.path(), Access::everyone());
        let (caller, soon) = (Caller::local_admin(), Deadline::after(Duration::from_secs(60)));
        let words = ["blue".to_owned(), "jet".to_owned(), "osl".to_owned(), "sea".to_owned()];
        let found = service.find_text(&caller, "flights", &words, &soon).unwrap();
        let value = |field: &str, value: &str, n_rows| ValueMatch {
            field: field.to_owned(),
            value: value.to_owned(),
            n_rows,
        };
        assert_eq!(found.values, [value("airline", "Blue Jet", 2), value("city", "Oslo", 2)]);
        assert_eq!((&*found.n_rows_with, found.n_rows), (&[2, 2, 2, 0][..], 3));
        let named = service.values_with(&caller, "flights", "city", &["o"], 9, &soon).unwrap();
        assert_eq!(named, [value("city", "Oslo", 2), value("city", "Rome", 1)]);
        let rows = service.rows_with(&caller, "flights", &found.values[0], 0..1, &soon).unwrap();
        assert_eq!((rows.total, rows.rows.len()), (2, 1));
        assert_eq!(rows.columns, ["airline", "city", "seats"]);
        let n_rows =
            |places| service.some_rows(&caller, "flights", places, &soon).unwrap().rows.len();
        assert_eq!((n_rows(0..9), n_rows(2..9), n_rows(3..9)), (3, 1, 0));
    }

    #[test]
    fn a_table_that_is_not_the_callers_does_not_exist() {
        let folder = tempfile::tempdir().unwrap();
        let nobody = Access { roles: vec!["pilot".to_owned()], ..Access::everyone() };
        let service = service(folder.path(), nobody);
        let soon = Deadline::after(Duration::from_secs(60));
        let stranger = Caller {
            roles: std::collections::BTreeSet::new(),
            identity: model::Identity::Token,
            ..Caller::local_admin()
        };
        let words = ["blue".to_owned()];
        let refused = service.find_text(&stranger, "flights", &words, &soon).unwrap_err();
        assert!(matches!(refused, Error::UnknownTable { .. }), "{refused}");
        assert!(service.some_rows(&stranger, "flights", 0..1, &soon).is_err());
        assert!(service.values_with(&stranger, "flights", "city", &["o"], 1, &soon).is_err());
    }
}
