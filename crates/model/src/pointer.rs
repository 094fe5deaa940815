//! Where in its source a piece of text is, in words that a person can follow.
//!
//! A pointer prints as `page 3`, `slide 7`, `sheet 'Q2'`, `sheet 'Q2' A1:C9`, `line 120`,
//! `message 4`, `/json/pointer`, or `inner/path.docx > page 2` inside an archive, and the same
//! text reads back as the same pointer.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A locator inside a document.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Pointer {
    /// The document as a whole: it has no inner places, or the place is unknown.
    #[default]
    Whole,
    /// A page, counted from 1.
    Page(u32),
    /// A slide, counted from 1.
    Slide(u32),
    /// A sheet by name, and the range of cells where it is known.
    Sheet {
        /// The sheet's name.
        name: String,
        /// Cells, such as `A1:C9`.
        range: Option<String>,
    },
    /// A line, counted from 1.
    Line(u32),
    /// A message of a mailbox or thread, counted from 1.
    Message(u32),
    /// A node of a JSON document, as an RFC 6901 pointer; starts with `/`.
    Json(String),
    /// A place inside a file that is inside an archive or a message.
    Inner {
        /// The path inside the archive, or the name of the attachment.
        path: String,
        /// The place inside that file.
        place: Box<Pointer>,
    },
}

/// A text that is no pointer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "cannot read pointer `{received}`: expected `page 3`, `slide 7`, `sheet 'Q2'`, `sheet 'Q2' A1:C9`, `line 120`, `message 4`, `/json/pointer`, or `inner/path > page 2`"
)]
pub struct BadPointer {
    /// The text that was given.
    pub received: String,
}

/// Splits the path of an archive from the place inside it.
const INNER: &str = " > ";

impl Pointer {
    /// Gives the line that a place is on, in a file inside an archive too.
    pub fn line(&self) -> Option<u32> {
        match self {
            Pointer::Line(line) => Some(*line),
            Pointer::Inner { place, .. } => place.line(),
            Pointer::Whole
            | Pointer::Page(_)
            | Pointer::Slide(_)
            | Pointer::Sheet { .. }
            | Pointer::Message(_)
            | Pointer::Json(_) => None,
        }
    }

    /// Gives the pointer to another line of the same file; one that names no line stays as it is.
    #[must_use]
    pub fn on_line(&self, line: u32) -> Pointer {
        match self {
            Pointer::Line(_) => Pointer::Line(line),
            Pointer::Inner { path, place } => {
                Pointer::Inner { path: path.clone(), place: Box::new(place.on_line(line)) }
            }
            Pointer::Whole
            | Pointer::Page(_)
            | Pointer::Slide(_)
            | Pointer::Sheet { .. }
            | Pointer::Message(_)
            | Pointer::Json(_) => self.clone(),
        }
    }

    /// Gives the name of the sheet that a place is on.
    pub fn sheet(&self) -> Option<&str> {
        match self {
            Pointer::Sheet { name, .. } => Some(name),
            Pointer::Inner { place, .. } => place.sheet(),
            Pointer::Whole
            | Pointer::Page(_)
            | Pointer::Slide(_)
            | Pointer::Line(_)
            | Pointer::Message(_)
            | Pointer::Json(_) => None,
        }
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pointer::Whole => f.write_str("whole"),
            Pointer::Page(number) => write!(f, "page {number}"),
            Pointer::Slide(number) => write!(f, "slide {number}"),
            Pointer::Sheet { name, range } => {
                write!(f, "sheet '{}'", name.replace('\'', "''"))?;
                match range {
                    Some(range) => write!(f, " {range}"),
                    None => Ok(()),
                }
            }
            Pointer::Line(number) => write!(f, "line {number}"),
            Pointer::Message(number) => write!(f, "message {number}"),
            Pointer::Json(pointer) => f.write_str(pointer),
            Pointer::Inner { path, place } => write!(f, "{path}{INNER}{place}"),
        }
    }
}

impl FromStr for Pointer {
    type Err = BadPointer;

    fn from_str(text: &str) -> Result<Self, BadPointer> {
        let bad = || BadPointer { received: text.to_owned() };
        if let Some(place) = parse_plain(text) {
            return Ok(place);
        }
        // The place after the last separator decides, so a path may itself hold the separator.
        let (path, place) = text.rsplit_once(INNER).ok_or_else(bad)?;
        let place = parse_plain(place).ok_or_else(bad)?;
        if path.is_empty() {
            return Err(bad());
        }
        match path.parse() {
            Ok(Pointer::Inner { path, place: inner }) => Ok(Pointer::Inner {
                path,
                place: Box::new(Pointer::Inner { path: inner.to_string(), place: Box::new(place) }),
            }),
            Ok(_) | Err(_) => Ok(Pointer::Inner { path: path.to_owned(), place: Box::new(place) }),
        }
    }
}

fn parse_plain(text: &str) -> Option<Pointer> {
    if text == "whole" {
        return Some(Pointer::Whole);
    }
    if text.starts_with('/') && !text.contains(INNER) {
        return Some(Pointer::Json(text.to_owned()));
    }
    let (kind, rest) = text.split_once(' ')?;
    let number = || rest.parse::<u32>().ok().filter(|number| *number > 0);
    match kind {
        "page" => number().map(Pointer::Page),
        "slide" => number().map(Pointer::Slide),
        "line" => number().map(Pointer::Line),
        "message" => number().map(Pointer::Message),
        "sheet" => parse_sheet(rest),
        _ => None,
    }
}

fn parse_sheet(rest: &str) -> Option<Pointer> {
    let quoted = rest.strip_prefix('\'')?;
    let mut name = String::new();
    let mut chars = quoted.char_indices().peekable();
    while let Some((at, char)) = chars.next() {
        if char != '\'' {
            name.push(char);
            continue;
        }
        if chars.next_if(|(_, next)| *next == '\'').is_some() {
            name.push('\'');
            continue;
        }
        let after = &quoted[at + 1..];
        if after.is_empty() {
            return Some(Pointer::Sheet { name, range: None });
        }
        let range = after.strip_prefix(' ')?;
        let looks_like_cells = !range.is_empty()
            && range.chars().all(|char| char.is_ascii_alphanumeric() || char == ':' || char == '$');
        return looks_like_cells.then(|| Pointer::Sheet { name, range: Some(range.to_owned()) });
    }
    None
}

impl Serialize for Pointer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Pointer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &Pointer) {
        assert_eq!(&text.parse::<Pointer>().unwrap(), expected);
        assert_eq!(expected.to_string(), text);
    }

    #[test]
    fn every_kind_reads_back() {
        check("whole", &Pointer::Whole);
        check("page 3", &Pointer::Page(3));
        check("slide 7", &Pointer::Slide(7));
        check("line 120", &Pointer::Line(120));
        check("message 4", &Pointer::Message(4));
        check("sheet 'Q2'", &Pointer::Sheet { name: "Q2".into(), range: None });
        check("sheet 'Bob''s'", &Pointer::Sheet { name: "Bob's".into(), range: None });
        check(
            "sheet 'Q2' A1:C9",
            &Pointer::Sheet { name: "Q2".into(), range: Some("A1:C9".into()) },
        );
        check("/articles/0/content", &Pointer::Json("/articles/0/content".into()));
        check(
            "a/b.docx > page 2",
            &Pointer::Inner { path: "a/b.docx".into(), place: Box::new(Pointer::Page(2)) },
        );
    }

    #[test]
    fn nonsense_is_refused() {
        for text in [
            "",
            "page",
            "page 0",
            "page x",
            "sheet Q2",
            "sheet 'Q2",
            "sheet 'Q' drop table",
            " > page 1",
        ] {
            assert!(text.parse::<Pointer>().is_err(), "`{text}` must be refused");
        }
    }
}
