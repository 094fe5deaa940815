//! A folder feeds a collection: new, changed and gone files follow, and nothing else is touched.

use super::{Fixture, member, open_collection};
use crate::{Error, FolderFile, FolderListing, Followed, Visibility};

/// Writes files into a folder and lists them as a walk would.
fn listed(folder: &testkit::Folder, files: &[(&str, &str)], volume: u64) -> FolderListing {
    let files = files
        .iter()
        .map(|(path, text)| FolderFile {
            path: (*path).to_owned(),
            stamp: format!("{}:{text}", text.len()),
            place: folder.write(path, *text),
        })
        .collect();
    FolderListing { files, volume: Some(volume) }
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
        let followed =
            world.service.follow_folder(&collection, &listed(&folder, files, 7)).unwrap();
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
    // A share that is not mounted looks empty, and is another volume.
    for volume in [None, Some(8)] {
        let empty = FolderListing { files: vec![], volume };
        let refused = world.service.follow_folder(&collection, &empty).unwrap_err();
        assert!(matches!(refused, Error::BadRequest { .. }), "{refused:?}");
    }
    // One that somebody emptied is not.
    assert_eq!(follow(&[]).n_removed, 2);
    assert_eq!(titles(), [""]);
    let gone =
        world.service.follow_folder("no-such-collection", &FolderListing::default()).unwrap_err();
    assert!(matches!(gone, Error::NotFound { what: "Collection", .. }));
}
