//! What is private in a text is no word of it: it can be found by whoever knows it whole, and by
//! nobody piece by piece.
//!
//! Text that leaves has marks in place of its private pieces. If their words were searched, scores
//! would tell them all the same: `4539*` finds the card, and a misspelt password is corrected. So
//! the words of a private piece are spelt [`HIDDEN`] in the index. The first one of an address, a
//! telephone number, an account or a card also stands for the whole, and so does the same piece in
//! a query; a password or a key cannot be looked for at all.
//!
//! The number of words and their positions stay as they are, so that lengths and phrases do too.

use std::collections::HashSet;
use std::ops::Range;

use model::Span;

use crate::analyze::analyzer::{Analyzer, Scratch};
use crate::analyze::token::{TokenKind, TokenRef};
use crate::fold::fold;
use crate::language::Language;
use crate::redact::{PrivateKind, PrivatePiece, find_private, own_keys_generation};

/// How a word of a private piece is spelt in an index. No word of a query begins so.
const HIDDEN: &str = "=";

/// FNV-1a of 128 bits: the whole of a piece as a term of bounded length, the same everywhere.
const FNV_OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
const FNV_PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

/// The private pieces of a text, and the terms under which those are found that may be.
pub(crate) struct Hidden {
    pieces: Vec<(Range<usize>, Option<String>)>,
    /// The first piece that does not end before the place that was last asked about.
    at: usize,
}

/// What a token is in regard to the private pieces of its text.
pub(crate) enum Place<'a> {
    /// In none.
    Outside,
    /// In one, or reaching into it.
    Inside,
    /// Begins in one which can be found by its whole: that term, and the place of the piece.
    Whole(&'a str, Range<usize>),
}

impl Hidden {
    /// Finds the private pieces of a text; nothing where there are none.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let found = find_private(text);
        let with_term = |piece: PrivatePiece| (piece.bytes.clone(), whole_term(text, &piece));
        (!found.is_empty())
            .then(|| Hidden { pieces: found.into_iter().map(with_term).collect(), at: 0 })
    }

    /// Leaves only pieces that can be found by their whole.
    pub(crate) fn findable(mut self) -> Self {
        self.pieces.retain(|(_, term)| term.is_some());
        self
    }

    /// Tells where a token is. Tokens are asked about in the order of their begins.
    pub(crate) fn place(&mut self, token: &Range<usize>) -> Place<'_> {
        while self.pieces.get(self.at).is_some_and(|(piece, _)| piece.end <= token.start) {
            self.at += 1;
        }
        match self.pieces.get(self.at) {
            Some((piece, Some(term))) if (piece.start..piece.end).contains(&token.start) => {
                Place::Whole(term, piece.clone())
            }
            Some((piece, _)) if piece.start < token.end => Place::Inside,
            _ => Place::Outside,
        }
    }

    /// Lists the places of the pieces in characters, with their terms.
    pub(crate) fn in_chars(&self, text: &str) -> Vec<(Span, Option<&str>)> {
        let (mut byte_at, mut char_at) = (0, 0);
        let mut chars_to = |byte: usize| {
            char_at += text.get(byte_at..byte).map_or(0, |part| part.chars().count());
            byte_at = byte;
            char_at
        };
        let places = self.pieces.iter().map(|(bytes, term)| {
            let start = chars_to(bytes.start);
            (Span::new(start, chars_to(bytes.end)), term.as_deref())
        });
        places.collect()
    }
}

/// Longer texts are seldom indexed twice, and to remember them would cost more than it saves.
const MAX_REPEATED_BYTES: usize = 256;

/// Texts without anything private are remembered up to so many.
const MAX_OPEN_TEXTS: usize = 65_536;

/// Texts that were looked through and have nothing private, by their hashes. Most passages have
/// nothing, the same ones are judged again and again, and looking costs more than judging.
#[derive(Debug, Default)]
pub(crate) struct OpenTexts {
    hashes: HashSet<u64, ahash::RandomState>,
    hasher: ahash::RandomState,
    keys: u64,
}

impl OpenTexts {
    /// Finds the private pieces of a text, which may have been looked through before.
    pub(crate) fn hidden(&mut self, text: &str) -> Option<Hidden> {
        let keys = own_keys_generation();
        if keys != self.keys || self.hashes.len() >= MAX_OPEN_TEXTS {
            self.hashes.clear();
            self.keys = keys;
        }
        let hash = self.hasher.hash_one(text);
        if self.hashes.contains(&hash) {
            return None;
        }
        let hidden = Hidden::of(text);
        if hidden.is_none() {
            self.hashes.insert(hash);
        }
        hidden
    }
}

impl Analyzer {
    /// Shows the tokens of a text as an index keeps them: those of private pieces are of
    /// [`TokenKind::Private`] and cannot be told from each other, apart from the first one of a
    /// piece that may be found by its whole.
    ///
    /// ```
    /// use text::{Analyzer, Language, Scratch, TokenKind};
    ///
    /// let mut seen = Vec::new();
    /// let text = "Write to ana@example.org";
    /// Analyzer::new().visit_searchable(text, Language::English, &mut Scratch::new(), |token| {
    ///     seen.push(if token.kind == TokenKind::Private { "?" } else { token.exact }.to_owned());
    /// });
    /// assert_eq!(seen[..3], ["write", "to", "?"]);
    /// assert!(!seen.contains(&"ana".to_owned()));
    /// ```
    pub fn visit_searchable(
        &self,
        text: &str,
        language: Language,
        scratch: &mut Scratch,
        mut visitor: impl FnMut(&TokenRef<'_>),
    ) {
        // Titles and headings come again with every passage below them; texts do not.
        let found = match text.len() <= MAX_REPEATED_BYTES {
            true => scratch.open.hidden(text),
            false => Hidden::of(text),
        };
        let Some(mut hidden) = found else {
            return self.visit(text, language, scratch, visitor);
        };
        let mut told = 0;
        self.visit(text, language, scratch, |token| {
            let term = match hidden.place(&token.bytes) {
                Place::Outside => return visitor(token),
                Place::Whole(term, piece) if piece.end > told => {
                    told = piece.end;
                    term
                }
                Place::Inside | Place::Whole(..) => HIDDEN,
            };
            // The exact spelling is what queries with a `*` look at.
            visitor(&TokenRef {
                exact: HIDDEN,
                folded: term,
                stem: term,
                kind: TokenKind::Private,
                position: token.position,
                n_positions: token.n_positions,
                bytes: token.bytes.clone(),
                chars: token.chars,
            });
        });
    }
}

/// Gives the term of a piece that may be found by who knows it whole.
fn whole_term(text: &str, piece: &PrivatePiece) -> Option<String> {
    let is_known_to_others = match piece.kind {
        PrivateKind::Email | PrivateKind::Phone | PrivateKind::Iban | PrivateKind::PaymentCard => {
            true
        }
        PrivateKind::PrivateKey | PrivateKind::Token | PrivateKind::Password => false,
    };
    let value = text.get(piece.bytes.clone()).filter(|_| is_known_to_others)?;
    let folded = fold(value);
    let mut hash = FNV_OFFSET;
    // Blanks and signs between the parts do not count: `+40 722 123 456`, `+40722123456`.
    for char in folded.chars().filter(|char| char.is_alphanumeric()) {
        for byte in char.encode_utf8(&mut [0; 4]).bytes() {
            hash = (hash ^ u128::from(byte)).wrapping_mul(FNV_PRIME);
        }
    }
    Some(format!("{HIDDEN}{hash:032x}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::language::LanguageSet;

    const TEXT: &str = "The card 4539 5787 6362 1486 of Anna was used. Write to \
                        anna.miller@example.org or call +40 722 123 456. Password: Tr0ub4dor&3xyz";

    fn is_found(query: &str, text: &str) -> bool {
        let words = Analyzer::new().analyze_query(query, LanguageSet::all());
        let language = crate::detect_language(text);
        let mut terms = std::collections::BTreeSet::new();
        Analyzer::new().visit_searchable(text, language, &mut Scratch::new(), |token| {
            terms.insert(token.stem.to_owned());
            terms.insert(token.exact.to_owned());
        });
        let in_index = words.iter().any(|word| word.terms.iter().any(|term| terms.contains(term)));
        let in_text =
            !Analyzer::new().matches(&words, text, language, &mut Scratch::new()).is_empty();
        assert_eq!(in_index, in_text, "{query}");
        in_index
    }

    #[test]
    fn what_is_private_is_found_whole_or_not_at_all() {
        for whole in [
            "4539 5787 6362 1486",
            "4539-5787-6362-1486",
            "4539578763621486",
            "Anna.Miller@example.org",
            "mail from anna.miller@example.org",
            "+40 722 123 456",
            "+40722123456",
        ] {
            assert!(is_found(whole, TEXT), "{whole}");
        }
        for part in [
            "4539",
            "5787 6362",
            "4539 5787 6362 1",
            "1486",
            "miller",
            "example.org",
            "anna.miller",
            "722",
            "123 456",
            "Tr0ub4dor",
            "3xyz",
            "Tr0ub4dor&3xyz",
            "password: Tr0ub4dor&3xyz1",
        ] {
            let is_other = part.contains("anna") || part.contains("password");
            assert!(is_other || !is_found(part, TEXT), "{part}");
        }
        assert!(is_found("card", TEXT) && is_found("Anna", TEXT) && is_found("password", TEXT));
    }

    #[test]
    fn a_text_that_was_open_is_looked_at_again_when_keys_are_given() {
        let (mut open, text) = (OpenTexts::default(), "call it with seven-horses-of-the-lake");
        assert!(open.hidden(text).is_none() && open.hidden(text).is_none());
        assert!(open.hidden(TEXT).is_some() && open.hidden(TEXT).is_some());
        crate::hide_keys([&b"seven-horses-of-the-lake"[..]]);
        assert!(open.hidden(text).is_some());
        crate::hide_keys([]);
        assert!(open.hidden(text).is_none());
    }

    #[test]
    fn positions_and_lengths_stay_as_they_are() {
        let (mut plain, mut searchable) = (Vec::new(), Vec::new());
        let place = |token: &TokenRef<'_>| (token.position, token.n_positions, token.chars);
        let (analyzer, language) = (Analyzer::new(), Language::English);
        analyzer.visit(TEXT, language, &mut Scratch::new(), |token| plain.push(place(token)));
        analyzer.visit_searchable(TEXT, language, &mut Scratch::new(), |token| {
            searchable.push(place(token));
        });
        assert_eq!(plain, searchable);
        let nothing = crate::WantedWords::of(&[]);
        let (_, n_tokens) =
            analyzer.matches_and_length(&nothing, TEXT, language, &mut Scratch::new());
        assert_eq!(n_tokens, plain.len());
    }

    proptest! {
        /// No word of an index is a part of what redaction hides, whatever is around it.
        #[test]
        fn no_word_of_an_index_is_one_that_redaction_hides(
            before in "[a-z ]{0,20}", digits in "[0-9]{9}", after in "[a-z ]{0,20}",
        ) {
            let text = format!("{before} zq{digits}@example.org {after} +40 {digits}");
            let mut words = Vec::new();
            Analyzer::new().visit_searchable(
                &text, Language::English, &mut Scratch::new(),
                |token| words.push(token.exact.to_owned()),
            );
            let shown = crate::redact(&text).text;
            for word in words.iter().filter(|word| *word != HIDDEN) {
                prop_assert!(shown.to_lowercase().contains(word.as_str()), "{word} in {shown}");
            }
        }
    }
}
