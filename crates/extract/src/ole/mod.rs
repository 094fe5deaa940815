//! Compound files.
use std::io::Cursor;
use crate::Format;
use crate::error::{Error, Result};
use crate::output::Output;
pub(crate) fn open(bytes: &[u8]) -> std::io::Result<cfb::CompoundFile<Cursor<&[u8]>>> { cfb::CompoundFile::open(Cursor::new(bytes)) }
pub(crate) fn read_doc(_: &[u8], _: &mut Output) -> Result<()> { Err(Error::Unsupported { what: "doc" }) }
pub(crate) fn read_ppt(_: &[u8], _: &mut Output) -> Result<()> { Err(Error::Unsupported { what: "doc" }) }
pub(crate) fn read_workbook(_: Format, _: &[u8], _: &mut Output) -> Result<()> { Err(Error::Unsupported { what: "doc" }) }
