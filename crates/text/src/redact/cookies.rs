//! Cookies of sessions in requests and answers that somebody wrote down: `Cookie: sid=…`,
//! `Set-Cookie: token=…`. Whoever has one is whom it belongs to.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::{PrivateKind, PrivatePiece, after};

/// The longest line of cookies that is looked at.
const MAX_LINE_BYTES: usize = 4_096;

/// The shortest value that is taken for one that opens a session.
const MIN_VALUE_BYTES: usize = 16;

/// What comes before them, in any case.
pub(super) const HEADER: &str = "cookie:";

static FINDER: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build([HEADER])
        .expect("one word makes an automaton")
});

/// Finds the values of cookies.
pub(super) fn find(text: &str, found: &mut Vec<PrivatePiece>) {
    for header in FINDER.find_iter(text) {
        let rest = after(text, header.end(), MAX_LINE_BYTES);
        let line = rest.split(['\n', '"', '\'']).next().unwrap_or_default();
        let mut at = header.end();
        for pair in line.split(';') {
            if let Some((name, value)) = pair.split_once('=') {
                let start = at + name.len() + 1;
                let value = value.trim_end();
                let has = |is: fn(&u8) -> bool| value.as_bytes().iter().any(is);
                let is_made_up = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
                if value.len() >= MIN_VALUE_BYTES && is_made_up && !value.contains(' ') {
                    let bytes = start..start + value.len();
                    found.push(PrivatePiece { kind: PrivateKind::Token, bytes });
                }
            }
            at += pair.len() + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_of_sessions_and_others() {
        let check = |text: &str, expected: &[&str]| {
            let mut found = Vec::new();
            find(text, &mut found);
            let values: Vec<&str> = found.iter().map(|piece| &text[piece.bytes.clone()]).collect();
            assert_eq!(values, expected, "{text}");
        };
        check(
            "Cookie: sid=aB3xYz9aB3xYz9aB; theme=dark; csrf=0123456789abcdef0\r\nx",
            &["aB3xYz9aB3xYz9aB", "0123456789abcdef0"],
        );
        check("set-cookie: T=aB3xYz9aB3xYz9aB; Path=/; HttpOnly", &["aB3xYz9aB3xYz9aB"]);
        check("curl -H 'Cookie: t=aB3xYz9aB3xYz9aB' x=aB3xYz9aB3xYz9aB", &["aB3xYz9aB3xYz9aB"]);
        check("Set-Cookie: lang=en; Expires=Wed, 21 Oct 2026 07:28:00 GMT", &[]);
        check("A cookie: flour, sugar = sweet", &[]);
    }
}
