//! What eight bits cost: the vectors of the default embedder beside those of f32, on judged sets.
//!
//! Documents are ranked by their vectors alone, so that nothing else hides a loss.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use infer::local::E5Embedder;
use infer::models::{CONTAINER_FILE, DEFAULT_EMBEDDER, folder_of};
use infer::{Embedder, EmbedderId};
use model::{Deadline, Report};
use retrieve::eval::{Dataset, Metrics, mean_metrics};

/// Texts that are embedded in one call.
const BATCH: usize = 64;
/// How long one call may take.
const MAX_CALL: Duration = Duration::from_secs(600);

/// Measures some judged sets.
pub(crate) fn run(
    models: &Path,
    sets: &[String],
    max_documents: usize,
    max_queries: usize,
) -> anyhow::Result<Report> {
    let container = folder_of(models, DEFAULT_EMBEDDER).join(CONTAINER_FILE);
    let id = EmbedderId::new(DEFAULT_EMBEDDER, "measured");
    let ours = E5Embedder::open(&container, id.clone())?;
    let exact = E5Embedder::open_in_f32(&container, id)?;
    let mut report = Report::new("precision");
    for set in sets {
        let mut set = Dataset::read(set)?;
        set.limit_queries(max_queries);
        limit_documents(&mut set, max_documents);
        let (own, reference) = (Vectors::of(&ours, &set)?, Vectors::of(&exact, &set)?);
        let name = &set.name;
        let note = format!("{} documents, {} queries", set.documents.len(), set.queries.len());
        let (own_score, exact_score) = (own.ndcg(&set), reference.ndcg(&set));
        let names = (ours.kernels_name(), exact.kernels_name());
        report.add_noted(format!("{name}, {}", names.1), exact_score, "nDCG@10", note);
        report.add(format!("{name}, {}", names.0), own_score, "nDCG@10");
        report.add(format!("{name}, difference"), own_score - exact_score, "nDCG@10");
        let mut cosines = own.cosines(&reference);
        cosines.sort_by(f64::total_cmp);
        let mean = cosines.iter().sum::<f64>() / cosines.len().max(1) as f64;
        let note = format!("{} texts, mean {mean:.5}", cosines.len());
        let lowest = cosines.first().copied().unwrap_or(1.0);
        report.add_noted(format!("{name}, lowest cosine"), lowest, "ratio", note);
    }
    Ok(report)
}

/// Keeps the documents that are judged, and others up to a number.
fn limit_documents(set: &mut Dataset, max_documents: usize) {
    let judged: BTreeSet<String> =
        set.queries.iter().flat_map(|query| query.relevant.keys().cloned()).collect();
    let mut n_others = max_documents.saturating_sub(judged.len());
    set.documents.retain(|document| {
        if judged.contains(&document.id) {
            return true;
        }
        let is_kept = n_others > 0;
        n_others = n_others.saturating_sub(1);
        is_kept
    });
}

struct Vectors {
    documents: Vec<Vec<f32>>,
    queries: Vec<Vec<f32>>,
}

impl Vectors {
    fn of(embedder: &E5Embedder, set: &Dataset) -> anyhow::Result<Self> {
        let texts: Vec<String> = set
            .documents
            .iter()
            .map(|document| format!("{}\n{}", document.title, document.text).trim().to_owned())
            .collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let mut documents = Vec::with_capacity(texts.len());
        for batch in texts.chunks(BATCH) {
            documents.extend(embedder.embed_passages(batch, &Deadline::after(MAX_CALL))?);
        }
        let query = |query: &retrieve::eval::JudgedQuery| {
            embedder.embed_query(&query.text, &Deadline::after(MAX_CALL))
        };
        let queries = set.queries.iter().map(query).collect::<Result<_, _>>()?;
        Ok(Vectors { documents, queries })
    }

    fn ndcg(&self, set: &Dataset) -> f64 {
        let judged = |(vector, query): (&Vec<f32>, &retrieve::eval::JudgedQuery)| {
            let mut order: Vec<(f64, &str)> = self
                .documents
                .iter()
                .zip(&set.documents)
                .map(|(document, source)| (dot(vector, document), source.id.as_str()))
                .collect();
            order.sort_by(|one, other| other.0.total_cmp(&one.0));
            Metrics::of(order.iter().map(|(_, id)| *id), &query.relevant)
        };
        let all: Vec<Metrics> = self.queries.iter().zip(&set.queries).map(judged).collect();
        mean_metrics(&all).ndcg_10
    }

    fn cosines(&self, other: &Vectors) -> Vec<f64> {
        let pairs = |one: &[Vec<f32>], other: &[Vec<f32>]| -> Vec<f64> {
            one.iter().zip(other).map(|(one, other)| dot(one, other)).collect()
        };
        let mut cosines = pairs(&self.documents, &other.documents);
        cosines.extend(pairs(&self.queries, &other.queries));
        cosines
    }
}

fn dot(one: &[f32], other: &[f32]) -> f64 {
    one.iter().zip(other).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
}
