//! Kept answers as rows of a catalogue, and the space that they take.
//!
//! Ids begin with the time at which the call arrived, so that rows are in the order of time. Every
//! server counts what it wrote, hour by hour; the oldest hours go when all of them take too much.

use model::{TenantId, Timestamp};
use serde_json::{Value, json};
use store::{Change, Object, ObjectKey, ObjectPage, Objects, Result};

/// Milliseconds of an hour.
pub(super) const HOUR_MILLIS: i64 = 3_600_000;

/// Rows that are erased by one transaction.
const ROWS_PER_ERASURE: usize = 100;

/// The rows of one kind, and those that count them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rows {
    pub(super) kind: &'static str,
    count_kind: &'static str,
}

/// Answers with their text.
pub(super) const WHOLE: Rows = Rows { kind: "moment_answer", count_kind: "moment_answer_bytes" };
/// What remains when the text has gone.
pub(super) const REMAINS: Rows =
    Rows { kind: "moment_answer_remains", count_kind: "moment_answer_remains_bytes" };

/// What a server wrote in an hour.
struct Counted {
    id: String,
    hour: i64,
    n_bytes: u64,
}

/// Gives the id of an answer's row.
pub(super) fn id_of(request: &str, at: Timestamp) -> String {
    format!("{:016}:{request}", at.0.max(0))
}

/// Gives the hour of a time.
pub(super) fn hour_of(at: Timestamp) -> i64 {
    at.0.div_euclid(HOUR_MILLIS)
}

/// Makes a row that says nothing but a body.
pub(super) fn row(kind: &str, id: String, tenant: &str, body: Value) -> Object {
    Object {
        key: ObjectKey::new(kind, id),
        tenant: TenantId::new(tenant),
        parent: None,
        lookups: vec![],
        body,
        version: 0,
    }
}

impl Rows {
    /// Notes how many bytes a server has written in an hour, all in all.
    pub(super) fn counted(self, server: &str, hour: i64, n_bytes: u64) -> Change {
        let body = json!({ "n_bytes": n_bytes });
        Change::Put(row(self.count_kind, format!("{hour:010}/{server}"), "", body))
    }

    /// Erases what is older than an hour, and the oldest hours of what takes more than `max_bytes`.
    /// The hour of now stays; gives how much it takes.
    pub(super) fn trim(
        self,
        objects: &dyn Objects,
        oldest: i64,
        now: i64,
        max_bytes: u64,
    ) -> Result<u64> {
        let counted = self.all_counted(objects)?;
        let mut n_left: u64 = counted.iter().map(|counted| counted.n_bytes).sum();
        let mut end = None;
        let mut gone = vec![];
        // By the hour: the order of ids is that of time.
        for counted in counted.iter().filter(|counted| counted.hour < now) {
            let is_of_begun_hour = end == Some(counted.hour);
            if counted.hour >= oldest && n_left <= max_bytes && !is_of_begun_hour {
                break;
            }
            n_left -= counted.n_bytes;
            end = Some(counted.hour);
            gone.push(Change::Delete(ObjectKey::new(self.count_kind, &counted.id)));
        }
        if let Some(end) = end {
            self.erase_until(objects, Timestamp((end + 1) * HOUR_MILLIS))?;
            objects.apply(&gone)?;
        }
        let of_now = counted.iter().filter(|counted| counted.hour >= now);
        Ok(of_now.map(|counted| counted.n_bytes).sum())
    }

    fn all_counted(self, objects: &dyn Objects) -> Result<Vec<Counted>> {
        let mut page = ObjectPage::of(self.count_kind);
        let mut counted = vec![];
        loop {
            let rows = objects.list(&page)?;
            let is_last = rows.len() < page.limit;
            page.after = rows.last().map(|row| row.key.id.clone());
            counted.extend(rows.into_iter().map(|row| Counted {
                hour: row.key.id.split('/').next().and_then(|hour| hour.parse().ok()).unwrap_or(0),
                n_bytes: row.body["n_bytes"].as_u64().unwrap_or(0),
                id: row.key.id,
            }));
            if is_last {
                return Ok(counted);
            }
        }
    }

    fn erase_until(self, objects: &dyn Objects, until: Timestamp) -> Result<()> {
        let end = id_of("", until);
        let page = ObjectPage { limit: ROWS_PER_ERASURE, ..ObjectPage::of(self.kind) };
        loop {
            let rows = objects.list(&page)?;
            let is_last = rows.len() < ROWS_PER_ERASURE;
            let gone: Vec<Change> = rows
                .into_iter()
                .take_while(|row| row.key.id < end)
                .map(|row| Change::Delete(row.key))
                .collect();
            if !gone.is_empty() {
                objects.apply(&gone)?;
            }
            if is_last || gone.len() < ROWS_PER_ERASURE {
                return Ok(());
            }
        }
    }
}
