//! A line from commands to the server that has the data folder open: a socket in that folder,
//! which only its owner may enter.
//!
//! A command sends one line, `backup` or `check`. The answer is a line of JSON, `{"ok": true}`
//! or `{"error": "…"}`; after it, for a backup, the archive up to the end.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::Context;
use serde::{Deserialize, Serialize};

/// The socket.
const SOCKET: &str = "control.sock";

/// Longer paths of sockets are not possible.
const MAX_SOCKET_PATH: usize = 100;

/// Commands served at the same time.
const MAX_COMMANDS: usize = 4;

/// The longest request line.
const MAX_REQUEST_BYTES: u64 = 256;

/// How long the other side may take for the next bytes.
const PATIENCE: Duration = Duration::from_secs(600);

/// What a command asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Command {
    /// An archive of everything.
    Backup,
    /// What is wrong with what is kept, as lines.
    Check,
}

impl Command {
    fn as_str(self) -> &'static str {
        match self {
            Command::Backup => "backup",
            Command::Check => "check",
        }
    }
}

/// The first line of an answer.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Answer {
    #[serde(default)]
    ok: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Does a command, and writes what follows the first line. It writes nothing when it fails.
pub(crate) type Serve = dyn Fn(Command, &mut dyn FnMut() -> std::io::Result<UnixStream>) -> anyhow::Result<()>
    + Send
    + Sync;

/// Listens until the process ends.
pub(crate) fn listen(data_dir: &Path, serve: Arc<Serve>) -> anyhow::Result<()> {
    let Some(path) = socket_path(data_dir) else {
        tracing::warn!(
            "the path of `data_dir` is too long for a socket: stop the server for `dowse backup`"
        );
        return Ok(());
    };
    // Whoever holds the data folder owns the socket: one that is there is left from before.
    let _ = fs_err::remove_file(&path);
    let listener = UnixListener::bind(&path)
        .with_context(|| format!("cannot listen on `{}`", path.display()))?;
    let n_commands = Arc::new(AtomicUsize::new(0));
    std::thread::Builder::new().name("control".to_owned()).spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            if n_commands.fetch_add(1, Ordering::AcqRel) >= MAX_COMMANDS {
                n_commands.fetch_sub(1, Ordering::AcqRel);
                continue;
            }
            let (serve, n_commands) = (Arc::clone(&serve), Arc::clone(&n_commands));
            let worker = std::thread::Builder::new().name("control command".to_owned());
            let started = worker.spawn(move || {
                if let Err(error) = answer(&stream, &*serve) {
                    tracing::warn!(error = format!("{error:#}"), "a command was not answered");
                }
                n_commands.fetch_sub(1, Ordering::AcqRel);
            });
            if let Err(error) = started {
                tracing::warn!(%error, "a command could not be served");
            }
        }
    })?;
    Ok(())
}

fn answer(stream: &UnixStream, serve: &Serve) -> anyhow::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut line = String::new();
    BufReader::new(stream.take(MAX_REQUEST_BYTES)).read_line(&mut line)?;
    let command = match line.trim() {
        "backup" => Command::Backup,
        "check" => Command::Check,
        other => {
            let error = format!("unknown command `{other}`");
            return say(stream, &Answer { ok: false, error: Some(error) });
        }
    };
    let mut has_begun = false;
    let mut begin = || {
        has_begun = true;
        say(stream, &Answer { ok: true, error: None })
            .map_err(|error| std::io::Error::other(error.to_string()))?;
        stream.try_clone()
    };
    match serve(command, &mut begin) {
        Ok(()) => Ok(()),
        Err(error) if has_begun => Err(error),
        Err(error) => say(stream, &Answer { ok: false, error: Some(format!("{error:#}")) }),
    }
}

fn say(mut stream: &UnixStream, answer: &Answer) -> anyhow::Result<()> {
    let mut line = serde_json::to_vec(answer)?;
    line.push(b'\n');
    Ok(stream.write_all(&line)?)
}

/// Asks the server that has the data folder open; nothing when there is none.
pub(crate) fn ask(data_dir: &Path, command: Command) -> anyhow::Result<Option<impl Read>> {
    let Some(path) = socket_path(data_dir) else { return Ok(None) };
    let Ok(mut stream) = UnixStream::connect(&path) else { return Ok(None) };
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(format!("{}\n", command.as_str()).as_bytes())?;
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let answer: Answer = serde_json::from_str(&line)
        .context("the running server did not answer\nhint: its log says why")?;
    match answer {
        Answer { ok: true, .. } => Ok(Some(reader)),
        Answer { error, .. } => {
            anyhow::bail!("the running server says: {}", error.unwrap_or_default())
        }
    }
}

fn socket_path(data_dir: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(data_dir).ok()?.join(SOCKET);
    (path.as_os_str().len() <= MAX_SOCKET_PATH).then_some(path)
}

#[cfg(test)]
mod tests {
    use testkit::Folder;

    use super::*;

    #[test]
    fn a_command_gets_its_answer_and_an_error_says_why() {
        let folder = Folder::new();
        assert!(ask(folder.path(), Command::Check).unwrap().is_none(), "nobody listens");
        let serve: Arc<Serve> = Arc::new(|command, begin| match command {
            Command::Backup => anyhow::bail!("the disk is full"),
            Command::Check => Ok(begin()?.write_all(b"all well\n")?),
        });
        listen(folder.path(), serve).unwrap();
        let mut lines = String::new();
        let answer = ask(folder.path(), Command::Check).unwrap();
        answer.unwrap().read_to_string(&mut lines).unwrap();
        assert_eq!(lines, "all well\n");
        let error = ask(folder.path(), Command::Backup).err().unwrap().to_string();
        assert_eq!(error, "the running server says: the disk is full");
    }
}
