//! Compound files: a file system in a file.

use std::borrow::Cow;
use std::io::{Cursor, Read};

use cfb::CompoundFile;

use crate::error::Result;
use crate::output::Output;

/// An opened compound file.
pub(crate) type Compound<'a> = CompoundFile<Cursor<Cow<'a, [u8]>>>;

/// The table of a cut file may speak of at most this many bytes that are not there.
const MAX_MISSING_BYTES: usize = 64 << 20;

/// Opens a file; one whose end is cut off is filled up with zeros.
pub(crate) fn open(bytes: &[u8]) -> std::io::Result<Compound<'_>> {
    CompoundFile::open(Cursor::new(Cow::Borrowed(bytes))).or_else(|error| {
        let Some(length) = claimed_length(bytes).filter(|length| *length > bytes.len()) else {
            return Err(error);
        };
        let mut whole = bytes.to_vec();
        whole.resize(length.min(bytes.len() + MAX_MISSING_BYTES), 0);
        CompoundFile::open(Cursor::new(Cow::Owned(whole)))
    })
}

/// Gives the length of the file that its table of sectors has room for.
fn claimed_length(bytes: &[u8]) -> Option<usize> {
    let sector_shift = u32::from(*bytes.get(0x1e)?).clamp(9, 12);
    let n_tables = u32::from_le_bytes(*bytes.get(0x2c..)?.first_chunk()?);
    let n_sectors = usize::try_from(n_tables).ok()?.checked_mul(1 << (sector_shift - 2))?;
    n_sectors.checked_add(1)?.checked_mul(1 << sector_shift)
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
