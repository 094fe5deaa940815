//! Passwords in sentences: `was reset to …`, `use … as the password`, `the password (…)`.
//!
//! Between a name and its value prose has words that only hold them together. What they hold is a
//! password where nobody would write it as a word: letters and digits in one.

use std::ops::Range;

use super::secret_words::is_general;
use super::{after, before};

/// How much of a line is looked at.
const MAX_PHRASE_BYTES: usize = 160;

/// Words between a name and its value, at most.
const MAX_LINKS: usize = 7;

/// The shortest word that is taken for a password where nothing but prose announces it.
const MIN_BARE_CHARS: usize = 8;

/// Words that say that a value follows.
const VERBS: &[&str] = &[
    "is",
    "was",
    "are",
    "has",
    "been",
    "be",
    "changed",
    "reset",
    "set",
    "updated",
    "rotated",
    "remains",
    "stays",
    "now",
    "lautet",
    "ist",
    "wurde",
    "geändert",
    "est",
    "este",
    "es",
    "è",
];

/// Words that may be between them.
const FILLERS: &[&str] = &[
    "to",
    "as",
    "still",
    "currently",
    "temporarily",
    "again",
    "will",
    "the",
    "following",
    "on",
    "auf",
    "jetzt",
    "nun",
    "maintenant",
    "ahora",
    "acum",
    "our",
    "my",
    "your",
];

/// Words between a value and the name behind it: `… is the new root password`.
const BETWEEN: &[&str] = &[
    "the",
    "a",
    "my",
    "our",
    "your",
    "his",
    "her",
    "their",
    "its",
    "new",
    "old",
    "temporary",
    "initial",
    "default",
    "current",
    "admin",
    "root",
    "user",
    "login",
    "database",
    "db",
    "wifi",
    "wi-fi",
    "wireless",
    "network",
    "das",
    "le",
    "la",
    "el",
    "neue",
];

/// What digits and letters in one word mean in technical prose.
const TECHNICAL: &[&str] = &[
    "sha", "md5", "base64", "base32", "bcrypt", "argon", "pbkdf", "utf", "oauth", "x509", "http",
    "365", "ascii", "chars", "char", "bits", "bytes", "days", "rsa", "aes", "hmac", "ed25519",
];

/// Tells whether a word of prose is made up: letters and digits in one, and not the name of a
/// method or a number of something.
pub(super) fn is_made_up(word: &str) -> bool {
    let lower = word.to_lowercase();
    let has_digit = word.contains(|char: char| char.is_ascii_digit());
    let has_letter = word.contains(char::is_alphabetic);
    let is_address = word.contains("://") || word.starts_with("www.");
    word.chars().count() >= MIN_BARE_CHARS
        && has_digit
        && has_letter
        && !is_address
        && !is_date(word)
        && !TECHNICAL.iter().any(|part| lower.contains(part))
}

/// `2024-01-02T10:20`, `v1.2.3-beta`, `chapter-7.txt`.
fn is_date(word: &str) -> bool {
    let rest = word.trim_start_matches(['v', 'V']);
    let n_digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    n_digits > 0 && rest.get(n_digits..).is_some_and(|tail| tail.starts_with(['.', '-', ':', '/']))
}

/// `has been changed to …`, `'s …`: gives the text that begins with the value.
pub(super) fn value_behind(rest: &str) -> Option<&str> {
    let line = first_line(rest);
    let possessive = ["'s ", "’s "].iter().find_map(|sign| line.strip_prefix(sign));
    let mut words = possessive.or_else(|| line.strip_prefix(' '))?;
    let mut has_verb = possessive.is_some();
    for _ in 0..MAX_LINKS {
        let word = words.split(' ').next()?;
        let is_verb = VERBS.iter().any(|verb| verb.eq_ignore_ascii_case(word));
        if !is_verb && !FILLERS.iter().any(|filler| filler.eq_ignore_ascii_case(word)) {
            break;
        }
        has_verb |= is_verb;
        words = words.get(word.len()..)?.strip_prefix(' ')?;
    }
    let value = words.split(' ').next()?.trim_matches(SIGNS);
    let from = rest.get(line.len() - words.len()..)?;
    (has_verb && is_made_up(value)).then_some(from)
}

/// Signs that may be around a value in a sentence.
const SIGNS: [char; 9] = ['"', '\'', '`', '“', '”', '.', ',', ';', '*'];

/// `use … as the password`, `… is our new password`: gives where the value is.
pub(super) fn value_ahead(text: &str, name_at: Range<usize>, name: &str) -> Option<Range<usize>> {
    let singular = name.to_ascii_lowercase();
    let behind = first_line(text.get(name_at.end..)?);
    let ends = behind.is_empty()
        || behind.starts_with(['.', ',', ';', '!', ')', '\r'])
        || [" for ", " to ", " of ", " on ", " in ", " at "]
            .iter()
            .any(|one| behind.starts_with(one));
    if is_general(&singular) || !ends {
        return None;
    }
    let head = before(text, name_at.start, MAX_PHRASE_BYTES);
    let line_start = head.rfind('\n').map_or(0, |at| at + 1);
    let mut words = head.get(line_start..)?.strip_suffix(' ')?;
    let mut n_between = 0;
    loop {
        let (rest, word) = words.rsplit_once(' ')?;
        words = rest;
        if ["as", "is", "ist", "als", "est", "es"].contains(&word) {
            break;
        }
        n_between += 1;
        let is_between = BETWEEN.iter().any(|one| one.eq_ignore_ascii_case(word));
        if !is_between || n_between > MAX_LINKS {
            return None;
        }
    }
    let word = words.rsplit(' ').next()?;
    let value = word.trim_matches(SIGNS);
    let from_sign = word.len() - word.trim_start_matches(SIGNS).len();
    let end_of_words = name_at.start - head.len() + line_start + words.len();
    let start = end_of_words - word.len() + from_sign;
    is_made_up(value).then_some(start..start + value.len())
}

/// `(…)`, `[…]`, `<…>` around one word that is a password by its letters: gives the text that
/// begins with it. Words of other kinds there say what belongs in the place.
pub(super) fn in_brackets(value: &str) -> Option<&str> {
    let closing = match value.chars().next()? {
        '(' => ')',
        '[' => ']',
        '<' => '>',
        _ => return None,
    };
    let (word, _) = after(value.get(1..)?, 0, MAX_PHRASE_BYTES).split_once(closing)?;
    let has_both = word.contains(char::is_lowercase) && word.contains(char::is_uppercase);
    let lower = word.to_lowercase();
    let is_name = ["pass", "secret", "token", "key", "your"].iter().any(|one| lower.contains(one));
    let is_word = !word.contains(|char: char| char.is_whitespace() || "=/,\"'".contains(char));
    (has_both && is_word && !is_name && is_made_up(word)).then(|| value.get(1..))?
}

fn first_line(text: &str) -> &str {
    after(text, 0, MAX_PHRASE_BYTES).split('\n').next().unwrap_or_default()
}
