//! A PostgreSQL of the test's own: fresh data folder, free port, gone with the value.

use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::{Folder, bed, free_port};

/// How long the server may take until it answers.
const START_TIMEOUT: Duration = Duration::from_secs(60);
/// How often a waiting test looks again.
const POLL: Duration = Duration::from_millis(50);
/// The user and group `nobody`: PostgreSQL refuses to run as root, which containers often are.
const NOBODY: u32 = 65534;

/// Settings for tests: their data may be lost with the machine, not with the process.
const FOR_TESTS: &[&str] = &["-F", "-c", "full_page_writes=off"];
/// Settings for measurements: as it comes, apart from memory.
const DURABLE: &[&str] = &["-c", "shared_buffers=512MB", "-c", "max_wal_size=4GB"];

/// A running PostgreSQL with `pg_trgm`, `unaccent` and `vector` to be created as extensions.
#[derive(Debug)]
pub struct Postgres {
    server: Child,
    port: u16,
    bin: PathBuf,
    folder: Folder,
    settings: &'static [&'static str],
}

impl Postgres {
    /// Starts a server, or gives `None` where the test bed has no PostgreSQL.
    #[track_caller]
    pub fn start() -> Option<Self> {
        Postgres::start_with(FOR_TESTS)
    }

    /// Starts a server that waits for its disk, as one in production does.
    #[track_caller]
    pub fn start_durable() -> Option<Self> {
        Postgres::start_with(DURABLE)
    }

    #[track_caller]
    fn start_with(settings: &'static [&'static str]) -> Option<Self> {
        let bin = bed::postgres_bin()?;
        let folder = Folder::new();
        if is_root() {
            std::os::unix::fs::chown(folder.path(), Some(NOBODY), Some(NOBODY))
                .expect("root can give a folder away");
        }
        let data = folder.join("data");
        let initdb = unprivileged(&bin.join("initdb"))
            .args(["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8"])
            .args(["--no-sync", "--pgdata"])
            .arg(&data)
            .current_dir(folder.path())
            .output()
            .expect("`initdb` can be started");
        assert!(
            initdb.status.success(),
            "`initdb` failed: {}",
            String::from_utf8_lossy(&initdb.stderr)
        );
        let port = free_port();
        let server = spawn(&bin, folder.path(), port, settings);
        let mut postgres = Postgres { server, port, bin, folder, settings };
        postgres.wait_until_it_answers();
        Some(postgres)
    }

    /// Stops the server in order: it ends its sessions and writes everything down.
    pub fn stop(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.server);
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::INT);
        let _ = self.server.wait();
    }

    /// Kills the server, as when its machine loses power: what it acknowledged is in its log.
    pub fn kill(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }

    /// Lets the server and all its sessions hang: connections stay open, and nobody answers.
    pub fn hang(&self) {
        self.signal_all(rustix::process::Signal::STOP);
    }

    /// Lets the server go on after [`Postgres::hang`].
    pub fn go_on(&self) {
        self.signal_all(rustix::process::Signal::CONT);
    }

    fn signal_all(&self, signal: rustix::process::Signal) {
        let sessions = children_of(self.server.id());
        for process in std::iter::once(self.server.id()).chain(sessions) {
            // A session may have ended by now.
            let _ = crate::signals::send(process, signal);
        }
    }

    /// Starts the server again with its data, on the same port.
    #[track_caller]
    pub fn start_again(&mut self) {
        self.server = spawn(&self.bin, self.folder.path(), self.port, self.settings);
        self.wait_until_it_answers();
    }

    /// Gives the address to connect to.
    pub fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }

    /// Gives where it listens, on loopback alone.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Runs statements through `psql` and gives what it printed, without headings.
    #[track_caller]
    pub fn run(&self, statements: &str) -> String {
        let output = self.psql(statements);
        assert!(output.status.success(), "`psql`: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn psql(&self, statements: &str) -> std::process::Output {
        Command::new(self.bin.join("psql"))
            .args(["--no-psqlrc", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1"])
            .args(["--dbname", &self.url(), "--command", statements])
            .output()
            .expect("`psql` can be started")
    }

    #[track_caller]
    fn wait_until_it_answers(&mut self) {
        let started = Instant::now();
        while started.elapsed() < START_TIMEOUT {
            // After a kill the sessions of the earlier server hold its memory for a moment, and the
            // new one gives up.
            if self.server.try_wait().is_ok_and(|ended| ended.is_some()) {
                self.server = spawn(&self.bin, self.folder.path(), self.port, self.settings);
            }
            if self.psql("SELECT 1").status.success() {
                return;
            }
            thread::sleep(POLL);
        }
        panic!("PostgreSQL did not answer in {} s", START_TIMEOUT.as_secs());
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.go_on();
        // Its own children end when the main process is gone.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Lists the processes that a process has started.
fn children_of(parent: u32) -> Vec<u32> {
    let Ok(entries) = fs_err::read_dir("/proc") else { return vec![] };
    let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_child = |process: &u32| {
        let status = fs_err::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        // The name in brackets may hold spaces; the state and then the parent follow it.
        let after_name = status.rsplit_once(')').map_or("", |(_, rest)| rest);
        after_name.split_whitespace().nth(1).and_then(|id| id.parse().ok()) == Some(parent)
    };
    numbers.filter(is_child).collect()
}

fn spawn(bin: &Path, folder: &Path, port: u16, settings: &[&str]) -> Child {
    unprivileged(&bin.join("postgres"))
        .arg("-D")
        .arg(folder.join("data"))
        .args(["-p", &port.to_string(), "-h", "127.0.0.1", "-k", ""])
        .args(settings)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("`postgres` can be started")
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn unprivileged(program: &Path) -> Command {
    let mut command = Command::new(program);
    if is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_of_the_store_are_there() {
        let Some(postgres) = Postgres::start() else { return };
        postgres
            .run("CREATE EXTENSION pg_trgm; CREATE EXTENSION unaccent; CREATE EXTENSION vector");
        assert_eq!(postgres.run("SELECT unaccent('Cîlnic')").trim(), "Cilnic");
        assert_eq!(postgres.run("SELECT '[1,2]'::vector <-> '[1,4]'").trim(), "2");
    }
}
