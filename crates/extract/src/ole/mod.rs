//! Office files before 2007: streams of binary records in a compound file.

mod bytes;
mod compound;

mod doc;
mod ppt;
mod workbook;

pub(crate) use compound::{open, stream};
pub(crate) use doc::read_doc;
pub(crate) use ppt::read_ppt;
pub(crate) use workbook::read_workbook;
