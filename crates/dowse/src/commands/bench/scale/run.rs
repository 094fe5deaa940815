//! One size: fill both pairs, then ask both the same questions in turn.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use infer::Embedder;
use model::{Deadline, NamespaceId, PassageId, Report};
use retrieve::{Grouping, Pipeline, Request, Retriever, Scope};
use store::{Both, Candidates, Filter, Manifest, Store, VectorSpace, WordsQuery};

use super::corpus::{BUCKET, Corpus, PASSAGES_PER_DOCUMENT, passage_id};
use crate::print;

/// Documents written in one step: 4,000 passages.
const DOCUMENTS_PER_STEP: usize = 200;
/// Vectors written in one step.
const VECTORS_PER_STEP: usize = 4_000;
/// Candidates that a search asks each side for.
const N_CANDIDATES: usize = 500;
/// Depths at which recall is measured.
const DEPTHS: [usize; 2] = [100, N_CANDIDATES];
/// Questions whose recall is measured: the exact scan computes everything for each.
const N_RECALL: usize = 100;
/// How long one question may take.
const QUESTION_TIME: Duration = Duration::from_secs(60);
/// How long the words of a namespace may take until they are in memory.
const WORDS_LIMIT: Duration = Duration::from_secs(1_800);
/// How often that is looked at.
const LOOK_AGAIN: Duration = Duration::from_millis(200);
/// How many hits are asked for, as most callers do.
const N_HITS: usize = 10;
/// What the exact spelling counts beside the folded one, as in a search.
const EXACT_BOOST: f32 = 0.1;

/// A catalogue with an engine.
pub(super) struct Pair {
    pub(super) name: String,
    pub(super) store: Arc<Store>,
}

/// One size.
pub(super) struct Measurement<'a> {
    report: &'a mut Report,
    corpus: &'a Corpus,
    embedder: &'a Arc<dyn Embedder>,
    questions: &'a [String],
    n_passages: usize,
    namespace: NamespaceId,
}

impl<'a> Measurement<'a> {
    /// Prepares a size.
    pub(super) fn new(
        report: &'a mut Report,
        corpus: &'a Corpus,
        embedder: &'a Arc<dyn Embedder>,
        n_passages: usize,
        n_questions: usize,
    ) -> Self {
        let questions = &corpus.questions[..n_questions.min(corpus.questions.len())];
        let namespace = NamespaceId::new(format!("bench-scale-{n_passages}"));
        Measurement { report, corpus, embedder, questions, n_passages, namespace }
    }

    /// Adds a figure, and shows it at once: a run takes long.
    fn add(&mut self, name: &str, value: f64, unit: &str) {
        let name = format!("{name}, {} passages", self.n_passages);
        print::note(format!("{name}: {value:.3} {unit}"));
        self.report.add(name, value, unit);
    }

    /// Writes the passages, then their vectors, unless an earlier run did.
    pub(super) fn fill(&mut self, pair: &Pair) -> anyhow::Result<()> {
        let (store, namespace) = (&pair.store, &self.namespace.clone());
        let space = VectorSpace {
            embedder: self.embedder.id().to_string(),
            dimensions: self.embedder.dimensions(),
        };
        let n_passages = self.n_passages;
        // A namespace that is not there yet has nothing.
        let counts = store.counts(namespace).unwrap_or_default();
        if counts.n_passages == n_passages && counts.n_vectors == n_passages {
            print::note(format!("{} is filled", pair.name));
            return Ok(());
        }
        store.create_namespace(namespace, &Manifest::current(Some(space)))?;
        let n_documents = n_passages / PASSAGES_PER_DOCUMENT;
        let (mut wall, cpu) = (0.0, store::bench::cpu_seconds());
        for first in (0..n_documents).step_by(DOCUMENTS_PER_STEP) {
            let end = (first + DOCUMENTS_PER_STEP).min(n_documents);
            let step: Vec<_> = (first..end).map(|number| self.corpus.document(number)).collect();
            let begun = Instant::now();
            store.upsert(namespace, &step)?;
            wall += begun.elapsed().as_secs_f64();
            if first % (25 * DOCUMENTS_PER_STEP) == 0 {
                let n_done = end * PASSAGES_PER_DOCUMENT;
                print::note(format!("{}: {n_done} passages in {wall:.0} s", pair.name));
            }
        }
        self.add(&format!("{}, words", pair.name), n_passages as f64 / wall, "passages/s");
        // Token bits are read for the last candidates only, and fill the disk: where all vectors
        // are real, they are.
        let has_blobs = n_passages <= self.corpus.n_real();
        let mut wall = 0.0;
        for first in (0..n_passages).step_by(VECTORS_PER_STEP) {
            let step = first..(first + VECTORS_PER_STEP).min(n_passages);
            let vectors: Vec<_> =
                step.clone().map(|at| (passage_id(at), self.corpus.vector(at))).collect();
            let blobs: Vec<_> = match has_blobs {
                true => step.map(|at| (passage_id(at), self.corpus.blob(at))).collect(),
                false => vec![],
            };
            let begun = Instant::now();
            store.set_blobs(namespace, &blobs)?;
            store.set_vectors(namespace, &vectors)?;
            wall += begun.elapsed().as_secs_f64();
            if first % (25 * VECTORS_PER_STEP) == 0 {
                print::note(format!("{}: {first} vectors in {wall:.0} s", pair.name));
            }
        }
        self.add(&format!("{}, vectors", pair.name), n_passages as f64 / wall, "vectors/s");
        let cpu = store::bench::cpu_seconds() - cpu;
        self.add(&format!("{}, both, our processor time", pair.name), cpu, "s");
        store.maintain()?;
        Ok(())
    }

    /// Waits until a pair that keeps the words of such a namespace in memory has them, as it has
    /// after the first searches; says how long that took.
    pub(super) fn wait_for_words(&mut self, pair: &Pair) -> anyhow::Result<()> {
        let is_kept = self.n_passages <= store_qdrant::MAX_PASSAGES_IN_MEMORY;
        if pair.store.engine().info().name != "qdrant" || !is_kept {
            return Ok(());
        }
        let query = words_query("words");
        let begun = Instant::now();
        while !pair.store.has_words_here([&self.namespace]) {
            if begun.elapsed() > WORDS_LIMIT {
                let seconds = WORDS_LIMIT.as_secs();
                print::note(format!("{}: no words in memory after {seconds} s", pair.name));
                return Ok(());
            }
            pair.store.by_words(&self.namespace, &query, &Filter::All, 1, &deadline())?;
            std::thread::sleep(LOOK_AGAIN);
        }
        self.add(&format!("{}, words into memory", pair.name), begun.elapsed().as_secs_f64(), "s");
        Ok(())
    }

    /// Compares the nearest of each pair with an exact scan, and the best by words of the second
    /// with those of the first, whose scan of the lists is exact.
    pub(super) fn recall(&mut self, pairs: &[Pair; 2]) -> anyhow::Result<()> {
        let questions = &self.questions[..N_RECALL.min(self.questions.len())];
        let mut vectors = vec![];
        for question in questions {
            vectors.push(self.embedder.embed_query(question, &deadline())?);
        }
        let exact = self.exact_scan(&vectors);
        for pair in pairs {
            for depth in DEPTHS {
                let (mut n_found, mut n_wanted) = (0, 0);
                for (vector, exact) in vectors.iter().zip(&exact) {
                    let wanted: HashSet<&PassageId> =
                        exact[..depth.min(exact.len())].iter().collect();
                    let found = pair.store.by_vector(
                        &self.namespace,
                        vector,
                        &Filter::All,
                        depth,
                        &deadline(),
                    )?;
                    n_wanted += wanted.len();
                    n_found +=
                        found.hits.iter().filter(|hit| wanted.contains(&hit.passage)).count();
                }
                let recall = n_found as f64 / n_wanted.max(1) as f64;
                self.add(&format!("{}, recall of the nearest {depth}", pair.name), recall, "ratio");
            }
        }
        for depth in DEPTHS {
            let (mut n_found, mut n_wanted, mut most_off) = (0, 0, 0.0_f32);
            for question in questions {
                let query = words_query(question);
                let [one, other] = [&pairs[0], &pairs[1]].map(|pair| {
                    pair.store.by_words(&self.namespace, &query, &Filter::All, depth, &deadline())
                });
                let (one, other) = (one?, other?);
                // Of equal scores at the end either engine may give any.
                let last = one.hits.last().map_or(0.0, |hit| hit.score);
                n_wanted += one.hits.len();
                n_found += other.hits.iter().filter(|hit| hit.score >= last - 1e-4).count();
                most_off = most_off.max(difference(&one, &other));
            }
            let recall = n_found as f64 / n_wanted.max(1) as f64;
            let name = format!("{}, recall of the best {depth} by words", pairs[1].name);
            self.add(&name, recall, "ratio");
            self.add(&format!("{name}, largest difference of a score"), f64::from(most_off), "");
        }
        Ok(())
    }

    /// Compares every vector with every question in full precision.
    fn exact_scan(&self, questions: &[Vec<f32>]) -> Vec<Vec<PassageId>> {
        let mut best: Vec<Vec<(f32, usize)>> = vec![vec![]; questions.len()];
        for number in 0..self.n_passages {
            let vector = self.corpus.vector(number);
            let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
            for (question, best) in questions.iter().zip(&mut best) {
                let dot: f32 = question.iter().zip(&vector).map(|(a, b)| a * b).sum();
                best.push((dot / length, number));
                if best.len() >= 20 * N_CANDIDATES {
                    keep_best(best);
                }
            }
        }
        best.into_iter()
            .map(|mut best| {
                keep_best(&mut best);
                best.into_iter().map(|(_, number)| passage_id(number)).collect()
            })
            .collect()
    }

    /// Times the candidates of both sides, without the model: what the engines themselves take.
    pub(super) fn candidates(&mut self, pairs: &[Pair; 2]) -> anyhow::Result<()> {
        let questions = self.questions;
        let mut vectors = vec![];
        for question in questions {
            vectors.push(self.embedder.embed_query(question, &deadline())?);
        }
        let filters = [("", Filter::All), (" with 1 % filter", Filter::equals(BUCKET, "b7"))];
        for (name, filter) in &filters {
            let mut times = [vec![], vec![]];
            for (at, (question, vector)) in questions.iter().zip(&vectors).enumerate() {
                let query = words_query(question);
                let both = Both {
                    query: &query,
                    vector,
                    filter,
                    n_by_words: N_CANDIDATES,
                    n_by_vector: N_CANDIDATES,
                };
                for pair_idx in in_turn(at) {
                    let begun = Instant::now();
                    let (words, near) =
                        pairs[pair_idx].store.by_both(&self.namespace, &both, &deadline());
                    times[pair_idx].push(begun.elapsed().as_secs_f64() * 1000.0);
                    words?;
                    near?;
                }
            }
            self.add_times(&format!("candidates of both sides{name}"), pairs, times);
        }
        Ok(())
    }

    /// Times whole searches with all builtin stages, the embedding of the question included.
    pub(super) fn searches(&mut self, pairs: &[Pair; 2]) -> anyhow::Result<()> {
        let questions = self.questions;
        let retrievers = [&pairs[0], &pairs[1]].map(|pair| {
            let embedder = Arc::clone(self.embedder);
            Retriever::new(Arc::clone(&pair.store), Arc::new(move || Ok(Arc::clone(&embedder))))
        });
        let scope = Scope { namespace: self.namespace.clone(), filter: Filter::All };
        let pipeline = Pipeline::default();
        let mut times = [vec![], vec![]];
        let mut stages = [BTreeMap::new(), BTreeMap::new()];
        let (mut n_same, mut n_all) = (0, 0);
        for (at, question) in questions.iter().enumerate() {
            let mut found = [vec![], vec![]];
            for pair_idx in in_turn(at) {
                let begun = Instant::now();
                let response = retrievers[pair_idx].search(&Request {
                    query: question,
                    scopes: std::slice::from_ref(&scope),
                    limit: N_HITS,
                    offset: 0,
                    threshold: None,
                    grouping: Grouping::Passages,
                    pipeline: &pipeline,
                    deadline: &deadline(),
                })?;
                times[pair_idx].push(begun.elapsed().as_secs_f64() * 1000.0);
                for timing in &response.timings {
                    let times: &mut Vec<f64> = stages[pair_idx].entry(timing.stage).or_default();
                    times.push(timing.took.as_secs_f64() * 1000.0);
                }
                found[pair_idx] =
                    response.hits.iter().map(|hit| hit.passage.id().clone()).collect::<Vec<_>>();
            }
            n_all += found[0].len();
            n_same += found[1].iter().filter(|id| found[0].contains(id)).count();
        }
        let same = n_same as f64 / f64::from(n_all.max(1) as u32);
        self.add("whole search, the same ten hits in both", same, "ratio");
        self.add_times("whole search", pairs, times);
        for (pair, stages) in pairs.iter().zip(stages) {
            for (stage, mut times) in stages {
                times.sort_by(f64::total_cmp);
                let name = format!("whole search, {}, {stage}", pair.name);
                self.add(&name, percentile(&times, 0.5), "ms p50");
            }
        }
        Ok(())
    }

    fn add_times(&mut self, name: &str, pairs: &[Pair; 2], times: [Vec<f64>; 2]) {
        let [one, other] = times.map(|mut times| {
            times.sort_by(f64::total_cmp);
            [0.5, 0.99].map(|part| percentile(&times, part))
        });
        for (pair, [p50, p99]) in pairs.iter().zip([one, other]) {
            self.add(&format!("{name}, {}", pair.name), p50, "ms p50");
            self.add(&format!("{name}, {}", pair.name), p99, "ms p99");
        }
        self.add(&format!("{name}, second by first"), other[0] / one[0], "times at p50");
    }
}

/// Both pairs, each first every other time: what comes second finds a warmer processor.
fn in_turn(at: usize) -> [usize; 2] {
    if at.is_multiple_of(2) { [0, 1] } else { [1, 0] }
}

fn percentile(sorted: &[f64], part: f64) -> f64 {
    let idx = ((sorted.len() as f64 - 1.0) * part).round().max(0.0) as usize;
    sorted.get(idx).copied().unwrap_or(0.0)
}

fn words_query(question: &str) -> WordsQuery {
    let pipeline = Pipeline::default();
    WordsQuery::from_text(question, pipeline.bm25, pipeline.title_boost, EXACT_BOOST)
}

fn deadline() -> Deadline {
    Deadline::after(QUESTION_TIME)
}

/// Gives how far the scores of passages are apart that both found.
fn difference(one: &Candidates, other: &Candidates) -> f32 {
    let scores: std::collections::HashMap<&PassageId, f32> =
        one.hits.iter().map(|hit| (&hit.passage, hit.score)).collect();
    let off =
        other.hits.iter().filter_map(|hit| Some((scores.get(&hit.passage)? - hit.score).abs()));
    off.fold(0.0, f32::max)
}

fn keep_best(best: &mut Vec<(f32, usize)>) {
    best.sort_by(|left, right| right.0.total_cmp(&left.0));
    best.truncate(N_CANDIDATES);
}
