//! The turbopuffer store against a server on loopback that follows the documented API, with the
//! official client over real HTTP.
//!
//! - it keeps every law of the contract, whether or not the server lags for readers who allow it;
//! - words, vectors and figures for one question travel in one request;
//! - what is refused in passing, stalls, breaks off or is applied without an answer costs a
//!   repetition and never a passage, and nothing is doubled;
//! - what the engine could not take goes with the next change;
//! - ids are at most 64 bytes, and the answer names the id and the namespace that the engine has;
//! - the key appears in no error.
#![allow(clippy::unwrap_used, reason = "a helper of tests fails the test")]

use std::path::Path;
use std::time::Duration;

use model::{Clock, Deadline, DocumentId, NamespaceId, PassageId, Pointer, Timestamp};
use net::Secret;
use store::conformance::{self, document, space, vector};
use store::{
    Bm25, Both, Config, Error, Filter, Manifest, Repair, Store, TurbopufferConfig, WordsQuery,
};
use testkit::turbopuffer::{Fault, TurbopufferServer};

fn clock() -> Clock {
    Clock::fixed(Timestamp(1_700_000_000_000))
}

fn settings(server: &TurbopufferServer) -> TurbopufferConfig {
    TurbopufferConfig {
        base_url: Some(server.url()),
        region: None,
        key: Secret::new(server.key()),
        namespace_prefix: String::new(),
    }
}

fn open(folder: &Path, server: &TurbopufferServer) -> Store {
    let config = Config::for_one_machine();
    Store::open_with_turbopuffer(folder, &config, &settings(server), clock()).unwrap()
}

fn notes() -> NamespaceId {
    NamespaceId::new("notes")
}

fn made(store: &Store) {
    store.create_namespace(&notes(), &Manifest::current(Some(space()))).unwrap();
}

fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(60))
}

fn holding(store: &Store, word: &str) -> Vec<String> {
    let query = WordsQuery::from_text(word, Bm25::PASSAGES, 1.0, 0.0);
    let found = store.by_words(&notes(), &query, &Filter::All, 100, &soon()).unwrap();
    found.hits.iter().map(|hit| hit.passage.to_string()).collect()
}

fn n_requests(server: &TurbopufferServer, ending: &str) -> usize {
    server.requests().iter().filter(|request| request.path.contains(ending)).count()
}

const REFUSED: Fault = Fault::Refuse { status: 429, retry_after: Some(0) };

#[test]
fn every_law_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let server = TurbopufferServer::start();
    conformance::check_engine(&open(folder.path(), &server));
}

#[test]
fn every_law_is_kept_while_the_server_lags() {
    let folder = tempfile::tempdir().unwrap();
    let server = TurbopufferServer::start();
    server.lag();
    conformance::check_engine(&open(folder.path(), &server));
    let is_strong = |body: &serde_json::Value| body["consistency"]["level"] == "strong";
    let queries = server.requests().into_iter().filter(|request| request.path.contains("/query"));
    assert!(queries.into_iter().all(|request| is_strong(&request.json())));
}

#[test]
fn the_catalogue_keeps_every_law() {
    let folder = tempfile::tempdir().unwrap();
    let server = TurbopufferServer::start();
    conformance::check_catalogue(&*open(folder.path(), &server).catalogue());
}

#[test]
fn one_request_asks_by_words_and_by_vector() {
    let folder = tempfile::tempdir().unwrap();
    let server = TurbopufferServer::start();
    let store = open(folder.path(), &server);
    made(&store);
    store.upsert(&notes(), &[document("a", &["red apple", "green pear"])]).unwrap();
    store.set_vectors(&notes(), &[(PassageId::new("a#1"), vector(1, 0.1))]).unwrap();
    let before = n_requests(&server, "/query");
    let query = WordsQuery::from_text("apple", Bm25::PASSAGES, 1.0, 0.1);
    let both = Both {
        query: &query,
        vector: &vector(1, 0.1),
        filter: &Filter::All,
        n_by_words: 10,
        n_by_vector: 10,
    };
    let (words, near) = store.by_both(&notes(), &both, &soon());
    assert_eq!(words.unwrap().hits[0].passage.as_str(), "a#0");
    let near = near.unwrap();
    assert_eq!(near.hits.len(), 1, "a passage without a vector is not near to anything");
    assert_eq!(near.hits[0].passage.as_str(), "a#1");
    assert_eq!(n_requests(&server, "/query"), before + 1);
    let request = server.requests().pop().unwrap().json();
    let queries = request["queries"].as_array().unwrap();
    assert_eq!(queries[0]["rank_by"][1], "ANN");
    assert!(queries[1]["rank_by"].to_string().contains("BM25"));
}

#[test]
fn passing_refusals_are_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let server = TurbopufferServer::start();
    let store = open(folder.path(), &server);
    made(&store);
    let broken = Fault::Refuse { status: 503, retry_after: Some(0) };
    server.fail([REFUSED, broken.clone(), Fault::HangUp, REFUSED]);
    store.upsert(&notes(), &[document("a", &["one apple"])]).unwrap();
    assert_eq!(server.n_faults_left(), 0);
    server.fail([broken, REFUSED]);
    assert_eq!(holding(&store, "apple"), ["a#0"]);
    assert_eq!(server.n_faults_left(), 0);
}

#[test]
fn an_answer_that_breaks_off_is_asked_for_again() {
    let folder = tempfile::tempdir().unwrap();
    let server = TurbopufferServer::start();
    let store = open(folder.path(), &server);
    made(&store);
    store.upsert(&notes(), &[document("a", &["one apple"])]).unwrap();
    server.fail([Fault::CutBody]);
    // The change was made, and its answer lost: making it again changes nothing.
    store.upsert(&notes(), &[document("b", &["two apples"])]).unwrap();
    server.fail([Fault::CutBody]);
    assert_eq!(holding(&store, "apple").len(), 2);
    assert_eq!(server.n_faults_left(), 0);
    assert_eq!(store.check(Repair::No).unwrap(), []);
}

#[test]
fn what_the_engine_could_not_take_goes_with_the_next_change() {
    let folder = tempfile::tempdir().unwrap();
    let server = TurbopufferServer::start();
    let store = open(folder.path(), &server);
    made(&store);
    store.upsert(&notes(), &[document("a", &["one apple", "old pear"])]).unwrap();
    let refused = Fault::Refuse { status: 400, retry_after: None };
    server.fail([refused.clone()]);
    let error = store.upsert(&notes(), &[document("a", &["one apple", "new plum"])]).unwrap_err();
    assert!(matches!(&error, Error::IndexBehind { .. }), "{error}");
    // The catalogue has it, the engine still answers with the earlier state as a whole.
    assert_eq!(store.counts(&notes()).unwrap().n_passages, 2);
    assert_eq!(holding(&store, "pear"), ["a#1"]);
    assert_eq!(holding(&store, "plum"), [""; 0]);
    assert_eq!(store.check(Repair::No).unwrap(), []);
    store.upsert(&notes(), &[document("b", &["three"])]).unwrap();
    assert_eq!(holding(&store, "plum"), ["a#1"]);
    assert_eq!(holding(&store, "pear"), [""; 0]);
    // The same after the process has gone.
    server.fail([refused]);
    store.delete(&notes(), &[DocumentId::new("a")]).unwrap_err();
    drop(store);
    let store = open(folder.path(), &server);
    assert_eq!(holding(&store, "plum"), ["a#1"], "deleted in the catalogue, not in the engine yet");
    store.maintain().unwrap();
    assert_eq!(holding(&store, "plum"), [""; 0]);
    assert_eq!(store.check(Repair::No).unwrap(), []);
}

#[test]
fn a_stalled_search_ends_with_its_deadline() {
    let folder = tempfile::tempdir().unwrap();
    let server = TurbopufferServer::start();
    let store = open(folder.path(), &server);
    made(&store);
    store.upsert(&notes(), &[document("a", &["one apple"])]).unwrap();
    server.fail([Fault::Stall]);
    let query = WordsQuery::from_text("apple", Bm25::PASSAGES, 1.0, 0.0);
    let deadline = Deadline::after(Duration::from_millis(200));
    let found = store.by_words(&notes(), &query, &Filter::All, 5, &deadline).unwrap();
    assert!(found.is_partial && found.hits.is_empty());
    let cancelled = soon();
    server.fail([Fault::Stall]);
    std::thread::scope(|scope| {
        let search =
            scope.spawn(|| store.by_words(&notes(), &query, &Filter::All, 5, &cancelled).unwrap());
        while server.n_faults_left() > 0 {
            std::thread::yield_now();
        }
        cancelled.cancel();
        assert!(search.join().unwrap().is_partial);
    });
}

#[test]
fn a_namespace_that_the_engine_lost_is_found_and_filled_again() {
    let folder = tempfile::tempdir().unwrap();
    let server = TurbopufferServer::start();
    let store = open(folder.path(), &server);
    made(&store);
    store.upsert(&notes(), &[document("a", &["one apple"]), document("b", &["two"])]).unwrap();
    store.set_vectors(&notes(), &[(PassageId::new("b#0"), vector(2, 0.1))]).unwrap();
    let http = testkit::Http::new(&server.url());
    let request = testkit::Request::new("DELETE", "/v2/namespaces/notes")
        .header("Authorization", &format!("Bearer {}", server.key()));
    assert_eq!(http.send(&request).status, 200);
    let query = WordsQuery::from_text("apple", Bm25::PASSAGES, 1.0, 0.0);
    let error = store.by_words(&notes(), &query, &Filter::All, 5, &soon()).unwrap_err();
    assert!(matches!(error, Error::EngineMissing { .. }), "{error}");
    let findings = store.check(Repair::Yes).unwrap();
    assert!(findings.len() == 1 && findings[0].is_repaired, "{findings:?}");
    assert_eq!(holding(&store, "apple"), ["a#0"]);
    let near = store.by_vector(&notes(), &vector(2, 0.1), &Filter::All, 5, &soon()).unwrap();
    assert_eq!(near.hits.len(), 1);
    assert_eq!(store.check(Repair::No).unwrap(), []);
    let place = store.places(&notes(), &[PassageId::new("a#0")]).unwrap().remove(0).unwrap();
    assert_eq!(server.namespaces(), [place.namespace]);
}

#[test]
fn a_folder_of_the_embedded_store_is_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let server = TurbopufferServer::start();
    let embedded = Store::open(folder.path(), &Config::for_one_machine(), clock()).unwrap();
    made(&embedded);
    embedded.upsert(&notes(), &[document("a", &["one apple", "two"])]).unwrap();
    embedded.set_vectors(&notes(), &[(PassageId::new("a#1"), vector(1, 0.1))]).unwrap();
    drop(embedded);
    let store = open(folder.path(), &server);
    store.maintain().unwrap();
    assert_eq!(holding(&store, "apple"), ["a#0"]);
    let near = store.by_vector(&notes(), &vector(1, 0.1), &Filter::All, 5, &soon()).unwrap();
    assert_eq!(near.hits.len(), 1);
    drop(store);
    // And back again: the embedded indexes see that they missed something.
    let embedded = Store::open(folder.path(), &Config::for_one_machine(), clock()).unwrap();
    embedded.upsert(&notes(), &[document("b", &["another apple"])]).unwrap();
    assert_eq!(holding(&embedded, "apple"), ["a#0", "b#0"]);
}

#[test]
fn names_of_others_are_left_alone() {
    let server = TurbopufferServer::start();
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let one = open(first.path(), &server);
    let other = open(second.path(), &server);
    for (store, text) in [(&one, "one apple"), (&other, "other apple")] {
        made(store);
        store.upsert(&notes(), &[document("a", &[text])]).unwrap();
    }
    assert_eq!(server.namespaces(), ["notes", "notes.g1"]);
    assert!(holding(&one, "other").is_empty() && holding(&other, "one").is_empty());
    assert!(other.drop_namespace(&notes()).unwrap());
    assert_eq!(server.namespaces(), ["notes"]);
    assert_eq!(holding(&one, "apple"), ["a#0"]);
}

#[test]
fn a_dropped_namespace_is_erased_even_when_the_engine_is_away() {
    let folder = tempfile::tempdir().unwrap();
    let server = TurbopufferServer::start();
    let store = open(folder.path(), &server);
    made(&store);
    store.upsert(&notes(), &[document("a", &["one apple"])]).unwrap();
    let refused = Fault::Refuse { status: 400, retry_after: None };
    server.fail([refused.clone(), refused]);
    store.drop_namespace(&notes()).unwrap_err();
    assert_eq!(store.namespace(&notes()).unwrap(), None, "gone for every later call");
    made(&store);
    store.upsert(&notes(), &[document("b", &["new apple"])]).unwrap();
    assert_eq!(holding(&store, "apple"), ["b#0"]);
    store.maintain().unwrap();
    assert_eq!(server.namespaces().len(), 1, "{:?}", server.namespaces());
}

#[test]
fn ids_are_short_and_the_place_is_given() {
    let folder = tempfile::tempdir().unwrap();
    let server = TurbopufferServer::start();
    let store = open(folder.path(), &server);
    let table = "0d7a3e4e-5d2c-4a55-9a5e-0f6a6ad3a3aa";
    let namespace = NamespaceId::new(format!("project_{table}_table_{table}"));
    store.create_namespace(&namespace, &Manifest::current(None)).unwrap();
    let pointer = format!("/{}", "deep/".repeat(40));
    let mut chunk = document("node", &["a passage of JSON", "another"]);
    for (idx, passage) in chunk.passages.iter_mut().enumerate() {
        let encoded = pointer.replace('/', "%2F");
        passage.id = PassageId::new(format!("{table}:{encoded}:0123456789ab:chunk_{idx}"));
        passage.pointer = Pointer::Json(pointer.clone());
    }
    let ids: Vec<PassageId> = chunk.passages.iter().map(|passage| passage.id.clone()).collect();
    store.upsert(&namespace, &[chunk]).unwrap();
    let places = store.places(&namespace, &ids).unwrap();
    let first = places[0].as_ref().unwrap();
    assert_eq!(first.namespace, namespace.as_str());
    assert!(first.id.ends_with(":0123456789ab:0") && first.id.len() <= 64, "{first:?}");
    let query = WordsQuery::from_text("passage", Bm25::PASSAGES, 1.0, 0.0);
    let scope = Filter::pointer_scope("/deep");
    let found = store.by_words(&namespace, &query, &scope, 5, &soon()).unwrap();
    assert_eq!(found.hits[0].passage, ids[0]);
    let sent = server.requests().into_iter().find(|seen| seen.path.ends_with(namespace.as_str()));
    let sent = sent.unwrap().json();
    let rows = sent["upsert_rows"].as_array().unwrap();
    assert!(rows.iter().any(|row| row["id"] == first.id.as_str() && row["pointer"] == pointer));
    let tokenizer = &sent["schema"]["text_folded"]["full_text_search"]["tokenizer"];
    assert_eq!(tokenizer, "pre_tokenized_array");
}

#[test]
fn no_error_shows_the_key() {
    let folder = tempfile::tempdir().unwrap();
    let server = TurbopufferServer::start();
    let mut config = settings(&server);
    config.key = Secret::new("tpuf_wrong_and_secret");
    let one_machine = Config::for_one_machine();
    let store =
        Store::open_with_turbopuffer(folder.path(), &one_machine, &config, clock()).unwrap();
    let error = store.engine().info().reach().unwrap_err();
    assert!(matches!(error, Error::EngineRefused { status: 401, .. }), "{error}");
    made(&store);
    let error = store.upsert(&notes(), &[document("a", &["x"])]).unwrap_err();
    let shown = format!("{error} {error:?} {config:?}");
    assert!(!shown.contains("tpuf_wrong_and_secret"), "{shown}");
    config.base_url = None;
    let elsewhere = tempfile::tempdir().unwrap();
    let opened = Store::open_with_turbopuffer(elsewhere.path(), &one_machine, &config, clock());
    assert!(matches!(opened.err().unwrap(), Error::EngineSettings { .. }));
}

#[test]
fn deep_phrases_ask_for_more_rows_until_enough_fit() {
    let folder = tempfile::tempdir().unwrap();
    let server = TurbopufferServer::start();
    let store = open(folder.path(), &server);
    made(&store);
    // Many short passages hold both words in the wrong order and rank above the right one.
    let mut documents: Vec<_> =
        (0..150).map(|idx| document(&format!("w{idx}"), &["apple red"])).collect();
    let long = format!("{} red apple", "filler ".repeat(60));
    documents.push(document("right", &[&long]));
    store.upsert(&notes(), &documents).unwrap();
    let mut query = WordsQuery::new(Bm25::PASSAGES, 0.0);
    query.must = vec![store::Clause::phrase(["red", "appl"])];
    let found = store.by_words(&notes(), &query, &Filter::All, 1, &soon()).unwrap();
    assert_eq!(found.hits[0].document.as_str(), "right");
    assert!(!found.is_partial);
}
