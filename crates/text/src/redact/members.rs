//! Values of an object of JSON that is called a secret.

use super::after;
use super::credentials::{MAX_ELEMENTS, MAX_LOOKED_AT_BYTES};

/// Members that say in words what belongs into a secret, as in descriptions of a service.
pub(super) const DESCRIPTIONS: [&str; 8] =
    ["description", "summary", "title", "help", "hint", "comment", "note", "message"];

/// Gives where the strings begin that are in an object, however deep and beside whatever else, up
/// to its end: there that many objects and lists end which have begun.
pub(super) fn members_of(rest: &str, members: &str, n_open: usize) -> Vec<usize> {
    const MAX_SIGNS: usize = MAX_ELEMENTS * 3;
    let is_of_word = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '+' | '.');
    let mut values = Vec::new();
    let mut n_open = n_open;
    let mut name = "";
    let mut members = members;
    for _ in 0..MAX_SIGNS {
        members = members.trim_start();
        if let Some((content, next)) = string(members) {
            if let Some(value) = next.trim_start().strip_prefix(':') {
                (name, members) = (content, value);
                continue;
            }
            let is_description = content.contains(' ') && DESCRIPTIONS.contains(&name);
            if !is_description {
                values.push(rest.len() - members.len());
            }
            members = next;
            continue;
        }
        let word = after(members, 0, MAX_LOOKED_AT_BYTES);
        let word_len = word.find(|char| !is_of_word(char)).unwrap_or(word.len()).max(1);
        match members.chars().next() {
            Some('{' | '[') => n_open += 1,
            Some('}' | ']') => n_open -= 1,
            Some(char) if char == ',' || is_of_word(char) => {}
            _ => break,
        }
        if n_open == 0 {
            break;
        }
        members = members.get(word_len..).unwrap_or_default();
    }
    values
}

/// Reads a string between double quotes; gives it and what follows.
fn string(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix('"')?;
    let near = after(inner, 0, MAX_LOOKED_AT_BYTES);
    let mut is_escaped = false;
    let end = near.bytes().position(|byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    })?;
    Some((inner.get(..end)?, inner.get(end + 1..)?))
}
