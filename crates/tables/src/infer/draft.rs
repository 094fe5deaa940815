//! The draft as text: one line for each field, with what the guess rests on.

use columns::{DateOrder, DecimalMark, Epoch};

use crate::config::{Field, FieldType, TableConfig};

/// Writes the TOML of a `[[tables]]` entry, with a remark behind each field and one above the entry.
pub fn to_toml(config: &TableConfig, notes: &[String], remark: Option<&str>) -> String {
    let remark = remark.map(on_one_line).map(|remark| format!("# {remark}\n")).unwrap_or_default();
    let mut toml = format!(
        "{remark}[[tables]]\nname = {}\nsource = {}\n",
        quoted(&config.name),
        quoted(&config.source)
    );
    if let Some(description) = &config.description {
        toml.push_str(&format!("description = {}\n", quoted(description)));
    }
    toml.push_str("[tables.fields]\n");
    for ((name, field), note) in config.fields.0.iter().zip(notes) {
        toml.push_str(&format!("{} = {} # {}\n", key(name), inline(field), on_one_line(note)));
    }
    toml
}

/// A comment of TOML ends with its line, and has no control characters.
fn on_one_line(comment: &str) -> String {
    comment.replace(|letter: char| letter.is_control(), " ")
}

fn inline(field: &Field) -> String {
    let mut parts = vec![format!("type = \"{}\"", field.field_type.as_str())];
    if let Some(items) = &field.items {
        parts.push(format!("items = {}", inline(items)));
    }
    if field.field_type == FieldType::StringLiteral {
        let values: Vec<String> = field.values.iter().map(|value| quoted(value)).collect();
        parts.push(format!("values = [{}]", values.join(", ")));
    }
    if let Some(operator) = field.operator {
        let name = match operator {
            crate::Operator::In => "in",
            crate::Operator::Range => "range",
        };
        parts.push(format!("match = \"{name}\""));
    }
    if let Some(separator) = field.separator {
        parts.push(format!("separator = {}", quoted(&separator.to_string())));
    }
    if let Some(unit) = &field.unit {
        parts.push(format!("unit = {}", quoted(unit)));
    }
    if let Some(mark) = field.decimal {
        let mark = match mark {
            DecimalMark::Point => ".",
            DecimalMark::Comma => ",",
        };
        parts.push(format!("decimal = {}", quoted(mark)));
    }
    if let Some(epoch) = field.epoch {
        let name = match epoch {
            Epoch::S => "s",
            Epoch::Ms => "ms",
            Epoch::Us => "us",
            Epoch::Ns => "ns",
        };
        parts.push(format!("epoch = \"{name}\""));
    }
    if let Some(order) = field.date_order {
        let name = match order {
            DateOrder::Dmy => "dmy",
            DateOrder::Mdy => "mdy",
            DateOrder::Ymd => "ymd",
        };
        parts.push(format!("date_order = \"{name}\""));
    }
    format!("{{ {} }}", parts.join(", "))
}

fn key(name: &str) -> String {
    let is_bare = !name.is_empty()
        && name.chars().all(|char| char.is_ascii_alphanumeric() || char == '_' || char == '-');
    if is_bare { name.to_owned() } else { quoted(name) }
}

/// JSON's escapes are TOML's, except for the ones above the basic plane, which stay as they are.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007F")
}
