//! Changing one member of a JSON file as a person would: everything else in the text stays as it
//! is, with its comments, commas, indentation and line ends.
//!
//! Clients read their files with comments and with a comma after the last member, so both are
//! understood here.

use serde_json::Value;

/// How a file is indented that does not show it.
const INDENT: &str = "  ";

/// What some editors put before the text.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Reads a text that may have comments and a comma after the last member.
///
/// # Errors
///
/// When it is no JSON beside these.
pub(in crate::commands) fn read(text: &str) -> serde_json::Result<Value> {
    serde_json::from_str(&plain(text))
}

/// Puts a value under the keys of `path`, in the place of one that is there. Nothing where a value
/// on the way is no object, or where the text is not understood.
pub(super) fn put(text: &str, path: &[&str], value: &Value) -> Option<String> {
    let (last, parents) = path.split_last()?;
    let begin =
        skip(text, if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 });
    let mut object = members(text, begin)?;
    for (depth, key) in parents.iter().enumerate() {
        match object.member(key) {
            Some(member) => object = members(text, member.value.start)?,
            None => {
                let inner = path[depth + 1..].iter().rev().fold(value.clone(), |inner, key| {
                    Value::Object(serde_json::Map::from_iter([((*key).to_owned(), inner)]))
                });
                return Some(object.with(text, key, &inner));
            }
        }
    }
    Some(match object.member(last) {
        Some(member) => {
            let written = written(text, value, &indent_at(text, member.key_start));
            let (before, after) = (&text[..member.value.start], &text[member.value.end..]);
            format!("{before}{written}{after}")
        }
        None => object.with(text, last, value),
    })
}

/// A member of an object, by its places in the text.
struct Member {
    key: String,
    key_start: usize,
    value: std::ops::Range<usize>,
}

/// An object, by its places in the text.
struct Object {
    /// Where it begins.
    start: usize,
    members: Vec<Member>,
    /// Where its closing brace is.
    end: usize,
    ends_with_comma: bool,
}

impl Object {
    /// Gives the member of a name; of several the last one counts.
    fn member(&self, key: &str) -> Option<&Member> {
        self.members.iter().rev().find(|member| member.key == key)
    }

    /// Gives the text with one member more, after the others.
    fn with(&self, text: &str, key: &str, value: &Value) -> String {
        let end_of_line = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let outer = indent_at(text, self.start);
        let inner = match self.members.last() {
            Some(member) if is_first_of_line(text, member.key_start) => {
                indent_at(text, member.key_start)
            }
            Some(_) | None => format!("{outer}{}", indent_of(text)),
        };
        let key = Value::String(key.to_owned());
        let member = format!("{inner}{key}: {}", written(text, value, &inner));
        let comma_after = if self.ends_with_comma { "," } else { "" };
        let last_end = self.members.last().map_or(self.start + 1, |member| member.value.end);
        let comma_before = if self.members.is_empty() || self.ends_with_comma { "" } else { "," };
        // Comments may follow the last member.
        let between = text[last_end..self.end].trim_end();
        let rest = &text[last_end + between.len()..self.end];
        let closing = match rest.contains('\n') {
            true => rest.to_owned(),
            false => format!("{end_of_line}{outer}"),
        };
        format!(
            "{}{comma_before}{between}{end_of_line}{member}{comma_after}{closing}{}",
            &text[..last_end],
            &text[self.end..]
        )
    }
}

/// Writes a value as a member's value at an indentation, in the manner of the text.
fn written(text: &str, value: &Value, indent: &str) -> String {
    let pretty = serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string());
    let end_of_line = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let step = indent_of(text);
    let lines = pretty.lines().enumerate().map(|(number, line)| {
        let deep = line.len() - line.trim_start().len();
        let steps = step.repeat(deep / INDENT.len());
        match number {
            0 => line.to_owned(),
            _ => format!("{indent}{steps}{}", line.trim_start()),
        }
    });
    lines.collect::<Vec<_>>().join(end_of_line)
}

/// Gives what the first line that is indented is indented with.
fn indent_of(text: &str) -> String {
    let indents = text.lines().map(|line| &line[..line.len() - line.trim_start().len()]);
    let first = indents.map(str::to_owned).find(|indent| !indent.is_empty());
    first.filter(|indent| indent.len() <= 8).unwrap_or_else(|| INDENT.to_owned())
}

/// Gives what the line of a place begins with.
fn indent_at(text: &str, place: usize) -> String {
    let line = &text[text[..place].rfind('\n').map_or(0, |end| end + 1)..];
    line.chars().take_while(|letter| matches!(letter, ' ' | '\t')).collect()
}

fn is_first_of_line(text: &str, place: usize) -> bool {
    let before = &text[text[..place].rfind('\n').map_or(0, |end| end + 1)..place];
    before.trim().is_empty() && text[..place].contains('\n')
}

/// Finds the members of the object that begins at a place.
fn members(text: &str, start: usize) -> Option<Object> {
    let byte = |place: usize| text.as_bytes().get(place).copied();
    if byte(start)? != b'{' {
        return None;
    }
    let mut object = Object { start, members: vec![], end: start, ends_with_comma: false };
    let mut place = skip(text, start + 1);
    loop {
        if byte(place)? == b'}' {
            object.end = place;
            return Some(object);
        }
        let key_start = place;
        let key_end = end_of_value(text, place)?;
        let key = serde_json::from_str(&text[key_start..key_end]).ok()?;
        place = skip(text, key_end);
        if byte(place)? != b':' {
            return None;
        }
        let value_start = skip(text, place + 1);
        let value_end = end_of_value(text, value_start)?;
        object.members.push(Member { key, key_start, value: value_start..value_end });
        place = skip(text, value_end);
        object.ends_with_comma = byte(place)? == b',';
        if object.ends_with_comma {
            place = skip(text, place + 1);
        } else if byte(place)? != b'}' {
            return None;
        }
    }
}

/// Finds the end of the value that begins at a place.
fn end_of_value(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    match bytes.get(start)? {
        b'"' => end_of_string(bytes, start),
        b'{' | b'[' => {
            let mut depth = 0_usize;
            let mut place = start;
            loop {
                match bytes.get(place)? {
                    b'"' => place = end_of_string(bytes, place)?,
                    b'{' | b'[' => (depth, place) = (depth + 1, place + 1),
                    b'}' | b']' => {
                        (depth, place) = (depth - 1, place + 1);
                        if depth == 0 {
                            return Some(place);
                        }
                    }
                    b'/' => place = skip(text, place).max(place + 1),
                    _ => place += 1,
                }
            }
        }
        _ => {
            let is_end = |byte: &u8| {
                matches!(byte, b',' | b'}' | b']' | b'/' | b':') || byte.is_ascii_whitespace()
            };
            let length = bytes[start..].iter().position(is_end)?;
            (length > 0).then_some(start + length)
        }
    }
}

fn end_of_string(bytes: &[u8], start: usize) -> Option<usize> {
    let mut place = start + 1;
    loop {
        match bytes.get(place)? {
            b'"' => return Some(place + 1),
            b'\\' => place += 2,
            _ => place += 1,
        }
    }
}

/// Passes over blanks and comments.
fn skip(text: &str, start: usize) -> usize {
    let mut rest = &text[start..];
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\r', '\n']);
        let after = if let Some(comment) = rest.strip_prefix("//") {
            comment.find('\n').map(|end| &comment[end..])
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.find("*/").map(|end| &comment[end + 2..])
        } else {
            return text.len() - rest.len();
        };
        match after {
            Some(after) => rest = after,
            None => return text.len(),
        }
    }
}

/// Gives the text without its comments, its byte order mark and commas before a closing bracket.
fn plain(text: &str) -> String {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let mut plain = String::with_capacity(text.len());
    let mut place = 0;
    while let Some(letter) = text[place..].chars().next() {
        let next = match letter {
            '"' => end_of_string(text.as_bytes(), place).unwrap_or(text.len()),
            '/' => skip(text, place),
            ',' if matches!(text.as_bytes().get(skip(text, place + 1)), Some(b'}' | b']')) => {
                place += 1;
                continue;
            }
            letter => place + letter.len_utf8(),
        };
        // A comment is a blank; what only looks like the beginning of one stays, and is an error.
        match letter {
            '/' if next > place => plain.push(' '),
            _ => plain.push_str(&text[place..next.max(place + 1)]),
        }
        place = next.max(place + 1);
    }
    plain
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(text: &str, path: &[&str], expected: &str) {
        let changed = put(text, path, &json!({ "url": "u" })).unwrap();
        assert_eq!(changed, expected);
        // What is put twice is there once.
        assert_eq!(put(&changed, path, &json!({ "url": "u" })).unwrap(), expected);
        assert_eq!(read(&changed).unwrap()[path[0]][path[1]], json!({ "url": "u" }));
    }

    #[test]
    fn everything_else_in_the_text_stays() {
        let path = &["servers", "dowse"][..];
        check(
            "{}\n",
            path,
            "{\n  \"servers\": {\n    \"dowse\": {\n      \"url\": \"u\"\n    }\n  }\n}\n",
        );
        check(
            "// mine\n{\n\t\"n\": 1.10, /* x */\n\t\"servers\": {\n\t\t\"o\": {}, // last\n\t},\n}\n",
            path,
            "// mine\n{\n\t\"n\": 1.10, /* x */\n\t\"servers\": {\n\t\t\"o\": {}, // last\n\
             \t\t\"dowse\": {\n\t\t\t\"url\": \"u\"\n\t\t},\n\t},\n}\n",
        );
        check(
            "\u{feff}{\r\n    \"big\": 12345678901234567890123,\r\n    \"servers\": {\r\n        \"o\": []\r\n    }\r\n}",
            path,
            "\u{feff}{\r\n    \"big\": 12345678901234567890123,\r\n    \"servers\": {\r\n        \"o\": [],\r\n        \
             \"dowse\": {\r\n            \"url\": \"u\"\r\n        }\r\n    }\r\n}",
        );
        check(
            "{\n  \"servers\": {\n    \"dowse\": {\"old\": \"} // \\\" ]\"}, // why\n    \"z\": 1\n  }\n}\n",
            path,
            "{\n  \"servers\": {\n    \"dowse\": {\n      \"url\": \"u\"\n    }, // why\n    \"z\": 1\n  }\n}\n",
        );
        check(
            "{\"a\": \"é\"}",
            path,
            "{\"a\": \"é\",\n  \"servers\": {\n    \"dowse\": {\n      \"url\": \"u\"\n    }\n  }\n}",
        );
    }

    #[test]
    fn what_is_not_understood_is_said() {
        let value = json!(1);
        for text in [
            "",
            "[]",
            "3",
            "{",
            "{\"a\"}",
            "{\"a\": [é}",
            "{a: 1}",
            "{\"a\": \"",
            "{,}",
            "/* ",
            "{\"a\": 1 2}",
        ] {
            assert_eq!(put(text, &["a", "b"], &value), None, "{text}");
        }
        assert!(read("{\"a\": 1} // x\n/* y */").is_ok());
        assert!(read("{\"a\": / 1}").is_err());
    }
}
