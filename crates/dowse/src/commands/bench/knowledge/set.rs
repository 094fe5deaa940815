//! A judged set inside a knowledge base: its documents loaded, its questions asked.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use retrieve::eval::{Dataset, JudgedQuery, Metrics};
use serde_json::{Value, json};

use super::client::{Client, id_of};

const DOCUMENTS_PER_UPLOAD: usize = 200;

/// How long jobs may take together.
const JOBS_LIMIT: Duration = Duration::from_secs(6 * 3600);

/// The time between two looks at a job.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Results asked for when the order of documents is judged.
const N_RESULTS: usize = 50;

pub(super) struct LoadedSet {
    pub(super) name: String,
    pub(super) base: String,
    pub(super) queries: Vec<JudgedQuery>,
    /// The set's own ids of documents, by those of the server.
    documents: HashMap<String, String>,
    pub(super) n_documents: usize,
    /// Until all could be found by words.
    pub(super) words_time: Duration,
    /// Until vectors and summaries were there too.
    pub(super) whole_time: Duration,
}

/// The answer to one question.
pub(super) struct QueryOutcome {
    pub(super) took: Duration,
    pub(super) metrics: Metrics,
    /// Documents in order, each once: its best score, and whether it is relevant.
    pub(super) scored: Vec<(f64, bool)>,
    pub(super) n_relevant: usize,
}

/// Reads a set, with as many documents and questions as asked for.
pub(super) fn read(folder: &str, n_queries: usize, n_documents: usize) -> anyhow::Result<Dataset> {
    let mut dataset = Dataset::read(folder)?;
    if n_documents > 0 && n_documents < dataset.documents.len() {
        // Documents in their order, and only questions whose answers are all among them.
        dataset.documents.truncate(n_documents);
        let kept: HashSet<&str> =
            dataset.documents.iter().map(|document| document.id.as_str()).collect();
        dataset.queries.retain(|query| query.relevant.keys().all(|id| kept.contains(id.as_str())));
    }
    dataset.limit_queries(n_queries);
    if dataset.queries.is_empty() {
        bail!("no question of `{folder}` is left\nhint: raise `--documents`");
    }
    Ok(dataset)
}

impl LoadedSet {
    /// Loads a set through the public interface.
    pub(super) fn load(client: &mut Client, dataset: Dataset) -> anyhow::Result<Self> {
        let new = json!({ "name": dataset.name, "description": "a judged set" });
        let base = id_of(&client.post("/v1/knowledge-bases", &new)?)?;
        let path = format!("/v1/knowledge-bases/{base}/collections");
        let collection = id_of(&client.post(&path, &json!({ "name": "documents" }))?)?;
        let begun = Instant::now();
        let mut documents = HashMap::new();
        let mut jobs = vec![];
        let path = format!("/v1/collections/{collection}/documents");
        for step in dataset.documents.chunks(DOCUMENTS_PER_UPLOAD) {
            let texts: Vec<Value> = step
                .iter()
                .map(|document| json!({ "title": document.title, "text": document.text }))
                .collect();
            let accepted = client.post(&path, &json!({ "documents": texts }))?;
            jobs.push(id_of(&accepted["job"])?);
            let ids = match accepted["ids"].as_array() {
                Some(ids) => ids.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
                None => vec![id_of(&accepted)?],
            };
            documents.extend(ids.into_iter().zip(step.iter().map(|document| document.id.clone())));
        }
        for job in &jobs {
            wait(begun, || {
                let job = client.get(&format!("/v1/jobs/{job}"))?;
                match job["status"].as_str() {
                    Some("done") => Ok(true),
                    Some("failed") => bail!("a job failed: {job}"),
                    _ => Ok(false),
                }
            })?;
        }
        let words_time = begun.elapsed();
        wait(begun, || {
            let jobs = client.get("/v1/jobs")?;
            let jobs = jobs["jobs"].as_array().context("a list of jobs")?;
            let is_open =
                |job: &&Value| matches!(job["status"].as_str(), Some("queued" | "running"));
            Ok(jobs.iter().find(is_open).is_none())
        })?;
        Ok(LoadedSet {
            name: dataset.name,
            base,
            n_documents: dataset.documents.len(),
            queries: dataset.queries,
            documents,
            words_time,
            whole_time: begun.elapsed(),
        })
    }

    /// Asks one question and judges the answer.
    pub(super) fn ask(
        &self,
        client: &mut Client,
        query: &JudgedQuery,
    ) -> anyhow::Result<QueryOutcome> {
        let arguments = self.arguments(query, N_RESULTS);
        let begun = Instant::now();
        let answer = client.call("search_documents", &arguments)?;
        let took = begun.elapsed();
        let mut seen = HashSet::new();
        let mut order: Vec<(&str, f64)> = vec![];
        for result in answer["results"].as_array().into_iter().flatten() {
            let id = result["metadata"]["document_id"].as_str().unwrap_or_default();
            let id = self.documents.get(id).map_or("", String::as_str);
            if seen.insert(id) {
                order.push((id, result["score"].as_f64().unwrap_or_default()));
            }
        }
        let metrics = Metrics::of(order.iter().map(|(id, _)| *id), &query.relevant);
        let scored =
            order.iter().map(|(id, score)| (*score, query.relevant.contains_key(*id))).collect();
        Ok(QueryOutcome { took, metrics, scored, n_relevant: query.relevant.len() })
    }

    /// Asks one question as an agent would, with the defaults, and gives the time it took.
    pub(super) fn time(
        &self,
        client: &mut Client,
        query: &JudgedQuery,
    ) -> anyhow::Result<Duration> {
        let begun = Instant::now();
        client.call("search_documents", &self.arguments(query, 10))?;
        Ok(begun.elapsed())
    }

    fn arguments(&self, query: &JudgedQuery, max_results: usize) -> Value {
        json!({
            "query": query.text,
            "knowledge_base_id": self.base,
            "threshold": 0.0,
            "max_results": max_results,
        })
    }
}

fn wait(begun: Instant, mut is_over: impl FnMut() -> anyhow::Result<bool>) -> anyhow::Result<()> {
    while !is_over()? {
        if begun.elapsed() > JOBS_LIMIT {
            bail!("the server did not come to an end with its jobs");
        }
        std::thread::sleep(LOOK_EVERY);
    }
    Ok(())
}
