//! An answer that arrives bit by bit: as bytes, as lines, or as server-sent events.

use std::io::{BufRead, BufReader, Read};

use model::Deadline;
use ureq::http;
use url::Url;

use crate::client::Followed;
use crate::request::shown;
use crate::{Config, Error, Result};

/// A body that is read while it arrives, under the client's limits.
pub struct Streaming {
    /// The HTTP status, 200 to 299.
    pub status: u16,
    url: Url,
    headers: http::HeaderMap,
    hops: Vec<http::HeaderMap>,
    reader: BufReader<ureq::BodyReader<'static>>,
    n_bytes_read: u64,
    max_bytes: u64,
    max_line_bytes: usize,
    deadline: Deadline,
}

impl Streaming {
    pub(crate) fn new(followed: Followed, config: &Config, deadline: &Deadline) -> Self {
        let Followed { url, answer, hops } = followed;
        let (parts, body) = answer.into_parts();
        Streaming {
            status: parts.status.as_u16(),
            url,
            headers: parts.headers,
            hops,
            reader: BufReader::new(body.into_with_config().limit(u64::MAX).reader()),
            n_bytes_read: 0,
            max_bytes: config.max_response_bytes,
            max_line_bytes: config.max_line_bytes,
            deadline: deadline.clone(),
        }
    }

    /// Gives a header's value when it is there and is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Gives a header's value from the answer, or else from a redirect on the way to it: stores
    /// of files describe a file there, and send the reader elsewhere for its bytes.
    pub fn header_on_the_way(&self, name: &str) -> Option<&str> {
        let on_the_way = || self.hops.iter().find_map(|headers| headers.get(name)?.to_str().ok());
        self.header(name).or_else(on_the_way)
    }

    /// Fills the buffer as far as bytes are there; 0 at the end of the body.
    ///
    /// Fails when the deadline or the size limit is passed, or the connection breaks.
    pub fn read_some(&mut self, buffer: &mut [u8]) -> Result<usize> {
        self.check_deadline()?;
        let n_bytes = self.reader.read(buffer).map_err(|error| self.broken(error))?;
        self.count(n_bytes)?;
        Ok(n_bytes)
    }

    /// Reads the body line by line.
    pub fn lines(self) -> Lines {
        Lines { streaming: self, is_over: false }
    }

    /// Reads the body as server-sent events.
    pub fn events(self) -> Events {
        Events { lines: self.lines(), is_first_line: true }
    }

    /// Gives the next line without its end, or nothing at the end of the body.
    fn next_line(&mut self) -> Result<Option<String>> {
        let mut line = Vec::new();
        loop {
            self.check_deadline()?;
            let chunk = match self.reader.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) => return Err(self.broken(error)),
            };
            if chunk.is_empty() {
                return Ok((!line.is_empty()).then(|| finish_line(line)));
            }
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let n_taken = end.map_or(chunk.len(), |at| at + 1);
            line.extend_from_slice(&chunk[..n_taken]);
            self.reader.consume(n_taken);
            self.count(n_taken)?;
            if line.len() > self.max_line_bytes {
                let allowed = self.max_line_bytes as u64;
                return Err(Error::TooLarge { url: shown(&self.url), allowed });
            }
            if end.is_some() {
                return Ok(Some(finish_line(line)));
            }
        }
    }

    fn check_deadline(&self) -> Result<()> {
        if self.deadline.is_over() {
            let phase = "reading the stream".to_owned();
            return Err(Error::TimedOut { url: shown(&self.url), phase });
        }
        Ok(())
    }

    fn count(&mut self, n_bytes: usize) -> Result<()> {
        self.n_bytes_read += n_bytes as u64;
        if self.n_bytes_read > self.max_bytes {
            return Err(Error::TooLarge { url: shown(&self.url), allowed: self.max_bytes });
        }
        Ok(())
    }

    fn broken(&self, error: std::io::Error) -> Error {
        if error.kind() == std::io::ErrorKind::TimedOut || self.deadline.is_over() {
            let phase = "reading the stream".to_owned();
            return Error::TimedOut { url: shown(&self.url), phase };
        }
        Error::BrokenStream { url: shown(&self.url), source: error }
    }
}

/// Lines of a streamed body. Ends after the first error.
pub struct Lines {
    streaming: Streaming,
    is_over: bool,
}

impl Iterator for Lines {
    type Item = Result<String>;

    fn next(&mut self) -> Option<Result<String>> {
        if self.is_over {
            return None;
        }
        let line = self.streaming.next_line().transpose();
        self.is_over = !matches!(line, Some(Ok(_)));
        line
    }
}

/// One server-sent event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServerEvent {
    /// The kind, where the server names one.
    pub event: Option<String>,
    /// The lines of data, joined by line breaks.
    pub data: String,
}

/// Server-sent events of a streamed body. Ends after the first error; an event that the end of
/// the body cuts off is dropped, as the standard says.
pub struct Events {
    lines: Lines,
    is_first_line: bool,
}

impl Iterator for Events {
    type Item = Result<ServerEvent>;

    fn next(&mut self) -> Option<Result<ServerEvent>> {
        let mut event = ServerEvent::default();
        let mut has_data = false;
        let mut n_bytes = 0;
        loop {
            let mut line = match self.lines.next()? {
                Ok(line) => line,
                Err(error) => return Some(Err(error)),
            };
            if std::mem::take(&mut self.is_first_line) && line.starts_with('\u{feff}') {
                line.remove(0);
            }
            if line.is_empty() {
                if has_data {
                    return Some(Ok(event));
                }
                event = ServerEvent::default();
                continue;
            }
            n_bytes += line.len();
            if n_bytes > self.lines.streaming.max_line_bytes {
                let url = shown(&self.lines.streaming.url);
                let allowed = self.lines.streaming.max_line_bytes as u64;
                self.lines.is_over = true;
                return Some(Err(Error::TooLarge { url, allowed }));
            }
            let (field, value) = line.split_once(':').unwrap_or((&line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "data" => {
                    if has_data {
                        event.data.push('\n');
                    }
                    event.data.push_str(value);
                    has_data = true;
                }
                "event" => event.event = Some(value.to_owned()),
                _ => {}
            }
        }
    }
}

fn finish_line(mut line: Vec<u8>) -> String {
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    match String::from_utf8(line) {
        Ok(line) => line,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    }
}
