//! The two spellings of a word: as it is written, and as it is compared.
//!
//! [`exact`] is NFKC and lower case: full-width and half-width forms, ligatures and
//! compatibility letters become plain ones, and nothing else changes. [`fold`] goes further, so
//! that what people type without care meets what others wrote with care:
//!
//! - **Latin**: every diacritic falls (`ș` with comma and `ş` with cedilla both give `s`,
//!   Vietnamese and IPA letters included), letters that Unicode does not decompose are spelled
//!   out (`ß` ss, `æ` ae, `œ` oe, `þ` th, `ø` o, `đ` d, `ł` l, `ı` i, …).
//! - **Greek**: accents fall, final sigma is sigma. **Cyrillic**: `ё` is `е` and stress marks
//!   fall; `й` and `ї` are letters of their own and stay. **Arabic, Hebrew**: vowel points and
//!   tatweel fall.
//! - **Kana**: half-width kana are full-width and take their voicing marks (NFKC); small kana
//!   are large (`キャノン` meets `キヤノン`, `一ヶ月` meets `一ケ月`); hiragana is compared as
//!   katakana. The long-vowel mark stays, and voiced kana stay apart from unvoiced ones.
//! - **Punctuation**: typographic apostrophes, hyphens and dashes are the ASCII ones; soft
//!   hyphens, joiners, variation selectors and byte order marks vanish.
//!
//! Both are idempotent: folding twice is folding once.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{compose, decompose_canonical, is_combining_mark};

/// Gives the form in which spellings are compared: no case, no diacritics, no width.
///
/// ```
/// assert_eq!(text::fold("Ştiinţă ȘTIINȚĂ"), "stiinta stiinta");
/// assert_eq!(text::fold("ＡＢＣ ｶﾞｷﾞ Straße"), "abc ガギ strasse");
/// ```
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let mut folded = String::with_capacity(text.len());
    fold_into(text, &mut folded);
    folded
}

/// Takes the signs off both ends of a word, and leaves the marks on its last letter: a tone in Thai,
/// a virama, an accent that is stored as a character of its own.
///
/// ```
/// assert_eq!(text::without_signs("(roof?)", |char| char == '+'), "roof");
/// assert_eq!(text::without_signs("«เมื่อไหร่?»", |_| false), "เมื่อไหร่");
/// assert_eq!(text::without_signs("C++!", |char| char == '+'), "C++");
/// ```
pub fn without_signs(word: &str, is_kept: impl Fn(char) -> bool) -> &str {
    let is_edge = |char: char| !char.is_alphanumeric() && !is_kept(char);
    let behind_signs = word.trim_start_matches(is_edge);
    let n_letters = behind_signs.trim_end_matches(is_edge).len();
    let (letters, rest) = behind_signs.split_at(n_letters);
    let n_marks = match letters.is_empty() {
        true => 0,
        false => rest.len() - rest.trim_start_matches(is_combining_mark).len(),
    };
    behind_signs.get(..n_letters + n_marks).unwrap_or(letters)
}

/// Tells whether two texts are the same characters, whichever way their accents are stored: `é` is
/// one character to most systems and `e` with an accent behind it to others.
///
/// ```
/// assert!(text::is_equivalent("caf\u{e9}", "cafe\u{301}"));
/// assert!(!text::is_equivalent("café", "cafe"));
/// ```
pub fn is_equivalent(one: &str, other: &str) -> bool {
    one == other || !(one.is_ascii() && other.is_ascii()) && one.nfc().eq(other.nfc())
}

/// Appends the folded form of a text.
pub(crate) fn fold_into(text: &str, folded: &mut String) {
    // A space composes with nothing, so words can be normalised one by one, and most need not be.
    for word in text.split_inclusive(' ') {
        if word.is_ascii() {
            push_lower_ascii(word, folded);
        } else if word.chars().all(is_normal) {
            push_folded_chars(word.chars(), folded);
        } else {
            push_folded_chars(word.nfkc(), folded);
        }
    }
}

/// Appends ASCII letters in lower case, many bytes at a time.
fn push_lower_ascii(word: &str, lowered: &mut String) {
    let start = lowered.len();
    lowered.push_str(word);
    if let Some(pushed) = lowered.get_mut(start..) {
        pushed.make_ascii_lowercase();
    }
}

fn push_folded_chars(chars: impl Iterator<Item = char>, folded: &mut String) {
    let mut base = Base::Other;
    for compatible in chars {
        for lower in compatible.to_lowercase() {
            base = push_folded(lower, base, folded);
        }
    }
}

/// Gives the form that keeps diacritics: NFKC and lower case.
///
/// ```
/// assert_eq!(text::exact("ＣＬＵＪ Școală"), "cluj școală");
/// ```
pub fn exact(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let mut lowered = String::with_capacity(text.len());
    exact_into(text, &mut lowered);
    lowered
}

/// Gives a text in lower case with composed letters, and nothing else changed: `x²` is not `x2`.
///
/// ```
/// assert_eq!(text::composed("Scho\u{308}n x²"), "schön x²");
/// ```
pub fn composed(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let lower = text.nfc().filter(|char| !is_ignorable(*char)).flat_map(char::to_lowercase);
    // Lower case can decompose (`İ`).
    lower.nfc().collect()
}

/// Appends the exact form of a text.
pub(crate) fn exact_into(text: &str, lowered: &mut String) {
    if text.is_ascii() {
        return push_lower_ascii(text, lowered);
    }
    if text.chars().all(is_normal) {
        lowered.extend(text.chars().flat_map(char::to_lowercase));
        return;
    }
    // Lower case can decompose (`İ`), so the result is composed again.
    let compatible = text.nfkc().filter(|char| !is_ignorable(*char)).flat_map(char::to_lowercase);
    lowered.extend(compatible.nfkc());
}

/// Tells whether NFKC leaves a character alone, composes it with no neighbour that is also
/// normal, and gives it one lower-case form; only frequent letters are known here.
fn is_normal(char: char) -> bool {
    matches!(char,
        '\0'..='\u{9f}' | '\u{c0}'..='\u{12f}' | '\u{134}'..='\u{13e}' | '\u{141}'..='\u{148}'
            | '\u{14a}'..='\u{17e}' | '\u{218}'..='\u{21b}' | '\u{400}'..='\u{45f}'
            | '\u{3001}'..='\u{3002}' | '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' | '\u{30fc}'
            | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}')
}

/// Tells whether a character carries no meaning for search and vanishes from both forms.
pub(crate) fn is_ignorable(char: char) -> bool {
    matches!(
        char,
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{fe00}'..='\u{fe0f}'
            | '\u{e0100}'..='\u{e01ef}'
    )
}

/// What is before a combining mark, and so decides whether the mark falls.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Base {
    /// A letter whose marks are decoration in comparison.
    Stripped,
    /// A Cyrillic letter: only stress marks fall.
    Cyrillic,
    /// A script whose marks are letters (Devanagari, Thai, kana, …).
    Other,
}

fn push_folded(char: char, base: Base, folded: &mut String) -> Base {
    if char.is_ascii() {
        folded.push(char);
        return if char.is_ascii_alphanumeric() { Base::Stripped } else { Base::Other };
    }
    if is_ignorable(char) {
        return base;
    }
    if is_combining_mark(char) {
        let falls = match base {
            Base::Stripped => true,
            Base::Cyrillic => matches!(char, '\u{300}' | '\u{301}'),
            Base::Other => is_vowel_point(char),
        };
        if falls {
            return base;
        }
        // Folding the letter can let its mark compose (`ゎ` and a voicing mark), and what they
        // compose to is folded in turn.
        let composed = folded.chars().next_back().and_then(|last| compose(last, char));
        return match composed {
            Some(composed) => {
                folded.pop();
                push_folded(composed, base, folded)
            }
            None => {
                folded.push(char);
                base
            }
        };
    }
    if is_kana(char) {
        folded.push(fold_kana(char));
        return Base::Other;
    }
    if let Some(spelled) = spell_out(char) {
        folded.push_str(spelled);
        return Base::Stripped;
    }
    match char {
        '\u{400}'..='\u{52f}' => {
            folded.push(match char {
                'ё' | 'ѐ' => 'е',
                'ѝ' => 'и',
                letter => letter,
            });
            Base::Cyrillic
        }
        // Tatweel only stretches the line.
        '\u{640}' => base,
        '\u{590}'..='\u{6ff}' => {
            folded.push(char);
            Base::Other
        }
        letter if is_stripped_script(letter) => {
            let mut first = None;
            decompose_canonical(letter, |part| {
                first.get_or_insert(part);
            });
            let plain = first.unwrap_or(letter);
            match spell_out(plain) {
                Some(spelled) => folded.push_str(spelled),
                None => folded.push(plain),
            }
            Base::Stripped
        }
        other => {
            folded.push(other);
            Base::Other
        }
    }
}

/// Latin and Greek blocks.
fn is_stripped_script(char: char) -> bool {
    matches!(char,
        '\u{c0}'..='\u{2af}' | '\u{370}'..='\u{3ff}' | '\u{1d00}'..='\u{1fff}'
            | '\u{2c60}'..='\u{2c7f}' | '\u{a720}'..='\u{a7ff}' | '\u{ab30}'..='\u{ab6f}')
}

/// Hebrew points and Arabic vowel signs.
fn is_vowel_point(char: char) -> bool {
    matches!(char, '\u{591}'..='\u{5c7}' | '\u{610}'..='\u{61a}' | '\u{64b}'..='\u{652}' | '\u{670}')
}

fn is_kana(char: char) -> bool {
    matches!(char, '\u{3041}'..='\u{3096}' | '\u{309d}'..='\u{309e}' | '\u{30a1}'..='\u{30f6}'
        | '\u{31f0}'..='\u{31ff}' | '\u{30fd}'..='\u{30fe}')
}

/// Compares hiragana as katakana, and small kana as large ones.
pub(crate) fn fold_kana(char: char) -> char {
    let katakana = match char {
        // The two blocks are in the same order, 0x60 apart.
        '\u{3041}'..='\u{3096}' | '\u{309d}'..='\u{309e}' => {
            char::from_u32(char as u32 + 0x60).unwrap_or(char)
        }
        other => other,
    };
    match katakana {
        'ァ' => 'ア',
        'ィ' => 'イ',
        'ゥ' => 'ウ',
        'ェ' => 'エ',
        'ォ' => 'オ',
        'ッ' => 'ツ',
        'ャ' => 'ヤ',
        'ュ' => 'ユ',
        'ョ' => 'ヨ',
        'ヮ' => 'ワ',
        'ヵ' => 'カ',
        'ヶ' => 'ケ',
        'ㇰ' => 'ク',
        'ㇱ' => 'シ',
        'ㇲ' => 'ス',
        'ㇳ' => 'ト',
        'ㇴ' => 'ヌ',
        'ㇵ' => 'ハ',
        'ㇶ' => 'ヒ',
        'ㇷ' => 'フ',
        'ㇸ' => 'ヘ',
        'ㇹ' => 'ホ',
        'ㇺ' => 'ム',
        'ㇻ' => 'ラ',
        'ㇼ' => 'リ',
        'ㇽ' => 'ル',
        'ㇾ' => 'レ',
        'ㇿ' => 'ロ',
        large => large,
    }
}

/// Letters and signs that Unicode does not decompose, in the letters people type instead.
fn spell_out(char: char) -> Option<&'static str> {
    Some(match char {
        'ß' => "ss",
        'æ' | 'ǽ' | 'ǣ' => "ae",
        'œ' => "oe",
        'þ' => "th",
        'ø' | 'ǿ' | 'ɵ' | 'ɔ' | 'ⱺ' => "o",
        'đ' | 'ð' | 'ɖ' | 'ɗ' | 'ƌ' | 'ȡ' => "d",
        'ħ' | 'ɦ' | 'ⱨ' => "h",
        'ı' | 'ɨ' | 'ɩ' => "i",
        'ĸ' | 'ƙ' | 'ⱪ' => "k",
        'ł' | 'ƚ' | 'ɫ' | 'ⱡ' | 'ɬ' => "l",
        'ŋ' | 'ɲ' | 'ƞ' | 'ɳ' => "n",
        'ŧ' | 'ƭ' | 'ʈ' | 'ƫ' | 'ⱦ' => "t",
        'ƀ' | 'ɓ' | 'ƃ' => "b",
        'ƈ' | 'ȼ' | 'ɕ' => "c",
        'ǝ' | 'ə' | 'ɛ' | 'ɇ' => "e",
        'ƒ' => "f",
        'ǥ' | 'ɠ' | 'ɣ' => "g",
        'ɉ' | 'ɟ' | 'ȷ' => "j",
        'ɱ' => "m",
        'ƥ' => "p",
        'ɋ' => "q",
        'ɍ' | 'ɽ' => "r",
        'ſ' | 'ȿ' | 'ʂ' => "s",
        'ʉ' | 'ʊ' => "u",
        'ʋ' => "v",
        'ƴ' | 'ɏ' => "y",
        'ƶ' | 'ȥ' | 'ʐ' | 'ɀ' | 'ⱬ' => "z",
        'ⱥ' | 'ɑ' => "a",
        'ς' => "σ",
        '\u{2018}' | '\u{2019}' | '\u{201b}' | '\u{2bc}' | '\u{2b9}' | '\u{2032}' => "'",
        '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{201f}' => "\"",
        '\u{2010}'..='\u{2015}' | '\u{2212}' => "-",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(fold(text), expected, "fold of `{text}`");
    }

    #[test]
    fn latin_letters_lose_their_marks() {
        check("Învățământ ÎNVĂŢĂMÂNT", "invatamant invatamant");
        check("ȘcoaLă Şcoală s\u{326}coala\u{306}", "scoala scoala scoala");
        check("Đặng Ở Việt Nam", "dang o viet nam");
        check("Ærø Łódź İstanbul ISPARTA ığdır", "aero lodz istanbul isparta igdir");
        check("Œuvre, ﬁn, ĳ, Straße, STRASSE, ẞ", "oeuvre, fin, ij, strasse, strasse, ss");
        check("Ĉu vi ŝatas ĥorojn?", "cu vi satas horojn?");
    }

    #[test]
    fn other_scripts_keep_what_is_a_letter() {
        check("Йод ёлка молоко́", "йод елка молоко");
        check("Ὀδυσσεύς ΆΛΦΑ", "οδυσσευσ αλφα");
        check("हिन्दी", "हिन्दी");
        check("שָׁלוֹם", "שלום");
        check("مُحَمَّد كتـــاب", "محمد كتاب");
        check("한국어", "한국어");
    }

    #[test]
    fn width_and_kana() {
        check("ＡＢＣ１２３", "abc123");
        check("ｶﾞｷﾞｸﾞ ﾊﾟﾝ ｰ", "ガギグ パン ー");
        check("キャノン きゃのん 一ヶ月 かな", "キヤノン キヤノン 一ケ月 カナ");
        check("㈱ ① ㌔", "(株) 1 キロ");
        check("ゎ\u{ff9e} ё\u{308}", "ヷ е");
    }

    #[test]
    fn exact_keeps_diacritics() {
        assert_eq!(exact("ȘCOALĂ Ｎo1 ﬁ"), "școală no1 fi");
        assert_eq!(exact("co\u{ad}operate"), "cooperate");
    }

    #[test]
    fn what_is_called_normal_is() {
        for char in ('\0'..=char::MAX).filter(|char| is_normal(*char)) {
            let alone = char.to_string();
            assert_eq!(alone.nfkc().collect::<String>(), alone, "{:x}", char as u32);
            assert_eq!(char.to_lowercase().count(), 1, "{:x}", char as u32);
            let lower: String = char.to_lowercase().collect();
            assert_eq!(lower.nfkc().collect::<String>(), lower, "{:x}", char as u32);
        }
    }

    #[test]
    fn every_character_folds_once() {
        for char in '\0'..=char::MAX {
            let once = fold(&char.to_string());
            assert_eq!(fold(&once), once, "{:x}", char as u32);
            let exact_once = exact(&char.to_string());
            assert_eq!(exact(&exact_once), exact_once, "{:x}", char as u32);
        }
    }

    proptest! {
        #[test]
        fn folding_twice_is_folding_once(text in "\\PC{0,40}") {
            let once = fold(&text);
            prop_assert_eq!(fold(&once), once.clone());
            let written = exact(&text);
            prop_assert_eq!(exact(&written), written.clone());
            prop_assert_eq!(fold(&written), once);
        }
    }
}
