//! Rows as text that is safe to paste.

mod csv;
mod markdown;

pub use csv::to_csv;
pub use markdown::to_markdown;

use serde_json::Value;

/// Shows a cell as text: nothing for null, JSON for lists and objects.
fn plain(cell: &Value) -> String {
    match cell {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) if items.iter().all(|item| !item.is_array() && !item.is_object()) => {
            items.iter().map(plain).collect::<Vec<_>>().join(", ")
        }
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => cell.to_string(),
    }
}
