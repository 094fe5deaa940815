//! Every file of the folder: what became of it, why unflagged files give no text, how right and
//! how fast each format is read.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use extract::{Caps, Format, extract};
use model::ReadOutcome;

use crate::engines::without_marks;
use crate::words::{overlap, words};

#[derive(Default)]
struct OfFormat {
    n_files: usize,
    n_bytes: usize,
    n_words: usize,
    time: Duration,
    n_pairs: usize,
    recall: f64,
    precision: f64,
}

pub fn run(folder: &Path) -> std::io::Result<()> {
    let manifest = std::fs::read_to_string(folder.join("manifest.tsv"))?;
    let pairs = std::fs::read_to_string(folder.join("expected_text_pairs.tsv"))?;
    let pairs: BTreeMap<&str, &str> =
        pairs.lines().skip(1).filter_map(|line| line.split_once('\t')).collect();
    let mut outcomes: BTreeMap<(bool, ReadOutcome), usize> = BTreeMap::new();
    let mut formats: BTreeMap<Format, OfFormat> = BTreeMap::new();
    let mut without_text = Vec::new();
    let mut worst = Vec::new();
    for line in manifest.lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        let Some(path) = columns.first() else { continue };
        let is_flagged = columns.get(5).is_some_and(|flags| !flags.trim().is_empty());
        let bytes = std::fs::read(folder.join(path))?;
        let started = Instant::now();
        let (document, _) = extract(&bytes, path, &Caps::standard());
        let of = formats.entry(document.format).or_default();
        of.time += started.elapsed();
        of.n_files += 1;
        of.n_bytes += bytes.len();
        *outcomes.entry((is_flagged, document.outcome)).or_default() += 1;
        let found = words(&document.text());
        of.n_words += found.values().sum::<usize>();
        if let Some(expected) = pairs.get(path).and_then(|rest| rest.split('\t').next()) {
            let expected = std::fs::read(folder.join(expected))?;
            let expected = words(&without_marks(&String::from_utf8_lossy(&expected)));
            let overlap = overlap(&expected, &found);
            of.n_pairs += 1;
            of.recall += overlap.recall;
            of.precision += overlap.precision;
            worst.push((overlap.recall + overlap.precision, format!("{path}: {overlap:.3?}")));
        }
        if !is_flagged && document.outcome != ReadOutcome::Indexed {
            let reason = document.reason.unwrap_or_default();
            without_text.push(format!("{} {path}: {reason}", document.outcome));
        }
    }
    for is_flagged in [false, true] {
        println!("\n{} files:", if is_flagged { "flagged" } else { "unflagged" });
        for ((_, outcome), count) in outcomes.iter().filter(|((flag, _), _)| *flag == is_flagged) {
            println!("  {count:5} {outcome}");
        }
    }
    println!(
        "\n| format | files | words | MB/s | pairs | recall | precision |\n|---|---|---|---|---|---|---|"
    );
    let mut all = OfFormat::default();
    for (format, of) in &formats {
        let speed = of.n_bytes as f64 / 1e6 / of.time.as_secs_f64().max(1e-9);
        let pairs = of.n_pairs.max(1) as f64;
        println!(
            "| {format} | {} | {} | {speed:.1} | {} | {:.3} | {:.3} |",
            of.n_files,
            of.n_words,
            of.n_pairs,
            of.recall / pairs,
            of.precision / pairs
        );
        all.n_files += of.n_files;
        all.n_words += of.n_words;
        all.n_pairs += of.n_pairs;
        all.recall += of.recall;
        all.precision += of.precision;
        all.time += of.time;
    }
    println!(
        "all: {} files, {} words, {:.1} s, recall {:.4}, precision {:.4}",
        all.n_files,
        all.n_words,
        all.time.as_secs_f64(),
        all.recall / all.n_pairs.max(1) as f64,
        all.precision / all.n_pairs.max(1) as f64
    );
    worst.sort_by(|one, other| one.0.total_cmp(&other.0));
    worst.iter().take(10).for_each(|(_, line)| println!("worst: {line}"));
    without_text.sort();
    without_text.iter().for_each(|line| println!("without text: {line}"));
    Ok(())
}
