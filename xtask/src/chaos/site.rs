//! Where the server runs: a folder, on a small disk of its own where the system lets us have one.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::Context;
use testkit::{Folder, Http, Request, Server};

use super::ledger::send;
use super::upstreams::Upstreams;

/// The size of the small disk.
const DISK: &str = "size=96m";

/// What a configuration needs for these rounds: no rate, and few kept answers, which would fill the
/// small disk.
const CONFIG: &str = "data_dir = \"disk/data\"\n\
    [limits]\nrate_per_minute = { default = 1000000, rest = 1000000 }\n\
    [audit]\nkeep_answers_mb = 4\n";

/// The last lines of the server that a failed round shows.
const TOLD_LINES: usize = 200;

/// A server that is started and ended again and again over the same data.
pub(crate) struct Site {
    binary: PathBuf,
    folder: Folder,
    /// A process that keeps the namespace with the small disk.
    disk: Option<Child>,
    upstreams: Upstreams,
    server: Option<Server>,
}

impl Site {
    /// Prepares the folder and starts the server.
    pub(crate) fn open(binary: &Path) -> anyhow::Result<Site> {
        let folder = Folder::new();
        fs_err::create_dir_all(folder.join("disk"))?;
        let disk = small_disk(&folder.join("disk"));
        let (binary, upstreams) = (binary.to_owned(), Upstreams::start());
        let mut site = Site { binary, folder, disk, upstreams, server: None };
        site.touch_configuration(0);
        site.start()?;
        Ok(site)
    }

    pub(crate) fn has_small_disk(&self) -> bool {
        self.disk.is_some()
    }

    /// Gives the folder of the disk, as the server and its commands see it.
    pub(crate) fn disk_inside(&self) -> PathBuf {
        self.folder.join("disk")
    }

    /// Gives the folder of the disk, as this process sees it.
    pub(crate) fn disk(&self) -> PathBuf {
        let inside = self.disk_inside();
        match &self.disk {
            Some(keeper) => {
                let root = PathBuf::from(format!("/proc/{}/root", keeper.id()));
                root.join(inside.strip_prefix("/").unwrap_or(&inside))
            }
            None => inside,
        }
    }

    /// Gives the data folder, as this process sees it.
    pub(crate) fn data(&self) -> PathBuf {
        self.disk().join("data")
    }

    pub(crate) fn http(&self) -> anyhow::Result<Http> {
        Ok(self.server.as_ref().context("the server is down")?.http().clone())
    }

    /// Prepares a command of the binary, where the disk can be seen.
    pub(crate) fn command(&self, subcommand: &str) -> Command {
        let mut command = match &self.disk {
            None => Command::new(&self.binary),
            Some(keeper) => {
                let mut command = Command::new("nsenter");
                command
                    .args(["--preserve-credentials", "--user", "--mount", "--target"])
                    .arg(keeper.id().to_string())
                    .arg(&self.binary);
                command
            }
        };
        command.arg(subcommand).arg("--config").arg(self.folder.join("dowse.toml"));
        command
    }

    /// Starts the server, which must come up whatever happened before.
    pub(crate) fn start(&mut self) -> anyhow::Result<()> {
        let server = Server::try_start(self.serve()).map_err(|reason| anyhow::anyhow!(reason))?;
        server.wait_until_ready();
        self.server = Some(server);
        Ok(())
    }

    /// Prepares to start the server.
    pub(crate) fn serve(&self) -> Command {
        let mut command = self.command("serve");
        command.args(["--listen", "127.0.0.1:0"]);
        command
    }

    /// Takes a server that was started elsewhere.
    pub(crate) fn take(&mut self, server: Server) {
        self.server = Some(server);
    }

    /// Gives the process of the server.
    pub(crate) fn process(&self) -> anyhow::Result<u32> {
        Ok(self.server.as_ref().context("the server is down")?.id())
    }

    pub(crate) fn upstreams(&self) -> &Upstreams {
        &self.upstreams
    }

    pub(crate) fn upstreams_mut(&mut self) -> &mut Upstreams {
        &mut self.upstreams
    }

    /// Ends the server without a word.
    pub(crate) fn kill(&mut self) {
        if let Some(server) = self.server.take() {
            server.kill();
        }
    }

    /// Asks the server to end, and waits until it has.
    pub(crate) fn stop(&mut self) {
        if let Some(server) = self.server.take() {
            server.stop();
        }
    }

    /// Sends the server a signal.
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        if let Some(server) = &self.server {
            server.signal(signal);
        }
    }

    /// Prints what is known of the server: a failed round is gone with its folder.
    pub(crate) fn tell(&self) {
        let Some(server) = &self.server else { return };
        for path in ["/v1/jobs", "/readyz"] {
            let request = Request::new("GET", path);
            if let Some(answer) = send(server.http(), &request) {
                eprintln!("{path}: {}", answer.text());
            }
        }
        let printed = server.stderr();
        let skipped = printed.lines().count().saturating_sub(TOLD_LINES);
        for line in printed.lines().skip(skipped) {
            eprintln!("server: {line}");
        }
        if let Ok(threads) = fs_err::read_dir(format!("/proc/{}/task", server.id())) {
            for thread in threads.flatten() {
                let read = |name| fs_err::read_to_string(thread.path().join(name));
                let (name, stat) = (read("comm"), read("stat"));
                let (name, stat) = (name.unwrap_or_default(), stat.unwrap_or_default());
                let state = stat.rsplit(") ").next().and_then(|rest| rest.chars().next());
                eprintln!("thread {}: {}", name.trim(), state.unwrap_or('?'));
            }
        }
    }

    /// Writes the configuration again, which makes the server read it.
    pub(crate) fn touch_configuration(&self, comment: u64) {
        let text = format!("# {comment}\n{CONFIG}{}", self.upstreams.config());
        self.folder.write("dowse.toml", text);
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.kill();
        if let Some(keeper) = &mut self.disk {
            let _ = keeper.kill();
            let _ = keeper.wait();
        }
    }
}

/// Mounts a small disk in a namespace of its own, and gives the process that keeps it.
fn small_disk(folder: &Path) -> Option<Child> {
    let script =
        format!("mount -t tmpfs -o {DISK} none \"$0\" && echo mounted && exec sleep 86400");
    let mut keeper = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", &script])
        .arg(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut line = String::new();
    let mounted = keeper.stdout.take().map(|pipe| BufReader::new(pipe).read_line(&mut line));
    if matches!(mounted, Some(Ok(_))) && line.trim() == "mounted" {
        return Some(keeper);
    }
    let _ = keeper.kill();
    let _ = keeper.wait();
    None
}
