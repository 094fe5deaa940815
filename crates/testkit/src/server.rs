//! The real binary as a server: started, waited for, and ended with the value.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use crate::Http;

/// How long a server may take until it listens.
const START_TIMEOUT: Duration = Duration::from_secs(60);
/// How long a server may take until it is ready, indexes opened and all.
const READY_TIMEOUT: Duration = Duration::from_secs(120);
/// How long a server may take to end after it was asked to.
const STOP_TIMEOUT: Duration = Duration::from_secs(30);
/// How often a waiting test looks again.
const POLL: Duration = Duration::from_millis(20);
/// What the binary prints to stderr before its address.
const LISTENING: &str = "listening on http://";

/// A running server. Dropping it kills the process.
#[derive(Debug)]
pub struct Server {
    child: Child,
    http: Http,
    stderr: Arc<Mutex<String>>,
}

impl Server {
    /// Starts the binary with these arguments and waits for its address on stderr.
    #[track_caller]
    pub fn start(binary: impl AsRef<OsStr>, arguments: &[&str]) -> Self {
        let mut command = Command::new(binary);
        command.args(arguments);
        Server::start_command(command)
    }

    /// Starts `dowse serve` with a configuration file, on a port of its own choice.
    #[track_caller]
    pub fn start_with_config(binary: impl AsRef<OsStr>, config: &Path) -> Self {
        let mut command = Command::new(binary);
        command.arg("serve").arg("--config").arg(config).args(["--listen", "127.0.0.1:0"]);
        Server::start_command(command)
    }

    /// Starts a prepared command (environment, folder) and waits for its address on stderr.
    #[track_caller]
    pub fn start_command(command: Command) -> Self {
        Server::try_start(command).unwrap_or_else(|reason| panic!("{reason}"))
    }

    /// Starts a prepared command, and says what it printed if it does not come to listen.
    pub fn try_start(mut command: Command) -> Result<Self, String> {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child =
            command.spawn().map_err(|error| format!("cannot start {command:?}: {error}"))?;
        let pipe = child.stderr.take().expect("stderr was asked for");
        let stderr = Arc::new(Mutex::new(String::new()));
        let (address, addresses) = mpsc::channel();
        let log = Arc::clone(&stderr);
        thread::spawn(move || {
            for line in BufReader::new(pipe).lines().map_while(Result::ok) {
                if let Some(found) = address_in(&line) {
                    // Only the first address is waited for.
                    let _ = address.send(found.to_owned());
                }
                let mut log = log.lock().expect("the log's lock is never poisoned");
                log.push_str(&line);
                log.push('\n');
            }
        });
        match addresses.recv_timeout(START_TIMEOUT) {
            Ok(address) => Ok(Server { child, http: Http::new(&address), stderr }),
            Err(_) => {
                // The process may be gone already, which is one reason to come here.
                let _ = child.kill();
                let status = child.wait();
                let printed = stderr.lock().expect("the log's lock is never poisoned").clone();
                Err(format!("the server did not listen ({status:?}); it printed:\n{printed}"))
            }
        }
    }

    /// Gives a client for the server's address.
    pub fn http(&self) -> &Http {
        &self.http
    }

    /// Gives the address of a path.
    pub fn url(&self, path: &str) -> String {
        self.http.url(path)
    }

    /// Gives the process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Gives what the server has printed to stderr so far.
    pub fn stderr(&self) -> String {
        self.stderr.lock().expect("the log's lock is never poisoned").clone()
    }

    /// Waits until `/readyz` answers 200.
    #[track_caller]
    pub fn wait_until_ready(&self) {
        let is_ready = crate::wait_until(READY_TIMEOUT, || self.http.get("/readyz").status == 200);
        assert!(is_ready, "the server is not ready; it printed:\n{}", self.stderr());
    }

    /// Waits until stderr holds a text, and tells whether it came in time.
    pub fn wait_for_log(&self, text: &str) -> bool {
        crate::wait_until(START_TIMEOUT, || self.stderr().contains(text))
    }

    /// Sends a signal, such as `rustix::process::Signal::HUP`.
    pub fn signal(&self, signal: rustix::process::Signal) {
        assert!(crate::signals::send(self.child.id(), signal), "the server does not run any more");
    }

    /// Asks the server to end (SIGTERM) and gives its exit status.
    #[track_caller]
    pub fn stop(mut self) -> ExitStatus {
        self.signal(rustix::process::Signal::TERM);
        let asked = Instant::now();
        while asked.elapsed() < STOP_TIMEOUT {
            if let Some(status) = self.child.try_wait().expect("a child can be waited for") {
                return status;
            }
            thread::sleep(POLL);
        }
        panic!("the server did not end; it printed:\n{}", self.stderr());
    }

    /// Kills the server at once (SIGKILL), as a power cut would.
    pub fn kill(mut self) {
        self.child.kill().expect("the server still runs");
        self.child.wait().expect("a killed child can be waited for");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A server that was stopped is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Finds the address in a line of stderr, whatever the log format around it.
fn address_in(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once(LISTENING)?;
    let end = rest.find(|c: char| c.is_whitespace() || "\"',/\u{1b}".contains(c));
    Some(&rest[..end.unwrap_or(rest.len())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_is_found_in_every_log_format() {
        let check = |line, expected| assert_eq!(address_in(line), expected, "{line}");
        check("listening on http://127.0.0.1:7700", Some("127.0.0.1:7700"));
        check("INFO serve: listening on http://[::1]:80/ now", Some("[::1]:80"));
        check(r#"{"message":"listening on http://127.0.0.1:1"}"#, Some("127.0.0.1:1"));
        check("listening", None);
    }

    #[test]
    fn server_that_ends_early_shows_what_it_printed() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo 'unknown key `roost`' >&2; exit 2"]);
        let reason = Server::try_start(command).unwrap_err();
        assert!(reason.contains("unknown key `roost`"), "{reason}");
    }

    #[test]
    fn stop_gives_the_exit_status() {
        let script = "trap 'exit 7' TERM; echo 'listening on http://127.0.0.1:1' >&2; while :; do sleep 0.05; done";
        let server = Server::start("sh", &["-c", script]);
        assert_eq!(server.http().authority(), "127.0.0.1:1");
        assert_eq!(server.stop().code(), Some(7));
    }
}
