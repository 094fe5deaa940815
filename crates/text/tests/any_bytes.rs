//! Byte-driven entry points of the crate: whatever bytes come, nothing panics and the laws hold.
//!
//! `PROPTEST_CASES` sets how long it runs; the default is short enough for every test run.

use model::{Clock, Timestamp};
use proptest::prelude::*;
use text::{Analyzer, Language, LanguageSet, Scratch};

/// Bytes of which many are pieces of real text, and some are noise.
fn hostile_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..40)
            .prop_map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
        prop::collection::vec(any::<char>(), 0..12).prop_map(|chars| chars.into_iter().collect()),
        "[a-zA-Z0-9 .,@/_'-]{0,30}",
        "[ăâîșțşţéßıİŉ\u{300}-\u{30f}\u{200d}\u{fe0f}\u{ad}]{0,10}",
        "[ぁ-んァ-ヶー一二東京ｦ-ﾟ-]{0,12}",
        "[가-힣\u{1100}-\u{11ff}ก-๛अ-ह\u{93e}-\u{94d}]{0,12}",
        "[\u{fb00}-\u{fdff}\u{1f100}-\u{1f64f}㌀-㏿]{0,6}",
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn analyser(text in hostile_text(), language in prop::sample::select(Language::ALL)) {
        let analyzer = Analyzer::new();
        let mut scratch = Scratch::new();
        let mut n_bytes = 0;
        analyzer.visit(&text, language, &mut scratch, |token| {
            assert!(text.is_char_boundary(token.bytes.start) && text.is_char_boundary(token.bytes.end));
            assert!(token.exact.len() <= 64 * text::MAX_WORD_BYTES);
            n_bytes += token.bytes.len();
        });
        let words = analyzer.analyze_query(&text, LanguageSet::all());
        let _ = analyzer.matches(&words, &text, text::detect_language(&text), &mut scratch);
    }

    #[test]
    fn every_stemmer(word in "[a-zăâîșțéèüößñçøåæ]{1,40}|[а-яё]{1,30}|[α-ω]{1,30}|[ա-ֆ]{1,20}|[ء-ي]{1,20}|[א-ת]{1,20}|[अ-ह\u{93e}-\u{94d}]{1,20}|[அ-ஹ\u{bbe}-\u{bcd}]{1,20}|\\PC{1,20}") {
        for language in Language::ALL {
            let _ = Analyzer::new().analyze_in(&word, *language);
        }
    }

    #[test]
    fn helpers(text in hostile_text(), other in hostile_text()) {
        let folded = text::fold(&text);
        prop_assert_eq!(text::fold(&folded), folded.clone());
        prop_assert_eq!(text::sentences(&text).map(|range| range.len()).sum::<usize>(), text.len());
        let similarity = text::trigram_similarity(&text::trigrams(&text), &text::trigrams(&other));
        prop_assert!((0.0..=1.0).contains(&similarity));
        let _ = text::nearest(&text, &[&other, "word"]);
        let _ = text::is_abbreviation(&text, &other);
        prop_assert!(text::count_tokens(&text) <= text.len());
    }

    #[test]
    fn redaction(text in hostile_text()) {
        for piece in text::redact(&text).pieces {
            prop_assert!(text.get(piece.bytes).is_some());
        }
    }

    #[test]
    fn repair(text in hostile_text()) {
        let repaired = text::repair_long_vowels(&text);
        prop_assert_eq!(text::repair_long_vowels(&repaired), repaired);
    }

    #[test]
    fn filters(text in hostile_text()) {
        let clock = Clock::fixed(Timestamp(1_700_000_000_000));
        let _ = text::query_filters(&text, &clock);
    }
}
