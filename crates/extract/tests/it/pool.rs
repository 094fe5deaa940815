//! What the pool promises: a worker answers like the function, is used again, and its death by
//! memory, time or crash is a warning that costs nobody else anything.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use extract::{Caps, Pool, PoolConfig, extract, worker};
use model::ReadOutcome;

use crate::fixtures;

fn pool(n_workers: usize) -> Pool {
    Pool::new(PoolConfig {
        program: PathBuf::from(env!("CARGO_BIN_EXE_extract-worker")),
        arguments: vec![OsString::from(worker::ARGUMENT)],
        n_workers,
    })
}

#[test]
fn a_worker_answers_like_the_function_and_is_used_again() {
    let pool = pool(1);
    for (name, bytes) in fixtures::all() {
        let caps = Caps::standard();
        assert_eq!(pool.extract(&bytes, name, &caps), extract(&bytes, name, &caps), "{name}");
        assert_eq!(pool.n_idle(), 1);
    }
}

#[test]
fn many_callers_share_few_workers() {
    let pool = pool(2);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let (document, _) = pool.extract(&fixtures::docx(), "a.docx", &Caps::standard());
                assert!(!document.blocks.is_empty());
            });
        }
    });
    assert!(pool.n_idle() <= 2);
}

#[test]
fn a_worker_out_of_memory_ends_alone() {
    let pool = pool(1);
    let caps = Caps { memory_bytes: 48 << 20, ..Caps::standard() };
    let text = "words and more words \n\n".repeat(4 << 20);
    let (document, warnings) = pool.extract(text.as_bytes(), "large.txt", &caps);
    assert!(document.blocks.is_empty());
    assert_eq!(warnings[0].code, "memory_cap");
    assert_eq!(document.outcome, ReadOutcome::TooLarge);
    let (document, _) = pool.extract(&fixtures::pdf(), "a.pdf", &Caps::standard());
    assert!(!document.blocks.is_empty());
}

#[test]
fn a_worker_that_hangs_is_killed() {
    // Waits for ever without reading a word.
    let pool = Pool::new(PoolConfig {
        program: PathBuf::from("sleep"),
        arguments: vec![OsString::from("1000")],
        n_workers: 1,
    });
    let caps = Caps { time: Duration::from_millis(10), ..Caps::standard() };
    let (document, warnings) = pool.extract(&fixtures::pdf(), "a.pdf", &caps);
    assert!(document.blocks.is_empty());
    assert_eq!(warnings[0].code, "time_cap");
    assert_eq!(pool.n_idle(), 0);
}

#[test]
fn a_worker_that_dies_or_never_starts_is_told() {
    let of = |program: &str| {
        Pool::new(PoolConfig {
            program: PathBuf::from(program),
            arguments: Vec::new(),
            n_workers: 1,
        })
    };
    let (document, warnings) = of("false").extract(&fixtures::pdf(), "a.pdf", &Caps::standard());
    assert_eq!(warnings[0].code, "worker_died");
    assert_eq!(document.outcome, ReadOutcome::Failed);
    let (_, warnings) =
        of("/no/such/program").extract(&fixtures::pdf(), "a.pdf", &Caps::standard());
    assert_eq!(warnings[0].code, "worker_unavailable");
}

#[test]
fn a_reader_that_panics_is_told_as_such_and_the_worker_lives() {
    let pool = Pool::new(PoolConfig {
        program: PathBuf::from(env!("CARGO_BIN_EXE_extract-worker")),
        arguments: vec![OsString::from("--panic")],
        n_workers: 1,
    });
    for name in ["a.pdf", "b.pdf"] {
        let (document, warnings) = pool.extract(&fixtures::pdf(), name, &Caps::standard());
        assert_eq!((document.outcome, warnings.len()), (ReadOutcome::Failed, 1));
        assert_eq!(warnings[0].code, "parser_panicked");
        let message = &warnings[0].message;
        assert!(message.contains("extract-worker.rs:"), "{message}");
        assert!(message.contains(&format!("no word of `{name}` can be read")), "{message}");
        assert_eq!(pool.n_idle(), 1, "it answers the next request");
    }
}

#[test]
fn files_are_read_from_disk_within_the_cap() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.txt");
    fs_err::write(&path, "Some text.").unwrap();
    let pool = pool(1);
    let (document, warnings) = pool.extract_file(&path, "a.txt", &Caps::standard());
    assert_eq!((document.text().as_str(), warnings.len()), ("Some text.", 0));
    let caps = Caps { input_bytes: 3, ..Caps::standard() };
    assert_eq!(pool.extract_file(&path, "a.txt", &caps).1[0].code, "input_cap");
    let missing = folder.path().join("missing.txt");
    let missing = pool.extract_file(&missing, "missing.txt", &Caps::standard());
    assert_eq!(missing.1[0].code, "unreadable");
    assert_eq!(missing.0.outcome, ReadOutcome::Unreadable);
}

#[test]
fn an_answer_of_many_blocks_is_the_same_from_bytes_and_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.md");
    let long = "x ".repeat(400_000);
    let text: String = (0..5_000).map(|n| format!("Paragraph {n}.\n\n")).collect();
    let text = format!("# Title\n\n{text}{long}\n\nThe end.");
    fs_err::write(&path, &text).unwrap();
    let pool = pool(1);
    let caps = Caps::standard();
    let expected = extract(text.as_bytes(), "long.md", &caps);
    assert!(expected.0.blocks.len() > 5_000);
    assert_eq!(pool.extract(text.as_bytes(), "long.md", &caps), expected);
    // The second time the same worker is asked, from a file that was read before.
    let (file, _) = fs_err::File::open(&path).unwrap().into_parts();
    assert_eq!(pool.extract_open(&file, "long.md", &caps), expected);
    assert_eq!(pool.extract_open(&file, "long.md", &caps), expected);
    assert_eq!(pool.n_idle(), 1);
}

#[test]
fn workers_inherit_no_environment() {
    // The runner of tests sets variables of this kind, as people set keys for a server.
    assert!(std::env::vars_os().any(|(name, _)| name.to_string_lossy().starts_with("CARGO_")));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("environment");
    let pool = Pool::new(PoolConfig {
        program: PathBuf::from("/bin/sh"),
        arguments: vec!["-c".into(), format!("env > '{}'", path.display()).into()],
        n_workers: 1,
    });
    pool.extract(&fixtures::pdf(), "a.pdf", &Caps::standard());
    let inherited = fs_err::read_to_string(&path).unwrap();
    assert!(!inherited.contains("CARGO_") && !inherited.contains("HOME="), "{inherited}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_worker_can_do_nothing_but_read_and_answer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("secret.txt");
    fs_err::write(&path, "a secret").unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let probe = std::process::Command::new(env!("CARGO_BIN_EXE_extract-worker"))
        .args(["--probe", path.to_str().unwrap(), &port])
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    insta::assert_snapshot!(String::from_utf8_lossy(&probe.stdout), @r"
    confined true
    read a file refused
    write a file refused
    remove a file refused
    list a folder refused
    connect refused
    open a datagram socket refused
    start a program refused
    start a thread done
    read a pipe done
    ");
    assert!(path.exists() && !folder.path().join("secret.written").exists());
}

/// A database, a socket or a file with keys that was open in the server, and not marked to be
/// closed, was open in every worker.
#[cfg(target_os = "linux")]
#[test]
fn a_worker_holds_nothing_open_but_its_pipes() {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("secret.txt");
    fs_err::write(&path, "a secret").unwrap();
    // A copy is inherited, unlike what Rust opens.
    let inherited = rustix::io::dup(fs_err::File::open(&path).unwrap()).unwrap();
    let mut probe = Command::new(env!("CARGO_BIN_EXE_extract-worker"))
        .args(["--probe", path.to_str().unwrap(), "1"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    drop(inherited);
    let mut said = BufReader::new(probe.stdout.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    assert_eq!(line, "confined true\n");
    // It waits for the end of its input meanwhile.
    let open = fs_err::read_dir(format!("/proc/{}/fd", probe.id())).unwrap();
    let mut open: Vec<String> =
        open.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    open.sort();
    assert_eq!(open, ["0", "1", "2"]);
    drop(probe.stdin.take());
    probe.wait().unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn the_pool_knows_what_its_workers_are_kept_from() {
    let pool = pool(1);
    assert_eq!(pool.confinement(), None);
    pool.extract(&fixtures::pdf(), "a.pdf", &Caps::standard());
    let confinement = pool.confinement().unwrap();
    assert!(confinement.is_whole(), "workers could still {:?}", confinement.missing());
}
