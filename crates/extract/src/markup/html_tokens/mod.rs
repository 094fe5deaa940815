//! Characters in, tokens of the HTML standard out, in time that grows with the length of the page.
//!
//! The tokenizer compares every attribute of a tag with all before it, so a tag with half a
//! million attributes costs a hundred billion comparisons. Here a tag is handed over up to
//! [`MAX_ATTRIBUTES`] attributes, and the rest of it is passed over and counted.
//!
//! Whether `<a ` opens a tag depends on what the tokenizer is in (a script, a comment), which it
//! does not tell. But it gives characters away as soon as it has them, so text is handed over up
//! to the point where a tag would have begun, and the tokenizer that gave nothing for it is inside
//! one. From there the few states of attributes are followed.

use std::cell::Cell;

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{
    BufferQueue, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};

/// How many attributes of a tag are read. Pages of people have a few dozen at most; 256 makes a
/// page of nothing but attributes cost 128 comparisons for each on average.
pub(crate) const MAX_ATTRIBUTES: usize = 256;

/// How much is handed over between two looks at the caps.
const FEED_BYTES: usize = 64 << 10;

/// A page on its way through the tokenizer.
pub(crate) struct HtmlTokens<'t, S: TokenSink> {
    tokenizer: Tokenizer<Counting<S>>,
    queue: BufferQueue,
    text: &'t str,
    at: usize,
    /// The tokenizer was given a `<` last, and takes what follows for a tag if it can.
    is_after_opener: bool,
    n_left_out: usize,
}

impl<'t, S: TokenSink> HtmlTokens<'t, S> {
    pub(crate) fn new(text: &'t str, sink: S) -> Self {
        let sink = Counting { sink, n_tokens: Cell::new(0) };
        HtmlTokens {
            tokenizer: Tokenizer::new(sink, TokenizerOpts::default()),
            queue: BufferQueue::default(),
            text,
            at: 0,
            is_after_opener: false,
            n_left_out: 0,
        }
    }

    pub(crate) fn sink(&self) -> &S {
        &self.tokenizer.sink.sink
    }

    /// Counts the attributes that were passed over.
    pub(crate) fn n_left_out(&self) -> usize {
        self.n_left_out
    }

    /// Goes on for about [`FEED_BYTES`], or one tag; gives whether there is more.
    pub(crate) fn advance(&mut self) -> bool {
        let stop = self.at.saturating_add(FEED_BYTES);
        while self.at < self.text.len() && self.at < stop {
            if self.is_after_opener {
                self.is_after_opener = false;
                self.markup();
            } else {
                let length = self.rest().iter().position(|byte| *byte == b'<');
                self.is_after_opener = length.is_some();
                self.feed_to(length.map_or(self.text.len(), |length| self.at + length + 1));
            }
        }
        if self.at < self.text.len() {
            return true;
        }
        self.tokenizer.end();
        false
    }

    /// What follows a `<`: a tag, a comment, or characters.
    fn markup(&mut self) {
        let n_tokens = self.n_tokens();
        if self.rest().first() == Some(&b'/') {
            self.feed_to(self.at + 1);
        }
        match self.rest().first() {
            Some(byte) if byte.is_ascii_alphabetic() => self.tag(n_tokens),
            Some(b'>') | None => {}
            Some(byte) => {
                // In a script this is characters, given away at once; else a comment begins.
                let is_opener = *byte == b'<';
                let length = self.text.get(self.at..).and_then(|rest| rest.chars().next());
                self.feed_to(self.at + length.map_or(1, char::len_utf8));
                if self.n_tokens() == n_tokens {
                    self.comment(n_tokens);
                } else {
                    self.is_after_opener = is_opener;
                }
            }
        }
    }

    /// Hands over a comment, which is a token once it is closed.
    fn comment(&mut self, n_tokens: u64) {
        while self.n_tokens() == n_tokens && self.at < self.text.len() {
            let length = self.rest().iter().position(|byte| *byte == b'>');
            self.feed_to(length.map_or(self.text.len(), |length| self.at + length + 1));
        }
    }

    /// Hands over a name, and its attributes if it turns out to be the name of a tag.
    fn tag(&mut self, n_tokens: u64) {
        loop {
            let ends = |byte: &u8| is_space(*byte) || matches!(byte, b'/' | b'>' | b'<');
            let Some(length) = self.rest().iter().position(ends) else {
                self.feed_to(self.text.len());
                return;
            };
            let end = self.rest().get(length).copied().unwrap_or_default();
            self.feed_to(self.at + length + 1);
            let is_tag = self.n_tokens() == n_tokens;
            match end {
                b'<' if is_tag => {}
                b'<' => {
                    self.is_after_opener = true;
                    return;
                }
                b'/' if is_tag => return self.attributes(In::SelfClosing),
                b'>' => return,
                _ if is_tag => return self.attributes(In::BeforeName),
                _ => return,
            }
        }
    }

    /// Hands over the rest of a tag, up to as many attributes as are read.
    fn attributes(&mut self, mut state: In) {
        let mut n_attributes = 0;
        let mut cut = None;
        for (offset, byte) in self.rest().iter().enumerate() {
            let (next, is_new) = state.after(*byte);
            n_attributes += usize::from(is_new);
            if n_attributes > MAX_ATTRIBUTES && cut.is_none() {
                cut = Some(self.at + offset);
            }
            if next == In::End {
                let end = self.at + offset + 1;
                let Some(cut) = cut else { return self.feed_to(end) };
                self.feed_to(cut);
                self.n_left_out += n_attributes - MAX_ATTRIBUTES;
                // The space ends whatever the last attribute left open.
                let closing = if state == In::SelfClosing { " />" } else { " >" };
                self.feed(closing);
                self.at = end;
                return;
            }
            state = next;
        }
        // A tag that never ends is no token.
        self.n_left_out += n_attributes.saturating_sub(MAX_ATTRIBUTES);
        self.feed_to(cut.unwrap_or(self.text.len()));
        self.at = self.text.len();
    }

    fn rest(&self) -> &'t [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    fn n_tokens(&self) -> u64 {
        self.tokenizer.sink.n_tokens.get()
    }

    /// Hands over what is before `end`, which is the end of a character.
    fn feed_to(&mut self, end: usize) {
        let end = end.min(self.text.len());
        self.feed(self.text.get(self.at..end).unwrap_or_default());
        self.at = end;
    }

    fn feed(&self, piece: &str) {
        if !piece.is_empty() {
            self.queue.push_back(StrTendril::from(piece));
            let _ = self.tokenizer.feed(&self.queue);
        }
    }
}

/// Where in the rest of a tag a character is, as the standard has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum In {
    BeforeName,
    Name,
    AfterName,
    BeforeValue,
    DoubleQuoted,
    SingleQuoted,
    Unquoted,
    AfterQuoted,
    SelfClosing,
    End,
}

impl In {
    /// Gives the state after a byte, and whether the byte begins an attribute.
    fn after(self, byte: u8) -> (In, bool) {
        let next = match (self, byte) {
            (In::DoubleQuoted, b'"') | (In::SingleQuoted, b'\'') => In::AfterQuoted,
            (In::DoubleQuoted | In::SingleQuoted, _) => self,
            (_, b'>') => In::End,
            (In::BeforeValue, b'"') => In::DoubleQuoted,
            (In::BeforeValue, b'\'') => In::SingleQuoted,
            (In::BeforeValue, byte) if is_space(byte) => In::BeforeValue,
            (In::Unquoted, byte) if is_space(byte) => In::BeforeName,
            (In::BeforeValue | In::Unquoted, _) => In::Unquoted,
            (_, b'/') => In::SelfClosing,
            (In::Name | In::AfterName, b'=') => In::BeforeValue,
            (In::Name | In::AfterName, byte) if is_space(byte) => In::AfterName,
            (In::Name, _) => In::Name,
            (_, byte) if is_space(byte) => In::BeforeName,
            _ => return (In::Name, true),
        };
        (next, false)
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0xc)
}

/// Counts what the tokenizer gives away, apart from remarks about errors.
struct Counting<S> {
    sink: S,
    n_tokens: Cell<u64>,
}

impl<S: TokenSink> TokenSink for Counting<S> {
    type Handle = S::Handle;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<S::Handle> {
        if !matches!(token, Token::ParseError(_)) {
            self.n_tokens.set(self.n_tokens.get() + 1);
        }
        self.sink.process_token(token, line)
    }

    fn end(&self) {
        self.sink.end();
    }
}

#[cfg(test)]
mod tests;
