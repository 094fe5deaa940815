//! What the stages of a search took, as answers tell it where they were asked to.

use across::StageTiming;
use serde_json::{Map, Value, json};

/// Writes what a stage took, and why it did not run where it did not.
pub(crate) fn timing(stage: &StageTiming) -> Map<String, Value> {
    let mut timing = Map::new();
    timing.insert("stage".to_owned(), json!(stage.stage));
    timing.insert("ms".to_owned(), json!(stage.millis()));
    if let Some(reason) = &stage.skipped {
        timing.insert("skipped".to_owned(), json!(reason));
    }
    timing
}
