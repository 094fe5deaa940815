//! Variables that are set: `export PGPASSWORD=…`, `SMTP_PASS=…`, `ENV API_TOKEN=…`, anywhere in a
//! line.
//!
//! Names of variables run their words together, so that the words of `credentials` are not
//! found in them; here a part of the name is enough.

use std::ops::Range;

use super::credentials::MAX_LOOKED_AT_BYTES;
use super::placeholder::is_placeholder;
use super::values::{Closing, Ends};
use super::{PrivateKind, PrivatePiece, after};

/// Parts of a name whose value is a secret whatever it looks like.
const SECRET_PARTS: &[&str] = &["PASS", "PWD", "SECRET", "CREDENTIAL", "PRIVATE"];

/// Parts of a name whose value is a secret when it looks random: these also name counts, files
/// and columns.
const RANDOM_PARTS: &[&str] = &["TOKEN", "KEY", "AUTH", "SALT", "DSN"];

/// The longest name of a variable.
const MAX_NAME_BYTES: usize = 64;

/// The shortest value that is a secret because it looks random.
const MIN_RANDOM_CHARS: usize = 8;

/// Finds the values of variables that hold secrets.
pub(super) fn find(text: &str, found: &mut Vec<PrivatePiece>) {
    let mut ends = Ends::default();
    for (sign, _) in text.match_indices('=') {
        if let Some(bytes) = secret_value(text, sign, &mut ends) {
            found.push(PrivatePiece { kind: PrivateKind::Password, bytes });
        }
    }
}

/// Gives the value of the variable whose name ends before a sign.
fn secret_value(text: &str, sign: usize, ends: &mut Ends) -> Option<Range<usize>> {
    // `X=…`, `X+=…` of a shell, `X?=…` and `X:=…` of a makefile.
    let head = text.get(..sign)?.trim_end_matches(['+', '?', ':']).trim_end_matches(' ');
    let name_len = head
        .bytes()
        .rev()
        .take(MAX_NAME_BYTES + 1)
        .take_while(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_')
        .count();
    let (head, name) = head.split_at_checked(head.len() - name_len)?;
    let begins_word = head.chars().next_back().is_none_or(|char| {
        char.is_whitespace()
            || matches!(char, '-' | '$' | '>' | '+' | '`' | ';' | '&' | ':' | '"' | '\'')
    });
    if !(1..=MAX_NAME_BYTES).contains(&name_len) || !begins_word {
        return None;
    }
    if !SECRET_PARTS.iter().chain(RANDOM_PARTS).any(|part| name.contains(part)) {
        return None;
    }
    let value = text.get(sign + 1..)?.trim_start_matches(' ');
    // A line of a shell goes on after a backslash.
    let value = value.strip_prefix("\\\n").unwrap_or(value);
    let (closing, start) = Closing::at(text, text.len() - value.len());
    // Signs that end a word of prose are in passwords.
    let closing = if closing == Closing::Blank { Closing::Word } else { closing };
    let end = ends.of(text, start, closing);
    let value = after(text.get(..end)?, start, MAX_LOOKED_AT_BYTES);
    is_secret(name, value, closing).then_some(start..end)
}

fn is_secret(name: &str, value: &str, closing: Closing) -> bool {
    let is_literal = closing == Closing::Quote('\'');
    let is_reference = value.starts_with(['$', '%', '<', '{', '(']) && !is_literal;
    if value.is_empty() || is_reference || is_placeholder(value) {
        return false;
    }
    if SECRET_PARTS.iter().any(|part| name.contains(part)) {
        // `PASSWORD_FILE=/run/secrets/db` and `PASS_COUNT=3` name something else.
        let is_path = value.starts_with(['/', '.', '~']) && !value.contains(' ');
        let is_short_number = value.len() < 4 && value.bytes().all(|byte| byte.is_ascii_digit());
        return !is_path && !is_short_number;
    }
    let looks_random = value.chars().count() >= MIN_RANDOM_CHARS
        && value.bytes().any(|byte| byte.is_ascii_digit())
        && value.chars().any(char::is_alphabetic)
        && !value.contains(['/', ' ']);
    looks_random && RANDOM_PARTS.iter().any(|part| name.contains(part))
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
    fn variables_that_hold_secrets() {
        check("export PGPASSWORD=tiger\nexport PATH=/usr/bin\n", &["tiger"]);
        check("  export DB_PASS=\"two words\" # note", &["two words"]);
        check("SMTP_PASS=hunter2; run", &["hunter2"]);
        check("ENV GH_TOKEN=abc12345", &["abc12345"]);
        check("$ export AWS_SECRET_ACCESS_KEY='x/y+z'", &["x/y+z"]);
        check("- REDIS_PWD = fox", &["fox"]);
        check("export PASSWORD_FILE=/run/secrets/db", &[]);
        check("export PASSWORD=$OTHER", &[]);
        check("MAX_TOKENS=4096\nKEY_COLUMN=id\nCOMPASS=north1234", &["north1234"]);
        check("PASS=3 of 4 tests", &[]);
        check("x = 5", &[]);
        check("first run export PGPASSWORD=tiger then psql", &["tiger"]);
        check("docker run -e DB_PASS=tiger -e X=1 image", &["tiger"]);
        check("export DB_PASSWORD=$'Hunter2Zebra'", &["Hunter2Zebra"]);
        check("export DB_PASSWORD+=Hunter2Zebra", &["Hunter2Zebra"]);
        check("export DB_PASSWORD=\\\nHunter2Zebra", &["Hunter2Zebra"]);
        check("export DB_PASSWORD='it'\\''sZebra99'", &["it'\\''sZebra99"]);
        check("export DB_PASSWORD=\"ab\\\"Zebra99xx\"", &["ab\\\"Zebra99xx"]);
        check("export DB_PASSWORD=\"Hunter2\"'Zebra99'", &["Hunter2\"'Zebra99"]);
        check("export DB_PASSWORD=Hunter2\\ Zebra99 x", &["Hunter2\\ Zebra99"]);
        let long = "aB3".repeat(3_000);
        check(&format!("export API_TOKEN={long}\nend"), &[&long]);
        check("f(A_PASSWORD==B) && xPASSWORD=lion", &[]);
    }
}
