//! Where a reading tool reads on: a number that the caller counts themselves, or `next` or `prev` of
//! an answer, which says what text it is of.
//!
//! `prev` says where its stretch ends as well: a page is as long as its text allows, and one that went
//! on behind its end would repeat what was read.

use serde::Deserialize;

use crate::walk::OTHER_LIST;
use crate::{ToolError, Walk};

/// An `offset` as it was given.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(crate) enum ReadOn {
    /// Counted by the caller.
    Number(usize),
    /// `next` or `prev`.
    Cursor(String),
}

/// A place to read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct From {
    /// The first character, row or member.
    pub(crate) start: usize,
    /// Behind the last, where a stretch was asked for.
    pub(crate) end: Option<usize>,
}

impl From {
    /// Gives at most so many, and not more than the stretch has.
    pub(crate) fn at_most(self, n: usize) -> usize {
        self.end.map_or(n, |end| n.min(end.saturating_sub(self.start)).max(1))
    }
}

impl ReadOn {
    /// Reads it against the text that a call is about.
    ///
    /// Fails with the sentence for the caller where it is neither, or of another text.
    pub(crate) fn place(&self, walk: &Walk) -> Result<From, ToolError> {
        let text = match self {
            ReadOn::Number(number) => return Ok(From { start: *number, end: None }),
            ReadOn::Cursor(text) => text.trim(),
        };
        let whole = text.trim_end_matches('0').strip_suffix('.').unwrap_or(text);
        if let Ok(start) = text.parse().or_else(|_| whole.parse()) {
            return Ok(From { start, end: None });
        }
        let place = walk.read(text).map_err(|refused| refused_offset(text, &refused))?;
        let read = match place.split_once('-') {
            Some((start, end)) => start.parse().ok().zip(end.parse().ok().map(Some)),
            None => place.parse().ok().map(|start| (start, None)),
        };
        let (start, end) =
            read.ok_or_else(|| refused_offset(text, &crate::paging::bad_cursor(text)))?;
        Ok(From { start, end })
    }
}

/// Writes `next`.
pub(crate) fn next(walk: &Walk, start: usize) -> String {
    walk.written(&start.to_string())
}

/// Writes `prev`: the stretch up to where this one begins.
pub(crate) fn prev(walk: &Walk, start: usize, end: usize) -> String {
    walk.written(&format!("{start}-{end}"))
}

fn refused_offset(text: &str, refused: &ToolError) -> ToolError {
    let shown: String = text.chars().take(100).collect();
    let message = match refused.message.contains(OTHER_LIST) {
        true => format!("`offset` {OTHER_LIST}: `{shown}`"),
        false => {
            format!(
                "`offset` must be a number, or `next` or `prev` of an answer, received `{shown}`"
            )
        }
    };
    ToolError::bad_request(message)
        .with_detail("argument", "offset")
        .with_hint("pass `next` with the arguments of the call that gave it, or leave `offset` out")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// `next` was a plain number, and that of another file was taken without a word.
    #[test]
    fn a_place_is_of_one_text() {
        let walk = Walk::of("openFile", &json!(["/a.txt"]));
        let read = |text: &str| ReadOn::Cursor(text.to_owned()).place(&walk);
        let from = |start: usize, end: Option<usize>| Ok(From { start, end });
        assert_eq!(ReadOn::Number(7).place(&walk), from(7, None));
        assert_eq!(read("7"), from(7, None));
        assert_eq!(read("7.0"), from(7, None));
        assert_eq!(read(&next(&walk, 2_000)), from(2_000, None));
        assert_eq!(read(&prev(&walk, 0, 600)), from(0, Some(600)));
        let other = Walk::of("openFile", &json!(["/b.txt"]));
        assert!(read(&next(&other, 2_000)).unwrap_err().message.contains("other arguments"));
        for nonsense in ["soon", "~abc", "1-2", "-5"] {
            assert!(read(nonsense).is_err(), "{nonsense}");
        }
        assert_eq!(From { start: 10, end: Some(15) }.at_most(2_000), 5);
        assert_eq!(From { start: 10, end: None }.at_most(2_000), 2_000);
    }
}
