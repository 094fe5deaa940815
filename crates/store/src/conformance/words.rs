//! Laws of the search by words.

use std::time::Duration;

use model::{DocumentId, Pointer};

use super::fixtures::{WithVectors, document, ids, made, soon, words};
use crate::{Bm25, Clause, Document, Filter, Form, Matched, Store, WordsQuery};

pub(super) fn words_are_found_right_after_the_write(store: &Store) {
    let namespace = made(store, "right-after", WithVectors::No);
    for round in 0..20 {
        let id = format!("d{round}");
        let word = word_number(round);
        store.upsert(&namespace, &[document(&id, &[&format!("common {word}")])]).unwrap();
        assert_eq!(words(store, &namespace, &word), [format!("{id}#0")]);
        assert_eq!(words(store, &namespace, "common").len(), round + 1);
    }
    store.delete(&namespace, &[DocumentId::new("d7")]).unwrap();
    // Without a query, all that fits is counted, and nothing that was deleted.
    let ids: Vec<DocumentId> =
        ["d3", "d7", "d12", "none"].iter().map(|id| DocumentId::new(*id)).collect();
    for (ids, n) in [(None, 19), (Some(ids), 2)] {
        let filter = ids.clone().map_or(Filter::All, Filter::Documents);
        if let Some(matched) = store.count(&namespace, None, &filter, &soon()).unwrap() {
            let expected = Matched { n_documents: n, n_passages: n, is_exact: true };
            assert_eq!(matched, expected, "{filter:?}");
        }
        let fitting = store.documents_that_fit(&namespace, &filter, &soon()).unwrap();
        if let Some(mut fitting) = fitting {
            let is_left = |id: &DocumentId| {
                id.as_str() != "d7" && ids.as_ref().is_none_or(|ids| ids.contains(id))
            };
            let every = (0..20).map(|round| DocumentId::new(format!("d{round}")));
            let mut expected: Vec<DocumentId> = every.filter(is_left).collect();
            fitting.sort();
            expected.sort();
            assert_eq!(fitting, expected, "{filter:?}");
        }
    }
    assert_eq!(words(store, &namespace, &word_number(7)), [""; 0]);
    assert_eq!(words(store, &namespace, "common").len(), 19);
    assert_eq!(words(store, &namespace, ""), [""; 0]);
}

/// Gives a word without digits, which no analyser takes apart.
fn word_number(number: usize) -> String {
    let letter = char::from(b'a' + number as u8);
    format!("zq{letter}{letter}x")
}

pub(super) fn clauses_mean_what_they_say(store: &Store) {
    let namespace = made(store, "clauses", WithVectors::No);
    let texts = ["red apple pie", "green apple", "apple red", "pie chart", "applause"];
    store.upsert(&namespace, &[document("d", &texts)]).unwrap();
    let check = |should: &[Clause], must: &[Clause], must_not: &[Clause], expected: &[&str]| {
        let query = WordsQuery {
            should: should.to_vec(),
            must: must.to_vec(),
            must_not: must_not.to_vec(),
            bm25: Bm25::PASSAGES,
            title_boost: 1.0,
        };
        let found = store.by_words(&namespace, &query, &Filter::All, 10, &soon()).unwrap();
        let mut found = ids(&found);
        found.sort();
        assert_eq!(found, expected, "{query:?}");
        let counted = store.count(&namespace, Some(&query), &Filter::All, &soon()).unwrap();
        if let Some(matched) = counted {
            let n_documents = usize::from(!expected.is_empty());
            let expected = Matched { n_documents, n_passages: expected.len(), is_exact: true };
            assert_eq!(matched, expected, "{query:?}");
        }
    };
    let term = |text: &str| Clause::term(Form::Exact, text);
    check(&[term("apple")], &[], &[], &["d#0", "d#1", "d#2"]);
    check(&[term("apple"), term("pie")], &[], &[], &["d#0", "d#1", "d#2", "d#3"]);
    check(&[], &[term("apple"), term("red")], &[], &["d#0", "d#2"]);
    check(&[term("pie")], &[term("apple")], &[], &["d#0", "d#1", "d#2"]);
    check(&[term("apple")], &[], &[term("red")], &["d#1"]);
    check(&[], &[], &[term("red")], &[]);
    check(&[Clause::phrase(["red", "appl"])], &[], &[], &["d#0"]);
    check(&[], &[Clause::phrase(["appl", "red"])], &[], &["d#2"]);
    let apart = Clause::Phrase {
        words: vec![(0, vec!["red".to_owned()]), (2, vec!["cake".to_owned(), "pie".to_owned()])],
        boost: 1.0,
    };
    check(&[apart], &[], &[], &["d#0"]);
    // As short as a word of four letters is mended by.
    for start in ["ap", "app", "appl"] {
        let starts = Clause::prefix(Form::Exact, start);
        check(&[starts], &[], &[], &["d#0", "d#1", "d#2", "d#4"]);
    }
    check(&[term("pie")], &[], &[Clause::prefix(Form::Exact, "app")], &["d#3"]);
    check(&[term("unknown")], &[], &[], &[]);
    let either = Clause::any_term(Form::Exact, ["applause", "chart", "unknown"]);
    check(std::slice::from_ref(&either), &[], &[], &["d#3", "d#4"]);
    check(&[term("apple")], &[], &[either], &["d#0", "d#1", "d#2"]);
    // A clause without words matches nothing, whoever is asked.
    let nothing = Clause::any_term(Form::Exact, [""; 0]);
    let holed =
        Clause::Phrase { words: vec![(0, vec!["red".to_owned()]), (1, vec![])], boost: 1.0 };
    for empty in [nothing, Clause::phrase([""; 0]), holed] {
        let empty = std::slice::from_ref(&empty);
        check(empty, &[], &[], &[]);
        check(&[term("apple")], empty, &[], &[]);
        check(&[term("apple")], &[], empty, &["d#0", "d#1", "d#2"]);
        check(&[term("apple"), empty[0].clone()], &[], &[], &["d#0", "d#1", "d#2"]);
    }
    let stemmed = WordsQuery::from_text("apples", Bm25::PASSAGES, 1.0, 0.5);
    let found = store.by_words(&namespace, &stemmed, &Filter::All, 10, &soon()).unwrap();
    assert_eq!(found.hits.len(), 3, "inflected forms find each other");
}

pub(super) fn scores_are_bm25(store: &Store) {
    let namespace = made(store, "bm25", WithVectors::No);
    let texts = ["cat cat dog", "cat", "dog dog bird fish", "bird"];
    store.upsert(&namespace, &[document("d", &texts)]).unwrap();
    let lengths = texts.map(|text| text.split(' ').count() as f64);
    let mean = lengths.iter().sum::<f64>() / 4.0;
    for bm25 in [Bm25::PASSAGES, Bm25::KNOWLEDGE, Bm25 { k1: 0.5, b: 0.0 }] {
        let mut query = WordsQuery::new(bm25, 0.0);
        query.should =
            vec![Clause::term(Form::Folded, "cat"), Clause::term(Form::Folded, "dog").boosted(2.0)];
        let found = store.by_words(&namespace, &query, &Filter::All, 10, &soon()).unwrap();
        assert_eq!(found.hits.len(), 3);
        for hit in &found.hits {
            let at: usize = hit.passage.as_str()[2..].parse().unwrap();
            let one = |word: &str, boost: f64| {
                let n_holding = texts.iter().filter(|text| text.contains(word)).count() as f64;
                let idf = (1.0 + (4.0 - n_holding + 0.5) / (n_holding + 0.5)).ln();
                let frequency = texts[at].split(' ').filter(|other| *other == word).count() as f64;
                let (k1, b) = (f64::from(bm25.k1), f64::from(bm25.b));
                let norm = k1 * (1.0 - b + b * lengths[at] / mean);
                boost * idf * (k1 + 1.0) * frequency / (frequency + norm)
            };
            let expected = one("cat", 1.0) + one("dog", 2.0);
            assert!((f64::from(hit.score) - expected).abs() < 1e-4, "{hit:?} {expected}");
        }
        assert!(found.hits.is_sorted_by(|left, right| left.score >= right.score));
    }
}

pub(super) fn titles_count(store: &Store) {
    let namespace = made(store, "titles", WithVectors::No);
    let mut titled = document("titled", &["nothing here"]);
    titled.title = "Quarterly budget".to_owned();
    let mut headed = document("headed", &["nothing there"]);
    headed.passages[0].headings = vec!["Budget of the year".to_owned()];
    store.upsert(&namespace, &[titled, headed, document("plain", &["the budget"])]).unwrap();
    let find = |title_boost| {
        let mut query = WordsQuery::new(Bm25::PASSAGES, title_boost);
        query.should = vec![Clause::term(Form::Exact, "budget")];
        ids(&store.by_words(&namespace, &query, &Filter::All, 10, &soon()).unwrap())
    };
    assert_eq!(find(0.0), ["plain#0"]);
    assert_eq!(find(0.01)[0], "plain#0");
    assert_eq!(find(0.01).len(), 3);
    assert_eq!(find(50.0)[2], "plain#0");
}

pub(super) fn filters_hold(store: &Store) {
    let namespace = made(store, "filters", WithVectors::No);
    let mut documents = vec![];
    for (id, ext, year, tags) in [
        ("a/1", "pdf", Some(2020), vec!["x", "y"]),
        ("a/2", "docx", Some(2021), vec!["y"]),
        ("b/1", "pdf", Some(-5), vec![]),
        ("b/2", "txt", None, vec!["z"]),
    ] {
        let mut document = document(id, &["same words", "same words"]);
        document.attributes.insert("ext".to_owned(), ext.into());
        if let Some(year) = year {
            document.attributes.insert("year.of-it".to_owned(), year.into());
        }
        let tags: Vec<String> = tags.into_iter().map(str::to_owned).collect();
        document.attributes.insert("tags".to_owned(), tags.into());
        document.passages[0].pointer = Pointer::Json("/a/b".to_owned());
        document.passages[1].pointer = Pointer::Json("/a/bc".to_owned());
        documents.push(document);
    }
    store.upsert(&namespace, &documents).unwrap();
    super::vectors::check_filters(&|filter: &Filter| {
        let query = WordsQuery::from_text("words", Bm25::PASSAGES, 1.0, 0.0);
        ids(&store.by_words(&namespace, &query, filter, 100, &soon()).unwrap())
    });
}

pub(super) fn ties_are_stable(store: &Store) {
    let namespace = made(store, "ties", WithVectors::No);
    for round in 0..12 {
        store.upsert(&namespace, &[document(&format!("t{round:02}"), &["tie break"])]).unwrap();
    }
    let all: Vec<String> = (0..12).map(|round| format!("t{round:02}#0")).collect();
    let query = WordsQuery::from_text("tie", Bm25::PASSAGES, 1.0, 0.0);
    for limit in [0, 1, 3, 12, 50] {
        let found = store.by_words(&namespace, &query, &Filter::All, limit, &soon()).unwrap();
        assert_eq!(ids(&found), all[..limit.min(12)]);
    }
}

pub(super) fn deadlines_are_said(store: &Store) {
    let namespace = made(store, "deadlines", WithVectors::No);
    store.upsert(&namespace, &[document("a", &["word"])]).unwrap();
    let query = WordsQuery::from_text("word", Bm25::PASSAGES, 1.0, 0.0);
    let over = model::Deadline::after(Duration::ZERO);
    // A search this small may still be whole; it must not fail, and not claim what it lacks.
    let found = store.by_words(&namespace, &query, &Filter::All, 5, &over).unwrap();
    assert!(found.is_partial || ids(&found) == ["a#0"]);
    let found = store.by_words(&namespace, &query, &Filter::All, 5, &soon()).unwrap();
    assert!(!found.is_partial);
}

pub(super) fn statistics_count(store: &Store) {
    let namespace = made(store, "statistics", WithVectors::No);
    store.upsert(&namespace, &[document("a", &["one two", "two three two", "four"])]).unwrap();
    let asked = [(Form::Folded, "two".to_owned()), (Form::Exact, "none".to_owned())];
    let statistics = store.term_statistics(&namespace, &asked).unwrap();
    assert_eq!(statistics.n_passages, 3);
    assert!((statistics.mean_length - 2.0).abs() < 1e-9);
    assert_eq!(statistics.terms[0].n_passages, 2);
    assert_eq!(statistics.terms[1].n_passages, 0);
    // What is replaced or erased does not count any more, merged away or not.
    store.upsert(&namespace, &[document("b", &["two two", "five six seven eight"])]).unwrap();
    store.upsert(&namespace, &[document("a", &["one two", "two three two", "four"])]).unwrap();
    store.delete(&namespace, &[DocumentId::new("b")]).unwrap();
    assert_eq!(store.term_statistics(&namespace, &asked).unwrap(), statistics);
    // Passages under a title that holds a word count, where they are more than those that hold it.
    let report =
        Document { title: "two none".to_owned(), ..document("c", &["five", "six", "one"]) };
    store.upsert(&namespace, &[report]).unwrap();
    let counted = store.term_statistics(&namespace, &asked).unwrap().terms;
    assert_eq!(counted.iter().map(|term| term.n_passages).collect::<Vec<_>>(), [3, 3]);
}
