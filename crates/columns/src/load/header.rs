//! What the first lines of delimited text say: what separates cells, and the names of the columns.

use super::above_header::MAX_ABOVE;

/// Finds what separates cells. It must separate the names of the columns, too: rows with lists
/// can have more of what separates the values of a list. Where the first line holds none of it,
/// and the lines below agree on one, the first line is a title.
pub(super) fn delimiter_of(text: &[u8]) -> u8 {
    const CANDIDATES: [u8; 4] = [b',', b';', b'\t', b'|'];
    let mut rest = text;
    for _ in 0..=MAX_ABOVE {
        let guessed = model::guess_delimiter(rest);
        let header = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let count = |wanted: u8| memchr::memchr_iter(wanted, header).count();
        if count(guessed) > 0 {
            return guessed;
        }
        let in_header = CANDIDATES.into_iter().max_by_key(|candidate| count(*candidate));
        if let Some(separator) = in_header.filter(|candidate| count(*candidate) > 0) {
            return separator;
        }
        rest = rest.get(header.len() + 1..).unwrap_or_default();
    }
    model::guess_delimiter(text)
}

/// Names every column: empty names by place, repeated names by a number.
pub(super) fn unique(names: Vec<String>) -> Vec<String> {
    let mut seen: Vec<String> = Vec::with_capacity(names.len());
    for (place, name) in names.into_iter().enumerate() {
        let base = if name.is_empty() { format!("column_{}", place + 1) } else { name };
        let mut name = base.clone();
        let mut number = 2;
        while seen.contains(&name) {
            name = format!("{base}_{number}");
            number += 1;
        }
        seen.push(name);
    }
    seen
}
