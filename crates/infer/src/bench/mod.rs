//! The figures of this crate: `dowse bench infer`.
//!
//! Another engine ([`Peer`]) can be measured on the same weights and the same token ids in one
//! run: our vectors, then theirs, then ours again, the best of each.

mod peer;
mod sentences;
mod waiting;

use std::path::Path;
use std::time::{Duration, Instant};

use model::{Deadline, Report};

pub use self::peer::{BenchRequest, Outcome, Peer, PeerFigures};
use self::sentences::{LANGUAGES, SENTENCES};
use crate::local::E5Embedder;
use crate::models::{CONTAINER_FILE, DEFAULT_EMBEDDER, folder_of, read_manifest};
use crate::{Embedder, EmbedderId, Result};

/// How long the whole run may take.
const MAX_RUN: Duration = Duration::from_secs(3600);
/// How long the other side may take; on a busy machine it is left out rather than waited for.
const MAX_PEER: Duration = Duration::from_secs(900);
/// Lengths that are measured, with the number of texts: about the same number of tokens each.
const BATCHES: [(usize, usize); 4] = [(16, 128), (32, 64), (128, 16), (512, 4)];
/// How often each measurement is repeated; the best counts.
const REPEATS: usize = 3;
/// How often a warm query is timed.
const N_QUERIES: usize = 51;

/// Measures the default model in this model folder, beside another engine where one is given.
///
/// Fails when the model is not there.
pub fn run(models_dir: &Path, peer: Option<&dyn Peer>) -> Result<Report> {
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
    speed(&mut report, &embedder, &container, peer, &deadline)?;
    Ok(report)
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

fn speed(
    report: &mut Report,
    embedder: &E5Embedder,
    container: &Path,
    peer: Option<&dyn Peer>,
    deadline: &Deadline,
) -> Result<()> {
    let asked = BenchRequest {
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        repeats: REPEATS,
        texts: hundred_texts(embedder),
        batches: BATCHES
            .iter()
            .map(|(length, n_texts)| {
                (length.to_string(), exact_lengths(embedder, *length, *n_texts))
            })
            .collect(),
    };
    let mut ours = vec![f64::INFINITY; BATCHES.len()];
    time_ours(embedder, &asked, &mut ours, deadline)?;
    let outcome = match peer {
        Some(peer) => Some(peer.run(container, &asked, &Deadline::after(MAX_PEER))?),
        None => None,
    };
    time_ours(embedder, &asked, &mut ours, deadline)?;
    for (batch_idx, (length, n_texts)) in BATCHES.iter().enumerate() {
        let rate = *n_texts as f64 / ours[batch_idx];
        report.add_noted(
            format!("{length} tokens, dowse"),
            rate,
            "sentences/s",
            format!("{}, {} threads", embedder.kernels_name(), asked.threads),
        );
        let Some(Outcome::Answered(peers)) = &outcome else { continue };
        for peer in peers {
            for (name, seconds) in [("f32", &peer.f32), ("int8", &peer.int8)] {
                let Some(seconds) = seconds.get(&length.to_string()) else { continue };
                let theirs = *n_texts as f64 / seconds;
                report.add_noted(
                    format!("{length} tokens, {} {name}", peer.engine),
                    theirs,
                    "sentences/s",
                    format!("{}, dowse is {:.2} times as fast", peer.version, rate / theirs),
                );
            }
        }
    }
    match &outcome {
        Some(Outcome::Answered(peers)) => {
            let vectors = embedder.embed_ids(&asked.texts, deadline)?;
            let Some(reference) = peers.first() else { return Ok(()) };
            closeness(report, "cosine with f32", &vectors, &reference.vectors);
            for peer in peers {
                let name = format!("cosine of {} int8 with f32", peer.engine);
                closeness(report, &name, &peer.int8_vectors, &reference.vectors);
            }
        }
        Some(Outcome::Skipped { why }) => {
            report.add_noted("another engine", 0.0, "skipped", why.clone());
        }
        None => {}
    }
    Ok(())
}

fn time_ours(
    embedder: &E5Embedder,
    asked: &BenchRequest,
    best: &mut [f64],
    deadline: &Deadline,
) -> Result<()> {
    for (batch_idx, (_, texts)) in asked.batches.iter().enumerate() {
        for _ in 0..REPEATS {
            let start = Instant::now();
            embedder.embed_ids(texts, deadline)?;
            best[batch_idx] = best[batch_idx].min(start.elapsed().as_secs_f64());
        }
    }
    Ok(())
}

fn closeness(report: &mut Report, name: &str, ours: &[Vec<f32>], theirs: &[Vec<f32>]) {
    if ours.is_empty() || ours.len() != theirs.len() {
        return;
    }
    let cosines: Vec<f64> = ours.iter().zip(theirs).map(|(one, other)| dot(one, other)).collect();
    let lowest = cosines.iter().copied().fold(1.0, f64::min);
    let mean = cosines.iter().sum::<f64>() / cosines.len() as f64;
    let note = format!("{} texts in four languages", cosines.len());
    report.add_noted(format!("{name}, lowest"), lowest, "ratio", note.clone());
    report.add_noted(format!("{name}, mean"), mean, "ratio", note);
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
