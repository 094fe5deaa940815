//! Passwords and secrets that a word announces: `password = …`, and random strings nearby.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use super::announced::{Sign, separator};
use super::{PrivateKind, PrivatePiece, before};

/// The longest value that is taken as one.
const MAX_VALUE_BYTES: usize = 256;
/// How far after the word a random string is still its secret.
const NEAR_BYTES: usize = 80;
/// Shortest random string, by the alphabet it uses.
const MIN_RANDOM_BYTES: usize = 16;
/// Bits for each character above which a string of letters and digits is random.
const MIN_ENTROPY_BITS: f64 = 3.4;
/// The same for hexadecimal digits, whose alphabet is smaller.
const MIN_HEX_ENTROPY_BITS: f64 = 2.8;

/// Words that announce a secret; ASCII ones are found in any case.
const WORDS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "pass",
    "pwd",
    "secret",
    "api_key",
    "apikey",
    "api-key",
    "api key",
    "access_key",
    "accesskey",
    "access key",
    "access-key",
    "secret_key",
    "secretkey",
    "secret key",
    "secret-key",
    "private_key",
    "privatekey",
    "private key",
    "account_key",
    "accountkey",
    "auth_key",
    "authkey",
    "encryption_key",
    "signing_key",
    "token",
    "bearer",
    "authorization",
    "credential",
    "credentials",
    "identified by",
    "parola",
    "parolă",
    "parolei",
    "passwort",
    "kennwort",
    "mot de passe",
    "contraseña",
    "contrasena",
    "senha",
    "wachtwoord",
    "hasło",
    "lösenord",
    "пароль",
    "пароля",
    "パスワード",
    "暗証番号",
    "秘密鍵",
    "密码",
    "密碼",
    "口令",
    "密钥",
    "비밀번호",
    "암호",
];

static FINDER: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .build(WORDS)
        .expect("a few dozen constant words build an automaton")
});

/// Finds the values of announced secrets.
pub(super) fn find(text: &str, found: &mut Vec<PrivatePiece>) {
    // Stretches searched for random strings do not overlap, so many words cost one walk.
    let mut searched_to = 0;
    for word in FINDER.find_iter(text) {
        let is_inside_value = word.start() < searched_to
            && found.last().is_some_and(|piece| {
                piece.kind == PrivateKind::Password && word.start() < piece.bytes.end
            });
        if is_inside_value || !is_whole_word(text, word.start(), word.end()) {
            continue;
        }
        let name = text.get(word.range()).unwrap_or_default();
        if let Some(value) = paired_value(text, word.end(), name) {
            searched_to = searched_to.max(value.end);
            found.push(PrivatePiece { kind: PrivateKind::Password, bytes: value });
        }
        let from = word.end().max(searched_to);
        let to = (word.end() + NEAR_BYTES).max(from);
        searched_to = find_random(text, from, to, found);
    }
}

/// Tells whether a name (of a column, a member, a field) announces that its value is a secret:
/// `password`, `db_password`, `API key`, `clientSecret`.
///
/// ```
/// assert!(text::is_secret_name("Password") && text::is_secret_name("smtp_password"));
/// assert!(!text::is_secret_name("token_count") && !text::is_secret_name("secretary"));
/// ```
pub fn is_secret_name(name: &str) -> bool {
    let name = name.trim();
    FINDER
        .find_iter(name)
        .any(|word| word.end() == name.len() && is_whole_word(name, word.start(), word.end()))
}

/// `DB_PASSWORD` and `clientSecret` announce a secret; `secretary`, `tokens` and `token_count`
/// do not.
fn is_whole_word(text: &str, start: usize, end: usize) -> bool {
    let previous = text.get(..start).and_then(|head| head.chars().next_back());
    let first = text.get(start..).and_then(|tail| tail.chars().next());
    let next = text.get(end..).and_then(|tail| tail.chars().next());
    // The mark of an earlier redaction announces nothing.
    if previous == Some('[') && next == Some(']') {
        return false;
    }
    let is_ascii = first.is_some_and(|char| char.is_ascii());
    if !is_ascii {
        return true;
    }
    let starts_part = match previous {
        Some(char) if char.is_alphabetic() => {
            char.is_lowercase() && first.is_some_and(char::is_uppercase)
        }
        _ => true,
    };
    let goes_on = next.is_some_and(|char| char.is_alphanumeric() || char == '_' || char == '-');
    starts_part && !goes_on
}

/// Gives where the value of `name = value`, `name: value`, `"name": "value"` is.
fn paired_value(text: &str, from: usize, name: &str) -> Option<std::ops::Range<usize>> {
    let is_scheme = name.eq_ignore_ascii_case("bearer");
    let (sign, after_sign) = separator(text, from, is_scheme)?;
    let mut value_text = after_sign.trim_start_matches([' ', '\t', '*']);
    // `Authorization: Bearer …` is announced once more by its scheme.
    for scheme in ["Bearer ", "bearer ", "Basic ", "basic ", "Token ", "token "] {
        value_text = value_text.strip_prefix(scheme).unwrap_or(value_text);
    }
    let unescaped = value_text.trim_start_matches('\\');
    if unescaped.starts_with(['"', '\'']) {
        value_text = unescaped;
    }
    let quote =
        value_text.chars().next().filter(|char| matches!(char, '"' | '\'' | '`' | '「' | '“'));
    let value_text = value_text.get(quote.map_or(0, char::len_utf8)..)?;
    let closing = quote.map(|quote| match quote {
        '「' => '」',
        '“' => '”',
        same => same,
    });
    let value_len = value_len(value_text, closing);
    let value = value_text.get(..value_len)?;
    let line_rest = value_text.get(value_len..)?;
    let is_last = line_rest.trim_start_matches([' ', '\t', ';', ',', '"', '\'']).is_empty()
        || line_rest
            .trim_start_matches([' ', '\t', ';', ',', '.', '"', '\''])
            .starts_with(['\n', '\r']);
    let is_secret = looks_secret(value, name, sign, quote.is_some(), is_last);
    let start = text.len() - value_text.len();
    is_secret.then_some(start..start + value_len)
}

fn value_len(text: &str, closing: Option<char>) -> usize {
    let mut len = 0;
    for char in text.chars() {
        let starts_pair = char == '&' && text.get(len + 1..).is_some_and(is_pair_start);
        let ends = match closing {
            Some(closing) => char == closing || char == '\n',
            None => {
                char.is_whitespace()
                    || matches!(
                        char,
                        '"' | '\'' | '`' | '<' | '>' | ',' | ';' | ')' | '}' | ']' | '|'
                    )
                    || matches!(char, '。' | '、' | '，' | '；' | '）' | '」')
            }
        };
        if ends || starts_pair || len + char.len_utf8() > MAX_VALUE_BYTES {
            break;
        }
        len += char.len_utf8();
    }
    let value = text.get(..len).unwrap_or_default();
    match closing {
        // An escaped quote ends a string inside a string.
        Some(_) => value.trim_end_matches('\\').len(),
        None => value.trim_end_matches(['.', '?', ':']).len(),
    }
}

/// Tells whether a form's next field starts here: `name=`.
fn is_pair_start(text: &str) -> bool {
    let name_len =
        text.bytes().take(32).take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let name_len = name_len.count();
    name_len > 0 && text.as_bytes().get(name_len) == Some(&b'=')
}

fn looks_secret(value: &str, name: &str, sign: Sign, is_quoted: bool, is_last: bool) -> bool {
    let n_chars = value.chars().count();
    if is_placeholder(value) || n_chars < 4 {
        return false;
    }
    let has_digit = value.contains(|char: char| char.is_ascii_digit());
    let has_letter = value.contains(char::is_alphabetic);
    let has_other = value.contains(|char: char| !char.is_alphanumeric());
    let inner_capital =
        value.chars().skip(1).any(char::is_uppercase) && value.contains(char::is_lowercase);
    let is_mixed =
        has_digit && has_letter || (has_other && (has_letter || has_digit)) || inner_capital;
    let is_call = value.contains(['(', '[', '{', '$'])
        || value.starts_with(['<', '/', '%'])
        || is_path_of_names(value);
    let is_general = ["pass", "token", "secret", "authorization", "credential", "credentials"]
        .iter()
        .any(|general| name.eq_ignore_ascii_case(general));
    if is_call && !is_quoted {
        return false;
    }
    // These words also name counts, kinds and grammar, so their value must look random.
    if is_general || name.to_ascii_lowercase().ends_with("key") {
        return n_chars >= 8 && has_digit && has_letter;
    }
    match sign {
        Sign::Equals => true,
        Sign::Colon => is_mixed || is_quoted || (is_last && n_chars >= 6),
        Sign::Verb => is_mixed && n_chars >= 6,
        // The cell beside one of headings holds another.
        Sign::Cell => has_digit && has_letter && n_chars >= 6,
        Sign::Space => is_mixed && n_chars >= MIN_RANDOM_BYTES,
        // Words of prose come after it: they do not have letters of both cases and digits.
        Sign::Bare => has_digit && inner_capital && n_chars >= 8,
    }
}

/// Tells whether a value is code that fetches the secret: `request.body.password`.
fn is_path_of_names(value: &str) -> bool {
    value.contains('.')
        && value.split('.').all(|name| {
            !name.is_empty() && name.chars().all(|char| char.is_alphabetic() || char == '_')
        })
}

/// Values that are where a secret would: names of variables, types, instructions.
pub(super) fn is_placeholder(value: &str) -> bool {
    const PLACEHOLDERS: &[&str] = &[
        "null",
        "none",
        "nil",
        "true",
        "false",
        "undefined",
        "string",
        "str",
        "text",
        "required",
        "optional",
        "empty",
        "unknown",
        "redacted",
        "hidden",
        "masked",
        "changeme",
        "change_me",
        "example",
        "password",
        "passwd",
        "secret",
        "token",
        "yourpassword",
        "your_password",
        "your-password",
        "here",
        "your",
        "the",
        "must",
        "number",
        "integer",
        "boolean",
        "varchar",
        "input",
        "field",
        "value",
        "process.env",
        "os.environ",
        "getenv",
        "obligatorie",
        "obligatoriu",
        "necesară",
        "incorrect",
        "incorectă",
        "invalid",
        "wrong",
        "expired",
        "reset",
        "forgotten",
        "disabled",
        "enabled",
        "protected",
        "strong",
        "weak",
        "yes",
        "no",
        "user",
        "pass",
    ];
    let trimmed = value.trim_matches(|char: char| !char.is_alphanumeric());
    let lower = trimmed.to_lowercase();
    let is_bracketed = ["[", "<", "{", "${", "%(", "{{"].iter().any(|open| value.starts_with(open));
    let mut chars = value.chars();
    let is_repeated = chars.next().is_some_and(|first| chars.all(|char| char == first));
    trimmed.is_empty()
        || is_bracketed
        || is_repeated
        || PLACEHOLDERS.contains(&lower.as_str())
        || ["process.env", "os.environ", "os.getenv", "env.", "self.", "this.", "config."]
            .iter()
            .any(|start| lower.starts_with(start))
        || lower.starts_with("your_")
        || lower.starts_with("your-")
}

/// Finds random strings in a stretch; gives where the next search may start.
fn find_random(text: &str, from: usize, to: usize, found: &mut Vec<PrivatePiece>) -> usize {
    let bytes = text.as_bytes();
    let mut at = from;
    // A stretch that starts inside a string was cut out of it.
    let inside = !before(text, from.min(text.len()), 1).is_empty()
        && from
            .checked_sub(1)
            .and_then(|at| bytes.get(at))
            .is_some_and(|byte| is_random_byte(*byte));
    if inside {
        while bytes.get(at).is_some_and(|byte| is_random_byte(*byte)) {
            at += 1;
        }
    }
    while at < to && at < bytes.len() {
        let len = bytes.iter().skip(at).take_while(|byte| is_random_byte(**byte)).count();
        if len > 0 {
            let run = bytes.get(at..at + len).unwrap_or_default();
            if is_random(run) {
                let bytes = at..at + len;
                found.push(PrivatePiece { kind: PrivateKind::Password, bytes });
            }
        }
        at += len.max(1);
    }
    at
}

fn is_random_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'_' | b'-' | b'=')
}

fn is_random(run: &[u8]) -> bool {
    if !(MIN_RANDOM_BYTES..=MAX_VALUE_BYTES).contains(&run.len()) {
        return false;
    }
    let n_digits = run.iter().filter(|byte| byte.is_ascii_digit()).count();
    let n_letters = run.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    // Dates, paths and identifiers made of words have few digits among their letters.
    let is_mixed = n_digits >= 3 && n_letters >= 3;
    let n_signs = run.len() - n_digits - n_letters;
    let is_hex = run.iter().all(u8::is_ascii_hexdigit);
    let min_bits = if is_hex { MIN_HEX_ENTROPY_BITS } else { MIN_ENTROPY_BITS };
    is_mixed && n_signs * 5 <= run.len() && entropy_bits(run) >= min_bits
}

/// Gives the Shannon entropy of a string's bytes, in bits for each byte.
fn entropy_bits(run: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in run {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count += 1;
        }
    }
    let n_bytes = run.len() as f64;
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| {
            let share = f64::from(*count) / n_bytes;
            -share * share.log2()
        })
        .sum()
}
