//! The side that was typed.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;

use anyhow::{Context, bail};

use super::message::{Frame, Request, Typed};
use super::{ENTRY_WAIT, PATIENCE, socket_path};
use crate::platform::{self, LocalStream};
use crate::print;

/// A connection to the process that has the data folder open.
pub(crate) struct Connection(BufReader<LocalStream>);

/// Connects to the process that has the data folder open; nothing when there is none that listens,
/// or when it lets nobody in any more since it is about to end.
pub(crate) fn connect(data_dir: &Path) -> Option<Connection> {
    let stream = platform::connect(&socket_path(data_dir)).ok()?;
    stream.set_read_timeout(Some(ENTRY_WAIT)).ok()?;
    let mut reader = BufReader::new(stream);
    if next(&mut reader).ok()? != Frame::Entered {
        return None;
    }
    reader.get_ref().set_read_timeout(Some(PATIENCE)).ok()?;
    Some(Connection(reader))
}

impl Connection {
    /// Asks for an archive of everything, and gives its bytes.
    pub(crate) fn backup(self) -> anyhow::Result<impl Read> {
        let mut reader = self.ask(&Request::Backup)?;
        begun(&mut reader)?;
        Ok(reader)
    }

    /// Begins a session of MCP, and gives the connection to speak over.
    pub(crate) fn mcp(self) -> anyhow::Result<BufReader<LocalStream>> {
        let mut reader = self.ask(&Request::Mcp)?;
        begun(&mut reader)?;
        reader.get_ref().set_read_timeout(None)?;
        Ok(reader)
    }

    /// Asks which command has the data folder open; nothing where it does not say.
    pub(crate) fn host(self) -> Option<String> {
        match next(&mut self.ask(&Request::Host).ok()?) {
            Ok(Frame::Line(command)) => Some(command),
            Ok(_) | Err(_) => None,
        }
    }

    /// Has a command done, prints what it prints, and gives its exit code.
    pub(crate) fn run(self, typed: Typed) -> anyhow::Result<u8> {
        let mut reader = self.ask(&Request::Run(typed))?;
        let mut bar = None;
        loop {
            match next(&mut reader)? {
                Frame::Line(text) => print::line(text),
                Frame::Note(text) => print::note(text),
                Frame::Progress(Some(progress)) => {
                    bar.get_or_insert_with(print::Bar::new).show(&progress);
                }
                Frame::Progress(None) => drop(bar.take()),
                Frame::Failed(chain) => return Err(chained(chain)),
                Frame::Exit(code) => return Ok(code),
                Frame::Begin | Frame::Entered => {
                    bail!("the running process answered something else")
                }
            }
        }
    }

    /// Has a command done, and gives the lines of its result.
    pub(crate) fn captured(self, typed: Typed) -> anyhow::Result<String> {
        let mut reader = self.ask(&Request::Run(typed))?;
        let mut lines = String::new();
        loop {
            match next(&mut reader)? {
                Frame::Line(text) => lines.extend([text.as_str(), "\n"]),
                Frame::Note(text) => print::note(text),
                Frame::Progress(_) => {}
                Frame::Failed(chain) => return Err(chained(chain)),
                Frame::Exit(_) => return Ok(lines),
                Frame::Begin | Frame::Entered => {
                    bail!("the running process answered something else")
                }
            }
        }
    }

    fn ask(mut self, request: &Request) -> anyhow::Result<BufReader<LocalStream>> {
        let mut line = serde_json::to_vec(request)?;
        line.push(b'\n');
        self.0.get_mut().write_all(&line).context(ENDED)?;
        Ok(self.0)
    }
}

/// What is said when the other side is killed, or has no more time, in the middle.
const ENDED: &str = "the process that has the data folder open ended before it answered: what was \
                     asked for may have been done\n\
                     hint: before you run it again, look with `dowse status` or \
                     `dowse kb documents COLLECTION`";

fn begun(reader: &mut BufReader<LocalStream>) -> anyhow::Result<()> {
    match next(reader)? {
        Frame::Begin => Ok(()),
        Frame::Failed(chain) => Err(chained(chain)),
        Frame::Entered | Frame::Line(_) | Frame::Note(_) | Frame::Progress(_) | Frame::Exit(_) => {
            bail!("the running process answered something else")
        }
    }
}

fn next(reader: &mut BufReader<LocalStream>) -> anyhow::Result<Frame> {
    let mut line = String::new();
    reader.read_line(&mut line).context(ENDED)?;
    anyhow::ensure!(!line.is_empty(), ENDED);
    serde_json::from_str(&line).context(
        "the process that has the data folder open is of another version\nhint: restart it",
    )
}

/// Makes an error of a message and its causes.
fn chained(chain: Vec<String>) -> anyhow::Error {
    let mut causes = chain.into_iter().rev();
    let first = anyhow::Error::msg(causes.next().unwrap_or_else(|| "it failed".to_owned()));
    causes.fold(first, |error, message| error.context(message))
}
