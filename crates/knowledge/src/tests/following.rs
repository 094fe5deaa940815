//! A folder feeds a collection: new, changed and gone files follow, and nothing else is touched.

use super::{Fixture, member, open_collection};
use crate::{Error, FolderFile, Followed, Visibility};

/// Writes files into a folder and lists them as a walk would.
fn listed(folder: &testkit::Folder, files: &[(&str, &str)]) -> Vec<FolderFile> {
    files
        .iter()
        .map(|(path, text)| FolderFile {
            path: (*path).to_owned(),
            stamp: format!("{}:{text}", text.len()),
            place: folder.write(path, *text),
        })
        .collect()
}

#[test]
fn new_changed_and_gone_files_follow() {
    let world = Fixture::new();
    let ann = member("acme", "ann");
    let base = world.base(&ann, "Rules", Visibility::Private);
    let collection = world.collection(&ann, &base, open_collection("All"));
    world.add(&ann, &collection, &["A note that somebody added."]);
    let folder = testkit::Folder::new();
    let follow = |files: &[(&str, &str)]| {
        let followed = world.service.follow_folder(&collection, &listed(&folder, files)).unwrap();
        world.settle();
        followed
    };
    let titles = || {
        let documents = world.service.list_documents(&ann, &collection, None, 100).unwrap();
        let mut titles: Vec<String> =
            documents.into_iter().map(|document| document.file_name).collect();
        titles.sort();
        titles
    };
    let first = [("a.txt", "The tram climbs."), ("sub/b.md", "# Ferry\n\nIt crosses.")];
    assert_eq!(follow(&first), Followed { n_added: 2, ..Followed::default() });
    assert_eq!(titles(), ["", "a.txt", "b.md"]);
    assert_eq!(world.search(&ann, &base, "ferry").results.len(), 1);
    // Nothing happened: nothing is written.
    assert!(follow(&first).is_empty());
    let second = [("a.txt", "The tram descends."), ("c.txt", "A new one.")];
    let changed = Followed { n_added: 1, n_replaced: 1, n_removed: 1, n_failed: 0 };
    assert_eq!(follow(&second), changed);
    assert_eq!(titles(), ["", "a.txt", "c.txt"]);
    assert!(world.search(&ann, &base, "climbs").results.is_empty());
    assert_eq!(world.search(&ann, &base, "descends").results.len(), 1);
    // A share that is not mounted looks empty.
    let empty = world.service.follow_folder(&collection, &[]).unwrap_err();
    assert!(matches!(empty, Error::BadRequest { .. }), "{empty:?}");
    assert_eq!(follow(&second[..1]).n_removed, 1);
    assert_eq!(follow(&[]).n_removed, 1);
    assert_eq!(titles(), [""]);
    let gone = world.service.follow_folder("no-such-collection", &[]).unwrap_err();
    assert!(matches!(gone, Error::NotFound { what: "Collection", .. }));
}
