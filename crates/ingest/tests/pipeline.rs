//! Documents go through the write path whole, once, and within bounds; vectors follow.
#![allow(clippy::unwrap_used, reason = "a helper of tests fails the test")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use infer::{Embedder, EmbedderId};
use ingest::{
    Cut, Embedding, Error, Item, ItemContent, ListSource, Pipeline, Progress, Source, Stage,
};
use model::{
    Block, BlockKind, Clock, Deadline, DocumentId, NamespaceId, Pointer, Timestamp, Warning,
};
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
    assert_eq!((report.n_seen, report.n_written, report.n_failed), (4, 1, 3));
    assert_eq!(report.n_warnings, 3);
    assert_eq!(store.counts(&namespace()).unwrap().n_documents, 1);
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
