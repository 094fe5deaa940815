//! A GitHub table.

use columns::Value;

use super::plain;

/// Writes a header, a rule and the rows. Whatever is in a cell stays in its cell.
///
/// ```
/// let table = tables::to_markdown(&["a".into()], &[vec!["x|y\nz".into()]]);
/// assert_eq!(table, "| a |\n| --- |\n| x\\|y<br>z |\n");
/// ```
pub fn to_markdown(columns: &[String], rows: &[Vec<Value>]) -> String {
    let mut table = String::new();
    push_row(&mut table, columns.iter().map(|name| escaped(name)));
    push_row(&mut table, columns.iter().map(|_| "---".to_owned()));
    for row in rows {
        push_row(&mut table, row.iter().map(|cell| escaped(&plain(cell))));
    }
    table
}

fn push_row(table: &mut String, cells: impl Iterator<Item = String>) {
    table.push('|');
    for cell in cells {
        table.push(' ');
        table.push_str(&cell);
        table.push_str(" |");
    }
    table.push('\n');
}

/// Nothing of a cell is Markdown of its own, and line ends and pipes stay inside the cell.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let text = text::escape_markdown(text);
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '|' => escaped.push_str("\\|"),
            '\r' => {
                chars.next_if_eq(&'\n');
                escaped.push_str("<br>");
            }
            '\n' | '\u{85}' | '\u{2028}' | '\u{2029}' => escaped.push_str("<br>"),
            char if char.is_control() => escaped.push(' '),
            char => escaped.push(char),
        }
    }
    escaped
}
