//! Any text through everything that looks at text: analysis, redaction, repair, filters, chunks.
#![no_main]

use libfuzzer_sys::fuzz_target;
use model::{Block, BlockKind, Clock, Pointer, Timestamp};
use text::{Analyzer, LanguageSet};

fuzz_target!(|text: &str| {
    let n_chars = text.chars().count();
    for token in Analyzer::new().analyze(text) {
        assert!(text.get(token.bytes.clone()).is_some_and(|piece| !piece.is_empty()));
        assert!(token.chars.end <= n_chars);
    }
    Analyzer::new().analyze_query(text, LanguageSet::all());
    let redaction = text::redact(text);
    assert_eq!(text::redact(&redaction.text).n_pieces, 0, "redacted text is redacted again");
    let repaired = text::repair_long_vowels(text);
    assert_eq!(text::repair_long_vowels(&repaired), repaired, "repaired text is repaired again");
    text::query_filters(text, &Clock::fixed(Timestamp(0)));
    text::count_tokens(text);
    let mut end = 0;
    for sentence in text::sentences(text) {
        assert!(sentence.start >= end && text.get(sentence.clone()).is_some());
        end = sentence.end;
    }
    let at = |start: usize, end: usize| -> String {
        text.chars().skip(start).take(end - start).collect()
    };
    if let Ok(chunks) = chunk::cut_lines(text, &chunk::LinesConfig::standard()) {
        for chunk in chunks {
            assert_eq!(at(chunk.span.start, chunk.span.end), chunk.text);
        }
    }
    let blocks = [Block::new(text, Pointer::Line(1), BlockKind::Paragraph)];
    for piece in chunk::cut_prose(blocks.clone(), &chunk::ProseConfig::standard()) {
        assert!(!piece.text.trim().is_empty());
    }
});
