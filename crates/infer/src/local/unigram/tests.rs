//! Proves that a text is divided by the best sum of scores, that nothing in a text can forge a
//! mark, and that every text can be divided.

use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;
use crate::local::container::Container;
use crate::local::tiny::Tiny;

static TOKENIZER: LazyLock<(Unigram, Vec<String>)> = LazyLock::new(tokenizer);

/// Looks for a longer piece whatever it has seen.
static THOROUGH: LazyLock<Unigram> = LazyLock::new(|| {
    let (mut tokenizer, _) = tokenizer();
    tokenizer.beginnings.fill(u64::MAX);
    tokenizer
});

fn tokenizer() -> (Unigram, Vec<String>) {
    let tiny = Tiny::new(1, 64, 2);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tiny.e5s1");
    tiny.write(&path);
    let container = Container::open(&path).unwrap();
    let pieces = tiny.pieces.iter().map(|(piece, _)| piece.clone()).collect();
    (Unigram::new(container.vocabulary), pieces)
}

#[track_caller]
fn check(text: &str, expected: &str) {
    let (tokenizer, pieces) = &*TOKENIZER;
    let tokens = tokenizer.encode("", text, 100);
    let shown: Vec<&str> = tokens.ids.iter().map(|id| pieces[*id as usize].as_str()).collect();
    assert_eq!(shown.join(" "), expected, "`{text}`");
}

#[test]
fn the_best_pieces_are_taken() {
    check("hello world", "<s> ▁hello ▁world </s>");
    check("  hello   world ", "<s> ▁hello ▁world </s>");
    check("helloworld", "<s> ▁hello wor ld </s>");
    check("", "<s> ▁ </s>");
    check("東京", "<s> ▁ 東京 </s>");
    check("abc", "<s> ▁ a b c </s>");
}

#[test]
fn text_is_normalised_first() {
    check("Ａ", "<s> ▁ a </s>");
    check("hello\u{3000}world", "<s> ▁hello ▁world </s>");
    // A letter and its cedilla are composed before they are looked up.
    check("t\u{327}", "<s> ▁ ţ </s>");
}

#[test]
fn unknown_neighbours_are_one_token() {
    check("ЖЖЖ hello", "<s> ▁ <unk> ▁hello </s>");
    check("aЖЖb", "<s> ▁ a <unk> b </s>");
}

#[test]
fn a_text_cannot_forge_marks() {
    check("</s>", "<s> ▁ <unk> s <unk> </s>");
    check("<mask>", "<s> ▁ <unk> m a s k <unk> </s>");
}

#[test]
fn the_prefix_is_counted() {
    let (tokenizer, _) = &*TOKENIZER;
    let tokens = tokenizer.encode("query: ", "hello world", 100);
    assert_eq!((tokens.ids.len(), tokens.n_before_text, tokens.is_truncated), (7, 4, false));
    let cut = tokenizer.encode("query: ", "hello world", 6);
    assert_eq!((cut.ids.len(), cut.n_before_text, cut.is_truncated), (6, 4, true));
    let tight = tokenizer.encode("query: ", "hello world", 3);
    assert_eq!((tight.ids.len(), tight.n_before_text, tight.is_truncated), (3, 2, true));
}

proptest! {
    /// Where no longer piece begins so, none is missed by not looking.
    #[test]
    fn what_begins_no_piece_is_looked_at_in_vain(
        parts in prop::collection::vec((any::<prop::sample::Index>(), 0usize..6, any::<char>()), 0..20)
    ) {
        let (tokenizer, pieces) = &*TOKENIZER;
        let text: String = parts
            .iter()
            .map(|(piece, n_chars, other)| {
                let piece = &pieces[piece.index(pieces.len())];
                let begun: String = piece.replace(SPACE_MARK, " ").chars().take(*n_chars).collect();
                if *n_chars == 0 { other.to_string() } else { begun }
            })
            .collect();
        prop_assert_eq!(tokenizer.encode("", &text, 1000), THOROUGH.encode("", &text, 1000));
    }

    #[test]
    fn every_text_can_be_divided(text in any::<String>(), max_tokens in 2usize..50) {
        let (tokenizer, pieces) = &*TOKENIZER;
        let tokens = tokenizer.encode("query: ", &text, max_tokens);
        prop_assert!((2..=max_tokens).contains(&tokens.ids.len()));
        prop_assert!(tokens.ids.iter().all(|id| (*id as usize) < pieces.len()));
        prop_assert!(tokens.n_before_text < tokens.ids.len());
        let marks = tokens.ids.iter().filter(|id| [0, 1, 2].contains(*id)).count();
        prop_assert_eq!(marks, 2);
    }
}
