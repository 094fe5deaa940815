//! What a person reads: results on stdout, everything else on stderr.

use std::io::{Write, stderr, stdout};

/// Prints a line of a result to stdout. A reader that went away is no error: `dowse audit | head`.
pub(crate) fn line(text: impl AsRef<str>) {
    let _ = writeln!(stdout(), "{}", text.as_ref());
}

/// Prints a line for the person at the terminal to stderr.
pub(crate) fn note(text: impl AsRef<str>) {
    let _ = writeln!(stderr(), "{}", text.as_ref());
}

/// Prints an error with its causes.
pub(crate) fn error(error: &anyhow::Error) {
    note(format!("error: {error}"));
    for cause in error.chain().skip(1) {
        note(format!("  cause: {cause}"));
    }
}

/// Lines up rows in columns.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let n_columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..n_columns)
        .map(|column| {
            rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
        })
        .map(Option::unwrap_or_default)
        .collect();
    let lines: Vec<String> = rows
        .iter()
        .map(|row| {
            let cells: Vec<String> = row
                .iter()
                .zip(&widths)
                .map(|(cell, width)| format!("{cell}{}", " ".repeat(width - cell.chars().count())))
                .collect();
            cells.join("  ").trim_end().to_owned()
        })
        .collect();
    lines.join("\n")
}
