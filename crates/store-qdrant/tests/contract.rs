//! Proves, against a real Qdrant, that: the engine keeps every law; and over three peers, that:
//! nothing that one namespace sees, scores included, changes by what is written to another in the
//! same collection; a killed peer costs no read and no write, and what is there afterwards equals
//! a rebuild; a cluster that is away is said, and found again without a restart; over one peer, that
//! collections are made as many tenants need them, what Qdrant lost is filled from the catalogue, and
//! answers are the same with words in memory and without, and words in memory are searched while
//! the cluster is away.
#![allow(clippy::unwrap_used, reason = "a helper of tests fails the test")]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use model::{Clock, Deadline, DocumentId, NamespaceId, PassageId, Timestamp};
use proptest::prelude::*;
use store::conformance::{self, document, space, vector};
use store::{
    Bm25, Config, Document, Engine, Filter, Form, Manifest, Store, VectorSpace, WordsQuery,
};
use store_qdrant::{QdrantConfig, QdrantEngine};
use testkit::Qdrant;

fn config(urls: Vec<String>, prefix: &str) -> QdrantConfig {
    QdrantConfig { urls, key: None, prefix: prefix.to_owned(), shards: 3, replicas: 2 }
}

fn open(qdrant: &Qdrant, folder: &Path, prefix: &str) -> Store {
    let clock = Clock::fixed(Timestamp(1_700_000_000_000));
    let config = config(qdrant.urls(), prefix);
    Store::open_with(folder, &Config::for_one_machine(), clock, |catalogue| {
        let engine = QdrantEngine::open(&config, catalogue, "test")?;
        Ok(Arc::new(engine) as Arc<dyn Engine>)
    })
    .unwrap()
}

fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(60))
}

/// What a caller of a namespace sees of two questions, scores included.
fn seen(store: &Store, namespace: &NamespaceId) -> Vec<(String, u32)> {
    let query = WordsQuery::from_text("red green blue tram", Bm25::PASSAGES, 1.0, 0.3);
    let words = store.by_words(namespace, &query, &Filter::All, 50, &soon()).unwrap();
    let near = store.by_vector(namespace, &vector(2, 0.4), &Filter::All, 50, &soon()).unwrap();
    let hits = words.hits.into_iter().chain(near.hits);
    hits.map(|hit| (hit.passage.to_string(), hit.score.to_bits())).collect()
}

#[test]
fn the_engine_keeps_every_law() {
    // One peer: the laws are many small writes, and three peers share two cores in CI.
    let Some(qdrant) = Qdrant::start(1) else { return };
    let folder = tempfile::tempdir().unwrap();
    conformance::check_engine(&open(&qdrant, folder.path(), "laws"));
}

/// The embedded index keeps lengths in one byte: from 40 words on they are rounded, and a score has to
/// mean the same in both.
#[test]
fn scores_of_long_passages_are_those_of_the_embedded_engine() {
    let Some(qdrant) = Qdrant::start(1) else { return };
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let clock = Clock::fixed(Timestamp(1_700_000_000_000));
    let embedded = Store::open(folders[0].path(), &Config::for_one_machine(), clock).unwrap();
    let stores = [embedded, open(&qdrant, folders[1].path(), "long")];
    let namespace = NamespaceId::new("long");
    let words = ["red", "tram", "castle", "harbour", "bridge", "yellow", "river"];
    let text = |at: usize| {
        let words = (0..5 + at * 7).map(|step| words[(step * (at + 3) + step / 5) % words.len()]);
        words.collect::<Vec<_>>().join(" ")
    };
    let documents: Vec<Document> =
        (0..40).map(|at| document(&format!("d{at}"), &[text(at).as_str()])).collect();
    for store in &stores {
        store.create_namespace(&namespace, &Manifest::current(None)).unwrap();
        store.upsert(&namespace, &documents).unwrap();
    }
    for question in ["red tram", "castle bridge river", "yellow harbour red \"tram castle\""] {
        let query = WordsQuery::from_text(question, Bm25::PASSAGES, 1.0, 0.3);
        let [one, other] = stores.each_ref().map(|store| {
            let found = store.by_words(&namespace, &query, &Filter::All, 40, &soon()).unwrap();
            let hits = found.hits.into_iter().map(|hit| (hit.passage.to_string(), hit.score));
            hits.collect::<std::collections::BTreeMap<_, _>>()
        });
        assert!(one.len() > 30, "{question}: {}", one.len());
        assert_eq!(one.keys().collect::<Vec<_>>(), other.keys().collect::<Vec<_>>());
        for (passage, score) in &one {
            let off = (score - other[passage]).abs();
            assert!(off <= 1e-4 * score.max(1.0), "{question} {passage}: {one:?} {other:?}");
        }
    }
    let terms = [(Form::Folded, "tram".to_owned())];
    let [one, other] =
        stores.each_ref().map(|store| store.term_statistics(&namespace, &terms).unwrap());
    assert_eq!(one, other);
}

/// Once the words of a namespace are in memory, nothing of an answer changes, whatever is written,
/// replaced and deleted from then on, here or by another server.
#[test]
fn answers_are_the_same_with_words_in_memory_and_without() {
    let Some(mut qdrant) = Qdrant::start(1) else { return };
    let folder = tempfile::tempdir().unwrap();
    let config = config(qdrant.urls(), "memory");
    let mut made = None;
    let clock = Clock::fixed(Timestamp(1_700_000_000_000));
    let store = Store::open_with(folder.path(), &Config::for_one_machine(), clock, |catalogue| {
        let engine = Arc::new(QdrantEngine::open(&config, catalogue.clone(), "one")?);
        made = Some((engine.clone(), catalogue));
        Ok(engine as Arc<dyn Engine>)
    })
    .unwrap();
    let (engine, catalogue) = made.unwrap();
    let namespace = NamespaceId::new("memory");
    store.create_namespace(&namespace, &Manifest::current(Some(space()))).unwrap();
    let texts = ["the red tram", "green green tram", "a blue sky", "tram tram tram, red"];
    let write = |round: usize| {
        let id = format!("d{}", round % 9);
        let texts: Vec<&str> = (0..1 + round % 3).map(|at| texts[(round + at) % 4]).collect();
        store.upsert(&namespace, &[document(&id, &texts)]).unwrap();
        let given = [(PassageId::new(format!("{id}#0")), vector(round, 0.2))];
        store.set_vectors(&namespace, &given).unwrap();
        if round % 5 == 4 {
            store.delete(&namespace, &[DocumentId::new(format!("d{}", (round + 3) % 9))]).unwrap();
        }
    };
    (0..12).for_each(write);
    let cold = seen(&store, &namespace);
    assert!(cold.len() > 10, "{cold:?}");
    let is_there = || engine.has_words_in_memory(&namespace);
    assert!(testkit::wait_until(Duration::from_secs(60), is_there));
    assert_eq!(seen(&store, &namespace), cold);
    let query = WordsQuery::from_text("red green blue tram", Bm25::PASSAGES, 1.0, 0.3);
    let question = vector(2, 0.4);
    let filter = Filter::All;
    let search = store::Search {
        by_words: Some(store::ByWords { query: &query, limit: 50 }),
        by_vector: Some(store::ByVector { vector: &question, limit: 50 }),
        filter: &filter,
    };
    let terms = [(Form::Folded, "tram".to_owned()), (Form::Exact, "red".to_owned())];
    for round in 12..40 {
        write(round);
        // One that was never asked before has no table: it counts in Qdrant.
        let fresh = QdrantEngine::open(&config, catalogue.clone(), "fresh").unwrap();
        let [known, counted] = [&*engine, &fresh].map(|engine| {
            let found = engine.search(&namespace, &search, &soon()).unwrap();
            let bits = |found: store::Candidates| {
                let hits = found.hits.into_iter();
                hits.map(|hit| (hit.passage, hit.score.to_bits())).collect::<Vec<_>>()
            };
            let statistics = engine.term_statistics(&namespace, &terms).unwrap();
            (bits(found.0), bits(found.1), statistics)
        });
        assert_eq!(known, counted, "after {round}");
        assert!(engine.has_words_in_memory(&namespace), "it goes along with the log");
    }
    // Filters are looked at in memory as well.
    for filter in
        [Filter::Documents(vec![DocumentId::new("d2")]), Filter::DocumentPrefix("d".into())]
    {
        let fresh = QdrantEngine::open(&config, catalogue.clone(), "fresh").unwrap();
        let [known, counted] = [&*engine, &fresh].map(|engine| {
            let search = store::Search { filter: &filter, ..search };
            let (words, _) = engine.search(&namespace, &search, &soon()).unwrap();
            words.hits.into_iter().map(|hit| (hit.passage, hit.score.to_bits())).collect::<Vec<_>>()
        });
        assert!(!known.is_empty());
        assert_eq!(known, counted, "{filter:?}");
    }
    // While the cluster is away words are searched, and what cannot be is said.
    let both = store::Both {
        query: &query,
        vector: &question,
        filter: &filter,
        n_by_words: 50,
        n_by_vector: 50,
    };
    let (before, _) = store.by_both(&namespace, &both, &soon());
    qdrant.kill(0);
    let (words, near) = store.by_both(&namespace, &both, &soon());
    assert_eq!(words.unwrap().hits, before.unwrap().hits);
    assert!(near.unwrap_err().is_engine_away());
}

#[test]
fn collections_are_made_for_many_tenants_and_filled_again_when_they_are_lost() {
    let Some(qdrant) = Qdrant::start(1) else { return };
    let folder = tempfile::tempdir().unwrap();
    let store = open(&qdrant, folder.path(), "made");
    let http = testkit::Http::new(&qdrant.http_addresses()[0]);
    let other_space = VectorSpace { embedder: "another".to_owned(), ..space() };
    let of_model = [("a", space()), ("b", space()), ("c", other_space)];
    for (name, space) in of_model {
        let namespace = NamespaceId::new(name);
        store.create_namespace(&namespace, &Manifest::current(Some(space))).unwrap();
        store.upsert(&namespace, &[document(name, &["the red tram", "blue sky"])]).unwrap();
        let given = [(PassageId::new(format!("{name}#0")), vector(1, 0.3))];
        store.set_vectors(&namespace, &given).unwrap();
    }
    // One collection for each embedding model, however many namespaces there are.
    let listed = http.get("/collections").json();
    let names: Vec<String> = listed["result"]["collections"]
        .as_array()
        .unwrap()
        .iter()
        .map(|collection| collection["name"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(names.len(), 2, "{names:?}");
    for name in &names {
        let made = http.get(&format!("/collections/{name}")).json()["result"].clone();
        let config = &made["config"];
        // A graph for each tenant and none over all of them; the field that tells tenants apart is
        // known as such.
        assert_eq!(config["hnsw_config"]["m"], 0, "{config}");
        assert_eq!(config["hnsw_config"]["payload_m"], 16, "{config}");
        // Shards cannot be changed later: they are those of the configuration from the beginning.
        assert_eq!(config["params"]["shard_number"], 3, "{config}");
        assert_eq!(config["params"]["replication_factor"], 2, "{config}");
        assert_eq!(made["payload_schema"]["ns"]["params"]["is_tenant"], true, "{made}");
        // The server's own rarity counts over all tenants: it stays off.
        assert!(config["params"]["sparse_vectors"]["w"]["modifier"].is_null(), "{config}");
        // A filter on a field without an index is refused, not answered by reading everything.
        assert_eq!(config["strict_mode_config"]["enabled"], true, "{config}");
        let filter = serde_json::json!({ "filter": { "must": [
            { "key": "nothing", "match": { "value": "x" } }
        ] } });
        let refused = http.post_json(&format!("/collections/{name}/points/scroll"), &filter);
        assert!((400..500).contains(&refused.status), "{}", refused.text());
        assert!(refused.text().contains("Index required"), "{}", refused.text());
    }
    // A snapshot belongs to one node: what is lost comes back from the catalogue.
    let namespace = NamespaceId::new("a");
    let before = seen(&store, &namespace);
    assert!(before.len() >= 2, "{before:?}");
    let (beside, alone) = (NamespaceId::new("b"), NamespaceId::new("c"));
    let (before_beside, before_alone) = (seen(&store, &beside), seen(&store, &alone));
    for name in &names {
        let gone = http.send(&testkit::Request::new("DELETE", &format!("/collections/{name}")));
        assert_eq!(gone.status, 200, "{}", gone.text());
    }
    let problem = store.engine().problem(&namespace).unwrap();
    assert!(problem.is_some_and(|problem| problem.contains("Qdrant has `0` of `2` passages")));
    store.rebuild(&namespace).unwrap();
    assert_eq!(store.engine().problem(&namespace).unwrap(), None);
    assert_eq!(seen(&store, &namespace), before);
    // What else was in that collection says so until it is filled again, which nobody has to ask for.
    let query = WordsQuery::from_text("red", Bm25::PASSAGES, 1.0, 0.0);
    let error = store.by_words(&beside, &query, &Filter::All, 5, &soon()).unwrap_err();
    assert!(error.is_engine_away(), "{error}");
    store.maintain().unwrap();
    assert_eq!(store.engine().problem(&beside).unwrap(), None);
    assert_eq!(seen(&store, &beside), before_beside);
    // A write to one that is lost brings back what was written before.
    store.upsert(&alone, &[document("later", &["something else"])]).unwrap();
    assert_eq!(store.engine().problem(&alone).unwrap(), None);
    let after: Vec<String> = seen(&store, &alone).into_iter().map(|(id, _)| id).collect();
    assert!(before_alone.iter().all(|(id, _)| after.contains(id)), "{after:?}");
    // A point that went missing by itself does not keep its vector away.
    let collection = names.iter().find(|name| {
        http.get(&format!("/collections/{name}")).json()["result"]["points_count"] == 4
    });
    let path = format!("/collections/{}/points", collection.unwrap());
    let everything = serde_json::json!({ "filter": { "must": [
        { "key": "pid", "match": { "value": "a#1" } }
    ] } });
    let gone = http.post_json(&format!("{path}/delete?wait=true"), &everything);
    assert_eq!(gone.status, 200, "{}", gone.text());
    store.set_vectors(&namespace, &[(PassageId::new("a#1"), vector(2, 0.3))]).unwrap();
    assert_eq!(store.engine().problem(&namespace).unwrap(), None);
}

#[test]
fn tenants_peers_and_absence_over_three_peers() {
    let Some(mut qdrant) = Qdrant::start(3) else { return };
    let folder = tempfile::tempdir().unwrap();
    let store = open(&qdrant, &folder.path().join("tenants"), "tenants");
    tenants_do_not_see_each_other(&store);
    a_killed_peer_costs_nothing(&mut qdrant, &store);
    a_write_that_failed_in_part_is_repeated(&mut qdrant, &store);
    // A client of its own, which asks the first peer first.
    let fresh = open(&qdrant, &folder.path().join("hanging"), "hanging");
    a_hanging_peer_costs_no_read(&qdrant, &fresh);
    drop(fresh);
    a_cluster_that_is_away_is_said(&mut qdrant, &store);
}

/// A write that some shards refused may have been applied on the others: it is sent again until all
/// have it, and leaves every point once.
fn a_write_that_failed_in_part_is_repeated(qdrant: &mut Qdrant, store: &Store) {
    let namespace = NamespaceId::new("partly");
    store.create_namespace(&namespace, &Manifest::current(Some(space()))).unwrap();
    store.upsert(&namespace, &[document("a", &["red tram", "blue"])]).unwrap();
    let http = testkit::Http::new(&qdrant.http_addresses()[0]);
    let listed = http.get("/collections").json();
    let names: Vec<String> = listed["result"]["collections"]
        .as_array()
        .unwrap()
        .iter()
        .map(|collection| format!("/collections/{}", collection["name"].as_str().unwrap()))
        .collect();
    let demand = |n_replicas: u32| {
        let body = serde_json::json!({ "params": { "write_consistency_factor": n_replicas } });
        for name in &names {
            let changed = http.send(&testkit::Request::new("PATCH", name).json(&body));
            assert_eq!(changed.status, 200, "{}", changed.text());
        }
    };
    demand(2);
    qdrant.kill(2);
    let documents: Vec<Document> =
        (0..30).map(|at| document(&format!("d{at}"), &["red tram", "blue sky"])).collect();
    std::thread::scope(|scope| {
        let written = scope.spawn(|| store.upsert(&namespace, &documents));
        // The shards that have lost a replica refuse; a write of somebody else's shows that.
        let probe = serde_json::json!({ "filter": { "must": [
            { "key": "ns", "match": { "value": "nobody" } }
        ] } });
        let path = format!("{}/points/delete?wait=true", names[0]);
        assert!(testkit::wait_until(Duration::from_secs(60), || {
            http.post_json(&path, &probe).status >= 500
        }));
        qdrant.start_again(2);
        written.join().unwrap().unwrap();
    });
    demand(1);
    assert_eq!(store.engine().problem(&namespace).unwrap(), None);
    let before = seen(store, &namespace);
    store.rebuild(&namespace).unwrap();
    assert_eq!(seen(store, &namespace), before, "what is there equals a rebuild");
}

/// A peer that hangs keeps its connections open: the next one is asked as well.
fn a_hanging_peer_costs_no_read(qdrant: &Qdrant, store: &Store) {
    let namespace = NamespaceId::new("hanging");
    store.create_namespace(&namespace, &Manifest::current(Some(space()))).unwrap();
    store.upsert(&namespace, &[document("a", &["red tram", "blue"])]).unwrap();
    store.set_vectors(&namespace, &[(PassageId::new("a#0"), vector(1, 0.2))]).unwrap();
    let before = seen(store, &namespace);
    qdrant.hang(0);
    assert_eq!(seen(store, &namespace), before);
    qdrant.go_on(0);
    store.upsert(&namespace, &[document("b", &["red again"])]).unwrap();
    assert_eq!(store.engine().problem(&namespace).unwrap(), None);
}

fn tenants_do_not_see_each_other(store: &Store) {
    let (ours, theirs) = (NamespaceId::new("ours"), NamespaceId::new("theirs"));
    for namespace in [&ours, &theirs] {
        store.create_namespace(namespace, &Manifest::current(Some(space()))).unwrap();
    }
    let mine = [
        document("a", &["the red tram", "a green tram and a red one"]),
        document("b", &["blue sky", "nothing of it"]),
    ];
    store.upsert(&ours, &mine).unwrap();
    let vectors: Vec<_> =
        (0..2).map(|at| (PassageId::new(format!("a#{at}")), vector(at, 0.3))).collect();
    store.set_vectors(&ours, &vectors).unwrap();
    let before = seen(store, &ours);
    assert!(before.len() >= 5, "{before:?}");

    const WORDS: [&str; 6] = ["red", "green", "blue", "tram", "sky", "castle"];
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: 12,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let texts = proptest::collection::vec(
        proptest::collection::vec(proptest::sample::select(&WORDS[..]), 1..12),
        1..6,
    );
    let changes = (0..4usize, texts, any::<bool>());
    runner
        .run(&changes, |(at, texts, is_deleted)| {
            // Another tenant writes, replaces and deletes the same words under the same ids.
            let id = ["a", "b", "c", "d"][at];
            if is_deleted {
                store.delete(&theirs, &[DocumentId::new(id)]).unwrap();
            } else {
                let texts: Vec<String> = texts.iter().map(|words| words.join(" ")).collect();
                let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
                let written: Document = document(id, &texts);
                store.upsert(&theirs, &[written]).unwrap();
                let given = [(PassageId::new(format!("{id}#0")), vector(at, 0.2))];
                store.set_vectors(&theirs, &given).unwrap();
            }
            prop_assert_eq!(seen(store, &ours), before.clone());
            Ok(())
        })
        .unwrap();
    store.drop_namespace(&theirs).unwrap();
    assert_eq!(seen(store, &ours), before);
}

fn a_killed_peer_costs_nothing(qdrant: &mut Qdrant, store: &Store) {
    let namespace = NamespaceId::new("peers");
    store.create_namespace(&namespace, &Manifest::current(Some(space()))).unwrap();
    let write = |round: usize| {
        let id = format!("d{}", round % 7);
        store
            .upsert(&namespace, &[document(&id, &[&format!("red tram {round}"), "blue"])])
            .unwrap();
        let given = [(PassageId::new(format!("{id}#0")), vector(round, 0.2))];
        store.set_vectors(&namespace, &given).unwrap();
    };
    (0..10).for_each(write);
    qdrant.kill(1);
    // Reads and writes go on without an error while it is gone, through the other peers.
    for round in 10..30 {
        write(round);
        assert!(!seen(store, &namespace).is_empty());
    }
    qdrant.start_again(1);
    (30..35).for_each(write);
    assert_eq!(store.engine().problem(&namespace).unwrap(), None);
    let before = seen(store, &namespace);
    store.rebuild(&namespace).unwrap();
    assert_eq!(seen(store, &namespace), before, "what is there equals a rebuild");
}

fn a_cluster_that_is_away_is_said(qdrant: &mut Qdrant, store: &Store) {
    let namespace = NamespaceId::new("away");
    store.create_namespace(&namespace, &Manifest::current(None)).unwrap();
    store.upsert(&namespace, &[document("a", &["red tram"])]).unwrap();
    (0..3).for_each(|idx| qdrant.kill(idx));
    let query = WordsQuery::from_text("red", Bm25::PASSAGES, 1.0, 0.0);
    let error = store.by_words(&namespace, &query, &Filter::All, 5, &soon()).unwrap_err();
    assert!(error.is_engine_away(), "{error}");
    assert!(store.health().reads, "the catalogue answers");
    (0..3).for_each(|idx| qdrant.start_again(idx));
    let begun = std::time::Instant::now();
    loop {
        match store.by_words(&namespace, &query, &Filter::All, 5, &soon()) {
            Ok(found) if found.hits.len() == 1 => break,
            found => assert!(begun.elapsed() < Duration::from_secs(60), "{found:?}"),
        }
    }
    store.upsert(&namespace, &[document("b", &["red again"])]).unwrap();
    let found = store.by_words(&namespace, &query, &Filter::All, 5, &soon()).unwrap();
    assert_eq!(found.hits.len(), 2);
    // Peers that hang are waited for, and once somebody has looked in vain not for long. Nobody has
    // asked for this namespace yet, so that its words are not in memory.
    let unasked = NamespaceId::new("unasked");
    store.create_namespace(&unasked, &Manifest::current(None)).unwrap();
    store.upsert(&unasked, &[document("a", &["red tram"])]).unwrap();
    (0..3).for_each(|idx| qdrant.hang(idx));
    assert!(store.engine().info().reach().is_err());
    let deadline = soon();
    let error = store.by_words(&unasked, &query, &Filter::All, 5, &deadline).unwrap_err();
    assert!(error.is_engine_away(), "{error}");
    assert!(!deadline.is_over(), "it was waited for in vain");
    (0..3).for_each(|idx| qdrant.go_on(idx));
    let begun = std::time::Instant::now();
    while store.by_words(&unasked, &query, &Filter::All, 5, &soon()).is_err() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it does not come back");
    }
}
