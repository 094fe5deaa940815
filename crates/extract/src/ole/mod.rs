//! Office files before 2007: streams of binary records in a compound file.

mod bytes;
mod compound;

mod doc;
mod ppt;
mod xls;
mod xlsb;

pub(crate) use compound::{Compound, open, stream};
pub(crate) use doc::read_doc;
pub(crate) use ppt::read_ppt;
pub(crate) use xls::read_xls;
pub(crate) use xlsb::read_xlsb;
