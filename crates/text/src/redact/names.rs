//! Names of secrets as people write them: numbered, with what they are for, with a sign at the end.
//!
//! `Password 2`, `Password (initial)`, `db_password_old` and `PASSWORD:` name a password as
//! `password` does.

/// What is written behind the name of a secret to tell it from another one.
const QUALIFIERS: &[&str] = &[
    "old",
    "new",
    "prod",
    "production",
    "dev",
    "stage",
    "staging",
    "test",
    "live",
    "plain",
    "plaintext",
    "clear",
    "initial",
    "temp",
    "temporary",
    "tmp",
    "current",
    "confirm",
    "confirmation",
    "repeat",
    "again",
    "backup",
    "default",
    "neu",
    "alt",
    "primary",
    "secondary",
    "value",
    "stringvalue",
    "s",
];

/// The longest note in brackets behind a name, in bytes.
const MAX_NOTE_BYTES: usize = 40;

/// The longest number behind a name, in digits: `password2`, but not `token4096`.
const MAX_NUMBER_DIGITS: usize = 2;

/// Gives a name without what only tells it from others.
pub(super) fn without_qualifiers(name: &str) -> &str {
    let mut name = name;
    loop {
        let before = name.len();
        name = name.trim_end().trim_end_matches([':', '*', '#', '?', '!', '.', '"', '\'']);
        name = without_note(name);
        name = without_number(name);
        name = without_word(name);
        if name.len() == before {
            return name;
        }
    }
}

/// `password (initial)`, `password [plain]`.
fn without_note(name: &str) -> &str {
    let open = match name.chars().next_back() {
        Some(')') => '(',
        Some(']') => '[',
        _ => return name,
    };
    match name.rsplit_once(open) {
        // `[password]` is a mark, and no name at all.
        Some((head, note)) if !head.is_empty() && note.len() <= MAX_NOTE_BYTES => head,
        _ => name,
    }
}

/// `password2`, `password_2`, `Password 2`, `password.0` of a list.
fn without_number(name: &str) -> &str {
    let head = name.trim_end_matches(|char: char| char.is_ascii_digit());
    let n_digits = name.len() - head.len();
    if head.is_empty() || !(1..=MAX_NUMBER_DIGITS).contains(&n_digits) {
        return name;
    }
    head.strip_suffix(['_', '-', ' ', '.']).unwrap_or(head)
}

/// `password_old`, `token-prod`, `Password new`.
fn without_word(name: &str) -> &str {
    match name.rsplit_once(['_', '-', ' ', '.']) {
        Some((head, word))
            if !head.is_empty() && QUALIFIERS.iter().any(|one| one.eq_ignore_ascii_case(word)) =>
        {
            head
        }
        _ => name,
    }
}

/// Gives how many bytes behind the word of a secret still belong to its name, where a sign of its
/// value follows: `password2=`, `password_old:`, `password (new) =`.
pub(super) fn qualifier_len(rest: &str) -> usize {
    let tail = super::after(rest, 0, MAX_NOTE_BYTES + 8);
    let line = tail.split('\n').next().unwrap_or_default();
    let Some(at) = line.find([':', '=', '：', '"', '\'']) else { return 0 };
    let tail = line.get(..at).unwrap_or_default();
    let qualifier = tail.trim_end();
    let is_name = qualifier.starts_with(['_', '-', ' ', '(', '.'])
        || qualifier.starts_with(|char: char| char.is_ascii_digit());
    // Judged by the same rules, as the end of a name of one letter.
    let is_qualifier = is_name && !qualifier.is_empty() && {
        let name = ["x", qualifier].concat();
        without_qualifiers(&name) == "x"
    };
    if is_qualifier { qualifier.len() } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tells_one_secret_from_another_is_left_out() {
        for name in [
            "password",
            "password2",
            "password_2",
            "password 2",
            "password (initial)",
            "password [plain]",
            "password:",
            "password*",
            "password_old",
            "password (old) 2",
            "password-new",
            "password new",
            "password.0",
            "password.stringValue",
            "password.S",
        ] {
            assert_eq!(without_qualifiers(name), "password", "{name}");
        }
        for name in ["[password]", "password_hash", "password4096", "passwords", "2", "(note)"] {
            assert_eq!(without_qualifiers(name), name);
        }
    }

    #[test]
    fn only_before_a_sign_a_qualifier_belongs_to_the_name() {
        for (rest, n_bytes) in [
            ("2=x", 1),
            ("_old: x", 4),
            (" (new) = x", 6),
            ("_2\": \"x\"", 2),
            (" 2: x", 2),
            ("= x", 0),
            (" reset: x", 0),
            (".12: x", 3),
            (".length: x", 0),
            ("_hash=x", 0),
            (" (new) x", 0),
            ("2 x", 0),
        ] {
            assert_eq!(qualifier_len(rest), n_bytes, "{rest}");
        }
    }
}
