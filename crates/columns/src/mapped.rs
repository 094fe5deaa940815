//! Memory-mapped column files. This is the crate's only unsafe file.

#![expect(unsafe_code, reason = "mapping a file is unsafe by nature; see the SAFETY comment")]

use std::path::Path;

use arrow_buffer::Buffer;
use bytes::Bytes;

use crate::Result;

/// Maps a column file into memory.
///
/// Only for files of the cache folder: they are written under another name, renamed once and
/// never written again, so their bytes do not change under the map. Removing one while it is
/// mapped is fine on Unix, where the pages live as long as the map.
pub(crate) fn map(path: &Path) -> Result<Buffer> {
    let file = fs_err::File::open(path)?;
    // SAFETY: The map is read-only, and the file is one of ours, which is never modified or
    // truncated after its rename (see `cache`). A foreign process that truncates files inside
    // our cache folder could still make a read fail; the folder is ours alone by contract.
    let map = unsafe { memmap2::Mmap::map(file.file())? };
    Ok(Buffer::from(Bytes::from_owner(map)))
}
