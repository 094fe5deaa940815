//! Laws of what followers read: the log, passages by number, and what a release does.

use model::{DocumentId, PassageId};

use super::fixtures::{WithVectors, document, made_in, vector};
use crate::{Catalogue, LogKind, LogPage, SourceParts, VersionChange};

/// More entries than any law here makes.
const MANY: usize = 10_000;

fn kinds(page: &LogPage) -> Vec<(LogKind, u32, u32)> {
    page.entries.iter().map(|entry| (entry.kind, entry.first, entry.count)).collect()
}

pub(super) fn the_log_is_in_order(catalogue: &dyn Catalogue) {
    let namespace = made_in(catalogue, "log", WithVectors::Yes);
    let number = catalogue.namespace(&namespace).unwrap().unwrap().number;
    assert_eq!(catalogue.log(number, 0, MANY).unwrap(), LogPage::default());
    let written = catalogue.upsert(&namespace, &[document("a", &["one", "two"])]).unwrap();
    assert_eq!(written.sequence_before, 0);
    let added = |versions: &[VersionChange]| match versions {
        [.., VersionChange::Added { document_idx: 0, first, .. }] => *first,
        _ => panic!("{versions:?}"),
    };
    assert_eq!(added(&written.versions), 0);
    catalogue.set_vectors(&namespace, &[(PassageId::new("a#1"), vector(1, 0.1))]).unwrap();
    let page = catalogue.log(number, 0, MANY).unwrap();
    assert_eq!(kinds(&page), [(LogKind::Added, 0, 2), (LogKind::Vectors, 1, 1)]);
    assert_eq!((page.starts_after, page.last), (0, page.entries[1].sequence));
    assert!(page.entries[0].sequence < page.entries[1].sequence);
    assert_eq!(page.entries[0].sequence, written.sequence);

    let again = catalogue.upsert(&namespace, &[document("a", &["one", "other"])]).unwrap();
    assert_eq!(again.sequence_before, page.last);
    assert!(matches!(again.versions[0], VersionChange::Removed { first: 0 }));
    assert_eq!(added(&again.versions), 2);
    catalogue.delete(&namespace, &[DocumentId::new("a")]).unwrap();
    let rest = catalogue.log(number, page.last, MANY).unwrap();
    let expected = [(LogKind::Removed, 0, 2), (LogKind::Added, 2, 2), (LogKind::Removed, 2, 2)];
    assert_eq!(kinds(&rest), expected);
    let mut seen = 0;
    let mut entries = vec![];
    while let [entry] = catalogue.log(number, seen, 1).unwrap().entries[..] {
        assert!(entry.sequence > seen);
        seen = entry.sequence;
        entries.push(entry);
    }
    assert_eq!(entries.len(), 5, "entry by entry is the same as all at once");
    assert_eq!(catalogue.log(number, 0, 0).unwrap().last, seen);

    let other = made_in(catalogue, "log-other", WithVectors::No);
    catalogue.upsert(&other, &[document("a", &["one"])]).unwrap();
    assert_eq!(catalogue.log(number, seen, MANY).unwrap().entries, [], "of one namespace");
}

pub(super) fn sources_are_living(catalogue: &dyn Catalogue) {
    let namespace = made_in(catalogue, "sources", WithVectors::Yes);
    let number = catalogue.namespace(&namespace).unwrap().unwrap().number;
    let mut titled = document("a", &["one", "two"]);
    titled.title = "Title".to_owned();
    titled.attributes.insert("year".to_owned(), 2021.into());
    catalogue.upsert(&namespace, &[titled.clone(), document("b", &["three"])]).unwrap();
    catalogue.set_vectors(&namespace, &[(PassageId::new("b#0"), vector(2, 0.0))]).unwrap();
    let with = SourceParts::WithVector;
    let found = catalogue.sources(number, 0..u32::MAX, MANY, with).unwrap();
    let numbers: Vec<u32> = found.iter().map(|source| source.number).collect();
    assert_eq!(numbers, [0, 1, 2]);
    assert_eq!(found[1].passage, titled.passages[1]);
    let head = &found[0].document;
    assert_eq!((head.id.as_str(), head.title.as_str(), head.first_passage), ("a", "Title", 0));
    assert_eq!(head.attributes, titled.attributes);
    assert!(found[0].vector.is_none());
    assert_eq!(found[2].vector.as_deref(), Some(&vector(2, 0.0)[..]), "vectors have length 1");
    let without = catalogue.sources(number, 1..3, 1, SourceParts::WithoutVector).unwrap();
    assert_eq!((without.len(), without[0].number), (1, 1));
    assert_eq!(catalogue.vectors(number, 0..u32::MAX, MANY).unwrap()[0].0, 2);

    catalogue.upsert(&namespace, &[document("a", &["newer"])]).unwrap();
    let found = catalogue.sources(number, 0..u32::MAX, MANY, with).unwrap();
    let ids: Vec<_> =
        found.iter().map(|source| (source.number, source.passage.id.as_str())).collect();
    assert_eq!(ids, [(2, "b#0"), (3, "a#0")], "earlier versions are passed over");
    let labels = catalogue.labels(number, 0..2).unwrap();
    assert_eq!(labels.len(), 2, "until they are released, removed passages have names");
    assert_eq!(labels[1], (titled.passages[1].id.clone(), titled.passages[1].pointer.clone()));
    let names = catalogue.names(number, &[3, 99, 2]).unwrap();
    let name =
        |idx: usize| names[idx].as_ref().map(|(document, passage)| format!("{document} {passage}"));
    assert_eq!(
        (name(0).as_deref(), name(1), name(2).as_deref()),
        (Some("a a#0"), None, Some("b b#0"))
    );
}

pub(super) fn releases_shorten_the_log(catalogue: &dyn Catalogue) {
    let namespace = made_in(catalogue, "release", WithVectors::No);
    let number = catalogue.namespace(&namespace).unwrap().unwrap().number;
    catalogue.upsert(&namespace, &[document("a", &["one"])]).unwrap();
    catalogue.delete(&namespace, &[DocumentId::new("a")]).unwrap();
    let removed = catalogue.log(number, 0, MANY).unwrap().last;
    catalogue.upsert(&namespace, &[document("b", &["two"])]).unwrap();
    catalogue.release(number, "law", removed).unwrap();
    catalogue.upsert(&namespace, &[document("c", &["three"])]).unwrap();
    let page = catalogue.log(number, removed, MANY).unwrap();
    assert_eq!(kinds(&page), [(LogKind::Added, 1, 1), (LogKind::Added, 2, 1)], "the rest stays");
    assert!(page.starts_after <= removed, "a follower that was there need not start anew");
    let from_nothing = catalogue.log(number, 0, MANY).unwrap();
    let is_whole = from_nothing.starts_after == 0 && from_nothing.entries.len() == 4;
    assert!(is_whole || from_nothing.starts_after > 0, "what is forgotten is said");
    assert_eq!(page.last, page.entries[1].sequence);
    catalogue.release(number, "law", page.last).unwrap();
    assert_eq!(catalogue.log(number, page.last, MANY).unwrap().last, page.last);
}

pub(super) fn writers_do_not_hide_entries(catalogue: &dyn Catalogue) {
    const N_WRITERS: u32 = 4;
    const N_WRITES: u32 = 8;
    let namespace = made_in(catalogue, "writers", WithVectors::No);
    let number = catalogue.namespace(&namespace).unwrap().unwrap().number;
    let seen = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..N_WRITERS)
            .map(|writer| {
                let namespace = &namespace;
                scope.spawn(move || {
                    for at in 0..N_WRITES {
                        let id = format!("{writer}-{at}");
                        catalogue.upsert(namespace, &[document(&id, &["x"])]).unwrap();
                    }
                })
            })
            .collect();
        // A follower that only ever asks for what comes after what it has seen.
        let mut firsts = vec![];
        let mut seen = 0;
        loop {
            let is_over = writers.iter().all(|writer| writer.is_finished());
            let page = catalogue.log(number, seen, MANY).unwrap();
            firsts.extend(page.entries.iter().map(|entry| entry.first));
            seen = page.entries.last().map_or(seen, |entry| entry.sequence);
            if is_over {
                return firsts;
            }
        }
    });
    let mut sorted = seen.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, (0..N_WRITERS * N_WRITES).collect::<Vec<_>>(), "every change was seen once");
}
