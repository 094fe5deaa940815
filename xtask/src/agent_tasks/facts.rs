//! What is true of the demo's data, computed here from its files and not by a server under test.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The right answers.
pub(crate) struct Facts {
    /// The folder with the documents.
    pub(crate) documents: PathBuf,
    /// The request log.
    pub(crate) requests: PathBuf,
    /// Requests at level `error` to the most frequent host of the log.
    pub(crate) host: String,
    pub(crate) n_errors: u64,
    /// The mean latency by level.
    pub(crate) mean_latency: BTreeMap<String, f64>,
}

/// A question about the documents: words to look for, the file that answers, and what it says.
pub(crate) struct Question {
    pub(crate) words: &'static str,
    pub(crate) file: &'static str,
    pub(crate) says: &'static str,
}

/// Questions over the demo's documents; the words are not those of the text.
pub(crate) const QUESTIONS: [Question; 3] = [
    Question {
        words: "remote work allowance amount per month",
        file: "remote-work.md",
        says: "120 euros a month",
    },
    Question {
        words: "late deliveries northwind invoice reduction",
        file: "vendor-northwind-2021.md",
        says: "two percent for each week",
    },
    Question {
        words: "harbour gateway buffers measurements",
        file: "harbour-notes.txt",
        says: "seven days of measurements",
    },
];

/// What is done with each question.
pub(crate) const KINDS: [&str; 3] = ["find", "read", "cite"];

pub(crate) const FILTER: &str = "filter: errors of one host";
pub(crate) const AGGREGATE: &str = "aggregate: mean latency by level";
pub(crate) const CHART: &str = "chart: education in Cluj by year";
/// Tasks over the demo's tables.
pub(crate) const TABLE_TASKS: [&str; 3] = [FILTER, AGGREGATE, CHART];

pub(crate) const FILTER_FLIGHTS: &str = "filter: late flights of one carrier";
pub(crate) const AGGREGATE_FLIGHTS: &str = "aggregate: mean delay by carrier";
pub(crate) const CHART_FLIGHTS: &str = "chart: flights by month";
/// Tasks over the flights.
pub(crate) const FLIGHT_TASKS: [&str; 3] = [FILTER_FLIGHTS, AGGREGATE_FLIGHTS, CHART_FLIGHTS];

/// Names a task over the demo's documents.
pub(crate) fn document_task(kind: &str, question: &Question) -> String {
    format!("{kind}: {}", question.words)
}

/// Names every task over the demo's documents.
pub(crate) fn document_tasks() -> Vec<String> {
    let questions = QUESTIONS.iter();
    questions.flat_map(|one| KINDS.map(|kind| document_task(kind, one))).collect()
}

/// Names the lookup of a name.
pub(crate) fn name_task(name: &str) -> String {
    format!("look up: {name}")
}

/// Computes the facts of the unpacked demo.
pub(crate) fn of_demo(world: &Path) -> anyhow::Result<Facts> {
    let requests = world.join("requests.csv");
    let text = fs_err::read_to_string(&requests)?;
    let mut lines = text.lines();
    let header = cells(lines.next().unwrap_or_default());
    let column = |name: &str| {
        let at = header.iter().position(|known| known == name);
        at.ok_or_else(|| anyhow::anyhow!("the request log has no column `{name}`"))
    };
    let (level, host, latency) = (column("level")?, column("host")?, column("latency")?);
    let mut sums: BTreeMap<String, (f64, u64)> = BTreeMap::new();
    let mut errors: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for line in lines {
        let cells = cells(line);
        let sum = sums.entry(cells[level].clone()).or_default();
        sum.0 += cells[latency].parse::<f64>()?;
        sum.1 += 1;
        let counts = errors.entry(cells[host].clone()).or_default();
        counts.0 += 1;
        counts.1 += u64::from(cells[level] == "error");
    }
    let (host, (_, n_errors)) = errors
        .into_iter()
        .max_by_key(|(_, (n_requests, _))| *n_requests)
        .ok_or_else(|| anyhow::anyhow!("the request log is empty"))?;
    let mean_latency = sums.into_iter().map(|(level, (sum, n))| (level, sum / n as f64)).collect();
    Ok(Facts { documents: world.join("documents"), requests, host, n_errors, mean_latency })
}

/// Takes a line of CSV apart; cells may be in quotes.
pub(crate) fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut is_quoted = false;
    for char in line.chars() {
        match char {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => cells.push(String::new()),
            other => {
                if let Some(last) = cells.last_mut() {
                    last.push(other);
                }
            }
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    #[test]
    fn lines_of_csv() {
        assert_eq!(super::cells(r#"a,"b,c",,d"#), ["a", "b,c", "", "d"]);
    }
}
