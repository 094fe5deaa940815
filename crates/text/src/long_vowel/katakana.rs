//! The katakana words on both sides of a look-alike, and whether it joins them.

use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization;

use super::words::{CORES, LONG, WHOLE};
use super::{Line, is_kanji, is_katakana, is_look_alike};

/// No katakana word is longer; what is farther away is not looked at.
const FAR: usize = 24;

/// Kana that end most loan words without a long vowel.
const ENDINGS: &str = "スズクグトドムプブフルツ";

/// The first and last kana of the rows of the syllabary, as ranges name them.
const ROWS: &[&str] = &[
    "アオ", "カコ", "サソ", "タト", "ナノ", "ハホ", "マモ", "ヤヨ", "ラロ", "アン", "アワ", "イロ",
];

/// The katakana words around a place, in full width and repaired as far as can be told.
pub(super) struct Around {
    pub(super) before: String,
    pub(super) after: String,
}

/// What is before and behind each long vowel inside a core, taken apart once: a text may have a
/// hyphen in every word.
static SIDES: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
    let sides = |core: &&'static str| {
        let core = *core;
        core.match_indices('ー').map(move |(at, mark)| (&core[..at], &core[at + mark.len()..]))
    };
    CORES.iter().flat_map(sides).filter(|(_, tail)| !tail.is_empty()).collect()
});

impl Around {
    pub(super) fn of(line: &Line, idx: usize) -> Self {
        let is_word = |char: &&char| is_katakana(**char) || matches!(**char, 'ー' | 'ｰ');
        let head = line.chars.get(..idx).unwrap_or_default();
        let before: Vec<char> = head.iter().rev().take(FAR).take_while(is_word).copied().collect();
        let tail = line.source.get(idx + 1..).unwrap_or_default();
        let in_word = |char: &&char| is_katakana(**char) || is_look_alike(**char) || **char == 'ー';
        let after = tail.iter().take(FAR).take_while(in_word);
        let after = after.map(|char| if is_look_alike(*char) { 'ー' } else { *char });
        Around {
            before: before.into_iter().rev().nfkc().collect(),
            after: after.nfkc().collect::<String>().trim_end_matches('ー').to_owned(),
        }
    }

    /// Tells whether the word before ends as most words do that have no long vowel there.
    pub(super) fn ends_like_a_word(&self) -> bool {
        self.before.chars().next_back().is_some_and(|last| ENDINGS.contains(last))
    }

    /// Tells whether the word before is one that ends in a long vowel, without it: `ベイウインド`. Of
    /// short ones only the whole word counts, since `ケーブル` is not `ブルー`.
    pub(super) fn is_long_stem(&self) -> bool {
        const LEAST_CHARS: usize = 3;
        let ends = |stem: &str| {
            self.before.ends_with(stem)
                && (self.before.len() == stem.len() || stem.chars().count() >= LEAST_CHARS)
        };
        // Nothing ends in these small kana without a long vowel: `メニュー`, `レスキュー`.
        let small = self.before.strip_suffix('ュ').and_then(|stem| stem.chars().next_back());
        let is_small = small.is_some_and(|before| !matches!(before, 'シ' | 'ジ' | 'チ'));
        is_small || LONG.iter().any(|stem| ends(stem))
    }

    /// Tells whether both sides make a word with a long vowel between them: `ベッドル` and `ム`. A word
    /// that is whole must be the beginning of it: `アニメ` and `ション`, but not `ソウル` and `プサン`.
    pub(super) fn has_core(&self) -> bool {
        let is_whole = is_listed(WHOLE, &self.before);
        SIDES.iter().any(|(head, tail)| {
            let fits = match is_whole {
                true => self.before == *head,
                false => self.before.ends_with(head),
            };
            fits && self.after.starts_with(tail)
        })
    }
}

/// Tells whether a hyphen behind katakana joins two words or names a range, rather than drawing
/// out a vowel: `トータル-コスト`, `ソウル-プサン`, `ドル-円`, `ア-オ`.
pub(super) fn joins(line: &Line, idx: usize) -> bool {
    /// A shorter word that ends so may well be drawn out: `スル`, `ブル`.
    const LEAST_CHARS: usize = 3;
    let around = Around::of(line, idx);
    let next = line.source.get(idx + 1).copied();
    if names_row(&around, line, idx) {
        return true;
    }
    if around.has_core() || around.is_long_stem() {
        return false;
    }
    let before_kanji = next.is_some_and(is_kanji);
    // One kana is no word, and none begins with these.
    let begins_word = around.after.chars().count() > 1
        && !around.after.starts_with(['ン', 'ッ', 'ァ', 'ィ', 'ゥ', 'ェ', 'ォ', 'ャ', 'ュ', 'ョ']);
    if is_listed(WHOLE, &around.before) {
        return around.after.is_empty() || begins_word;
    }
    let is_word = around.ends_like_a_word() && around.before.chars().count() >= LEAST_CHARS;
    is_word && (before_kanji || begins_word || next.is_some_and(char::is_whitespace))
}

/// Tells whether a hyphen is between the first and last kana of a row: `カ-コ`.
fn names_row(around: &Around, line: &Line, idx: usize) -> bool {
    let only = |word: &str| {
        let mut chars = word.chars();
        chars.next().filter(|_| chars.next().is_none())
    };
    let (Some(first), Some(last)) = (only(&around.before), only(&around.after)) else {
        return false;
    };
    let is_alone = line.source.get(idx + 2).is_none_or(|next| !is_look_alike(*next));
    is_alone && ROWS.iter().any(|row| row.chars().eq([first, last]))
}

/// Tells whether a word is in a list.
pub(super) fn is_listed(words: &[&str], word: &str) -> bool {
    words.contains(&word)
}
