//! No upload stays on disk once nobody waits for it.

use super::{World, member, open_collection};
use crate::{Content, DocumentState, Error, NewDocument, OcrRepair, Visibility, limits};

#[test]
fn uploads_go_with_their_job() {
    let mut world = World::new();
    let ann = member("acme", "ann");
    let base = world.base(&ann, "Rules", Visibility::Private);
    let collection = world.collection(&ann, &base, open_collection("All"));
    world.add(&ann, &collection, &["One rule.", "Another."]);
    world.settle();
    assert_eq!(world.uploads(), [""; 0]);

    // A job that is cancelled before it began.
    world.stop_workers();
    let new = vec![NewDocument::text("", "Never read.")];
    let accepted = world.service.add_documents(&ann, &collection, new).unwrap();
    assert_eq!(world.uploads().len(), 1);
    world.service.cancel_job(&ann, accepted.job.id.as_str()).unwrap();
    assert_eq!(world.uploads(), [""; 0]);
    let document = world.service.get_document(&ann, &accepted.documents[0].id).unwrap();
    assert_eq!(document.state, DocumentState::Failed);
    assert!(document.error.unwrap().contains("given up"));
}

#[test]
fn a_refused_upload_leaves_nothing_behind() {
    let world = World::new();
    let ann = member("acme", "ann");
    let base = world.base(&ann, "Rules", Visibility::Private);
    let collection = world.collection(&ann, &base, open_collection("All"));
    let new = vec![
        NewDocument::text("", "fine"),
        NewDocument::text("", "x".repeat(limits::MAX_TEXT_BYTES + 1)),
    ];
    let refused = world.service.add_documents(&ann, &collection, new).unwrap_err();
    assert!(matches!(refused, Error::TooLarge { .. }));
    assert_eq!(world.uploads(), [""; 0]);
    assert!(world.service.list_documents(&ann, &collection, None, 10).unwrap().is_empty());
}

#[test]
fn what_a_dead_process_left_is_swept() {
    let mut world = World::new();
    let ann = member("acme", "ann");
    let base = world.base(&ann, "Rules", Visibility::Private);
    let collection = world.collection(&ann, &base, open_collection("All"));
    world.stop_workers();
    let new = |text: &str| NewDocument {
        title: "t".to_owned(),
        content: Content::Text(text.to_owned()),
        metadata: serde_json::Value::Null,
        ocr: OcrRepair::Off,
    };
    let waits = world.service.add_documents(&ann, &collection, vec![new("It waits.")]).unwrap();
    let orphan = world.folder.path().join("uploads").join("no-such-document.1");
    fs_err::write(&orphan, "nobody waits for this").unwrap();
    // Its job is gone, as after a crash between the two.
    let lost = world.service.add_documents(&ann, &collection, vec![new("Lost.")]).unwrap();
    let key = store::ObjectKey::new("job", lost.job.id.as_str());
    world.service.0.catalogue.apply(&[store::Change::Delete(key)]).unwrap();

    assert_eq!(world.uploads().len(), 3);
    assert_eq!(world.service.sweep_uploads().unwrap(), 2);
    let kept = format!("{}.1", waits.documents[0].id);
    assert_eq!(world.uploads(), [kept]);
    let state = |accepted: &crate::Accepted| {
        world.service.get_document(&ann, &accepted.documents[0].id).unwrap().state
    };
    assert_eq!(state(&waits), DocumentState::Pending);
    assert_eq!(state(&lost), DocumentState::Failed);
    assert_eq!(world.service.sweep_uploads().unwrap(), 0);
}
