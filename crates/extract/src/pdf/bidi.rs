//! Rows of Hebrew and Arabic: drawn from left to right on paper, kept in the order they are read.

use super::page::{Glyph, needs_space};

/// Tells whether most letters of a row are written from right to left.
pub(super) fn is_right_to_left(glyphs: &[Glyph]) -> bool {
    let mut n_right = 0_usize;
    let mut n_left = 0_usize;
    for char in glyphs.iter().flat_map(|glyph| glyph.text.chars()) {
        match side(char) {
            Side::Right => n_right += 1,
            Side::Left => n_left += 1,
            Side::Number | Side::Neutral => {}
        }
    }
    n_right > n_left
}

/// Gives the text of a row in reading order.
pub(super) fn logical_text(glyphs: &[Glyph], size: f64) -> String {
    let mut visual: Vec<&Glyph> = glyphs.iter().collect();
    visual.sort_by(|one, other| one.start.total_cmp(&other.start));
    let mut clusters: Vec<String> = Vec::with_capacity(visual.len());
    let mut before: Option<&Glyph> = None;
    for glyph in visual {
        if before.is_some_and(|before| needs_space(before, glyph, size)) {
            clusters.push(" ".to_owned());
        }
        clusters.push(glyph.text.chars().map(base_form).collect());
        before = Some(glyph);
    }
    clusters.reverse();
    // Runs of Latin letters and numbers inside read from left to right.
    let mut text = String::new();
    let mut at = 0;
    while let Some(cluster) = clusters.get(at) {
        if is_left(cluster) {
            let mut end = at + 1;
            let mut last_left = at;
            while let Some(next) = clusters.get(end) {
                if is_left(next) {
                    last_left = end;
                } else if has_side(next, Side::Right) || end - last_left > 2 {
                    break;
                }
                end += 1;
            }
            let run = clusters.get(at..=last_left).unwrap_or_default();
            // A word of another script is a word of its own, wherever its space was drawn.
            let is_word = run.iter().any(|cluster| has_side(cluster, Side::Left));
            if is_word && text.ends_with(|char| side(char) == Side::Right) {
                text.push(' ');
            }
            for cluster in run.iter().rev() {
                text.push_str(cluster);
            }
            at = last_left + 1;
            if is_word && clusters.get(at).is_some_and(|next| has_side(next, Side::Right)) {
                text.push(' ');
            }
        } else {
            if !(cluster == " " && text.ends_with(' ')) {
                text.extend(cluster.chars().map(mirrored));
            }
            at += 1;
        }
    }
    text
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
    Number,
    Neutral,
}

fn side(char: char) -> Side {
    match char {
        '\u{590}'..='\u{65f}'
        | '\u{66e}'..='\u{8ff}'
        | '\u{fb1d}'..='\u{fdff}'
        | '\u{fe70}'..='\u{feff}' => Side::Right,
        '0'..='9' | '\u{660}'..='\u{669}' => Side::Number,
        _ if char.is_alphabetic() => Side::Left,
        _ => Side::Neutral,
    }
}

fn has_side(cluster: &str, wanted: Side) -> bool {
    cluster.chars().any(|char| side(char) == wanted)
}

fn is_left(cluster: &str) -> bool {
    cluster.chars().next().is_some_and(|char| matches!(side(char), Side::Left | Side::Number))
}

fn mirrored(char: char) -> char {
    match char {
        '(' => ')',
        ')' => '(',
        '[' => ']',
        ']' => '[',
        '{' => '}',
        '}' => '{',
        '<' => '>',
        '>' => '<',
        '«' => '»',
        '»' => '«',
        _ => char,
    }
}

/// Gives the letter that a form of presentation stands for.
fn base_form(char: char) -> char {
    let code = char as u32;
    if !(0xfe80..=0xfef4).contains(&code) {
        return char;
    }
    // Each letter has its forms in a row: two for letters that join on one side, four for others.
    const LETTERS: [(u32, char); 36] = [
        (0xfe80, 'ء'),
        (0xfe81, 'آ'),
        (0xfe83, 'أ'),
        (0xfe85, 'ؤ'),
        (0xfe87, 'إ'),
        (0xfe89, 'ئ'),
        (0xfe8d, 'ا'),
        (0xfe8f, 'ب'),
        (0xfe93, 'ة'),
        (0xfe95, 'ت'),
        (0xfe99, 'ث'),
        (0xfe9d, 'ج'),
        (0xfea1, 'ح'),
        (0xfea5, 'خ'),
        (0xfea9, 'د'),
        (0xfeab, 'ذ'),
        (0xfead, 'ر'),
        (0xfeaf, 'ز'),
        (0xfeb1, 'س'),
        (0xfeb5, 'ش'),
        (0xfeb9, 'ص'),
        (0xfebd, 'ض'),
        (0xfec1, 'ط'),
        (0xfec5, 'ظ'),
        (0xfec9, 'ع'),
        (0xfecd, 'غ'),
        (0xfed1, 'ف'),
        (0xfed5, 'ق'),
        (0xfed9, 'ك'),
        (0xfedd, 'ل'),
        (0xfee1, 'م'),
        (0xfee5, 'ن'),
        (0xfee9, 'ه'),
        (0xfeed, 'و'),
        (0xfeef, 'ى'),
        (0xfef1, 'ي'),
    ];
    let after = LETTERS.partition_point(|(first, _)| *first <= code);
    after.checked_sub(1).and_then(|at| LETTERS.get(at)).map_or(char, |(_, letter)| *letter)
}
