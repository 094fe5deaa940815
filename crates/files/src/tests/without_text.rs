//! A file without text says why: what became of it, or what leaves it out.

use super::*;

fn warning(opened: &Opened, path: &Path) -> Vec<String> {
    let path = path.to_str().unwrap().to_owned();
    let request = PreviewRequest { path, ..PreviewRequest::default() };
    let preview = opened.service.preview(&Caller::local_admin(), &request).unwrap();
    preview.warnings.into_iter().map(|warning| warning.message).collect()
}

/// One sentence named every cause there may be, and advised to index again whatever it was.
#[test]
fn a_file_without_text_says_what_became_of_it_or_what_leaves_it_out() {
    let world = Fixture::new();
    world.write(".gitignore", "secret/\n");
    world.write("fine.txt", "The lighthouse was painted.");
    let opened = world.open(FilesConfig {
        roots: vec![RootConfig::Path("root".into())],
        max_file_bytes: 10_000,
        ignore: vec!["old/".to_owned()],
        exts: ["txt", "md", "docx", "png"].map(str::to_owned).into(),
        ..FilesConfig::default()
    });
    let files = [
        ("empty.txt", "", "empty (the file is empty); searches find it by its name"),
        (
            "large.txt",
            &"word ".repeat(5_000),
            "too_large (it is larger than `files.max_file_bytes`",
        ),
        ("broken.docx", "PK\x03\x04 and nothing more", "broken (the zip document is damaged"),
        ("p.png", "\u{1}", "searches find it by its name alone"),
        ("secret/a.txt", "a", "an ignore rule leaves it out"),
        ("old/deep/a.txt", "a", "an ignore rule leaves it out"),
        (".a.txt", "a", "it is hidden"),
        (".folder/b.txt", "a", "it is hidden"),
        ("secret/.b.txt", "a", "an ignore rule leaves it out"),
        ("a.log", "a", "`.log` is not among `[files] exts`"),
        ("README", "a", "it has no extension"),
        ("data/note.txt", "a", "it is in a data folder of Dowse"),
    ];
    let paths: Vec<PathBuf> = files.iter().map(|(name, text, _)| world.write(name, text)).collect();
    opened.index_all();
    for ((name, _, said), path) in files.iter().zip(&paths) {
        let warnings = warning(&opened, path);
        assert_eq!(warnings.len(), 1, "{name}");
        assert!(warnings[0].contains(said), "{name}: {warnings:?}");
        assert!(!warnings[0].contains("indexFolder"), "{name}: {warnings:?}");
    }
    let new = world.write("sub/new.txt", "The harbour was closed.");
    let changed = world.write("empty.txt", "It was filled.");
    for (path, said) in [(&new, "not indexed yet"), (&changed, "it has changed since")] {
        let warnings = warning(&opened, path);
        assert!(warnings[0].contains(said), "{warnings:?}");
        assert!(warnings[0].ends_with("`indexFolder` takes it in"), "{warnings:?}");
    }
    opened.index_all();
    assert!(warning(&opened, &new).is_empty() && warning(&opened, &changed).is_empty());
}

/// They were found by no search at all.
#[test]
fn a_file_without_text_is_found_by_the_words_of_its_name_behind_those_that_say_them() {
    let world = Fixture::new();
    world.write("notes.txt", "The survey of the harbour was finished in spring.");
    world.write("cranes.txt", "A crane is painted.");
    world.write("Harbour_Survey-2021.png", "\u{1}");
    world.write("survey.docx", "PK\x03\x04 and nothing more");
    world.write("empty_lighthouse.txt", "");
    let opened = world.one_root();
    opened.index_all();
    let find = |query: &str| {
        let found = opened.service.search(&Caller::local_admin(), &asked(query), &soon()).unwrap();
        let name = |path: &str| path.rsplit('/').next().unwrap().to_owned();
        found.items.into_iter().map(|item| (name(&item.path), item)).collect::<Vec<_>>()
    };
    let names =
        |query: &str| -> Vec<String> { find(query).into_iter().map(|(name, _)| name).collect() };
    let found = find("harbour survey");
    assert_eq!(names("harbour survey"), ["notes.txt", "Harbour_Survey-2021.png", "survey.docx"]);
    let (_, picture) = &found[1];
    assert_eq!((picture.snippet.as_str(), picture.pointer.as_str()), ("", "whole"));
    assert!(picture.no_text.as_ref().unwrap().contains(": "), "{picture:?}");
    assert!(found[2].1.no_text.as_ref().unwrap().starts_with("broken: "), "{found:?}");
    assert!(found[0].1.no_text.is_none());
    assert!(found[0].1.score > 3.0 * picture.score, "{found:?}");
    assert!(picture.score > 0.0 && picture.score <= 0.1, "{picture:?}");
    // Filters are those of every file, and an explicit place is passed on.
    assert_eq!(names("lighthouse"), ["empty_lighthouse.txt"]);
    assert_eq!(names("survey ext:png"), ["Harbour_Survey-2021.png"]);
    // A filter that is only read out of the query hides no text, whatever names pass it.
    assert_eq!(names("harbour 2021 png"), ["notes.txt", "Harbour_Survey-2021.png"]);
    let pictures = Some(vec![".png".to_owned()]);
    let request = SearchRequest { exts: pictures, ..asked("harbour") };
    let found = opened.service.search(&Caller::local_admin(), &request, &soon()).unwrap();
    assert_eq!(found.items.len(), 1);
    assert!(found.warnings.iter().all(|one| one.code != "filtered_out"), "{found:?}");
    assert_eq!(names("submarine"), [""; 0]);
    // A text takes the place of the name, and is found once.
    world.write("empty_lighthouse.txt", "A lighthouse.");
    opened.index_all();
    let found = find("lighthouse");
    assert_eq!(found.len(), 1);
    assert!(found[0].1.no_text.is_none());
    // What is gone is found no more.
    fs_err::remove_file(world.folder.path().join("root/survey.docx")).unwrap();
    opened.index_all();
    assert_eq!(names("harbour survey"), ["notes.txt", "Harbour_Survey-2021.png"]);
}

/// What is not found by its text is not in the way: neither of scores nor of filters.
#[test]
fn names_change_nothing_about_texts() {
    let scores = |n_pictures: usize| {
        let world = Fixture::new();
        for n in 0..20 {
            world
                .write(&format!("{n}.txt"), format!("The harbour of town{n} is closed in winter."));
        }
        for n in 0..n_pictures {
            world.write(&format!("harbour winter {n}.png"), "\u{1}");
        }
        let opened = world.one_root();
        opened.index_all();
        let found =
            opened.service.search(&Caller::local_admin(), &asked("harbour winter"), &soon());
        let found = found.unwrap();
        let texts = found.items.iter().take(20);
        assert!(texts.clone().all(|item| item.no_text.is_none()), "{:?}", found.items);
        assert_eq!(found.pagination.total_estimate, 20 + n_pictures);
        (texts.map(|item| (item.score, item.snippet.clone())).collect::<Vec<_>>(), found.coverage)
    };
    assert_eq!(scores(0), scores(200));
}

/// A walk gives texts and names, each once, in pages of any size.
#[test]
fn a_walk_gives_every_name_once() {
    let world = Fixture::new();
    let (n_texts, n_names) = (310, 250);
    for n in 0..n_texts {
        world.write(&format!("{n}.txt"), format!("heron number {n}"));
    }
    for n in 0..n_names {
        world.write(&format!("heron {n}.png"), "\u{1}");
    }
    let opened = world.one_root();
    opened.index_all();
    let page = |offset: usize, after: Option<retrieve::Given>| {
        let request = SearchRequest { k: 100, offset, after, ..asked("heron") };
        opened.service.search(&Caller::local_admin(), &request, &soon()).unwrap()
    };
    let mut by_number: Vec<String> = Vec::new();
    loop {
        let found = page(by_number.len(), None);
        assert_eq!(found.pagination.total_estimate, n_texts + n_names);
        by_number.extend(found.items.into_iter().map(|item| item.path));
        if !found.pagination.has_more {
            break;
        }
    }
    let mut by_name: Vec<String> = page(0, None).items.into_iter().map(|item| item.path).collect();
    let mut given = retrieve::Given::default().with(by_name.iter().map(String::as_str)).closed();
    loop {
        let found = page(0, Some(given.clone()));
        by_name.extend(found.items.into_iter().map(|item| item.path));
        if !found.pagination.has_more {
            break;
        }
        given = given.behind(by_name.last().unwrap());
    }
    for mut walked in [by_number, by_name] {
        assert_eq!(walked.len(), n_texts + n_names);
        walked.sort_unstable();
        walked.dedup();
        assert_eq!(walked.len(), n_texts + n_names);
    }
}

/// A job that nobody runs was said to go on.
#[test]
fn a_first_index_that_was_stopped_is_not_said_to_go_on() {
    let world = Fixture::new();
    world.write("notes.txt", "The harbour.");
    let opened = world.one_root();
    let root = opened.indexer.roots().all()[0].name.clone();
    let clock = Clock::fixed(Timestamp(1_700_000_000_000));
    let runners: HashMap<String, Arc<dyn Runner>> =
        HashMap::from([(INDEX_JOB.to_owned(), ServiceSlot::default().runner())]);
    let config = QueueConfig::for_one_machine();
    let idle = JobQueue::open(world.store.catalogue(), runners, config, clock).unwrap();
    idle.submit(ingest::NewJob {
        kind: INDEX_JOB.to_owned(),
        subject: root.clone(),
        tenant: model::TenantId::local(),
        priority: Priority::High,
        arguments: Value::Null,
    })
    .unwrap();
    let said = |queue: &JobQueue| {
        crate::first_index::first_index(&opened.indexer, queue, &root).unwrap().unwrap().message
    };
    assert!(said(&idle).contains("was stopped (it has not begun)"), "{}", said(&idle));
    assert!(said(&opened.queue).contains("is being indexed"), "{}", said(&opened.queue));
}
