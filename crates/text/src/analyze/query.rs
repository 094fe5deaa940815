//! The query's side: every index term that a word could be under.
//!
//! The index keeps one stem for each word, in the language that its document seemed to be in. A
//! query is too short to tell its language, and may be in none that its documents are in. So it
//! does not guess: each word is stemmed in every language of the index, and the distinct stems,
//! usually two or three, are alternatives of that word. It follows that a word always finds
//! itself, however wrongly either side was detected; that an inflected form finds another where
//! the *document* was detected rightly; and that detection of the query decides only which
//! alternative comes first.

use std::ops::Range;

use model::Span;

use crate::analyze::analyzer::{Analyzer, Scratch};
use crate::analyze::hidden::{Hidden, Place};
use crate::analyze::token::{TokenKind, TokenRef};
use crate::language::{
    Language, LanguageSet, detect_language, push_stem, script_of_word, stemming_language,
};

/// A word of a query with the terms under which the index may hold it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryWord {
    /// The term of the exact field.
    pub exact: String,
    /// The folded form.
    pub folded: String,
    /// The terms of the folded field, most plausible first, without repetition; any one of them
    /// is this word.
    pub terms: Vec<String>,
    /// Whether it is a whole word, a part of one or a piece without spaces.
    pub kind: TokenKind,
    /// The position in the sequence of words, from 0.
    pub position: u32,
    /// How many positions the token spans.
    pub n_positions: u32,
    /// Where the word is in the query, in bytes.
    pub bytes: Range<usize>,
    /// Where the word is in the query, in characters.
    pub chars: Span,
}

impl Analyzer {
    /// Cuts a query into words with all the terms they may be under.
    ///
    /// `languages` are those of the index's documents; [`LanguageSet::all`] is always right, and
    /// a smaller set is more precise. Tokens come as [`Analyzer::visit`] gives them: compounds
    /// beside their parts, single characters beside bigrams. An address, a telephone number, an
    /// account or a card is one word of [`TokenKind::Private`], as an index has it.
    ///
    /// ```
    /// use text::{Analyzer, Language, LanguageSet};
    ///
    /// let languages = LanguageSet::from_iter([Language::English, Language::Romanian]);
    /// let words = Analyzer::new().analyze_query("primarii", languages);
    /// assert!(words[0].terms.contains(&"primar".to_owned()));
    /// ```
    pub fn analyze_query(&self, query: &str, languages: LanguageSet) -> Vec<QueryWord> {
        let detected = detect_language(query);
        let mut words: Vec<QueryWord> = Vec::new();
        let mut hidden = Hidden::of(query).map(Hidden::findable);
        self.visit(query, detected, &mut Scratch::new(), |token| {
            match hidden.as_mut().map(|hidden| hidden.place(&token.bytes)) {
                // A word that begins before the piece is one of the text around it.
                None | Some(Place::Outside | Place::Inside) => {}
                Some(Place::Whole(term, piece)) => {
                    if words.last().is_none_or(|last| last.bytes != piece) {
                        words.push(whole(query, token, term, piece.clone()));
                    }
                    // In another text the same letters may be private to nobody: `ana@example.org`
                    // in a web address is its login.
                    let is_whole_word =
                        token.bytes.start <= piece.start && piece.end <= token.bytes.end;
                    if let Some(word) = words.last_mut().filter(|_| is_whole_word) {
                        word.terms.push(token.stem.to_owned());
                    }
                    return;
                }
            }
            let mut terms = vec![token.stem.to_owned()];
            let is_stemmed_kind = match token.kind {
                TokenKind::Word | TokenKind::Part => true,
                // A compound that was kept as it is has no stem in any language; what it was kept
                // for still is in it.
                TokenKind::Compound => {
                    !token.folded.contains(|char: char| char.is_numeric() || "@.".contains(char))
                }
                TokenKind::Bigram | TokenKind::Character | TokenKind::Private => false,
            };
            if is_stemmed_kind {
                add_stems(token.folded, languages, &mut terms);
            }
            words.push(QueryWord {
                exact: token.exact.to_owned(),
                folded: token.folded.to_owned(),
                terms,
                kind: token.kind,
                position: token.position,
                n_positions: token.n_positions,
                bytes: token.bytes.clone(),
                chars: token.chars,
            });
        });
        words
    }
}

/// Makes the word of a private piece, at the place of its first token.
fn whole(query: &str, first: &TokenRef<'_>, term: &str, piece: Range<usize>) -> QueryWord {
    let typed = query.get(piece.clone()).unwrap_or_default();
    QueryWord {
        exact: typed.to_owned(),
        folded: typed.to_owned(),
        terms: vec![term.to_owned()],
        kind: TokenKind::Private,
        position: first.position,
        n_positions: 1,
        chars: Span::new(first.chars.start, first.chars.start + typed.chars().count()),
        bytes: piece,
    }
}

fn add_stems(folded: &str, languages: LanguageSet, terms: &mut Vec<String>) {
    let script = script_of_word(folded);
    let mut tried = LanguageSet::EMPTY;
    // A document in no known language is indexed as `Unknown` is, so that one is always tried.
    for language in languages.iter().chain([Language::Unknown]) {
        let Some(stemmed_in) = stemming_language(script, language) else { continue };
        if tried.contains(stemmed_in) {
            continue;
        }
        tried.insert(stemmed_in);
        let mut stem = String::new();
        push_stem(folded, Some(stemmed_in), &mut stem);
        if !terms.contains(&stem) {
            terms.push(stem);
        }
    }
    if !terms.iter().any(|term| term == folded) {
        terms.push(folded.to_owned());
    }
}
