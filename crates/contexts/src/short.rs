//! Short strings of a document, indexed together: those of one object or list become one text,
//! a line for each, with their names.
//!
//! A document without long strings, such as a list of questions and answers or the description of
//! a service, can be found this way. The place of such a text is its object or list.

use crate::json::pointer;
use crate::node::{CLOSING, opening_around};

/// A text that has grown this long is given; what follows begins another, in characters.
const MAX_TEXT_CHARS: usize = 50_000;

/// What is shown in the place of a value that is private by a name.
pub(crate) const PRIVATE: text::PrivateKind = text::PrivateKind::Password;

/// Short strings of one object or list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ShortStrings {
    /// The place of the object or list.
    pub(crate) pointer: String,
    pub(crate) text: String,
    /// The length of a string that is indexed by itself, in characters; nothing for short ones.
    pub(crate) alone: Option<usize>,
}

/// Gathers short strings while a document is walked.
#[derive(Debug, Default)]
pub(crate) struct Gathering {
    /// Objects and lists that are open, the innermost last.
    open: Vec<Open>,
}

/// The place is not kept: those of a document that nests a million deep would together take the
/// square of its length.
#[derive(Debug, Default)]
struct Open {
    text: String,
    n_chars: usize,
}

impl Gathering {
    /// An object or list begins.
    pub(crate) fn begin(&mut self) {
        self.open.push(Open::default());
    }

    /// Takes a short string, and gives a text that is long enough.
    pub(crate) fn take(&mut self, pointer: &str, value: &str) -> Option<ShortStrings> {
        let value = value.trim();
        if value.is_empty() {
            return None;
        }
        let Some(open) = self.open.last_mut() else {
            // The document, or what a tool covers, is this string alone.
            return Some(given(pointer.to_owned(), value.to_owned()));
        };
        let inside = read_inside(pointer, value);
        let (name, value) = (name_of(pointer), inside.as_deref().unwrap_or(value));
        let line = match &name {
            Some(name) if text::is_secret_name(name) => format!("{name}: {}\n", PRIVATE.mark()),
            Some(name) => format!("{name}: {value}\n"),
            None => format!("{value}\n"),
        };
        open.n_chars += line.chars().count();
        open.text.push_str(&line);
        if open.n_chars < MAX_TEXT_CHARS {
            return None;
        }
        open.n_chars = 0;
        let around = pointer.rsplit_once('/').map_or("", |(around, _)| around);
        Some(given(around.to_owned(), std::mem::take(&mut open.text)))
    }

    /// The innermost object or list, which is at `pointer`, ends; gives its short strings.
    pub(crate) fn end(&mut self, pointer: &str) -> Option<ShortStrings> {
        let open = self.open.pop()?;
        (!open.text.is_empty()).then(|| given(pointer.to_owned(), open.text))
    }
}

fn given(pointer: String, mut text: String) -> ShortStrings {
    text.truncate(text.trim_end().len());
    ShortStrings { pointer, text, alone: None }
}

/// Gives what may be shown of a string in an object that is called a secret; nothing for another.
fn read_inside(pointer: &str, value: &str) -> Option<String> {
    let before = opening_around(pointer, true)?;
    let around = text::PieceContext { before: &before, after: CLOSING, ..Default::default() };
    Some(text::redact_piece(value, around).text)
}

/// Gives the name of a member; nothing for an element of a list.
fn name_of(place: &str) -> Option<String> {
    let name = pointer::components(place).ok()?.pop()?;
    name.parse::<u64>().is_err().then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_of_one_object_are_one_text() {
        let mut gathering = Gathering::default();
        gathering.begin();
        gathering.begin();
        assert_eq!(gathering.take("/faq/0/q", "Where is it?"), None);
        assert_eq!(gathering.take("/faq/0/a", " On the hill. "), None);
        assert_eq!(gathering.take("/faq/0/empty", "  "), None);
        let found = gathering.end("/faq/0").unwrap();
        assert_eq!(
            (found.pointer.as_str(), found.text.as_str()),
            ("/faq/0", "q: Where is it?\na: On the hill.")
        );
        assert_eq!(gathering.take("/faq/1", "alone in the list"), None);
        assert_eq!(gathering.end("/faq").unwrap().text, "alone in the list");
        assert_eq!(gathering.end(""), None);
        let alone = gathering.take("/name", "x").unwrap();
        assert_eq!((alone.pointer.as_str(), alone.text.as_str()), ("/name", "x"));
    }

    #[test]
    fn a_long_list_gives_several_texts() {
        let mut gathering = Gathering::default();
        gathering.begin();
        let given: Vec<ShortStrings> = (0..20_000)
            .filter_map(|n| gathering.take(&format!("/{n}"), &format!("value number {n}")))
            .collect();
        assert!(given.len() > 3);
        assert!(given.iter().all(|one| one.pointer.is_empty()));
        assert!(given.iter().all(|one| one.text.chars().count() <= MAX_TEXT_CHARS + 40));
    }
}
