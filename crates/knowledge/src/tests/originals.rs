//! The file that a document was made from: kept with it, given to those who may have it, gone with
//! it. What changed from one content to the next, and what the same content is.

use std::io::Read;

use serde_json::json;

use ingest::ObjectError;

use super::{Fixture, admin, member, open_collection};
use crate::{
    Content, DocumentChange, DocumentState, Error, KnowledgeDocumentId, NewDocument, Visibility,
    limits,
};

fn file(name: &str, text: &str) -> NewDocument {
    let content = Content::File { bytes: text.as_bytes().to_vec(), name: name.to_owned() };
    NewDocument { content, ..NewDocument::text("", "") }
}

#[test]
fn an_original_is_for_those_with_a_role_and_goes_with_its_document() {
    let world = Fixture::new();
    let (boss, ann) = (admin("acme"), member("acme", "ann"));
    let base = world.base(&ann, "Rules", Visibility::Public);
    let collection = world.collection(&ann, &base, open_collection("All"));
    let text = "# Rules\n\nNobody runs.\n";
    let added = world.service.add_documents(&ann, &collection, vec![file("rules.md", text)]);
    let added = added.unwrap();
    world.done(&added.job);
    let id = added.documents[0].id.as_str();
    let mut original = world.service.original(&boss, &KnowledgeDocumentId::new(id)).unwrap();
    let mut read = String::new();
    original.file.read_to_string(&mut read).unwrap();
    assert_eq!((read.as_str(), original.name.as_str()), (text, "rules.md"));
    assert_eq!(original.n_bytes, text.len() as u64);
    // Its owner may read it, and has no role for the file; a stranger does not know of it.
    let denied = world.service.original(&ann, &KnowledgeDocumentId::new(id)).unwrap_err();
    assert!(matches!(&denied, Error::OriginalDenied { roles } if roles == &["admin"]));
    let stranger =
        world.service.original(&admin("other"), &KnowledgeDocumentId::new(id)).unwrap_err();
    assert!(matches!(stranger, Error::Object(ObjectError::NotFound { what: "Document", .. })));
    // A sweep knows whose it is.
    assert_eq!(world.sweep(), 0);
    assert_eq!(world.uploads().len(), 1);
    world.done(&world.service.delete_document(&ann, &KnowledgeDocumentId::new(id)).unwrap());
    assert_eq!(world.uploads(), [""; 0]);
}

#[test]
fn a_new_content_takes_the_place_of_the_old_file_and_says_what_changed() {
    let world = Fixture::new();
    let (boss, ann) = (admin("acme"), member("acme", "ann"));
    let base = world.base(&ann, "Rules", Visibility::Private);
    let collection = world.collection(&ann, &base, open_collection("All"));
    let added = world.add(&ann, &collection, &["One rule.\n\nAnother rule.\n\nThe last one."]);
    let id = added.documents[0].id.as_str();
    let now = "One rule.\n\nA better rule.\n\nThe last one.";
    let replaced = world
        .service
        .replace_document(&ann, &KnowledgeDocumentId::new(id), NewDocument::text("", now))
        .unwrap();
    world.done(&replaced.job);
    assert_eq!(world.uploads().len(), 1, "the file before is gone");
    let mut read = String::new();
    world
        .service
        .original(&boss, &KnowledgeDocumentId::new(id))
        .unwrap()
        .file
        .read_to_string(&mut read)
        .unwrap();
    assert_eq!(read, now);
    let versions = world.service.document_versions(&ann, &KnowledgeDocumentId::new(id)).unwrap();
    let numbers: Vec<u64> = versions.iter().map(|version| version.version).collect();
    assert_eq!(numbers, [2, 1]);
    let difference = &versions[0].difference;
    assert!(difference.contains("-Another rule."), "{difference}");
    assert!(difference.contains("+A better rule."), "{difference}");
    assert!(!difference.contains("-The last one"), "{difference}");
    assert_eq!((versions[0].n_lines_added, versions[0].n_lines_removed), (1, 1));
    // A content that cannot be read takes neither the text nor the file away.
    let empty = world
        .service
        .replace_document(&ann, &KnowledgeDocumentId::new(id), file("x.pdf", "%PDF-1.7 broken"))
        .unwrap();
    world.queue.wait(&empty.job.id, &super::soon()).unwrap();
    let document = world.service.get_document(&ann, &KnowledgeDocumentId::new(id)).unwrap();
    assert_eq!((document.state, document.error.is_some()), (DocumentState::Ready, true));
    assert_eq!(world.uploads().len(), 1);
    for n in 0..limits::MAX_VERSIONS {
        let text = format!("Rule number {n}.");
        let next = world
            .service
            .replace_document(&ann, &KnowledgeDocumentId::new(id), NewDocument::text("", text))
            .unwrap();
        world.done(&next.job);
    }
    assert_eq!(
        world.service.document_versions(&ann, &KnowledgeDocumentId::new(id)).unwrap().len(),
        limits::MAX_VERSIONS
    );
    world.done(&world.service.delete_collection(&ann, &collection).unwrap());
    assert_eq!(world.uploads(), [""; 0]);
    assert_eq!(world.service.version_keys(&KnowledgeDocumentId::new(id)).unwrap(), []);
}

/// Emptied, changed or deleted files were given away and copied without a word.
#[test]
fn a_damaged_file_is_noticed() {
    let world = Fixture::new();
    let (boss, ann) = (admin("acme"), member("acme", "ann"));
    let base = world.base(&ann, "Rules", Visibility::Private);
    let collection = world.collection(&ann, &base, open_collection("All"));
    let added = world.add(&ann, &collection, &["One rule.", "Another rule."]);
    let id = added.documents[0].id.as_str();
    let path = world
        .upload_path(&world.service.get_document(&ann, &KnowledgeDocumentId::new(id)).unwrap());
    assert!(world.damaged_originals().is_empty());
    let whole = fs_err::read(&path).unwrap();
    let check = |expected: &str| {
        let error = world.service.original(&boss, &KnowledgeDocumentId::new(id)).unwrap_err();
        assert!(matches!(&error, Error::OriginalDamaged { .. }), "{error}");
        assert!(error.to_string().contains(expected), "{error}");
        let damaged = world.damaged_originals();
        assert_eq!(damaged.len(), 1);
        assert_eq!(damaged[0].document, id);
    };
    fs_err::write(&path, "").unwrap();
    check("has 0 bytes, and had 9");
    fs_err::write(&path, "One rulE.").unwrap();
    check("SHA-256 differs");
    fs_err::remove_file(&path).unwrap();
    check("is gone");
    fs_err::write(&path, whole).unwrap();
    assert!(world.damaged_originals().is_empty());
    world.service.original(&boss, &KnowledgeDocumentId::new(id)).unwrap();
}

#[test]
fn the_same_content_is_noticed_as_far_as_the_caller_sees() {
    let world = Fixture::new();
    let (ann, bob) = (member("acme", "ann"), member("acme", "bob"));
    let base = world.base(&ann, "Rules", Visibility::Private);
    let collection = world.collection(&ann, &base, open_collection("All"));
    let first = world.add(&ann, &collection, &["The same rule."]);
    assert_eq!(first.duplicates, []);
    let twice = world.add(&ann, &collection, &["The same rule.", "Another.", "Another."]);
    let names: Vec<(&str, &str)> = twice
        .duplicates
        .iter()
        .map(|duplicate| (duplicate.document.as_str(), duplicate.of.id.as_str()))
        .collect();
    let ids: Vec<&str> = twice.documents.iter().map(|document| document.id.as_str()).collect();
    assert_eq!(names, [(ids[0], first.documents[0].id.as_str()), (ids[2], ids[1])]);
    // What is private to somebody else does not exist.
    let own = world.base(&bob, "Mine", Visibility::Private);
    let own = world.collection(&bob, &own, open_collection("All"));
    assert_eq!(world.add(&bob, &own, &["The same rule."]).duplicates, []);
}

#[test]
fn title_tags_and_metadata_can_be_changed() {
    let world = Fixture::new();
    let ann = member("acme", "ann");
    let base = world.base(&ann, "Rules", Visibility::Private);
    let collection = world.collection(&ann, &base, open_collection("All"));
    let new = NewDocument {
        tags: vec![" hr ".to_owned(), "hr".to_owned(), "2024".to_owned()],
        metadata: json!({ "author": "ann" }),
        ..NewDocument::text("Rules", "Nobody runs in the corridor.")
    };
    let added = world.service.add_documents(&ann, &collection, vec![new]).unwrap();
    world.done(&added.job);
    let document = world.service.get_document(&ann, &added.documents[0].id).unwrap();
    assert_eq!(document.metadata, json!({ "author": "ann", "tags": ["hr", "2024"] }));
    let change = |change: DocumentChange| {
        world.service.update_document(&ann, &document.id, &change).unwrap()
    };
    let tags = Some(vec!["it".to_owned()]);
    let changed = change(DocumentChange { tags, ..DocumentChange::default() });
    assert_eq!(changed.metadata, json!({ "author": "ann", "tags": ["it"] }));
    // A new content keeps metadata and tags, unless it says its own.
    let new = NewDocument::text("Rules", "Everybody runs in the corridor.");
    world.done(&world.service.replace_document(&ann, &document.id, new).unwrap().job);
    let replaced = world.service.get_document(&ann, &document.id).unwrap();
    assert_eq!(replaced.metadata, json!({ "author": "ann", "tags": ["it"] }));
    let metadata = Some(json!({ "author": "eve" }));
    let changed = change(DocumentChange { metadata, ..DocumentChange::default() });
    assert_eq!(changed.metadata, json!({ "author": "eve", "tags": ["it"] }));
    let title = Some("House rules".to_owned());
    let metadata = Some(json!({ "author": "bob" }));
    let changed = change(DocumentChange { title, metadata, tags: Some(vec![]) });
    assert_eq!((changed.title.as_str(), changed.version), ("House rules", 2));
    assert_eq!(changed.metadata, json!({ "author": "bob" }));
    let found = world.search(&ann, &base, "corridor");
    assert_eq!(found.results[0].title, "House rules");
    let too_many = DocumentChange {
        tags: Some(vec!["x".to_owned(); limits::MAX_TAGS + 1]),
        ..DocumentChange::default()
    };
    assert!(world.service.update_document(&ann, &document.id, &too_many).is_err());
    let stranger = member("acme", "eve");
    assert!(world.service.update_document(&stranger, &document.id, &too_many).is_err());
}

/// A content without text takes nothing away: the document is what it was, and says what failed.
#[test]
fn a_replacement_that_fails_changes_only_the_error() {
    let world = Fixture::new();
    let ann = member("acme", "ann");
    let base = world.base(&ann, "Rules", Visibility::Private);
    let collection = world.collection(&ann, &base, open_collection("All"));
    let new = NewDocument {
        metadata: json!({ "author": "ann" }),
        tags: vec!["hr".to_owned()],
        ..file("rules.txt", "Nobody runs in the corridor.")
    };
    let added = world.service.add_documents(&ann, &collection, vec![new]).unwrap();
    world.done(&added.job);
    let before = world.service.get_document(&ann, &added.documents[0].id).unwrap();
    let broken = NewDocument {
        title: "Broken".to_owned(),
        metadata: json!({ "author": "eve" }),
        ..file("x.pdf", "%PDF-1.7 broken")
    };
    let replaced = world.service.replace_document(&ann, &before.id, broken).unwrap();
    assert_eq!(replaced.documents[0].version, 2);
    world.queue.wait(&replaced.job.id, &super::soon()).unwrap();
    let after = world.service.get_document(&ann, &before.id).unwrap();
    assert!(after.error.is_some());
    assert_eq!(crate::Document { error: None, ..after }, before);
    let next = world
        .service
        .replace_document(&ann, &before.id, file("new.txt", "Everybody walks."))
        .unwrap();
    world.done(&next.job);
    let next = world.service.get_document(&ann, &before.id).unwrap();
    assert_eq!((next.version, next.file_name.as_str()), (2, "new.txt"));
    assert_eq!((next.error, next.metadata), (None, before.metadata));
}

/// Of uploads of one content at the same time, all but the first name another.
#[test]
fn the_same_content_at_the_same_time_is_noticed() {
    let world = Fixture::idle();
    let ann = member("acme", "ann");
    let base = world.base(&ann, "Rules", Visibility::Private);
    let collection = world.collection(&ann, &base, open_collection("All"));
    let (n_uploads, begin) = (5, std::sync::Barrier::new(5));
    let n_noticed: usize = std::thread::scope(|scope| {
        let uploads: Vec<_> = (0..n_uploads)
            .map(|_| {
                scope.spawn(|| {
                    begin.wait();
                    let new = vec![NewDocument::text("", "The same rule.")];
                    let added = world.service.add_documents(&ann, &collection, new).unwrap();
                    added.duplicates.len()
                })
            })
            .collect();
        uploads.into_iter().map(|upload| upload.join().unwrap()).sum()
    });
    assert!(n_noticed >= n_uploads - 1, "{n_noticed}");
}
