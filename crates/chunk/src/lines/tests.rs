//! Proves the laws of the line cutter: cover, equality, order, size, limits.

use proptest::prelude::*;

use super::*;

fn config(chunk_chars: usize, overlap_chars: usize) -> LinesConfig {
    LinesConfig { chunk_chars, overlap_chars, max_chars: usize::MAX, max_chunks: usize::MAX }
}

#[track_caller]
fn check(text: &str, chunk_chars: usize, overlap_chars: usize, expected: &[&str]) {
    let chunks = cut_lines(text, &config(chunk_chars, overlap_chars)).unwrap();
    let texts: Vec<&str> = chunks.iter().map(|chunk| chunk.text.as_str()).collect();
    assert_eq!(texts, expected);
}

#[test]
fn short_texts_are_one_chunk() {
    check("", 10, 2, &[]);
    check(" \n\t ", 10, 2, &[]);
    check("abc", 10, 2, &["abc"]);
    check("abcdefghij", 10, 2, &["abcdefghij"]);
}

#[test]
fn cuts_after_the_last_line_break_of_the_window() {
    check("aaaa\nbbbb\ncccc\n", 10, 2, &["aaaa\nbbbb\n", "bbbb\ncccc\n"]);
    check("aaaa\nbbbb\ncccc\n", 10, 0, &["aaaa\nbbbb\n", "cccc\n"]);
    check("a\nbbbbbbbbbbbbbbb", 10, 2, &["a\n", "bbbbbbbbbb", "bbbbbbb"]);
}

#[test]
fn long_lines_are_cut_at_sentences_then_words_then_anywhere() {
    check(
        "It is so. And then it was not so.",
        20,
        4,
        &["It is so. ", "so. And then it was ", "was not so."],
    );
    check("aaa bbb ccc ddd eee", 10, 4, &["aaa bbb ", "bbb ccc ", "ccc ddd ", "ddd eee"]);
    check("東京都千代田区霞が関一丁目", 6, 2, &["東京都千代田", "代田区霞が関", "が関一丁目"]);
}

#[test]
fn whitespace_pieces_are_left_out() {
    check("aaaa\n          \n          \nbbbb", 11, 0, &["aaaa\n", "bbbb"]);
}

#[test]
fn limits_are_named() {
    let small = LinesConfig { max_chars: 4, ..config(2, 0) };
    assert_eq!(cut_lines("abcde", &small), Err(Error::TooLong { n_chars: 5, max_chars: 4 }));
    let few = LinesConfig { max_chunks: 2, ..config(2, 0) };
    assert_eq!(cut_lines("abcde", &few), Err(Error::TooManyChunks { max_chunks: 2 }));
    assert!(cut_lines("abcd", &few).is_ok());
}

#[test]
fn the_standard_limits_fit_together() {
    let text = "line of forty characters, more or less.\n".repeat(12_000);
    let text: String = text.chars().take(500_000).collect();
    assert!(cut_lines(&text, &LinesConfig::standard()).unwrap().len() <= 600);
}

proptest! {
    #[test]
    fn laws(
        text in "[a-c \\n.。あe\u{301}😀]{0,120}|\\PC{0,60}",
        chunk_chars in 1_usize..30,
        overlap_chars in 0_usize..40,
    ) {
        let chunks = cut_lines(&text, &config(chunk_chars, overlap_chars)).unwrap();
        let chars: Vec<char> = text.chars().collect();
        let mut covered = vec![false; chars.len()];
        let mut last = None;
        for chunk in &chunks {
            let at_span: String = chars[chunk.span.start..chunk.span.end].iter().collect();
            prop_assert_eq!(&at_span, &chunk.text);
            prop_assert_eq!(&text[chunk.bytes.clone()], &chunk.text);
            prop_assert!(chunk.span.len() <= chunk_chars);
            prop_assert!(!chunk.text.trim().is_empty());
            if let Some(Span { start, end }) = last {
                prop_assert!(chunk.span.start > start && chunk.span.end > end);
            }
            last = Some(chunk.span);
            covered[chunk.span.start..chunk.span.end].fill(true);
        }
        for (char, is_covered) in chars.iter().zip(covered) {
            prop_assert!(is_covered || char.is_whitespace(), "`{}` is in no chunk", char);
        }
        // A chunk ends after a line break whenever its window has one.
        for chunk in &chunks {
            let ends_text = chunk.span.end == chars.len();
            prop_assert!(ends_text || chunk.text.ends_with('\n') || !chunk.text.contains('\n'));
        }
    }
}
