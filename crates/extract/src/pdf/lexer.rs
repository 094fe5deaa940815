//! Bytes → values and operators, for files and for the streams that draw pages.
//!
//! Forgives what writers get wrong; nesting is capped, so it cannot recurse without end.

use std::rc::Rc;

use super::object::{Dict, Object};

/// How deep arrays and dictionaries may be in each other.
const MAX_DEPTH: usize = 64;

/// What is next in a stream.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token<'a> {
    Value(Object),
    Operator(&'a [u8]),
}

/// A position in bytes.
#[derive(Debug, Clone)]
pub(super) struct Lexer<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(bytes: &'a [u8], at: usize) -> Self {
        Lexer { bytes, at: at.min(bytes.len()) }
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn set_at(&mut self, at: usize) {
        self.at = at.min(self.bytes.len());
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    pub(super) fn skip_white(&mut self) {
        while let Some(byte) = self.peek() {
            if is_white(byte) {
                self.at += 1;
            } else if byte == b'%' {
                let line = self.rest();
                let end = memchr::memchr2(b'\n', b'\r', line).unwrap_or(line.len());
                self.at += end;
            } else {
                return;
            }
        }
    }

    /// Gives the next value or operator; `None` at the end.
    pub(super) fn token(&mut self) -> Option<Token<'a>> {
        self.token_within(0)
    }

    /// Gives the next value, with references, as objects of a file have them.
    pub(super) fn object(&mut self) -> Option<Object> {
        match self.token()? {
            Token::Value(Object::Integer(number)) => Some(self.maybe_reference(number)),
            Token::Value(value) => Some(value),
            Token::Operator(_) => None,
        }
    }

    /// Skips a word when it is next.
    pub(super) fn skip_word(&mut self, word: &[u8]) -> bool {
        self.skip_white();
        let is_next = self.rest().starts_with(word);
        if is_next {
            self.at += word.len();
        }
        is_next
    }

    /// Reads a whole number that is not negative.
    pub(super) fn unsigned(&mut self) -> Option<u64> {
        self.skip_white();
        let digits = self.rest();
        let n_digits = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if n_digits == 0 {
            return None;
        }
        self.at += n_digits;
        std::str::from_utf8(digits.get(..n_digits)?).ok()?.parse().ok()
    }

    fn maybe_reference(&mut self, number: i64) -> Object {
        let before = self.at;
        if let Ok(target) = u32::try_from(number)
            && self.unsigned().is_some()
        {
            self.skip_white();
            let mut next = self.rest().iter();
            let is_reference =
                next.next() == Some(&b'R') && next.next().is_none_or(|byte| !is_regular(*byte));
            if is_reference {
                self.at += 1;
                return Object::Reference(target);
            }
        }
        self.at = before;
        Object::Integer(number)
    }

    fn token_within(&mut self, depth: usize) -> Option<Token<'a>> {
        self.skip_white();
        let byte = self.peek()?;
        let value = match byte {
            b'/' => {
                self.at += 1;
                Object::Name(self.name())
            }
            b'(' => self.literal_string(),
            b'<' if self.bytes.get(self.at + 1) == Some(&b'<') => {
                self.at += 2;
                self.dict(depth)?
            }
            b'<' => self.hex_string(),
            b'[' => {
                self.at += 1;
                self.array(depth)?
            }
            b'+' | b'-' | b'.' | b'0'..=b'9' => self.number(),
            b']' | b'}' | b'{' | b')' => {
                self.at += 1;
                return Some(Token::Operator(self.bytes.get(self.at - 1..self.at)?));
            }
            b'>' => {
                let length = if self.rest().starts_with(b">>") { 2 } else { 1 };
                self.at += length;
                return Some(Token::Operator(self.bytes.get(self.at - length..self.at)?));
            }
            _ => {
                let start = self.at;
                while self.peek().is_some_and(is_regular) {
                    self.at += 1;
                }
                let word = self.bytes.get(start..self.at)?;
                match word {
                    b"true" => Object::Bool(true),
                    b"false" => Object::Bool(false),
                    b"null" => Object::Null,
                    _ => return Some(Token::Operator(word)),
                }
            }
        };
        Some(Token::Value(value))
    }

    fn name(&mut self) -> Rc<str> {
        let start = self.at;
        while self.peek().is_some_and(is_regular) {
            self.at += 1;
        }
        let raw = self.bytes.get(start..self.at).unwrap_or_default();
        if !raw.contains(&b'#')
            && let Ok(name) = std::str::from_utf8(raw)
        {
            return Rc::from(name);
        }
        let mut name = Vec::with_capacity(raw.len());
        let mut rest = raw;
        while let Some((byte, after)) = rest.split_first() {
            let escaped = (*byte == b'#')
                .then(|| Some((hex_digit(*after.first()?)?, hex_digit(*after.get(1)?)?)))
                .flatten();
            if let Some((high, low)) = escaped {
                name.push(high << 4 | low);
                rest = after.get(2..).unwrap_or_default();
            } else {
                name.push(*byte);
                rest = after;
            }
        }
        match String::from_utf8(name) {
            Ok(name) => Rc::from(name),
            Err(error) => error.into_bytes().into_iter().map(char::from).collect::<String>().into(),
        }
    }

    fn number(&mut self) -> Object {
        let start = self.at;
        let mut is_real = false;
        while let Some(byte) = self.peek() {
            match byte {
                b'0'..=b'9' | b'+' => {}
                b'-' => {}
                b'.' => is_real = true,
                _ => break,
            }
            self.at += 1;
        }
        let text = self.bytes.get(start..self.at).unwrap_or_default();
        if !is_real
            && let Some(number) = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok())
        {
            return Object::Integer(number);
        }
        Object::Real(forgiving_real(text))
    }

    fn literal_string(&mut self) -> Object {
        self.at += 1;
        let mut string = Vec::new();
        let mut depth = 1_usize;
        while let Some(byte) = self.peek() {
            self.at += 1;
            match byte {
                b'(' => {
                    depth += 1;
                    string.push(byte);
                }
                b')' => {
                    depth -= 1;
                    if depth == 0 {
                        break;
                    }
                    string.push(byte);
                }
                b'\\' => self.escape(&mut string),
                b'\r' => {
                    if self.peek() == Some(b'\n') {
                        self.at += 1;
                    }
                    string.push(b'\n');
                }
                _ => string.push(byte),
            }
        }
        Object::String(string.into())
    }

    fn escape(&mut self, string: &mut Vec<u8>) {
        let Some(byte) = self.peek() else { return };
        self.at += 1;
        match byte {
            b'n' => string.push(b'\n'),
            b'r' => string.push(b'\r'),
            b't' => string.push(b'\t'),
            b'b' => string.push(8),
            b'f' => string.push(12),
            b'\r' => {
                if self.peek() == Some(b'\n') {
                    self.at += 1;
                }
            }
            b'\n' => {}
            b'0'..=b'7' => {
                let mut code = u32::from(byte - b'0');
                for _ in 0..2 {
                    match self.peek() {
                        Some(digit @ b'0'..=b'7') => {
                            code = code * 8 + u32::from(digit - b'0');
                            self.at += 1;
                        }
                        _ => break,
                    }
                }
                string.push((code & 0xff) as u8);
            }
            _ => string.push(byte),
        }
    }

    fn hex_string(&mut self) -> Object {
        self.at += 1;
        let mut string = Vec::new();
        let mut high = None;
        while let Some(byte) = self.peek() {
            self.at += 1;
            if byte == b'>' {
                break;
            }
            let Some(digit) = hex_digit(byte) else { continue };
            match high.take() {
                Some(high) => string.push(high << 4 | digit),
                None => high = Some(digit),
            }
        }
        string.extend(high.map(|high| high << 4));
        Object::String(string.into())
    }

    fn array(&mut self, depth: usize) -> Option<Object> {
        let mut items = Vec::new();
        if depth >= MAX_DEPTH {
            return None;
        }
        while let Some(token) = self.token_within(depth + 1) {
            match token {
                Token::Value(Object::Integer(number)) => items.push(self.maybe_reference(number)),
                Token::Value(value) => items.push(value),
                Token::Operator(b"]") => break,
                // Another operator inside an array means that its end is missing.
                Token::Operator(b"endobj" | b"ET" | b">>") => break,
                Token::Operator(_) => {}
            }
        }
        Some(Object::Array(items.into()))
    }

    fn dict(&mut self, depth: usize) -> Option<Object> {
        let mut dict = Dict::default();
        if depth >= MAX_DEPTH {
            return None;
        }
        while let Some(token) = self.token_within(depth + 1) {
            match token {
                Token::Value(Object::Name(name)) => {
                    let before = self.at;
                    match self.token_within(depth + 1) {
                        Some(Token::Value(Object::Integer(number))) => {
                            let value = self.maybe_reference(number);
                            dict.push(name, value);
                        }
                        Some(Token::Value(value)) => dict.push(name, value),
                        Some(Token::Operator(_)) => {
                            self.at = before;
                            dict.push(name, Object::Null);
                        }
                        None => break,
                    }
                }
                Token::Operator(b">>") => break,
                Token::Operator(b"endobj" | b"stream") => {
                    self.at = self.at.saturating_sub(6);
                    break;
                }
                Token::Operator(_) | Token::Value(_) => {}
            }
        }
        Some(Object::Dict(Rc::new(dict)))
    }
}

pub(super) fn is_white(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\r' | b'\t' | 0x0c | 0)
}

pub(super) fn is_regular(byte: u8) -> bool {
    !is_white(byte)
        && !matches!(byte, b'(' | b')' | b'<' | b'>' | b'[' | b']' | b'{' | b'}' | b'/' | b'%')
}

pub(super) fn hex_digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|digit| digit as u8)
}

/// Reads numbers such as `--3`, `1.2.3` and `.` as other readers do.
fn forgiving_real(text: &[u8]) -> f64 {
    let mut value = 0.0_f64;
    let mut scale = 0.0_f64;
    let mut is_negative = false;
    for (byte_idx, byte) in text.iter().enumerate() {
        match byte {
            b'-' if byte_idx == 0 => is_negative = true,
            b'.' if scale == 0.0 => scale = 1.0,
            b'0'..=b'9' => {
                let digit = f64::from(byte - b'0');
                if scale == 0.0 {
                    value = value * 10.0 + digit;
                } else {
                    scale /= 10.0;
                    value += digit * scale;
                }
            }
            b'-' | b'+' => {}
            _ => break,
        }
    }
    if is_negative { -value } else { value }
}
