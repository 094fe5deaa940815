//! The rows that name epochs of kept answers, of each tenant and of all together.

use std::collections::HashMap;

use model::Timestamp;
use serde_json::json;
use store::{ObjectKey, ObjectPage, Objects};

use super::rows::row;

/// The kind of the rows that name epochs.
pub(super) const EPOCH: &str = "moment_answer_epoch";
/// Whose the epochs of all tenants together are; those of a tenant have its name after a `=`.
pub(super) const EVERYONE: &str = "*";

/// Gives the latest epochs of somebody, or of everybody.
pub(super) fn epochs(
    objects: &dyn Objects,
    whose: Option<&str>,
) -> store::Result<HashMap<String, u64>> {
    let mut page = ObjectPage { parent: whose.map(parent_of), ..ObjectPage::of(EPOCH) };
    let mut latest: HashMap<String, u64> = HashMap::new();
    loop {
        let rows = objects.list(&page)?;
        let is_last = rows.len() < page.limit;
        page.after = rows.last().map(|row| row.key.id.clone());
        for row in rows {
            let epoch = row.body["epoch"].as_u64().unwrap_or(0);
            let known = latest.entry(whose_of(&row.key.id).to_owned()).or_default();
            *known = (*known).max(epoch);
        }
        if is_last {
            return Ok(latest);
        }
    }
}

pub(super) fn latest_epoch(objects: &dyn Objects, whose: &str) -> store::Result<Option<u64>> {
    Ok(epochs(objects, Some(whose))?.remove(whose))
}

pub(super) fn epoch_key(whose: &str, epoch: u64) -> ObjectKey {
    ObjectKey::new(EPOCH, format!("{epoch:012}/{whose}"))
}

pub(super) fn epoch_row(whose: &str, epoch: u64, erased_at: Option<Timestamp>) -> store::Object {
    let body = json!({ "epoch": epoch, "erased_at": erased_at.map(Timestamp::millis) });
    let mut row = row(EPOCH, epoch_key(whose, epoch).id, "", body);
    row.parent = Some(parent_of(whose));
    row
}

fn parent_of(whose: &str) -> String {
    format!("answers of {whose}")
}

/// Gives the name under which a tenant has epochs.
pub(super) fn name_of(tenant: &str) -> String {
    format!("={tenant}")
}

/// Gives whose an epoch is, by its id.
pub(super) fn whose_of(id: &str) -> &str {
    id.split_once('/').map_or("", |(_, whose)| whose)
}
