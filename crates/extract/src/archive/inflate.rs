//! Deflate in its three wrappings, with a limit on what comes out and with what was readable
//! kept when the stream is damaged.

use std::io::Read;

use flate2::bufread::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

use crate::error::Result;
use crate::output::Output;

/// How a deflate stream is wrapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrapping {
    Raw,
    Zlib,
    Gzip,
}

/// What came out.
pub(crate) struct Inflated {
    pub(crate) bytes: Vec<u8>,
    /// The stream ended in an error; `bytes` is what came before it.
    pub(crate) is_damaged: bool,
}

/// Bytes that are asked for at once, so that a bomb is noticed early.
const STEP_BYTES: u64 = 1 << 20;

/// Unpacks a stream; fails only when a cap of the document is reached.
pub(crate) fn inflate(packed: &[u8], wrapping: Wrapping, output: &mut Output) -> Result<Inflated> {
    match wrapping {
        Wrapping::Raw => drain(DeflateDecoder::new(packed), packed.len(), output),
        Wrapping::Zlib => drain(ZlibDecoder::new(packed), packed.len(), output),
        Wrapping::Gzip => drain(MultiGzDecoder::new(packed), packed.len(), output),
    }
}

fn drain(mut decoder: impl Read, n_packed: usize, output: &mut Output) -> Result<Inflated> {
    let likely = n_packed.saturating_mul(4).min(STEP_BYTES as usize);
    let mut bytes = Vec::with_capacity(likely);
    loop {
        let before = bytes.len();
        let step = STEP_BYTES.min(output.expansion_room().saturating_add(1));
        let outcome = decoder.by_ref().take(step).read_to_end(&mut bytes);
        let n_new = (bytes.len() - before) as u64;
        output.expanded(n_new)?;
        match outcome {
            Err(_) => return Ok(Inflated { bytes, is_damaged: true }),
            Ok(_) if n_new < step => return Ok(Inflated { bytes, is_damaged: false }),
            Ok(_) => {}
        }
    }
}
