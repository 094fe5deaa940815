//! A text that many passages have is embedded once, whatever the number of steps between them, and
//! each of its passages gets the vector and the token vectors.
#![allow(clippy::unwrap_used, reason = "a helper of tests fails the test")]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use infer::{EmbeddedText, Embedder, EmbedderId, EmbedderSlot, TokenVectors};
use ingest::{Cut, Item, ItemContent, ListSource, Pipeline, Progress, Vectors, limits};
use model::{Clock, Deadline, DocumentId, NamespaceId, PassageId, Timestamp};
use proptest::prelude::*;
use store::{Config, Manifest, Store};

/// Tells texts apart by their length, and counts how often it was asked for each.
struct Counting {
    id: EmbedderId,
    has_tokens: bool,
    n_calls: Mutex<BTreeMap<String, usize>>,
}

impl Counting {
    fn new(has_tokens: bool) -> Arc<Self> {
        let id = EmbedderId::new("counting", if has_tokens { "tokens" } else { "texts" });
        Arc::new(Counting { id, has_tokens, n_calls: Mutex::default() })
    }
}

impl Embedder for Counting {
    fn id(&self) -> &EmbedderId {
        &self.id
    }

    fn dimensions(&self) -> usize {
        2
    }

    fn max_tokens(&self) -> usize {
        1_000
    }

    fn embed_query(&self, query: &str, _: &Deadline) -> infer::Result<Vec<f32>> {
        Ok(vec![1.0, query.len() as f32])
    }

    fn embed_passages(&self, texts: &[&str], deadline: &Deadline) -> infer::Result<Vec<Vec<f32>>> {
        for text in texts {
            *self.n_calls.lock().unwrap().entry((*text).to_owned()).or_default() += 1;
        }
        texts.iter().map(|text| self.embed_query(text, deadline)).collect()
    }

    fn has_token_vectors(&self) -> bool {
        self.has_tokens
    }

    fn embed_passages_with_tokens(
        &self,
        texts: &[&str],
        deadline: &Deadline,
    ) -> infer::Result<Vec<EmbeddedText>> {
        let pooled = self.embed_passages(texts, deadline)?;
        let tokens = |text: &str| TokenVectors { dimensions: 2, flat: vec![0.5; 2 * text.len()] };
        let with_tokens = texts.iter().zip(pooled).map(|(text, pooled)| EmbeddedText {
            pooled,
            tokens: tokens(text),
            is_truncated: false,
        });
        Ok(with_tokens.collect())
    }
}

fn namespace() -> NamespaceId {
    NamespaceId::new("repeated")
}

/// Writes a document for each text, pays the debt, and gives how often each text was embedded.
fn embed(texts: &[String], has_tokens: bool) -> BTreeMap<String, usize> {
    let folder = tempfile::tempdir().unwrap();
    let clock = Clock::fixed(Timestamp(0));
    let store = Arc::new(Store::open(folder.path(), &Config::for_one_machine(), clock).unwrap());
    store.create_namespace(&namespace(), &Manifest::current(None)).unwrap();
    let pipeline = Pipeline::in_process(Arc::clone(&store), namespace(), Cut::prose());
    let items = texts.iter().enumerate().map(|(at, text)| {
        let id = format!("d{at:05}");
        (
            Item::new(DocumentId::new(&id), ""),
            ItemContent::bytes(text.as_str(), format!("{id}.txt")),
        )
    });
    pipeline.run(&mut ListSource::new(items.collect()), &Progress::silent()).unwrap();
    let embedder = Counting::new(has_tokens);
    let slot = Arc::new(EmbedderSlot::holding(Arc::clone(&embedder) as Arc<dyn Embedder>));
    let vectors = Vectors::new(Arc::clone(&store), slot);
    assert_eq!(vectors.pay(&Progress::silent()).unwrap(), texts.len());
    assert_eq!(vectors.debt([&namespace()]).unwrap().n_without, 0);
    if has_tokens {
        let ids: Vec<PassageId> =
            (0..texts.len()).map(|at| PassageId::new(format!("d{at:05}#0"))).collect();
        let blobs = store.blobs(&namespace(), &ids).unwrap();
        for (blob, text) in blobs.iter().zip(texts) {
            assert_eq!(
                infer::n_packed_tokens(blob.as_ref().unwrap()),
                Some(text.len()),
                "`{text}`"
            );
        }
    }
    let mut n_calls = embedder.n_calls.lock().unwrap().clone();
    n_calls.retain(|text, _| texts.contains(text));
    n_calls
}

#[test]
fn a_text_that_comes_in_every_step_is_embedded_once() {
    let n_texts = 3 * limits::PASSAGES_PER_EMBEDDING;
    let texts: Vec<String> =
        (0..n_texts).map(|at| format!("footer{}", "x".repeat(at % 5))).collect();
    for has_tokens in [false, true] {
        let n_calls = embed(&texts, has_tokens);
        assert_eq!(n_calls.len(), 5);
        assert!(n_calls.values().all(|n| *n == 1), "{n_calls:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn no_text_is_embedded_twice(kinds in prop::collection::vec(0usize..40, 1..200)) {
        let texts: Vec<String> = kinds.iter().map(|kind| format!("text{}", "y".repeat(*kind))).collect();
        let n_calls = embed(&texts, true);
        prop_assert!(n_calls.values().all(|n| *n == 1), "{n_calls:?}");
    }
}
