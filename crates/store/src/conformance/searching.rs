//! Laws of how an engine follows its catalogue.

use model::{DocumentId, NamespaceId, PassageId};

use super::fixtures::{WithVectors, document, ids, made, soon, space, vector, words};
use crate::{Bm25, Both, Changes, Error, Filter, Form, Manifest, Store, WordsQuery, limits};

fn near(store: &Store, namespace: &NamespaceId) -> Vec<String> {
    ids(&store.by_vector(namespace, &vector(1, 0.3), &Filter::All, 100, &soon()).unwrap())
}

pub(super) fn the_past_is_not_found(store: &Store) {
    let namespace = made(store, "past", WithVectors::No);
    let documents =
        [document("one", &["first text", "second text"]), document("two", &["third text"])];
    store.upsert(&namespace, &documents).unwrap();
    store.upsert(&namespace, &[document("one", &["only text"])]).unwrap();
    assert_eq!(words(store, &namespace, "second"), [""; 0], "the earlier version is gone");
    assert_eq!(words(store, &namespace, "only"), ["one#0"]);
    store.delete(&namespace, &[DocumentId::new("one")]).unwrap();
    assert_eq!(words(store, &namespace, "text"), ["two#0"]);
    let twice = [document("same", &["early words"]), document("same", &["late words"])];
    store.upsert(&namespace, &twice).unwrap();
    assert_eq!(words(store, &namespace, "words"), ["same#0"], "the last of a batch stays");
    assert_eq!(words(store, &namespace, "early"), [""; 0]);
}

pub(super) fn long_texts_are_let_go_and_found(store: &Store) {
    let namespace = made(store, "long", WithVectors::Yes);
    store.upsert(&namespace, &[document("before", &["common start"])]).unwrap();
    let word = |at: usize| match at {
        7 => "lighthouse",
        8 => "harbour",
        _ => "nothing",
    };
    let texts: Vec<String> = (0..=limits::MAX_FRESH_TEXT_BYTES / 20_000)
        .map(|at| format!("{} {}", word(at), "filling ".repeat(2_500)))
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    // What the catalogue refuses is given back.
    let mut taken = [document("long", &texts), document("other", &["common end"])];
    taken[1].passages[0].id = PassageId::new("before#0");
    let as_it_was = taken.clone();
    let refused = store.upsert_and_let_go(&namespace, &mut taken).unwrap_err();
    assert!(matches!(refused, Error::DuplicatePassage { .. }), "{refused}");
    assert_eq!(taken, as_it_was);
    taken[1].passages[0].id = PassageId::new("other#0");
    let upserted = store.upsert_and_let_go(&namespace, &mut taken).unwrap();
    assert_eq!((upserted.n_new, upserted.n_passages), (2, texts.len() + 1));
    assert!(taken.iter().all(|document| document.passages.is_empty()), "nobody holds the text");
    assert_eq!(words(store, &namespace, "lighthouse"), ["long#7"]);
    assert_eq!(words(store, &namespace, "start"), ["before#0"]);
    assert_eq!(words(store, &namespace, "end"), ["other#0"]);
    // The next version takes the place of all of it.
    store.upsert_and_let_go(&namespace, &mut [document("long", &["lighthouse alone"])]).unwrap();
    assert_eq!(words(store, &namespace, "lighthouse"), ["long#0"]);
    assert_eq!(words(store, &namespace, "harbour"), [""; 0]);
}

pub(super) fn both_are_each(store: &Store) {
    let namespace = made(store, "both", WithVectors::Yes);
    for at in 0..6 {
        let id = format!("d{at}");
        let mut written = document(&id, &["common word", "common other", "nothing of it"]);
        written.attributes.insert("even".to_owned(), (at % 2 == 0).to_string().into());
        store.upsert(&namespace, &[written]).unwrap();
        let given = [(PassageId::new(format!("{id}#1")), vector(at, 0.2))];
        store.set_vectors(&namespace, &given).unwrap();
    }
    let query = WordsQuery::from_text("common word", Bm25::PASSAGES, 1.0, 0.3);
    let near = vector(1, 0.3);
    for filter in [Filter::All, Filter::equals("even", "true"), Filter::equals("even", "no")] {
        for (n_by_words, n_by_vector) in [(50, 50), (3, 2), (0, 4), (4, 0)] {
            let both =
                Both { query: &query, vector: &near, filter: &filter, n_by_words, n_by_vector };
            let (words, vectors) = store.by_both(&namespace, &both, &soon());
            let alone = store.by_words(&namespace, &query, &filter, n_by_words, &soon()).unwrap();
            assert_eq!(words.unwrap().hits, alone.hits, "{filter:?}");
            let alone = store.by_vector(&namespace, &near, &filter, n_by_vector, &soon()).unwrap();
            assert_eq!(vectors.unwrap().hits, alone.hits, "{filter:?}");
        }
    }
}

pub(super) fn dropped_namespaces_are_gone(store: &Store) {
    let namespace = made(store, "drop/and go:一", WithVectors::No);
    store.upsert(&namespace, &[document("a", &["gone soon"])]).unwrap();
    assert!(store.drop_namespace(&namespace).unwrap());
    assert!(!store.drop_namespace(&namespace).unwrap());
    let query = WordsQuery::from_text("gone", Bm25::PASSAGES, 1.0, 0.0);
    let error = store.by_words(&namespace, &query, &Filter::All, 1, &soon()).unwrap_err();
    assert!(matches!(error, Error::UnknownNamespace { .. }), "{error}");
    made(store, "drop/and go:一", WithVectors::No);
    assert!(words(store, &namespace, "gone").is_empty());
    store.upsert(&namespace, &[document("a", &["here again"])]).unwrap();
    assert_eq!(words(store, &namespace, "again"), ["a#0"]);
}

pub(super) fn others_are_followed(store: &Store) {
    let namespace = made(store, "others", WithVectors::Yes);
    store.upsert(&namespace, &[document("ours", &["common ours"])]).unwrap();
    // Another server over the same catalogue.
    let catalogue = store.catalogue();
    catalogue.upsert(&namespace, &[document("theirs", &["common theirs", "second"])]).unwrap();
    catalogue.upsert(&namespace, &[document("ours", &["common replaced"])]).unwrap();
    catalogue.set_vectors(&namespace, &[(PassageId::new("theirs#1"), vector(1, 0.1))]).unwrap();
    assert!(store.health().lag > 0, "searches do not see it yet");
    store.catch_up().unwrap();
    assert_eq!(store.health().lag, 0);
    let mut found = words(store, &namespace, "common");
    found.sort();
    assert_eq!(found, ["ours#0", "theirs#0"]);
    assert_eq!(words(store, &namespace, "ours"), [""; 0]);
    assert_eq!(near(store, &namespace), ["theirs#1"]);
    catalogue.delete(&namespace, &[DocumentId::new("theirs")]).unwrap();
    // The next write of this server follows what came before it too.
    store.upsert(&namespace, &[document("last", &["common last"])]).unwrap();
    let mut found = words(store, &namespace, "common");
    found.sort();
    assert_eq!(found, ["last#0", "ours#0"]);
    assert_eq!(near(store, &namespace), [""; 0]);
    let number = catalogue.namespace(&namespace).unwrap().unwrap().number;
    let last = catalogue.log(number, 0, 0).unwrap().last;
    let positions = store.engine().positions().unwrap();
    let position = positions.iter().find(|position| position.number == number);
    assert_eq!(position.map(|position| position.seen), Some(last));
}

pub(super) fn following_is_idempotent(store: &Store) {
    let namespace = made(store, "again", WithVectors::Yes);
    for round in 0..4 {
        let id = format!("d{}", round % 3);
        store.upsert(&namespace, &[document(&id, &["common word", "common other"])]).unwrap();
        let given = [(PassageId::new(format!("{id}#0")), vector(round, 0.2))];
        store.set_vectors(&namespace, &given).unwrap();
    }
    store.delete(&namespace, &[DocumentId::new("d1")]).unwrap();
    let state = || {
        let mut found = words(store, &namespace, "common");
        found.sort();
        (found, near(store, &namespace))
    };
    let before = state();
    assert_eq!((before.0.len(), before.1.len()), (4, 2));
    store.engine().follow(Changes::Of { namespace: &namespace, fresh: None }).unwrap();
    assert_eq!(state(), before);
    store.rebuild(&namespace).unwrap();
    assert_eq!(state(), before, "made anew it is the same");
    store.maintain().unwrap();
    store.forget_erased(std::slice::from_ref(&namespace)).unwrap();
    assert_eq!(state(), before);
    assert_eq!(store.engine().problem(&namespace).unwrap(), None);
}

/// A namespace that was made anew while it was empty once kept an engine busy for ever.
pub(super) fn an_empty_namespace_can_be_made_anew(store: &Store) {
    let namespace = made(store, "empty-anew", WithVectors::Yes);
    let follow = || {
        store.engine().follow(Changes::Of { namespace: &namespace, fresh: None }).unwrap();
        assert_eq!(store.engine().problem(&namespace).unwrap(), None);
    };
    follow();
    store.rebuild(&namespace).unwrap();
    follow();
    assert_eq!(words(store, &namespace, "common"), [""; 0]);
    store.upsert(&namespace, &[document("d", &["common word"])]).unwrap();
    follow();
    assert_eq!(words(store, &namespace, "common"), ["d#0"]);
}

/// A server of an earlier version would cut words otherwise than those that are indexed.
pub(super) fn another_analyser_is_refused(store: &Store) {
    let namespace = NamespaceId::new("another-analyser");
    let mut manifest = Manifest::current(Some(space()));
    manifest.analyser.version += 1;
    store.catalogue().create_namespace(&namespace, &manifest).unwrap();
    store.catalogue().upsert(&namespace, &[document("d", &["common word"])]).unwrap();
    let is_refused = |error: Error| matches!(error, Error::ManifestMismatch { .. });
    let query = WordsQuery::from_text("common", Bm25::PASSAGES, 1.0, 0.1);
    let found = store.by_words(&namespace, &query, &Filter::All, 10, &soon());
    assert!(is_refused(found.unwrap_err()));
    let changes = Changes::Of { namespace: &namespace, fresh: None };
    assert!(is_refused(store.engine().follow(changes).unwrap_err()));
    let counted = store.term_statistics(&namespace, &[(Form::Exact, "common".to_owned())]);
    assert!(is_refused(counted.unwrap_err()));
    store.drop_namespace(&namespace).unwrap();
}

pub(super) fn unknown_namespaces_are_errors(store: &Store) {
    let nowhere = NamespaceId::new("nowhere");
    let is_unknown = |error: Error| matches!(error, Error::UnknownNamespace { .. });
    let changes = Changes::Of { namespace: &nowhere, fresh: None };
    assert!(is_unknown(store.engine().follow(changes).unwrap_err()));
    assert!(is_unknown(store.term_statistics(&nowhere, &[]).unwrap_err()));
    assert!(is_unknown(store.rebuild(&nowhere).unwrap_err()));
    store.forget_erased(&[nowhere]).unwrap();
}
