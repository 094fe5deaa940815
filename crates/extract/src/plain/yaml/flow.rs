//! Mappings and lists in brackets: `{a: 1, b: [x, "y"]}`.

use super::document::MAX_DEPTH;
use super::read::ValuePlace;
use super::scalar::{closing_quote, unquoted};

/// Finds where a bracket that was opened is closed, part by part.
#[derive(Debug, Default)]
pub(super) struct Balance {
    n_open: usize,
    /// The quote that a string began with, while one is open.
    quote: Option<char>,
}

impl Balance {
    /// Gives where the brackets are closed in the next part, behind the last of them; an inner
    /// nothing where they are not. Gives nothing at all for what is not read here: comments in
    /// between, and more brackets in each other than documents may be deep.
    pub(super) fn end_in(&mut self, part: &str) -> Option<Option<usize>> {
        let mut before = ' ';
        let mut is_escaped = false;
        for (at, char) in part.char_indices() {
            match self.quote {
                Some('"') if is_escaped => is_escaped = false,
                Some('"') if char == '\\' => is_escaped = true,
                Some(quote) if char == quote => self.quote = None,
                Some(_) => {}
                None if matches!(char, '"' | '\'') && !before.is_alphanumeric() => {
                    self.quote = Some(char);
                }
                None if matches!(char, '[' | '{') => self.n_open += 1,
                None if matches!(char, ']' | '}') => {
                    self.n_open = self.n_open.checked_sub(1)?;
                    if self.n_open == 0 {
                        return Some(Some(at + 1));
                    }
                }
                None if char == '#' && before == ' ' => return None,
                None => {}
            }
            if self.n_open > MAX_DEPTH {
                return None;
            }
            before = char;
        }
        Some(None)
    }
}

/// Gives the values of a mapping or a list in brackets, in order.
pub(super) fn values(
    text: &str,
    place: &ValuePlace,
    depth: usize,
) -> Option<Vec<(ValuePlace, String)>> {
    let mut flow = Flow { rest: text, values: Vec::new() };
    flow.value(place, depth)?;
    flow.rest.trim().is_empty().then_some(flow.values)
}

struct Flow<'a> {
    rest: &'a str,
    values: Vec<(ValuePlace, String)>,
}

impl Flow<'_> {
    fn value(&mut self, place: &ValuePlace, depth: usize) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        match self.peek()? {
            '{' => self.mapping(place, depth),
            '[' => self.list(place, depth),
            _ => {
                let text = self.scalar()?;
                if !["~", "null", ""].contains(&text.as_str()) {
                    self.values.push((place.clone(), text));
                }
                Some(())
            }
        }
    }

    fn mapping(&mut self, place: &ValuePlace, depth: usize) -> Option<()> {
        self.take("{")?;
        while self.take("}").is_none() {
            let key = self.scalar()?;
            if self.take(":").is_some() && !matches!(self.peek()?, ',' | '}') {
                self.value(&place.key(&key), depth + 1)?;
            }
            if self.take(",").is_none() && self.peek()? != '}' {
                return None;
            }
        }
        Some(())
    }

    fn list(&mut self, place: &ValuePlace, depth: usize) -> Option<()> {
        self.take("[")?;
        let mut item_idx = 0;
        while self.take("]").is_none() {
            self.value(&place.item(item_idx), depth + 1)?;
            item_idx += 1;
            if self.take(",").is_none() && self.peek()? != ']' {
                return None;
            }
        }
        Some(())
    }

    /// Gives the next character that is not a space.
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn take(&mut self, sign: &str) -> Option<()> {
        self.rest = self.rest.trim_start();
        self.rest = self.rest.strip_prefix(sign)?;
        Some(())
    }

    fn scalar(&mut self) -> Option<String> {
        let first = self.peek()?;
        if matches!(first, '"' | '\'') {
            let inner = self.rest.get(1..)?;
            let end = closing_quote(inner, first)?;
            self.rest = inner.get(end + 1..)?;
            return Some(unquoted(inner.get(..end)?, first));
        }
        let rest = self.rest;
        let end = rest.char_indices().find(|(at, char)| {
            let is_colon = || {
                let next = rest.get(at + 1..).and_then(|rest| rest.chars().next());
                next.is_none_or(|next| matches!(next, ' ' | ',' | '[' | ']' | '{' | '}'))
            };
            matches!(char, ',' | '[' | ']' | '{' | '}') || *char == ':' && is_colon()
        });
        let (text, rest) = rest.split_at_checked(end.map_or(rest.len(), |(at, _)| at))?;
        self.rest = rest;
        let text = text.trim_end();
        (!text.is_empty()).then(|| text.to_owned())
    }
}
