//! The run itself: write, search, open, at each size.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use model::{Clock, Deadline, NamespaceId, PassageId, Report};

use super::machine::{cpu_seconds, megabytes, percentiles};
use super::material::{BUCKET, DIMENSIONS, DOCUMENTS_PER_BATCH, Material, PASSAGES_PER_DOCUMENT};
use crate::{Bm25, Config, Filter, Manifest, Result, Store, VectorSpace, WordsQuery};

const VECTORS_PER_BATCH: usize = 5_000;
const N_CANDIDATES: usize = 100;
/// Questions whose nearest vectors are compared with an exact scan.
const N_RECALL_QUESTIONS: usize = 10;

/// What is measured.
#[derive(Debug, Clone)]
pub struct BenchConfig {
    /// A folder for the data, empty or not there yet; what is written stays.
    pub folder: PathBuf,
    /// How many passages, for each measurement.
    pub sizes: Vec<usize>,
    /// A corpus in BEIR's layout to take sentences from; nothing makes text up.
    pub corpus: Option<PathBuf>,
    /// Vectors of real sentences, 384 numbers each; none makes vectors up.
    pub vectors: Vec<Vec<f32>>,
    /// Questions for each figure.
    pub n_questions: usize,
    /// Gives the time of the rows that are written.
    pub clock: Clock,
}

/// Measures another engine on the material: gets the report, the material, a folder and the number
/// of passages.
pub type Beside<'a> = dyn Fn(&mut Report, &Material, &Path, usize) -> std::io::Result<()> + 'a;

/// Measures the store at every size.
///
/// # Errors
///
/// When the folder cannot be written or the corpus cannot be read.
pub fn run(config: &BenchConfig) -> Result<Report> {
    run_beside(config, &|_, _, _, _| Ok(()))
}

/// Measures the store at every size, and another engine after it each time.
///
/// # Errors
///
/// As [`run`], and whatever the other engine fails with.
pub fn run_beside(config: &BenchConfig, beside: &Beside<'_>) -> Result<Report> {
    let mut report = Report::new("store");
    let material = Material::new(config.corpus.as_deref(), &config.vectors)?;
    for n_passages in &config.sizes {
        measure(&mut report, config, &material, *n_passages)?;
        let folder = config.folder.join(format!("{n_passages}"));
        beside(&mut report, &material, &folder, *n_passages)?;
    }
    Ok(report)
}

fn measure(
    report: &mut Report,
    config: &BenchConfig,
    material: &Material,
    n_passages: usize,
) -> Result<()> {
    let folder = config.folder.join(format!("{n_passages}"));
    let at = |name: &str| format!("{name}, {n_passages} passages");
    let namespace = NamespaceId::new("bench");
    let bounds = Config::for_one_machine();
    let store = Store::open(&folder, &bounds, config.clock.clone())?;
    let space = VectorSpace { embedder: "synthetic".to_owned(), dimensions: DIMENSIONS };
    store.create_namespace(&namespace, &Manifest::current(Some(space)))?;

    // Making the text is not the store's work, so its time is taken off.
    let n_documents = n_passages / PASSAGES_PER_DOCUMENT;
    let (mut wall, mut cpu) = (0.0, 0.0);
    for first in (0..n_documents).step_by(DOCUMENTS_PER_BATCH) {
        let batch: Vec<_> = (first..(first + DOCUMENTS_PER_BATCH).min(n_documents))
            .map(|number| material.document(number))
            .collect();
        let (begun, cpu_before) = (Instant::now(), cpu_seconds());
        store.upsert(&namespace, &batch)?;
        wall += begun.elapsed().as_secs_f64();
        cpu += cpu_seconds() - cpu_before;
    }
    let note = format!("{}; words only, commits of 16,000", material.description());
    report.add_noted(at("ingest words"), n_passages as f64 / wall, "passages/s", note);
    report.add_noted(
        at("ingest words on one core"),
        n_passages as f64 / cpu.max(0.01),
        "passages/s",
        "by processor time of the whole process, merges included",
    );
    let mut wall = 0.0;
    for first in (0..n_passages).step_by(VECTORS_PER_BATCH) {
        let batch: Vec<_> = (first..(first + VECTORS_PER_BATCH).min(n_passages))
            .map(|number| (passage_id(number), material.vector(number as u64)))
            .collect();
        let begun = Instant::now();
        store.set_vectors(&namespace, &batch)?;
        wall += begun.elapsed().as_secs_f64();
    }
    report.add(at("set vectors"), n_passages as f64 / wall, "vectors/s");
    store.maintain()?;
    drop(store);

    let begun = Instant::now();
    let store = Store::open(&folder, &bounds, config.clock.clone())?;
    store.term_statistics(&namespace, &[])?;
    report.add(at("open"), begun.elapsed().as_secs_f64() * 1000.0, "ms");
    search(report, config, material, &store, n_passages)?;
    report.add_noted(
        at("memory"),
        megabytes("VmRSS"),
        "MB",
        format!("resident with mapped files; {:.0} MB of it not mapped", megabytes("RssAnon")),
    );
    Ok(())
}

fn search(
    report: &mut Report,
    config: &BenchConfig,
    material: &Material,
    store: &Store,
    n_passages: usize,
) -> Result<()> {
    let namespace = NamespaceId::new("bench");
    let at = |name: &str| format!("{name}, {n_passages} passages");
    let deadline = || Deadline::after(Duration::from_secs(60));
    let filters = [
        ("", Filter::All, Filter::All),
        (" with 1 % filter", Filter::equals(BUCKET, "b7"), Filter::equals(BUCKET, "b8")),
    ];
    for (name, filter, other) in &filters {
        // Filters alternate, so that their result is not always the one kept from before.
        let filter_of = |question_idx: usize| match question_idx.is_multiple_of(2) {
            true => filter,
            false => other,
        };
        let query = |question_idx: usize| {
            WordsQuery::from_text(&material.question(question_idx), Bm25::PASSAGES, 1.0, 0.2)
        };
        let vector = |question_idx: usize| material.vector((1 << 40) + question_idx as u64);
        for question_idx in 0..3 {
            store.by_words(&namespace, &query(question_idx), filter, N_CANDIDATES, &deadline())?;
            store.by_vector(
                &namespace,
                &vector(question_idx),
                filter,
                N_CANDIDATES,
                &deadline(),
            )?;
        }
        let (p50, p99) = percentiles(config.n_questions, |idx| {
            let filter = filter_of(idx);
            store.by_words(&namespace, &query(idx), filter, N_CANDIDATES, &deadline()).map(|_| ())
        })?;
        report.add(at(&format!("by words{name}")), p50, "ms p50");
        report.add(at(&format!("by words{name}")), p99, "ms p99");
        let questions: Vec<_> = (0..config.n_questions).map(vector).collect();
        let (p50, p99) = percentiles(config.n_questions, |idx| {
            let (question, filter) = (&questions[idx], filter_of(idx));
            store.by_vector(&namespace, question, filter, N_CANDIDATES, &deadline()).map(|_| ())
        })?;
        report.add(at(&format!("by vector{name}")), p50, "ms p50");
        report.add(at(&format!("by vector{name}")), p99, "ms p99");
    }
    let recall = recall(store, material, &namespace, n_passages)?;
    report.add_noted(
        at("recall of the nearest 100"),
        recall,
        "ratio",
        format!("against an exact scan in full precision, {N_RECALL_QUESTIONS} questions"),
    );
    Ok(())
}

fn recall(
    store: &Store,
    material: &Material,
    namespace: &NamespaceId,
    n_passages: usize,
) -> Result<f64> {
    let questions: Vec<Vec<f32>> =
        (0..N_RECALL_QUESTIONS).map(|number| material.vector((1 << 41) + number as u64)).collect();
    let mut exact: Vec<Vec<(f32, usize)>> = vec![vec![]; questions.len()];
    for number in 0..n_passages {
        let vector = material.vector(number as u64);
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        for (question, best) in questions.iter().zip(&mut exact) {
            let dot: f32 = question.iter().zip(&vector).map(|(a, b)| a * b).sum();
            best.push((dot / length, number));
            if best.len() >= 20 * N_CANDIDATES {
                keep_best(best);
            }
        }
    }
    let (mut n_found, mut n_wanted) = (0, 0);
    for (question, mut best) in questions.iter().zip(exact) {
        keep_best(&mut best);
        let wanted: std::collections::HashSet<PassageId> =
            best.iter().map(|(_, number)| passage_id(*number)).collect();
        let deadline = Deadline::after(Duration::from_secs(60));
        let found = store.by_vector(namespace, question, &Filter::All, N_CANDIDATES, &deadline)?;
        n_wanted += wanted.len();
        n_found += found.hits.iter().filter(|hit| wanted.contains(&hit.passage)).count();
    }
    Ok(n_found as f64 / n_wanted.max(1) as f64)
}

fn keep_best(best: &mut Vec<(f32, usize)>) {
    best.sort_by(|left, right| right.0.total_cmp(&left.0));
    best.truncate(N_CANDIDATES);
}

fn passage_id(number: usize) -> PassageId {
    let (document, ordinal) = (number / PASSAGES_PER_DOCUMENT, number % PASSAGES_PER_DOCUMENT);
    PassageId::new(format!("docs/{document:07}.txt#{ordinal}"))
}
