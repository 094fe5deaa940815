//! Tables inside the strings of another text: rows or a document of JSON that were written with
//! escapes, as a member of JSON holds them.
//!
//! What is between two quotes is read as the text that it stands for, wherever it begins: of a
//! piece of a text it is not known whether its first quote opens or closes.

use super::{PrivatePiece, columns};

/// Strings in strings in strings are looked at.
const MAX_DEPTH: usize = 3;

/// Finds what is private in strings with escaped line breaks or quotes.
pub(super) fn find(text: &str, found: &mut Vec<PrivatePiece>) {
    find_in(text, 0, found);
}

fn find_in(text: &str, depth: usize, found: &mut Vec<PrivatePiece>) {
    if depth == MAX_DEPTH || !text.contains('\\') {
        return;
    }
    let mut start = 0;
    while start < text.len() {
        let end = end_of_string(text, start);
        let string = text.get(start..end).unwrap_or_default();
        if string.contains("\\n") || string.contains("\\\"") || string.contains("\\u000a") {
            find_in_string(string, start, depth, found);
        }
        start = end + 1;
    }
}

fn find_in_string(string: &str, start: usize, depth: usize, found: &mut Vec<PrivatePiece>) {
    let meant = Meant::of(string);
    let mut inside = Vec::new();
    columns::find_tables(&meant.text, &mut inside);
    find_in(&meant.text, depth + 1, &mut inside);
    found.extend(inside.into_iter().filter_map(|piece| {
        let from = *meant.from.get(piece.bytes.start)?;
        let to = *meant.from.get(piece.bytes.end)?;
        Some(PrivatePiece { kind: piece.kind, bytes: start + from..start + to })
    }));
}

/// Gives where the next quote is that is not escaped, or the end.
fn end_of_string(text: &str, from: usize) -> usize {
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

/// What a string stands for, and where each byte of it comes from; then the string's length.
struct Meant {
    text: String,
    from: Vec<usize>,
}

impl Meant {
    fn of(string: &str) -> Self {
        let mut meant = Meant {
            text: String::with_capacity(string.len()),
            from: Vec::with_capacity(string.len() + 1),
        };
        let mut at = 0;
        while let Some(char) = string.get(at..).and_then(|rest| rest.chars().next()) {
            let (seen, n_bytes) = match char {
                '\\' => escaped(string.get(at + 1..).unwrap_or_default()),
                char => (char, char.len_utf8()),
            };
            meant.text.push(seen);
            meant.from.extend(std::iter::repeat_n(at, seen.len_utf8()));
            at += n_bytes;
        }
        meant.from.push(string.len());
        meant
    }
}

/// Reads what is behind a backslash; gives what it stands for, and how long it is with the
/// backslash.
fn escaped(code: &str) -> (char, usize) {
    let Some(char) = code.chars().next() else { return ('\\', 1) };
    let hex = || {
        let digits = code.get(1..5).filter(|digits| digits.is_ascii())?;
        char::from_u32(u32::from_str_radix(digits, 16).ok()?)
    };
    match char {
        'n' => ('\n', 2),
        'r' => ('\r', 2),
        't' => ('\t', 2),
        'u' => hex().map_or(('\\', 1), |char| (char, 6)),
        '"' | '\\' | '/' => (char, 2),
        _ => ('\\', 1),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::values_of;
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(values_of(find, text), expected, "{text}");
    }

    /// A table in a member was hidden when the member was read alone, and shown with the others.
    #[test]
    fn tables_in_strings() {
        check(r#"{"notes":"user,password\nann,tiger\nbob,lion"}"#, &["tiger", "lion"]);
        check(r#"{"x":"a\\nb","notes":"user\tpassword\r\nann\ttiger"}"#, &["tiger"]);
        check(r#"{"x":"{\"rows\":[[\"user\",\"password\"],[\"ann\",\"tiger\"]]}"}"#, &["tiger"]);
        check(r#"{"x":"{\"y\":\"user;password\\nann;tiger\\n\"}"}"#, &["tiger"]);
        // A piece that begins inside a string.
        check(
            r#"es: user,password\nann,tiger","more":"user;password\nbob;lion"#,
            &["tiger", "lion"],
        );
        check(r#"{"notes":"user,email\nann,tiger"}"#, &[]);
        check(r"C:\new\table", &[]);
    }

    #[test]
    fn it_takes_one_walk() {
        for text in ["\\\"".repeat(200_000), "\"\\n\\\\\\\"".repeat(50_000), "\\".repeat(400_000)] {
            find(&text, &mut Vec::new());
        }
    }
}
