//! How a name and its secret are held together: `=`, `:`, a verb, and the forms of markup, calls,
//! commands, tables and configuration in which nothing but the place tells.

use std::ops::Range;

use super::credentials::{MAX_ELEMENTS, MAX_LOOKED_AT_BYTES};
use super::members::{DESCRIPTIONS, members_of};
use super::phrases::{in_brackets, value_behind};
use super::{after, before};

/// How far before a name its own beginning is looked for: `spring.datasource.` of `password`.
const MAX_NAME_BYTES: usize = 64;

/// Members of one object that are looked through for its value, a line each.
const MAX_MEMBER_LINES: usize = 8;

/// Empty lines between `password:` and its value: what is fenced in Markdown has two above it.
const MAX_BLANK_BELOW: usize = 2;

/// Lines below a label that may be empty or underline it.
const MAX_LINES_BELOW_LABEL: usize = 3;

/// How a name and its value are held together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    /// `=`, `:=`, `=>`, or an element of XML.
    Equals,
    /// `:`, also full-width.
    Colon,
    /// `is`, `este`, `は`, `是`; also a flag of a command, an argument of a call, the line below.
    Verb,
    /// The cell beside it.
    Cell,
    /// Nothing but a space, after `password`.
    Bare,
    /// Nothing but a space, after `Bearer`.
    Space,
}

/// Gives how the value of a name is held to it, and the text that begins with the value. `name` is
/// where the name is.
pub(super) fn separator(text: &str, name: Range<usize>, is_scheme: bool) -> Option<(Sign, &str)> {
    let from = name.end;
    let rest = text.get(from..)?;
    // `db.password.value = …` is the value of the password.
    let after_member = rest.strip_prefix(".value").unwrap_or(rest);
    // Quotes inside a string are escaped.
    let after_quote = after_member.trim_start_matches(['"', '\'', '`', ']', '*', '\\']);
    let after_space = after_quote.trim_start_matches([' ', '\t', '\u{a0}', '\u{202f}']);
    if let Some(value) = value_of_pair(text, name.start, rest) {
        return Some((Sign::Equals, value));
    }
    if let Some(value) = nested(after_space) {
        return Some((Sign::Equals, value));
    }
    if let Some(value) = value_behind(rest) {
        return Some((Sign::Bare, value));
    }
    match plain(after_space) {
        Some((Sign::Colon | Sign::Equals, value)) if nested(value).is_some() => {
            Some((Sign::Equals, nested(value)?))
        }
        Some((Sign::Colon, value)) => Some(below(value).unwrap_or((Sign::Colon, value))),
        Some(found) => Some(found),
        None if is_scheme => Some((Sign::Space, after_space)),
        None => of_whom(rest)
            .or_else(|| of_path(text, name.start, rest))
            .or_else(|| by_place(text, from, rest)),
    }
}

fn plain(rest: &str) -> Option<(Sign, &str)> {
    const SIGNS: &[(&str, Sign)] = &[
        (":=", Sign::Equals),
        ("+=", Sign::Equals),
        ("?=", Sign::Equals),
        ("=>", Sign::Equals),
        ("==", Sign::Equals),
        ("=", Sign::Equals),
        ("＝", Sign::Equals),
        (":", Sign::Colon),
        ("：", Sign::Colon),
        // Words of prose may come after these.
        ("- ", Sign::Cell),
        ("– ", Sign::Cell),
        ("— ", Sign::Cell),
        ("is: ", Sign::Verb),
        ("ist: ", Sign::Verb),
        ("este: ", Sign::Verb),
        ("es: ", Sign::Verb),
        ("est : ", Sign::Verb),
        ("is now ", Sign::Verb),
        ("is ", Sign::Verb),
        ("was ", Sign::Verb),
        ("este ", Sign::Verb),
        ("era ", Sign::Verb),
        ("ist ", Sign::Verb),
        ("war ", Sign::Verb),
        ("est ", Sign::Verb),
        ("es ", Sign::Verb),
        ("lautet: ", Sign::Verb),
        ("lautet ", Sign::Verb),
        ("è ", Sign::Verb),
        ("é ", Sign::Verb),
        ("-Value ", Sign::Verb),
        ("-> ", Sign::Verb),
        ("→", Sign::Verb),
        ("は", Sign::Verb),
        ("是", Sign::Verb),
        ("为", Sign::Verb),
    ];
    SIGNS.iter().find_map(|(sign, kind)| Some((*kind, rest.strip_prefix(sign)?)))
}

/// `password for root is …`, `Passwort für ann: …`: gives the text that begins with the value.
fn of_whom(rest: &str) -> Option<(Sign, &str)> {
    const PREPOSITIONS: [&str; 8] = ["for", "of", "to", "für", "von", "pour", "pentru", "para"];
    const VERBS: [&str; 6] = ["is", "ist", "este", "est", "es", "="];
    const MAX_WORDS: usize = 5;
    let line = first_line(rest.strip_prefix(' ')?);
    let mut words = line.split(' ');
    let first = words.next()?;
    PREPOSITIONS.iter().find(|one| one.eq_ignore_ascii_case(first))?;
    let mut at = 1 + first.len();
    for word in words.take(MAX_WORDS) {
        at += 1 + word.len();
        if word.ends_with(':') || VERBS.contains(&word) {
            return Some((Sign::Cell, rest.get(at..)?));
        }
        if word.ends_with(['.', ',', ';', '!', '?']) {
            return None;
        }
    }
    None
}

/// `db.secrets.ann: …`, a line with the path of a value in a mapping that is called a secret, as
/// JSON and YAML are extracted: gives the text that begins with the value.
fn of_path<'a>(text: &str, name: usize, rest: &'a str) -> Option<(Sign, &'a str)> {
    let is_path = |char: char| char.is_alphanumeric() || matches!(char, '_' | '-' | '.');
    let line = before(text, name, 2 * MAX_NAME_BYTES).rsplit('\n').next()?;
    let near = after(rest.strip_prefix('.')?, 0, 2 * MAX_NAME_BYTES);
    let (path, _) = near.split_once(": ")?;
    if path.is_empty() || !path.chars().all(is_path) || !line.chars().all(is_path) {
        return None;
    }
    let value = rest.get(1 + path.len() + 2..)?;
    let member = path.rsplit('.').next()?;
    let is_description = first_line(value).contains(' ') && DESCRIPTIONS.contains(&member);
    (!is_description).then_some((Sign::Cell, value))
}

/// `password:` or `password: |`, and the value alone on the line below.
fn below(rest: &str) -> Option<(Sign, &str)> {
    let (line, following) = rest.split_once('\n')?;
    if !matches!(line.trim().trim_matches('*'), "" | "|" | "|-" | ">" | ">-") {
        return None;
    }
    let value = following.trim_start();
    let n_blank = following.get(..following.len() - value.len())?.matches('\n').count();
    let line = value.lines().next()?.trim_end();
    let is_value = !line.contains(char::is_whitespace) && !line.ends_with([':', '=']);
    (is_value && n_blank <= MAX_BLANK_BELOW).then_some((Sign::Verb, value))
}

/// `"name": "password", "value": "…"`, `<add key="DbPassword" value="…"/>`, and `name: DB_PASSWORD`
/// with `value: …` on a line below, also where each line has the whole path (`env.name: …`).
fn value_of_pair<'a>(text: &str, name: usize, rest: &'a str) -> Option<&'a str> {
    let (key, word) = key_of_pair(before(text, name, 2 * MAX_NAME_BYTES))?;
    let after = rest.trim_start_matches(['"', '\'', '\\', ',', ' ', '\t', '\r', '\n']);
    let in_tag = || is_in_tag(key).then(|| value_attribute(rest).or_else(|| element_text(rest)))?;
    value_member(after).or_else(|| value_element(rest)).or_else(in_tag).or_else(|| {
        let path = key.get(..key.len() - word.len())?.rsplit('\n').next()?;
        let path = path.trim_start_matches([' ', '\t', '-']);
        value_below(path, word, next_line(rest)?)
    })
}

/// Gives the text before a name as far as its key, `name` or `key`, and which of them it is.
fn key_of_pair(head: &str) -> Option<(&str, &'static str)> {
    let is_name = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '.' | '-');
    let head = head.trim_end_matches(is_name);
    let head = head.trim_end_matches(['"', '\'', '\\', ' ', '\t']).strip_suffix([':', '='])?;
    let key = head.trim_end_matches(['"', '\'', '\\', ' ', '\t']);
    let lower = key.to_ascii_lowercase();
    let word = ["name", "key", "type"].into_iter().find(|word| lower.ends_with(word))?;
    // `<input type="password" …>`; elsewhere a type is no name.
    (word != "type" || is_in_tag(key)).then_some((key, word))
}

/// Tells whether a text ends inside the opening of an element.
fn is_in_tag(text: &str) -> bool {
    text.rfind('<').is_some_and(|open| text.rfind('>').is_none_or(|close| close < open))
}

/// ` id="x" value="…">`: gives the text of the attribute in the opening that goes on here.
fn value_attribute(rest: &str) -> Option<&str> {
    let tag = after(rest, 0, MAX_LOOKED_AT_BYTES).split('>').next()?;
    tag.match_indices(char::is_whitespace).find_map(|(at, _)| value_member(rest.get(at + 1..)?))
}

/// `>…</param>`: gives the text of the element whose opening goes on here.
fn element_text(rest: &str) -> Option<&str> {
    let (opening, _) = after(rest, 0, MAX_LOOKED_AT_BYTES).split_once('>')?;
    let inner = rest.get(opening.len() + 1..)?;
    let is_open = !opening.contains('<') && !opening.ends_with('/');
    (is_open && is_closed(inner)).then_some(inner)
}

/// Tells whether text comes before the end of an element, and no other element.
fn is_closed(inner: &str) -> bool {
    inner.split_once('<').is_some_and(|(_, tail)| tail.starts_with('/'))
}

/// `{"value": "…", "name": "password"}`, `<add value="…" key="password"/>`: gives where the value
/// is that comes before its name, in the same object, element or item of a list.
pub(super) fn value_before(text: &str, name: usize) -> Option<usize> {
    let head = before(text, name, MAX_LOOKED_AT_BYTES);
    let (key, word) = key_of_pair(head)?;
    let members = key.get(..key.len() - word.len())?;
    let members = members.rsplit(['{', '}', '<', '>']).next()?;
    let item = members
        .rmatch_indices('\n')
        .map(|(at, _)| at + 1)
        .find(|line| members.get(*line..).is_some_and(|line| line.trim_start().starts_with("- ")));
    let members = members.get(item.unwrap_or(0)..)?;
    let value = members.char_indices().rev().find_map(|(at, _)| {
        let is_word = !members.get(..at)?.ends_with(|char: char| char.is_ascii_alphanumeric());
        value_member(members.get(at..)?).filter(|_| is_word)
    })?;
    // What is left begins at the value and ends where the key begins.
    let key_at = name - (head.len() - (key.len() - word.len()));
    Some(key_at - value.trim_start_matches([' ', '\t']).len())
}

/// `<property name="password"><value>…`: gives the text of the first element inside the one whose
/// opening goes on here.
fn value_element(rest: &str) -> Option<&str> {
    let (opening, _) = after(rest, 0, 2 * MAX_NAME_BYTES).split_once('>')?;
    let inner = rest.get(opening.len() + 1..).filter(|_| !opening.contains('<'))?.trim_start();
    let (tag, _) = after(inner.strip_prefix('<')?, 0, MAX_NAME_BYTES).split_once('>')?;
    let is_value = tag.get(..5).is_some_and(|word| word.eq_ignore_ascii_case("value"));
    inner.get(tag.len() + 2..).filter(|_| is_value)
}

/// Gives what comes after `value:` or `"value" =`, or the same word cut short.
fn value_member(text: &str) -> Option<&str> {
    let begins =
        |word: &&str| text.get(..word.len()).is_some_and(|it| it.eq_ignore_ascii_case(word));
    let word = ["value", "val"].into_iter().find(begins)?;
    let sign = text.get(word.len()..)?.trim_start_matches(['"', '\'', '\\', ' ', '\t']);
    sign.strip_prefix([':', '='])
}

/// Looks for the value of a name in the lines below it that have the same path, up to the next
/// name.
fn value_below<'a>(path: &str, name: &str, mut lines: &'a str) -> Option<&'a str> {
    for _ in 0..MAX_MEMBER_LINES {
        let line = lines.trim_start_matches([' ', '\t', '"', '\'']);
        let member = line.strip_prefix(path)?;
        if member.get(..name.len()).is_some_and(|word| word.eq_ignore_ascii_case(name)) {
            return None;
        }
        if let Some(value) = value_member(member) {
            return Some(value);
        }
        lines = next_line(lines)?;
    }
    None
}

/// `"secret": {"value": "…"}`, `variable "password" { type = string, default = "…" }`: gives the text
/// that begins with the value.
fn nested(rest: &str) -> Option<&str> {
    let inner = rest.trim_start().strip_prefix('{')?;
    let members = after(inner, 0, MAX_LOOKED_AT_BYTES);
    let members = members.split(['{', '}']).next()?;
    let mut begins = std::iter::once(0)
        .chain(members.match_indices([',', '\n', ';']).map(|(at, _)| at + 1))
        .take(MAX_MEMBER_LINES * 2);
    begins.find_map(|at| {
        let member = inner.get(at..)?.trim_start_matches(['"', '\'', '\\', ' ', '\t', '\r', '\n']);
        let behind = ["value", "default"].iter().find_map(|word| {
            member.get(..word.len()).filter(|first| first.eq_ignore_ascii_case(word))?;
            member.get(word.len()..)
        })?;
        behind.trim_start_matches(['"', '\'', '\\', ' ', '\t']).strip_prefix([':', '='])
    })
}

/// `<key>Password</key><string>…</string>`, `<td>Password</td><td>…</td>`: gives the text of the
/// element after the one that ends here.
fn next_element(rest: &str) -> Option<&str> {
    let (name, behind) = after(rest.strip_prefix("</")?, 0, MAX_NAME_BYTES).split_once('>')?;
    let behind = rest.get("</".len() + name.len() + 1..).filter(|_| !behind.is_empty())?;
    let opening = behind.trim_start().strip_prefix('<').filter(|tag| !tag.starts_with('/'))?;
    let (tag, _) = after(opening, 0, MAX_NAME_BYTES).split_once('>')?;
    opening.get(tag.len() + 1..)
}

/// `PASSWORD: str = '…'`: gives the text that begins with the quote.
pub(super) fn typed(rest: &str) -> Option<&str> {
    let end = rest.bytes().take(MAX_NAME_BYTES).position(|byte| byte == b'=')?;
    let kind = rest.get(..end)?.trim();
    let is_kind = kind.starts_with(|char: char| char.is_ascii_alphabetic() || char == '&')
        && kind.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_[]<>|&.?, *".contains(&byte));
    let value = rest.get(end + 1..)?.trim_start_matches([' ', '\t']);
    (is_kind && value.starts_with(['"', '\''])).then_some(value)
}

/// Lines below a name that begin with a dash and have one word each: gives where the words begin.
pub(super) fn listed_below(rest: &str) -> Vec<usize> {
    let mut values = Vec::new();
    let Some((line, following)) = rest.split_once('\n').filter(|(line, _)| line.trim().is_empty())
    else {
        return values;
    };
    let mut at = line.len() + 1;
    for line in following.split_inclusive('\n').take(MAX_ELEMENTS) {
        let Some(value) = line.trim_start().strip_prefix("- ").map(str::trim_start) else { break };
        let word = value.trim_end();
        if !word.contains(char::is_whitespace) || word.starts_with(['"', '\'']) {
            values.push(at + line.len() - value.len());
        }
        at += line.len();
    }
    values
}

/// Members of an object or a mapping, the values of which are secrets of one name:
/// `{"ann": "…", "bob": ["…"]}`, `[{"ann": "…"}]`, or lines below that are further in. Gives where
/// the values begin.
pub(super) fn mapped(rest: &str) -> Vec<usize> {
    let inner = rest.trim_start_matches([' ', '\t']);
    let of_list = || inner.strip_prefix('[').map(str::trim_start)?.strip_prefix('{');
    match (inner.strip_prefix('{'), of_list()) {
        (Some(members), _) => members_of(rest, members, 1),
        (None, Some(members)) => members_of(rest, members, 2),
        (None, None) => lines_below(rest),
    }
}

fn lines_below(rest: &str) -> Vec<usize> {
    let mut values = Vec::new();
    let Some((line, following)) = rest.split_once('\n').filter(|(line, _)| line.trim().is_empty())
    else {
        return values;
    };
    let mut at = line.len() + 1;
    for line in following.split_inclusive('\n').take(MAX_ELEMENTS) {
        let member = line.trim_start_matches([' ', '\t']);
        if member.len() == line.len() {
            break;
        }
        let name_len = member.bytes().take(MAX_NAME_BYTES).take_while(|byte| is_name_byte(*byte));
        // The sign is one of the bytes of names as well.
        let name = member.get(..name_len.count()).unwrap_or_default();
        let value = member.get(name.len()..).and_then(|value| value.strip_prefix(' '));
        let Some(value) = value.filter(|_| name.len() > 1 && name.ends_with(':')) else { break };
        values.push(at + line.len() - value.len());
        at += line.len();
    }
    values
}

/// Forms in which a name and its value are side by side.
fn by_place<'a>(text: &str, from: usize, rest: &'a str) -> Option<(Sign, &'a str)> {
    let head = before(text, from, 2 * MAX_NAME_BYTES);
    let name_len = head.bytes().rev().take_while(|byte| is_name_byte(*byte)).count();
    let (head, name) = head.split_at_checked(head.len() - name_len.min(head.len()))?;
    // `<password>…</password>`, but not `<password>` in the place of one.
    if let Some(value) = rest.strip_prefix('>').filter(|_| head.ends_with('<')) {
        return is_closed(value).then_some((Sign::Equals, value));
    }
    // `<wsse:Password Type="…">…</wsse:Password>`.
    if head.ends_with('<')
        && rest.starts_with(char::is_whitespace)
        && let Some(value) = element_text(rest)
    {
        return Some((Sign::Equals, value));
    }
    if let Some(value) = next_element(rest).filter(|_| head.ends_with('>')) {
        return Some((Sign::Cell, value));
    }
    // `define('DB_PASSWORD', '…')`, `setenv("PASSWORD", "…")`.
    let argument = rest.strip_prefix(['"', '\'']).and_then(|rest| rest.strip_prefix(','));
    let is_argument = |head: &str| {
        head.strip_suffix(['"', '\'']).is_some_and(|call| call.trim_end_matches(' ').ends_with('('))
    };
    if let Some(value) = argument.filter(|_| is_argument(head)) {
        return Some((Sign::Verb, value));
    }
    // `setPassword("…")`.
    if let Some(value) = rest.strip_prefix('(').filter(|value| value.starts_with(['"', '\''])) {
        return Some((Sign::Verb, value));
    }
    // `password,…` or `"password","…"` alone on a line: a list of names and values.
    let (head_of_cell, rest_of_cell) = match (head.strip_suffix('"'), rest.strip_prefix('"')) {
        (Some(head), Some(rest)) => (head, rest),
        _ => (head, rest),
    };
    let is_line = head_of_cell.is_empty() || head_of_cell.ends_with('\n');
    if let Some(value) = rest_of_cell.strip_prefix([',', ';']).filter(|_| is_line) {
        let line = value.lines().next().unwrap_or_default();
        return (!line.contains([',', ';'])).then_some((Sign::Cell, value));
    }
    if let Some(value) = labelled(head, rest) {
        return Some((Sign::Bare, value));
    }
    let value = rest.trim_start_matches(['*', '`']).trim_start_matches(' ');
    if let Some(value) = value.strip_prefix(['\t', '|']) {
        return Some((Sign::Cell, value));
    }
    // `--password …`, `login ann password …`, `PASSWORD '…'`, and a bare one.
    let is_spaced = rest.starts_with(' ');
    if let Some(value) = in_brackets(value).filter(|_| is_spaced) {
        return Some((Sign::Bare, value));
    }
    let is_flag = name.starts_with('-');
    let line = head.rsplit('\n').next().unwrap_or_default();
    // `ENV DB_PASSWORD …` of a Dockerfile has no other sign either.
    let is_login = line.contains("login ") || line.trim_start() == "ENV ";
    let is_quoted = value.starts_with(['"', '\'']);
    let sign = if is_flag || is_login || is_quoted { Sign::Verb } else { Sign::Bare };
    is_spaced.then_some((sign, value))
}

/// A name alone on its line, as a label or a heading: gives the next line that says something,
/// where it has one word.
fn labelled<'a>(head: &str, rest: &'a str) -> Option<&'a str> {
    let label = head.rsplit('\n').next().unwrap_or_default();
    let is_alone = label.chars().all(|char| matches!(char, ' ' | '\t' | '-' | '*' | '#' | '>'));
    let mut below = next_line(rest).filter(|_| is_alone)?;
    if !first_line(rest).chars().all(|char| matches!(char, ' ' | '\r' | '*' | '#')) {
        return None;
    }
    for _ in 0..MAX_LINES_BELOW_LABEL {
        if !first_line(below)
            .chars()
            .all(|char| matches!(char, ' ' | '\t' | '\r' | '-' | '=' | '~'))
        {
            let value = below.trim_start_matches([' ', '\t']);
            let value = value.strip_prefix("- ").unwrap_or(value);
            let is_word = !first_line(value).trim_end().contains(char::is_whitespace);
            return is_word.then_some(value);
        }
        below = next_line(below)?;
    }
    None
}

/// Gives the line that the text begins with, or as much of it as is looked at.
fn first_line(text: &str) -> &str {
    after(text, 0, MAX_LOOKED_AT_BYTES).split('\n').next().unwrap_or_default()
}

/// Gives the text after its first line, where that is not too long to belong to a name.
fn next_line(text: &str) -> Option<&str> {
    let line = first_line(text);
    text.get(line.len()..)?.strip_prefix('\n')
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | b':')
}
