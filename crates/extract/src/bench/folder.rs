//! Every file of a folder through the pool: whether it ends, whether it gives text, how fast.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use fs_err as fs;
use model::Report;

use crate::bench::expected::expected_text;
use crate::bench::pdf_speed;
use crate::error::{Error, Result};
use crate::{Caps, Format, Pool};

#[derive(Default)]
struct OfFormat {
    n_files: usize,
    n_with_text: usize,
    n_bytes: u64,
    time: Duration,
}

/// Reads every file that the folder's manifest names, and scores the expected texts.
///
/// # Errors
///
/// When the manifest or a file of it cannot be read.
pub fn run(folder: &Path, pool: &Pool) -> Result<Report> {
    let mut report = Report::new("extract");
    let manifest =
        fs::read_to_string(folder.join("manifest.tsv")).map_err(|source| Error::Read { source })?;
    let caps = Caps::standard();
    let mut by_format: BTreeMap<Format, OfFormat> = BTreeMap::new();
    let mut by_warning: BTreeMap<String, usize> = BTreeMap::new();
    let mut without_text: Vec<String> = Vec::new();
    let (mut n_files, mut n_ended, mut n_unflagged, mut n_unflagged_with_text) = (0, 0, 0, 0);
    let mut slowest = (Duration::ZERO, String::new());
    for line in manifest.lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        let Some(path) = columns.first() else { continue };
        let is_flagged = columns.get(5).is_some_and(|flags| !flags.trim().is_empty());
        let bytes = fs::read(folder.join(path)).map_err(|source| Error::Read { source })?;
        let started = Instant::now();
        let (extracted, warnings) = pool.extract(&bytes, path, &caps);
        let time = started.elapsed();
        let has_text = !extracted.blocks.is_empty();
        n_files += 1;
        n_ended += usize::from(has_text || !warnings.is_empty());
        if !is_flagged {
            n_unflagged += 1;
            n_unflagged_with_text += usize::from(has_text);
            if !has_text {
                let codes: Vec<&str> =
                    warnings.iter().map(|warning| warning.code.as_str()).collect();
                without_text.push(format!("{path} ({})", codes.join(", ")));
            }
        }
        for warning in &warnings {
            *by_warning.entry(warning.code.clone()).or_default() += 1;
        }
        if time > slowest.0 {
            slowest = (time, (*path).to_owned());
        }
        let of_format = by_format.entry(extracted.format).or_default();
        of_format.n_files += 1;
        of_format.n_with_text += usize::from(has_text);
        of_format.n_bytes += bytes.len() as u64;
        of_format.time += time;
    }
    report.add("files", f64::from(n_files), "files");
    report.add("end in text or a named warning", ratio(n_ended, n_files as usize), "ratio");
    report.add_noted(
        "unflagged files with text",
        ratio(n_unflagged_with_text, n_unflagged),
        "ratio",
        format!("{n_unflagged_with_text} of {n_unflagged}"),
    );
    report.add_noted("slowest file", slowest.0.as_secs_f64() * 1e3, "ms", slowest.1);
    for (format, of) in &by_format {
        let megabytes = of.n_bytes as f64 / 1e6;
        report.add_noted(
            format!("{format} speed"),
            megabytes / of.time.as_secs_f64().max(1e-9),
            "MB/s",
            format!(
                "{} files, {} with text, {megabytes:.1} MB, through the pool",
                of.n_files, of.n_with_text
            ),
        );
    }
    for (code, count) in by_warning {
        report.add(format!("warning {code}"), count as f64, "files");
    }
    for path in without_text {
        report.add_noted("unflagged without text", 1.0, "files", path);
    }
    report.figures.extend(pdf_speed::against_pdftotext(folder, &manifest)?);
    report.figures.extend(expected_text(folder)?.figures);
    Ok(report)
}

fn ratio(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}
