//! Laws of objects in a catalogue.

use model::TenantId;

use crate::{Catalogue, Change, Error, Lookup, Object, ObjectKey, ObjectPage, limits};

fn object(id: &str, tenant: &str, parent: Option<&str>, version: u64) -> Object {
    Object {
        key: ObjectKey::new("law", id),
        tenant: TenantId::new(tenant),
        parent: parent.map(str::to_owned),
        lookups: vec![Lookup::new("state", "new")],
        body: serde_json::json!({"id": id}),
        version,
    }
}

pub(super) fn rows_come_and_go(catalogue: &dyn Catalogue) {
    let row = object("a", "t", None, 0);
    assert_eq!(catalogue.apply(&[Change::Put(row.clone())]).unwrap(), [1]);
    let kept = catalogue.get(&row.key).unwrap().unwrap();
    assert_eq!(kept, Object { version: 1, ..row.clone() });
    assert_eq!(catalogue.apply(&[Change::Put(row.clone())]).unwrap(), [2]);
    catalogue.apply(&[Change::Delete(row.key.clone()), Change::Delete(row.key.clone())]).unwrap();
    assert_eq!(catalogue.get(&row.key).unwrap(), None);
    assert!(catalogue.find("law", &Lookup::new("state", "new")).unwrap().is_empty());
}

pub(super) fn many_are_read_at_once(catalogue: &dyn Catalogue) {
    let rows = ["b", "a", "Ünï", ""].map(|id| object(id, "t", None, 0));
    let other = Object { key: ObjectKey::new("other law", "c"), ..object("c", "t", None, 0) };
    catalogue.apply(&rows.clone().map(Change::Put)).unwrap();
    catalogue.apply(&[Change::Put(other.clone())]).unwrap();
    let read = |ids: &[&str]| catalogue.get_many("law", ids).unwrap();
    let stored = |row: &Object| Some(Object { version: 1, ..row.clone() });
    let [b, a, word, empty] = &rows;
    assert_eq!(read(&[]), []);
    assert_eq!(read(&["nowhere", "c"]), [None, None], "`c` is of another kind");
    let found = read(&["a", "nowhere", "", "b", "Ünï", "a"]);
    assert_eq!(found, [stored(a), None, stored(empty), stored(b), stored(word), stored(a)]);
    for row in &rows {
        assert_eq!(catalogue.get(&row.key).unwrap(), stored(row), "alone as among others");
    }
    let mut gone: Vec<Change> = rows.into_iter().map(|row| Change::Delete(row.key)).collect();
    gone.push(Change::Delete(other.key));
    catalogue.apply(&gone).unwrap();
}

pub(super) fn versions_guard(catalogue: &dyn Catalogue) {
    let row = object("guarded", "t", None, 0);
    catalogue.apply(&[Change::PutIfUnchanged(row.clone())]).unwrap();
    let error = catalogue.apply(&[Change::PutIfUnchanged(row.clone())]).unwrap_err();
    assert!(matches!(error, Error::Conflict { expected: 0, found: 1, .. }), "{error}");
    let next = Object { version: 1, ..row.clone() };
    assert_eq!(catalogue.apply(&[Change::PutIfUnchanged(next)]).unwrap(), [2]);
    catalogue.apply(&[Change::Delete(row.key)]).unwrap();
}

pub(super) fn batches_are_whole(catalogue: &dyn Catalogue) {
    let good = object("good", "t", None, 0);
    let stale = object("stale", "t", None, 9);
    let batch = [Change::Put(good.clone()), Change::PutIfUnchanged(stale)];
    assert!(catalogue.apply(&batch).is_err());
    assert_eq!(catalogue.get(&good.key).unwrap(), None, "a failed batch leaves nothing");
    let batch = [Change::Put(good.clone()), Change::Require(ObjectKey::new("law", "nowhere"))];
    let error = catalogue.apply(&batch).unwrap_err();
    assert!(matches!(error, Error::MissingObject { .. }), "{error}");
    assert_eq!(catalogue.get(&good.key).unwrap(), None);
    catalogue.apply(&[Change::Put(good.clone()), Change::Require(good.key.clone())]).unwrap();
    catalogue.apply(&[Change::Delete(good.key)]).unwrap();
}

pub(super) fn pages_and_lookups(catalogue: &dyn Catalogue) {
    let rows = [
        object("p1", "t", Some("p"), 0),
        object("p2", "u", Some("p"), 0),
        object("q1", "t", Some("q"), 0),
    ];
    catalogue.apply(&rows.map(Change::Put)).unwrap();
    let ids = |page: ObjectPage| {
        let listed = catalogue.list(&page).unwrap();
        listed.into_iter().map(|row| row.key.id).collect::<Vec<_>>()
    };
    let all = || ObjectPage::of("law");
    assert_eq!(ids(all()), ["p1", "p2", "q1"]);
    assert_eq!(ids(ObjectPage { parent: Some("p".to_owned()), ..all() }), ["p1", "p2"]);
    assert_eq!(ids(ObjectPage { tenant: Some(TenantId::new("t")), ..all() }), ["p1", "q1"]);
    assert_eq!(ids(ObjectPage { after: Some("p1".to_owned()), limit: 1, ..all() }), ["p2"]);
    assert_eq!(catalogue.find("law", &Lookup::new("state", "new")).unwrap().len(), 3);
    catalogue.apply(&[Change::DeleteChildren(ObjectKey::new("any", "p"))]).unwrap();
    assert_eq!(ids(all()), ["q1"]);
    catalogue.apply(&[Change::Delete(ObjectKey::new("law", "q1"))]).unwrap();
}

pub(super) fn files_come_with_their_rows(catalogue: &dyn Catalogue) {
    let row = object("with-file", "t", None, 0);
    let file = |bytes: &[u8]| Change::PutPiece {
        file: "law/with-file".to_owned(),
        piece: 0,
        bytes: bytes.to_vec(),
    };
    let nowhere = Change::Require(ObjectKey::new("law", "nowhere"));
    catalogue.apply(&[file(b"lost"), Change::Put(row.clone()), nowhere]).unwrap_err();
    assert_eq!(catalogue.piece("law/with-file", 0).unwrap(), None);
    let huge = vec![0; limits::MAX_PIECE_BYTES + 1];
    let error = catalogue.apply(&[Change::Put(row.clone()), file(&huge)]).unwrap_err();
    assert!(matches!(error, Error::TooLarge { .. }), "{error}");
    assert_eq!(catalogue.get(&row.key).unwrap(), None);
    assert_eq!(catalogue.apply(&[file(b"kept"), Change::Put(row.clone())]).unwrap(), [1]);
    assert_eq!(catalogue.piece("law/with-file", 0).unwrap(), Some(b"kept".to_vec()));
    catalogue.erase_file("law/with-file").unwrap();
    catalogue.apply(&[Change::Delete(row.key)]).unwrap();
}

/// Many change rows at the same time, each its own and one that all want: whoever is told that
/// it is written finds it, and whoever is refused has left nothing.
pub(super) fn changes_of_many_are_each_whole(catalogue: &dyn Catalogue) {
    const N_WRITERS: u64 = 8;
    const N_ROUNDS: u64 = 20;
    let wanted = object("wanted", "t", None, 0);
    catalogue.apply(&[Change::Put(wanted.clone())]).unwrap();
    let n_won: u64 = std::thread::scope(|scope| {
        let write = |writer: u64| {
            let wanted = wanted.clone();
            scope.spawn(move || {
                let mut n_won = 0;
                for round in 0..N_ROUNDS {
                    let own = object(&format!("of {writer} {round}"), "t", None, 0);
                    let version = catalogue.get(&wanted.key).unwrap().unwrap().version;
                    let won = catalogue.apply(&[
                        Change::PutIfUnchanged(own.clone()),
                        Change::PutIfUnchanged(Object { version, ..wanted.clone() }),
                    ]);
                    let found = catalogue.get(&own.key).unwrap();
                    assert_eq!(found.is_some(), won.is_ok(), "{writer} {round}");
                    match won {
                        Ok(_) => n_won += 1,
                        Err(Error::Conflict { .. }) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
                n_won
            })
        };
        let writers: Vec<_> = (0..N_WRITERS).map(write).collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).sum()
    });
    let version = catalogue.get(&wanted.key).unwrap().unwrap().version;
    assert_eq!(version, 1 + n_won, "every change that was made is counted once");
    assert!(n_won >= N_ROUNDS, "{n_won}");
    let page = ObjectPage { limit: limits::MAX_PAGE, ..ObjectPage::of("law") };
    let rows = catalogue.list(&page).unwrap();
    assert_eq!(rows.len() as u64, 1 + n_won);
    let gone: Vec<Change> = rows.into_iter().map(|row| Change::Delete(row.key)).collect();
    catalogue.apply(&gone).unwrap();
}
