//! Proves the analyser: what becomes a token, where it is, and that a query always finds the
//! words it repeats, whatever language either side was taken for.

use model::Span;
use proptest::prelude::*;

use super::*;
use crate::language::{Language, LanguageSet};

/// Shows tokens as `exact/stem@position`, compounds with `+` and their width.
fn shown(text: &str, language: Language) -> String {
    let tokens = Analyzer::new().analyze_in(text, language);
    let shown: Vec<String> = tokens
        .iter()
        .map(|token| {
            let wide = if token.kind == TokenKind::Compound {
                format!("+{}", token.n_positions)
            } else {
                String::new()
            };
            let stem =
                if token.stem == token.exact { String::new() } else { format!("/{}", token.stem) };
            format!("{}{stem}@{}{wide}", token.exact, token.position)
        })
        .collect();
    shown.join(" ")
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(shown(text, Language::English), expected, "tokens of `{text}`");
}

#[test]
fn plain_words() {
    check("The running cats", "the@0 running/run@1 cats/cat@2");
    check("  ", "");
    check("Ștefan's CAFÉ, ok?", "ștefan/stefan@0 café/cafe@1 ok@2");
    check("ＡＢＣ１２３", "abc123@0+2 abc@0 123@1");
    check("co\u{ad}operation", "cooperation/cooper@0");
}

#[test]
fn romanian_in_both_spellings_and_without() {
    let stems = |text: &str| -> Vec<String> {
        let tokens = Analyzer::new().analyze_in(text, Language::Romanian);
        tokens.into_iter().map(|token| token.stem).collect()
    };
    let comma = stems("școlile învățământului");
    assert_eq!(comma, stems("şcolile învăţământului"));
    assert_eq!(comma, stems("scolile invatamantului"));
    assert_eq!(comma, stems("ȘCOLILE ÎNVĂȚĂMÂNTULUI"));
    assert_eq!(stems("primăria primăriei primării"), ["primar", "primar", "primar"]);
}

#[test]
fn identifiers_and_codes() {
    check("getUserName", "getusername/getusernam@0+3 get@0 user@1 name@2");
    check("get_user_name", "get_user_name/getusernam@0+3 get@0 user@1 name@2");
    check("HTMLParser", "htmlparser@0+2 html@0 parser@1");
    check("PDFs URLs", "pdf@0 url@1");
    check("e-mails", "e-mails/email@0+2 e@0 mails/mail@1");
    check("20.30 and 3,5", "20.30@0+2 20@0 30@1 and@2 3,5@3+2 3@3 5@4");
    check("1,234,567.80", "1,234,567.80/1234567.80@0+4 1@0 234@1 567@2 80@3");
    check("1.234.567,80", "1.234.567,80/1234567.80@0+4 1@0 234@1 567@2 80@3");
    check("1.234", "1.234/1234@0+2 1@0 234@1");
    check("2021-05-01", "2021-05-01@0+3 2021@0 05@1 01@2");
    check("Ana.Pop@Example.org", "ana.pop@example.org@0+4 ana@0 pop@1 example/exampl@2 org@3");
    check("C++ and C#", "c++@0+1 c@0 and@1 c#@2+1 c@2");
    check(
        "R&D U.S.A. don't",
        "r&d/rd@0+2 r@0 d@1 u.s.a/usa@2+3 u@2 s@3 a@4 don't/dont@5+2 don@5 t@6",
    );
    check("273/2006 and/or", "273/2006@0+2 273@0 2006@1 and@2 or@3");
    check("covid19 v2", "covid19@0+2 covid@0 19@1 v2@2+2 v@2 2@3");
    check("a3f9c2e8b7d1", "a3f9c2e8b7d1@0");
}

#[test]
fn scripts_without_spaces() {
    check("東京都", "東@0 東京@0 京@1 京都@1 都@2");
    check("ｶﾞｽ", "ガ@0 ガス@0 ス@1");
    check("ひらがな", "ひ/ヒ@0 ひら/ヒラ@0 ら/ラ@1 らが/ラガ@1 が/ガ@2 がな/ガナ@2 な/ナ@3");
    check(
        "キャノンEOS5",
        "キ@0 キャ/キヤ@0 ャ/ヤ@1 ャノ/ヤノ@1 ノ@2 ノン@2 ン@3 eos5@4+2 eos/eo@4 5@5",
    );
    check("한국 어", "한@0 한국@0 국@1 어@2");
}

#[test]
fn words_of_another_script_get_their_own_stemmer() {
    let stems = |text: &str, language| -> Vec<String> {
        let tokens = Analyzer::new().analyze_in(text, language);
        tokens.into_iter().map(|token| token.stem).collect()
    };
    assert_eq!(stems("running", Language::Japanese), ["run"]);
    assert_eq!(stems("книгами", Language::English), stems("книгами", Language::Russian));
}

#[test]
fn spans_point_into_the_text() {
    let text = "Ana—ｶﾞ「東京」 școlile getName";
    for token in Analyzer::new().analyze(text) {
        let at_chars: String =
            text.chars().skip(token.chars.start).take(token.chars.len()).collect();
        assert_eq!(at_chars, text[token.bytes.clone()]);
        assert_eq!(crate::exact(&at_chars), token.exact);
    }
}

#[test]
fn matches_say_where_and_how() {
    let analyzer = Analyzer::new();
    let words = analyzer.analyze_query("școlile mari", LanguageSet::all());
    let text = "Scoala este mare, dar școlile sunt multe.";
    let found = analyzer.matches(&words, text, Language::Romanian, &mut Scratch::new());
    let chars: Vec<char> = text.chars().collect();
    let word_at = |chars_at: Span| chars[chars_at.start..chars_at.end].iter().collect::<String>();
    let shown: Vec<(usize, String, bool)> =
        found.iter().map(|found| (found.word_idx, word_at(found.chars), found.is_exact)).collect();
    assert_eq!(shown, [(1, "mare".to_owned(), false), (0, "școlile".to_owned(), true)]);
}

#[test]
fn a_plural_inside_a_compound_is_the_same_word_as_outside() {
    let stems: Vec<String> =
        Analyzer::new().analyze("allPDFsByName").into_iter().map(|token| token.stem).collect();
    assert!(stems.contains(&"pdf".to_owned()), "{stems:?}");
}

#[test]
fn long_noise_is_cut_into_pieces() {
    let noise = "x".repeat(1000);
    let tokens = Analyzer::new().analyze(&noise);
    assert_eq!(tokens.len(), 4);
    assert!(tokens.iter().all(|token| token.exact.len() <= MAX_WORD_BYTES));
}

fn any_language() -> impl Strategy<Value = Language> {
    prop::sample::select(Language::ALL)
}

const ANY_TEXT: &str = "([a-zA-ZăâîșțĂÂÎȘȚşţéüßñ]{1,12}[ ,.'_@-]{0,2}){0,8}|([a-zA-Z0-9._@/'ア-ンぁ-ん東京都가-힣а-я -]){0,40}|\\PC{0,40}";

proptest! {
    #[test]
    fn tokens_are_in_order_and_their_spans_are_true(text in ANY_TEXT, language in any_language()) {
        let tokens = Analyzer::new().analyze_in(&text, language);
        let chars: Vec<char> = text.chars().collect();
        let mut last_position = 0;
        for token in &tokens {
            prop_assert!(token.position >= last_position);
            last_position = token.position;
            prop_assert!(token.n_positions >= 1);
            let at_bytes = text.get(token.bytes.clone());
            let at_chars: String = chars[token.chars.start..token.chars.end].iter().collect();
            prop_assert_eq!(at_bytes, Some(at_chars.as_str()));
            prop_assert!(!token.bytes.is_empty());
        }
    }

    #[test]
    fn every_letter_is_in_a_token(text in ANY_TEXT) {
        let tokens = Analyzer::new().analyze(&text);
        for (at, char) in text.char_indices().filter(|(_, char)| char.is_alphanumeric()) {
            let is_covered = tokens.iter().any(|token| token.bytes.contains(&at));
            // The `s` of a possessive and an apostrophe that counts as a letter are left out.
            prop_assert!(is_covered || matches!(char, 's' | 'S' | '\u{2bc}'), "`{}` of {:?}", char, text);
        }
    }

    #[test]
    fn a_word_finds_itself_whatever_the_languages(text in ANY_TEXT, language in any_language()) {
        let analyzer = Analyzer::new();
        let indexed = analyzer.analyze_in(&text, language);
        let languages = LanguageSet::from_iter([language]);
        for token in indexed.iter().filter(|token| !token.kind.is_ideographic()) {
            let asked = analyzer.analyze_query(&text[token.bytes.clone()], languages);
            let finds = asked.iter().any(|word| word.terms.contains(&token.stem));
            prop_assert!(finds, "{:?} is not among {:?}", token, asked);
        }
    }

    /// A text in which no piece is private has the words of an address as they are.
    #[test]
    fn an_address_finds_itself_where_nobody_is_meant(
        local in "[a-zA-Zéß]{1,6}", name in "[a-zA-Zéß]{1,6}", ending in "[a-zA-Zß]{2,4}",
    ) {
        let (analyzer, address) = (Analyzer::new(), format!("{local}@{name}.{ending}"));
        let text = format!("see https://{address}/path");
        let words = analyzer.analyze_query(&address, LanguageSet::all());
        let found = analyzer.matches(&words, &text, Language::English, &mut Scratch::new());
        let is_private = !crate::redact(&text).pieces.is_empty();
        prop_assert!(is_private || !found.is_empty(), "{words:?}");
    }

    #[test]
    fn a_used_scratch_changes_nothing(first in ANY_TEXT, second in ANY_TEXT, language in any_language()) {
        let analyzer = Analyzer::new();
        let mut scratch = Scratch::new();
        analyzer.visit(&first, Language::English, &mut scratch, |_| {});
        analyzer.visit(&first, language, &mut scratch, |_| {});
        let mut tokens = Vec::new();
        analyzer.visit(&second, language, &mut scratch, |token| tokens.push(token.to_token()));
        prop_assert_eq!(tokens, analyzer.analyze_in(&second, language));
    }

    #[test]
    fn any_part_of_a_text_without_spaces_is_found(text in "[東京都大阪市北海道の県ア-ン]{2,20}", from in 0_usize..10, len in 2_usize..6) {
        let chars: Vec<char> = text.chars().collect();
        let from = from.min(chars.len() - 2);
        let part: String = chars[from..(from + len).min(chars.len())].iter().collect();
        let analyzer = Analyzer::new();
        let indexed = analyzer.analyze(&text);
        let asked = analyzer.analyze_query(&part, LanguageSet::all());
        for word in asked.iter().filter(|word| word.kind == TokenKind::Bigram) {
            prop_assert!(indexed.iter().any(|token| token.exact == word.exact));
        }
    }
}
