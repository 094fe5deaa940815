//! The law of ranking: candidates by words are what a plain BM25 over the same analyser gives, in
//! the same order and with the same scores, for any documents and any question.
//!
//! Lengths stay below 40 words, up to which the embedded index keeps them exactly.
#![allow(clippy::unwrap_used, reason = "a helper of tests fails the test")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use model::{Clock, Deadline, NamespaceId, Timestamp};
use net::Secret;
use proptest::prelude::*;
use store::conformance::document;
use store::{
    Bm25, Clause, Config, Document, Filter, Form, Manifest, Matched, Store, TurbopufferConfig,
    WordsQuery,
};
use testkit::turbopuffer::TurbopufferServer;

const VOCABULARY: [&str; 14] = [
    "apple",
    "apples",
    "Apple",
    "pear",
    "running",
    "runs",
    "mărul",
    "marul",
    "東京都",
    "京都",
    "the",
    "of",
    "naïve",
    "v2.1",
];

#[derive(Debug, Clone)]
struct Fixture {
    documents: Vec<(String, Vec<String>)>,
    question: String,
    bm25: Bm25,
    title_boost: f32,
    exact_boost: f32,
}

fn words(n_words: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&VOCABULARY[..]), n_words)
        .prop_map(|words| words.join(" "))
}

fn fixture() -> impl Strategy<Value = Fixture> {
    let document = (words(0..4), prop::collection::vec(words(1..12), 1..4));
    let documents = prop::collection::vec(document, 1..12);
    let numbers =
        prop::sample::select(vec![Bm25::PASSAGES, Bm25::KNOWLEDGE, Bm25 { k1: 0.4, b: 1.0 }]);
    (documents, words(1..4), numbers, prop::sample::select(vec![0.0f32, 0.5]), 0..2u8).prop_map(
        |(documents, question, bm25, title_boost, exact)| Fixture {
            documents,
            question,
            bm25,
            title_boost,
            exact_boost: f32::from(exact) * 0.3,
        },
    )
}

/// The words of one passage in both forms, as the analyser cuts them.
struct Cut {
    text: Vec<[String; 2]>,
    title: Vec<[String; 2]>,
}

fn cut(documents: &[Document]) -> BTreeMap<String, (usize, Cut)> {
    let mut passages = BTreeMap::new();
    let mut order = 0;
    for document in documents {
        let mut sample = document.title.clone();
        for passage in &document.passages {
            sample.push('\n');
            sample.push_str(&passage.text);
        }
        let language = text::detect_language(&sample);
        let cut = |of: &str| {
            let mut words = vec![];
            let mut scratch = text::Scratch::new();
            text::Analyzer::new().visit(
                of,
                language,
                &mut scratch,
                &mut |token: &text::TokenRef<'_>| {
                    words.push([token.exact.to_owned(), token.stem.to_owned()]);
                },
            );
            words
        };
        for passage in &document.passages {
            let cut = Cut { text: cut(&passage.text), title: cut(&document.title) };
            passages.insert(passage.id.to_string(), (order, cut));
            order += 1;
        }
    }
    passages
}

/// How passages are counted that hold several terms of one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Counting {
    /// Once.
    Together,
    /// Once for each term: the embedded index adds up its counts, which is quick and differs only
    /// where a passage holds the word in two stems.
    Summed,
}

fn naive(
    fixture: &Fixture,
    query: &WordsQuery,
    documents: &[Document],
    counting: Counting,
) -> Vec<(String, f64)> {
    let passages = cut(documents);
    let n_passages = passages.len() as f64;
    let holds = |words: &[[String; 2]], form: Form, terms: &[String]| {
        words.iter().filter(|word| terms.contains(&word[form as usize])).count() as f64
    };
    let field = |cut: &Cut, is_title: bool| -> Vec<[String; 2]> {
        if is_title { cut.title.clone() } else { cut.text.clone() }
    };
    let mut scored = vec![];
    for (id, (order, of_passage)) in &passages {
        let (mut score, mut is_match) = (0.0, false);
        for clause in &query.should {
            let Clause::Word { form, terms, boost } = clause else { unreachable!() };
            for (is_title, weight) in [(false, 1.0), (true, f64::from(fixture.title_boost))] {
                let words = field(of_passage, is_title);
                let frequency = holds(&words, *form, terms);
                if weight == 0.0 || frequency == 0.0 {
                    continue;
                }
                is_match = true;
                let all = || passages.values().map(|(_, cut)| field(cut, is_title));
                let mean = all().map(|words| words.len() as f64).sum::<f64>() / n_passages;
                let n_holding_one = |terms: &[String]| {
                    all().filter(|words| holds(words, *form, terms) > 0.0).count() as f64
                };
                let n_holding = match counting {
                    Counting::Together => n_holding_one(terms),
                    Counting::Summed => terms
                        .iter()
                        .map(|term| n_holding_one(std::slice::from_ref(term)))
                        .sum::<f64>()
                        .min(n_passages),
                };
                let idf = (1.0 + (n_passages - n_holding + 0.5) / (n_holding + 0.5)).ln();
                let (k1, b) = (f64::from(fixture.bm25.k1), f64::from(fixture.bm25.b));
                let norm = k1 * (1.0 - b + b * words.len() as f64 / mean);
                score +=
                    f64::from(*boost) * weight * idf * (k1 + 1.0) * frequency / (frequency + norm);
            }
        }
        if is_match {
            scored.push((id.clone(), score, *order));
        }
    }
    scored.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.2.cmp(&other.2)));
    scored.into_iter().map(|(id, score, _)| (id, score)).collect()
}

fn check(store: &Store, fixture: &Fixture, counting: Counting) {
    // A name of its own, so that a fixture that fails leaves nothing to the smaller ones.
    static N_WORLDS: AtomicUsize = AtomicUsize::new(0);
    let namespace = NamespaceId::new(format!("law{}", N_WORLDS.fetch_add(1, Ordering::Relaxed)));
    store.create_namespace(&namespace, &Manifest::current(None)).unwrap();
    let documents: Vec<Document> = fixture
        .documents
        .iter()
        .enumerate()
        .map(|(idx, (title, texts))| {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let mut document = document(&format!("d{idx:02}"), &texts);
            document.title = title.clone();
            document
        })
        .collect();
    store.upsert(&namespace, &documents).unwrap();
    let query = WordsQuery::from_text(
        &fixture.question,
        fixture.bm25,
        fixture.title_boost,
        fixture.exact_boost,
    );
    let expected = naive(fixture, &query, &documents, counting);
    let deadline = Deadline::after(Duration::from_secs(60));
    let found = store.by_words(&namespace, &query, &Filter::All, 1_000, &deadline).unwrap();
    assert_eq!(found.hits.len(), expected.len(), "{fixture:?}");
    for (hit, (id, score)) in found.hits.iter().zip(&expected) {
        assert!((f64::from(hit.score) - score).abs() < 1e-3, "{hit:?} {id} {score} {fixture:?}");
    }
    // Where the scores differ clearly, the order is the same too.
    for (idx, pair) in expected.windows(2).enumerate() {
        if pair[0].1 - pair[1].1 > 1e-3 && (idx == 0 || expected[idx - 1].1 - pair[0].1 > 1e-3) {
            assert_eq!(found.hits[idx].passage.as_str(), pair[0].0, "{fixture:?}");
        }
    }
    counts_as_it_finds(store, &namespace, &query);
    // Replaced and deleted documents leave numbers behind that nothing has any more.
    let n_half = documents.len() / 2;
    store.upsert(&namespace, &documents[n_half..]).unwrap();
    let gone: Vec<_> = documents.iter().step_by(3).map(|document| document.id.clone()).collect();
    store.delete(&namespace, &gone).unwrap();
    counts_as_it_finds(store, &namespace, &query);
    store.drop_namespace(&namespace).unwrap();
}

/// An engine that counts by words counts what its searches find.
fn counts_as_it_finds(store: &Store, namespace: &NamespaceId, query: &WordsQuery) {
    let deadline = Deadline::after(Duration::from_secs(60));
    let found = store.by_words(namespace, query, &Filter::All, 1_000, &deadline).unwrap();
    let documents: BTreeSet<_> = found.hits.iter().map(|hit| &hit.document).collect();
    let expected =
        Matched { n_documents: documents.len(), n_passages: found.hits.len(), is_exact: true };
    if let Some(matched) = store.count(namespace, Some(query), &Filter::All, &deadline).unwrap() {
        assert_eq!(matched, expected, "{query:?}");
    }
}

fn clock() -> Clock {
    Clock::fixed(Timestamp(0))
}

#[test]
fn the_embedded_store_ranks_as_a_plain_bm25_does() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), &Config::for_one_machine(), clock()).unwrap();
    proptest!(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() },
        |(fixture in fixture())| { check(&store, &fixture, Counting::Summed); });
}

#[test]
fn turbopuffer_ranks_as_a_plain_bm25_does() {
    let folder = tempfile::tempdir().unwrap();
    let server = TurbopufferServer::start();
    let settings = TurbopufferConfig {
        base_url: Some(server.url()),
        region: None,
        key: Secret::new(server.key()),
        namespace_prefix: "law-".to_owned(),
    };
    let config = Config::for_one_machine();
    let store = Store::open_with_turbopuffer(folder.path(), &config, &settings, clock()).unwrap();
    proptest!(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() },
        |(fixture in fixture())| { check(&store, &fixture, Counting::Together); });
}
