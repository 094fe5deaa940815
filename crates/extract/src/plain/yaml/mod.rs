//! YAML: the lines and pointers that JSON has, with comments behind the values they are about.
//!
//! What people write in YAML is a small part of it: mappings and lists by indentation or in
//! brackets, strings that are plain, quoted, literal or folded, several documents in one file. That
//! part is read here. A file with anything else (templates, complex keys, tabs as indentation) is
//! read as source code, by lines, so that nothing of it is lost.

mod read;

mod document;

mod flow;
mod scalar;
mod tables;

pub(crate) use read::read_yaml;
