//! Passwords in statements that write rows: `INSERT … (id, password) VALUES (1, '…')`, and the rows
//! of `COPY … (id, password) FROM stdin`.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::credentials::is_secret_name;
use super::placeholder::is_placeholder;
use super::{PrivateKind, PrivatePiece, before};

/// How far before its rows a list of columns may begin.
const MAX_COLUMNS_BYTES: usize = 4_096;

/// What comes between the columns and the rows.
static STARTS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(["values", "from stdin"])
        .expect("two words make an automaton")
});

/// Finds the values of columns that hold secrets.
pub(super) fn find(text: &str, found: &mut Vec<PrivatePiece>) {
    let mut read_to = 0;
    for start in STARTS.find_iter(text) {
        if start.start() < read_to {
            continue;
        }
        let columns = secret_columns(text, start.start());
        if columns.is_empty() {
            continue;
        }
        let is_copy = start.pattern().as_usize() == 1;
        read_to = match is_copy {
            true => copied_rows(text, start.end(), &columns, found),
            false => tuples(text, start.end(), &columns, found),
        };
    }
}

/// Gives which columns of the list that ends before a place hold secrets.
fn secret_columns(text: &str, at: usize) -> Vec<usize> {
    let head = before(text, at, MAX_COLUMNS_BYTES).trim_end();
    let Some(list) = head.strip_suffix(')').and_then(|head| head.rsplit_once('(')) else {
        return vec![];
    };
    let names = list.1.split(',').enumerate();
    names
        .filter(|(_, name)| is_secret_name(name.trim().trim_matches(['"', '`', '[', ']'])))
        .map(|(at, _)| at)
        .collect()
}

/// Reads `(…), (…)` from a place; gives where they end.
fn tuples(text: &str, from: usize, columns: &[usize], found: &mut Vec<PrivatePiece>) -> usize {
    let bytes = text.as_bytes();
    let mut at = from;
    let blank = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_whitespace);
    loop {
        while blank(at) || bytes.get(at) == Some(&b',') {
            at += 1;
        }
        if bytes.get(at) != Some(&b'(') {
            return at;
        }
        at += 1;
        for column in 0.. {
            while blank(at) {
                at += 1;
            }
            let value = value_at(bytes, at);
            if columns.contains(&column) {
                push(text, &value, found);
            }
            // Behind the quote, and whatever is left of an expression.
            at = value.end;
            while bytes.get(at).is_some_and(|byte| !matches!(byte, b',' | b')')) {
                at += 1;
            }
            match bytes.get(at) {
                Some(b',') => at += 1,
                Some(_) => {
                    at += 1;
                    break;
                }
                None => return at,
            }
        }
    }
}

/// Gives the value at a place, between quotes where it has them.
fn value_at(bytes: &[u8], from: usize) -> Range<usize> {
    let Some(quote @ (b'\'' | b'"')) = bytes.get(from) else {
        let len = bytes.iter().skip(from).take_while(|byte| !matches!(byte, b',' | b')')).count();
        return from..from + len;
    };
    let mut at = from + 1;
    while let Some(byte) = bytes.get(at) {
        if *byte == b'\\' || (byte == quote && bytes.get(at + 1) == Some(quote)) {
            at += 2;
        } else if byte == quote {
            break;
        } else {
            at += 1;
        }
    }
    from + 1..at.min(bytes.len())
}

/// Reads lines of cells with tabs between them up to `\.`; gives where they end.
fn copied_rows(text: &str, from: usize, columns: &[usize], found: &mut Vec<PrivatePiece>) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    let Some((first, rows)) = rest.split_once('\n') else { return from };
    let mut at = from + first.len() + 1;
    for line in rows.split_inclusive('\n') {
        let content = line.trim_end_matches(['\n', '\r']);
        if content == "\\." || content.is_empty() {
            break;
        }
        let mut start = at;
        for (column, cell) in content.split('\t').enumerate() {
            if columns.contains(&column) {
                push(text, &(start..start + cell.len()), found);
            }
            start += cell.len() + 1;
        }
        at += line.len();
    }
    at
}

fn push(text: &str, value: &Range<usize>, found: &mut Vec<PrivatePiece>) {
    let raw = text.get(value.clone()).unwrap_or_default().trim_end();
    if raw.is_empty() || raw == "\\N" || raw.eq_ignore_ascii_case("null") || is_placeholder(raw) {
        return;
    }
    let bytes = value.start..value.start + raw.len();
    found.push(PrivatePiece { kind: PrivateKind::Password, bytes });
}

#[cfg(test)]
mod tests {
    use super::super::tests::values_of;
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(values_of(find, text), expected, "{text}");
    }

    #[test]
    fn values_of_secret_columns() {
        check(
            "INSERT INTO users (id, password) VALUES (1,'kiwi'),\n (2, 'it''s, (so)');",
            &["kiwi", "it''s, (so)"],
        );
        check("insert into t (`password`, x) values (NULL, 'a'), ('plum', f(1, 2))", &["plum"]);
        check("INSERT INTO t (id, name) VALUES (1,'kiwi')", &[]);
        check("The values (of the password) VALUES", &[]);
        check(
            "COPY users (id, password, x) FROM stdin;\n1\tkiwi\ta\n2\t\\N\tb\n\\.\n3\tno\tc",
            &["kiwi"],
        );
    }
}
