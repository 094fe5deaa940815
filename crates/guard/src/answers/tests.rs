//! Proves, for a folder and for a catalogue, that an answer is found until its time is over, that its
//! ids remain, that the space is bounded and that erased answers say so; and that what one server
//! erases of a catalogue is erased for all, also what was on its way.

use std::time::Duration;

use serde_json::json;
use store::{Catalogue, ObjectPage, Store};
use testkit::ManualClock;

use super::folder::DAY_MILLIS;
use super::*;

fn answer(n: i64, day: i64) -> StoredAnswer {
    let value = json!({ "results": [{ "id": format!("id{n}"), "text": "x".repeat(200) }] });
    StoredAnswer {
        at: Timestamp(day * DAY_MILLIS + n),
        request: format!("r{n}"),
        tool: "search".to_owned(),
        tenant: "acme".to_owned(),
        caller: "ann".to_owned(),
        rights: None,
        arguments: json!({ "query": "q" }).as_object().cloned(),
        ids: ids_of(&value).into_iter().map(str::to_owned).collect(),
        answer: Some(value),
        is_erased: false,
        hash: "h".to_owned(),
        generation: Some(7),
    }
}

fn keep(answers: &Answers, answer: &StoredAnswer) {
    let json = |value: Value| serde_json::value::to_raw_value(&value).unwrap();
    let arguments = json(Value::Object(answer.arguments.clone().unwrap()));
    let text = json(answer.answer.clone().unwrap());
    answers.keep(&leaving(answer, &arguments, &text));
}

fn leaving<'a>(
    answer: &'a StoredAnswer,
    arguments: &'a RawValue,
    text: &'a RawValue,
) -> LeavingAnswer<'a> {
    LeavingAnswer {
        at: answer.at,
        request: &answer.request,
        tool: &answer.tool,
        tenant: &answer.tenant,
        caller: &answer.caller,
        rights: answer.rights.clone(),
        arguments,
        answer: text,
        ids: answer.ids.iter().map(String::as_str).collect(),
        hash: &answer.hash,
        generation: answer.generation,
    }
}

fn config(days: u32, mb: u64) -> AuditConfig {
    AuditConfig { omit_queries: false, keep_answers_days: days, keep_answers_mb: mb }
}

#[test]
fn what_may_hold_a_deleted_text_is_erased_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let answers = Answers::new(folder.path(), &config(7, 100));
    let of = |n: i64, tool: &str| StoredAnswer { tool: tool.to_owned(), ..answer(n, 10) };
    let rights = CallRights { roles: BTreeSet::from(["hr".to_owned()]), ..CallRights::default() };
    let other = StoredAnswer { rights: Some(rights), ..of(5, "query_table") };
    for kept in [of(1, "search"), of(3, "search"), other.clone()] {
        keep(&answers, &kept);
    }
    let at = |n: i64| Timestamp(10 * DAY_MILLIS + n);
    let may_hold = |answer: &StoredAnswer| answer.tool == "search";
    let erasure =
        Erasure { tenant: Some("acme"), since: at(2), at: at(9), marks: &[], may_hold: &may_hold };
    answers.erase_some(&erasure).unwrap();
    let find = |n: i64| answers.find(&format!("r{n}"), at(n)).unwrap();
    let marks = ["nowhere".to_owned()];
    answers.erase_some(&Erasure { since: at(0), marks: &marks, ..erasure }).unwrap();
    assert!(find(1).unwrap().answer.is_some(), "it is older than what was deleted");
    let erased = find(3).unwrap();
    assert!(erased.is_erased && erased.answer.is_none());
    assert_eq!(find(5), Some(other), "another tool's answer stays as it was");
    // A call that began before the deletion may still hold the text when it ends after it.
    keep(&answers, &of(8, "search"));
    assert_eq!(find(8), None);
    keep(&answers, &of(10, "search"));
    assert!(find(10).unwrap().answer.is_some());
    let strangers = StoredAnswer { tenant: "other".to_owned(), ..of(7, "search") };
    keep(&answers, &strangers);
    assert!(find(7).is_some());
}

#[test]
fn answers_go_without_a_call_when_their_time_is_over_or_none_are_kept_any_more() {
    let folder = tempfile::tempdir().unwrap();
    let first = answer(1, 10);
    let text_of = |answers: &Answers| answers.find("r1", first.at).unwrap().unwrap().answer;
    let kept = || {
        let answers = Answers::new(folder.path(), &config(2, 100));
        keep(&answers, &first);
        answers
    };
    let answers = kept();
    answers.let_old_go(Timestamp(11 * DAY_MILLIS)).unwrap();
    assert!(text_of(&answers).is_some());
    answers.let_old_go(Timestamp(12 * DAY_MILLIS)).unwrap();
    assert_eq!(text_of(&answers), None);
    for off in [config(0, 100), AuditConfig { omit_queries: true, ..config(2, 100) }] {
        kept();
        let answers = Answers::new(folder.path(), &off);
        assert_eq!(text_of(&answers), None, "it is not shown");
        answers.let_old_go(first.at).unwrap();
        let files = fs_err::read_dir(folder.path()).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        assert_eq!(names.collect::<Vec<_>>(), ["remains.jsonl"], "it is not on the disk");
    }
}

#[test]
fn an_answer_is_found_until_its_time_is_over_and_then_its_ids_remain() {
    let folder = tempfile::tempdir().unwrap();
    let answers = Answers::new(folder.path(), &config(2, 100));
    let first = answer(1, 10);
    keep(&answers, &first);
    assert_eq!(answers.find("r1", first.at).unwrap(), Some(first.clone()));
    assert_eq!(answers.find("r2", first.at).unwrap(), None);
    keep(&answers, &answer(2, 11));
    assert!(answers.find("r1", first.at).unwrap().unwrap().answer.is_some());
    keep(&answers, &answer(3, 12));
    let remains = answers.find("r1", first.at).unwrap().unwrap();
    assert_eq!((remains.answer, remains.arguments), (None, None));
    assert_eq!((remains.ids, remains.hash), (vec!["id1".to_owned()], "h".to_owned()));
    assert_eq!(remains.generation, Some(7));
}

/// Of an answer that is one document nothing remained that says which.
#[test]
fn one_document_is_its_own_result() {
    let check = |answer: Value, ids: &[&str]| assert_eq!(ids_of(&answer), ids, "{answer}");
    check(json!({ "id": "fAb1", "title": "a.md", "text": "x" }), &["fAb1"]);
    check(json!({ "path": "/d/a.md", "pointer": "line 1", "preview": "x" }), &["/d/a.md"]);
    check(json!({ "path": "/d", "entries": [{ "name": "a.md" }] }), &["/d"]);
    check(
        json!({ "path": "/d", "items": [{ "path": "/d/a" }, { "path": "/d/b" }] }),
        &["/d/a", "/d/b"],
    );
    check(json!({ "results": [{ "metadata": { "chunk_id": "c1" } }] }), &["c1"]);
    check(json!({ "results": [] }), &[]);
    check(json!(["x"]), &[]);
}

#[test]
fn erased_answers_say_so_and_their_text_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let answers = Answers::new(folder.path(), &config(7, 100));
    [1, 3].into_iter().for_each(|n| keep(&answers, &answer(n, 10)));
    keep(&answers, &StoredAnswer { tenant: "other".to_owned(), ..answer(2, 10) });
    answers.erase(Some("other")).unwrap();
    let erased = answers.find("r2", Timestamp(10 * DAY_MILLIS)).unwrap().unwrap();
    assert!(erased.is_erased && erased.answer.is_none() && erased.arguments.is_none());
    keep(&answers, &answer(4, 10));
    for n in [1, 3, 4] {
        let kept = answers.find(&format!("r{n}"), Timestamp(10 * DAY_MILLIS)).unwrap();
        assert!(kept.unwrap().answer.is_some(), "{n}");
    }
}

/// Every deletion read, parsed and wrote all answers of all days again: deletions took longer
/// and longer, and all of it in memory.
/// A reload gives the running calls' answers and the new ones two instances: their files were
/// written anew by both at once, and one of them found its own gone.
#[test]
fn a_folder_is_written_by_two_configurations_in_turns() {
    let folder = tempfile::tempdir().unwrap();
    let earlier = Answers::new(folder.path(), &config(7, 100));
    let later = earlier.with_config(&config(30, 100)).unwrap();
    std::thread::scope(|scope| {
        for (at, answers) in [&earlier, &later].into_iter().enumerate() {
            scope.spawn(move || {
                for n in 0..50 {
                    keep(answers, &answer(2 * n + at as i64, 10));
                    answers.erase(Some("acme")).unwrap();
                }
            });
        }
    });
    for n in 0..100 {
        let erased = later.find(&format!("r{n}"), Timestamp(10 * DAY_MILLIS + n)).unwrap();
        assert!(erased.is_some_and(|answer| answer.is_erased && answer.answer.is_none()), "r{n}");
    }
}

#[test]
fn a_deletion_costs_what_was_answered_since_the_one_before() {
    let folder = tempfile::tempdir().unwrap();
    let answers = Answers::new(folder.path(), &config(7, 100));
    let AnswerStorage::Folder(files) = &answers.place else { panic!("they are in a folder") };
    for round in 0..20 {
        for n in 0..50 {
            keep(&answers, &answer(round * 50 + n, 10));
        }
        assert_eq!(files.erase(Some("acme")).unwrap(), 50);
        assert_eq!(fs_err::metadata(files.file_of(10)).unwrap().len(), 0);
    }
    assert_eq!(files.erase(Some("acme")).unwrap(), 0);
    let first = answers.find("r0", Timestamp(10 * DAY_MILLIS)).unwrap().unwrap();
    assert!(first.is_erased && first.answer.is_none() && first.ids == ["id0"]);
}

#[test]
fn nothing_is_kept_where_queries_are_omitted_or_days_are_none() {
    let folder = tempfile::tempdir().unwrap();
    let omitting = AuditConfig { omit_queries: true, ..config(7, 100) };
    for config in [omitting, config(0, 100)] {
        let answers = Answers::new(folder.path(), &config);
        keep(&answers, &answer(1, 10));
        assert_eq!(answers.find("r1", Timestamp(10 * DAY_MILLIS)).unwrap(), None);
    }
}

#[test]
fn a_day_keeps_within_its_room() {
    let folder = tempfile::tempdir().unwrap();
    let answers = Answers::new(folder.path(), &config(7, 1));
    for n in 0..8_000 {
        keep(&answers, &answer(n, 10));
    }
    let AnswerStorage::Folder(files) = &answers.place else { panic!("they are in a folder") };
    let size: u64 = fs_err::metadata(files.file_of(10)).unwrap().len();
    assert!(size <= 1_100_000, "{size}");
    let at = Timestamp(10 * DAY_MILLIS);
    assert!(answers.find("r7999", at).unwrap().unwrap().answer.is_some());
    assert!(answers.find("r0", at).unwrap().unwrap().answer.is_none());
}

/// Servers over one catalogue.
struct Servers {
    catalogue: Arc<dyn Catalogue>,
    clock: ManualClock,
    folder: tempfile::TempDir,
}

impl Servers {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = ManualClock::new();
        let config = store::Config::for_one_machine();
        let store = Store::open(&folder.path().join("store"), &config, clock.clock()).unwrap();
        Servers { catalogue: store.catalogue(), clock, folder }
    }

    fn server(&self, config: &AuditConfig) -> Answers {
        let folder = self.folder.path().join("answers");
        let catalogue = Arc::clone(&self.catalogue);
        Answers::in_catalogue(catalogue, &folder, config, self.clock.clock()).unwrap()
    }

    /// An answer of a call that arrives now.
    fn answer(&self, n: i64) -> StoredAnswer {
        StoredAnswer { at: self.clock.clock().now(), ..answer(n, 0) }
    }

    /// Keeps an answer and sees to it that it has arrived.
    fn keep(&self, answers: &Answers, n: i64) -> StoredAnswer {
        let kept = self.answer(n);
        keep(answers, &kept);
        assert_eq!(answers.find(&kept.request, kept.at).unwrap(), Some(kept.clone()), "{n}");
        self.tick();
        kept
    }

    fn tick(&self) {
        self.clock.advance(Duration::from_millis(1));
    }

    /// Gives every row of answers with their text.
    fn texts(&self) -> String {
        let rows = self.catalogue.list(&ObjectPage::of("moment_answer")).unwrap();
        rows.iter().map(|row| row.body.to_string()).collect()
    }
}

fn find(answers: &Answers, kept: &StoredAnswer) -> StoredAnswer {
    answers.find(&kept.request, kept.at).unwrap().unwrap()
}

#[test]
fn an_answer_in_a_catalogue_is_found_by_every_server_until_its_time_is_over() {
    let servers = Servers::new();
    let old = servers.folder.path().join("answers");
    keep(&Answers::new(&old, &config(2, 100)), &answer(0, 10));
    let [one, other] = [0, 1].map(|_| servers.server(&config(2, 100)));
    assert!(!old.exists(), "what was in the folder is gone");
    let first = servers.keep(&one, 1);
    assert_eq!(find(&other, &first), first);
    assert_eq!(other.find("r2", first.at).unwrap(), None);
    servers.clock.advance(Duration::from_millis(DAY_MILLIS as u64));
    servers.keep(&other, 2);
    assert!(find(&one, &first).answer.is_some());
    servers.clock.advance(Duration::from_millis(2 * DAY_MILLIS as u64));
    servers.keep(&other, 3);
    let remains = find(&one, &first);
    assert_eq!((&remains.answer, &remains.arguments), (&None, &None));
    assert_eq!((&remains.ids, &remains.hash), (&vec!["id1".to_owned()], &"h".to_owned()));
    assert!(!remains.is_erased);
}

#[test]
fn answers_in_a_catalogue_go_without_a_call_when_their_time_is_over_or_none_are_kept() {
    let servers = Servers::new();
    let answers = servers.server(&config(2, 100));
    let let_go = |answers: &Answers| answers.let_old_go(servers.clock.clock().now()).unwrap();
    let first = servers.keep(&answers, 1);
    let day = Duration::from_millis(DAY_MILLIS as u64);
    servers.clock.advance(day);
    let_go(&answers);
    assert!(find(&answers, &first).answer.is_some());
    servers.clock.advance(2 * day);
    // Another server, which has never kept one.
    let_go(&servers.server(&config(2, 100)));
    assert_eq!(servers.texts(), "");
    assert_eq!(find(&answers, &first).ids, ["id1"]);
    for off in [config(0, 100), AuditConfig { omit_queries: true, ..config(2, 100) }] {
        let kept = servers.keep(&answers, 2);
        let_go(&servers.server(&off));
        assert_eq!(servers.texts(), "");
        assert_eq!(find(&answers, &kept).answer, None);
    }
}

#[test]
fn an_erasure_by_one_server_is_one_for_all() {
    let servers = Servers::new();
    let [one, other] = [0, 1].map(|_| servers.server(&config(7, 100)));
    let [first, second] = [servers.keep(&one, 1), servers.keep(&other, 2)];
    let stranger = StoredAnswer { tenant: "other".to_owned(), ..servers.answer(3) };
    keep(&one, &stranger);
    servers.tick();
    one.erase(Some("acme")).unwrap();
    servers.tick();
    for server in [&one, &other] {
        for kept in [&first, &second] {
            let erased = find(server, kept);
            assert!(erased.is_erased && erased.answer.is_none() && erased.arguments.is_none());
        }
        assert!(find(server, &stranger).answer.is_some());
    }
    // The one that erased keeps on keeping; the other one after its index has surely followed.
    servers.keep(&one, 4);
    let dropped = servers.answer(5);
    keep(&other, &dropped);
    assert_eq!(other.find("r5", dropped.at).unwrap(), None);
    servers.clock.advance(Duration::from_secs(11));
    servers.keep(&other, 6);
    // All tenants at once.
    other.erase(None).unwrap();
    servers.tick();
    assert_eq!(servers.texts(), "");
    assert!(find(&one, &stranger).is_erased);
    servers.keep(&other, 7);
    let dropped = StoredAnswer { tenant: "new".to_owned(), ..servers.answer(8) };
    keep(&one, &dropped);
    assert_eq!(one.find("r8", dropped.at).unwrap(), None);
}

#[test]
fn what_was_being_answered_during_an_erasure_is_not_kept() {
    let servers = Servers::new();
    let [one, other] = [0, 1].map(|_| servers.server(&config(7, 100)));
    // Neither has kept anything of this tenant yet.
    let [here, there] = [servers.answer(1), servers.answer(2)];
    servers.tick();
    one.erase(Some("acme")).unwrap();
    servers.tick();
    keep(&one, &here);
    keep(&other, &there);
    for (server, answer) in [(&one, &here), (&other, &there)] {
        assert_eq!(server.find(&answer.request, answer.at).unwrap(), None);
    }
    // A server that starts later was told of nothing by halves.
    let third = servers.server(&config(7, 100));
    servers.keep(&third, 3);
    // One that has an answer on its way when it is erased elsewhere.
    servers.clock.advance(Duration::from_secs(11));
    servers.keep(&other, 4);
    let on_its_way = servers.answer(5);
    keep(&other, &on_its_way);
    servers.tick();
    third.erase(Some("acme")).unwrap();
    other.find("r5", on_its_way.at).unwrap();
    assert_eq!(servers.texts(), "");
}

#[test]
fn answers_in_a_catalogue_keep_within_their_space() {
    let servers = Servers::new();
    let answers = servers.server(&config(7, 1));
    let large = |n| {
        let value = json!({ "results": [{ "id": "a", "text": "x".repeat(100_000) }] });
        StoredAnswer { answer: Some(value), ..servers.answer(n) }
    };
    let mut kept = vec![];
    for n in 0..40 {
        let one = large(n);
        keep(&answers, &one);
        answers.find(&one.request, one.at).unwrap();
        kept.push(one);
        servers.clock.advance(Duration::from_secs(20 * 60));
    }
    assert!(servers.texts().len() <= 1_300_000, "{}", servers.texts().len());
    assert!(find(&answers, &kept[39]).answer.is_some());
    assert!(find(&answers, &kept[0]).answer.is_none());
    // An hour that would take all of it is cut short.
    for n in 40..80 {
        let one = large(n);
        keep(&answers, &one);
        answers.find(&one.request, one.at).unwrap();
        servers.tick();
    }
    assert!(servers.texts().len() <= 1_300_000, "{}", servers.texts().len());
}

#[test]
fn an_erasure_that_the_catalogue_does_not_take_is_made_when_it_is_back() {
    let servers = Servers::new();
    let objects = Arc::new(Failing { inner: Arc::clone(&servers.catalogue), fails: false.into() });
    let clock = servers.clock.clock();
    let folder = servers.folder.path().join("answers");
    let shared: Arc<dyn Objects> = objects.clone();
    let answers = Answers::in_catalogue(shared, &folder, &config(7, 100), clock).unwrap();
    servers.keep(&answers, 1);
    objects.fails.store(true, std::sync::atomic::Ordering::SeqCst);
    assert!(answers.erase(Some("acme")).is_err());
    assert!(servers.texts().contains("id1"));
    objects.fails.store(false, std::sync::atomic::Ordering::SeqCst);
    assert!(testkit::wait_until(Duration::from_secs(30), || servers.texts().is_empty()));
}

/// Objects that refuse every change for a while.
struct Failing {
    inner: Arc<dyn Catalogue>,
    fails: std::sync::atomic::AtomicBool,
}

impl Objects for Failing {
    fn get_many(&self, kind: &str, ids: &[&str]) -> store::Result<Vec<Option<store::Object>>> {
        self.inner.get_many(kind, ids)
    }

    fn list(&self, page: &ObjectPage) -> store::Result<Vec<store::Object>> {
        self.inner.list(page)
    }

    fn find(&self, kind: &str, lookup: &store::Lookup) -> store::Result<Vec<store::Object>> {
        self.inner.find(kind, lookup)
    }

    fn apply(&self, changes: &[store::Change]) -> store::Result<Vec<u64>> {
        match self.fails.load(std::sync::atomic::Ordering::SeqCst) {
            true => Err(store::Error::Closed),
            false => self.inner.apply(changes),
        }
    }
}
