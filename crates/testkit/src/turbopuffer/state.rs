//! What the server keeps: namespaces with their rows, and what readers who allow it still see.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::error::{Outcome, Refusal};
use super::schema::Schema;
use super::value::Id;

/// A moment at which everything here was made: tests have no use for a real one.
const MADE_AT: &str = "2026-01-01T00:00:00Z";

/// A row: its attributes by name, without its id.
pub(super) type Row = BTreeMap<String, Value>;

#[derive(Debug, Clone, Default)]
pub(super) struct Namespace {
    pub(super) schema: Schema,
    pub(super) id_type: Option<&'static str>,
    pub(super) rows: BTreeMap<Id, Row>,
}

impl Namespace {
    /// Gives an attribute of a row; null when it has none.
    pub(super) fn value(&self, id: &Id, name: &str) -> Value {
        if name == "id" {
            return id.to_json();
        }
        self.rows.get(id).and_then(|row| row.get(name)).cloned().unwrap_or(Value::Null)
    }

    fn n_bytes(&self) -> usize {
        let of_row = |row: &Row| row.values().map(|value| value.to_string().len()).sum::<usize>();
        self.rows.values().map(of_row).sum()
    }

    pub(super) fn schema_json(&self) -> Value {
        self.schema.to_json(self.id_type.unwrap_or("uint"))
    }

    pub(super) fn metadata(&self) -> Value {
        json!({
            "schema": self.schema_json(),
            "approx_row_count": self.rows.len(),
            "approx_logical_bytes": self.n_bytes(),
            "created_at": MADE_AT,
            "updated_at": MADE_AT,
            "encryption": {"mode": "default"},
            "index": {"status": "up-to-date"},
        })
    }
}

/// All namespaces.
#[derive(Debug, Default)]
pub(super) struct State {
    namespaces: BTreeMap<String, StoredNamespace>,
    /// Whether writes are hidden from readers who allow it until the next flush.
    pub(super) is_lagging: bool,
}

#[derive(Debug, Default)]
struct StoredNamespace {
    latest: Namespace,
    /// What readers who allow it see, while that is not the latest.
    earlier: Option<Option<Namespace>>,
}

/// Which state a reader wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Consistency {
    Strong,
    Eventual,
}

impl State {
    /// Gives a namespace as a reader sees it.
    pub(super) fn namespace(&self, name: &str, consistency: Consistency) -> Outcome<&Namespace> {
        let missing = || Refusal::not_found(format!("namespace `{name}` was not found"));
        let kept = self.namespaces.get(name).ok_or_else(missing)?;
        match (&kept.earlier, consistency) {
            (Some(earlier), Consistency::Eventual) => earlier.as_ref().ok_or_else(missing),
            _ => Ok(&kept.latest),
        }
    }

    /// Gives a copy to change, and whether the namespace exists already.
    pub(super) fn draft(&self, name: &str) -> (Namespace, bool) {
        match self.namespaces.get(name) {
            Some(kept) => (kept.latest.clone(), true),
            None => (Namespace::default(), false),
        }
    }

    /// Puts a changed namespace in place.
    pub(super) fn put(&mut self, name: &str, namespace: Namespace) {
        let is_new = !self.namespaces.contains_key(name);
        let kept = self.namespaces.entry(name.to_owned()).or_default();
        if self.is_lagging && kept.earlier.is_none() {
            kept.earlier = Some((!is_new).then(|| std::mem::take(&mut kept.latest)));
        }
        kept.latest = namespace;
    }

    pub(super) fn remove(&mut self, name: &str) -> Outcome<()> {
        match self.namespaces.remove(name) {
            Some(_) => Ok(()),
            None => Err(Refusal::not_found(format!("namespace `{name}` was not found"))),
        }
    }

    /// Lets every reader see the latest.
    pub(super) fn flush(&mut self) {
        for kept in self.namespaces.values_mut() {
            kept.earlier = None;
        }
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.namespaces.keys().map(String::as_str)
    }
}

/// Gives a row as it is shown.
pub(super) fn show(id: &Id, row: &Row, wanted: impl Fn(&str) -> bool) -> Map<String, Value> {
    let mut shown = Map::new();
    shown.insert("id".to_owned(), id.to_json());
    for (name, value) in row {
        if !value.is_null() && wanted(name) {
            shown.insert(name.clone(), value.clone());
        }
    }
    shown
}
