//! Bytes of a document in a buffer of fixed size, known to be UTF-8, with their position.

use std::io::Read;

use super::error::{JsonError, Position, Problem};

/// Bytes that are read in one go.
const BUFFER_BYTES: usize = 64 * 1024;

/// A byte order mark, which some programs write before a document.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// A reader with a buffer. Everything it shows is valid UTF-8 and ends between two characters.
pub(super) struct Input<R> {
    reader: R,
    buffer: Vec<u8>,
    /// What is next.
    at: usize,
    /// Where the valid part ends.
    end: usize,
    /// Where the bytes end; a character may be unfinished between `end` and here.
    filled: usize,
    is_over: bool,
    /// Bytes before the buffer.
    before: u64,
    line: u64,
    line_start: u64,
    /// Bytes since the start of the line that continue a character.
    n_continuing: u64,
}

impl<R: Read> Input<R> {
    /// Reads from the beginning of a document, which is `before` bytes into its source.
    pub(super) fn new(reader: R, before: u64) -> Self {
        Input {
            reader,
            buffer: vec![0; BUFFER_BYTES],
            at: 0,
            end: 0,
            filled: 0,
            is_over: false,
            before,
            line: 1,
            line_start: before,
            n_continuing: 0,
        }
    }

    /// Passes over a byte order mark.
    pub(super) fn skip_mark(&mut self) -> Result<(), JsonError> {
        if self.rest()?.starts_with(MARK) {
            self.at += MARK.len();
            self.line_start += MARK.len() as u64;
        }
        Ok(())
    }

    /// Gives what is in the buffer; nothing at the end.
    pub(super) fn rest(&mut self) -> Result<&[u8], JsonError> {
        if self.at == self.end {
            self.fill()?;
        }
        Ok(&self.buffer[self.at..self.end])
    }

    /// Gives the next byte without taking it; nothing at the end.
    pub(super) fn peek(&mut self) -> Result<Option<u8>, JsonError> {
        if self.at == self.end {
            self.fill()?;
        }
        Ok((self.at < self.end).then(|| self.buffer[self.at]))
    }

    /// Takes bytes that `rest` or `peek` showed, none of them a line break.
    pub(super) fn take(&mut self, n_bytes: usize) {
        debug_assert!(self.at + n_bytes <= self.end, "only what was shown can be taken");
        self.at += n_bytes;
    }

    /// Takes bytes and counts those that continue a character.
    pub(super) fn take_text(&mut self, n_bytes: usize, n_chars: usize) {
        self.take(n_bytes);
        self.n_continuing += (n_bytes - n_chars) as u64;
    }

    /// Passes over blanks and line breaks.
    pub(super) fn skip_space(&mut self) -> Result<(), JsonError> {
        loop {
            if self.at == self.end {
                self.fill()?;
                if self.at == self.end {
                    return Ok(());
                }
            }
            match self.buffer[self.at] {
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'\n' => {
                    self.at += 1;
                    self.line += 1;
                    self.line_start = self.offset();
                    self.n_continuing = 0;
                }
                _ => return Ok(()),
            }
        }
    }

    /// Gives the next character, for a message.
    pub(super) fn next_char(&mut self) -> Result<Option<char>, JsonError> {
        let rest = self.rest()?;
        Ok(std::str::from_utf8(rest).unwrap_or_default().chars().next())
    }

    /// Counts the bytes before what is next.
    pub(super) fn offset(&self) -> u64 {
        self.before + self.at as u64
    }

    /// Gives the place of what is next.
    pub(super) fn position(&self) -> Position {
        let byte = self.offset();
        let column = byte.saturating_sub(self.line_start).saturating_sub(self.n_continuing) + 1;
        Position { byte, line: self.line, column }
    }

    /// Reads on. What was shown and not taken is lost, so that callers take all of it first.
    fn fill(&mut self) -> Result<(), JsonError> {
        debug_assert!(self.at == self.end, "everything shown was taken");
        self.before += self.end as u64;
        self.buffer.copy_within(self.end..self.filled, 0);
        self.filled -= self.end;
        (self.at, self.end) = (0, 0);
        loop {
            if !self.is_over && self.filled < self.buffer.len() {
                let n_read = read(&mut self.reader, &mut self.buffer[self.filled..])?;
                self.is_over = n_read == 0;
                self.filled += n_read;
            }
            match std::str::from_utf8(&self.buffer[..self.filled]) {
                Ok(text) => self.end = text.len(),
                Err(error) => {
                    self.end = error.valid_up_to();
                    let is_wrong = error.error_len().is_some() || self.is_over;
                    if self.end == 0 && is_wrong {
                        let position = self.position();
                        return Err(JsonError::Invalid { problem: Problem::NotUtf8, position });
                    }
                }
            }
            if self.end > 0 || self.is_over {
                return Ok(());
            }
        }
    }
}

fn read(reader: &mut impl Read, into: &mut [u8]) -> std::io::Result<usize> {
    loop {
        match reader.read(into) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}
