//! How long a search takes when there are many more passages than anybody has embedded here.
//!
//! The documents of real datasets are written again and again until there are enough: each copy
//! has its words turned round, its vector moved a little, and the token bits of the original. The
//! work per query is that of a real corpus of this size; the order of the results means nothing.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use model::{Clock, Deadline, NamespaceId, PassageId, Report, Timestamp};
use sha2::{Digest, Sha256};
use store::{Config, Filter, Manifest, Store, VectorSpace};

use super::run::{RunFolder, document_of, embedded_text, millis};
use super::vectors::StoredVectors;
use super::{Dataset, EvalConfig, Result, SourceDocument};
use crate::{Grouping, Request, Retriever, Scope};

/// Documents written in one step.
const DOCUMENTS_PER_STEP: usize = 2_000;
/// How long one query may take.
const QUERY_TIME: Duration = Duration::from_secs(60);
/// How many hits are asked for, as most callers do.
const N_HITS: usize = 10;
/// How far each number of a copied vector is moved.
const NOISE: f32 = 0.01;

/// Searches `n_passages` copies of the datasets' documents with their queries.
///
/// Fails when a dataset is empty, or the store or the embedder fails.
pub fn scale(
    datasets: &[Dataset],
    n_passages: usize,
    n_queries: usize,
    config: &EvalConfig<'_>,
) -> Result<Report> {
    let folder = RunFolder::make(&config.cache_folder)?;
    let clock = Clock::fixed(Timestamp(0));
    let store = Arc::new(Store::open(folder.path(), &Config::for_one_machine(), clock)?);
    let namespace = NamespaceId::new("scale");
    let space = config.embedder.as_deref().map(|embedder| VectorSpace {
        embedder: embedder.id().to_string(),
        dimensions: embedder.dimensions(),
    });
    store.create_namespace(&namespace, &Manifest::current(space))?;
    fill(&store, &namespace, datasets, n_passages, config)?;

    let mut queries: Vec<&str> = Vec::new();
    for dataset in datasets {
        let mut dataset_queries: Vec<&super::JudgedQuery> = dataset.queries.iter().collect();
        dataset_queries.sort_by_key(|query| Sha256::digest(query.id.as_bytes()));
        let n_of_each = n_queries.div_ceil(datasets.len().max(1));
        queries.extend(dataset_queries.iter().take(n_of_each).map(|query| query.text.as_str()));
    }
    let embedder = config.embedder.clone();
    let source = Arc::new(move || embedder.clone().ok_or(infer::ModelState::Off));
    let retriever = Retriever::new(store, source);
    let scope = Scope { namespace, filter: Filter::All };
    let mut stages: BTreeMap<&'static str, Vec<f64>> = BTreeMap::new();
    let mut whole = Vec::new();
    for query in &queries {
        let begun = Instant::now();
        let response = retriever.search(&Request {
            query,
            scopes: std::slice::from_ref(&scope),
            limit: N_HITS,
            offset: 0,
            threshold: None,
            grouping: Grouping::Passages,
            pipeline: &config.pipeline,
            deadline: &Deadline::after(QUERY_TIME),
        })?;
        whole.push(millis(begun.elapsed()));
        for timing in response.timings {
            stages.entry(timing.stage).or_default().push(millis(timing.took));
        }
    }
    let mut report = Report::new(format!("search over {n_passages} passages"));
    report.add("queries", queries.len() as f64, "");
    add(&mut report, "whole", whole);
    for (stage, times) in stages {
        add(&mut report, stage, times);
    }
    Ok(report)
}

fn add(report: &mut Report, name: &str, mut times: Vec<f64>) {
    times.sort_by(f64::total_cmp);
    for (part, unit) in [(0.5, "ms p50"), (0.99, "ms p99")] {
        let idx = ((times.len() as f64 - 1.0) * part).round().max(0.0) as usize;
        report.add(name, times.get(idx).copied().unwrap_or(0.0), unit);
    }
}

fn fill(
    store: &Store,
    namespace: &NamespaceId,
    datasets: &[Dataset],
    n_passages: usize,
    config: &EvalConfig<'_>,
) -> Result<()> {
    let n_documents: usize = datasets.iter().map(|dataset| dataset.documents.len()).sum();
    let n_copies = n_passages.div_ceil(n_documents.max(1));
    let mut n_left = n_passages;
    for dataset in datasets {
        let stored = match config.embedder.as_deref() {
            None => None,
            Some(embedder) => {
                let texts: Vec<String> = dataset.documents.iter().map(embedded_text).collect();
                let name = &dataset.corpus_name;
                let mut stored = StoredVectors::open(&config.cache_folder, embedder, name)?;
                let tell = |n_done: usize, n_all: usize| (config.tell)(name, n_done, n_all);
                stored.embed_missing(embedder, &texts, &tell)?;
                Some(stored)
            }
        };
        for copy in 0..n_copies {
            for step in dataset.documents.chunks(DOCUMENTS_PER_STEP) {
                let step = &step[..step.len().min(n_left)];
                n_left -= step.len();
                write(store, namespace, &dataset.corpus_name, step, copy, stored.as_ref())?;
            }
        }
    }
    Ok(())
}

fn write(
    store: &Store,
    namespace: &NamespaceId,
    corpus: &str,
    originals: &[SourceDocument],
    copy: usize,
    stored: Option<&StoredVectors>,
) -> Result<()> {
    let (mut documents, mut vectors, mut blobs) = (Vec::new(), Vec::new(), Vec::new());
    for original in originals {
        let id = format!("{corpus}/{}/{copy}", original.id);
        let turned = SourceDocument {
            id: id.clone(),
            title: original.title.clone(),
            text: turned(&original.text, copy),
        };
        documents.push(document_of(&turned));
        if let Some(stored) = stored.and_then(|stored| stored.get(&embedded_text(original))) {
            vectors.push((PassageId::new(&id), moved(&stored.vector, &id)));
            blobs.push((PassageId::new(&id), stored.blob.clone()));
        }
    }
    store.upsert(namespace, &documents)?;
    if !vectors.is_empty() {
        store.set_blobs(namespace, &blobs)?;
        store.set_vectors(namespace, &vectors)?;
    }
    Ok(())
}

/// Turns a text round: the same characters, begun at another line or word.
fn turned(text: &str, copy: usize) -> String {
    let at = text.len() * (copy % 16) / 16;
    let at = text.floor_char_boundary(at);
    let at = text[at..].find(' ').map_or(at, |offset| at + offset + 1);
    format!("{} {}", &text[at..], &text[..at])
}

/// Moves a vector a little, the same way for the same id, and brings it back to length one.
fn moved(vector: &[f32], id: &str) -> Vec<f32> {
    let mut seed = u64::from_le_bytes(
        Sha256::digest(id.as_bytes())[..8].try_into().expect("a digest has 32 bytes"),
    );
    let mut moved: Vec<f32> = vector
        .iter()
        .map(|value| {
            // The step of a linear congruential generator is plenty for noise.
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            value + ((seed >> 40) as f32 / (1_u64 << 23) as f32 - 1.0) * NOISE
        })
        .collect();
    let norm = moved.iter().map(|value| value * value).sum::<f32>().sqrt().max(f32::EPSILON);
    moved.iter_mut().for_each(|value| *value /= norm);
    moved
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_keep_their_characters_and_the_length_of_their_vectors() {
        for copy in 0..20 {
            let mut text: Vec<char> = turned("één 東京 two three", copy).chars().collect();
            let mut expected: Vec<char> = "één 東京 two three ".chars().collect();
            text.sort_unstable();
            expected.sort_unstable();
            assert_eq!(text, expected);
        }
        let norm: f32 = moved(&[0.6, 0.8], "a").iter().map(|value| value * value).sum();
        assert!((norm - 1.0).abs() < 1e-5);
        assert_eq!(moved(&[1.0, 0.0], "a"), moved(&[1.0, 0.0], "a"));
    }
}
