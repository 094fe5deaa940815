//! Strings and comments.

/// Finds the closing quote in what is behind the opening one.
pub(super) fn closing_quote(text: &str, quote: char) -> Option<usize> {
    let mut chars = text.char_indices().peekable();
    while let Some((at, char)) = chars.next() {
        if char == '\\' && quote == '"' {
            chars.next();
        } else if char == quote {
            // Two single quotes are one in the text.
            let is_doubled = quote == '\'' && chars.next_if(|(_, next)| *next == '\'').is_some();
            if !is_doubled {
                return Some(at);
            }
        }
    }
    None
}

/// Reads the escapes of a string; its quotes are left out already.
pub(super) fn unquoted(text: &str, quote: char) -> String {
    if quote == '\'' {
        return text.replace("''", "'");
    }
    let mut string = String::new();
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        if char != '\\' {
            string.push(char);
            continue;
        }
        let escaped = chars.next();
        let n_digits = match escaped {
            Some('n') => {
                string.push('\n');
                continue;
            }
            Some('t') => {
                string.push('\t');
                continue;
            }
            Some('x') => 2,
            Some('u') => 4,
            Some('U') => 8,
            Some('r' | '0' | 'a' | 'b' | 'e' | 'f' | 'v') | None => continue,
            Some(other) => {
                string.push(other);
                continue;
            }
        };
        let digits: String = chars.by_ref().take(n_digits).collect();
        string.extend(u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32));
    }
    string
}

/// Cuts a comment off: `#` begins one behind a space.
pub(super) fn without_comment(text: &str) -> (&str, Option<String>) {
    let cut = text.match_indices('#').map(|(at, _)| at).find(|at| {
        text.get(..*at).is_some_and(|before| before.is_empty() || before.ends_with([' ', '\t']))
    });
    match cut.and_then(|cut| text.split_at_checked(cut)) {
        Some((text, comment)) => (text.trim_end(), comment_of(comment)),
        None => (text.trim_end(), None),
    }
}

/// Gives the words of a comment that begins here.
pub(super) fn comment_of(text: &str) -> Option<String> {
    let comment = text.strip_prefix('#')?.trim_matches(['#', ' ']);
    (!comment.is_empty()).then(|| comment.to_owned())
}
