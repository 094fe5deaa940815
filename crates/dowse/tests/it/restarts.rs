//! A server that is started while the process before it is just ending waits for the data folder,
//! says so, and serves. A process that was told to end in the middle of an index is no crash.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use testkit::{Folder, Server, StdioSession};

use crate::test_server::{PATIENCE, dowse};

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
    fs_err::create_dir_all(folder.join("data/store")).unwrap();
    let lock = fs_err::File::create(folder.join("data/store/lock")).unwrap().into_file();
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

/// Every one of these counted as a crash of the job, which the next start warned of.
#[test]
fn an_index_that_was_stopped_goes_on_without_a_word_of_a_crash() {
    let folder = folder();
    for n in 0..1_500 {
        folder.write(format!("documents/{n}.md"), format!("Crane number {n} is painted.\n"));
    }
    let data = folder.join("data");
    let typed = |word: &str| {
        let mut command = dowse(word);
        command.arg(folder.join("documents")).arg("--no-model").arg("--data-dir").arg(&data);
        command.env("DOWSE_LOG", "warn").current_dir(folder.path());
        command
    };
    let mut session = StdioSession::start(typed("mcp"));
    session.initialize("2025-11-25");
    assert!(session.close().success());
    let mut command = typed("serve");
    command.args(["--listen", "0"]);
    let server = Server::start_command(command);
    assert!(!server.stderr().contains("the process ended"), "{}", server.stderr());
    assert!(server.stop().success());
    let mut command = typed("index");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    // The socket answers once the command can be told to stop.
    let socket = data.join("control.sock");
    let answers = || std::os::unix::net::UnixStream::connect(&socket).is_ok();
    assert!(testkit::wait_until(PATIENCE, answers));
    let id = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    // It may have been done already.
    let is_stopped = said.contains("stopped before everything was indexed");
    assert_eq!(output.status.code(), Some(if is_stopped { 2 } else { 0 }), "{said}");
    let output = typed("index").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && !said.contains("the process ended"), "{said}");
}

/// Ctrl-C killed the process, which counted as a crash of the job that ran.
#[test]
fn a_command_that_adds_documents_and_is_stopped_is_no_crash() {
    let folder = Folder::new();
    folder.write("small.txt", "The harbour crane is painted in May.\n");
    let lines = (0..60_000).map(|n| format!("Crane number {n} is painted again in spring.\n"));
    folder.write("large.txt", lines.collect::<String>());
    let typed = |args: &[&str]| {
        let mut command = dowse("kb");
        command.args(args).arg("--data-dir").arg(folder.join("data"));
        command.env("DOWSE_LOG", "warn").current_dir(folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    };
    assert!(typed(&["create", "Rules"]).status().unwrap().success());
    let mut child = typed(&["add", "Rules", "small.txt", "large.txt"]).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    read_until(&mut lines, "small.txt");
    let id = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    // It may have been done already.
    let is_stopped = said.contains("stopped before everything was done");
    assert_eq!(output.status.code(), Some(if is_stopped { 2 } else { 0 }), "{said}");
    let output = typed(&["add", "Rules", "small.txt"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && !said.contains("the process ended"), "{said}");
}
