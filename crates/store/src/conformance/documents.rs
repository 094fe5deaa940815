//! Laws of namespaces and documents.

use model::{AttributeValue, DocumentId, NamespaceId, PassageId, TenantId};

use super::fixtures::{WithVectors, document, made_in};
use crate::{
    Catalogue, Change, Counts, DocumentPage, Error, Lookup, Manifest, Object, ObjectKey, limits,
};

pub(super) fn namespaces_come_and_go(catalogue: &dyn Catalogue) {
    let first = made_in(catalogue, "come/and go:一", WithVectors::No);
    let second = made_in(catalogue, "come-second", WithVectors::Yes);
    made_in(catalogue, "come/and go:一", WithVectors::No);
    let listed: Vec<_> =
        catalogue.namespaces().unwrap().into_iter().map(|state| state.info.id).collect();
    assert!(listed.contains(&first) && listed.contains(&second));
    assert!(listed.is_sorted(), "namespaces are listed in order");
    catalogue.upsert(&first, &[document("a", &["gone soon"])]).unwrap();
    assert!(catalogue.drop_namespace(&first).unwrap());
    assert!(!catalogue.drop_namespace(&first).unwrap());
    assert_eq!(catalogue.namespace(&first).unwrap(), None);
    assert!(is_unknown(&catalogue.upsert(&first, &[document("a", &["x"])]).unwrap_err()));
    made_in(catalogue, "come/and go:一", WithVectors::No);
    assert_eq!(counts_of(catalogue, &first).n_passages, 0, "a new namespace is empty");
    catalogue.upsert(&first, &[document("a", &["here again"])]).unwrap();
}

/// What is read by one query is what each question by itself gives.
pub(super) fn namespaces_are_read_with_their_notes(catalogue: &dyn Catalogue) {
    let [noted, plain] =
        ["noted", "noted-not"].map(|name| made_in(catalogue, name, WithVectors::Yes));
    let gone = NamespaceId::new("noted-nowhere");
    let number = catalogue.namespace(&noted).unwrap().unwrap().number;
    for kind in ["law note", "other law note"] {
        let note = Object {
            key: ObjectKey::new(kind, number.to_string()),
            tenant: TenantId::new(""),
            parent: None,
            lookups: vec![Lookup::new("name", "b"), Lookup::new("name", "ä")],
            body: serde_json::json!({ "of": kind }),
            version: 0,
        };
        catalogue.apply(&[Change::Put(note)]).unwrap();
    }
    catalogue.upsert(&noted, &[document("a", &["some", "words"])]).unwrap();
    let asked = [&plain, &gone, &noted, &plain];
    let alone = asked.map(|namespace| catalogue.namespace(namespace).unwrap());
    assert!(alone[1].is_none() && alone[2].as_ref().is_some_and(|one| one.counts.n_passages == 2));
    assert_eq!(catalogue.namespaces_by_id(&asked).unwrap(), alone);
    assert_eq!(catalogue.namespaces_by_id(&[]).unwrap(), []);
    for (namespace, state) in asked.into_iter().zip(alone) {
        let number = state.as_ref().map_or(0, |state| state.number);
        let note = catalogue.get(&ObjectKey::new("law note", number.to_string())).unwrap();
        assert_eq!(note.is_some(), *namespace == noted);
        let found = catalogue.namespace_with_note(namespace, "law note").unwrap();
        assert_eq!(found, state.map(|state| (state, note)));
    }
    assert!(catalogue.drop_namespace(&noted).unwrap());
    assert_eq!(catalogue.namespace_with_note(&noted, "law note").unwrap(), None);
    assert_eq!(catalogue.namespaces_by_id(&[&noted]).unwrap(), [None]);
}

pub(super) fn another_manifest_is_refused(catalogue: &dyn Catalogue) {
    let namespace = made_in(catalogue, "manifest", WithVectors::Yes);
    let mut other = Manifest::current(Some(super::space()));
    other.analyser.version += 1;
    let error = catalogue.create_namespace(&namespace, &other).unwrap_err();
    assert!(matches!(error, Error::ManifestMismatch { .. }), "{error}");
    let mut other = Manifest::current(Some(super::space()));
    other.vectors.as_mut().unwrap().embedder.push('x');
    let error = catalogue.create_namespace(&namespace, &other).unwrap_err();
    assert!(matches!(error, Error::ManifestMismatch { .. }), "{error}");
    let words_only = made_in(catalogue, "manifest-words", WithVectors::No);
    catalogue.create_namespace(&words_only, &Manifest::current(Some(super::space()))).unwrap();
    let state = catalogue.namespace(&words_only).unwrap().unwrap();
    assert_eq!(state.info.manifest.vectors, Some(super::space()), "takes on a vector space");
}

pub(super) fn unknown_namespaces_are_errors(catalogue: &dyn Catalogue) {
    let nowhere = NamespaceId::new("nowhere");
    assert!(is_unknown(&catalogue.upsert(&nowhere, &[document("a", &["x"])]).unwrap_err()));
    assert!(is_unknown(&catalogue.delete(&nowhere, &[DocumentId::new("a")]).unwrap_err()));
    assert!(is_unknown(&catalogue.documents(&nowhere, &DocumentPage::default()).unwrap_err()));
    assert!(is_unknown(&catalogue.passages(&nowhere, &[]).unwrap_err()));
    assert!(is_unknown(&catalogue.set_vectors(&nowhere, &[]).unwrap_err()));
    assert_eq!(catalogue.namespace(&nowhere).unwrap(), None);
}

pub(super) fn documents_come_and_go(catalogue: &dyn Catalogue) {
    let namespace = made_in(catalogue, "documents", WithVectors::No);
    let mut one = document("one", &["first text", "second text"]);
    one.title = "Number One".to_owned();
    one.metadata = serde_json::json!({"size": 7});
    one.fingerprint = "v1".to_owned();
    one.attributes.insert("year".to_owned(), 2021.into());
    one.passages[1].headings = vec!["Chapter".to_owned()];
    let two = document("two", &["third text"]);
    let upserted = catalogue.upsert(&namespace, &[one.clone(), two]).unwrap().upserted;
    assert_eq!((upserted.n_new, upserted.n_replaced, upserted.n_passages), (2, 0, 3));

    let info = catalogue.document(&namespace, &one.id).unwrap().unwrap();
    assert_eq!((info.title.as_str(), info.n_passages), ("Number One", 2));
    assert_eq!((&info.metadata, info.fingerprint.as_str()), (&one.metadata, "v1"));
    assert_eq!(info.attributes, one.attributes);
    assert_eq!(catalogue.passages_of(&namespace, &one.id).unwrap(), one.passages);
    let found = catalogue
        .passages(
            &namespace,
            &[PassageId::new("two#0"), PassageId::new("x"), PassageId::new("one#1")],
        )
        .unwrap();
    assert_eq!(found[0].as_ref().unwrap().document.as_str(), "two");
    assert_eq!(found[1], None);
    assert_eq!(found[2].as_ref().unwrap().passage, one.passages[1]);
    assert_eq!(found[2].as_ref().unwrap().title, "Number One");

    let upserted =
        catalogue.upsert(&namespace, &[document("one", &["only text"])]).unwrap().upserted;
    assert_eq!((upserted.n_new, upserted.n_replaced), (0, 1));
    let counts = counts_of(catalogue, &namespace);
    assert_eq!((counts.n_documents, counts.n_passages), (2, 2));
    assert_eq!(catalogue.passages(&namespace, &[PassageId::new("one#1")]).unwrap(), [None]);

    let ids = [DocumentId::new("one"), DocumentId::new("unknown")];
    assert_eq!(catalogue.delete(&namespace, &ids).unwrap(), 1);
    assert_eq!(catalogue.document(&namespace, &ids[0]).unwrap(), None);
    assert_eq!(catalogue.passages_of(&namespace, &ids[0]).unwrap(), []);
    let counts = counts_of(catalogue, &namespace);
    assert_eq!((counts.n_documents, counts.n_passages), (1, 1));

    let twice = [document("same", &["early words"]), document("same", &["late words"])];
    catalogue.upsert(&namespace, &twice).unwrap();
    let empty = document("empty", &[]);
    catalogue.upsert(&namespace, &[empty.clone(), empty]).unwrap();
    assert_eq!(counts_of(catalogue, &namespace).n_documents, 3);
}

pub(super) fn documents_are_read_by_id(catalogue: &dyn Catalogue) {
    let namespace = made_in(catalogue, "by id", WithVectors::No);
    let documents = ["b", "a", "ü/1"].map(|id| document(id, &["x"]));
    catalogue.upsert(&namespace, &documents).unwrap();
    let read = |ids: &[&str]| {
        let ids: Vec<DocumentId> = ids.iter().copied().map(DocumentId::new).collect();
        let found = catalogue.documents_by_id(&namespace, &ids).unwrap();
        let each: Vec<_> =
            ids.iter().map(|id| catalogue.document(&namespace, id).unwrap()).collect();
        assert_eq!(found, each, "many at once are each alone");
        let name = |info: &crate::DocumentInfo| info.id.to_string();
        found.iter().map(|info| info.as_ref().map(name)).collect::<Vec<_>>()
    };
    let some = |id: &str| Some(id.to_owned());
    assert_eq!(read(&["ü/1", "gone", "a", "ü/1"]), [some("ü/1"), None, some("a"), some("ü/1")]);
    assert_eq!(read(&[]), []);
    catalogue.delete(&namespace, &[DocumentId::new("a")]).unwrap();
    assert_eq!(read(&["a", "b"]), [None, some("b")]);
    let nowhere = NamespaceId::new("nowhere");
    assert!(is_unknown(&catalogue.documents_by_id(&nowhere, &[]).unwrap_err()));
}

pub(super) fn listing_is_ordered_and_paged(catalogue: &dyn Catalogue) {
    let namespace = made_in(catalogue, "listing", WithVectors::No);
    let documents: Vec<_> =
        ["b/2", "a/1", "b/1", "c", "b%"].iter().map(|id| document(id, &["x"])).collect();
    catalogue.upsert(&namespace, &documents).unwrap();
    let list = |prefix: &str, after: Option<&str>, limit| {
        let page =
            DocumentPage { prefix: prefix.to_owned(), after: after.map(DocumentId::new), limit };
        let listed = catalogue.documents(&namespace, &page).unwrap();
        listed.into_iter().map(|info| info.id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(list("", None, 10), ["a/1", "b%", "b/1", "b/2", "c"]);
    assert_eq!(list("", Some("b%"), 2), ["b/1", "b/2"]);
    assert_eq!(list("b/", None, 10), ["b/1", "b/2"]);
    assert_eq!(list("b/", Some("b/1"), 10), ["b/2"]);
    assert_eq!(list("d", None, 10), [""; 0]);
    assert_eq!(list("", None, 0), [""; 0]);
}

pub(super) fn documents_are_chosen_and_counted_by_attribute(catalogue: &dyn Catalogue) {
    let namespace = made_in(catalogue, "chosen", WithVectors::No);
    let with = |id: &str, texts: &[&str], value: Option<AttributeValue>| {
        let mut document = document(id, texts);
        document.attributes.extend(value.map(|value| ("state of it".to_owned(), value)));
        document
    };
    let documents = [
        with("a", &["x"], Some("done".into())),
        with("b", &[], Some("bad' OR 1".into())),
        with("c", &["x"], None),
        with("d", &["x"], Some(7.into())),
        with("e", &["x"], Some("done".into())),
        with("f", &[], Some("done".into())),
    ];
    catalogue.upsert(&namespace, &documents).unwrap();
    let list = |values: &[Option<&str>], after: Option<&str>, limit| {
        let after = after.map(DocumentId::new);
        let page = DocumentPage { prefix: String::new(), after, limit };
        let listed = catalogue.documents_with(&namespace, "state of it", values, &page).unwrap();
        listed.into_iter().map(|info| info.id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(list(&[Some("done")], None, 10), ["a", "e", "f"]);
    assert_eq!(list(&[Some("done")], Some("a"), 1), ["e"]);
    assert_eq!(list(&[Some("bad' OR 1"), None], None, 10), ["b", "c", "d"]);
    assert_eq!(list(&[Some("bad")], None, 10), [""; 0]);
    assert_eq!(list(&[], None, 10), [""; 0]);
    assert_eq!(list(&[None], None, 0), [""; 0]);
    let count = || {
        let counts = catalogue.count_documents(&namespace, &["state of it"]).unwrap();
        let figures = |mut count: crate::DocumentCount| {
            (count.values.remove(0), count.has_passages, count.n_documents)
        };
        counts.into_iter().map(figures).collect::<Vec<_>>()
    };
    let state = |state: &str| Some(state.to_owned());
    let wanted = [
        (None, true, 2),
        (state("bad' OR 1"), false, 1),
        (state("done"), false, 1),
        (state("done"), true, 2),
    ];
    assert_eq!(count(), wanted);
    assert_eq!(count(), wanted);
    // What JSON writes in another way is found, and what was counted before is not said again.
    let quoted = "a \"b\" \\ c\td";
    catalogue.upsert(&namespace, &[with("a", &["x"], Some(quoted.into()))]).unwrap();
    assert_eq!(list(&[Some(quoted)], None, 10), ["a"]);
    assert_eq!(list(&[Some("done")], None, 10), ["e", "f"]);
    assert_eq!(
        count(),
        [
            (None, true, 2),
            (state(quoted), true, 1),
            (state("bad' OR 1"), false, 1),
            (state("done"), false, 1),
            (state("done"), true, 1),
        ]
    );
    catalogue.delete(&namespace, &[DocumentId::new("a")]).unwrap();
    assert_eq!(count().len(), 4);
}

pub(super) fn taken_passage_ids_are_refused(catalogue: &dyn Catalogue) {
    let namespace = made_in(catalogue, "taken", WithVectors::No);
    catalogue.upsert(&namespace, &[document("a", &["one"])]).unwrap();
    let mut thief = document("b", &["two"]);
    thief.passages[0].id = PassageId::new("a#0");
    let batch = [document("c", &["three"]), thief];
    let error = catalogue.upsert(&namespace, &batch).unwrap_err();
    assert!(matches!(error, Error::DuplicatePassage { .. }), "{error}");
    assert_eq!(counts_of(catalogue, &namespace).n_documents, 1, "nothing of the batch stays");
    let mut double = document("d", &["x", "y"]);
    double.passages[1].id = double.passages[0].id.clone();
    let error = catalogue.upsert(&namespace, &[double]).unwrap_err();
    assert!(matches!(error, Error::DuplicatePassage { .. }), "{error}");
}

pub(super) fn limits_are_named(catalogue: &dyn Catalogue) {
    let namespace = made_in(catalogue, "limits", WithVectors::No);
    let long = "x".repeat(limits::MAX_ID_BYTES + 1);
    let error = catalogue.upsert(&namespace, &[document(&long, &["x"])]).unwrap_err();
    assert!(matches!(error, Error::TooLarge { .. }), "{error}");
    let huge = "x ".repeat(limits::MAX_PASSAGE_BYTES);
    let error = catalogue.upsert(&namespace, &[document("a", &[&huge])]).unwrap_err();
    assert!(matches!(error, Error::TooLarge { .. }), "{error}");
    assert_eq!(counts_of(catalogue, &namespace).n_documents, 0);
}

pub(super) fn blobs_stay_with_their_passages(catalogue: &dyn Catalogue) {
    let namespace = made_in(catalogue, "blobs", WithVectors::No);
    catalogue.upsert(&namespace, &[document("a", &["one", "two"])]).unwrap();
    let (first, second) = (PassageId::new("a#0"), PassageId::new("a#1"));
    let blobs = [(first.clone(), vec![1, 2, 3]), (PassageId::new("gone"), vec![4])];
    assert_eq!(catalogue.set_blobs(&namespace, &blobs).unwrap(), 1);
    let asked = [second, first.clone()];
    assert_eq!(catalogue.blobs(&namespace, &asked).unwrap(), [None, Some(vec![1, 2, 3])]);
    catalogue.set_blobs(&namespace, &[(first.clone(), vec![9])]).unwrap();
    catalogue.upsert(&namespace, &[document("a", &["one", "changed"])]).unwrap();
    assert_eq!(catalogue.blobs(&namespace, std::slice::from_ref(&first)).unwrap(), [Some(vec![9])]);
    catalogue.upsert(&namespace, &[document("a", &["other", "changed"])]).unwrap();
    assert_eq!(catalogue.blobs(&namespace, &[first]).unwrap(), [None]);
}

fn counts_of(catalogue: &dyn Catalogue, namespace: &NamespaceId) -> Counts {
    catalogue.namespace(namespace).unwrap().unwrap().counts
}

fn is_unknown(error: &Error) -> bool {
    matches!(error, Error::UnknownNamespace { .. })
}
