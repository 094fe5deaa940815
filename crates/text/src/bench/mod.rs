//! The figures of `dowse bench text`: how fast each script is analysed and redacted, on one core,
//! and how well the tables of rules do on the examples that ship with them.
//!
//! The samples are short texts of our own, varied and repeated until the measurement is long
//! enough to mean something; a run takes a few seconds.

mod samples;

use std::time::{Duration, Instant};

use model::Report;

use crate::analyze::{Analyzer, Scratch};
use crate::language::detect_language;

/// How much text one measurement works on.
const SAMPLE_BYTES: usize = 200_000;
/// The least time one measurement takes.
const MIN_TIME: Duration = Duration::from_millis(500);
/// How long the passages are that the analyser is given, as in an index.
const PASSAGE_BYTES: usize = 2000;

/// Measures the crate and gives the figures.
pub fn run() -> Report {
    let mut report = Report::new("text");
    for (name, text) in samples::all(SAMPLE_BYTES) {
        let (rate, n_tokens) = analyse_rate(&text);
        report.add_noted(
            format!("{name} analyse"),
            rate,
            "MB/s",
            format!("{n_tokens} tokens, one core"),
        );
    }
    for (name, text) in samples::all(SAMPLE_BYTES) {
        report.add(
            format!("{name} redact"),
            rate_of(text.len(), || crate::redact(&text).n_pieces),
            "MB/s",
        );
    }
    let mixed: String = samples::all(SAMPLE_BYTES / 4).into_iter().map(|(_, text)| text).collect();
    let n_bytes = mixed.len();
    report.add("fold", rate_of(n_bytes, || crate::fold(&mixed).len()), "MB/s");
    report.add("sentences", rate_of(n_bytes, || crate::sentences(&mixed).count()), "MB/s");
    report.add("count tokens", rate_of(n_bytes, || crate::count_tokens(&mixed)), "MB/s");
    report.add(
        "repair long vowels",
        rate_of(n_bytes, || crate::repair_long_vowels(&mixed).len()),
        "MB/s",
    );
    report
}

fn analyse_rate(text: &str) -> (f64, usize) {
    let passages = passages(text);
    let analyzer = Analyzer::new();
    let language = detect_language(text);
    let mut n_tokens = 0;
    let rate = rate_of(text.len(), || {
        // Nothing is remembered from the run before, as if every document were the first.
        let mut scratch = Scratch::new();
        n_tokens = 0;
        for passage in &passages {
            analyzer.visit(passage, language, &mut scratch, |_| n_tokens += 1);
        }
        n_tokens
    });
    (rate, n_tokens)
}

fn passages(text: &str) -> Vec<&str> {
    let mut passages = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let mut end = PASSAGE_BYTES.min(rest.len());
        while !rest.is_char_boundary(end) {
            end += 1;
        }
        let (passage, after) = rest.split_at(end);
        passages.push(passage);
        rest = after;
    }
    passages
}

/// Gives how many megabytes (10⁶ bytes) of text a second some work takes in, in the best of many
/// runs: the others shared the core with someone.
fn rate_of<T>(n_bytes: usize, mut work: impl FnMut() -> T) -> f64 {
    let start = Instant::now();
    let mut best = Duration::MAX;
    while start.elapsed() < MIN_TIME || best == Duration::MAX {
        let run_start = Instant::now();
        std::hint::black_box(work());
        best = best.min(run_start.elapsed());
    }
    n_bytes as f64 / 1e6 / best.as_secs_f64().max(f64::EPSILON)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passages_are_the_whole_text() {
        let text = "東京a".repeat(2000);
        assert_eq!(passages(&text).concat(), text);
    }
}
