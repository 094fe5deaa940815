//! How a name and its secret are held together: `=`, `:`, a verb, and the forms of markup, calls,
//! commands, tables and configuration in which nothing but the place tells.

use super::before;

/// How far before a name its own beginning is looked for: `spring.datasource.` of `password`.
const MAX_NAME_BYTES: usize = 64;

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

/// Gives how the value of a name is held to it, and the text that begins with the value. `from` is
/// where the name ends.
pub(super) fn separator(text: &str, from: usize, is_scheme: bool) -> Option<(Sign, &str)> {
    let rest = text.get(from..)?;
    // Quotes inside a string are escaped.
    let after_quote = rest.trim_start_matches(['"', '\'', '`', ']', '*', '\\']);
    let after_space = after_quote.trim_start_matches([' ', '\t']);
    match plain(after_space) {
        Some((Sign::Colon, value)) => Some(below(value).unwrap_or((Sign::Colon, value))),
        Some(found) => Some(found),
        None if is_scheme => Some((Sign::Space, after_space)),
        None => by_place(text, from, rest),
    }
}

fn plain(rest: &str) -> Option<(Sign, &str)> {
    const SIGNS: &[(&str, Sign)] = &[
        (":=", Sign::Equals),
        ("=>", Sign::Equals),
        ("==", Sign::Equals),
        ("=", Sign::Equals),
        ("＝", Sign::Equals),
        (":", Sign::Colon),
        ("：", Sign::Colon),
        ("is ", Sign::Verb),
        ("was ", Sign::Verb),
        ("este ", Sign::Verb),
        ("era ", Sign::Verb),
        ("ist ", Sign::Verb),
        ("war ", Sign::Verb),
        ("est ", Sign::Verb),
        ("es ", Sign::Verb),
        ("は", Sign::Verb),
        ("是", Sign::Verb),
        ("为", Sign::Verb),
    ];
    SIGNS.iter().find_map(|(sign, kind)| Some((*kind, rest.strip_prefix(sign)?)))
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
    (is_value && n_blank <= 1).then_some((Sign::Verb, value))
}

/// Forms in which a name and its value are side by side.
fn by_place<'a>(text: &str, from: usize, rest: &'a str) -> Option<(Sign, &'a str)> {
    let head = before(text, from, 2 * MAX_NAME_BYTES);
    let name_len = head.bytes().rev().take_while(|byte| is_name_byte(*byte)).count();
    let (head, name) = head.split_at_checked(head.len() - name_len.min(head.len()))?;
    // `<password>…</password>`, but not `<password>` in the place of one.
    if let Some(value) = rest.strip_prefix('>').filter(|_| head.ends_with('<')) {
        let is_closed = value.split_once('<').is_some_and(|(_, tail)| tail.starts_with('/'));
        return is_closed.then_some((Sign::Equals, value));
    }
    // `define('DB_PASSWORD', '…')`, `setenv("PASSWORD", "…")`.
    let argument = rest.strip_prefix(['"', '\'']).and_then(|rest| rest.strip_prefix(','));
    if let Some(value) = argument.filter(|_| head.ends_with("('") || head.ends_with("(\"")) {
        return Some((Sign::Verb, value));
    }
    let value = rest.trim_start_matches(['*', '`']).trim_start_matches(' ');
    if let Some(value) = value.strip_prefix(['\t', '|']) {
        return Some((Sign::Cell, value));
    }
    // `--password …`, `login ann password …`, `PASSWORD '…'`, and a bare one.
    let is_spaced = rest.starts_with(' ');
    let is_flag = name.starts_with('-');
    let line = head.rsplit('\n').next().unwrap_or_default();
    let is_login = line.contains("login ");
    let is_quoted = value.starts_with(['"', '\'']);
    let sign = if is_flag || is_login || is_quoted { Sign::Verb } else { Sign::Bare };
    is_spaced.then_some((sign, value))
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | b':')
}
