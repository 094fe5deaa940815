//! Loads a dataset into a store made for the run, asks every query, and judges every stage.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use infer::{Embedder, ModelState};
use model::{
    Clock, Deadline, DocumentId, NamespaceId, Passage, PassageId, Pointer, Span, Timestamp,
};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use store::{Config, Document, Filter, Manifest, Store, VectorSpace};

use super::report::{CUT, ThresholdReport};
use super::textbook::Textbook;
use super::vectors::StoredVectors;
use super::{Dataset, DatasetReport, JudgedQuery, Metrics, Result, StageReport, mean_metrics};
use crate::pipeline::Trace;
use crate::{Evidence, Grouping, Pipeline, Request, Retriever, Scope};

/// Documents written in one step.
const DOCUMENTS_PER_STEP: usize = 500;
/// Documents of one answer that are judged.
const N_FOUND: usize = 100;
/// How long one query may take.
const QUERY_TIME: Duration = Duration::from_secs(60);

/// How an evaluation is made.
pub struct EvalConfig<'a> {
    /// What makes the vectors; nothing evaluates words alone.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// Where vectors are kept between runs.
    pub cache_folder: PathBuf,
    /// At most so many queries of each dataset; 0 is all.
    pub limit_queries: usize,
    /// The numbers of the stages.
    pub pipeline: Pipeline,
    /// Hears how far the embedding is: name, done, in all.
    pub tell: &'a dyn Fn(&str, usize, usize),
    /// The part of the documents that get vectors, 0 to 1: what a search meets while they are
    /// being made.
    pub vector_share: f64,
}

/// A candidate of one query with all that its score is made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JudgedCandidate {
    /// By its id in the judged set.
    pub document: String,
    /// The figures that the curves turn into a score.
    pub evidence: Evidence,
    /// The score that left.
    pub score: f64,
}

/// A dataset inside a store.
pub struct Loaded {
    /// Searches it.
    pub retriever: Retriever,
    namespace: NamespaceId,
    // The folder lives as long as the store that is inside it.
    _folder: RunFolder,
}

/// The folder of one run's store, inside the cache folder; it goes when the run is over.
pub(super) struct RunFolder(PathBuf);

impl RunFolder {
    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    pub(super) fn make(cache_folder: &Path) -> Result<Self> {
        static N_MADE: AtomicUsize = AtomicUsize::new(0);
        let n_made = N_MADE.fetch_add(1, Ordering::Relaxed);
        let folder = cache_folder.join(format!("run-{}-{n_made}", std::process::id()));
        fs_err::create_dir_all(&folder)?;
        Ok(RunFolder(folder))
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        // What cannot be erased is left behind: the figures are worth more than the folder.
        let _ = fs_err::remove_dir_all(&self.0);
    }
}

/// Loads the documents of a dataset, one passage each, into a store of its own.
///
/// Fails when the store or the embedder fails.
pub fn load(dataset: &Dataset, config: &EvalConfig<'_>) -> Result<Loaded> {
    let folder = RunFolder::make(&config.cache_folder)?;
    let clock = Clock::fixed(Timestamp(0));
    let store = Arc::new(Store::open(&folder.0, &Config::for_one_machine(), clock)?);
    let namespace = NamespaceId::new("eval");
    let space = config.embedder.as_deref().map(|embedder| VectorSpace {
        embedder: embedder.id().to_string(),
        dimensions: embedder.dimensions(),
    });
    store.create_namespace(&namespace, &Manifest::current(space))?;
    for step in dataset.documents.chunks(DOCUMENTS_PER_STEP) {
        let documents: Vec<Document> = step.iter().map(document_of).collect();
        store.upsert(&namespace, &documents)?;
    }
    let mut all = HashMap::new();
    if let Some(embedder) = config.embedder.as_deref() {
        let texts: Vec<String> = dataset.documents.iter().map(embedded_text).collect();
        let name = &dataset.corpus_name;
        let mut kept = StoredVectors::open(&config.cache_folder, embedder, name)?;
        let tell = |n_done: usize, n_all: usize| (config.tell)(name, n_done, n_all);
        kept.embed_missing(embedder, &texts, &tell)?;
        let (mut vectors, mut blobs) = (Vec::new(), Vec::new());
        for (document, text) in dataset.documents.iter().zip(&texts) {
            let Some(kept) = kept.get(text) else { continue };
            all.insert(PassageId::new(&document.id), kept.clone());
            if part_of(&document.id) >= config.vector_share {
                continue;
            }
            vectors.push((PassageId::new(&document.id), kept.vector.clone()));
            blobs.push((PassageId::new(&document.id), kept.blob.clone()));
        }
        for (vectors, blobs) in
            vectors.chunks(DOCUMENTS_PER_STEP).zip(blobs.chunks(DOCUMENTS_PER_STEP))
        {
            store.set_blobs(&namespace, blobs)?;
            store.set_vectors(&namespace, vectors)?;
        }
    }
    let embedder = config.embedder.clone();
    let source = Arc::new(move || embedder.clone().ok_or(ModelState::Off));
    let retriever =
        Retriever::new(store, source).with_passage_vectors(Arc::new(move |_, _, passages, _| {
            // What a search has to make was made before.
            Ok(passages.iter().filter_map(|stored| all.get(stored.id()).cloned()).collect())
        }));
    Ok(Loaded { retriever, namespace, _folder: folder })
}

/// Asks every query and judges the order of every stage.
///
/// Every query is asked twice: by words alone, as a server without a model does, and with all
/// stages. Fails when a search fails; a stage that is skipped counts as having found nothing.
pub fn evaluate(dataset: &Dataset, config: &EvalConfig<'_>) -> Result<DatasetReport> {
    let mut dataset = dataset.clone();
    dataset.limit_queries(config.limit_queries);
    let loaded = load(&dataset, config)?;
    let textbook = Textbook::new(&dataset);
    let mut stages: BTreeMap<&'static str, Vec<(QueryFigures, f64)>> = BTreeMap::new();
    let (mut relevant_scores, mut random_scores) = (Vec::new(), Vec::new());
    let mut thresholds: BTreeMap<String, ThresholdReport> = BTreeMap::new();
    for query in &dataset.queries {
        let words = loaded.search(&query.text, Filter::All, config, Search::Words)?;
        let (response, trace) = &loaded.search(&query.text, Filter::All, config, Search::All)?;
        let ids = |ids: &[DocumentId]| QueryFigures::of(query, ids.iter().map(DocumentId::as_str));
        let mut add = |stage: &'static str, told: QueryFigures, ms: f64| {
            stages.entry(stage).or_default().push((told, ms));
        };
        let took = |stage: &str| -> f64 {
            let timing = response.timings.iter().find(|timing| timing.stage == stage);
            timing.map_or(0.0, |timing| millis(timing.took))
        };
        add("words", ids(&documents_of(&words.0)), words.0.whole_ms());
        if config.embedder.is_some() {
            add("vectors", ids(&trace.vectors), took("dense"));
            add("fused", ids(&trace.fused), took("sparse").max(took("dense")) + took("rrf"));
        }
        let begun = Instant::now();
        let plain = QueryFigures::of(query, textbook.search(&query.text, N_FOUND).into_iter());
        add("textbook", plain, millis(begun.elapsed()));
        let last = documents_of(response);
        add("final", ids(&last), response.whole_ms());
        let is_held_out = is_held_out(&query.id);
        for (name, response) in [("words", &words.0), ("final", response)] {
            thresholds.entry(name.to_owned()).or_default().add(response, query);
            if is_held_out {
                let name = format!("{name} held out");
                thresholds.entry(name).or_default().add(response, query);
            }
        }
        if is_held_out {
            add("held_out", ids(&last), response.whole_ms());
            add("held_out_words", ids(&documents_of(&words.0)), words.0.whole_ms());
            add("held_out_textbook", plain, 0.0);
            if config.embedder.is_some() {
                add("held_out_fused", ids(&trace.fused), 0.0);
            }
            let judged = response.hits.iter();
            let grade = |id: &str| query.relevant.get(id).copied().unwrap_or(0);
            let relevant = judged.filter(|ranked| grade(ranked.hit.document.as_str()) > 0);
            relevant_scores.extend(relevant.map(|ranked| ranked.hit.score.get()));
            let random = &dataset.documents[random_idx(&query.id, dataset.documents.len())];
            if !query.relevant.contains_key(&random.id) {
                let only = Filter::Documents(vec![DocumentId::new(&random.id)]);
                let (alone, _) = loaded.search(&query.text, only, config, Search::All)?;
                let score = alone.hits.first().map_or(0.0, |ranked| ranked.hit.score.get());
                random_scores.push(score);
            }
        }
    }
    let above = |scores: &[f64]| {
        scores.iter().filter(|score| **score > CUT).count() as f64 / scores.len().max(1) as f64
    };
    Ok(DatasetReport {
        name: dataset.name.clone(),
        queries: dataset.queries.len(),
        stages: stages.into_iter().map(|(stage, all)| (stage.to_owned(), summary(all))).collect(),
        relevant_above: above(&relevant_scores),
        random_above: above(&random_scores),
        thresholds,
    })
}

/// What one query tells of the order of one stage.
#[derive(Debug, Clone, Copy)]
struct QueryFigures {
    /// Nothing where no document is right: there is no best order then, and 0 would say that all
    /// orders are bad.
    metrics: Option<Metrics>,
    /// Whether a document that somebody judged wrong is first, where there is such a judgement.
    is_wrong_first: Option<bool>,
}

impl QueryFigures {
    fn of<'a>(query: &JudgedQuery, order: impl Iterator<Item = &'a str>) -> QueryFigures {
        let mut order = order.peekable();
        let is_wrong_first = order.peek().is_some_and(|first| query.is_wrong(first));
        QueryFigures {
            metrics: query.has_right().then(|| Metrics::of(order, &query.relevant)),
            is_wrong_first: query.has_wrong().then_some(is_wrong_first),
        }
    }
}

/// Which stages a query goes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Search {
    /// Words alone.
    Words,
    /// All that the configuration has.
    All,
}

impl Loaded {
    /// Gives the evidence of every candidate of a query, best first.
    ///
    /// Fails when the search fails.
    pub fn candidates(&self, query: &str, config: &EvalConfig<'_>) -> Result<Vec<JudgedCandidate>> {
        let (_, trace) = self.search(query, Filter::All, config, Search::All)?;
        let candidate = |judged: crate::judge::Judged| JudgedCandidate {
            document: judged.fused.document.to_string(),
            evidence: judged.evidence,
            score: judged.score.get(),
        };
        Ok(trace.judged.into_iter().map(candidate).collect())
    }

    fn search(
        &self,
        query: &str,
        filter: Filter,
        config: &EvalConfig<'_>,
        search: Search,
    ) -> Result<(crate::Response, Trace)> {
        let scope = Scope { namespace: self.namespace.clone(), filter };
        let mut pipeline = config.pipeline.clone();
        if search == Search::Words {
            pipeline.n_by_vector = 0;
        }
        let found = self.retriever.search_traced(&Request {
            query,
            scopes: &[scope],
            limit: N_FOUND,
            offset: 0,
            threshold: None,
            grouping: Grouping::Passages,
            pipeline: &pipeline,
            deadline: &Deadline::after(QUERY_TIME),
        })?;
        Ok(found)
    }
}

fn documents_of(response: &crate::Response) -> Vec<DocumentId> {
    response.hits.iter().map(|ranked| ranked.hit.document.clone()).collect()
}

/// Tells the half of the queries that no setting was chosen on, by a hash of the id.
pub fn is_held_out(query_id: &str) -> bool {
    Sha256::digest(query_id.as_bytes())[0].is_multiple_of(2)
}

/// Places a document between 0 and 1, the same way in every run.
fn part_of(document_id: &str) -> f64 {
    let hash = Sha256::digest(document_id.as_bytes());
    f64::from(u16::from_le_bytes([hash[0], hash[1]])) / 65_536.0
}

fn random_idx(query_id: &str, n_documents: usize) -> usize {
    let hash = Sha256::digest(query_id.as_bytes());
    let number = u32::from_le_bytes([hash[1], hash[2], hash[3], hash[4]]) as usize;
    number % n_documents.max(1)
}

pub(super) fn document_of(source: &super::SourceDocument) -> Document {
    Document {
        id: DocumentId::new(&source.id),
        title: source.title.clone(),
        attributes: [].into(),
        metadata: serde_json::Value::Null,
        fingerprint: String::new(),
        passages: vec![Passage {
            id: PassageId::new(&source.id),
            ordinal: 0,
            text: source.text.clone(),
            span: Span::new(0, source.text.chars().count()),
            pointer: Pointer::Line(1),
            headings: vec![],
        }],
    }
}

pub(super) fn embedded_text(source: &super::SourceDocument) -> String {
    if source.title.is_empty() {
        return source.text.clone();
    }
    format!("{}\n{}", source.title, source.text)
}

fn summary(all: Vec<(QueryFigures, f64)>) -> StageReport {
    let (told, mut times): (Vec<QueryFigures>, Vec<f64>) = all.into_iter().unzip();
    times.sort_by(f64::total_cmp);
    let at = |part: f64| {
        let idx = ((times.len() as f64 - 1.0) * part).round().max(0.0) as usize;
        times.get(idx).copied().unwrap_or(0.0)
    };
    let metrics: Vec<Metrics> = told.iter().filter_map(|told| told.metrics).collect();
    let wrong: Vec<bool> = told.iter().filter_map(|told| told.is_wrong_first).collect();
    let n_wrong_first = wrong.iter().filter(|is_wrong_first| **is_wrong_first).count();
    StageReport {
        metrics: (!metrics.is_empty()).then(|| mean_metrics(&metrics)),
        wrong_first: (!wrong.is_empty()).then(|| n_wrong_first as f64 / wrong.len() as f64),
        p50_ms: at(0.5),
        p99_ms: at(0.99),
    }
}

pub(super) fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::{EvalReport, SourceDocument};

    /// Evaluates two documents, by words alone, with the grades of one query.
    fn report(grades: &[(&str, u32)]) -> EvalReport {
        let document = |id: &str, text: &str| SourceDocument {
            id: id.to_owned(),
            title: String::new(),
            text: text.to_owned(),
        };
        let grades = grades.iter().map(|(id, grade)| ((*id).to_owned(), *grade));
        let query = JudgedQuery {
            id: "q1".to_owned(),
            text: "remote work allowance".to_owned(),
            relevant: grades.collect(),
        };
        let dataset = Dataset {
            name: "judged".to_owned(),
            corpus_name: "judged".to_owned(),
            documents: vec![
                document("money", "The remote work allowance is 500 euros a year."),
                document("place", "Remote work is done from home."),
            ],
            queries: vec![query],
            n_unjudged: 0,
        };
        let folder = testkit::Folder::new();
        let config = EvalConfig {
            embedder: None,
            cache_folder: folder.path().to_owned(),
            limit_queries: 0,
            pipeline: Pipeline::default(),
            tell: &|_, _, _| {},
            vector_share: 1.0,
        };
        EvalReport { datasets: vec![evaluate(&dataset, &config).unwrap()] }
    }

    /// Such a query had an nDCG of 0 whatever was found for it, and drew every mean down.
    #[test]
    fn a_query_with_wrong_documents_alone_counts_for_which_is_first() {
        let (first, second) = (report(&[("money", 0)]), report(&[("place", 0)]));
        let last = |report: &EvalReport| report.datasets[0].stages["final"];
        assert_eq!((last(&first).metrics, last(&first).wrong_first), (None, Some(1.0)));
        assert_eq!((last(&second).metrics, last(&second).wrong_first), (None, Some(0.0)));
        let figures = first.datasets[0].thresholds["final"];
        assert_eq!((figures.n_queries, figures.n_with_wrong), (0, 1));
        let table = first.table();
        assert!(table.contains("wrong first 1.0000") && !table.contains("0.0000"), "{table}");
        let drops = first.drops(&second, 0.005);
        assert!(drops.iter().any(|drop| drop.starts_with("judged, final: a wrong")), "{drops:?}");
        assert!(second.drops(&first, 0.005).is_empty());
        let json = serde_json::to_value(&first).unwrap();
        assert!(json["datasets"][0]["stages"]["final"].get("ndcg@10").is_none(), "{json}");
        assert_eq!(serde_json::from_value::<EvalReport>(json).unwrap(), first);
    }

    #[test]
    fn a_query_with_a_right_and_a_wrong_document_counts_for_both() {
        let both = report(&[("money", 1), ("place", 0)]);
        let last = both.datasets[0].stages["final"];
        assert_eq!(last.metrics.map(|metrics| metrics.ndcg_10), Some(1.0));
        assert_eq!(last.wrong_first, Some(0.0));
    }
}
