//! Ours beside the libraries, format by format.

use std::path::Path;
use std::time::Duration;

use crate::engines::{self, Reading, without_marks};
use crate::words::{Words, agreed, overlap, words};

/// A kind of document and who reads it; `dowse` is first.
struct Part {
    name: &'static str,
    extensions: &'static [&'static str],
    engines: &'static [&'static str],
}

const PARTS: [Part; 7] = [
    Part { name: "pdf", extensions: &["pdf"], engines: &["dowse", "pdf-extract", "hayro", "hayro-layout"] },
    Part { name: "xlsx", extensions: &["xlsx", "xlsm"], engines: &["dowse", "calamine"] },
    Part { name: "xls", extensions: &["xls"], engines: &["dowse", "calamine"] },
    Part { name: "ods", extensions: &["ods"], engines: &["dowse", "calamine"] },
    Part { name: "markdown", extensions: &["md"], engines: &["dowse", "pulldown-cmark"] },
    // What `zip` gives are names and sizes: only what it fails on says anything.
    Part {
        name: "zip",
        extensions: &[
            "docx", "pptx", "xlsx", "xlsm", "xlsb", "odt", "ods", "odp", "epub", "zip", "pages",
        ],
        engines: &["dowse", "zip"],
    },
    Part { name: "csv", extensions: &["csv"], engines: &["dowse", "csv"] },
];

pub fn names() -> Vec<&'static str> {
    PARTS.iter().map(|part| part.name).collect()
}

/// Sums of what an engine did.
#[derive(Default)]
struct Sum {
    n_with_text: usize,
    n_failed: usize,
    n_words: usize,
    time: Duration,
    expected: Scores,
    agreed: Scores,
}

#[derive(Default)]
struct Scores {
    n: usize,
    recall: f64,
    precision: f64,
}

impl Scores {
    fn add(&mut self, expected: &Words, found: &Words) {
        let overlap = overlap(expected, found);
        self.n += 1;
        self.recall += overlap.recall;
        self.precision += overlap.precision;
    }

    fn shown(&self) -> String {
        let mean = |sum: f64| sum / self.n.max(1) as f64;
        format!("{:.3} / {:.3} of {}", mean(self.recall), mean(self.precision), self.n)
    }
}

pub fn run(folder: &Path, only: Option<&str>) -> std::io::Result<()> {
    let manifest = std::fs::read_to_string(folder.join("manifest.tsv"))?;
    let pairs = std::fs::read_to_string(folder.join("expected_text_pairs.tsv"))?;
    let pairs: Vec<(&str, &str)> = pairs
        .lines()
        .skip(1)
        .filter_map(|line| {
            let mut columns = line.split('\t');
            Some((columns.next()?, columns.next()?))
        })
        .collect();
    for part in PARTS.iter().filter(|part| only.is_none_or(|only| only == part.name)) {
        let files: Vec<&str> = manifest
            .lines()
            .skip(1)
            .filter_map(|line| line.split('\t').next())
            .filter(|path| {
                let extension = path.rsplit('.').next().unwrap_or_default().to_lowercase();
                part.extensions.contains(&extension.as_str())
            })
            .collect();
        let mut sums: Vec<Sum> = part.engines.iter().map(|_| Sum::default()).collect();
        for file in &files {
            let readings: Vec<Reading> = part
                .engines
                .iter()
                .map(|engine| engines::read(engine, &folder.join(file)))
                .collect::<Result<_, _>>()?;
            let found: Vec<Words> = readings
                .iter()
                .map(|reading| words(reading.text.as_deref().unwrap_or("")))
                .collect();
            let expected = match pairs.iter().find(|(document, _)| document == file) {
                Some((_, expected)) => {
                    let expected = std::fs::read(folder.join(expected))?;
                    Some(words(&without_marks(&String::from_utf8_lossy(&expected))))
                }
                None => None,
            };
            // A reader that is measured twice has one vote.
            let agreed =
                found.first_chunk::<3>().map(|three| agreed(three)).filter(|all| !all.is_empty());
            for ((sum, reading), found) in sums.iter_mut().zip(&readings).zip(&found) {
                sum.n_with_text += usize::from(!found.is_empty());
                sum.n_failed += usize::from(reading.text.is_none());
                sum.n_words += found.values().sum::<usize>();
                sum.time += reading.time;
                if let Some(expected) = &expected {
                    sum.expected.add(expected, found);
                }
                if let Some(agreed) = &agreed {
                    sum.agreed.add(agreed, found);
                }
            }
            for (engine, reading) in part.engines.iter().zip(&readings) {
                if reading.text.is_none() {
                    println!("  failed: {engine}: {file}");
                }
            }
            if let [ours, others @ ..] = found.as_slice()
                && part.name != "zip"
            {
                let count = |words: &Words| words.values().sum::<usize>();
                let best = others.iter().map(count).max().unwrap_or_default();
                if best > 20 && count(ours) * 2 < best {
                    println!("  behind: {file}: {} words of {best}", count(ours));
                }
            }
        }
        println!("\n{}: {} files", part.name, files.len());
        println!(
            "| engine | with text | failed | words | time | expected: recall / precision | two of three agree: recall / precision |"
        );
        println!("|---|---|---|---|---|---|---|");
        for (engine, sum) in part.engines.iter().zip(&sums) {
            println!(
                "| {engine} | {} | {} | {} | {:.2} s | {} | {} |",
                sum.n_with_text,
                sum.n_failed,
                sum.n_words,
                sum.time.as_secs_f64(),
                sum.expected.shown(),
                sum.agreed.shown(),
            );
        }
    }
    Ok(())
}
