//! The family over a real folder, by words alone:
//!
//! - every file has an outcome with a reason, until it changes;
//! - nothing is asked for when nothing changed;
//! - what is in an inner root belongs to it, for every caller;
//! - the old index answers while everything is indexed anew;
//! - a query and what is made of it find the same files ([`rewritten`]);
//! - the rules of a root hold in all of it ([`rules`]);
//! - changes are taken in by themselves ([`watching`]);
//! - a file without text says why ([`without_text`]);
//! - a job is seen and stopped by those who may ([`jobs`]).

mod jobs;
mod lines;
#[cfg(unix)]
mod not_entered;
mod rewritten;
mod rules;
mod watching;
mod without_text;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use infer::{EmbedderChoice, EmbedderSlot};
use ingest::{
    Changed, Job, JobContext, JobFailure, JobProgress, JobQueue, Priority, Progress, QueueConfig,
    Runner, Vectors, Workers,
};
use model::{Access, Caller, Clock, Deadline, Identity, ReadOutcome, Timestamp};
use retrieve::Retriever;
use serde_json::Value;
use store::Store;

use crate::notice::Look;
use crate::{
    Error, FilesConfig, INDEX_JOB, Indexed, Indexer, IndexerConfig, PreviewRequest, RootConfig,
    Roots, SearchRequest, Service, ServiceConfig, ServiceSlot, Strangers, VECTORS_JOB,
};

struct Fixture {
    folder: tempfile::TempDir,
    store: Arc<Store>,
}

struct Opened {
    service: Service,
    indexer: Arc<Indexer>,
    queue: Arc<JobQueue>,
    _workers: Workers,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs_err::create_dir(folder.path().join("root")).unwrap();
        let clock = Clock::fixed(Timestamp(1_700_000_000_000));
        let config = store::Config::for_one_machine();
        let data = folder.path().join("root/data");
        let store = Arc::new(Store::open(&data, &config, clock).unwrap());
        Fixture { folder, store }
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.path().join("root").join(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(&path, text).unwrap();
        path
    }

    fn open(&self, config: FilesConfig) -> Opened {
        self.open_with(config, |runner| runner)
    }

    /// Opens with another runner in the place of the one that indexes.
    fn open_with(
        &self,
        config: FilesConfig,
        of: impl FnOnce(Arc<dyn Runner>) -> Arc<dyn Runner>,
    ) -> Opened {
        let clock = Clock::fixed(Timestamp(1_700_000_000_000));
        let embedder = Arc::new(EmbedderSlot::new(EmbedderChoice::Off));
        let roots = Roots::open(&config.roots, self.folder.path()).unwrap();
        let indexer = Arc::new(
            Indexer::new(IndexerConfig {
                store: self.store.clone(),
                pool: None,
                vectors: Vectors::new(self.store.clone(), Arc::clone(&embedder)),
                files: config,
                roots,
                data_dir: Some(self.folder.path().join("root/data")),
                n_extractors: 1,
                left: None,
            })
            .unwrap(),
        );
        let slot = ServiceSlot::default();
        let runners: HashMap<String, Arc<dyn Runner>> = HashMap::from([
            (INDEX_JOB.to_owned(), of(slot.runner())),
            (VECTORS_JOB.to_owned(), slot.runner()),
        ]);
        let config = QueueConfig::for_one_machine();
        let queue = JobQueue::open(self.store.catalogue(), runners, config, clock.clone()).unwrap();
        let service = Service::new(ServiceConfig {
            indexer: Arc::clone(&indexer),
            retriever: Retriever::new(self.store.clone(), Arc::new(move || embedder.get(&soon()))),
            queue: Arc::clone(&queue),
            llm: None,
            clock,
            index_wait: Duration::from_secs(60),
        });
        slot.set(service.clone());
        let workers = Workers::start(&queue).unwrap();
        Opened { service, indexer, queue, _workers: workers }
    }

    fn one_root(&self) -> Opened {
        self.open(FilesConfig {
            roots: vec![RootConfig::Path("root".into())],
            max_file_bytes: 10_000,
            ..FilesConfig::default()
        })
    }
}

impl Opened {
    fn index_all(&self) -> Indexed {
        let mut all = Indexed::default();
        for root in self.indexer.roots().all() {
            let indexed = self.indexer.index(root, &root.path, false, &Progress::silent()).unwrap();
            all.indexed += indexed.indexed;
            all.removed += indexed.removed;
        }
        all
    }

    fn n_found(&self, caller: &Caller, query: &str) -> usize {
        self.service.search(caller, &asked(query), &soon()).unwrap().items.len()
    }

    fn outcomes(&self) -> BTreeMap<ReadOutcome, usize> {
        self.service.outcomes(&Caller::local_admin()).unwrap().remove(0).counts
    }
}

fn asked(query: &str) -> SearchRequest {
    SearchRequest {
        query: query.to_owned(),
        k: 50,
        offset: 0,
        after: None,
        exts: None,
        years: None,
        roots: None,
    }
}

fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(60))
}

fn reader() -> Caller {
    let (roles, identity) = (["reader".to_owned()].into(), Identity::Token);
    Caller { roles, identity, ..Caller::local_admin() }
}

#[test]
fn every_file_has_an_outcome_with_a_reason_until_it_changes() {
    let world = Fixture::new();
    world.write("fine.txt", "The lighthouse was painted.");
    world.write("empty.txt", "");
    world.write("large.txt", "word ".repeat(5_000));
    let broken = world.write("broken.docx", "PK\x03\x04 and nothing more");
    let opened = world.one_root();
    opened.index_all();
    let outcomes = opened.outcomes();
    assert_eq!(outcomes.get(&ReadOutcome::Indexed), Some(&1), "{outcomes:?}");
    assert_eq!(outcomes.get(&ReadOutcome::Empty), Some(&1), "{outcomes:?}");
    assert_eq!(outcomes.get(&ReadOutcome::TooLarge), Some(&1), "{outcomes:?}");
    assert_eq!(outcomes.values().sum::<usize>(), 4, "own data is not indexed: {outcomes:?}");
    let large =
        opened.service.files_with(&Caller::local_admin(), ReadOutcome::TooLarge, None, 10).unwrap();
    assert!(large[0].path.ends_with("large.txt"));
    assert!(large[0].reason.as_ref().unwrap().contains("files.max_file_bytes"), "{large:?}");

    fs_err::rename(&broken, broken.with_extension("txt")).unwrap();
    world.write("broken.txt", "It was mended.");
    world.write("empty.txt", "It was filled.");
    opened.index_all();
    assert_eq!(opened.outcomes().get(&ReadOutcome::Indexed), Some(&3));
    assert_eq!(opened.outcomes().get(&ReadOutcome::Empty), None);
}

/// A file that had not changed itself stayed what it was under the limit before.
#[test]
fn another_limit_of_bytes_is_followed_by_files_that_did_not_change() {
    let world = Fixture::new();
    world.write("fine.txt", "The lighthouse was painted.");
    world.write("large.txt", "harbour ".repeat(500));
    let opened = |max_file_bytes| {
        let roots = vec![RootConfig::Path("root".into())];
        world.open(FilesConfig { roots, max_file_bytes, ..FilesConfig::default() })
    };
    let caller = Caller::local_admin();
    let look = |limit: u64, is_over: bool, n_indexed: usize| {
        let opened = opened(limit);
        assert_eq!(opened.index_all().indexed, n_indexed, "{limit}");
        let over = opened.service.files_with(&caller, ReadOutcome::TooLarge, None, 10).unwrap();
        assert_eq!(over.len(), usize::from(is_over), "{limit}: {over:?}");
        let names_limit = |reason: &String| reason.contains(&limit.to_string());
        assert!(over.iter().all(|file| file.reason.as_ref().is_some_and(names_limit)), "{over:?}");
        assert_eq!(opened.n_found(&caller, "harbour"), usize::from(!is_over), "{limit}");
        assert_eq!(opened.index_all().indexed, 0, "{limit}: only once");
    };
    look(1_000, true, 2);
    look(1_500, true, 1);
    look(10_000, false, 1);
    look(20_000, false, 0);
    look(1_000, true, 1);
}

#[test]
fn nothing_is_asked_for_when_nothing_changed() {
    let world = Fixture::new();
    let file = world.write("a.txt", "The lighthouse was painted.");
    let opened = world.one_root();
    opened.index_all();
    let n_jobs = opened.queue.list().unwrap().len();
    let root = opened.indexer.roots().all()[0].path.clone();
    opened.service.look_at(&root).unwrap();
    opened.service.notice(&Changed::of([fs_err::canonicalize(&file).unwrap()])).unwrap();
    assert_eq!(opened.queue.list().unwrap().len(), n_jobs);
    let ignored = |name: &str| {
        let root = fs_err::canonicalize(world.folder.path().join("root")).unwrap();
        opened.service.is_ignored(&root.join(name))
    };
    assert!(ignored(".hidden") && ignored(".git/index") && ignored("data/catalogue.sqlite"));
    assert!(!ignored("a.txt") && !ignored(".gitignore"));
    assert!(opened.service.is_ignored(std::path::Path::new("/elsewhere")));
}

#[test]
fn what_is_in_an_inner_root_belongs_to_it_for_every_caller() {
    let world = Fixture::new();
    world.write("notes.txt", "The lighthouse was painted.");
    let secret = world.write("inner/secret.txt", "The lighthouse will be sold.");
    let secret = fs_err::canonicalize(secret).unwrap().to_string_lossy().into_owned();
    // What was indexed through the outer root before the inner one was configured counts too.
    let opened = world.one_root();
    opened.index_all();
    assert_eq!(opened.n_found(&reader(), "lighthouse"), 2);
    drop(opened);

    let allow = Access { roles: vec!["finance".to_owned()], ..Access::everyone() };
    let opened = world.open(FilesConfig {
        roots: vec![
            RootConfig::Path("root".into()),
            RootConfig::Restricted { path: "root/inner".into(), allow },
        ],
        ..FilesConfig::default()
    });
    assert_eq!(opened.service.forget_other_roots(Strangers::Keep).unwrap(), 1);
    assert_eq!(opened.n_found(&reader(), "lighthouse"), 1, "nobody waits for the next index");
    opened.index_all();
    assert_eq!(opened.n_found(&reader(), "lighthouse"), 1);
    let finance = Caller { roles: ["finance".to_owned()].into(), ..reader() };
    assert_eq!(opened.n_found(&finance, "lighthouse"), 2);
    let request = PreviewRequest { path: secret, ..PreviewRequest::default() };
    let preview = |caller: &Caller| opened.service.preview(caller, &request);
    // It is as if nothing were there, also for who asks for a name like it.
    assert!(matches!(preview(&reader()), Err(Error::NotFound { .. })));
    assert!(preview(&finance).is_ok());
    let named = |caller: &Caller| {
        opened.service.find_path(caller, &|path| path.ends_with("secret.txt")).unwrap().is_some()
    };
    assert_eq!((named(&reader()), named(&finance)), (false, true));
    // Indexing the outer root again neither takes the inner one's files nor removes them.
    assert_eq!(opened.index_all(), Indexed::default());
    assert_eq!(opened.n_found(&finance, "lighthouse"), 2);
}

/// A folder inside a root was refused as no root.
#[test]
fn a_search_keeps_to_folders_inside_roots() {
    let fixture = Fixture::new();
    for name in ["a/one.txt", "a/deep/two.txt", "ab/three.txt", "four.txt", "inner/five.txt"] {
        fixture.write(name, format!("The lighthouse of {name}."));
    }
    fixture.write("a/lighthouse.png", [0x89, b'P', b'N', b'G']);
    let allow = Access { roles: vec!["finance".to_owned()], ..Access::everyone() };
    let opened = fixture.open(FilesConfig {
        roots: vec![
            RootConfig::Path("root".into()),
            RootConfig::Restricted { path: "root/inner".into(), allow },
        ],
        ..FilesConfig::default()
    });
    opened.index_all();
    let root = fs_err::canonicalize(fixture.folder.path().join("root")).unwrap();
    let search = |roots: &[&str]| {
        let roots = roots.iter().map(|inner| root.join(inner).to_string_lossy().into_owned());
        let request = SearchRequest { roots: Some(roots.collect()), ..asked("lighthouse") };
        let found = opened.service.search(&reader(), &request, &soon())?;
        let mut names: Vec<String> = found
            .items
            .iter()
            .map(|item| item.path.strip_prefix(root.to_str().unwrap()).unwrap().to_owned())
            .collect();
        names.sort();
        Ok::<_, Error>(names.join(" "))
    };
    let a = "/a/deep/two.txt /a/lighthouse.png /a/one.txt";
    assert_eq!(search(&["a"]).unwrap(), a);
    assert_eq!(search(&["a/deep", "ab"]).unwrap(), "/a/deep/two.txt /ab/three.txt");
    assert_eq!(search(&[""]).unwrap(), format!("{a} /ab/three.txt /four.txt"));
    for missing in ["inner", "inner/deep", "outer", "inner/five.txt"] {
        assert!(matches!(search(&[missing]), Err(Error::NotFound { .. })), "{missing}");
    }
    assert!(matches!(search(&["four.txt"]), Err(Error::BadPath { .. })));
    assert!(matches!(search(&["none"]), Err(Error::NotFound { .. })));
    // A path in quotes, and the folder's own name.
    let quoted = format!(" \"{}\" ", root.join("ab").display());
    let request = SearchRequest { roots: Some(vec![quoted]), ..asked("lighthouse") };
    assert_eq!(opened.service.search(&reader(), &request, &soon()).unwrap().items.len(), 1);
    let request = SearchRequest { roots: Some(vec!["ab".to_owned()]), ..request };
    assert_eq!(opened.service.search(&reader(), &request, &soon()).unwrap().items.len(), 1);
}

#[test]
fn the_old_index_answers_while_everything_is_indexed_anew() {
    let world = Fixture::new();
    for number in 0..30 {
        world.write(&format!("{number}.txt"), format!("Lighthouse number {number}."));
    }
    let opened = world.one_root();
    opened.index_all();
    let (store, namespace) = (world.store.clone(), opened.indexer.namespace().clone());
    let progress = Progress::watched(move |_, _, _| {
        assert_eq!(store.counts(&namespace).unwrap().n_passages, 30);
    });
    let root = opened.indexer.roots().all()[0].clone();
    let indexed = opened.indexer.index(&root, &root.path, true, &progress).unwrap();
    assert_eq!((indexed.indexed, indexed.removed), (30, 0));
    let quiet = |_: &_| {};
    let refused =
        opened.service.index(&reader(), &root.name, true, Priority::Normal, &soon(), &quiet);
    assert!(matches!(refused, Err(Error::NeedsAdmin)));
}

#[test]
fn a_pattern_that_is_none_is_an_error() {
    let config =
        |pattern: &str| FilesConfig { ignore: vec![pattern.to_owned()], ..FilesConfig::default() };
    assert!(config("*.tmp").check().is_ok());
    let error = config("a{b").check().unwrap_err().to_string();
    assert!(error.contains("`a{b`"), "{error}");
}

#[test]
fn files_with_the_same_content_are_one_result_that_names_its_places() {
    let world = Fixture::new();
    let text = "The lighthouse was painted in spring.";
    world.write("a.txt", text);
    world.write("copies/b.txt", text);
    world.write("copies/c.txt", text);
    world.write("d.txt", "The lighthouse was painted in autumn.");
    world.write("e.md", text);
    let opened = world.one_root();
    opened.index_all();
    let search = |k: usize, exts: Option<Vec<String>>, after: Option<retrieve::Given>| {
        let request = SearchRequest {
            query: "lighthouse painted spring".to_owned(),
            k,
            offset: 0,
            after,
            exts,
            years: None,
            roots: None,
        };
        opened.service.search(&Caller::local_admin(), &request, &soon()).unwrap()
    };
    let found = search(10, None, None);
    let first = &found.items[0];
    // The same text is the same content, whatever the extension.
    assert_eq!((found.items.len(), first.duplicates.len()), (2, 3), "{:?}", found.items);
    let names = |found: &crate::SearchResults| -> std::collections::BTreeSet<String> {
        let items = found.items.iter();
        let paths = items.flat_map(|item| std::iter::once(&item.path).chain(&item.duplicates));
        paths.map(|path| path.rsplit('/').next().unwrap().to_owned()).collect()
    };
    let all: Vec<String> = names(&found).into_iter().collect();
    assert_eq!(all, ["a.txt", "b.txt", "c.txt", "d.txt", "e.md"]);
    // Only what passes the filters is named.
    assert_eq!(search(10, Some(vec![".md".to_owned()]), None).items[0].duplicates, [""; 0]);
    // A walk of pages gives every file once, whatever the size of a page.
    for k in 1..4 {
        let (mut seen, mut after) = (vec![], Some(retrieve::Given::default()));
        loop {
            let page = search(k, None, after.clone());
            let paths = page.items.iter();
            let paths: Vec<String> = paths
                .flat_map(|item| std::iter::once(&item.path).chain(&item.duplicates).cloned())
                .collect();
            after = after.map(|given| given.with(paths.iter().map(String::as_str)));
            seen.extend(paths);
            if !page.pagination.has_more {
                break;
            }
        }
        let unique: std::collections::BTreeSet<&String> = seen.iter().collect();
        assert_eq!((seen.len(), unique.len()), (5, 5), "{k}: {seen:?}");
    }
}

/// Whatever a file begins with, its copy is named though another word found it.
#[test]
fn copies_are_named_whatever_a_file_begins_with() {
    let beginnings = [
        "password: Tr0ub4dor&3xyz ".to_owned(),
        format!("{} ", "x".repeat(90)),
        "東京都の灯台は春に塗装されました。".repeat(6),
        "anna.miller@example.org +40 722 123 456 ".to_owned(),
        "- - - * * * ".repeat(20),
        "a b c d e f g ".to_owned(),
        "don't can't won't ".repeat(12),
        "internationalisation ".repeat(7),
    ];
    let fixture = Fixture::new();
    for (idx, beginning) in beginnings.iter().enumerate() {
        for place in ["one", "two"] {
            fixture.write(&format!("{place}/{idx}.txt"), format!("{beginning}\nlighthouse{idx}q."));
        }
    }
    let opened = fixture.one_root();
    opened.index_all();
    for idx in 0..beginnings.len() {
        let request = asked(&format!("lighthouse{idx}q"));
        let found = opened.service.search(&Caller::local_admin(), &request, &soon()).unwrap();
        assert_eq!(found.items[0].duplicates.len(), 1, "{idx}: {:?}", found.items);
    }
}

/// Copies that fill all that was ranked for a page ended the walk, with most files to come.
#[test]
fn many_copies_do_not_end_a_walk() {
    let fixture = Fixture::new();
    for n in 0..40 {
        fixture.write(&format!("copies/{n}.txt"), "The lighthouse was painted in spring.");
        fixture.write(&format!("own/{n}.txt"), format!("The lighthouse was painted, time {n}."));
    }
    let opened = fixture.one_root();
    opened.index_all();
    for k in [1, 7, 30] {
        let (mut seen, mut after) = (vec![], retrieve::Given::default());
        loop {
            let request = SearchRequest {
                query: "lighthouse painted spring".to_owned(),
                k,
                offset: 0,
                after: Some(after.clone()),
                exts: None,
                years: None,
                roots: None,
            };
            let page = opened.service.search(&Caller::local_admin(), &request, &soon()).unwrap();
            let paths = page.items.iter();
            let paths: Vec<String> = paths
                .flat_map(|item| std::iter::once(&item.path).chain(&item.duplicates).cloned())
                .collect();
            after = after.with(paths.iter().map(String::as_str));
            seen.extend(paths);
            if !page.pagination.has_more {
                break;
            }
        }
        let unique: std::collections::BTreeSet<&String> = seen.iter().collect();
        assert_eq!((seen.len(), unique.len()), (80, 80), "{k}");
    }
}

/// Of 6,000 files, 1,500 were said to match, and a page behind the 5,990th was empty.
#[test]
fn files_far_down_are_counted_and_given() {
    let fixture = Fixture::new();
    let n_files = 620;
    for n in 0..n_files {
        fixture.write(&format!("f{n:03}.txt"), format!("heron number {n}\n"));
    }
    fixture.write("other.txt", "a crane");
    let opened = fixture.one_root();
    opened.index_all();
    let page = |offset: usize, after: Option<retrieve::Given>| {
        let request = SearchRequest {
            query: "heron".to_owned(),
            k: 100,
            offset,
            after,
            exts: None,
            years: None,
            roots: None,
        };
        opened.service.search(&Caller::local_admin(), &request, &soon()).unwrap()
    };
    let first = page(0, None);
    assert_eq!(first.pagination.total_estimate, n_files);
    assert_eq!(page(n_files - 10, None).items.len(), 10);
    // Walked by number, and by names that are closed behind the first page.
    let mut by_number: Vec<String> = Vec::new();
    loop {
        let found = page(by_number.len(), None);
        by_number.extend(found.items.into_iter().map(|item| item.path));
        if !found.pagination.has_more {
            break;
        }
    }
    let mut by_name: Vec<String> = first.items.into_iter().map(|item| item.path).collect();
    let mut given = retrieve::Given::default().with(by_name.iter().map(String::as_str)).closed();
    loop {
        let found = page(0, Some(given.clone()));
        assert_eq!(found.pagination.offset, by_name.len());
        assert_eq!(found.pagination.total_estimate, n_files);
        by_name.extend(found.items.into_iter().map(|item| item.path));
        if !found.pagination.has_more {
            break;
        }
        given = given.behind(by_name.last().unwrap());
    }
    for mut walked in [by_number, by_name] {
        walked.sort_unstable();
        walked.dedup();
        assert_eq!(walked.len(), n_files);
    }
}

/// "In Excel" may ask for a spreadsheet or about one: a chance hit hid the guide.
#[test]
fn what_answers_the_whole_query_is_not_hidden_by_a_format_in_its_words() {
    let fixture = Fixture::new();
    fixture.write("guide.md", "How to write formulas in Excel: formulas in Excel begin with =");
    fixture.write("list.csv", "chemical formulas\nwater\n");
    fixture.write("notes.md", "the minutes of the meeting");
    let opened = fixture.one_root();
    opened.index_all();
    let search = |query: &str| {
        let request = SearchRequest {
            query: query.to_owned(),
            k: 5,
            offset: 0,
            after: None,
            exts: None,
            years: None,
            roots: None,
        };
        let found = opened.service.search(&Caller::local_admin(), &request, &soon()).unwrap();
        let first =
            found.items.first().map(|item| item.path.rsplit('/').next().unwrap().to_owned());
        let is_relaxed = found.warnings.iter().any(|warning| warning.code == "filters_relaxed");
        (first.unwrap_or_default(), found.exts, is_relaxed)
    };
    assert_eq!(search("formulas in excel"), ("guide.md".to_owned(), vec![], true));
    let csv = vec![".csv".to_owned()];
    assert_eq!(search("chemical formulas in csv"), ("list.csv".to_owned(), csv, false));
}

/// "Before 2022" was given up for files that have 2022 in their names, and these came first.
#[test]
fn a_bound_of_years_does_not_give_way_to_the_year_that_it_names() {
    let fixture = Fixture::new();
    for year in 2015..=2024 {
        let budget = "the budget of the harbour and its cranes, item by item. ".repeat(8);
        fixture.write(&format!("note-{year}.txt"), format!("{budget}Page {year}."));
    }
    fixture.write("history.md", "Harbours before 1950: what the budget was before 1950.");
    let opened = fixture.one_root();
    opened.index_all();
    let search = |query: &str| {
        let request = SearchRequest { k: 20, ..asked(query) };
        let found = opened.service.search(&Caller::local_admin(), &request, &soon()).unwrap();
        let is_relaxed = found.warnings.iter().any(|warning| warning.code == "filters_relaxed");
        let names = found.items.iter().map(|item| item.path.rsplit('/').next().unwrap().to_owned());
        (names.collect::<Vec<String>>(), is_relaxed)
    };
    // The clock of tests is in 2023: no range ends behind it.
    for (query, n_files, unwanted) in [
        ("budget before 2022", 8, "note-2022.txt"),
        ("budget after 2020", 3, "note-2020.txt"),
        ("budget vor 2022", 8, "note-2022.txt"),
        ("budget before the year 2022", 8, "note-2022.txt"),
        ("budget < 2022", 8, "note-2022.txt"),
        ("budget <2022", 8, "note-2022.txt"),
        ("budget > 2020", 3, "note-2020.txt"),
    ] {
        let (names, is_relaxed) = search(query);
        assert!(!is_relaxed, "{query}: {names:?}");
        assert_eq!(names.len(), n_files, "{query}: {names:?}");
        assert!(!names.iter().any(|name| name == unwanted), "{query}: {names:?}");
    }
    // A file that says it in these words is what was asked for, and so is one that says it in signs.
    fixture.write("age.md", "Cranes by age: budget <1950 is scrap, and nothing else is.");
    opened.index_all();
    let (names, is_relaxed) = search("budget < 1950");
    assert_eq!((names.first().map(String::as_str), is_relaxed), (Some("age.md"), true));
    let (names, is_relaxed) = search("budget before 1950");
    assert_eq!((names.first().map(String::as_str), is_relaxed), (Some("history.md"), true));
}

/// Thirty contents in four places each were a hundred and twenty results over pages of ten, and
/// none named its other places.
#[test]
fn copies_are_named_wherever_they_rank_and_a_walk_gives_each_content_once() {
    let fixture = Fixture::new();
    for n in 0..30 {
        for place in ["a", "b", "c", "d"] {
            fixture.write(&format!("{place}/{n}.txt"), format!("dupword in text number{n}."));
        }
    }
    let opened = fixture.one_root();
    opened.index_all();
    let search = |request: &SearchRequest| {
        opened.service.search(&Caller::local_admin(), request, &soon()).unwrap()
    };
    let first = search(&SearchRequest { k: 10, ..asked("dupword") });
    assert_eq!(first.items.len(), 10);
    assert!(first.items.iter().all(|item| item.duplicates.len() == 3), "{:?}", first.items);
    assert!(!first.pagination.total_is_exact && first.pagination.has_more);
    let all = search(&SearchRequest { k: 100, ..asked("dupword") });
    assert_eq!((all.items.len(), all.pagination.total_estimate), (30, 30));
    assert!(all.pagination.total_is_exact && !all.pagination.has_more);
    for (k, is_closed) in [(7, false), (10, false), (10, true), (100, false)] {
        // By cursor, and by number.
        let (mut after, mut offset) = (retrieve::Given::default(), 0);
        if is_closed {
            after = after.closed();
        }
        let (mut by_cursor, mut by_number) = (vec![], vec![]);
        loop {
            let request = SearchRequest { k, after: Some(after.clone()), ..asked("dupword") };
            let page = search(&request);
            let paths = || page.items.iter().map(|item| item.path.as_str());
            after = match (is_closed, paths().next_back()) {
                (true, Some(last)) => after.behind(last),
                _ => after.with(paths()),
            };
            by_cursor.extend(page.items);
            if !page.pagination.has_more {
                break;
            }
        }
        loop {
            let page = search(&SearchRequest { k, offset, ..asked("dupword") });
            offset += page.pagination.taken;
            by_number.extend(page.items);
            if !page.pagination.has_more {
                break;
            }
        }
        for walk in [by_cursor, by_number] {
            let names: std::collections::BTreeSet<&str> =
                walk.iter().map(|item| item.path.rsplit('/').next().unwrap()).collect();
            assert_eq!((walk.len(), names.len()), (30, 30), "{k} {is_closed}");
            assert!(walk.iter().all(|item| item.duplicates.len() == 3));
        }
    }
}

/// A content that is put into the place of another with its size and its time is noticed; the index
/// of an earlier version, which knew only those, is not read anew for that.
#[test]
fn size_and_time_do_not_hide_a_change() {
    let fixture = Fixture::new();
    let path = fs_err::canonicalize(fixture.write("a.txt", "The ferry was very late.")).unwrap();
    let opened = fixture.one_root();
    opened.index_all();
    let modified = fs_err::metadata(&path).unwrap().modified().unwrap();
    let replace = |text: &str| {
        let beside = fixture.write("data/beside", text);
        let file = fs_err::OpenOptions::new().write(true).open(&beside).unwrap();
        file.file().set_modified(modified).unwrap();
        fs_err::rename(beside, &path).unwrap();
    };
    replace("The train was very late.");
    assert_eq!(opened.index_all().indexed, 1);
    assert_eq!(opened.n_found(&Caller::local_admin(), "train"), 1);
    // As an earlier version wrote it.
    let (namespace, id) =
        (opened.indexer.namespace(), model::DocumentId::new(path.to_str().unwrap()));
    let info = fixture.store.document(namespace, &id).unwrap().unwrap();
    let coarse: Vec<&str> = info.fingerprint.split(' ').collect();
    let document = store::Document {
        passages: fixture.store.passages_of(namespace, &id).unwrap(),
        id,
        title: info.title,
        attributes: info.attributes,
        metadata: info.metadata,
        fingerprint: coarse[0].to_owned(),
    };
    fixture.store.upsert(namespace, &[document]).unwrap();
    assert_eq!(opened.index_all().indexed, 0);
    // What the system says has changed is read.
    replace("The coach was very late.");
    assert!(opened.service.notice(&Changed::of([path.clone()])).unwrap().again.is_empty());
    let jobs = opened.queue.list().unwrap();
    opened.queue.wait(&jobs[0].id, &soon()).unwrap();
    assert_eq!(opened.n_found(&Caller::local_admin(), "coach"), 1);
}

/// What emptied an answer is found out and said: the words, the filter, or a typing error behind a
/// filter, which was not mended where only files outside of it have the word.
#[test]
fn words_and_filters_are_told_apart() {
    let fixture = Fixture::new();
    fixture.write("a-2007.txt", "Lorem ipsum dolor, a report of the year 2007");
    fixture.write("b-2008.txt", "consectetur adipiscing, a report of the year 2008");
    let opened = fixture.one_root();
    opened.index_all();
    let search = |query: &str, years: Option<&str>| {
        let request = SearchRequest {
            query: query.to_owned(),
            k: 5,
            offset: 0,
            after: None,
            exts: None,
            years: years.map(|year| vec![year.to_owned()]),
            roots: None,
        };
        let found = opened.service.search(&Caller::local_admin(), &request, &soon()).unwrap();
        let codes = found.warnings.iter().map(|warning| warning.code.as_str());
        let codes: Vec<&str> = codes.filter(|code| *code != ingest::VECTORS_OFF).collect();
        let first =
            found.items.first().map(|item| item.path.rsplit('/').next().unwrap().to_owned());
        (first, codes.join(" "), found.warnings)
    };
    let check = |query: &str, years: Option<&str>, first: Option<&str>, codes: &str| {
        let (found, warned, warnings) = search(query, years);
        assert_eq!((found.as_deref(), warned.as_str()), (first, codes), "{query}: {warnings:?}");
    };
    // Right words that no file of the year has: a filter that was said gives way, one that was
    // given stays and is named.
    check("Lorem ipsum 2008", None, Some("a-2007.txt"), "filters_relaxed");
    check("Lorem ipsum", Some("2008"), None, "filtered_out");
    let (_, _, warnings) = search("Lorem ipsum", Some("2008"));
    assert!(warnings[0].message.contains("(years 2008)"), "{warnings:?}");
    // A mistyped word behind a filter is mended, and the filter stays.
    check("consecteturr 2008", None, Some("b-2008.txt"), "query_corrected");
    check("consecteturr", Some("2008"), Some("b-2008.txt"), "query_corrected");
    // Mistyped, and right words of no file of the year.
    check("loremm", Some("2008"), None, "query_corrected filtered_out");
    check("loremm 2008", None, Some("a-2007.txt"), "query_corrected filters_relaxed");
    // Nothing anywhere.
    check("xylophone", Some("2008"), None, "");
}

/// `ship not in pdf` looked for the word `pdf`; ranges of years were no filter.
#[test]
fn kinds_that_are_not_wanted_are_left_out_and_ranges_of_years_hold() {
    let fixture = Fixture::new();
    fixture.write("a-2007.txt", "the crane of the year 2007");
    fixture.write("b-2012.md", "the crane of the year 2012");
    let opened = fixture.one_root();
    opened.index_all();
    let check = |query: &str, exts: Option<&str>, years: Option<&str>, names: &[&str]| {
        let request = SearchRequest {
            query: query.to_owned(),
            k: 5,
            offset: 0,
            after: None,
            exts: exts.map(|ext| vec![ext.to_owned()]),
            years: years.map(|year| vec![year.to_owned()]),
            roots: None,
        };
        let found = opened.service.search(&Caller::local_admin(), &request, &soon()).unwrap();
        let mut paths: Vec<&str> =
            found.items.iter().map(|item| item.path.rsplit('/').next().unwrap()).collect();
        paths.sort_unstable();
        assert_eq!(paths, names, "{query} {exts:?} {years:?}");
        (found.exts, found.years)
    };
    let (both, a, b) = (["a-2007.txt", "b-2012.md"], ["a-2007.txt"], ["b-2012.md"]);
    check("crane", None, None, &both);
    assert_eq!(check("crane not in md files", None, None, &a).0, ["-.md"]);
    assert_eq!(check("crane", Some("-.md"), None, &a).0, ["-.md"]);
    check("crane", Some("-txt"), None, &b);
    assert_eq!(check("crane before 2010", None, None, &a).1, ["1900-2009"]);
    check("crane", None, Some("2001-2009"), &a);
    check("crane", None, Some("2010-2020"), &b);
}

/// Of two filters that were only said, the one that hides the files goes and the other stays; what
/// the first page decides holds for a page by number, which gave files outside the filter before.
#[test]
fn as_little_as_possible_is_relaxed_and_all_pages_agree() {
    let fixture = Fixture::new();
    for n in 0..3 {
        fixture.write(&format!("n{n}.md"), format!("crane number {n}, of the year 2007"));
    }
    fixture.write("other.txt", "crane, of the year 2008");
    fixture.write("menu.md", "lunch and dinner in 2008");
    let opened = fixture.one_root();
    opened.index_all();
    let search = |query: &str, offset: usize| {
        let request = SearchRequest {
            query: query.to_owned(),
            k: 2,
            offset,
            after: None,
            exts: None,
            years: None,
            roots: None,
        };
        let found = opened.service.search(&Caller::local_admin(), &request, &soon()).unwrap();
        let is_relaxed = found.warnings.iter().any(|warning| warning.code == "filters_relaxed");
        (found.items.len(), found.exts, found.years, is_relaxed)
    };
    let md = || vec![".md".to_owned()];
    let years = |year: &str| vec![year.to_owned()];
    // Cranes of 2008 are no Markdown: the year goes, the format stays. The menu of 2008 is no crane.
    assert_eq!(search("crane 2008 .md", 0), (2, md(), vec![], true));
    assert_eq!(search("crane 2008 .md", 2), (1, md(), vec![], true));
    assert_eq!(search("crane 2008 .md", 4), (0, md(), vec![], true));
    // No crane is in PDF: the format goes, the year stays.
    assert_eq!(search("crane 2008 pdf", 0), (2, vec![], years("2008"), true));
    // What passes is passed, on every page.
    assert_eq!(search("crane 2007 .md", 0), (2, md(), years("2007"), false));
    assert_eq!(search("crane 2007 .md", 2), (1, md(), years("2007"), false));
    assert_eq!(search("crane 2007 .md", 9), (0, md(), years("2007"), false));
}

/// The year went although the format was wrong: `html` was a word of the search then, and in the
/// name of a file that says nothing of what was asked for.
#[test]
fn the_filters_that_hide_the_best_answer_give_way() {
    let fixture = Fixture::new();
    fixture.write("lease_2021.md", "The lease agreement with Kestrel Ltd was signed in 2021.");
    fixture.write("minutes.html", "<p>Kiln maintenance minutes, nothing else.</p>");
    fixture.write("a.csv", "kiln,temperature\nsmall,900\n");
    for n in 0..6 {
        fixture.write(&format!("n{n}.txt"), format!("Notes of day {n}: glaze, clay and water."));
    }
    let opened = fixture.one_root();
    opened.index_all();
    let search = |query: &str| {
        let found = opened.service.search(&Caller::local_admin(), &asked(query), &soon()).unwrap();
        let first = found.items.first();
        let first = first.map(|item| item.path.rsplit('/').next().unwrap().to_owned());
        (first.unwrap_or_default(), found.exts, found.years)
    };
    let lease = || "lease_2021.md".to_owned();
    let years = || vec!["2021".to_owned()];
    let both = "Kestrel lease agreement from 2021 in html";
    assert_eq!(search(both), (lease(), vec![], years()));
    assert_eq!(search("Kestrel lease in html"), (lease(), vec![], vec![]));
    assert_eq!(search("Kestrel lease in csv"), (lease(), vec![], vec![]));
    // The format is right, and the year is wrong.
    let md = vec![".md".to_owned()];
    assert_eq!(search("Kestrel lease from 2019 in md"), (lease(), md, vec![]));
    // Both are wrong, and something passes each.
    assert_eq!(search("Kestrel lease from 2019 in csv"), (lease(), vec![], vec![]));
    // A file that passes both and is worse hides nothing.
    fixture.write("other.html", "<p>An agreement about the kiln, of 2021.</p>");
    opened.index_all();
    assert_eq!(search(both), (lease(), vec![], years()));
    // `csv` in its name must not make up for the words that it lacks.
    fixture.write("lease.csv", "kiln,lease\nsmall,900\n");
    opened.index_all();
    assert_eq!(search("Kestrel lease agreement in csv"), (lease(), vec![], vec![]));
}

/// A format gave way to a file that says the same sentence as one of the format.
#[test]
fn filters_stay_where_what_they_hide_is_no_better() {
    let fixture = Fixture::new();
    let sentence = "El contrato con Nordwind se firmó en 2022.";
    fixture.write("acuerdo.html", format!("<p>{sentence}</p>"));
    fixture.write("contrato_2022.md", format!("{sentence}\n\nHay una copia en html."));
    fixture.write("contrato-en-html.txt", format!("Contrato: {sentence}"));
    for n in 0..6 {
        fixture.write(&format!("n{n}.txt"), format!("Notas del día {n}: arcilla y agua."));
    }
    let opened = fixture.one_root();
    opened.index_all();
    for (query, years) in [
        ("contrato Nordwind de 2022 en html", vec!["2022".to_owned()]),
        ("contrato Nordwind en html", vec![]),
        ("Nordwind de 2022 en html", vec!["2022".to_owned()]),
    ] {
        let found = opened.service.search(&Caller::local_admin(), &asked(query), &soon()).unwrap();
        let names: Vec<&str> =
            found.items.iter().map(|item| item.path.rsplit('/').next().unwrap()).collect();
        assert_eq!((names, found.years), (vec!["acuerdo.html"], years), "{query}");
    }
}

#[test]
fn what_no_file_can_pass_is_refused() {
    let fixture = Fixture::new();
    fixture.write("a.txt", "a crane");
    let opened = fixture.one_root();
    opened.index_all();
    let refused = |query: &str, exts: &[&str], years: &[&str]| {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let request = SearchRequest {
            query: query.to_owned(),
            k: 5,
            offset: 0,
            after: None,
            exts: (!exts.is_empty()).then(|| owned(exts)),
            years: (!years.is_empty()).then(|| owned(years)),
            roots: None,
        };
        match opened.service.search(&Caller::local_admin(), &request, &soon()) {
            Err(Error::BadArgument { argument, .. }) => Some(argument),
            Err(error) => panic!("{error}"),
            Ok(_) => None,
        }
    };
    for blank in ["", "  ", "\u{3000}", "\u{200b}\u{feff}"] {
        assert_eq!(refused(blank, &[], &[]), Some("query"), "{blank:?}");
    }
    for year in ["21", "0000", "20211", "MMXX", "1899", "+202"] {
        assert_eq!(refused("crane", &[], &[year]), Some("years"), "{year}");
    }
    for ext in ["", "  ", ".", "nonsense!!", "a b"] {
        assert_eq!(refused("crane", &[ext], &[]), Some("exts"), "{ext:?}");
    }
    assert_eq!(refused("crane", &["txt", ".TXT", "*.docx", "tar.gz"], &["1900", "2099"]), None);
}

/// Waits until its job is cancelled.
struct Waiting;

impl Runner for Waiting {
    fn run(&self, _job: &Job, context: &JobContext) -> std::result::Result<Value, JobFailure> {
        while !context.progress().is_cancelled() {
            std::thread::yield_now();
        }
        Err(JobFailure::Cancelled)
    }
}

/// A run that somebody stopped began again by itself: the watcher had waited for it to end, and
/// found files that were not indexed.
#[test]
fn what_somebody_stopped_is_not_begun_again() {
    let world = Fixture::new();
    world.write("a.txt", "The lighthouse was painted.");
    let config =
        FilesConfig { roots: vec![RootConfig::Path("root".into())], ..FilesConfig::default() };
    let opened = world.open_with(config, |_| Arc::new(Waiting));
    let root = opened.indexer.roots().all()[0].clone();
    opened.service.index_all().unwrap();
    let deadline = soon();
    let run = loop {
        assert!(!deadline.is_over(), "the run never begins");
        if let Some(run) = opened.service.run_of(&root) {
            break run;
        }
        std::thread::yield_now();
    };
    assert_eq!(opened.service.look_after(&root, None).unwrap(), Look::Again);
    opened.queue.cancel(&run).unwrap();
    opened.queue.wait(&run, &soon()).unwrap();
    assert_eq!(opened.service.look_after(&root, Some(run)).unwrap(), Look::Done);
    assert_eq!(opened.queue.list().unwrap().len(), 1);
    // A later look takes in what is missing, as it does after any change.
    assert_eq!(opened.service.look_after(&root, None).unwrap(), Look::Done);
    assert_eq!(opened.queue.list().unwrap().len(), 2);
    for job in opened.queue.list().unwrap() {
        let _ = opened.queue.cancel(&job.id);
    }
}

#[test]
fn whoever_waits_for_a_cancelled_job_is_told_so() {
    let world = Fixture::new();
    let config =
        FilesConfig { roots: vec![RootConfig::Path("root".into())], ..FilesConfig::default() };
    let opened = world.open_with(config, |_| Arc::new(Waiting));
    let root = opened.indexer.roots().all()[0].name.clone();
    let cancel = |_: &JobProgress| {
        for job in opened.queue.running(INDEX_JOB) {
            opened.queue.cancel(&job.id).unwrap();
        }
    };
    let caller = Caller::local_admin();
    let told = opened.service.index(&caller, &root, false, Priority::High, &soon(), &cancel);
    assert!(matches!(told, Err(Error::Cancelled { root: told }) if told == root));
}
