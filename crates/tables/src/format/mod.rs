//! Rows as text that is safe to paste.

mod csv;
mod markdown;

pub use csv::to_csv;
pub use markdown::to_markdown;

use columns::Value;

/// Shows a cell as text: nothing for null, JSON for lists of lists.
fn plain(cell: &Value) -> String {
    match cell {
        Value::Null => String::new(),
        Value::Text(text) => text.clone(),
        Value::List(items) if !items.iter().any(|item| matches!(item, Value::List(_))) => {
            items.iter().map(plain).collect::<Vec<_>>().join(", ")
        }
        Value::Timestamp(millis) => columns::to_iso(*millis),
        Value::Decimal(number) => number.to_string(),
        Value::Boolean(_) | Value::Integer(_) | Value::Real(_) | Value::List(_) => {
            cell.to_row_json().to_string()
        }
    }
}
