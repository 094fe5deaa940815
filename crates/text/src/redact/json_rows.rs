//! Tables written as lists in lists: `[["user", "password"], ["ann", …]]`, and
//! `{"columns": ["user", "password"], "rows": [["ann", …]]}`.
//!
//! The names come first, as strings alone, and hold for the lists of as many elements that follow
//! them: beside theirs, or one list deeper where the names are the member of an object.

use std::ops::Range;

use super::credentials::is_secret_name;
use super::placeholder::is_placeholder;
use super::{PrivateKind, PrivatePiece};

/// Names in one list at most.
const MAX_NAMES: usize = 1_000;

/// A list that is being read.
struct List {
    is_object: bool,
    /// Its elements, while all of them are strings, numbers and words.
    elements: Option<Vec<Element>>,
}

/// An element of a list, without its quotes.
struct Element {
    bytes: Range<usize>,
    is_string: bool,
}

/// What is known of the table that is being read.
struct Names {
    /// How deep its rows are.
    depth: usize,
    /// Where it ends: with a list less deep than this.
    until: usize,
    n_names: usize,
    secrets: Vec<usize>,
}

/// Finds the cells of columns of secrets.
pub(super) fn find(text: &str, found: &mut Vec<PrivatePiece>) {
    if !text.contains('[') {
        return;
    }
    let mut open: Vec<List> = Vec::new();
    let mut names: Option<Names> = None;
    let mut at = 0;
    while let Some(byte) = text.as_bytes().get(at) {
        match byte {
            b'[' | b'{' => {
                if let Some(around) = open.last_mut() {
                    around.elements = None;
                }
                let is_object = *byte == b'{';
                open.push(List { is_object, elements: (!is_object).then(Vec::new) });
                at += 1;
            }
            b']' | b'}' => {
                let depth = open.len();
                if let Some(elements) = open.pop().and_then(|list| list.elements) {
                    let is_member = open.last().is_some_and(|around| around.is_object);
                    end_of_list(text, &elements, depth, is_member, &mut names, found);
                }
                names = names.filter(|names| open.len() >= names.until);
                at += 1;
            }
            b'"' => {
                let end = string_end(text, at + 1);
                push(&mut open, Element { bytes: at + 1..end, is_string: true });
                at = end + 1;
            }
            byte if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.') => {
                let is_word = |byte: &&u8| byte.is_ascii_alphanumeric() || b"-+._".contains(byte);
                let len = text.as_bytes().iter().skip(at).take_while(is_word).count();
                push(&mut open, Element { bytes: at..at + len, is_string: false });
                at += len;
            }
            b' ' | b'\n' | b'\r' | b'\t' | b',' | b':' => at += 1,
            // No JSON: whatever was open is none.
            _ => {
                open.clear();
                names = None;
                at += 1;
            }
        }
    }
}

fn push(open: &mut [List], element: Element) {
    let Some(list) = open.last_mut() else { return };
    match &mut list.elements {
        Some(elements) if elements.len() < MAX_NAMES => elements.push(element),
        elements => *elements = None,
    }
}

/// A list is a row of the table that is being read, or the names of another one.
fn end_of_list(
    text: &str,
    elements: &[Element],
    depth: usize,
    is_member: bool,
    names: &mut Option<Names>,
    found: &mut Vec<PrivatePiece>,
) {
    let word = |element: &Element| text.get(element.bytes.clone()).unwrap_or_default();
    if let Some(names) = names
        && names.depth == depth
        && names.n_names == elements.len()
    {
        for element in names.secrets.iter().filter_map(|at| elements.get(*at)) {
            let value = word(element);
            let is_none = matches!(value, "" | "null" | "true" | "false");
            if !is_none && !is_placeholder(value) {
                let bytes = element.bytes.clone();
                found.push(PrivatePiece { kind: PrivateKind::Password, bytes });
            }
        }
        return;
    }
    if elements.len() < 2 || !elements.iter().all(|element| element.is_string) {
        return;
    }
    let secrets: Vec<usize> = elements
        .iter()
        .enumerate()
        .filter(|(_, element)| is_secret_name(word(element)))
        .map(|(at, _)| at)
        .collect();
    // Where every element names a secret they are words, and no headings.
    if secrets.is_empty() || secrets.len() == elements.len() {
        return;
    }
    let (row_depth, until) = if is_member { (depth + 1, depth - 1) } else { (depth, depth - 1) };
    *names = Some(Names { depth: row_depth, until, n_names: elements.len(), secrets });
}

/// Gives where a string ends that begins at a place: at its quote, or with the text.
fn string_end(text: &str, from: usize) -> usize {
    let mut bytes = text.as_bytes().iter().enumerate().skip(from);
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' => {
                bytes.next();
            }
            b'"' => return at,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let mut found = Vec::new();
        find(text, &mut found);
        let values: Vec<&str> = found.iter().map(|piece| &text[piece.bytes.clone()]).collect();
        assert_eq!(values, expected, "{text}");
    }

    #[test]
    fn cells_below_a_name_of_secrets() {
        check(r#"[["user","password"],["ann","tiger"],["bob","li\"on"]]"#, &["tiger", r#"li\"on"#]);
        check(
            r#"{"columns": ["id", "user", "password"], "rows": [[1, "ann", "tiger"], [2, "bob", 4711]]}"#,
            &["tiger", "4711"],
        );
        check(
            r#"{"a": {"fields":["user","api_key"],"data":[["ann","tiger"],["b",null]]}}"#,
            &["tiger"],
        );
        check("[\n  [\"user\", \"password\"],\n  [\"ann\", \"tiger\"]\n]", &["tiger"]);
        // Lists of another kind, and what is no table.
        check(r#"{"fields": ["user", "password"], "roles": ["admin", "reader"]}"#, &[]);
        check(r#"[["user","password"]], [["ann","tiger"]]"#, &[]);
        check(r#"[["user","email"],["ann","tiger"]]"#, &[]);
        check(r#"{"words": [["password", "secret"], ["token", "pwd"]]}"#, &[]);
        check("array[0][1] of the password", &[]);
        check("[[[[\"a\", \"password\"", &[]);
    }

    #[test]
    fn it_takes_one_walk() {
        let text = "[".repeat(200_000) + &"\"password\",".repeat(20_000);
        let mut found = Vec::new();
        find(&text, &mut found);
        assert_eq!(found, []);
    }
}
