//! Compound files: a file system in a file.

use std::io::{Cursor, Read};

use cfb::CompoundFile;

use crate::error::Result;
use crate::output::Output;

/// An opened compound file.
pub(crate) type Compound<'a> = CompoundFile<Cursor<&'a [u8]>>;

pub(crate) fn open(bytes: &[u8]) -> std::io::Result<Compound<'_>> {
    CompoundFile::open(Cursor::new(bytes))
}

/// Reads a stream as far as it can be; `None` when there is none of that name.
pub(crate) fn stream(
    file: &mut Compound,
    path: &str,
    output: &mut Output,
) -> Result<Option<Vec<u8>>> {
    if !file.is_stream(path) {
        return Ok(None);
    }
    let Ok(stream) = file.open_stream(path) else { return Ok(None) };
    let mut bytes = Vec::new();
    // A damaged chain of sectors ends in an error; what came before it is used.
    let _ = stream.take(output.expansion_room().saturating_add(1)).read_to_end(&mut bytes);
    output.expanded(bytes.len() as u64)?;
    Ok(Some(bytes))
}
