//! A server that is started while the process before it is just ending: it waits for the data
//! folder, says so, and serves.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use testkit::{Folder, Server};

use crate::test_server::dowse;

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("documents/plan.md", "The harbour crane is painted in May.\n");
    folder
}

fn serve(folder: &Folder) -> std::process::Command {
    let mut command = dowse("serve");
    command.arg(folder.join("documents")).arg("--no-model").args(["--listen", "0"]);
    command.arg("--data-dir").arg(folder.join("data")).current_dir(folder.path());
    command
}

/// Reads what a process prints until a line has these words.
#[track_caller]
fn read_until(lines: &mut impl Iterator<Item = std::io::Result<String>>, words: &str) {
    let mut said = String::new();
    for line in lines.map_while(Result::ok) {
        said.push_str(&line);
        said.push('\n');
        if line.contains(words) {
            return;
        }
    }
    panic!("it never said `{words}`:\n{said}");
}

/// Ends with the test.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// It failed at once: "is in use by another process".
#[test]
fn a_server_waits_for_the_process_that_has_the_lock() {
    let folder = folder();
    std::fs::create_dir_all(folder.join("data/store")).unwrap();
    let lock = std::fs::File::create(folder.join("data/store/lock")).unwrap();
    lock.lock().unwrap();
    let mut command = serve(&folder);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = Ended(command.spawn().unwrap());
    let mut lines = BufReader::new(child.0.stderr.take().unwrap()).lines();
    read_until(&mut lines, "waiting for another process");
    drop(lock);
    read_until(&mut lines, "listening on http://");
}

/// The next server is there before the signal is, or before the one before it has ended.
#[test]
fn a_server_is_replaced_at_once() {
    let folder = folder();
    let mut before = Server::start_command(serve(&folder));
    for _ in 0..3 {
        before.signal(rustix::process::Signal::TERM);
        let next = Server::try_start(serve(&folder)).unwrap_or_else(|reason| panic!("{reason}"));
        assert!(before.stop().success());
        before = next;
    }
    assert!(before.stop().success());
}
