//! Proves, with faults of bounded time, that: another server finishes what a killed one had taken, and
//! nothing acknowledged is lost or done twice, wherever uploads are; a database that is restarted,
//! killed or hangs under load costs writes for a while, each with its sentence and when to try again, and no
//! restart; a server that was stopped for long catches up, says so, and spoils nothing; clocks that
//! are hours apart take no job from a server that lives, and hand over those of one that does not.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use testkit::Folder;

use super::{Bed, Collection, LEASE_SECONDS, Member, is_long};

/// What a write says while the store cannot be reached.
const SENTENCE: &str = "Failed to connect to api-admin service";

fn a_killed_server_is_finished_by_another(bed: &Bed) {
    let n_rounds = if is_long() { 5 } else { 1 };
    let mut members = bed.start_many(2);
    for round in 0..n_rounds {
        let collection = members[1].collection();
        let text = |n: usize| format!("Report number{n} of round{round} about the harbour.");
        // All of them come to the first server, which is killed while it works on them.
        let ids: Vec<String> =
            (0..30).map(|n| members[0].add(&collection, &format!("t{n}"), &text(n))).collect();
        members[0].kill();
        let survivor = &members[1];
        survivor.wait_until_ready(&ids);
        assert_eq!(survivor.n_documents(&collection), 30);
        for (n, id) in ids.iter().enumerate() {
            survivor.assert_once(id);
            assert_eq!(survivor.original(id).text(), text(n));
        }
        survivor.wait_until("not all are found", || {
            survivor.found(&collection, "harbour report").len() == 30
        });
        members[0].start_again();
        let (again, survivor) = (&members[0], &members[1]);
        again.wait_until("it does not catch up", || {
            again.found(&collection, "harbour report")
                == survivor.found(&collection, "harbour report")
        });
    }
}

#[test]
fn another_server_finishes_what_a_killed_one_took_with_uploads_in_postgres() {
    let Some(bed) = Bed::embedded() else { return };
    a_killed_server_is_finished_by_another(&bed);
    // Originals are in the database, and nowhere else.
    let n_files = bed.postgres.run("SELECT count(DISTINCT file) FROM dowse.pieces");
    assert!(n_files.trim().parse::<usize>().unwrap() >= 30, "{n_files}");
}

#[test]
fn another_server_finishes_what_a_killed_one_took_with_uploads_in_a_shared_folder() {
    let Some(mut bed) = Bed::embedded() else { return };
    let shared = Folder::new();
    bed.more = format!("uploads = {:?}\n", shared.path());
    a_killed_server_is_finished_by_another(&bed);
    assert_eq!(bed.postgres.run("SELECT count(*) FROM dowse.pieces").trim(), "0");
    let n_folders = fs_err::read_dir(shared.path()).unwrap().count();
    assert!(n_folders > 0, "originals are in the shared folder");
}

#[test]
fn another_server_finishes_what_a_killed_one_took_over_qdrant() {
    let Some(bed) = Bed::qdrant(1) else { return };
    a_killed_server_is_finished_by_another(&bed);
}

/// Writers of all servers, until they are told to stop; what was acknowledged is remembered.
struct Load {
    acknowledged: Mutex<Vec<String>>,
    n_refused: AtomicUsize,
    is_over: AtomicBool,
}

impl Load {
    fn new() -> Self {
        Load {
            acknowledged: Mutex::default(),
            n_refused: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
        }
    }

    fn run(&self, member: &Member, collection: &Collection, name: &str) {
        let mut n = 0;
        while !self.is_over.load(Ordering::Relaxed) {
            n += 1;
            let text = format!("A storm report of {name}, number{n}.");
            let answer = member.try_add(collection, &format!("{name}-{n}"), &text);
            match answer.status {
                202 => {
                    let id = answer.json()["id"].as_str().unwrap().to_owned();
                    self.acknowledged.lock().unwrap().push(id);
                }
                503 => {
                    assert_eq!(answer.json()["error"]["message"], SENTENCE, "{}", answer.text());
                    assert_eq!(answer.header("retry-after"), Some("5"), "{}", answer.text());
                    self.n_refused.fetch_add(1, Ordering::Relaxed);
                }
                _ => panic!("{} {}", answer.status, answer.text()),
            }
        }
    }

    fn n_acknowledged(&self) -> usize {
        self.acknowledged.lock().unwrap().len()
    }

    /// Waits until more was acknowledged than so far.
    #[track_caller]
    fn wait_for_more(&self, member: &Member) {
        let before = self.n_acknowledged();
        member.wait_until("nothing is taken any more", || self.n_acknowledged() > before);
    }
}

/// Ends a load also when the test fails meanwhile.
struct EndOfLoad<'a>(&'a Load);

impl Drop for EndOfLoad<'_> {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_database_that_is_restarted_killed_or_hangs_costs_writes_for_a_while_and_no_restart() {
    let Some(mut bed) = Bed::embedded() else { return };
    let members = bed.start_many(2);
    let collection = members[0].collection();
    let load = Load::new();
    let faults: &[&str] = match is_long() {
        true => &["stop", "kill", "hang", "stop", "kill", "hang"],
        false => &["stop", "kill", "hang"],
    };
    std::thread::scope(|scope| {
        let _end = EndOfLoad(&load);
        for (idx, member) in members.iter().enumerate() {
            let (load, collection) = (&load, &collection);
            scope.spawn(move || load.run(member, collection, &format!("writer{idx}")));
        }
        for fault in faults {
            load.wait_for_more(&members[0]);
            match *fault {
                "stop" => bed.postgres.stop(),
                "hang" => bed.postgres.hang(),
                _ => bed.postgres.kill(),
            }
            for member in &members {
                member.wait_until("it still says that it is ready", || {
                    member.http().get("/readyz").status == 503
                });
                let ready = member.http().get("/readyz").json();
                assert_eq!(ready["reads"], false, "{ready}");
                assert_eq!(ready["degraded"][0]["what"], "catalogue", "{ready}");
                let answer = member.search(&collection, "storm");
                assert_eq!(answer.status, 503, "{}", answer.text());
                assert_eq!(answer.json()["error"]["message"], SENTENCE);
                // What asks every source says which one is missing, and answers from the others.
                let call = serde_json::json!({ "query": "storm" });
                let everywhere = member.http().post_json("/v1/call/search", &call);
                assert_eq!(everywhere.status, 200, "{}", everywhere.text());
                assert!(everywhere.text().contains(SENTENCE), "{}", everywhere.text());
            }
            let before = load.n_refused.load(Ordering::Relaxed);
            members[0].wait_until("no write was refused", || {
                load.n_refused.load(Ordering::Relaxed) > before
            });
            match *fault {
                "hang" => bed.postgres.go_on(),
                _ => bed.postgres.start_again(),
            }
            for member in &members {
                member.wait_until("it does not recover", || {
                    member.http().get("/readyz").status == 200
                });
            }
            load.wait_for_more(&members[0]);
        }
    });
    let acknowledged = load.acknowledged.into_inner().unwrap();
    members[0].wait_until_ready(&acknowledged);
    for id in &acknowledged {
        members[1].assert_once(id);
    }
    // What was not acknowledged may have been stored as well: the answer could not be given.
    assert!(members[1].n_documents(&collection) >= acknowledged.len() as u64);
}

#[test]
fn a_server_that_starts_before_its_database_says_so_and_begins_when_it_is_there() {
    let Some(mut bed) = Bed::embedded() else { return };
    bed.postgres.stop();
    let early = bed.start();
    let ready = early.http().get("/readyz");
    assert_eq!(ready.status, 503, "{}", ready.text());
    let ready = ready.json();
    assert_eq!((&ready["reads"], &ready["writes"]), (&false.into(), &false.into()), "{ready}");
    assert_eq!(ready["degraded"][0]["what"], "catalogue", "{ready}");
    // A database that nobody has asked yet is not to be restored from a backup.
    let hint = ready["degraded"][0]["hint"].as_str().unwrap_or_default().to_owned();
    assert!(hint.contains("start the PostgreSQL") && !hint.contains("restore"), "{hint}");
    assert_eq!(early.http().get("/healthz").status, 200);
    let call = serde_json::json!({ "query": "storm" });
    let refused = early.http().post_json("/v1/call/search", &call);
    assert_eq!(refused.status, 503, "{}", refused.text());
    assert_eq!(refused.header("retry-after"), Some("5"));
    assert_eq!(refused.json()["error"]["message"], SENTENCE);

    bed.postgres.start_again();
    early.wait_until("it does not begin", || early.http().get("/readyz").status == 200);
    let collection = early.collection();
    let id = early.add(&collection, "after", "The harbour after the storm.");
    early.wait_until_ready(std::slice::from_ref(&id));
    early.wait_until("it is not found", || early.found(&collection, "harbour").len() == 1);

    // One that is told to stop while it waits stops.
    bed.postgres.stop();
    let never = bed.start();
    assert_eq!(never.http().get("/readyz").status, 503);
    assert!(never.server.stop().success());
}

#[test]
fn a_server_that_was_stopped_for_long_catches_up_says_so_and_spoils_nothing() {
    let Some(bed) = Bed::embedded() else { return };
    let members = bed.start_many(2);
    let (sleeper, other) = (&members[0], &members[1]);
    let collection = other.collection();
    let first = other.add(&collection, "before", "The harbour before the storm.");
    for member in &members {
        member.wait_until_ready(std::slice::from_ref(&first));
        member.wait_until("it is not found", || member.found(&collection, "harbour").len() == 1);
    }
    // It may have begun a job on some of these when it is stopped; the other one goes on with them.
    let mut ids: Vec<String> = (0..10)
        .map(|n| sleeper.add(&collection, &format!("s{n}"), &format!("Storm{n} over the harbour.")))
        .collect();
    sleeper.server.signal(rustix::process::Signal::STOP);
    let stopped = Instant::now();
    ids.extend(
        (0..10)
            .map(|n| other.add(&collection, &format!("o{n}"), &format!("Calm{n} in the harbour."))),
    );
    other.wait_until_ready(&ids);
    // Longer than the bound on the lag and than several leases.
    let long = Duration::from_secs(if is_long() { 60 } else { 12 }.max(3 * LEASE_SECONDS));
    assert!(testkit::wait_until(2 * long, || stopped.elapsed() >= long));
    sleeper.server.signal(rustix::process::Signal::CONT);
    sleeper.wait_until("it does not catch up", || {
        sleeper.found(&collection, "harbour") == other.found(&collection, "harbour")
    });
    assert_eq!(other.n_documents(&collection), 21);
    for id in &ids {
        other.assert_once(id);
    }
    sleeper.wait_until("it still counts a lag", || {
        sleeper.metric("dowse_index_lag_changes") == Some(0.0)
            && sleeper.metric("dowse_follower_lag_seconds").is_some_and(|lag| lag < 10.0)
    });
}

#[test]
fn a_server_that_is_cut_off_from_its_database_says_so_and_comes_back() {
    let Some(mut bed) = Bed::embedded() else { return };
    let proxy = testkit::Proxy::start(bed.postgres.port());
    bed.postgres_url = Some(format!("postgres://postgres@127.0.0.1:{}/postgres", proxy.port()));
    let cut_off = bed.start();
    bed.postgres_url = None;
    let other = bed.start();
    let collection = other.collection();
    let first = other.add(&collection, "before", "The harbour before the cut.");
    cut_off.wait_until("it is not found", || cut_off.found(&collection, "harbour").len() == 1);
    proxy.cut();
    let ids: Vec<String> = (0..5)
        .map(|n| other.add(&collection, &format!("t{n}"), &format!("Letter{n} from the harbour.")))
        .collect();
    other.wait_until_ready(&ids);
    cut_off.wait_until("it says that it is ready", || cut_off.http().get("/readyz").status == 503);
    proxy.mend();
    cut_off.wait_until("it does not come back", || cut_off.http().get("/readyz").status == 200);
    cut_off.wait_until("it does not catch up", || cut_off.found(&collection, "harbour").len() == 6);
    other.assert_once(&first);
}

#[test]
fn servers_whose_clocks_are_hours_apart_share_their_jobs() {
    let Some(clock) = testkit::SkewedClock::new() else { return };
    let Some(bed) = Bed::embedded() else { return };
    // By its own clock each lease of the other ended, or will end, hours from now.
    let (ahead, behind) = (bed.start_skewed(&clock, 7_200), bed.start_skewed(&clock, -7_200));
    let collection = ahead.collection();
    let text = |n: usize| format!("Letter number{n} about the harbour.");
    let mut ids: Vec<String> = vec![];
    for n in 0..20 {
        let taken_by = if n % 2 == 0 { &ahead } else { &behind };
        ids.push(taken_by.add(&collection, &format!("t{n}"), &text(n)));
    }
    behind.wait_until_ready(&ids);
    // A job that runs stays where it runs: nothing was done twice.
    for id in &ids {
        behind.assert_once(id);
    }
    let late: Vec<String> =
        (20..40).map(|n| ahead.add(&collection, &format!("t{n}"), &text(n))).collect();
    ahead.kill();
    behind.wait_until_ready(&late);
    for id in &late {
        behind.assert_once(id);
    }
    assert_eq!(behind.n_documents(&collection), 40);
    behind.wait_until("not all are found", || behind.found(&collection, "harbour").len() == 40);
}
