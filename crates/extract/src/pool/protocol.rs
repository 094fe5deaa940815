//! What travels between the pool and a worker: a length, a JSON head, and for a request the
//! document's bytes, for an answer its blocks a few at a time.
//!
//! Neither side ever holds a whole message: a document goes from its file into the pipe, and an
//! answer of many blocks is parsed as it arrives.

use std::io::{self, Read, Seek, Write};
use std::process::ChildStdin;

use model::{Block, Warning};
use serde::{Deserialize, Serialize};

use crate::{Caps, Confinement, Extracted};

/// The longest head of a request: a name and the caps.
const MAX_HEAD_BYTES: u64 = 1 << 20;

/// What an answer may need besides its text: pointers, warnings, escapes.
const ANSWER_OVERHEAD_BYTES: u64 = 64 << 20;

/// Text of the blocks that travel together, in bytes; one block may be longer.
const BLOCKS_TEXT_BYTES: usize = 256 << 10;

/// Blocks that travel together.
const MAX_BLOCKS_TOGETHER: usize = 1_024;

#[derive(Serialize, Deserialize)]
struct Head<'a> {
    name: std::borrow::Cow<'a, str>,
    caps: Caps,
    n_bytes: u64,
}

/// A document that is to be read, where it is.
#[derive(Clone, Copy)]
pub(super) enum Input<'a> {
    Bytes(&'a [u8]),
    File { file: &'a std::fs::File, n_bytes: u64 },
}

impl Input<'_> {
    pub(super) fn n_bytes(&self) -> u64 {
        match self {
            Input::Bytes(bytes) => bytes.len() as u64,
            Input::File { n_bytes, .. } => *n_bytes,
        }
    }
}

/// A document as a worker gets it.
pub(super) struct Request {
    pub(super) bytes: Vec<u8>,
    pub(super) name: String,
    pub(super) caps: Caps,
}

/// Why a request was not written.
pub(super) enum WriteError {
    /// The document cannot be read, or not to its announced end.
    Source(io::Error),
    /// The worker does not listen.
    Pipe,
}

pub(super) fn write_request(
    pipe: &mut ChildStdin,
    document: &Input<'_>,
    name: &str,
    caps: &Caps,
) -> Result<(), WriteError> {
    let head = Head { name: name.into(), caps: caps.clone(), n_bytes: document.n_bytes() };
    let head = serde_json::to_vec(&head).map_err(|_| WriteError::Pipe)?;
    write_frame(pipe, &head).map_err(|_| WriteError::Pipe)?;
    match document {
        Input::Bytes(bytes) => pipe.write_all(bytes).map_err(|_| WriteError::Pipe)?,
        Input::File { file, n_bytes } => {
            let mut file: &std::fs::File = file;
            file.seek(io::SeekFrom::Start(0)).map_err(WriteError::Source)?;
            // From a file into a pipe the system copies by itself, without our memory.
            let n_copied = io::copy(&mut file.take(*n_bytes), pipe).map_err(|error| {
                match error.kind() == io::ErrorKind::BrokenPipe {
                    true => WriteError::Pipe,
                    false => WriteError::Source(error),
                }
            })?;
            if n_copied < *n_bytes {
                // The rest would be taken from the next request: the worker has to go.
                return Err(WriteError::Source(io::ErrorKind::UnexpectedEof.into()));
            }
        }
    }
    pipe.flush().map_err(|_| WriteError::Pipe)
}

/// Reads a request; `None` when the other side is gone.
pub(super) fn read_request(pipe: &mut impl Read) -> io::Result<Option<Request>> {
    let Some(head) = read_frame(pipe, MAX_HEAD_BYTES)? else { return Ok(None) };
    let head: Head = serde_json::from_slice(&head)?;
    let mut bytes = Vec::new();
    pipe.take(head.n_bytes.min(head.caps.input_bytes)).read_to_end(&mut bytes)?;
    Ok(Some(Request { bytes, name: head.name.into_owned(), caps: head.caps }))
}

/// Writes a document's head, then its blocks a few at a time, then an empty list.
pub(super) fn write_answer(
    pipe: &mut impl Write,
    (extracted, warnings): (Extracted, Vec<Warning>),
    confinement: Confinement,
) -> io::Result<()> {
    let mut extracted = extracted;
    let blocks = std::mem::take(&mut extracted.blocks);
    write_frame(pipe, &serde_json::to_vec(&(&extracted, &warnings, confinement))?)?;
    let mut rest = blocks.as_slice();
    loop {
        let mut n_bytes = 0;
        let n_together = rest
            .iter()
            .take(MAX_BLOCKS_TOGETHER)
            .take_while(|block| {
                let fits = n_bytes < BLOCKS_TEXT_BYTES;
                n_bytes += block.text.len();
                fits
            })
            .count();
        let (together, after) = rest.split_at(n_together);
        write_frame(pipe, &serde_json::to_vec(together)?)?;
        if together.is_empty() {
            return pipe.flush();
        }
        rest = after;
    }
}

pub(super) fn read_answer(
    pipe: &mut impl Read,
    caps: &Caps,
) -> io::Result<(Extracted, Vec<Warning>, Confinement)> {
    let limit = (caps.output_bytes as u64).saturating_mul(6).saturating_add(ANSWER_OVERHEAD_BYTES);
    let mut left = limit;
    let mut next = |pipe: &mut _| {
        let frame = read_frame(pipe, left)?.ok_or(io::ErrorKind::UnexpectedEof)?;
        left -= frame.len() as u64;
        Ok::<_, io::Error>(frame)
    };
    let (mut extracted, warnings, confinement): (Extracted, _, _) =
        serde_json::from_slice(&next(pipe)?)?;
    loop {
        let together: Vec<Block> = serde_json::from_slice(&next(pipe)?)?;
        if together.is_empty() {
            return Ok((extracted, warnings, confinement));
        }
        extracted.blocks.extend(together);
    }
}

fn write_frame(pipe: &mut impl Write, frame: &[u8]) -> io::Result<()> {
    pipe.write_all(&(frame.len() as u64).to_le_bytes())?;
    pipe.write_all(frame)
}

fn read_frame(pipe: &mut impl Read, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 8];
    match pipe.read_exact(&mut length) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        outcome => outcome?,
    }
    let length = u64::from_le_bytes(length);
    if length > limit {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut frame = Vec::new();
    pipe.take(length).read_to_end(&mut frame)?;
    if (frame.len() as u64) < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Some(frame))
}
