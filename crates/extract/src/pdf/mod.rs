//! PDF.
use crate::error::{Error, Result};
use crate::output::Output;
pub(crate) fn read(_: &[u8], _: &mut Output) -> Result<()> { Err(Error::Unsupported { what: "pdf" }) }
