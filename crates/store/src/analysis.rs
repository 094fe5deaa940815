//! The one place where the store asks the crate `text` for index terms.
//!
//! What counts as the same word is decided there; this file names the analyser for the manifest
//! and fixes which language a document is cut in.

use std::cell::RefCell;

use model::Passage;
use text::{Analyzer, Language, LanguageSet, QueryWord, Scratch, TokenKind, TokenRef};

use crate::AnalyserName;

/// The language of a document is told from this many bytes of its beginning.
const LANGUAGE_SAMPLE_BYTES: usize = 4_096;

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::new(Scratch::new());
}

/// Names the analyser whose terms are in an index.
pub(crate) fn name() -> AnalyserName {
    let analyzer = Analyzer::new();
    AnalyserName { id: analyzer.id().to_owned(), version: analyzer.version() }
}

/// Tells the language that a whole document is cut in.
pub fn language_of(title: &str, passages: &[Passage]) -> Language {
    let mut sample = title.to_owned();
    for passage in passages {
        if sample.len() >= LANGUAGE_SAMPLE_BYTES {
            break;
        }
        sample.push('\n');
        let end = passage.text.floor_char_boundary(LANGUAGE_SAMPLE_BYTES);
        sample.push_str(&passage.text[..end]);
    }
    text::detect_language(&sample)
}

/// Calls `each` with every word of the text in the order of positions; those of private pieces
/// cannot be read from what it is given.
pub(crate) fn visit(text: &str, language: Language, mut each: impl FnMut(&TokenRef<'_>)) {
    SCRATCH.with_borrow_mut(|scratch| {
        Analyzer::new().visit_searchable(text, language, scratch, &mut each);
    });
}

/// Gives the words of a question without repeating what a longer token says already.
pub(crate) fn query_words(text: &str) -> Vec<QueryWord> {
    let mut words = Analyzer::new().analyze_query(text, LanguageSet::all());
    let bigrams: Vec<u32> = words
        .iter()
        .filter(|word| word.kind == TokenKind::Bigram)
        .map(|word| word.position)
        .collect();
    // A bigram covers its own position and the next one; only a lone character stands for itself.
    words.retain(|word| {
        word.kind != TokenKind::Character
            || !bigrams.iter().any(|at| *at == word.position || *at + 1 == word.position)
    });
    words
}
