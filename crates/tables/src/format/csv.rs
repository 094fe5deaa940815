//! CSV as RFC 4180 has it.

use columns::Value;

use super::plain;
use crate::request::Formulas;

/// Writes a header and the rows, with line ends of CR LF. On request, text that a spreadsheet
/// would run as a formula gets an apostrophe in front; numbers are never touched.
///
/// ```
/// use tables::Formulas;
///
/// let rows = [vec!["=1+1".into(), (-2).into()]];
/// let text = tables::to_csv(&["a".into(), "b".into()], &rows, Formulas::Defused);
/// assert_eq!(text, "a,b\r\n'=1+1,-2\r\n");
/// ```
pub fn to_csv(columns: &[String], rows: &[Vec<Value>], formulas: Formulas) -> String {
    let mut text = String::new();
    push_record(&mut text, columns.iter().map(|name| defused(name.clone(), formulas)));
    for row in rows {
        push_record(
            &mut text,
            row.iter().map(|cell| match cell {
                Value::Text(_) | Value::Timestamp(_) | Value::List(_) => {
                    defused(plain(cell), formulas)
                }
                Value::Null
                | Value::Boolean(_)
                | Value::Integer(_)
                | Value::Real(_)
                | Value::Decimal(_) => plain(cell),
            }),
        );
    }
    text
}

fn push_record(text: &mut String, cells: impl ExactSizeIterator<Item = String>) {
    // A record of one empty cell would be a blank line, which readers skip.
    let is_alone = cells.len() == 1;
    for (place, cell) in cells.enumerate() {
        if place > 0 {
            text.push(',');
        }
        push_cell(text, &cell, is_alone);
    }
    text.push_str("\r\n");
}

fn push_cell(text: &mut String, cell: &str, is_alone: bool) {
    let has_edge_space = cell.starts_with(' ') || cell.ends_with(' ');
    let needs_quotes =
        cell.contains([',', '"', '\r', '\n']) || has_edge_space || (is_alone && cell.is_empty());
    if !needs_quotes {
        text.push_str(cell);
        return;
    }
    text.push('"');
    text.push_str(&cell.replace('"', "\"\""));
    text.push('"');
}

fn defused(cell: String, formulas: Formulas) -> String {
    let is_formula =
        cell.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']);
    if formulas == Formulas::Defused && is_formula { format!("'{cell}") } else { cell }
}
