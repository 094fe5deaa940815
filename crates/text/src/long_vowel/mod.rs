//! Repairs Japanese text whose long-vowel marks an OCR took for hyphens, dashes or the kanji 一.
//!
//! A look-alike becomes `ー` where a long vowel can be and nothing speaks for a hyphen, a dash
//! or a numeral; in every doubtful place the text stays as it is. What is already right is
//! never changed, no other character is touched, and the length in characters stays.
//!
//! - A long vowel needs a kana before it, and that kana is not `ン`, `ッ` or `ー`.
//! - Before a Latin or Greek letter or a digit, a hyphen stays (`タイプ-R`, `モデル-1`).
//! - Two dashes in a row are a dash (`それは――`). A dash that closes what the same dash opened is
//!   the frame of a subtitle (`－サービス－`).
//! - A hyphen behind a katakana word that is whole joins it to the next (`トータル-コスト`,
//!   `ソウル-プサン`, `ドル-円`); [`katakana`] tells which words are.
//! - In hiragana a hyphen or a 一 is a long vowel only in known words and before tails that only
//!   words have that are drawn out (`うわ-ん`, `ふ一っと`): [`hiragana`].
//! - The kanji 一 after katakana is a mark inside a word and at the end of one; before a kanji it
//!   is the number or a name, with the exceptions of [`numeral`].

mod hiragana;
mod katakana;
mod numeral;
mod words;

#[cfg(test)]
mod table;
#[cfg(test)]
mod tests;

use hiragana::{is_drawn_kanji, is_drawn_stroke};
use katakana::joins;
use numeral::is_numeral;

/// Puts long-vowel marks back where the text has look-alikes of them.
///
/// Works on any number of lines, in linear time.
///
/// ```
/// assert_eq!(text::repair_long_vowels("サ-ビスセンタ一"), "サービスセンター");
/// assert_eq!(text::repair_long_vowels("α-ヘリックス、2019-2021、DVD-R"), "α-ヘリックス、2019-2021、DVD-R");
/// ```
pub fn repair_long_vowels(text: &str) -> String {
    let mut repaired = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        if line.contains(is_look_alike) {
            repair_line(line, &mut repaired);
        } else {
            repaired.push_str(line);
        }
    }
    repaired
}

fn repair_line(line: &str, repaired: &mut String) {
    let source: Vec<char> = line.chars().collect();
    let mut line = Line { chars: source.clone(), source, opened: None };
    for idx in 0..line.chars.len() {
        if let Some(mark) = line.mark_for(idx)
            && let Some(place) = line.chars.get_mut(idx)
        {
            *place = mark;
        }
    }
    repaired.extend(line.chars);
}

/// A line under repair: what is before the current place is repaired, what is after is not.
struct Line {
    chars: Vec<char>,
    source: Vec<char>,
    /// The dash that opened a subtitle and was not closed yet.
    opened: Option<char>,
}

impl Line {
    /// Gives the mark that belongs in a place, if what is there is a look-alike of one.
    fn mark_for(&mut self, idx: usize) -> Option<char> {
        let char = self.at(idx)?;
        if !is_look_alike(char) {
            return None;
        }
        let previous = idx.checked_sub(1).and_then(|idx| self.at(idx));
        let next = self.at(idx + 1);
        if char == 'ｰ' {
            // In half-width text this is the right mark.
            let is_wide =
                previous.is_some_and(|previous| is_kana(previous) && !is_half_width(previous));
            return is_wide.then_some('ー');
        }
        if char == '一' {
            let is_mark =
                previous.is_some_and(|previous| is_katakana(previous) && can_be_long(previous));
            let is_mark = match is_mark {
                true => !is_numeral(self, idx),
                false => is_drawn_kanji(self, idx),
            };
            let is_narrow = previous.is_some_and(is_half_width);
            return is_mark.then_some(if is_narrow { 'ｰ' } else { 'ー' });
        }
        if self.is_framed(char, previous, next) {
            return None;
        }
        let previous = previous.filter(|previous| can_be_long(*previous))?;
        let is_doubled = next == Some(char) || self.source_before(idx) == Some(char);
        let stays = is_doubled || next.is_some_and(is_foreign) || self.is_initial(idx);
        if stays {
            return None;
        }
        if is_katakana(previous) {
            let mark = if is_half_width(previous) { 'ｰ' } else { 'ー' };
            return (!joins(self, idx)).then_some(mark);
        }
        is_drawn_stroke(self, idx).then_some('ー')
    }

    fn at(&self, idx: usize) -> Option<char> {
        self.chars.get(idx).copied()
    }

    fn source_before(&self, idx: usize) -> Option<char> {
        idx.checked_sub(1).and_then(|idx| self.source.get(idx)).copied()
    }

    /// Follows dashes that open and close a subtitle; tells whether this one is part of a frame.
    fn is_framed(&mut self, char: char, previous: Option<char>, next: Option<char>) -> bool {
        let before_word = next.is_some_and(char::is_alphanumeric);
        let after_kana = previous.is_some_and(is_kana);
        let after_kanji = previous.is_some_and(is_kanji);
        let after_nothing = previous.is_none_or(|previous| !previous.is_alphanumeric());
        let opens = before_word && (after_nothing || (after_kanji && char != '-'));
        if opens {
            self.opened = Some(char);
            return true;
        }
        let closes = self.opened == Some(char) && !before_word && after_kana;
        if closes {
            self.opened = None;
        }
        closes
    }

    /// Tells whether the kana before is an initial that meets its own vowel: `イ・アイ・イ−イ…`.
    fn is_initial(&self, idx: usize) -> bool {
        let back = |n: usize| idx.checked_sub(n).and_then(|idx| self.at(idx));
        let is_vowel = |char: char| matches!(char, 'ア' | 'イ' | 'ウ' | 'エ' | 'オ');
        back(2) == Some('・') && back(1).is_some_and(is_vowel) && back(1) == self.at(idx + 1)
    }
}

/// The signs that an OCR puts in place of a long-vowel mark.
fn is_look_alike(char: char) -> bool {
    matches!(
        char,
        '-' | '\u{2010}'
            | '\u{2011}'
            | '\u{2212}'
            | '\u{2013}'
            | '\u{2014}'
            | '\u{2015}'
            | '\u{ff0d}'
            | 'ｰ'
            | '\u{2500}'
            | '一'
    )
}

/// Letters and digits before which a hyphen joins two words.
fn is_foreign(char: char) -> bool {
    char.is_alphanumeric() && !is_kana(char) && !is_kanji(char)
}

/// Tells whether a vowel can be drawn out after a kana.
fn can_be_long(char: char) -> bool {
    is_kana(char) && !matches!(char, 'ン' | 'ッ' | 'っ' | 'ー' | 'ｰ' | 'ﾝ' | 'ｯ')
}

fn is_kana(char: char) -> bool {
    is_hiragana(char) || is_katakana(char) || char == 'ー' || char == 'ｰ'
}

fn is_hiragana(char: char) -> bool {
    matches!(char, '\u{3041}'..='\u{3096}')
}

fn is_katakana(char: char) -> bool {
    matches!(char, '\u{30a1}'..='\u{30fa}' | '\u{30fd}'..='\u{30fe}' | '\u{31f0}'..='\u{31ff}')
        || (is_half_width(char) && char != 'ｰ')
}

fn is_half_width(char: char) -> bool {
    matches!(char, '\u{ff66}'..='\u{ff9f}')
}

fn is_kanji(char: char) -> bool {
    matches!(char, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '々')
}
