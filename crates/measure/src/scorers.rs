//! BM25 by our lists beside tantivy's own scorers with block-max WAND, over the same index: the time
//! of a question, and what both find in a judged set.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use model::{Attributes, Timestamp};
use model::{Clock, Deadline, DocumentId, NamespaceId, Passage, PassageId, Pointer, Report, Span};
use retrieve::eval::{Dataset, Metrics, mean_metrics};
use store::bench::{DOCUMENTS_PER_BATCH, Material, PASSAGES_PER_DOCUMENT};
use store::{Bm25, Clause, Config, Document, Filter, Form, Manifest, Store, WordsQuery};
use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, BoostQuery, Occur, Query, TermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::{Index, Searcher, Term};

/// Words of a question, as many as the retriever asks for after it has widened a short one.
const N_WORDS: usize = 12;
/// Questions of each round.
const N_QUESTIONS: usize = 100;
/// Rounds: the engines take turns in each.
const N_ROUNDS: usize = 2;
/// The best passages that are asked for.
const LIMITS: [usize; 2] = [100, 500];
/// Places of an order that are judged.
const N_JUDGED: usize = 100;

/// What a match in the title and one in the exact spelling count.
const TITLE_BOOST: f32 = 1.0;
const EXACT_BOOST: f32 = 0.2;

/// tantivy's numbers of BM25, which cannot be changed.
const TANTIVY_BM25: Bm25 = Bm25 { k1: 1.2, b: 0.75 };

/// How long one question may take.
const MAX_QUESTION: Duration = Duration::from_secs(60);

/// Measures both on a judged set in BEIR's layout.
pub(crate) fn run(set: &Path, n_passages: usize) -> anyhow::Result<Report> {
    let mut report = Report::new("scorers");
    time(&mut report, set, n_passages)?;
    quality(&mut report, &Dataset::read(&set.to_string_lossy())?)?;
    Ok(report)
}

/// Both over one index of passages made of the set's sentences.
fn time(report: &mut Report, set: &Path, n_passages: usize) -> anyhow::Result<()> {
    let material = Material::new(Some(set), &[])?;
    let n_documents = n_passages / PASSAGES_PER_DOCUMENT;
    let documents = (0..n_documents).map(|number| material.document(number));
    let indexed = Indexed::of(documents)?;
    let questions: Vec<WordsQuery> = (0..N_QUESTIONS)
        .map(|number| asked(&material.question_of(number, N_WORDS), Bm25::PASSAGES))
        .collect();
    // Once before, so that neither reads the files for the other.
    for question in &questions {
        indexed.by_tantivy(question, LIMITS[0])?;
        indexed.by_ours(question, LIMITS[0])?;
    }
    for limit in LIMITS {
        for round in 1..=N_ROUNDS {
            let theirs = processor_time(&questions, |question| {
                indexed.by_tantivy(question, limit).map(drop)
            })?;
            let ours =
                processor_time(&questions, |question| indexed.by_ours(question, limit).map(drop))?;
            let at =
                |engine: &str| format!("{engine}, best {limit} of {n_passages}, round {round}");
            report.add(at("tantivy's scorers"), theirs, "ms of the processor");
            report.add_noted(at("our lists"), ours, "ms of the processor", "names included");
        }
    }
    Ok(())
}

/// Both over the set's documents, each of them one passage.
fn quality(report: &mut Report, set: &Dataset) -> anyhow::Result<()> {
    let indexed = Indexed::of(set.documents.iter().map(whole))?;
    let judge = |found: &dyn Fn(&WordsQuery) -> anyhow::Result<Vec<u64>>, bm25: Bm25| {
        let judged = set.queries.iter().map(|query| {
            let found = found(&asked(&query.text, bm25))?;
            let ids = found.iter().filter_map(|number| set.documents.get(*number as usize));
            Ok(Metrics::of(ids.map(|document| document.id.as_str()), &query.relevant))
        });
        let judged: anyhow::Result<Vec<Metrics>> = judged.collect();
        judged.map(|judged| mean_metrics(&judged).ndcg_10)
    };
    let tantivy = |query: &WordsQuery| indexed.by_tantivy(query, N_JUDGED);
    let ours = |query: &WordsQuery| indexed.by_ours(query, N_JUDGED);
    let name = &set.name;
    let note = format!("{} documents, {} queries", set.documents.len(), set.queries.len());
    let theirs = judge(&tantivy, TANTIVY_BM25)?;
    report.add_noted(format!("{name}, tantivy's scorers"), theirs, "nDCG@10", note);
    let same = judge(&ours, TANTIVY_BM25)?;
    report.add(format!("{name}, our lists with tantivy's k1 and b"), same, "nDCG@10");
    let own = judge(&ours, Bm25::PASSAGES)?;
    report.add(format!("{name}, our lists"), own, "nDCG@10");
    Ok(())
}

fn asked(question: &str, bm25: Bm25) -> WordsQuery {
    WordsQuery::from_text(question, bm25, TITLE_BOOST, EXACT_BOOST)
}

fn whole(source: &retrieve::eval::SourceDocument) -> Document {
    let passage = Passage {
        id: PassageId::new(format!("{}#0", source.id)),
        ordinal: 0,
        span: Span::new(0, source.text.chars().count()),
        text: source.text.clone(),
        pointer: Pointer::Line(1),
        headings: vec![],
    };
    Document {
        id: DocumentId::new(&source.id),
        title: source.title.clone(),
        attributes: Attributes::new(),
        metadata: serde_json::Value::Null,
        fingerprint: String::new(),
        passages: vec![passage],
    }
}

/// Gives the milliseconds of the processor that a question took on average on this thread.
fn processor_time(
    questions: &[WordsQuery],
    mut ask: impl FnMut(&WordsQuery) -> anyhow::Result<()>,
) -> anyhow::Result<f64> {
    let before = thread_nanoseconds()?;
    for question in questions {
        ask(question)?;
    }
    Ok((thread_nanoseconds()? - before) / questions.len() as f64 / 1e6)
}

/// Gives how long this thread has been on a processor: others that share it do not count.
fn thread_nanoseconds() -> anyhow::Result<f64> {
    // The kernel counts up to the last switch, so the thread gives way before it is asked.
    std::thread::yield_now();
    let stat = fs_err::read_to_string("/proc/thread-self/schedstat")?;
    Ok(stat.split_whitespace().next().unwrap_or_default().parse()?)
}

/// A store over some documents, and its full-text index as tantivy opens it.
struct Indexed {
    store: Store,
    namespace: NamespaceId,
    index: Index,
    searcher: Searcher,
    numbers: HashMap<PassageId, u64>,
    _folder: tempfile::TempDir,
}

impl Indexed {
    fn of(documents: impl Iterator<Item = Document>) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let clock = Clock::fixed(Timestamp(0));
        let store = Store::open(folder.path(), &Config::for_one_machine(), clock)?;
        let namespace = NamespaceId::new("scorers");
        store.create_namespace(&namespace, &Manifest::current(None))?;
        let mut numbers = HashMap::new();
        let mut documents = documents.peekable();
        while documents.peek().is_some() {
            let batch: Vec<Document> = documents.by_ref().take(DOCUMENTS_PER_BATCH).collect();
            store.upsert(&namespace, &batch)?;
            for passage in batch.into_iter().flat_map(|document| document.passages) {
                numbers.insert(passage.id, numbers.len() as u64);
            }
        }
        store.maintain()?;
        let index = Index::open_in_dir(folder.path().join("namespaces/00000001/words"))?;
        let searcher = index.reader()?.searcher();
        Ok(Indexed { store, namespace, index, searcher, numbers, _folder: folder })
    }

    /// Gives the numbers of the best passages by tantivy's own scorers: the same terms in the same
    /// fields with the same boosts.
    fn by_tantivy(&self, question: &WordsQuery, limit: usize) -> anyhow::Result<Vec<u64>> {
        let schema = self.index.schema();
        let mut parts: Vec<(Occur, Box<dyn Query>)> = vec![];
        for clause in &question.should {
            let Clause::Word { form, terms, boost } = clause else { continue };
            let (text, title) = match form {
                Form::Exact => ("exact", "title_exact"),
                Form::Folded => ("folded", "title_folded"),
            };
            for (field, field_boost) in [(text, 1.0), (title, question.title_boost)] {
                let field = schema.get_field(field)?;
                for term in terms {
                    let term = Term::from_field_text(field, term);
                    let query = TermQuery::new(term, IndexRecordOption::WithFreqs);
                    let query = BoostQuery::new(Box::new(query), boost * field_boost);
                    parts.push((Occur::Should, Box::new(query)));
                }
            }
        }
        let best = TopDocs::with_limit(limit).order_by_score();
        let found = self.searcher.search(&BooleanQuery::new(parts), &best)?;
        let number = |(_, at): (f32, tantivy::DocAddress)| {
            let column =
                self.searcher.segment_reader(at.segment_ord).fast_fields().u64("number")?;
            Ok(column.first(at.doc_id).unwrap_or(u64::MAX))
        };
        found.into_iter().map(number).collect()
    }

    /// Gives the numbers of the best passages by our lists.
    fn by_ours(&self, question: &WordsQuery, limit: usize) -> anyhow::Result<Vec<u64>> {
        let deadline = Deadline::after(MAX_QUESTION);
        let found =
            self.store.by_words(&self.namespace, question, &Filter::All, limit, &deadline)?;
        Ok(found.hits.iter().filter_map(|hit| self.numbers.get(&hit.passage)).copied().collect())
    }
}
