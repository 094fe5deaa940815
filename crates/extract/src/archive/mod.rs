//! Files that hold files: zip and what is built on it, tar, gzip, and the books in them.

mod code_pages;
mod inflate;
mod names;
mod zip_file;

mod epub;
mod gzip;
mod tar;
mod zip;

pub(crate) use inflate::{Wrapping, inflate};
pub(crate) use zip_file::ZipFile;

pub(crate) use epub::read_epub;
pub(crate) use gzip::read_gzip;
pub(crate) use tar::read_tar;
pub(crate) use zip::{is_clutter, read_zip};
