//! Proves, against a real PostgreSQL, that: the catalogue keeps every law; the embedded engine keeps
//! every law over it; several servers that start at once make the tables once; a follower sees
//! every change although writers commit out of order; a second server finds what the first wrote; a
//! new server catches up from nothing, also after the log was cut; ids and texts of every kind come
//! back as they were; a restarted database is found again without a restart of the server.
#![allow(clippy::unwrap_used, reason = "a helper of tests fails the test")]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use model::{Clock, Deadline, DocumentId, NamespaceId, PassageId, TenantId, Timestamp};
use store::conformance::{self, document, space, vector};
use store::{
    Bm25, Catalogue, Change, Config, DocumentPage, EmbeddedEngine, Error, Filter, Lookup, Manifest,
    Object, ObjectKey, Objects, Store, WordsQuery,
};
use store_postgres::{PostgresCatalogue, PostgresConfig};
use testkit::Postgres;

/// How long a test waits for something that must happen.
const PATIENCE: Duration = Duration::from_secs(60);

fn clock() -> Clock {
    Clock::fixed(Timestamp(1_700_000_000_000))
}

fn config(postgres: &Postgres, schema: &str) -> PostgresConfig {
    PostgresConfig { schema: schema.to_owned(), ..PostgresConfig::new(postgres.url()) }
}

fn open(postgres: &Postgres, schema: &str) -> Arc<PostgresCatalogue> {
    Arc::new(PostgresCatalogue::open(&config(postgres, schema), clock()).unwrap())
}

/// A server with local indexes over a shared catalogue.
fn server(postgres: &Postgres, schema: &str, folder: &Path, name: &str) -> Store {
    let catalogue = open(postgres, schema);
    let bounds = Config::for_one_machine();
    let engine = EmbeddedEngine::open(folder, &bounds, catalogue.clone(), name).unwrap();
    Store::new(catalogue, Arc::new(engine)).unwrap()
}

fn words(store: &Store, namespace: &NamespaceId, text: &str) -> Vec<String> {
    let query = WordsQuery::from_text(text, Bm25::PASSAGES, 1.0, 0.0);
    let deadline = Deadline::after(Duration::from_secs(60));
    let found = store.by_words(namespace, &query, &Filter::All, 100, &deadline).unwrap();
    let mut ids: Vec<String> = found.hits.iter().map(|hit| hit.passage.to_string()).collect();
    ids.sort();
    ids
}

fn near(store: &Store, namespace: &NamespaceId) -> Vec<String> {
    let deadline = Deadline::after(Duration::from_secs(60));
    let found = store.by_vector(namespace, &vector(1, 0.3), &Filter::All, 100, &deadline).unwrap();
    found.hits.iter().map(|hit| hit.passage.to_string()).collect()
}

#[test]
fn the_catalogue_and_the_embedded_engine_over_it_keep_every_law() {
    let Some(postgres) = Postgres::start() else { return };
    conformance::check_catalogue(&*open(&postgres, "laws"));
    let folder = tempfile::tempdir().unwrap();
    conformance::check_engine(&server(&postgres, "engine", folder.path(), "one"));
    open(&postgres, "engine").verify().unwrap();
    texts_and_long_ids_come_back(&postgres);
    servers_that_start_at_once_make_the_tables_once(&postgres);
    late_commits_are_not_skipped(&postgres);
    guards_hold_over_servers(&postgres);
    backups_hold_one_moment(&postgres);
}

fn servers_that_start_at_once_make_the_tables_once(postgres: &Postgres) {
    let identities: Vec<String> = std::thread::scope(|scope| {
        let starting: Vec<_> =
            (0..6).map(|_| scope.spawn(|| open(postgres, "race").identity().unwrap())).collect();
        starting.into_iter().map(|server| server.join().unwrap()).collect()
    });
    assert!(identities.iter().all(|identity| *identity == identities[0]), "{identities:?}");
    let later = PostgresCatalogue::open(&config(postgres, "race"), clock()).unwrap();
    drop(later);
    postgres.run("UPDATE race.about SET value = '99' WHERE key = 'format'");
    let error = PostgresCatalogue::open(&config(postgres, "race"), clock()).err().unwrap();
    assert!(matches!(error, Error::FormatTooNew { found: 99, .. }), "{error}");
    let error = PostgresCatalogue::open(&config(postgres, "no such\" schema"), clock());
    assert!(matches!(error.err().unwrap(), Error::CatalogueSettings { .. }));
}

fn texts_and_long_ids_come_back(postgres: &Postgres) {
    let catalogue = open(postgres, "texts");
    let namespace = NamespaceId::new("odd \u{0} name");
    catalogue.create_namespace(&namespace, &Manifest::current(None)).unwrap();
    let long = "x".repeat(4_000);
    let mut odd = document("nul\u{0}id", &["a\u{0}b", "\u{1}0", ""]);
    odd.title = "\u{0}title".to_owned();
    odd.fingerprint = "\u{1}\u{0}".to_owned();
    odd.metadata = serde_json::json!({"nul": "\u{0}"});
    odd.passages[0].headings = vec!["\u{0}".to_owned()];
    let documents =
        [odd.clone(), document(&long, &["one"]), document(&format!("{long}y"), &["two"])];
    catalogue.upsert(&namespace, &documents).unwrap();
    let page = DocumentPage { limit: 10, ..DocumentPage::default() };
    let listed: Vec<String> = catalogue
        .documents(&namespace, &page)
        .unwrap()
        .into_iter()
        .map(|info| info.id.to_string())
        .collect();
    assert_eq!(listed, ["nul\u{0}id".to_owned(), long.clone(), format!("{long}y")]);
    let page = DocumentPage { prefix: long.clone(), after: Some(DocumentId::new(&long)), limit: 9 };
    assert_eq!(catalogue.documents(&namespace, &page).unwrap().len(), 1);
    let info = catalogue.document(&namespace, &odd.id).unwrap().unwrap();
    assert_eq!((info.title, info.fingerprint), (odd.title.clone(), odd.fingerprint.clone()));
    assert_eq!(info.metadata, odd.metadata);
    assert_eq!(catalogue.passages_of(&namespace, &odd.id).unwrap(), odd.passages);
    let object = Object {
        key: ObjectKey::new("law", long.clone()),
        tenant: TenantId::new("t"),
        parent: Some(long.clone()),
        lookups: vec![Lookup::new("path", long.clone()), Lookup::new("odd", "\u{0}")],
        body: serde_json::json!({"a": "\u{0}"}),
        version: 0,
    };
    catalogue.apply(&[Change::Put(object.clone())]).unwrap();
    let found = Objects::find(&*catalogue, "law", &Lookup::new("path", long)).unwrap();
    assert_eq!(found[0].body, object.body);
    assert_eq!(found[0].lookups.len(), 2);
}

/// A follower that asks for what comes after the last number it saw would miss a row that commits
/// after a later one. Here a writer holds its transaction open while others want to write.
fn late_commits_are_not_skipped(postgres: &Postgres) {
    let catalogue = open(postgres, "late");
    let namespace = NamespaceId::new("late");
    catalogue.create_namespace(&namespace, &Manifest::current(None)).unwrap();
    let number = catalogue.namespace(&namespace).unwrap().unwrap().number;
    let (n_writers, n_writes) = (6, 10);
    let seen = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..n_writers)
            .map(|writer| {
                let own = open(postgres, "late");
                let namespace = &namespace;
                scope.spawn(move || {
                    for at in 0..n_writes {
                        // Batches of unlike size take unlike time between number and commit.
                        let n_documents = if (writer + at) % 3 == 0 { 40 } else { 1 };
                        let documents: Vec<_> = (0..n_documents)
                            .map(|one| document(&format!("{writer}-{at}-{one}"), &["x"]))
                            .collect();
                        own.upsert(namespace, &documents).unwrap();
                    }
                })
            })
            .collect();
        let (mut seen, mut after) = (vec![], 0);
        loop {
            let is_over = writers.iter().all(|writer| writer.is_finished());
            let page = catalogue.log(number, after, 7).unwrap();
            seen.extend(page.entries.iter().map(|entry| entry.first));
            after = page.entries.last().map_or(after, |entry| entry.sequence);
            if is_over && page.entries.is_empty() {
                return seen;
            }
        }
    });
    let n_passages = catalogue.namespace(&namespace).unwrap().unwrap().next_passage;
    assert_eq!(seen, (0..n_passages).collect::<Vec<_>>(), "every change was seen once, in order");
}

/// Two servers that put the same new object: one of them is told of the other.
fn guards_hold_over_servers(postgres: &Postgres) {
    let servers: Vec<_> = (0..4).map(|_| open(postgres, "guards")).collect();
    let object = |id: &str, parent: Option<&str>| Object {
        key: ObjectKey::new("law", id),
        tenant: TenantId::new("t"),
        parent: parent.map(str::to_owned),
        lookups: vec![],
        body: serde_json::json!({}),
        version: 0,
    };
    for round in 0..10 {
        let id = format!("object {round}");
        let n_written = std::thread::scope(|scope| {
            let racing: Vec<_> = servers
                .iter()
                .map(|server| {
                    let change = Change::PutIfUnchanged(object(&id, None));
                    scope.spawn(move || server.apply(&[change]))
                })
                .collect();
            let results = racing.into_iter().map(|racing| racing.join().unwrap());
            results
                .map(|result| match result {
                    Ok(_) => 1,
                    Err(Error::Conflict { expected: 0, .. }) => 0,
                    Err(error) => panic!("{error}"),
                })
                .sum::<usize>()
        });
        assert_eq!(n_written, 1);
        // A child that is put while its parent goes is refused or goes along.
        std::thread::scope(|scope| {
            let child = [
                Change::Require(ObjectKey::new("law", &id)),
                Change::Put(object(&format!("child {round}"), Some(&id))),
            ];
            let parent = ObjectKey::new("law", &id);
            let gone = [Change::DeleteChildren(parent.clone()), Change::Delete(parent)];
            let (one, other) = (&servers[0], &servers[1]);
            let put = scope.spawn(move || one.apply(&child));
            let deleted = scope.spawn(move || other.apply(&gone));
            deleted.join().unwrap().unwrap();
            match put.join().unwrap() {
                Ok(_) | Err(Error::MissingObject { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        });
        let child = Objects::get(&*servers[2], &ObjectKey::new("law", format!("child {round}")));
        assert_eq!(child.unwrap(), None, "no child without its parent");
    }
}

fn backups_hold_one_moment(postgres: &Postgres) {
    let catalogue = open(postgres, "backup");
    let namespace = NamespaceId::new("kept");
    catalogue.create_namespace(&namespace, &Manifest::current(Some(space()))).unwrap();
    catalogue.upsert(&namespace, &[document("a", &["one\u{0}", "two"])]).unwrap();
    catalogue.set_vectors(&namespace, &[(PassageId::new("a#1"), vector(1, 0.37))]).unwrap();
    catalogue.set_blobs(&namespace, &[(PassageId::new("a#0"), vec![1, 2])]).unwrap();
    catalogue.put_piece("original", 0, b"bytes").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("backup.sqlite");
    std::thread::scope(|scope| {
        // Others write meanwhile; the copy is compared with the moment that it saw.
        let (writer, namespace) = (open(postgres, "backup"), &namespace);
        let writing = scope.spawn(move || {
            for round in 0..20 {
                writer.upsert(namespace, &[document(&format!("d{round}"), &["x"])]).unwrap();
            }
        });
        catalogue.backup(&file).unwrap();
        writing.join().unwrap();
    });
    assert!(matches!(catalogue.backup(&file).unwrap_err(), Error::AlreadyThere { .. }));
    let other = open(postgres, "restored");
    let copied = store::import(&file, &*other, &clock()).unwrap();
    assert_eq!((copied.n_namespaces, copied.n_files, copied.counts.n_vectors), (1, 1, 1));
    let info = other.document(&namespace, &DocumentId::new("a")).unwrap();
    assert_eq!(info, catalogue.document(&namespace, &DocumentId::new("a")).unwrap());
    let error = store::import(&file, &*other, &clock()).unwrap_err();
    assert!(matches!(error, Error::NotEmpty), "{error}");

    // Back to a folder, and once more to see that a copy can be repeated.
    let restored = folder.path().join("restored");
    store::restore(&file, &restored, &Config::for_one_machine()).unwrap();
    let store = Store::open(&restored, &Config::for_one_machine(), clock()).unwrap();
    assert_eq!(near(&store, &namespace), ["a#1"]);
    let third = open(postgres, "third");
    third.create_namespace(&namespace, &Manifest::current(Some(space()))).unwrap();
    third.upsert(&namespace, &[document("a", &["an interrupted copy"])]).unwrap();
    let one = store::copy(&*store.catalogue(), &*third, &|_| ()).unwrap();
    assert_eq!(store::copy(&*store.catalogue(), &*third, &|_| ()).unwrap(), one);
    third.upsert(&namespace, &[document("more", &["than the original"])]).unwrap();
    let error = store::copy(&*store.catalogue(), &*third, &|_| ()).unwrap_err();
    assert!(matches!(error, Error::CopyDiffers { .. }), "{error}");
}

/// A database that hangs keeps its connections open and answers nothing: that is noticed, whatever
/// waits for it is told, and it is found again by itself.
#[test]
fn a_database_that_hangs_is_told_from_one_that_is_busy() {
    let Some(postgres) = Postgres::start() else { return };
    let catalogue = open(&postgres, "hangs");
    let namespace = NamespaceId::new("hangs");
    catalogue.create_namespace(&namespace, &Manifest::current(None)).unwrap();
    catalogue.upsert(&namespace, &[document("a", &["one"])]).unwrap();
    // Somebody holds a lock for longer than a silence: the write waits for it, and goes through.
    let held = "BEGIN; LOCK TABLE hangs.namespaces; SELECT pg_sleep(8); COMMIT";
    std::thread::scope(|scope| {
        let holder = scope.spawn(|| postgres.run(held));
        let locks = "SELECT count(*) FROM pg_locks l JOIN pg_class c ON c.oid = l.relation \
                     WHERE c.relname = 'namespaces' AND l.mode = 'AccessExclusiveLock' AND l.granted";
        // On a machine that is very busy it may have been held by then.
        let is_held = || holder.is_finished() || postgres.run(locks).trim() == "1";
        assert!(testkit::wait_until(PATIENCE, is_held));
        catalogue.upsert(&namespace, &[document("b", &["two"])]).unwrap();
        holder.join().unwrap();
    });
    postgres.hang();
    let hung: Vec<Error> = std::thread::scope(|scope| {
        let calls: Vec<_> = (0..4)
            .map(|at| {
                let (catalogue, namespace) = (&catalogue, &namespace);
                scope.spawn(move || match at % 2 {
                    0 => catalogue.identity().map(|_| ()).unwrap_err(),
                    _ => {
                        let lost = document(&format!("lost{at}"), &["three"]);
                        catalogue.upsert(namespace, &[lost]).map(|_| ()).unwrap_err()
                    }
                })
            })
            .collect();
        calls.into_iter().map(|call| call.join().unwrap()).collect()
    });
    assert!(hung.iter().all(Error::is_catalogue_away), "{hung:?}");
    postgres.go_on();
    assert!(testkit::wait_until(PATIENCE, || catalogue.identity().is_ok()));
    catalogue.upsert(&namespace, &[document("c", &["four"])]).unwrap();
    assert_eq!(catalogue.namespace(&namespace).unwrap().unwrap().counts.n_documents, 3);
}

#[test]
fn servers_share_a_catalogue_and_a_restarted_database_is_found_again() {
    let Some(mut postgres) = Postgres::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let one = server(&postgres, "shared", &at("one"), "one");
    let two = server(&postgres, "shared", &at("two"), "two");
    let namespace = NamespaceId::new("shared");
    one.create_namespace(&namespace, &Manifest::current(Some(space()))).unwrap();
    one.upsert(&namespace, &[document("a", &["common first"])]).unwrap();
    assert_eq!(words(&two, &namespace, "common"), ["a#0"], "a namespace catches up when opened");
    one.upsert(&namespace, &[document("b", &["common second"])]).unwrap();
    two.upsert(&namespace, &[document("c", &["common third"])]).unwrap();
    one.set_vectors(&namespace, &[(PassageId::new("c#0"), vector(1, 0.1))]).unwrap();
    two.delete(&namespace, &[DocumentId::new("a")]).unwrap();
    assert_eq!(one.health().lag, 1, "two has deleted since");
    for server in [&one, &two] {
        server.follow_others().unwrap();
        assert_eq!(server.health().lag, 0);
        assert_eq!(words(server, &namespace, "common"), ["b#0", "c#0"]);
        assert_eq!(near(server, &namespace), ["c#0"]);
    }
    // Once everyone has made the removal durable, nothing of it is left.
    for server in [&one, &two] {
        server.forget_erased(std::slice::from_ref(&namespace)).unwrap();
    }
    assert_eq!(postgres.run("SELECT count(*) FROM shared.passages").trim(), "2");
    let three = server(&postgres, "shared", &at("three"), "three");
    assert_eq!(words(&three, &namespace, "common"), ["b#0", "c#0"], "from nothing");

    // A follower that stays away longer than it is waited for starts anew from the passages.
    for round in 0..30 {
        one.upsert(&namespace, &[document("often", &[&format!("common {round}")])]).unwrap();
    }
    postgres.run("UPDATE shared.followers SET seen_at = now() - interval '2 days'");
    one.upsert(&namespace, &[document("last", &["common last"])]).unwrap();
    one.maintain().unwrap();
    let log: u32 = postgres.run("SELECT count(*) FROM shared.log").trim().parse().unwrap();
    assert!(log < 30, "the log was cut: {log}");
    two.follow_others().unwrap();
    assert_eq!(words(&two, &namespace, "common"), ["b#0", "c#0", "last#0", "often#0"]);

    // A namespace that one server drops is gone on the others, though one of its name comes back.
    one.drop_namespace(&namespace).unwrap();
    one.create_namespace(&namespace, &Manifest::current(None)).unwrap();
    one.upsert(&namespace, &[document("new", &["common new"])]).unwrap();
    two.follow_others().unwrap();
    assert_eq!(words(&two, &namespace, "common"), ["new#0"]);

    for how in ["stop", "kill"] {
        if how == "stop" {
            postgres.stop()
        } else {
            postgres.kill()
        }
        let error = one.upsert(&namespace, &[document("lost", &["common lost"])]).unwrap_err();
        assert!(error.is_catalogue_away(), "{error}");
        assert!(!one.health().reads);
        postgres.start_again();
        // For a moment after a failure every call fails at once; then one is tried again.
        let begun = std::time::Instant::now();
        while let Err(error) = one.upsert(&namespace, &[document(how, &["common again"])]) {
            assert!(error.is_catalogue_away() && begun.elapsed() < PATIENCE, "{error}");
            std::thread::yield_now();
        }
        assert!(one.health().is_whole(), "{:?}", one.health());
        two.follow_others().unwrap();
        assert!(words(&two, &namespace, "again").contains(&format!("{how}#0")));
        assert!(words(&two, &namespace, "lost").is_empty());
    }
}
