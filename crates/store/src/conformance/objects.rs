//! Laws of objects in a catalogue.

use model::TenantId;

use crate::{Catalogue, Change, Error, Lookup, Object, ObjectKey, ObjectPage};

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
