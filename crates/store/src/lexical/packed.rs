//! Words that are already cut, handed to the full-text engine as one string.
//!
//! The engine's own form for cut words allocates each of them; this one packs them behind each
//! other (separator, step to the next position, term) and unpacks them into one buffer.

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

const SEPARATOR: char = '\0';
const STEP_BASE: u32 = 0x20;
/// Larger gaps than this cannot matter to a phrase.
const MAX_STEP: u32 = 1_000;

/// The name under which the index knows the unpacking tokenizer.
pub(super) const PACKED: &str = "packed";

/// Packs words in the order of their positions.
#[derive(Debug, Default)]
pub(super) struct Packer {
    packed: String,
    last_position: Option<u32>,
    base: u32,
}

impl Packer {
    /// Adds a word.
    ///
    /// Invariant: positions do not fall.
    pub(super) fn push(&mut self, term: &str, position: u32) {
        let position = self.base + position;
        let step = match self.last_position {
            Some(last) => position.saturating_sub(last).min(MAX_STEP),
            None => 0,
        };
        self.last_position = Some(position);
        self.packed.push(SEPARATOR);
        self.packed.push(char::from_u32(STEP_BASE + step).unwrap_or(' '));
        if memchr::memchr(SEPARATOR as u8, term.as_bytes()).is_none() {
            self.packed.push_str(term);
        } else {
            self.packed.extend(term.chars().filter(|char| *char != SEPARATOR));
        }
    }

    /// Starts another stretch of text, far enough away that no phrase spans the two.
    pub(super) fn gap(&mut self) {
        self.base = self.last_position.map_or(0, |last| last + 100);
    }

    /// Gives the packed words.
    pub(super) fn as_str(&self) -> &str {
        &self.packed
    }

    /// Forgets all words, keeping the memory.
    pub(super) fn clear(&mut self) {
        self.packed.clear();
        self.last_position = None;
        self.base = 0;
    }
}

/// Unpacks what [`Packer`] packed.
#[derive(Debug, Clone, Default)]
pub(super) struct Unpacker {
    token: Token,
}

impl Tokenizer for Unpacker {
    type TokenStream<'a> = Unpacking<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Unpacking<'a> {
        self.token.reset();
        self.token.position = 0;
        Unpacking { rest: text, token: &mut self.token }
    }
}

pub(super) struct Unpacking<'a> {
    rest: &'a str,
    token: &'a mut Token,
}

impl TokenStream for Unpacking<'_> {
    fn advance(&mut self) -> bool {
        let mut chars = self.rest.chars();
        if chars.next() != Some(SEPARATOR) {
            return false;
        }
        let Some(step) = chars.next() else { return false };
        let rest = chars.as_str();
        let end = memchr::memchr(SEPARATOR as u8, rest.as_bytes()).unwrap_or(rest.len());
        self.token.position += (u32::from(step) - STEP_BASE) as usize;
        self.token.text.clear();
        self.token.text.push_str(&rest[..end]);
        self.rest = &rest[end..];
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(words: &[(&str, u32)]) {
        let mut packer = Packer::default();
        words.iter().for_each(|(term, position)| packer.push(term, *position));
        let mut unpacker = Unpacker::default();
        let mut stream = unpacker.token_stream(packer.as_str());
        let mut unpacked = vec![];
        while stream.advance() {
            unpacked.push((stream.token().text.clone(), stream.token().position as u32));
        }
        let first = words.first().map_or(0, |word| word.1);
        let expected: Vec<_> =
            words.iter().map(|(term, position)| ((*term).to_owned(), position - first)).collect();
        assert_eq!(unpacked, expected);
    }

    #[test]
    fn unpacks_what_was_packed() {
        check(&[]);
        check(&[("one", 0)]);
        check(&[("one", 0), ("two", 1), ("deux", 1), ("three", 7)]);
        check(&[("日", 3), ("日本", 3), ("本", 4)]);
        check(&[(" ", 0), ("!", 900)]);
    }
}
