//! Whatever moment the process dies at, nothing acknowledged is missing, nothing is doubled, and
//! search equals a rebuild from the catalogue.
//!
//! The test runs itself as a child that writes without end and tells each operation before it
//! begins and after it was acknowledged, and kills it.
#![allow(clippy::unwrap_used, reason = "a helper of tests fails the test")]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use common::{alone, check_whole, holding, make, namespace, open};
use model::{DocumentId, PassageId};
use store::Store;
use store::conformance::{document, vector};
use store::failpoint::{self, Failure};

const FOLDER: &str = "DOWSE_TEST_CRASH_FOLDER";
const SEED: &str = "DOWSE_TEST_CRASH_SEED";
const FAILPOINT: &str = "DOWSE_TEST_CRASH_FAILPOINT";
const N_ROUNDS: u64 = 30;
const N_DOCUMENTS: u64 = 8;

/// What the parent knows of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Known {
    Gone,
    Version { version: u64, n_passages: u64 },
}

#[test]
fn killed_at_random_moments() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let mut known = BTreeMap::new();
    let mut random = Random(42);
    for round in 0..N_ROUNDS {
        let n_lines = 1 + random.below(30);
        let n_spins = random.below(20_000);
        let lines = run_child(folder.path(), round, None, |lines| {
            for _ in 0..n_lines {
                lines.next();
            }
            for _ in 0..n_spins {
                std::hint::spin_loop();
            }
        });
        let in_flight = follow(&mut known, &lines);
        let store = open(folder.path());
        check(&store, &mut known, in_flight.as_ref());
    }
}

#[test]
fn dead_at_every_step_of_a_commit() {
    let _alone = alone();
    for name in failpoint::ALL {
        let folder = tempfile::tempdir().unwrap();
        let mut known = BTreeMap::new();
        let lines =
            run_child(folder.path(), 7, Some(name), |lines| while lines.next().is_some() {});
        assert!(!lines.is_empty(), "`{name}` was reached too early");
        let in_flight = follow(&mut known, &lines);
        let store = open(folder.path());
        check(&store, &mut known, in_flight.as_ref());
    }
}

#[test]
fn failing_at_every_step_of_a_commit() {
    let _alone = alone();
    for failure in [Failure::Error, Failure::DiskFull] {
        for name in failpoint::ALL {
            let folder = tempfile::tempdir().unwrap();
            let store = open(folder.path());
            make(&store);
            let namespace = namespace();
            store.upsert(&namespace, &[document("a", &["common old", "common old"])]).unwrap();
            store.set_vectors(&namespace, &[(PassageId::new("a#0"), vector(0, 0.1))]).unwrap();
            failpoint::arm(name, 0, failure);
            let changed = store.upsert(&namespace, &[document("a", &["common new"])]);
            let vectors = [(PassageId::new("a#0"), vector(1, 0.1))];
            let set = store.set_vectors(&namespace, &vectors);
            failpoint::disarm(name);
            assert!(changed.is_ok() || set.is_ok(), "`{name}` fired once");
            // Whatever failed, the next write works and everything fits together again.
            store.upsert(&namespace, &[document("b", &["common other"])]).unwrap();
            check_whole(&store);
            drop(store);
            let store = open(folder.path());
            check_whole(&store);
            assert_eq!(holding(&store, "other"), BTreeSet::from(["b#0".to_owned()]));
        }
    }
}

/// The child's part: does nothing unless a parent started it.
#[test]
fn child_that_writes() {
    let _alone = alone();
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let seed = std::env::var(SEED).unwrap().parse().unwrap();
    let store = open(Path::new(&folder));
    make(&store);
    if let Ok(name) = std::env::var(FAILPOINT) {
        let skip = if name.starts_with("catalogue") { 6 } else { 1 };
        failpoint::arm(&name, skip, Failure::Abort);
    }
    let mut random = Random(seed);
    let namespace = namespace();
    let tell = |line: String| {
        let mut out = std::io::stdout().lock();
        writeln!(out, "@{line}").unwrap();
        out.flush().unwrap();
    };
    for step in 1..400 {
        let version = seed * 1_000 + step;
        let number = random.below(N_DOCUMENTS);
        let id = format!("d{number}");
        if random.below(5) == 0 {
            tell(format!("begin {number} gone 0"));
            store.delete(&namespace, &[DocumentId::new(id)]).unwrap();
            tell(format!("done {number} gone 0"));
            continue;
        }
        let n_passages = random.below(4);
        let text = format!("common {}", word(version));
        let texts = vec![text.as_str(); n_passages as usize];
        tell(format!("begin {number} {version} {n_passages}"));
        store.upsert(&namespace, &[document(&id, &texts)]).unwrap();
        tell(format!("done {number} {version} {n_passages}"));
        let waiting = store.passages_without_vectors(&namespace, 3).unwrap();
        let vectors: Vec<_> = waiting
            .iter()
            .map(|passage| (passage.id().clone(), vector(random.below(8) as usize, 0.2)))
            .collect();
        store.set_vectors(&namespace, &vectors).unwrap();
        if step % 10 == 0 {
            store.maintain().unwrap();
        }
    }
}

fn run_child(
    folder: &Path,
    seed: u64,
    failpoint: Option<&str>,
    watch: impl FnOnce(&mut dyn Iterator<Item = String>),
) -> Vec<String> {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "child_that_writes", "--nocapture"])
        .env(FOLDER, folder)
        .env(SEED, seed.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    if let Some(failpoint) = failpoint {
        command.env(FAILPOINT, failpoint);
    }
    let mut child = command.spawn().unwrap();
    let mut seen = vec![];
    let output = BufReader::new(child.stdout.take().unwrap());
    let mut lines = output
        .lines()
        .map_while(Result::ok)
        .filter_map(|line| line.split_once('@').map(|(_, told)| told.to_owned()))
        .inspect(|line| seen.push(line.clone()));
    watch(&mut lines);
    // On Unix this is SIGKILL; a child that is dead already does not mind.
    let _ = child.kill();
    for _ in lines.by_ref() {}
    drop(lines);
    child.wait().unwrap();
    seen
}

/// Follows what the child told; gives the operation that was begun and not acknowledged.
fn follow(known: &mut BTreeMap<u64, Known>, lines: &[String]) -> Option<(u64, Known)> {
    let mut in_flight = None;
    for line in lines {
        let parts: Vec<&str> = line.split(' ').collect();
        let [verb, number, version, n_passages] = parts[..] else { continue };
        let number = number.parse().unwrap();
        let told = match version {
            "gone" => Known::Gone,
            version => Known::Version {
                version: version.parse().unwrap(),
                n_passages: n_passages.parse().unwrap(),
            },
        };
        if verb == "begin" {
            in_flight = Some((number, told));
        } else {
            known.insert(number, told);
            in_flight = None;
        }
    }
    in_flight
}

fn check(store: &Store, known: &mut BTreeMap<u64, Known>, in_flight: Option<&(u64, Known)>) {
    if store.namespace(&namespace()).unwrap().is_none() {
        assert!(known.is_empty(), "the namespace is gone");
        return;
    }
    for number in 0..N_DOCUMENTS {
        let expected = known.get(&number).cloned().unwrap_or(Known::Gone);
        let possible = in_flight.filter(|(other, _)| *other == number).map(|(_, known)| known);
        let is_so = |known: &Known| match known {
            Known::Gone => {
                let id = DocumentId::new(format!("d{number}"));
                store.document(&namespace(), &id).unwrap().is_none()
            }
            Known::Version { version, n_passages } => {
                let wanted: BTreeSet<String> =
                    (0..*n_passages).map(|at| format!("d{number}#{at}")).collect();
                let id = DocumentId::new(format!("d{number}"));
                let kept = store.document(&namespace(), &id).unwrap();
                kept.is_some_and(|kept| kept.n_passages as u64 == *n_passages)
                    && holding(store, &word(*version)) == wanted
            }
        };
        match possible {
            Some(possible) if is_so(possible) => {
                known.insert(number, possible.clone());
            }
            _ => assert!(is_so(&expected), "document {number} is not {expected:?}"),
        }
    }
    check_whole(store);
}

/// Gives a word of letters alone for a number, which no analyser takes apart or stems.
fn word(mut number: u64) -> String {
    let mut word = "zq".to_owned();
    while number > 0 {
        word.push(['k', 'm', 'p', 'r', 't', 'v', 'w', 'x'][(number % 8) as usize]);
        number /= 8;
    }
    word.push_str("qz");
    word
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}
