//! What the analyser gives: a word in three spellings, with its place.

use std::ops::Range;

use model::Span;

/// What a token is, which decides how a query uses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// A plain word or number.
    Word,
    /// A whole that is also cut into parts: an identifier, a code, an e-mail address, a number
    /// with separators, a hyphenated word. Shares the position of its first part.
    Compound,
    /// A part of a compound.
    Part,
    /// Two neighbouring characters of a script without spaces.
    Bigram,
    /// One character of a script without spaces; shares the position of the bigram it starts.
    Character,
    /// A private piece: in an index one of its words, in a query the whole of it.
    Private,
}

impl TokenKind {
    /// Tells whether a sequence of such tokens spells the text once, without repetition: what a
    /// phrase is made of.
    pub fn is_sequential(self) -> bool {
        matches!(self, TokenKind::Word | TokenKind::Part | TokenKind::Bigram | TokenKind::Private)
    }

    /// Tells whether the token comes from a script without spaces.
    pub fn is_ideographic(self) -> bool {
        matches!(self, TokenKind::Bigram | TokenKind::Character)
    }
}

/// One token, borrowed from the analyser's buffers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRef<'a> {
    /// NFKC and lower case, diacritics kept: a match here ranks first.
    pub exact: &'a str,
    /// The folded form.
    pub folded: &'a str,
    /// The folded form, stemmed in the language of the text: the term of the folded field.
    pub stem: &'a str,
    /// Whether it is a whole word, a part of one or a piece without spaces.
    pub kind: TokenKind,
    /// The position in the sequence of words, from 0.
    pub position: u32,
    /// How many positions the token spans; more than 1 only for compounds.
    pub n_positions: u32,
    /// Where the token is in the text, in bytes.
    pub bytes: Range<usize>,
    /// Where the token is in the text, in characters.
    pub chars: Span,
}

/// One token that owns its spellings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// NFKC and lower case, diacritics kept.
    pub exact: String,
    /// The folded form.
    pub folded: String,
    /// The folded form, stemmed in the language of the text.
    pub stem: String,
    /// Whether it is a whole word, a part of one or a piece without spaces.
    pub kind: TokenKind,
    /// The position in the sequence of words, from 0.
    pub position: u32,
    /// How many positions the token spans.
    pub n_positions: u32,
    /// Where the token is in the text, in bytes.
    pub bytes: Range<usize>,
    /// Where the token is in the text, in characters.
    pub chars: Span,
}

impl TokenRef<'_> {
    /// Copies the spellings.
    pub fn to_token(&self) -> Token {
        Token {
            exact: self.exact.to_owned(),
            folded: self.folded.to_owned(),
            stem: self.stem.to_owned(),
            kind: self.kind,
            position: self.position,
            n_positions: self.n_positions,
            bytes: self.bytes.clone(),
            chars: self.chars,
        }
    }
}
