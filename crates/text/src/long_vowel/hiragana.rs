//! Hiragana words that are drawn out: `らーめん`, `えーと`, `うわーん`.

use super::words::{COUNTED_HIRAGANA, DRAWN};
use super::{Line, can_be_long, is_hiragana, is_look_alike};

/// No word that is drawn out is longer, so nothing farther away is looked at.
const FAR: usize = 6;

/// Words that a dash is put behind, or a 一 that counts.
const PARTICLES: &[&str] = &[
    "から", "まで", "より", "など", "の", "は", "が", "を", "に", "で", "と", "も", "へ", "や",
    "か", "ら", "し", "て", "た", "る", "い", "く", "う", "だけ", "ほど", "その", "この", "もう",
    "あと", "ただ", "いま", "また",
];

/// Tells whether a stroke after hiragana draws a word out.
pub(super) fn is_drawn_stroke(line: &Line, idx: usize) -> bool {
    if is_known(line, idx) || has_drawn_tail(line, idx) {
        return true;
    }
    let n_before = n_hiragana_before(line, idx);
    if repeats(line, idx, n_before) {
        return true;
    }
    let next = line.at(idx + 1);
    let ends = next.is_none_or(|next| !next.is_alphanumeric() && !next.is_whitespace());
    let word: String = line.chars.get(idx - n_before..idx).unwrap_or_default().iter().collect();
    ends && !PARTICLES.contains(&word.as_str())
}

/// Tells whether a 一 after hiragana was read for a mark. Nothing that is counted begins with the
/// small kana or `ん`; of the rest only known words are taken.
pub(super) fn is_drawn_kanji(line: &Line, idx: usize) -> bool {
    let previous = idx.checked_sub(1).and_then(|idx| line.at(idx));
    if !previous.is_some_and(|previous| is_hiragana(previous) && can_be_long(previous)) {
        return false;
    }
    if is_known(line, idx) {
        return true;
    }
    let tail: String = line.source.get(idx + 1..).unwrap_or_default().iter().take(FAR).collect();
    if COUNTED_HIRAGANA.iter().any(|counted| tail.starts_with(counted)) {
        return false;
    }
    let after = line.at(idx + 2);
    let ends = |char: Option<char>| char.is_none_or(|char| !char.is_alphanumeric());
    match line.at(idx + 1) {
        Some('ぁ' | 'ぃ' | 'ぅ' | 'ぇ' | 'ぉ' | 'ん') => true,
        Some('っ') => ends(after) || matches!(after, Some('と' | 'て')),
        // `すご一い！`
        Some('い') => ends(after),
        // `いいね一。`, `だよ一！`
        next @ (None | Some('。' | '！' | '!' | '？' | '?' | '…' | '」' | '♪' | '〜')) => {
            matches!(previous, Some('ね' | 'よ'))
                || (next != Some('。') && next.is_some() && matches!(previous, Some('な' | 'ぞ')))
        }
        Some(_) => false,
    }
}

/// Tells whether a listed word is around a place, with a look-alike at each of its marks.
fn is_known(line: &Line, idx: usize) -> bool {
    DRAWN.iter().any(|word| {
        let marks = word.chars().enumerate().filter(|(_, char)| *char == 'ー');
        marks
            .map(|(at, _)| at)
            .any(|at| idx.checked_sub(at).is_some_and(|from| fits(line, from, word)))
    })
}

/// Tells whether a word is in the source from a place on. A short one must begin there.
fn fits(line: &Line, from: usize, word: &str) -> bool {
    const LEAST_SURE_CHARS: usize = 4;
    let is_there = word.chars().enumerate().all(|(offset, expected)| {
        line.source.get(from + offset).is_some_and(|char| match expected {
            'ー' => is_look_alike(*char) || *char == 'ー',
            expected => *char == expected,
        })
    });
    let before = from.checked_sub(1).and_then(|idx| line.source.get(idx));
    let begins = before.is_none_or(|before| {
        !is_hiragana(*before)
            || matches!(before, 'は' | 'が' | 'も' | 'で' | 'と' | 'を' | 'に' | 'ね')
    });
    is_there && (begins || word.chars().count() >= LEAST_SURE_CHARS)
}

fn has_drawn_tail(line: &Line, idx: usize) -> bool {
    let small = ['っ', 'ん', 'ぁ', 'ぃ', 'ぅ', 'ぇ', 'ぉ', 'ッ', 'ァ', 'ィ', 'ゥ', 'ェ', 'ォ'];
    line.at(idx + 1).is_some_and(|next| small.contains(&next))
}

fn n_hiragana_before(line: &Line, idx: usize) -> usize {
    let head = line.chars.get(..idx).unwrap_or_default();
    head.iter().rev().take(FAR).take_while(|char| is_hiragana(**char)).count()
}

/// Tells whether the kana before the mark are again beside it, drawn out too: `ぜーぜー`.
fn repeats(line: &Line, idx: usize, n_before: usize) -> bool {
    let Some(word) = idx.checked_sub(n_before).and_then(|from| line.chars.get(from..idx)) else {
        return false;
    };
    let is_mark = |place: Option<usize>| {
        place
            .and_then(|place| line.at(place))
            .is_some_and(|char| is_look_alike(char) || char == 'ー')
    };
    let after = line.chars.get(idx + 1..idx + 1 + n_before);
    let is_after = after == Some(word) && is_mark(Some(idx + 1 + n_before));
    let before_end = idx.checked_sub(n_before + 1);
    let before = before_end
        .and_then(|end| end.checked_sub(n_before).and_then(|from| line.chars.get(from..end)));
    let is_before = before == Some(word) && is_mark(before_end);
    !word.is_empty() && (is_after || is_before)
}
