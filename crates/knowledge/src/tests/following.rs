//! A folder feeds a collection: new, changed and gone files follow, and nothing else is touched.

use std::time::Duration;

use ingest::ObjectError;
use store::TypedObject as _;

use super::{Fixture, member, open_collection};
use crate::objects::Collection;
use crate::{Error, FolderFile, FolderListing, Followed, Visibility};

/// Longer than any of these folders takes.
const SOON: Duration = Duration::from_secs(60);

fn open(file: &FolderFile) -> std::io::Result<std::fs::File> {
    fs_err::File::open(&file.place).map(fs_err::File::into_file)
}

/// Writes files into a folder and lists them as a walk would.
fn listed(folder: &testkit::Folder, files: &[(&str, &str)], volume: u64) -> FolderListing {
    let files = files
        .iter()
        .map(|(path, text)| FolderFile {
            path: (*path).to_owned(),
            stamp: format!("{}:{text}", text.len()),
            n_bytes: text.len() as u64,
            place: folder.write(path, *text),
        })
        .collect();
    FolderListing { files, volume: Some(volume), ..FolderListing::default() }
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
        let followed = world
            .service
            .follow_folder(&collection, &listed(&folder, files, 7), &open, SOON)
            .unwrap();
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
    let changed = Followed { n_added: 1, n_replaced: 1, n_removed: 1, ..Followed::default() };
    assert_eq!(follow(&second), changed);
    assert_eq!(titles(), ["", "a.txt", "c.txt"]);
    assert!(world.search(&ann, &base, "climbs").results.is_empty());
    assert_eq!(world.search(&ann, &base, "descends").results.len(), 1);
    // A share that is not mounted looks empty, and is another volume.
    for volume in [None, Some(8)] {
        let empty = FolderListing { volume, ..FolderListing::default() };
        let refused = world.service.follow_folder(&collection, &empty, &open, SOON).unwrap_err();
        assert!(matches!(refused, Error::Object(ObjectError::BadRequest { .. })), "{refused:?}");
    }
    // One that somebody emptied is not.
    assert_eq!(follow(&[]).n_removed, 2);
    assert_eq!(titles(), [""]);
    let gone = world.service.follow_folder(
        &crate::CollectionId::new("no-such-collection"),
        &FolderListing::default(),
        &open,
        SOON,
    );
    let gone = gone.unwrap_err();
    assert!(matches!(gone, Error::Object(ObjectError::NotFound { what: "Collection", .. })));
}

/// What cannot be read may be there all the same; it held everything up.
#[test]
fn documents_of_what_cannot_be_read_stay_and_others_go() {
    let world = Fixture::new();
    let ann = member("acme", "ann");
    let base = world.base(&ann, "Rules", Visibility::Private);
    let collection = world.collection(&ann, &base, open_collection("All"));
    let folder = testkit::Folder::new();
    let files = [("a.txt", "The tram."), ("in/b.txt", "The ferry."), ("inner.txt", "The bus.")];
    world.service.follow_folder(&collection, &listed(&folder, &files, 7), &open, SOON).unwrap();
    world.settle();
    let unread = ["in".to_owned()].into();
    let listing = FolderListing { unread, ..listed(&folder, &files[..1], 7) };
    let followed = world.service.follow_folder(&collection, &listing, &open, SOON).unwrap();
    assert_eq!(followed, Followed { n_removed: 1, ..Followed::default() });
    world.settle();
    assert_eq!(world.search(&ann, &base, "ferry").results.len(), 1);
    assert!(world.search(&ann, &base, "bus").results.is_empty());
}

/// Each hundred was a commit of its own, and each waited for the disk and for whoever erased the
/// hundred before it.
#[test]
fn a_folder_that_is_emptied_goes_by_one_commit() {
    let world = Fixture::new();
    let ann = member("acme", "ann");
    let base = world.base(&ann, "Rules", Visibility::Private);
    let collection = world.collection(&ann, &base, open_collection("All"));
    let folder = testkit::Folder::new();
    let names: Vec<String> = (0..250).map(|n| format!("{n}.txt")).collect();
    let files: Vec<(&str, &str)> =
        names.iter().map(|name| (name.as_str(), name.as_str())).collect();
    world.service.follow_folder(&collection, &listed(&folder, &files, 7), &open, SOON).unwrap();
    world.settle();
    let version = || Collection::load(&*world.service.0.catalogue, &collection).unwrap().unwrap().1;
    let before = version();
    let left = listed(&folder, &files[..2], 7);
    let followed = world.service.follow_folder(&collection, &left, &open, SOON).unwrap();
    assert_eq!(followed.n_removed, 248);
    assert_eq!(version(), before + 1);
    world.settle();
    assert_eq!(world.service.list_documents(&ann, &collection, None, 300).unwrap().len(), 2);
}

#[test]
fn a_stamp_of_an_earlier_version_is_renewed_and_its_file_not_read_again() {
    let world = Fixture::new();
    let ann = member("acme", "ann");
    let base = world.base(&ann, "Rules", Visibility::Private);
    let collection = world.collection(&ann, &base, open_collection("All"));
    let folder = testkit::Folder::new();
    let follow = |stamp: &str, text: &str| {
        let place = folder.write("a.txt", text);
        let (path, stamp) = ("a.txt".to_owned(), stamp.to_owned());
        let n_bytes = text.len() as u64;
        let files = vec![FolderFile { path, stamp, n_bytes, place }];
        let volume = Some(7);
        let listing = FolderListing { files, volume, ..FolderListing::default() };
        let followed = world.service.follow_folder(&collection, &listing, &open, SOON).unwrap();
        world.settle();
        followed
    };
    assert_eq!(follow("16 1700", "The tram climbs.").n_added, 1);
    assert!(follow("16 1700 1.7 1.7", "The tram climbs.").is_empty());
    // From now on every part of the stamp counts.
    assert_eq!(follow("16 1700 1.7 1.8", "The tram stands.").n_replaced, 1);
    assert_eq!(world.search(&ann, &base, "stands").results.len(), 1);
    assert_eq!(follow("16 1701 1.8 1.9", "The tram slides.").n_replaced, 1);
}

#[test]
fn a_file_that_may_not_be_read_any_more_answers_no_more_and_says_why() {
    let world = Fixture::new();
    let ann = member("acme", "ann");
    let base = world.base(&ann, "Rules", Visibility::Private);
    let collection = world.collection(&ann, &base, open_collection("All"));
    let folder = testkit::Folder::new();
    let files = [("a.txt", "The tram climbs."), ("b.txt", "The ferry crosses.")];
    world.service.follow_folder(&collection, &listed(&folder, &files, 7), &open, SOON).unwrap();
    world.settle();
    let documents = || world.service.list_documents(&ann, &collection, None, 100).unwrap();
    let id = documents().into_iter().find(|one| one.file_name == "a.txt").unwrap().id;
    world.service.close_document(&id, "another stamp").unwrap();
    world.settle();
    assert!(world.search(&ann, &base, "tram").results.is_empty());
    let closed = world.service.get_document(&ann, &id).unwrap();
    assert_eq!((closed.state, closed.n_chunks), (crate::DocumentState::Failed, 0));
    assert!(closed.error.unwrap().contains("permission denied"));
    let counted = world.service.get_collection(&ann, &collection).unwrap();
    assert_eq!((counted.n_documents, counted.n_chunks), (1, 1));
    // It comes back with its file.
    let followed =
        world.service.follow_folder(&collection, &listed(&folder, &files, 7), &open, SOON).unwrap();
    assert_eq!(followed, Followed { n_replaced: 1, ..Followed::default() });
    world.settle();
    assert_eq!(world.search(&ann, &base, "tram").results.len(), 1);
    assert_eq!(world.service.get_collection(&ann, &collection).unwrap().n_documents, 2);
}

/// A file that was emptied, or became a picture, went on answering with what it had said.
#[test]
fn a_file_without_text_any_more_does_not_keep_its_old_text() {
    let world = Fixture::new();
    let ann = member("acme", "ann");
    let base = world.base(&ann, "Rules", Visibility::Private);
    let collection = world.collection(&ann, &base, open_collection("All"));
    let folder = testkit::Folder::new();
    let follow = |files: &[(&str, &str)]| {
        world.service.follow_folder(&collection, &listed(&folder, files, 7), &open, SOON).unwrap();
        world.settle();
    };
    let n_found = |word: &str| world.search(&ann, &base, word).results.len();
    let counted = || {
        let counted = world.service.get_collection(&ann, &collection).unwrap();
        (counted.n_documents, counted.n_chunks)
    };
    follow(&[("a.txt", "The tram climbs."), ("b.txt", "The ferry crosses.")]);
    assert_eq!((n_found("tram"), counted()), (1, (2, 2)));
    follow(&[("a.txt", ""), ("b.txt", "The ferry crosses.")]);
    assert_eq!((n_found("tram"), n_found("ferry"), counted()), (0, 1, (1, 1)));
    let documents = world.service.list_documents(&ann, &collection, None, 100).unwrap();
    let emptied = documents.iter().find(|document| document.file_name == "a.txt").unwrap();
    assert_eq!((emptied.state, emptied.n_chunks), (crate::DocumentState::Failed, 0));
    assert!(emptied.error.as_ref().unwrap().contains("empty"), "{emptied:?}");
    // It stays so, and comes back with its text.
    follow(&[("a.txt", " \n"), ("b.txt", "")]);
    assert_eq!((n_found("tram"), n_found("ferry"), counted()), (0, 0, (0, 0)));
    follow(&[("a.txt", "The tram slides."), ("b.txt", "")]);
    assert_eq!((n_found("slides"), counted()), (1, (1, 1)));
}

/// A folder inside that may not be read hides its files without taking their documents away, and
/// keeps nothing else from following.
#[test]
fn files_of_a_folder_that_may_not_be_read_answer_no_more_until_they_are_seen_again() {
    let world = Fixture::new();
    let ann = member("acme", "ann");
    let base = world.base(&ann, "Rules", Visibility::Private);
    let collection = world.collection(&ann, &base, open_collection("All"));
    let folder = testkit::Folder::new();
    let follow = |listing: &FolderListing| {
        let followed = world.service.follow_folder(&collection, listing, &open, SOON).unwrap();
        world.settle();
        followed
    };
    let all =
        [("a.txt", "The bus waits."), ("sub/b.txt", "The tram climbs."), ("subway.txt", "Go.")];
    follow(&listed(&folder, &all, 7));
    let mut dark = listed(&folder, &all[..1], 7);
    dark.forbidden.insert("sub/".to_owned());
    let expected = Followed { n_closed: 1, n_removed: 1, ..Followed::default() };
    assert_eq!(follow(&dark), expected);
    assert!(world.search(&ann, &base, "tram").results.is_empty());
    assert_eq!(world.search(&ann, &base, "bus").results.len(), 1);
    // Nothing happened: nothing is written.
    assert!(follow(&dark).is_empty());
    assert_eq!(follow(&listed(&folder, &all[..2], 7)).n_replaced, 1);
    assert_eq!(world.search(&ann, &base, "tram").results.len(), 1);
}

/// A file that was renamed, or moved with its folder, became another document: what people had
/// written on the one before (title, tags, metadata) was lost, and so were its versions.
#[test]
fn a_file_with_another_path_keeps_its_document() {
    let world = Fixture::new();
    let ann = member("acme", "ann");
    let base = world.base(&ann, "Rules", Visibility::Private);
    let collection = world.collection(&ann, &base, open_collection("All"));
    let folder = testkit::Folder::new();
    let follow = |files: &[(&str, &str)]| {
        let followed = world
            .service
            .follow_folder(&collection, &listed(&folder, files, 7), &open, SOON)
            .unwrap();
        world.settle();
        followed
    };
    let documents = || {
        let documents = world.service.list_documents(&ann, &collection, None, 100).unwrap();
        let by_path = documents.into_iter().map(|one| (one.source.clone().unwrap().path, one));
        by_path.collect::<std::collections::BTreeMap<_, _>>()
    };
    let (tram, ferry, bus) = ("The tram climbs.", "The ferry stops.", "A bus.");
    follow(&[("a.txt", tram), ("sub/b.txt", ferry), ("sub/twin.txt", tram), ("c.txt", bus)]);
    let before = documents();
    let change = crate::DocumentChange {
        title: Some("The tram".to_owned()),
        tags: Some(vec!["rail".to_owned()]),
        ..crate::DocumentChange::default()
    };
    world.service.update_document(&ann, &before["a.txt"].id, &change).unwrap();
    world.settle();
    // Two of equal size and two of equal content: each document goes with its own file.
    let moved = [("new/a.txt", tram), ("other/b.txt", ferry), ("other/twin.txt", tram)];
    let expected = Followed { n_moved: 3, n_removed: 1, ..Followed::default() };
    assert_eq!(follow(&moved), expected);
    let after = documents();
    let pairs =
        [("a.txt", "new/a.txt"), ("sub/b.txt", "other/b.txt"), ("sub/twin.txt", "other/twin.txt")];
    for (from, to) in pairs {
        assert_eq!(before[from].id, after[to].id, "{from}");
    }
    let tram = &after["new/a.txt"];
    assert_eq!((tram.title.as_str(), tram.tags()), ("The tram", vec!["rail"]));
    assert_eq!(world.search(&ann, &base, "ferry").results.len(), 1);
    assert_eq!(world.service.get_collection(&ann, &collection).unwrap().n_documents, 3);
    // Renamed: the name is the title where nobody gave one. Another content is another document.
    let renamed = [("new/a.txt", "The tram slides."), ("boat.txt", ferry)];
    let expected = Followed { n_replaced: 1, n_moved: 1, n_removed: 1, ..Followed::default() };
    assert_eq!(follow(&renamed), expected);
    let last = documents();
    assert_eq!(
        (last["boat.txt"].id == after["other/b.txt"].id, &*last["boat.txt"].title),
        (true, "boat.txt")
    );
    let expected = Followed { n_added: 1, n_removed: 1, ..Followed::default() };
    assert_eq!(
        follow(&[("new/a.txt", "The tram slides."), ("ship.txt", "The ferry waits.")]),
        expected
    );
}

/// A large folder is taken in by several calls, each of which does something, so that what changes
/// meanwhile is not behind all of it.
#[test]
fn a_large_folder_is_followed_in_several_steps() {
    let world = Fixture::new();
    let ann = member("acme", "ann");
    let base = world.base(&ann, "Rules", Visibility::Private);
    let collection = world.collection(&ann, &base, open_collection("All"));
    let folder = testkit::Folder::new();
    let texts: Vec<(String, String)> =
        (0..20).map(|n| (format!("{n}.txt"), format!("Line {n} of the tram."))).collect();
    let files: Vec<(&str, &str)> =
        texts.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let listing = listed(&folder, &files, 7);
    let slow = |file: &FolderFile| {
        std::thread::sleep(Duration::from_millis(100));
        open(file)
    };
    let mut n_calls = 0;
    let mut n_added = 0;
    loop {
        let time = Duration::from_millis(1);
        let followed = world.service.follow_folder(&collection, &listing, &slow, time).unwrap();
        n_calls += 1;
        n_added += followed.n_added;
        assert!(followed.n_added > 0);
        if !followed.is_cut {
            break;
        }
    }
    assert_eq!(n_added, files.len());
    assert!(n_calls > 1, "{n_calls}");
    world.settle();
    assert_eq!(world.service.get_collection(&ann, &collection).unwrap().n_documents, 20);
    let gone = listed(&folder, &files[..1], 7);
    // Documents whose files are gone leave together: one by one, 701 of them took six seconds.
    let followed = world.service.follow_folder(&collection, &gone, &slow, Duration::ZERO).unwrap();
    assert_eq!(followed.n_removed, 19);
    assert_eq!(world.service.get_collection(&ann, &collection).unwrap().n_documents, 1);
    world.settle();
    assert_eq!(world.service.list_documents(&ann, &collection, None, 50).unwrap().len(), 1);
}
