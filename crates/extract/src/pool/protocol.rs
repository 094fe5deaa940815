//! What travels between the pool and a worker: a length, a JSON head, and for a request the
//! document's bytes.

use std::io::{self, Read, Write};

use model::Warning;
use serde::{Deserialize, Serialize};

use crate::{Caps, Confinement, Extracted};

/// The longest head of a request: a name and the caps.
const MAX_HEAD_BYTES: u64 = 1 << 20;

/// What an answer may need besides its text: pointers, warnings, escapes.
const ANSWER_OVERHEAD_BYTES: u64 = 64 << 20;

#[derive(Serialize, Deserialize)]
struct Head<'a> {
    name: std::borrow::Cow<'a, str>,
    caps: Caps,
    n_bytes: u64,
}

/// A document to read.
pub(super) struct Request {
    pub(super) bytes: Vec<u8>,
    pub(super) name: String,
    pub(super) caps: Caps,
}

pub(super) fn write_request(
    pipe: &mut impl Write,
    bytes: &[u8],
    name: &str,
    caps: &Caps,
) -> io::Result<()> {
    let head = Head { name: name.into(), caps: caps.clone(), n_bytes: bytes.len() as u64 };
    write_frame(pipe, &serde_json::to_vec(&head)?)?;
    pipe.write_all(bytes)?;
    pipe.flush()
}

/// Reads a request; `None` when the other side is gone.
pub(super) fn read_request(pipe: &mut impl Read) -> io::Result<Option<Request>> {
    let Some(head) = read_frame(pipe, MAX_HEAD_BYTES)? else { return Ok(None) };
    let head: Head = serde_json::from_slice(&head)?;
    let mut bytes = Vec::new();
    pipe.take(head.n_bytes.min(head.caps.input_bytes)).read_to_end(&mut bytes)?;
    Ok(Some(Request { bytes, name: head.name.into_owned(), caps: head.caps }))
}

pub(super) fn write_answer(
    pipe: &mut impl Write,
    (extracted, warnings): &(Extracted, Vec<Warning>),
    confinement: Confinement,
) -> io::Result<()> {
    write_frame(pipe, &serde_json::to_vec(&(extracted, warnings, confinement))?)?;
    pipe.flush()
}

pub(super) fn read_answer(
    pipe: &mut impl Read,
    caps: &Caps,
) -> io::Result<(Extracted, Vec<Warning>, Confinement)> {
    let limit = (caps.output_bytes as u64).saturating_mul(6).saturating_add(ANSWER_OVERHEAD_BYTES);
    let answer = read_frame(pipe, limit)?.ok_or(io::ErrorKind::UnexpectedEof)?;
    Ok(serde_json::from_slice(&answer)?)
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
