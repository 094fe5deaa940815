//! The figures of this crate: `dowse bench infer`.
//!
//! Whoever measures other engines beside it does so in the middle ([`run_beside`]), on the same
//! weights and the same token ids: our batches, then theirs, then ours again, the best of each.

mod pieces;
mod sentences;
mod waiting;

use std::path::Path;
use std::time::{Duration, Instant};

use model::{Deadline, Report};

pub use self::pieces::{Pieces, pieces};

use self::sentences::{LANGUAGES, SENTENCES};
use crate::local::E5Embedder;
use crate::models::{CONTAINER_FILE, DEFAULT_EMBEDDER, folder_of, read_manifest};
use crate::{Embedder, EmbedderId, Result};

/// How long the whole run may take.
const MAX_RUN: Duration = Duration::from_secs(3600);
/// Lengths that are measured, with the number of texts: about the same number of tokens each.
const BATCHES: [(usize, usize); 4] = [(16, 128), (32, 64), (128, 16), (512, 4)];
/// How often each measurement is repeated; the best counts.
const REPEATS: usize = 3;
/// How often a warm query is timed.
const N_QUERIES: usize = 51;

/// What is measured, for other engines too.
#[derive(Debug)]
pub struct Batches {
    /// Threads that are used.
    pub threads: usize,
    /// How often each batch is timed.
    pub repeats: usize,
    /// Token ids of texts whose vectors are compared.
    pub texts: Vec<Vec<u32>>,
    /// Batches that are timed, by the number of tokens of each of their texts.
    pub batches: Vec<(String, Vec<Vec<u32>>)>,
}

/// What was found of the batches.
#[derive(Debug)]
pub struct Measured {
    /// Texts a second, in the order of the batches.
    pub rates: Vec<f64>,
    /// The vectors of the texts.
    pub vectors: Vec<Vec<f32>>,
}

/// Measures the default model in this model folder.
///
/// Fails when the model is not there.
pub fn run(models_dir: &Path) -> Result<Report> {
    Ok(run_beside(models_dir, |_, _| Ok(()))?.0)
}

/// Measures the default model, and something else between two rounds of its batches; that is given
/// the container of the model.
///
/// Fails when the model is not there, and when `beside` does.
pub fn run_beside<T>(
    models_dir: &Path,
    beside: impl FnOnce(&Path, &Batches) -> Result<T>,
) -> Result<(Report, Measured, T)> {
    let deadline = Deadline::after(MAX_RUN);
    let mut report = Report::new("infer");
    let folder = folder_of(models_dir, DEFAULT_EMBEDDER);
    let manifest = read_manifest(&folder)?;
    let container = folder.join(CONTAINER_FILE);
    let memory_before = resident_bytes();
    let start = Instant::now();
    let embedder = E5Embedder::open(&container, EmbedderId::new(manifest.name, manifest.version))?;
    let loaded = start.elapsed();
    embedder.embed_query("what is the time to the first vector", &deadline)?;
    let first = start.elapsed();
    report.add_noted("load", millis(loaded), "ms", embedder.kernels_name());
    report.add_noted("first query vector", millis(first), "ms", "from opening the file");
    let queries = warm_queries(&embedder, &deadline)?;
    report.add("warm query", queries[N_QUERIES / 2], "ms p50");
    report.add_noted("warm query, best", queries[0], "ms", "what other work on the machine hides");
    memory(&mut report, &embedder, memory_before);
    precision(&mut report, &embedder, &deadline)?;
    waiting::measure(&mut report, &embedder, &deadline)?;
    let batches = batches_of(&embedder);
    let mut best = vec![f64::INFINITY; BATCHES.len()];
    time(&embedder, &batches, &mut best, &deadline)?;
    let other = beside(&container, &batches)?;
    time(&embedder, &batches, &mut best, &deadline)?;
    let mut rates = Vec::new();
    for ((length, n_texts), seconds) in BATCHES.iter().zip(best) {
        let rate = *n_texts as f64 / seconds;
        let note = format!("{}, {} threads", embedder.kernels_name(), batches.threads);
        report.add_noted(format!("{length} tokens, dowse"), rate, "sentences/s", note);
        rates.push(rate);
    }
    let vectors = embedder.embed_ids(&batches.texts, &deadline)?;
    Ok((report, Measured { rates, vectors }, other))
}

/// Times queries of a loaded model, the fastest first.
fn warm_queries(embedder: &E5Embedder, deadline: &Deadline) -> Result<Vec<f64>> {
    let mut times = Vec::with_capacity(N_QUERIES);
    for query_idx in 0..N_QUERIES {
        let query = SENTENCES[query_idx % SENTENCES.len()].question;
        let start = Instant::now();
        embedder.embed_query(query, deadline)?;
        times.push(millis(start.elapsed()));
    }
    times.sort_by(f64::total_cmp);
    Ok(times)
}

fn memory(report: &mut Report, embedder: &E5Embedder, before: Option<u64>) {
    report.add("packed weights", embedder.n_packed_bytes() as f64 / 1e6, "MB");
    if let (Some(before), Some(now)) = (before, resident_bytes()) {
        let grown = now.saturating_sub(before) as f64 / 1e6;
        report.add_noted("memory of the loaded model", grown, "MB", "growth of the resident set");
    }
}

/// Measures how often the nearest sentence of a language is the right one: for an English sentence
/// its translation, and, harder, for an English question its answer.
fn precision(report: &mut Report, embedder: &E5Embedder, deadline: &Deadline) -> Result<()> {
    let english = |sentence: &sentences::Sentence| sentence.answers[0];
    let question = |sentence: &sentences::Sentence| sentence.question;
    let pairs = embed_queries(embedder, english, deadline)?;
    let questions = embed_queries(embedder, question, deadline)?;
    for (language_idx, language) in LANGUAGES.iter().enumerate() {
        let answers: Vec<&str> =
            SENTENCES.iter().map(|sentence| sentence.answers[language_idx]).collect();
        let answers = embedder.embed_passages(&answers, deadline)?;
        for (kind, queries) in [("sentence", &pairs), ("question", &questions)] {
            let n_right = count_right(queries, &answers);
            let share = n_right as f64 / queries.len() as f64;
            let note = format!("{n_right} of {}", queries.len());
            report.add_noted(format!("P@1 en {kind} → {language}"), share, "ratio", note);
        }
    }
    Ok(())
}

fn embed_queries(
    embedder: &E5Embedder,
    text: impl Fn(&sentences::Sentence) -> &'static str,
    deadline: &Deadline,
) -> Result<Vec<Vec<f32>>> {
    SENTENCES.iter().map(|sentence| embedder.embed_query(text(sentence), deadline)).collect()
}

/// Counts the queries whose nearest answer is their own.
fn count_right(queries: &[Vec<f32>], answers: &[Vec<f32>]) -> usize {
    let nearest = |query: &[f32]| {
        (0..answers.len()).max_by(|one, other| {
            dot(query, &answers[*one]).total_cmp(&dot(query, &answers[*other]))
        })
    };
    let is_right = |(query_idx, query): &(usize, &Vec<f32>)| nearest(query) == Some(*query_idx);
    queries.iter().enumerate().filter(is_right).count()
}

fn batches_of(embedder: &E5Embedder) -> Batches {
    let batch = |(length, n_texts): &(usize, usize)| {
        (length.to_string(), exact_lengths(embedder, *length, *n_texts))
    };
    Batches {
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        repeats: REPEATS,
        texts: hundred_texts(embedder),
        batches: BATCHES.iter().map(batch).collect(),
    }
}

fn time(
    embedder: &E5Embedder,
    batches: &Batches,
    best: &mut [f64],
    deadline: &Deadline,
) -> Result<()> {
    for (batch_idx, (_, texts)) in batches.batches.iter().enumerate() {
        for _ in 0..REPEATS {
            let start = Instant::now();
            embedder.embed_ids(texts, deadline)?;
            best[batch_idx] = best[batch_idx].min(start.elapsed().as_secs_f64());
        }
    }
    Ok(())
}

/// Gives the tokens of all questions and answers.
fn hundred_texts(embedder: &E5Embedder) -> Vec<Vec<u32>> {
    let questions = SENTENCES.iter().map(|sentence| embedder.query_ids(sentence.question));
    let answers = SENTENCES.iter().flat_map(|sentence| sentence.answers);
    questions.chain(answers.map(|answer| embedder.passage_ids(answer))).collect()
}

/// Makes texts of an exact number of tokens, by stringing answers together.
fn exact_lengths(embedder: &E5Embedder, length: usize, n_texts: usize) -> Vec<Vec<u32>> {
    let stock: Vec<u32> = SENTENCES
        .iter()
        .flat_map(|sentence| sentence.answers)
        .flat_map(|answer| {
            let ids = embedder.passage_ids(answer);
            ids[1..ids.len() - 1].to_vec()
        })
        .collect();
    let ends = embedder.passage_ids("");
    let mut stock = stock.into_iter().cycle();
    (0..n_texts)
        .map(|_| {
            let mut ids = vec![ends[0]];
            ids.extend(stock.by_ref().take(length - 2));
            ids.extend(ends.last());
            ids
        })
        .collect()
}

fn dot(one: &[f32], other: &[f32]) -> f64 {
    one.iter().zip(other).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

/// Reads how much memory this process holds, where the system tells.
fn resident_bytes() -> Option<u64> {
    let text = fs_err::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes * 1024)
}
