//! Documents go through the write path whole, once, and within bounds; vectors follow.
#![allow(clippy::unwrap_used, reason = "a helper of tests fails the test")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use infer::{Embedder, EmbedderChoice, EmbedderId, EmbedderSlot};
use ingest::{
    Cut, Embedding, Error, Gone, Hooks, Item, ItemContent, ListSource, Pipeline, Prepared,
    Progress, Source, Stage, Target, VectorDebt, Vectors,
};
use model::{
    Block, BlockKind, Clock, Deadline, DocumentId, NamespaceId, PassageId, Pointer, Timestamp,
    Warning,
};
use proptest::prelude::*;
use store::{Config, DocumentPage, Manifest, Store};

fn store(folder: &std::path::Path) -> Arc<Store> {
    let clock = Clock::fixed(Timestamp(0));
    Arc::new(Store::open(folder, &Config::for_one_machine(), clock).unwrap())
}

fn namespace() -> NamespaceId {
    NamespaceId::new("pipeline")
}

fn item(id: &str, fingerprint: &str) -> Item {
    let mut item = Item::new(DocumentId::new(id), "");
    item.fingerprint = fingerprint.to_owned();
    item
}

fn markdown(id: &str, fingerprint: &str, text: &str) -> (Item, ItemContent) {
    (item(id, fingerprint), ItemContent::bytes(text, format!("{id}.md")))
}

/// Turns a text into a vector by counting letters.
struct LetterCounter {
    id: EmbedderId,
    n_embedded: AtomicUsize,
}

impl Embedder for LetterCounter {
    fn id(&self) -> &EmbedderId {
        &self.id
    }

    fn dimensions(&self) -> usize {
        26
    }

    fn max_tokens(&self) -> usize {
        1_000
    }

    fn embed_query(&self, query: &str, _: &Deadline) -> infer::Result<Vec<f32>> {
        let mut vector = vec![0.1; 26];
        for letter in query.bytes().filter(u8::is_ascii_lowercase) {
            vector[usize::from(letter - b'a')] += 1.0;
        }
        Ok(vector)
    }

    fn embed_passages(
        &self,
        passages: &[&str],
        deadline: &Deadline,
    ) -> infer::Result<Vec<Vec<f32>>> {
        self.n_embedded.fetch_add(passages.len(), Ordering::Relaxed);
        passages.iter().map(|passage| self.embed_query(passage, deadline)).collect()
    }
}

#[test]
fn documents_are_written_once_and_changes_are_seen() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    store.create_namespace(&namespace(), &Manifest::current(None)).unwrap();
    let pipeline = Pipeline::in_process(store.clone(), namespace(), Cut::prose());
    let run = |items| pipeline.run(&mut ListSource::new(items), &Progress::silent()).unwrap();
    let report =
        run(vec![markdown("a", "1", "# Alpha\n\nFirst text."), markdown("b", "1", "Second text.")]);
    assert_eq!((report.n_seen, report.n_written, report.n_unchanged), (2, 2, 0));
    let info = store.document(&namespace(), &DocumentId::new("a")).unwrap().unwrap();
    assert_eq!(info.title, "Alpha", "the title comes from the document");
    let report = run(vec![
        markdown("a", "1", "# Alpha\n\nFirst text."),
        markdown("b", "2", "Another text."),
    ]);
    assert_eq!((report.n_written, report.n_unchanged), (1, 1));
    let passages = store.passages_of(&namespace(), &DocumentId::new("b")).unwrap();
    assert_eq!(passages[0].text, "Another text.");
    assert_eq!(passages[0].id.as_str(), "b#0");
}

#[test]
fn many_documents_pass_through_small_queues() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    store.create_namespace(&namespace(), &Manifest::current(None)).unwrap();
    let mut pipeline = Pipeline::in_process(store.clone(), namespace(), Cut::prose());
    pipeline.n_extractors = 3;
    let items = (0..700)
        .map(|number| {
            let block =
                Block::new(format!("Text {number}."), Pointer::Line(1), BlockKind::Paragraph);
            (item(&format!("d{number:03}"), ""), ItemContent::Blocks(vec![block]))
        })
        .collect();
    let last = Arc::new(AtomicUsize::new(0));
    let seen = last.clone();
    let progress = Progress::watched(move |stage, n_done, n_total| {
        assert_eq!((stage, n_total), (Stage::Writing, 700));
        seen.fetch_max(n_done, Ordering::Relaxed);
    });
    let report = pipeline.run(&mut ListSource::new(items), &progress).unwrap();
    assert_eq!((report.n_written, report.n_passages), (700, 700));
    assert_eq!(last.load(Ordering::Relaxed), 700);
    let page = DocumentPage { limit: 1_000, ..DocumentPage::default() };
    assert_eq!(store.documents(&namespace(), &page).unwrap().len(), 700);
}

/// Gives one good document, one that cannot be named and one that cannot be read.
struct Troubled(usize);

impl Source for Troubled {
    fn next_item(&mut self) -> Option<Result<Item, Warning>> {
        self.0 += 1;
        match self.0 {
            1 => Some(Ok(item("good", ""))),
            2 => Some(Err(Warning::new("unreadable", "no such file"))),
            3 => Some(Ok(item("bad", ""))),
            4 => Some(Ok(item(&"long".repeat(5_000), ""))),
            _ => None,
        }
    }

    fn content(&mut self, item: &Item) -> Result<ItemContent, Warning> {
        match item.id.as_str() {
            "bad" => Err(Warning::new("unreadable", "broken")),
            _ => Ok(ItemContent::bytes("Some text.", "x.txt")),
        }
    }
}

#[test]
fn bad_documents_are_warnings() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    store.create_namespace(&namespace(), &Manifest::current(None)).unwrap();
    let pipeline = Pipeline::in_process(store.clone(), namespace(), Cut::prose());
    let report = pipeline.run(&mut Troubled(0), &Progress::silent()).unwrap();
    assert_eq!((report.n_seen, report.n_written, report.n_failed), (4, 2, 2));
    assert_eq!(report.n_warnings, 3);
    let bad = store.document(&namespace(), &DocumentId::new("bad")).unwrap().unwrap();
    assert_eq!(bad.n_passages, 0, "it is known by its name until it can be read");
    assert_eq!(store.counts(&namespace()).unwrap().n_documents, 2);
    let report = pipeline.run(&mut Troubled(0), &Progress::silent()).unwrap();
    assert_eq!((report.n_written, report.n_failed), (1, 3), "it is tried again, not written");
}

/// Counts what is written.
struct CountingHooks(Cut, AtomicUsize);

impl Hooks for CountingHooks {
    fn cut(&self, item: &Item, blocks: Vec<Block>) -> Result<Vec<model::Passage>, Warning> {
        self.0.cut(item, blocks)
    }

    fn write(
        &self,
        target: &Target<'_>,
        batch: &mut [Prepared],
    ) -> ingest::Result<store::Upserted> {
        self.1.fetch_add(batch.len(), Ordering::Relaxed);
        let documents: Vec<_> = batch.iter().map(|one| one.document.clone()).collect();
        Ok(target.store.upsert(target.namespace, &documents)?)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever a source has from run to run, the store has the same afterwards; only what changed
    /// is written, and a second look finds nothing to do.
    #[test]
    fn the_store_follows_the_source(
        runs in prop::collection::vec(prop::collection::btree_map(0..6_u8, 0..3_u8, 0..6), 1..5),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path());
        store.create_namespace(&namespace(), &Manifest::current(None)).unwrap();
        let mut before = std::collections::BTreeMap::new();
        for now in runs {
            let source = || {
                let items = now.iter().map(|(id, version)| {
                    markdown(&format!("d{id}"), &version.to_string(), &format!("Text {version}."))
                });
                ListSource::new(items.collect())
            };
            let hooks = Arc::new(CountingHooks(Cut::prose(), AtomicUsize::new(0)));
            let pipeline = Pipeline {
                gone: Gone::Remove,
                hooks: hooks.clone(),
                ..Pipeline::in_process(store.clone(), namespace(), Cut::prose())
            };
            prop_assert_eq!(pipeline.has_changes(&mut source()).unwrap(), before != now);
            let report = pipeline.run(&mut source(), &Progress::silent()).unwrap();
            prop_assert!(!pipeline.has_changes(&mut source()).unwrap());
            let n_changed =
                now.iter().filter(|(id, version)| before.get(*id) != Some(*version)).count();
            let n_gone = before.keys().filter(|id| !now.contains_key(*id)).count();
            prop_assert_eq!((report.n_written, report.n_removed), (n_changed, n_gone));
            prop_assert_eq!(hooks.1.load(Ordering::Relaxed), n_changed);
            prop_assert_eq!(report.n_unchanged, now.len() - n_changed);
            let page = DocumentPage { limit: 100, ..DocumentPage::default() };
            let stored: std::collections::BTreeMap<u8, u8> = store
                .documents(&namespace(), &page)
                .unwrap()
                .iter()
                .map(|one| (one.id.as_str()[1..].parse().unwrap(), one.fingerprint.parse().unwrap()))
                .collect();
            prop_assert_eq!(&stored, &now);
            before = now;
        }
    }
}

#[test]
fn missing_vectors_are_a_debt_that_is_paid_whatever_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    store.create_namespace(&namespace(), &Manifest::current(None)).unwrap();
    let pipeline = Pipeline::in_process(store.clone(), namespace(), Cut::prose());
    // Each has a text of its own: one that is the same would be embedded once.
    let items = (0..200).map(|number| {
        markdown(&format!("d{number:03}"), "1", &format!("Some qqq in number {number}."))
    });
    pipeline.run(&mut ListSource::new(items.collect()), &Progress::silent()).unwrap();

    let off = Vectors::new(store.clone(), Arc::new(EmbedderSlot::new(EmbedderChoice::Off)));
    assert_eq!(off.pay(&Progress::silent()).unwrap(), 0);
    let debt = VectorDebt { n_passages: 200, n_without: 200 };
    assert_eq!(off.debt([&namespace()]).unwrap(), debt);
    // Every answer says which part is found by vector, also when that was decided.
    assert!(off.warning(200, 0).unwrap().message.starts_with("0 passages can be found by vector"));
    assert_eq!(off.warning(0, 0), None, "there is nothing to find");

    // A model arrives.
    let with_model = |version: &str| {
        let id = EmbedderId::new("letters", version);
        let embedder = Arc::new(LetterCounter { id, n_embedded: 0.into() });
        let slot = Arc::new(EmbedderSlot::holding(embedder.clone()));
        (Vectors::new(store.clone(), slot), embedder)
    };
    let (vectors, embedder) = with_model("1");
    assert!(vectors.warning(200, 0).unwrap().message.starts_with("0 of 200"));
    let cancelled = Progress::silent();
    cancelled.cancel();
    assert_eq!(vectors.pay(&cancelled).unwrap(), 0);
    vectors.want(&namespace(), [PassageId::new("d150#0"), PassageId::new("gone")]);
    assert_eq!(vectors.pay(&Progress::silent()).unwrap(), 200);
    assert_eq!(vectors.debt([&namespace()]).unwrap().n_without, 0);
    assert_eq!(vectors.pay(&Progress::silent()).unwrap(), 0);
    assert_eq!(embedder.n_embedded.load(Ordering::Relaxed), 200);

    // Another model takes its place.
    let (vectors, embedder) = with_model("2");
    assert_eq!(vectors.pay(&Progress::silent()).unwrap(), 200);
    assert_eq!(embedder.n_embedded.load(Ordering::Relaxed), 200);

    // The worker notices by itself.
    pipeline
        .run(&mut ListSource::new(vec![markdown("new", "1", "More.")]), &Progress::silent())
        .unwrap();
    let worker = vectors.start().unwrap();
    vectors.wake();
    while vectors.debt([&namespace()]).unwrap().n_without > 0 {
        std::thread::yield_now();
    }
    drop(worker);
}

/// Gives a vector to each text, and remembers the texts in their order.
struct Remembering {
    id: EmbedderId,
    texts: Mutex<Vec<String>>,
}

impl Embedder for Remembering {
    fn id(&self) -> &EmbedderId {
        &self.id
    }

    fn dimensions(&self) -> usize {
        2
    }

    fn max_tokens(&self) -> usize {
        1_000
    }

    fn embed_query(&self, _: &str, _: &Deadline) -> infer::Result<Vec<f32>> {
        Ok(vec![1.0, 0.5])
    }

    fn embed_passages(&self, passages: &[&str], _: &Deadline) -> infer::Result<Vec<Vec<f32>>> {
        self.texts.lock().unwrap().extend(passages.iter().map(|text| (*text).to_owned()));
        Ok(passages.iter().map(|_| vec![1.0, 0.5]).collect())
    }
}

#[test]
fn passages_that_people_ask_for_get_their_vectors_first() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    store.create_namespace(&namespace(), &Manifest::current(None)).unwrap();
    let pipeline = Pipeline::in_process(store.clone(), namespace(), Cut::prose());
    let items = (0..100).map(|n| markdown(&format!("d{n:03}"), "1", &format!("Number {n}.")));
    pipeline.run(&mut ListSource::new(items.collect()), &Progress::silent()).unwrap();
    let id = EmbedderId::new("remembering", "1");
    let embedder = Arc::new(Remembering { id, texts: Mutex::default() });
    let vectors = Vectors::new(store.clone(), Arc::new(EmbedderSlot::holding(embedder.clone())));
    vectors.want(&namespace(), [PassageId::new("d090#0"), PassageId::new("d091#0")]);
    assert_eq!(vectors.pay(&Progress::silent()).unwrap(), 100);
    let texts = embedder.texts.lock().unwrap();
    assert_eq!(texts[..2], ["Number 90.", "Number 91."]);
    assert_eq!(texts.len(), 100, "none is made twice");
}

/// What a query had to make is stored by the worker, and not made once more; a text that was written
/// anew meanwhile gets a vector of its own.
#[test]
fn vectors_made_for_a_query_are_stored_and_not_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    store.create_namespace(&namespace(), &Manifest::current(None)).unwrap();
    let pipeline = Pipeline::in_process(store.clone(), namespace(), Cut::prose());
    let write = |items| pipeline.run(&mut ListSource::new(items), &Progress::silent()).unwrap();
    let text = |n: usize| format!("Number {n}.");
    write((0..100).map(|n| markdown(&format!("d{n:03}"), "1", &text(n))).collect());
    let id = EmbedderId::new("remembering", "1");
    let embedder = Arc::new(Remembering { id, texts: Mutex::default() });
    let vectors = Vectors::new(store.clone(), Arc::new(EmbedderSlot::holding(embedder.clone())));

    let ids = [PassageId::new("d090#0"), PassageId::new("d091#0")];
    let stored: Vec<_> =
        store.passages(&namespace(), &ids).unwrap().into_iter().flatten().collect();
    let passages: Vec<_> = stored.iter().collect();
    let deadline = Deadline::after(std::time::Duration::from_secs(60));
    for _ in 0..2 {
        let made = vectors.make_now(&*embedder, &namespace(), &passages, &deadline).unwrap();
        assert_eq!(made.len(), 2);
    }
    assert_eq!(*embedder.texts.lock().unwrap(), [text(90), text(91)]);

    write(vec![markdown("d091", "2", "Written anew.")]);
    assert_eq!(vectors.pay(&Progress::silent()).unwrap(), 100);
    assert_eq!(vectors.debt([&namespace()]).unwrap().n_without, 0);
    let texts = embedder.texts.lock().unwrap();
    assert_eq!(texts.len(), 101, "{texts:?}");
    assert_eq!(texts[2], "Written anew.", "what was asked for comes first");
    assert_eq!(texts.iter().filter(|made| **made == text(90)).count(), 1);
}

/// A search on the command line ends with its answer: each makes what it was asked for, so that a
/// model that came later is of use without a server.
#[test]
fn a_process_without_a_worker_makes_what_was_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    store.create_namespace(&namespace(), &Manifest::current(None)).unwrap();
    let pipeline = Pipeline::in_process(store.clone(), namespace(), Cut::prose());
    let items = (0..100).map(|n| markdown(&format!("d{n:03}"), "1", &format!("Number {n}.")));
    pipeline.run(&mut ListSource::new(items.collect()), &Progress::silent()).unwrap();
    let with_model = |version: &str| {
        let id = EmbedderId::new("letters", version);
        let embedder = Arc::new(LetterCounter { id, n_embedded: 0.into() });
        Vectors::new(store.clone(), Arc::new(EmbedderSlot::holding(embedder)))
    };
    let vectors = with_model("1");
    assert_eq!(vectors.pay_asked().unwrap(), 0, "nobody asked");
    vectors.want(&namespace(), (0..80).map(|n| PassageId::new(format!("d{n:03}#0"))));
    assert_eq!(vectors.pay_asked().unwrap(), 80);
    assert_eq!(vectors.debt([&namespace()]).unwrap().n_without, 20);
    // Another model would make all vectors anew, which is not the work of one search.
    let other = with_model("2");
    other.want(&namespace(), [PassageId::new("d090#0")]);
    assert_eq!(other.pay_asked().unwrap(), 0);
    assert_eq!(other.debt([&namespace()]).unwrap().n_without, 20);
}

/// A command that writes and ends left its vectors to a server that may never run, and what shares
/// no word with a question was not found.
#[test]
fn a_process_without_a_worker_makes_what_it_wrote_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let names = ["own", "of_others", "of_another_model"].map(NamespaceId::new);
    let another = Embedding::space_of(&LetterCounter {
        id: EmbedderId::new("letters", "0"),
        n_embedded: 0.into(),
    });
    for (name, space) in names.iter().zip([None, None, Some(another)]) {
        store.create_namespace(name, &Manifest::current(space)).unwrap();
        let pipeline = Pipeline::in_process(store.clone(), name.clone(), Cut::prose());
        let items = (0..70).map(|n| markdown(&format!("d{n:03}"), "1", &format!("Number {n}.")));
        pipeline.run(&mut ListSource::new(items.collect()), &Progress::silent()).unwrap();
    }
    let id = EmbedderId::new("letters", "1");
    let embedder = Arc::new(LetterCounter { id, n_embedded: 0.into() });
    let vectors = Vectors::new(store, Arc::new(EmbedderSlot::holding(embedder)));
    assert_eq!(vectors.pay_written(&Progress::silent()).unwrap(), 0, "nothing was written");
    let [own, of_others, of_another_model] = &names;
    vectors.written(own.clone());
    vectors.written(of_another_model.clone());
    assert_eq!(vectors.pay_written(&Progress::silent()).unwrap(), 70);
    let n_without = |name| vectors.debt([name]).unwrap().n_without;
    assert_eq!([own, of_others, of_another_model].map(n_without), [0, 70, 70]);
    assert_eq!(vectors.pay_written(&Progress::silent()).unwrap(), 0, "it is done");
}

/// A base that was asked waited for its vectors until a larger one had all of its own.
#[test]
fn what_is_asked_does_not_wait_behind_what_is_larger() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let fill = |name: &str, n_documents: usize| {
        let namespace = NamespaceId::new(name);
        store.create_namespace(&namespace, &Manifest::current(None)).unwrap();
        let pipeline = Pipeline::in_process(store.clone(), namespace.clone(), Cut::prose());
        let items =
            (0..n_documents).map(|n| markdown(&format!("d{n:03}"), "1", &format!("{name} {n}.")));
        pipeline.run(&mut ListSource::new(items.collect()), &Progress::silent()).unwrap();
        namespace
    };
    fill("a-large", 300);
    fill("b-small", 70);
    let asked = fill("c-asked", 200);
    let id = EmbedderId::new("remembering", "1");
    let embedder = Arc::new(Remembering { id, texts: Mutex::default() });
    let vectors = Vectors::new(store.clone(), Arc::new(EmbedderSlot::holding(embedder.clone())));
    // Nothing was found, since words alone do not answer the question.
    assert!(vectors.notice(200, 0, [asked], []).is_some());
    assert_eq!(vectors.pay(&Progress::silent()).unwrap(), 570);
    let order: Vec<String> = {
        let texts = embedder.texts.lock().unwrap();
        let mut order: Vec<String> =
            texts.iter().map(|text| text.split(' ').next().unwrap().to_owned()).collect();
        order.dedup();
        order
    };
    assert_eq!(order, ["c-asked", "b-small", "a-large"]);
}

/// Calls something before it makes the first vectors.
struct Interrupted<F> {
    inner: Remembering,
    first: Mutex<Option<F>>,
}

impl<F: FnOnce() + Send> Embedder for Interrupted<F> {
    fn id(&self) -> &EmbedderId {
        &self.inner.id
    }

    fn dimensions(&self) -> usize {
        self.inner.dimensions()
    }

    fn max_tokens(&self) -> usize {
        self.inner.max_tokens()
    }

    fn embed_query(&self, query: &str, deadline: &Deadline) -> infer::Result<Vec<f32>> {
        self.inner.embed_query(query, deadline)
    }

    fn embed_passages(
        &self,
        passages: &[&str],
        deadline: &Deadline,
    ) -> infer::Result<Vec<Vec<f32>>> {
        let first = self.first.lock().unwrap().take();
        if let Some(first) = first {
            first();
        }
        self.inner.embed_passages(passages, deadline)
    }
}

/// What came after the worker had begun was not known to it, and what people wanted of it was
/// forgotten.
#[test]
fn passages_of_a_namespace_that_came_meanwhile_are_not_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    store.create_namespace(&namespace(), &Manifest::current(None)).unwrap();
    let pipeline = Pipeline::in_process(store.clone(), namespace(), Cut::prose());
    let items = (0..300).map(|n| markdown(&format!("d{n:03}"), "1", &format!("old {n}.")));
    pipeline.run(&mut ListSource::new(items.collect()), &Progress::silent()).unwrap();
    let vectors: Arc<std::sync::OnceLock<Arc<Vectors>>> = Arc::default();
    let came = NamespaceId::new("came");
    let first = {
        let (store, vectors, came) = (store.clone(), vectors.clone(), came.clone());
        move || {
            store.create_namespace(&came, &Manifest::current(None)).unwrap();
            let pipeline = Pipeline::in_process(store.clone(), came.clone(), Cut::prose());
            let items = vec![markdown("n", "1", "new.")];
            pipeline.run(&mut ListSource::new(items), &Progress::silent()).unwrap();
            vectors.get().unwrap().want(&came, [PassageId::new("n#0")]);
        }
    };
    let inner = Remembering { id: EmbedderId::new("r", "1"), texts: Mutex::default() };
    let embedder = Arc::new(Interrupted { inner, first: Mutex::new(Some(first)) });
    let slot = Arc::new(EmbedderSlot::holding(embedder.clone()));
    let vectors = vectors.get_or_init(|| Vectors::new(store.clone(), slot));
    vectors.pay(&Progress::silent()).unwrap();
    let texts = embedder.inner.texts.lock().unwrap();
    let place = texts.iter().position(|text| text == "new.").expect("it has its vector");
    assert!(place < 2 * ingest::limits::PASSAGES_PER_EMBEDDING, "{place}");
    assert_eq!(vectors.debt([&came]).unwrap().n_without, 0);
}

#[test]
fn a_cancelled_run_stops_and_keeps_what_it_wrote() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    store.create_namespace(&namespace(), &Manifest::current(None)).unwrap();
    let pipeline = Pipeline::in_process(store.clone(), namespace(), Cut::prose());
    let progress = Progress::silent();
    progress.cancel();
    let items = vec![markdown("a", "1", "Text.")];
    let error = pipeline.run(&mut ListSource::new(items), &progress).unwrap_err();
    assert!(matches!(error, Error::Cancelled));
    assert_eq!(store.counts(&namespace()).unwrap().n_documents, 0);
}

#[test]
fn vectors_follow_and_unchanged_passages_are_not_embedded_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let embedder =
        Arc::new(LetterCounter { id: EmbedderId::new("letters", "1"), n_embedded: 0.into() });
    let space = Embedding::space_of(&*embedder);
    store.create_namespace(&namespace(), &Manifest::current(Some(space))).unwrap();
    let pipeline = Pipeline::in_process(store.clone(), namespace(), Cut::prose());
    let embedding =
        Embedding { store: store.clone(), namespace: namespace(), embedder: embedder.clone() };
    let items = |second: &str| vec![markdown("a", "", "Lots of zzz."), markdown("b", "", second)];
    pipeline.run(&mut ListSource::new(items("Some qqq.")), &Progress::silent()).unwrap();
    assert_eq!(store.counts(&namespace()).unwrap().vector_coverage(), 0.0);
    assert_eq!(embedding.run(&Progress::silent()).unwrap().n_embedded, 2);
    assert_eq!(store.counts(&namespace()).unwrap().vector_coverage(), 1.0);
    let deadline = Deadline::after(std::time::Duration::from_secs(30));
    let question = embedder.embed_query("qqqq", &deadline).unwrap();
    let found =
        store.by_vector(&namespace(), &question, &store::Filter::All, 1, &deadline).unwrap();
    assert_eq!(found.hits[0].document.as_str(), "b");
    pipeline.run(&mut ListSource::new(items("Some xxx.")), &Progress::silent()).unwrap();
    assert_eq!(embedding.run(&Progress::silent()).unwrap().n_embedded, 1);
    assert_eq!(embedder.n_embedded.load(Ordering::Relaxed), 3);
    let stopped = Progress::silent();
    stopped.cancel();
    pipeline.run(&mut ListSource::new(items("Some yyy.")), &Progress::silent()).unwrap();
    assert_eq!(embedding.run(&stopped).unwrap().n_left, 1);
}
