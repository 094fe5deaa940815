//! Passwords and secrets that a word announces: `password = …`, and random strings nearby.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use unicode_normalization::UnicodeNormalization;

use super::announced::{Sign, listed_below, mapped, separator, typed, value_before};
use super::names::{qualifier_len, without_qualifiers};
use super::phrases::{in_brackets, is_made_up, value_ahead};
use super::placeholder::is_placeholder;
use super::random_strings::{MIN_RANDOM_BYTES, find_random};
use super::secret_words::{CODES, WORDS, behind_verb, is_code, is_general};
use super::values::{Closing, Ends};
use super::{PrivateKind, PrivatePiece, after, aligned, before};

/// So much of a value tells whether it is a secret: many names may come before a long one.
pub(super) const MAX_LOOKED_AT_BYTES: usize = 512;
/// Elements of a list of secrets that are looked at.
pub(super) const MAX_ELEMENTS: usize = 256;
/// The longest row whose first cell names the others that is looked at.
const MAX_ROW_BYTES: usize = 4_096;
/// How far after the word a random string is still its secret.
const NEAR_BYTES: usize = 80;

static FINDER: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .build(WORDS.iter().chain(CODES).flat_map(|word| forms(word)))
        .expect("a few dozen constant words build an automaton")
});

/// What most of the words have in them.
const CORES: [&str; 9] =
    ["pass", "pw", "psk", "secret", "key", "token", "bearer", "authorization", "credential"];

/// Gives what one of is in every text that has a word of ASCII letters, in any case.
pub(super) fn hints() -> Vec<String> {
    let ascii = forms_by(str::is_ascii);
    let others = ascii.into_iter().filter(|form| !CORES.iter().any(|core| form.contains(core)));
    CORES.into_iter().map(str::to_owned).chain(others).collect()
}

/// The same of words with other letters.
static FOREIGN_HINTS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(forms_by(|form| !form.is_ascii()))
        .expect("a few dozen constant words build an automaton")
});

/// Tells whether a text has one of the words with letters outside ASCII: cheaper than looking for
/// all words.
pub(super) fn announces_in_other_letters(text: &str) -> bool {
    !text.is_ascii() && FOREIGN_HINTS.is_match(text)
}

fn forms_by(is_wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let forms = WORDS.iter().flat_map(|word| forms(word)).map(|form| form.to_ascii_lowercase());
    let mut forms: Vec<String> = forms.filter(|form| is_wanted(form)).collect();
    forms.sort();
    forms.dedup();
    forms
}

/// Gives a word as it may be written: ASCII letters of any case are found anyhow.
fn forms(word: &str) -> Vec<String> {
    if word.is_ascii() {
        return vec![word.to_owned()];
    }
    let mut chars = word.chars();
    let first: String = chars.next().into_iter().flat_map(char::to_uppercase).collect();
    let cases = [word.to_owned(), word.to_uppercase(), format!("{first}{}", chars.as_str())];
    let mut forms: Vec<String> =
        cases.iter().flat_map(|form| [form.clone(), form.nfd().collect()]).collect();
    // Many type without diacritics: `haslo`, `losenord`.
    forms.extend(Some(crate::fold(word)).filter(|folded| folded.is_ascii()));
    forms.sort();
    forms.dedup();
    forms
}

/// Finds the values of announced secrets.
pub(super) fn find(text: &str, found: &mut Vec<PrivatePiece>) {
    let mut ends = Ends::default();
    let mut below = Vec::new();
    // Stretches searched for random strings do not overlap, so many words cost one walk.
    let mut searched_to = 0;
    for word in FINDER.find_iter(text) {
        let is_inside_value = word.start() < searched_to
            && found.last().is_some_and(|piece| {
                piece.kind == PrivateKind::Password && word.start() < piece.bytes.end
            });
        let end = word.end() + qualifier_len(text.get(word.end()..).unwrap_or_default());
        if is_inside_value || !is_whole_word(text, word.start(), end) {
            continue;
        }
        let name = text.get(word.range()).unwrap_or_default();
        let mut values = paired_values(text, word.start()..end, name, &mut ends);
        if values.is_empty()
            && let Some(at) = value_before(text, word.start())
        {
            values.extend(value(text, at, name, Sign::Equals, false, &mut ends));
        }
        if values.is_empty() {
            values.extend(value_ahead(text, word.start()..end, name));
        }
        for value in values {
            searched_to = searched_to.max(value.end);
            found.push(PrivatePiece { kind: PrivateKind::Password, bytes: value });
        }
        aligned::find_below(text, word.range(), &mut below);
        let from = word.end().max(searched_to);
        let to = (word.end() + NEAR_BYTES).max(from);
        searched_to = find_random(text, from, to, found);
    }
    found.append(&mut below);
}

/// Tells whether a name (of a column, a member, a field) announces that its value is a secret:
/// `password`, `db_password`, `API key`, `clientSecret`.
///
/// ```
/// assert!(text::is_secret_name("Password") && text::is_secret_name("smtp_password"));
/// assert!(text::is_secret_name("Password (initial)") && text::is_secret_name("pwd_2"));
/// assert!(text::is_secret_name("card_pin") && text::is_secret_name("CVV"));
/// assert!(!text::is_secret_name("token_count") && !text::is_secret_name("secretary"));
/// assert!(!text::is_secret_name("pinned") && !text::is_secret_name("pin_code"));
/// ```
pub fn is_secret_name(name: &str) -> bool {
    let name = without_qualifiers(name.trim());
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
                // `-Dpassword=…` of Java.
                || before(text, start, 2) == "-D"
        }
        _ => true,
    };
    let goes_on = next.is_some_and(|char| char.is_alphanumeric() || char == '_' || char == '-');
    starts_part && !goes_on
}

/// Gives where the value of `name = value`, `name: value`, `"name": "value"` is; several where it is
/// a list.
fn paired_values(
    text: &str,
    name_at: Range<usize>,
    name: &str,
    ends: &mut Ends,
) -> Vec<Range<usize>> {
    let is_scheme = name.eq_ignore_ascii_case("bearer");
    let behind = text.get(name_at.end..).and_then(|rest| behind_verb(name, rest));
    let separated = || separator(text, name_at.clone(), is_scheme);
    let of_its_language = behind.map(|value| (Sign::Verb, value));
    let Some((mut sign, after_sign)) = of_its_language.or_else(separated) else {
        return vec![];
    };
    let at = |rest: &str| text.len() - rest.len();
    let elements = match sign {
        Sign::Colon | Sign::Equals => listed(text, at(after_sign), name, ends),
        Sign::Verb | Sign::Cell | Sign::Bare | Sign::Space => vec![],
    };
    if !elements.is_empty() {
        return elements;
    }
    let mut value_text = after_sign.trim_start_matches(is_value_space);
    // `Authorization: Bearer …` is announced once more by its scheme.
    for scheme in ["Bearer ", "bearer ", "Basic ", "basic ", "Token ", "token "] {
        value_text = value_text.strip_prefix(scheme).unwrap_or(value_text);
    }
    if let Some(inside) = in_brackets(value_text) {
        return value(text, at(inside), name, Sign::Bare, false, ends).into_iter().collect();
    }
    if sign == Sign::Colon {
        let after_properties = without_properties(value_text);
        if after_properties.len() < value_text.len()
            && let Some(value) = value(text, at(after_properties), name, sign, false, ends)
        {
            // A password may begin with the same signs.
            return std::iter::once(at(value_text)..value.end).collect();
        }
        if let Some(value) = typed(value_text) {
            (sign, value_text) = (Sign::Equals, value);
        }
    }
    if sign == Sign::Cell {
        return cells(text, at(after_sign), name, ends);
    }
    let is_connection = sign == Sign::Equals && is_after_semicolon(text, name_at.start);
    value(text, at(value_text), name, sign, is_connection, ends).into_iter().collect()
}

/// Gives the secrets of a row whose first cell names them: `password | … | …`, one for each of
/// several places, as far as cells are secrets or empty.
fn cells(text: &str, from: usize, name: &str, ends: &mut Ends) -> Vec<Range<usize>> {
    let rest = text.get(from..).unwrap_or_default();
    let line = after(rest, 0, MAX_ROW_BYTES).split('\n').next().unwrap_or_default();
    let separator = text.get(..from).and_then(|head| head.chars().next_back());
    let separator = separator.filter(|char| matches!(char, '|' | '\t'));
    let mut values = Vec::new();
    let mut at = from;
    for cell in line.split(|char| Some(char) == separator).take(MAX_ELEMENTS) {
        let content = cell.trim_start_matches(is_value_space);
        let found = value(text, at + cell.len() - content.len(), name, Sign::Cell, false, ends);
        let is_empty = !cell.contains(char::is_alphanumeric);
        if found.is_none() && !is_empty {
            break;
        }
        values.extend(found);
        at += cell.len() + 1;
    }
    values
}

/// Signs that may be between a name's sign and its value.
fn is_value_space(char: char) -> bool {
    matches!(char, ' ' | '\t' | '*' | '\u{a0}' | '\u{202f}' | '\u{2009}')
}

/// Leaves out the tag and the anchor that YAML allows before a value: `!!str`, `&name`.
fn without_properties(text: &str) -> &str {
    let mut text = text;
    while let Some((property, rest)) = text.split_once(' ')
        && property.starts_with(['!', '&'])
        && property.len() > 1
        && !property.contains(char::is_whitespace)
    {
        text = rest.trim_start_matches(' ');
    }
    text
}

/// Tells whether the name is a later one of a connection string: `Server=db;Password=…`.
fn is_after_semicolon(text: &str, name: usize) -> bool {
    let head = text.get(..name).unwrap_or_default();
    let head = head.trim_end_matches(|char: char| char.is_ascii_alphanumeric() || char == '_');
    head.trim_end_matches(' ').ends_with(';')
}

/// Gives where the value is that begins at a place, where it looks like a secret.
fn value(
    text: &str,
    from: usize,
    name: &str,
    sign: Sign,
    is_connection: bool,
    ends: &mut Ends,
) -> Option<Range<usize>> {
    let (closing, start) = Closing::at(text, from);
    let mut end = ends.of(text, start, closing);
    if is_connection && closing == Closing::Blank {
        let line = after(text, start, MAX_LOOKED_AT_BYTES).split(['\n', '"', '\'']).next()?;
        if let Some((value, _)) = line.split_once(';').filter(|(value, _)| !value.contains('=')) {
            end = end.max(start + value.trim_end().len());
        }
    }
    let value = text.get(start..end)?;
    let line_rest = text.get(end..)?;
    let is_last = line_rest.trim_start_matches([' ', '\t', ';', ',', '"', '\'']).is_empty()
        || line_rest
            .trim_start_matches([' ', '\t', ';', ',', '.', '"', '\''])
            .starts_with(['\n', '\r']);
    let begin = after(value, 0, MAX_LOOKED_AT_BYTES);
    let is_secret = looks_secret(begin, name, sign, closing.is_quoted(), is_last);
    is_secret.then_some(start..end)
}

/// Gives the values of a list: `["…", "…"]`, or lines that begin with a dash.
fn listed(text: &str, from: usize, name: &str, ends: &mut Ends) -> Vec<Range<usize>> {
    let Some(rest) = text.get(from..) else { return vec![] };
    let elements = listed_below(rest);
    if !elements.is_empty() {
        return elements
            .into_iter()
            .filter_map(|element| value(text, from + element, name, Sign::Cell, false, ends))
            .collect();
    }
    let members = mapped(rest);
    if !members.is_empty() {
        return members
            .into_iter()
            .filter_map(|member| value(text, from + member, name, Sign::Cell, false, ends))
            .collect();
    }
    let Some(mut rest) = rest.trim_start().strip_prefix('[').map(str::trim_start) else {
        return vec![];
    };
    let mut values = vec![];
    for _ in 0..MAX_ELEMENTS {
        let at = text.len() - rest.len();
        let (closing, start) = Closing::at(text, at);
        if !closing.is_quoted() {
            break;
        }
        values.extend(value(text, at, name, Sign::Colon, false, ends));
        let after = text.get(ends.of(text, start, closing)..).unwrap_or_default();
        let after = after.trim_start_matches(['\\', '"', '\'', '`']).trim_start();
        let Some(next) = after.strip_prefix(',') else { break };
        rest = next.trim_start();
    }
    values
}

fn looks_secret(value: &str, name: &str, sign: Sign, is_quoted: bool, is_last: bool) -> bool {
    let lower = name.to_ascii_lowercase();
    if let Some(is_code) = is_code(&lower, value) {
        return is_code;
    }
    let n_chars = value.chars().count();
    if n_chars < 4 || is_placeholder(value) {
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
    let singular = lower.strip_suffix('s').filter(|one| !one.ends_with("as")).unwrap_or(&lower);
    if is_call && !is_quoted {
        return false;
    }
    // These words also name counts, kinds and grammar, so their value must look random.
    if is_general(singular) {
        return n_chars >= 8 && has_digit && has_letter;
    }
    match sign {
        Sign::Equals => true,
        Sign::Colon => {
            let is_number = value.bytes().all(|byte| byte.is_ascii_digit());
            is_mixed || is_quoted || ((is_last || is_number) && n_chars >= 6)
        }
        Sign::Verb => is_mixed && n_chars >= 6,
        // The cell beside one of headings holds another.
        Sign::Cell => has_digit && has_letter && n_chars >= 6,
        Sign::Space => is_mixed && n_chars >= MIN_RANDOM_BYTES,
        // Words of prose come after it: they do not have letters and digits.
        Sign::Bare => is_made_up(value),
    }
}

/// Tells whether a value is code that fetches the secret: `request.body.password`.
fn is_path_of_names(value: &str) -> bool {
    value.contains('.')
        && value.split('.').all(|name| {
            !name.is_empty() && name.chars().all(|char| char.is_alphabetic() || char == '_')
        })
}
