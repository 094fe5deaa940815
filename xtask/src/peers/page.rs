//! Figures as tables of Markdown: a table for each subject, a row for each program, each figure with
//! its ratio to Dowse's.

use std::fmt;
use std::fmt::Write as _;

use serde::Deserialize;

/// What one program measured.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Row {
    subject: String,
    peer: String,
    version: String,
    /// How it was asked: in process, over MCP, as a command.
    how: String,
    figures: serde_json::Map<String, serde_json::Value>,
    /// Why there are no figures.
    #[serde(default)]
    skipped: Option<String>,
}

impl Row {
    /// Makes the row of a program that could not be measured.
    pub(super) fn skipped(subject: &str, peer: &str, reason: String) -> Self {
        Row {
            subject: subject.to_owned(),
            peer: peer.to_owned(),
            version: String::new(),
            how: String::new(),
            figures: serde_json::Map::new(),
            skipped: Some(reason),
        }
    }

    fn figure(&self, name: &str) -> Option<f64> {
        self.figures.get(name)?.as_f64()
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.skipped {
            Some(reason) => write!(f, "{}: not measured: {reason}", self.peer),
            None => {
                let figures: Vec<String> = self
                    .figures
                    .iter()
                    .filter_map(|(name, value)| Some(format!("{name} {}", digits(value.as_f64()?))))
                    .collect();
                write!(f, "{} {} ({}): {}", self.peer, self.version, self.how, figures.join(", "))
            }
        }
    }
}

/// Where the tables of a page begin and end.
const MARKS: [&str; 2] = ["<!-- tables of `cargo xtask peers` -->", "<!-- end of the tables -->"];

/// Puts tables into a page: in place of those between its marks, else as the whole page.
pub(super) fn put_into(page: &str, tables: &str) -> String {
    let parts = page.split_once(MARKS[0]).and_then(|(before, rest)| {
        let (_, after) = rest.split_once(MARKS[1])?;
        Some((before, after))
    });
    let (before, after) = parts.unwrap_or(("", "\n"));
    format!("{before}{}\n\n{}\n\n{}{after}", MARKS[0], tables.trim_end(), MARKS[1])
}

/// Writes the tables.
pub(super) fn tables(rows: &[Row]) -> String {
    let mut subjects: Vec<&str> = Vec::new();
    for row in rows {
        if !subjects.contains(&row.subject.as_str()) {
            subjects.push(&row.subject);
        }
    }
    subjects.into_iter().map(|subject| table(subject, rows)).collect()
}

fn table(subject: &str, rows: &[Row]) -> String {
    let rows: Vec<&Row> = rows.iter().filter(|row| row.subject == subject).collect();
    let mut names: Vec<&str> = Vec::new();
    for name in rows.iter().flat_map(|row| row.figures.keys()) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let mut table = format!("## {subject}\n\n| program | asked |");
    names.iter().for_each(|name| table.push_str(&format!(" {} |", heading(name))));
    table.push_str("\n|---|---|");
    names.iter().for_each(|_| table.push_str("---|"));
    table.push('\n');
    for row in rows.iter().filter(|row| row.skipped.is_none()) {
        let _ = write!(table, "| {} {} | {} |", row.peer, row.version, row.how);
        for name in &names {
            let ours = rows[0].figure(name).filter(|_| !std::ptr::eq(*row, rows[0]));
            let cell = row.figure(name).map_or_else(
                || "–".to_owned(),
                |value| match ours {
                    Some(ours) if ours > 0.0 && !is_quality(name) => {
                        format!("{} ({}×)", digits(value), digits(value / ours))
                    }
                    _ => digits(value),
                },
            );
            let _ = write!(table, " {cell} |");
        }
        table.push('\n');
    }
    table.push('\n');
    for row in rows.iter().filter(|row| row.skipped.is_some()) {
        let _ = writeln!(table, "{row}.");
    }
    table
}

/// Tells whether a figure is better when it is larger; a ratio would mislead beside those of time.
fn is_quality(name: &str) -> bool {
    name.starts_with("hit") || name.starts_with("ndcg") || name.ends_with("found")
}

/// Writes `query_p50_ms` as `query p50, ms`.
fn heading(name: &str) -> String {
    match name.rsplit_once('_') {
        Some((what, unit @ ("ms" | "s" | "mb"))) => {
            let unit = if unit == "mb" { "MB" } else { unit };
            format!("{}, {unit}", what.replace('_', " "))
        }
        _ => name.replace("_at_", "@").replace('_', " "),
    }
}

/// Three significant digits, which is more than the machine repeats.
fn digits(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(peer: &str, figures: &serde_json::Value) -> Row {
        let row = serde_json::json!({
            "subject": "words", "peer": peer, "version": "1", "how": "over HTTP", "figures": figures,
        });
        serde_json::from_value(row).unwrap()
    }

    #[test]
    fn figures_have_ratios_and_what_was_not_measured_is_said() {
        let rows = [
            row("Dowse", &serde_json::json!({ "ndcg_at_10": 0.7, "query_p50_ms": 2.0 })),
            row(
                "other",
                &serde_json::json!({ "ndcg_at_10": 0.65, "query_p50_ms": 5.0, "disk_mb": 120 }),
            ),
            Row::skipped("words", "third", "no package".to_owned()),
        ];
        let expected = "## words\n\n| program | asked | ndcg@10 | query p50, ms | disk, MB |\n\
                        |---|---|---|---|---|\n\
                        | Dowse 1 | over HTTP | 0.700 | 2.00 | – |\n\
                        | other 1 | over HTTP | 0.650 | 5.00 (2.50×) | 120 |\n\n\
                        third: not measured: no package.\n";
        assert_eq!(tables(&rows), expected);
    }

    #[test]
    fn tables_replace_those_of_the_run_before_and_nothing_else() {
        let first = put_into("", "| a |\n");
        let page = format!("# Page\n\nBefore.\n\n{first}\nAfter.\n");
        let second = put_into(&page, "| b |\n");
        assert!(second.contains("| b |") && !second.contains("| a |"), "{second}");
        assert_eq!(put_into(&second, "| a |\n"), page);
    }
}
