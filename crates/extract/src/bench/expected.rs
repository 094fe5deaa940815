//! Extraction against texts that others wrote down for the same documents.

use std::collections::BTreeMap;
use std::path::Path;

use fs_err as fs;
use model::Report;

use crate::bench::words::overlap;
use crate::error::{Error, Result};
use crate::plain::without_marks;
use crate::{Caps, extract};

/// How many of the worst files a report names.
const N_WORST: usize = 10;

/// How one document compares with its expected text.
#[derive(Debug, Clone)]
pub struct FileScore {
    /// The path inside the folder.
    pub path: String,
    /// The format it was read as.
    pub format: &'static str,
    /// The share of expected words that were found.
    pub recall: f64,
    /// The share of found words that were expected.
    pub precision: f64,
}

/// Scores every pair of `expected_text_pairs.tsv`: means in all and for each format, and the
/// worst files.
///
/// # Errors
///
/// When the list or a file of it cannot be read.
pub fn expected_text(folder: &Path) -> Result<Report> {
    let mut report = Report::new("extract: expected text");
    let mut scores = score_pairs(folder)?;
    let mean = |scores: &[&FileScore], value: fn(&FileScore) -> f64| {
        scores.iter().map(|score| value(score)).sum::<f64>() / scores.len().max(1) as f64
    };
    let all: Vec<&FileScore> = scores.iter().collect();
    let note = format!("{} documents, words as multisets", all.len());
    report.add_noted("mean word recall", mean(&all, |score| score.recall), "ratio", note.clone());
    report.add_noted("mean word precision", mean(&all, |score| score.precision), "ratio", note);
    let mut by_format: BTreeMap<&str, Vec<&FileScore>> = BTreeMap::new();
    for score in &scores {
        by_format.entry(score.format).or_default().push(score);
    }
    for (format, scores) in by_format {
        let note = format!("{} documents", scores.len());
        report.add_noted(
            format!("{format} word recall"),
            mean(&scores, |score| score.recall),
            "ratio",
            note.clone(),
        );
        report.add_noted(
            format!("{format} word precision"),
            mean(&scores, |score| score.precision),
            "ratio",
            note,
        );
    }
    scores.sort_by(|one, other| {
        (one.recall + one.precision).total_cmp(&(other.recall + other.precision))
    });
    for score in scores.iter().take(N_WORST) {
        let note = format!("recall {:.3}, precision {:.3}", score.recall, score.precision);
        let value = f64::midpoint(score.recall, score.precision);
        report.add_noted(format!("worst: {}", score.path), value, "ratio", note);
    }
    Ok(report)
}

/// Scores every pair of `expected_text_pairs.tsv`, in its order.
///
/// # Errors
///
/// When the list or a file of it cannot be read.
pub fn score_pairs(folder: &Path) -> Result<Vec<FileScore>> {
    let read = |path: &str| fs::read(folder.join(path)).map_err(|source| Error::Read { source });
    let list = read("expected_text_pairs.tsv")?;
    let list = String::from_utf8_lossy(&list);
    let mut scores = Vec::new();
    for line in list.lines().skip(1) {
        let mut columns = line.split('\t');
        let (Some(document), Some(expected)) = (columns.next(), columns.next()) else { continue };
        let (extracted, _) = extract(&read(document)?, document, &Caps::standard());
        let expected = read(expected)?;
        // Expected texts are Markdown, of which only the words count.
        let expected = without_marks(&String::from_utf8_lossy(&expected));
        let overlap = overlap(&expected, &extracted.text());
        scores.push(FileScore {
            path: document.to_owned(),
            format: extracted.format.name(),
            recall: overlap.recall,
            precision: overlap.precision,
        });
    }
    Ok(scores)
}
