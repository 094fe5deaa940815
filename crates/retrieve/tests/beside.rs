//! What a search over an engine and a catalogue on servers does at the same time: words that are in
//! this process are looked for while the vector of the query is made, and how near candidates are is
//! asked while their words are looked at.

use std::sync::Arc;
use std::time::Duration;

use infer::{Embedder, EmbedderId};
use model::{
    Clock, Deadline, DocumentId, NamespaceId, Passage, PassageId, Pointer, Span, Timestamp,
};
use parking_lot::{Condvar, Mutex};
use retrieve::{Grouping, Pipeline, Request, Retriever, Scope};
use store::{
    Candidates, Changes, Config, Document, EmbeddedEngine, Engine, EngineInfo, EnginePlace,
    EngineServer, Erased, Filter, Form, Manifest, Position, Rebuild, Result, Search, Store,
    TermStatistics, VectorSpace,
};

/// How long one part of a search waits for another that should run beside it.
const PATIENCE: Duration = Duration::from_secs(60);

/// What was begun, by name; who needs something else to have begun waits for it.
#[derive(Default)]
struct Begun {
    names: Mutex<Vec<&'static str>>,
    changed: Condvar,
}

impl Begun {
    fn note(&self, name: &'static str) {
        self.names.lock().push(name);
        self.changed.notify_all();
    }

    /// Waits until it has begun, and notes where it did not.
    fn wait_for(&self, name: &'static str, otherwise: &'static str) {
        let mut names = self.names.lock();
        let is_missing = |names: &mut Vec<&'static str>| !names.contains(&name);
        if self.changed.wait_while_for(&mut names, is_missing, PATIENCE).timed_out() {
            names.push(otherwise);
        }
    }
}

/// Ones and zeros by whether a text has a word.
struct Spotter {
    id: EmbedderId,
    begun: Arc<Begun>,
}

fn vector(text: &str) -> Vec<f32> {
    ["red", "roof", "wall", "river"]
        .map(|word| if text.contains(word) { 1.0 } else { 0.1 })
        .to_vec()
}

impl Embedder for Spotter {
    fn id(&self) -> &EmbedderId {
        &self.id
    }

    fn dimensions(&self) -> usize {
        4
    }

    fn max_tokens(&self) -> usize {
        512
    }

    fn embed_query(&self, query: &str, _: &Deadline) -> infer::Result<Vec<f32>> {
        self.begun.wait_for("words", "the vector was made before words were looked for");
        Ok(vector(query))
    }

    fn embed_passages(&self, passages: &[&str], _: &Deadline) -> infer::Result<Vec<Vec<f32>>> {
        Ok(passages.iter().map(|text| vector(text)).collect())
    }
}

/// The embedded engine, taken for one on a server whose words are in this process.
struct Far {
    inner: EmbeddedEngine,
    begun: Arc<Begun>,
}

impl Engine for Far {
    fn info(&self) -> EngineInfo<'_> {
        EngineInfo { name: "far", place: EnginePlace::Server(self) }
    }

    fn follow(&self, changes: Changes<'_>) -> Result<()> {
        self.inner.follow(changes)
    }

    fn positions(&self) -> Result<Vec<Position>> {
        self.inner.positions()
    }

    fn search(
        &self,
        namespace: &NamespaceId,
        search: &Search<'_>,
        deadline: &Deadline,
    ) -> Result<(Candidates, Candidates)> {
        match (&search.by_words, &search.by_vector, search.filter) {
            (Some(_), None, _) => self.begun.note("words"),
            (None, Some(_), Filter::Passages(_)) => self.begun.note("nearness of candidates"),
            (None, Some(_), _) => self.begun.note("vectors"),
            _ => self.begun.note("both in one"),
        }
        self.inner.search(namespace, search, deadline)
    }

    fn term_statistics(
        &self,
        namespace: &NamespaceId,
        terms: &[(Form, String)],
    ) -> Result<TermStatistics> {
        self.begun.wait_for("nearness of candidates", "words were looked at before nearness");
        self.inner.term_statistics(namespace, terms)
    }

    fn erase(&self, erased: Erased<'_>) -> Result<()> {
        self.inner.erase(erased)
    }

    fn rebuild(&self, namespace: &NamespaceId, when: Rebuild) -> Result<()> {
        self.inner.rebuild(namespace, when)
    }

    fn problem(&self, namespace: &NamespaceId) -> Result<Option<String>> {
        self.inner.problem(namespace)
    }

    fn maintain(&self) -> Result<()> {
        self.inner.maintain()
    }
}

impl EngineServer for Far {
    fn reach(&self) -> Result<()> {
        Ok(())
    }

    fn has_words_here(&self, _: &NamespaceId) -> bool {
        true
    }

    fn reach_every(&self) -> Duration {
        PATIENCE
    }
}

fn document(id: &str, text: &str) -> Document {
    let passage = Passage {
        id: PassageId::new(id),
        ordinal: 0,
        text: text.to_owned(),
        span: Span::new(0, text.chars().count()),
        pointer: Pointer::Line(1),
        headings: vec![],
    };
    Document {
        id: DocumentId::new(id),
        title: String::new(),
        attributes: [].into(),
        metadata: serde_json::Value::Null,
        fingerprint: String::new(),
        passages: vec![passage],
    }
}

#[test]
fn words_beside_the_vector_and_nearness_beside_the_words_of_candidates() {
    let folder = tempfile::tempdir().unwrap();
    let begun = Arc::new(Begun::default());
    let config = Config::for_one_machine();
    let store = Store::open_with(folder.path(), &config, Clock::fixed(Timestamp(0)), |catalogue| {
        let inner = EmbeddedEngine::open(folder.path(), &config, catalogue, "test")?;
        Ok(Arc::new(Far { inner, begun: Arc::clone(&begun) }))
    });
    let store = store.unwrap();
    let namespace = NamespaceId::new("notes");
    let space = VectorSpace { embedder: "spotter@1".to_owned(), dimensions: 4 };
    store.create_namespace(&namespace, &Manifest::current(Some(space))).unwrap();
    let texts = [
        ("roof", "A red roof needs new tiles."),
        ("wall", "The wall is red."),
        ("river", "A river below the roof."),
    ];
    let documents: Vec<Document> = texts.iter().map(|(id, text)| document(id, text)).collect();
    store.upsert(&namespace, &documents).unwrap();
    let vectors: Vec<_> =
        texts.iter().map(|(id, text)| (PassageId::new(*id), vector(text))).collect();
    store.set_vectors(&namespace, &vectors).unwrap();

    let spotter = Arc::new(Spotter { id: EmbedderId::new("spotter", "1"), begun: begun.clone() });
    let source = move || Ok(Arc::clone(&spotter) as Arc<dyn Embedder>);
    let retriever = Retriever::new(Arc::new(store), Arc::new(source));
    let response = retriever
        .search(&Request {
            query: "red roof",
            scopes: &[Scope { namespace, filter: Filter::All }],
            limit: 10,
            offset: 0,
            threshold: None,
            grouping: Grouping::Documents,
            // One by vector, so that the others are asked about.
            pipeline: &Pipeline { n_by_vector: 1, ..Pipeline::default() },
            deadline: &Deadline::after(Duration::from_secs(60)),
        })
        .unwrap();
    assert_eq!(response.hits.len(), 3);
    assert_eq!(response.hits[0].hit.document.as_str(), "roof");
    let mut names = begun.names.lock().clone();
    names.sort_unstable();
    assert_eq!(names, ["nearness of candidates", "vectors", "words"]);
}
