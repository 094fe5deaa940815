//! Paths as text: the id of a file in the index, what answers show and what jobs are told.
//!
//! A path that is Unicode is its own text. Every other byte of a name is written `\xE9`, so that two
//! files never share a text by being shown with the same replacement character, and a file can be
//! opened by the text that a search gave.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize as _, Deserializer, Serializer};

pub(crate) fn text_of(path: &Path) -> Cow<'_, str> {
    if let Some(text) = path.to_str() {
        return Cow::Borrowed(text);
    }
    let mut text = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02X}"));
        }
    }
    Cow::Owned(text)
}

/// Reads a path that [`text_of`] wrote. A name that has the characters `\xE9` itself is taken as it
/// is written where there is such a file.
pub(crate) fn path_of(text: &str) -> PathBuf {
    let literal = PathBuf::from(text);
    if !text.contains("\\x") || fs_err::symlink_metadata(&literal).is_ok() {
        return literal;
    }
    unescaped(text).unwrap_or(literal)
}

/// Reads escaped bytes; nothing when there are none, or they are Unicode and so were not escaped.
#[cfg(unix)]
fn unescaped(text: &str) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt as _;
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\\x") {
        let (before, after) = rest.split_at(at);
        bytes.extend_from_slice(before.as_bytes());
        let digits = after.get(2..4).filter(|digits| is_upper_hex(digits));
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) if !byte.is_ascii() => {
                bytes.push(byte);
                rest = after.get(4..).unwrap_or_default();
            }
            _ => {
                bytes.extend_from_slice(b"\\x");
                rest = after.get(2..).unwrap_or_default();
            }
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    let path = PathBuf::from(std::ffi::OsString::from_vec(bytes));
    (text_of(&path) == text).then_some(path)
}

#[cfg(unix)]
fn is_upper_hex(digits: &str) -> bool {
    digits.bytes().all(|digit| digit.is_ascii_digit() || (b'A'..=b'F').contains(&digit))
}

/// Names that are not Unicode can be listed here, and not be made.
#[cfg(not(unix))]
fn unescaped(_text: &str) -> Option<PathBuf> {
    None
}

/// Writes the paths of a job.
pub(crate) fn serialize<S: Serializer>(
    paths: &Option<BTreeSet<PathBuf>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match paths {
        Some(paths) => serializer.collect_seq(paths.iter().map(|path| text_of(path))),
        None => serializer.serialize_none(),
    }
}

/// Reads the paths of a job.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<BTreeSet<PathBuf>>, D::Error> {
    let texts = Option::<Vec<String>>::deserialize(deserializer)?;
    Ok(texts.map(|texts| texts.iter().map(|text| path_of(text)).collect()))
}

#[cfg(all(test, unix))]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    use super::*;

    #[test]
    fn every_path_is_read_as_it_was_written() {
        let check = |bytes: &[u8], text: &str| {
            let path = Path::new(OsStr::from_bytes(bytes));
            assert_eq!(text_of(path), text);
            assert_eq!(path_of(text), path, "{text}");
        };
        check(b"/nowhere/plain.txt", "/nowhere/plain.txt");
        check("/nowhere/café.txt".as_bytes(), "/nowhere/café.txt");
        check(b"/nowhere/caf\xe9.txt", r"/nowhere/caf\xE9.txt");
        check(b"/nowhere/\xff\xfe/a\xc3", r"/nowhere/\xFF\xFE/a\xC3");
        // What only looks like an escaped byte stays as it is.
        check(br"/nowhere/a\x41\xZZ\x", r"/nowhere/a\x41\xZZ\x");
        check(br"/nowhere/a\xC3\xA9", r"/nowhere/a\xC3\xA9");
    }

    #[test]
    fn a_file_that_is_there_is_meant_by_its_own_name() {
        let folder = tempfile::tempdir().unwrap();
        let literal = folder.path().join(r"caf\xE9.txt");
        let text = literal.to_str().unwrap();
        assert_ne!(path_of(text), literal);
        fs_err::write(&literal, "").unwrap();
        assert_eq!(path_of(text), literal);
    }
}
