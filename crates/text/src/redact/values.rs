//! Where a value ends: at a blank, at its quote, with the escapes that shells, JSON and YAML allow
//! inside one.
//!
//! Values may be long (opaque tokens, keys in base64), and many names may come before one, so that
//! ends that are known are not looked for again.

use std::ops::Range;

use super::escapes;

/// What ends a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Closing {
    /// A blank, or a sign that does not belong to words.
    Blank,
    /// A blank, or a sign that does not belong to words of shells.
    Word,
    /// The same quote, unless it is escaped or doubled.
    Quote(char),
    /// The same quote, with a backslash before it: a string inside a string.
    Escaped(char),
    /// Three quotes.
    Triple(char),
}

impl Closing {
    /// Reads the opening of the value at a place; gives also where the value begins.
    pub(super) fn at(text: &str, from: usize) -> (Closing, usize) {
        let rest = text.get(from..).unwrap_or_default();
        let unescaped = rest.trim_start_matches('\\');
        let n_escapes = rest.len() - unescaped.len();
        if let Some(quote @ ('"' | '\'')) = unescaped.chars().next()
            && n_escapes > 0
        {
            return (Closing::Escaped(quote), from + n_escapes + 1);
        }
        // `$'…'` of shells, and prefixes of strings in code: `b"…"`, `r'…'`, `f"…"`.
        let n_prefix = match rest.as_bytes() {
            [b'$' | b'b' | b'r' | b'f' | b'u' | b'N' | b'@', b'"' | b'\'', ..] => 1,
            _ => 0,
        };
        let (from, rest) = (from + n_prefix, rest.get(n_prefix..).unwrap_or_default());
        for (three, quote) in [("\"\"\"", '"'), ("'''", '\'')] {
            if rest.starts_with(three) {
                return (Closing::Triple(quote), from + three.len());
            }
        }
        match rest.chars().next() {
            Some(quote @ ('"' | '\'' | '`')) => (Closing::Quote(quote), from + 1),
            Some(quote @ '「') => (Closing::Quote('」'), from + quote.len_utf8()),
            Some(quote @ '“') => (Closing::Quote('”'), from + quote.len_utf8()),
            _ => (Closing::Blank, from),
        }
    }

    pub(super) fn is_quoted(self) -> bool {
        !matches!(self, Closing::Blank | Closing::Word)
    }
}

/// Ends of values that were looked for.
#[derive(Default)]
pub(super) struct Ends(Vec<(Closing, Range<usize>)>);

impl Ends {
    /// Gives where the value ends that begins at a place.
    pub(super) fn of(&mut self, text: &str, start: usize, closing: Closing) -> usize {
        let known = self.0.iter().find(|(one, range)| *one == closing && range.contains(&start));
        let end = match known {
            Some((_, range)) => range.end,
            None => {
                let end = end_of(text, start, closing);
                self.0.retain(|(one, _)| *one != closing);
                self.0.push((closing, start..end));
                end
            }
        };
        let value = text.get(start..end).unwrap_or_default();
        let value = match closing {
            Closing::Escaped(_) => value.trim_end_matches('\\'),
            Closing::Blank => value.trim_end_matches(['.', '?', ':']),
            Closing::Word | Closing::Quote(_) | Closing::Triple(_) => value,
        };
        start + value.len()
    }
}

fn end_of(text: &str, start: usize, closing: Closing) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    let len = match closing {
        Closing::Blank => blank_len(rest, |char, after| {
            matches!(char, '<' | '>' | ',' | ')' | '}' | ']' | '|')
                || matches!(char, '。' | '、' | '，' | '；' | '）' | '」')
                || (char == '&' && is_pair_start(after))
        }),
        Closing::Word => blank_len(rest, |_, _| false),
        Closing::Quote(quote) => quoted_len(rest, quote),
        Closing::Escaped(quote) => rest.find([quote, '\n']).unwrap_or(rest.len()),
        Closing::Triple(quote) => {
            let three: String = [quote; 3].iter().collect();
            let line = || rest.find('\n').unwrap_or(rest.len());
            rest.find(&three).unwrap_or_else(line)
        }
    };
    match closing {
        Closing::Blank | Closing::Word => escapes::value_end(text, start, start + len),
        Closing::Quote(_) | Closing::Escaped(_) | Closing::Triple(_) => start + len,
    }
}

fn blank_len(rest: &str, ends: impl Fn(char, &str) -> bool) -> usize {
    let mut chars = rest.char_indices();
    while let Some((at, char)) = chars.next() {
        let after = rest.get(at + char.len_utf8()..).unwrap_or_default();
        // `a\ b` is one word of a shell, and a backslash at the end of a line goes on in the next.
        if char == '\\' && after.starts_with(' ') {
            chars.next();
        } else if char == '\\' && (after.starts_with('\n') || after.starts_with("\r\n")) {
            let line = after.trim_start_matches('\r').trim_start_matches('\n');
            let indented = line.trim_start_matches([' ', '\t']);
            // All of what is passed over is ASCII.
            for _ in 0..after.len() - indented.len() {
                chars.next();
            }
        } else if char.is_whitespace()
            || matches!(char, '"' | '\'' | '`' | ';')
            || ends(char, after)
        {
            return at;
        }
    }
    rest.len()
}

fn quoted_len(rest: &str, quote: char) -> usize {
    let mut quote = quote;
    let mut at = 0;
    while let Some(char) = rest.get(at..).and_then(|rest| rest.chars().next()) {
        if char == '\n' {
            return at;
        }
        if char == '\\' && matches!(quote, '"' | '\'') {
            // A single quote of a shell is not escaped, but ends: `'it'\''s'`.
            let next = rest.get(at + 1..).and_then(|rest| rest.chars().next());
            at += 1 + next.filter(|next| *next != '\n').map_or(0, char::len_utf8);
            continue;
        }
        at += char.len_utf8();
        if char != quote {
            continue;
        }
        let after = rest.get(at..).unwrap_or_default();
        if quote == '\'' && after.starts_with("\\''") {
            at += 3;
        } else if let Some(next @ ('"' | '\'')) = after.chars().next()
            && matches!(quote, '"' | '\'')
            && !closes_empty(after)
        {
            // Doubled, or the next part of a word of a shell.
            quote = next;
            at += 1;
        } else {
            return at - char.len_utf8();
        }
    }
    rest.len()
}

/// Tells whether the quote that follows another one ends something around the value.
fn closes_empty(after: &str) -> bool {
    let next = after.chars().nth(1);
    next.is_none_or(|next| {
        next.is_whitespace() || matches!(next, ',' | ';' | ')' | '}' | ']' | '>')
    })
}

/// Tells whether a form's next field starts here: `name=`.
fn is_pair_start(text: &str) -> bool {
    let name_len =
        text.bytes().take(32).take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let name_len = name_len.count();
    name_len > 0 && text.as_bytes().get(name_len) == Some(&b'=')
}
