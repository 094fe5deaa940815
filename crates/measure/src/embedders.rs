//! The default embedder beside other engines that run the same weights: `measure infer`.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use infer::bench::{Measured, run_beside};
use model::{Deadline, Report};

use crate::onnxruntime;

/// How long the other side may take; on a busy machine it is left out rather than waited for.
const MAX_OTHERS: Duration = Duration::from_secs(900);

/// What another engine found.
pub(crate) struct EngineFigures {
    pub(crate) engine: String,
    pub(crate) version: String,
    /// The vectors of the texts, in full precision.
    pub(crate) vectors: Vec<Vec<f32>>,
    /// Seconds for each batch, by its name, in full precision.
    pub(crate) f32: BTreeMap<String, f64>,
    /// The same with eight bits; empty where it cannot.
    pub(crate) int8: BTreeMap<String, f64>,
    pub(crate) int8_vectors: Vec<Vec<f32>>,
}

/// How the other engines fared.
pub(crate) enum Outcome {
    /// The first one's vectors are the reference.
    Answered(Vec<EngineFigures>),
    Skipped {
        why: String,
    },
}

/// Measures all of them in one run.
pub(crate) fn run(models: &Path) -> anyhow::Result<Report> {
    let mut batches = Vec::new();
    let (mut report, measured, outcome) = run_beside(models, |container, asked| {
        batches = asked.batches.iter().map(|(name, texts)| (name.clone(), texts.len())).collect();
        Ok(onnxruntime::run(container, asked, &Deadline::after(MAX_OTHERS))?)
    })?;
    match outcome {
        Outcome::Answered(engines) => compare(&mut report, &batches, &measured, &engines),
        Outcome::Skipped { why } => report.add_noted("another engine", 0.0, "skipped", why),
    }
    Ok(report)
}

fn compare(
    report: &mut Report,
    batches: &[(String, usize)],
    measured: &Measured,
    engines: &[EngineFigures],
) {
    for ((length, n_texts), rate) in batches.iter().zip(&measured.rates) {
        for engine in engines {
            for (name, seconds) in [("f32", &engine.f32), ("int8", &engine.int8)] {
                let Some(seconds) = seconds.get(length) else { continue };
                let theirs = *n_texts as f64 / seconds;
                report.add_noted(
                    format!("{length} tokens, {} {name}", engine.engine),
                    theirs,
                    "sentences/s",
                    format!("{}, dowse is {:.2} times as fast", engine.version, rate / theirs),
                );
            }
        }
    }
    let Some(reference) = engines.first() else { return };
    closeness(report, "cosine with f32", &measured.vectors, &reference.vectors);
    for engine in engines {
        let name = format!("cosine of {} int8 with f32", engine.engine);
        closeness(report, &name, &engine.int8_vectors, &reference.vectors);
    }
}

fn closeness(report: &mut Report, name: &str, ours: &[Vec<f32>], theirs: &[Vec<f32>]) {
    if ours.is_empty() || ours.len() != theirs.len() {
        return;
    }
    let dot = |one: &[f32], other: &[f32]| -> f64 {
        one.iter().zip(other).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
    };
    let cosines: Vec<f64> = ours.iter().zip(theirs).map(|(one, other)| dot(one, other)).collect();
    let lowest = cosines.iter().copied().fold(1.0, f64::min);
    let mean = cosines.iter().sum::<f64>() / cosines.len() as f64;
    let note = format!("{} texts in four languages", cosines.len());
    report.add_noted(format!("{name}, lowest"), lowest, "ratio", note.clone());
    report.add_noted(format!("{name}, mean"), mean, "ratio", note);
}
