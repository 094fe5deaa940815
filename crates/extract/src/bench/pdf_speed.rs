//! The speed of reading PDF beside `pdftotext`, where that is installed.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use fs_err as fs;
use model::{Figure, Report};

use crate::error::{Error, Result};
use crate::{Caps, extract};

/// Reads every PDF of the manifest once with each; empty when `pdftotext` is not there.
///
/// One of ours is a call, one of theirs a process, as each is used; so their time without its
/// start is given too, measured on the smallest file.
pub(super) fn against_pdftotext(folder: &Path, manifest: &str) -> Result<Vec<Figure>> {
    let mut report = Report::new("pdf");
    let mut paths: Vec<&str> = manifest
        .lines()
        .skip(1)
        .filter_map(|line| line.split('\t').next())
        .filter(|path| path.ends_with(".pdf"))
        .collect();
    paths.sort_by_key(|path| fs::metadata(folder.join(path)).map_or(0, |data| data.len()));
    let Some(smallest) = paths.first() else { return Ok(report.figures) };
    let Some(start) = (0..5).filter_map(|_| pdftotext(&folder.join(smallest))).min() else {
        return Ok(report.figures);
    };
    let (mut ours, mut theirs, mut n_bytes) = (Duration::ZERO, Duration::ZERO, 0_u64);
    for path in &paths {
        let path = folder.join(path);
        let started = Instant::now();
        let bytes = fs::read(&path).map_err(|source| Error::Read { source })?;
        n_bytes += bytes.len() as u64;
        let (extracted, _) = extract(&bytes, "a.pdf", &Caps::standard());
        std::hint::black_box(extracted.text());
        ours += started.elapsed();
        theirs += pdftotext(&path).unwrap_or_default();
    }
    let without_start = theirs.saturating_sub(start * u32::try_from(paths.len()).unwrap_or(1));
    let note = format!("{} files, {:.1} MB", paths.len(), n_bytes as f64 / 1e6);
    let speed = |time: Duration| n_bytes as f64 / 1e6 / time.as_secs_f64().max(1e-9);
    report.add_noted("pdf in this process", speed(ours), "MB/s", note.clone());
    report.add_noted("pdftotext, one process each", speed(theirs), "MB/s", note);
    let ratio = |time: Duration| ours.as_secs_f64() / time.as_secs_f64().max(1e-9);
    report.add("pdf time / pdftotext time", ratio(theirs), "ratio");
    report.add("pdf time / pdftotext time without its start", ratio(without_start), "ratio");
    Ok(report.figures)
}

fn pdftotext(path: &Path) -> Option<Duration> {
    let started = Instant::now();
    let status = Command::new("pdftotext")
        .arg(path)
        .arg("-")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.ok().map(|_| started.elapsed())
}
