//! Laws of vectors.

use model::{DocumentId, PassageId};

use super::fixtures::{WithVectors, document, ids, made, soon, space, vector};
use crate::{Error, Filter, Store, VectorSpace};

pub(super) fn vectors_follow_words(store: &Store) {
    let namespace = made(store, "follow", WithVectors::Yes);
    store.upsert(&namespace, &[document("a", &["one", "two", "three"])]).unwrap();
    let waiting = store.passages_without_vectors(&namespace, 2).unwrap();
    let waiting: Vec<_> = waiting.iter().map(|passage| passage.id().as_str()).collect();
    assert_eq!(waiting, ["a#0", "a#1"]);
    let given = [(PassageId::new("a#1"), vector(1, 0.1)), (PassageId::new("gone"), vector(2, 0.1))];
    assert_eq!(store.set_vectors(&namespace, &given).unwrap(), 1);
    let counts = store.counts(&namespace).unwrap();
    assert_eq!((counts.n_passages, counts.n_vectors), (3, 1));
    let found = store.by_vector(&namespace, &vector(1, 0.1), &Filter::All, 9, &soon()).unwrap();
    assert_eq!(ids(&found), ["a#1"]);
    assert!((found.hits[0].score - 1.0).abs() < 0.01);
    assert_eq!(found.counts, counts, "a search says what part has vectors");
    let waiting = store.passages_without_vectors(&namespace, 9).unwrap();
    assert_eq!(waiting.len(), 2);
    store.set_vectors(&namespace, &given).unwrap();
    assert_eq!(store.counts(&namespace).unwrap().n_vectors, 1, "a second time adds nothing");
    store.delete(&namespace, &[DocumentId::new("a")]).unwrap();
    let found = store.by_vector(&namespace, &vector(1, 0.1), &Filter::All, 9, &soon()).unwrap();
    assert_eq!(ids(&found), [""; 0]);
    assert_eq!(store.counts(&namespace).unwrap().n_vectors, 0);
    assert_eq!(store.passages_without_vectors(&namespace, 9).unwrap(), []);
}

pub(super) fn the_nearest_are_found(store: &Store) {
    let namespace = made(store, "nearest", WithVectors::Yes);
    let texts: Vec<String> = (0..40).map(|number| format!("text {number}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    store.upsert(&namespace, &[document("a", &texts)]).unwrap();
    let vectors: Vec<_> = (0..40usize)
        .map(|at| (PassageId::new(format!("a#{at}")), vector(at, at as f32 / 10.0)))
        .collect();
    store.set_vectors(&namespace, &vectors).unwrap();
    for (along, tilt) in [(0, 0.0), (3, 0.7), (5, 2.5)] {
        let question: Vec<f32> = vector(along, tilt).iter().map(|x| x * 7.0).collect();
        let cosine = |other: &[f32]| {
            let dot: f32 = question.iter().zip(other).map(|(a, b)| a * b).sum();
            let length = |v: &[f32]| v.iter().map(|x| x * x).sum::<f32>().sqrt();
            dot / length(&question) / length(other)
        };
        let mut expected: Vec<_> =
            vectors.iter().map(|(id, vector)| (cosine(vector), id.to_string())).collect();
        expected.sort_by(|left, right| right.0.total_cmp(&left.0));
        let found = store.by_vector(&namespace, &question, &Filter::All, 5, &soon()).unwrap();
        for (hit, (score, _)) in found.hits.iter().zip(&expected) {
            assert!((hit.score - score).abs() < 0.01, "{found:?} {expected:?}");
        }
        assert_eq!(found.hits.len(), 5);
        assert!(found.hits.is_sorted_by(|left, right| left.score >= right.score));
    }
}

pub(super) fn filters_hold(store: &Store) {
    let namespace = made(store, "vector-filters", WithVectors::Yes);
    let words = model::NamespaceId::new("filters");
    let page = crate::DocumentPage { limit: 10, ..Default::default() };
    // The same documents as for words, with vectors.
    let mut vectors = vec![];
    for info in store.documents(&words, &page).unwrap() {
        let mut document = document(info.id.as_str(), &[]);
        document.attributes = info.attributes;
        document.passages = store.passages_of(&words, &info.id).unwrap();
        for passage in &document.passages {
            vectors.push((passage.id.clone(), vector(vectors.len(), 0.5)));
        }
        store.upsert(&namespace, &[document]).unwrap();
    }
    store.set_vectors(&namespace, &vectors).unwrap();
    check_filters(&|filter: &Filter| {
        let found = store.by_vector(&namespace, &vector(1, 1.0), filter, 100, &soon()).unwrap();
        ids(&found)
    });
}

/// Checks every kind of filter over the documents of the filter laws.
pub(super) fn check_filters(find: &dyn Fn(&Filter) -> Vec<String>) {
    let check = |filter: Filter, expected: &[&str]| {
        let mut found = find(&filter);
        found.sort();
        assert_eq!(found, expected, "{filter:?}");
    };
    let not = |filter| Filter::Not(Box::new(filter));
    let all = ["a/1#0", "a/1#1", "a/2#0", "a/2#1", "b/1#0", "b/1#1", "b/2#0", "b/2#1"];
    let pdf = ["a/1#0", "a/1#1", "b/1#0", "b/1#1"];
    check(Filter::All, &all);
    check(Filter::equals("ext", "pdf"), &pdf);
    check(Filter::equals("ext", "PDF"), &[]);
    check(Filter::equals("tags", "y"), &all[..4]);
    check(Filter::any_of("ext", ["docx", "txt", "odt"]), &["a/2#0", "a/2#1", "b/2#0", "b/2#1"]);
    check(Filter::any_of("ext", [""; 0]), &[]);
    check(Filter::range("year.of-it", 2020..=2020), &all[..2]);
    check(Filter::range("year.of-it", -10..=2020), &pdf);
    let open = Filter::Range { attribute: "year.of-it".to_owned(), from: Some(2021), to: None };
    check(open, &all[2..4]);
    let open = Filter::Range { attribute: "year.of-it".to_owned(), from: None, to: Some(2020) };
    check(open, &pdf);
    check(Filter::range("year", 0..=9999), &[]);
    check(Filter::Documents(vec![DocumentId::new("a/2"), DocumentId::new("zz")]), &all[2..4]);
    check(Filter::DocumentPrefix("b/".to_owned()), &all[4..]);
    let named = ["a/2#1", "a/1", "zz"].map(PassageId::new);
    check(Filter::Passages(named.to_vec()), &["a/2#1"]);
    check(Filter::Passages(vec![]), &[]);
    check(Filter::Pointer("/a/bc".to_owned()), &["a/1#1", "a/2#1", "b/1#1", "b/2#1"]);
    check(Filter::PointerPrefix("/a/b".to_owned()), &all);
    check(Filter::pointer_scope("/a/b"), &["a/1#0", "a/2#0", "b/1#0", "b/2#0"]);
    check(Filter::pointer_scope("/a"), &all);
    check(not(Filter::equals("ext", "pdf")), &["a/2#0", "a/2#1", "b/2#0", "b/2#1"]);
    check(not(Filter::range("year.of-it", i64::MIN..=i64::MAX)), &all[6..]);
    check(Filter::And(vec![]), &all);
    check(Filter::Or(vec![]), &[]);
    let nested = Filter::Or(vec![
        Filter::equals("ext", "txt"),
        Filter::equals("ext", "pdf").and(not(Filter::equals("tags", "x"))),
    ]);
    check(nested, &all[4..]);
}

pub(super) fn unchanged_passages_keep_vectors(store: &Store) {
    let namespace = made(store, "keep", WithVectors::Yes);
    store.upsert(&namespace, &[document("a", &["one", "two", "three"])]).unwrap();
    let vectors: Vec<_> =
        (0..3).map(|at| (PassageId::new(format!("a#{at}")), vector(at, 0.1))).collect();
    store.set_vectors(&namespace, &vectors).unwrap();
    let upserted =
        store.upsert(&namespace, &[document("a", &["one", "changed", "three", "four"])]).unwrap();
    assert_eq!(upserted.n_vectors_kept, 2);
    assert_eq!(store.counts(&namespace).unwrap().n_vectors, 2);
    let waiting = store.passages_without_vectors(&namespace, 9).unwrap();
    let waiting: Vec<_> = waiting.iter().map(|passage| passage.id().as_str()).collect();
    assert_eq!(waiting, ["a#1", "a#3"]);
    let found = store.by_vector(&namespace, &vector(2, 0.1), &Filter::All, 9, &soon()).unwrap();
    assert_eq!(found.hits.len(), 2);
    assert_eq!(found.hits[0].passage.as_str(), "a#2");
    let mut retitled = document("a", &["one", "changed", "three", "four"]);
    retitled.title = "New".to_owned();
    assert_eq!(store.upsert(&namespace, &[retitled]).unwrap().n_vectors_kept, 0);
    assert_eq!(store.counts(&namespace).unwrap().n_vectors, 0);
}

pub(super) fn bad_vectors_are_refused(store: &Store) {
    let namespace = made(store, "bad-vectors", WithVectors::Yes);
    store.upsert(&namespace, &[document("a", &["one", "two"])]).unwrap();
    let good = (PassageId::new("a#0"), vector(0, 0.1));
    let check = |bad: Vec<f32>| {
        let given = [good.clone(), (PassageId::new("a#1"), bad)];
        store.set_vectors(&namespace, &given).unwrap_err()
    };
    assert!(matches!(check(vec![1.0; 7]), Error::WrongDimensions { .. }));
    assert!(matches!(check(vec![0.0; 8]), Error::BadVector { .. }));
    assert!(matches!(check(vec![f32::NAN; 8]), Error::BadVector { .. }));
    assert!(matches!(check(vec![f32::INFINITY; 8]), Error::BadVector { .. }));
    assert_eq!(store.counts(&namespace).unwrap().n_vectors, 0, "nothing was written");
    let search = |question: &[f32]| {
        store.by_vector(&namespace, question, &Filter::All, 1, &soon()).unwrap_err()
    };
    assert!(matches!(search(&[1.0]), Error::WrongDimensions { .. }));
    assert!(matches!(search(&[f32::NAN; 8]), Error::BadVector { .. }));
    let words = made(store, "bad-vectors-words", WithVectors::No);
    let error = store.by_vector(&words, &[1.0; 8], &Filter::All, 1, &soon()).unwrap_err();
    assert!(matches!(error, Error::NoVectorSpace { .. }));
}

pub(super) fn another_space_erases(store: &Store) {
    let namespace = made(store, "spaces", WithVectors::Yes);
    store.upsert(&namespace, &[document("a", &["one", "two"])]).unwrap();
    store.set_vectors(&namespace, &[(PassageId::new("a#0"), vector(0, 0.1))]).unwrap();
    store.set_vector_space(&namespace, Some(&space())).unwrap();
    assert_eq!(store.counts(&namespace).unwrap().n_vectors, 1, "the same space changes nothing");
    let other = VectorSpace { embedder: "test/2".to_owned(), dimensions: 3 };
    store.set_vector_space(&namespace, Some(&other)).unwrap();
    assert_eq!(store.counts(&namespace).unwrap().n_vectors, 0);
    assert_eq!(store.passages_without_vectors(&namespace, 9).unwrap().len(), 2);
    store.set_vectors(&namespace, &[(PassageId::new("a#1"), vec![1.0, 0.0, 0.0])]).unwrap();
    let found = store.by_vector(&namespace, &[1.0, 0.1, 0.0], &Filter::All, 9, &soon()).unwrap();
    assert_eq!(ids(&found), ["a#1"]);
    assert_eq!(super::fixtures::words(store, &namespace, "one"), ["a#0"]);
    store.set_vector_space(&namespace, None).unwrap();
    let error = store.by_vector(&namespace, &[1.0; 3], &Filter::All, 1, &soon()).unwrap_err();
    assert!(matches!(error, Error::NoVectorSpace { .. }));
}
