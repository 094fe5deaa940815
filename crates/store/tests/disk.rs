//! A disk that is full, and one that cannot be written, as the kernel makes them.
//!
//! A child of this test gets a small file system of its own in a user namespace. Where the kernel
//! does not allow that, the injected failures of `crash.rs` are what is left, and this says so.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a helper of tests fails the test")]

mod common;

use std::path::Path;
use std::process::Command;

use common::{check_whole, holding, make, namespace, near, open, open_to_read, try_open};
use store::Error;
use store::conformance::document;

/// Where the child's own file system is mounted; set only for the child.
const MOUNT: &str = "DOWSE_TEST_SMALL_DISK";

/// Runs one of the tests below with a file system of `size` mounted on a folder.
fn run_child(test: &str, size: &str) {
    let folder = tempfile::tempdir().unwrap();
    let executable = std::env::current_exe().unwrap();
    let script =
        "mount -t tmpfs -o size=$1 none \"$2\" || exit 77; exec \"$3\" --exact $4 --nocapture";
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh", size])
        .arg(folder.path())
        .arg(executable)
        .arg(test)
        .env(MOUNT, folder.path())
        .output();
    match output {
        Ok(output) if output.status.success() => {}
        Ok(output) if output.status.code() == Some(101) => {
            let said = String::from_utf8_lossy(&output.stdout);
            panic!("{said}{}", String::from_utf8_lossy(&output.stderr));
        }
        _ => tracing::warn!("no file system of one's own here; `{test}` was not run"),
    }
}

#[test]
fn a_full_disk_is_said_and_nothing_acknowledged_is_lost() {
    run_child("child_on_a_full_disk", "6m");
}

#[test]
fn a_read_only_disk_is_said() {
    run_child("child_on_a_read_only_disk", "64m");
}

#[test]
fn child_on_a_full_disk() {
    let Ok(folder) = std::env::var(MOUNT) else { return };
    let ballast = Path::new(&folder).join("ballast");
    let store = open(&Path::new(&folder).join("store"));
    make(&store);
    fs_err::write(&ballast, vec![0; 1 << 20]).unwrap();
    let mut acknowledged = vec![];
    let mut failure = None;
    for idx in 0..2_000 {
        let id = format!("d{idx}");
        let text = format!("common {}", "word ".repeat(400));
        match store.upsert(&namespace(), &[document(&id, &[&text])]) {
            Ok(_) => acknowledged.push(format!("{id}#0")),
            Err(error) => {
                failure = Some(error);
                break;
            }
        }
    }
    let error = failure.expect("a disk of a few megabytes is full by now");
    let mut cause = &error;
    if let Error::IndexBehind { source, .. } = cause {
        cause = source;
    }
    let is_said = matches!(cause, Error::DiskFull { .. } | Error::Io(_));
    assert!(is_said, "{error:?}");
    assert!(!acknowledged.is_empty());
    // Reading goes on, and with room again so does everything else.
    let found = holding(&store, "common");
    assert!(acknowledged.iter().all(|id| found.contains(id)), "searches see what was acknowledged");
    fs_err::remove_file(&ballast).unwrap();
    store.upsert(&namespace(), &[document("after", &["common after"])]).unwrap();
    let found = holding(&store, "common");
    assert!(found.contains("after#0") && acknowledged.iter().all(|id| found.contains(id)));
    drop(store);
    check_whole(&open(&Path::new(&folder).join("store")));
}

#[test]
fn child_on_a_read_only_disk() {
    let Ok(folder) = std::env::var(MOUNT) else { return };
    let store_folder = Path::new(&folder).join("store");
    let store = open(&store_folder);
    make(&store);
    store.upsert(&namespace(), &[document("a", &["common"])]).unwrap();
    drop(store);
    let remount = |how: &str| {
        let status = Command::new("mount").args(["-o", how, "none"]).arg(&folder).status().unwrap();
        assert!(status.success());
    };
    remount("remount,ro");
    assert!(matches!(try_open(&store_folder), Err(Error::ReadOnly { .. })));
    let reading = open_to_read(&store_folder).unwrap();
    assert_eq!(holding(&reading, "common").len(), 1);
    assert!(near(&reading).is_empty());
    assert!(matches!(
        reading.upsert(&namespace(), &[document("b", &["common"])]),
        Err(Error::ReadOnly { .. })
    ));
    drop(reading);
    let elsewhere = Path::new(&folder).join("new");
    assert!(matches!(try_open(&elsewhere), Err(Error::ReadOnly { .. })));
    remount("remount,rw");
    check_whole(&open(&store_folder));
}
