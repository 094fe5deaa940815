//! Cuts text into runs: words of scripts with spaces, stretches of scripts without.
//!
//! A word run takes in the signs that hold identifiers, codes, addresses and numbers together
//! (`_ - . @ ' & / : ,`) when letters or digits are on both sides; [`super::compound`] then
//! takes it apart again. Every character is looked at a bounded number of times.

use std::ops::Range;

use unicode_normalization::char::is_combining_mark;

use crate::fold::is_ignorable;

/// A longer run is cut: no word is this long, and terms and stemmers stay cheap on noise.
pub const MAX_WORD_BYTES: usize = 256;

/// A stretch of text that one rule takes apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Run {
    /// Where it is, in bytes.
    pub bytes: Range<usize>,
    /// Where it starts, in characters.
    pub char_start: usize,
    /// How many characters it holds.
    pub n_chars: usize,
    /// Which rule.
    pub kind: RunKind,
}

/// How a run is taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunKind {
    /// One word.
    Plain,
    /// Has signs, inner capitals, or letters beside digits.
    Compound,
    /// Characters of scripts without spaces.
    Ideographs,
}

/// Walks over a text and gives its runs.
pub(crate) struct Scanner<'a> {
    text: &'a str,
    byte_at: usize,
    char_at: usize,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Scanner { text, byte_at: 0, char_at: 0 }
    }

    fn char_at(&self, byte_at: usize) -> Option<char> {
        let byte = *self.text.as_bytes().get(byte_at)?;
        if byte < 0x80 { Some(char::from(byte)) } else { self.text[byte_at..].chars().next() }
    }
}

impl Iterator for Scanner<'_> {
    type Item = Run;

    fn next(&mut self) -> Option<Run> {
        loop {
            let first = self.char_at(self.byte_at)?;
            match class_of(first) {
                Class::Ideograph => return Some(self.ideographs()),
                Class::Lower | Class::Upper | Class::Digit => return Some(self.word()),
                Class::Joining(_) | Class::Ignorable | Class::Mark | Class::Separator => {
                    self.byte_at += first.len_utf8();
                    self.char_at += 1;
                }
            }
        }
    }
}

impl Scanner<'_> {
    fn ideographs(&mut self) -> Run {
        let (byte_start, char_start) = (self.byte_at, self.char_at);
        while let Some(char) = self.char_at(self.byte_at) {
            let inside = match class_of(char) {
                Class::Ideograph | Class::Ignorable | Class::Mark => true,
                Class::Lower
                | Class::Upper
                | Class::Digit
                | Class::Joining(_)
                | Class::Separator => false,
            };
            if !inside {
                break;
            }
            self.byte_at += char.len_utf8();
            self.char_at += 1;
        }
        self.run(byte_start, char_start, RunKind::Ideographs)
    }

    fn word(&mut self) -> Run {
        let (byte_start, char_start) = (self.byte_at, self.char_at);
        let mut is_compound = false;
        let mut previous = Class::Separator;
        let mut n_letters = 0_usize;
        let mut n_capitals = 0_usize;
        let mut n_after_capitals = 0_usize;
        while let Some(char) = self.char_at(self.byte_at) {
            let is_long = self.byte_at - byte_start + char.len_utf8() > MAX_WORD_BYTES;
            let class = class_of(char);
            match class {
                Class::Lower => {
                    n_after_capitals += 1;
                    // `HTMLParser` is two words, `PDFs` is one.
                    is_compound |= previous == Class::Digit
                        || (n_capitals > 1 && n_after_capitals == 2 && previous == Class::Lower);
                    n_letters += 1;
                }
                Class::Upper => {
                    is_compound |= matches!(previous, Class::Lower | Class::Digit);
                    n_capitals = if previous == Class::Upper { n_capitals + 1 } else { 1 };
                    n_after_capitals = 0;
                    n_letters += 1;
                }
                Class::Digit => is_compound |= matches!(previous, Class::Lower | Class::Upper),
                Class::Ignorable | Class::Mark => {}
                Class::Joining(joining) => {
                    if is_long || !self.joins(joining, previous, self.byte_at + char.len_utf8()) {
                        break;
                    }
                    is_compound = true;
                }
                Class::Separator | Class::Ideograph => break,
            }
            if is_long {
                break;
            }
            if !matches!(class, Class::Ignorable | Class::Mark) {
                previous = class;
            }
            self.byte_at += char.len_utf8();
            self.char_at += 1;
            if class == Class::Lower && n_capitals <= 1 {
                // Most of a text: more small letters change nothing but the length.
                let n_more = self.n_small_letters(MAX_WORD_BYTES + byte_start - self.byte_at);
                self.byte_at += n_more;
                self.char_at += n_more;
                n_letters += n_more;
                n_after_capitals += n_more;
            }
        }
        let is_plural = n_capitals > 1 && n_after_capitals == 1 && n_letters == n_capitals + 1;
        is_compound |= is_plural;
        if n_letters <= 2 && !is_compound {
            is_compound |= self.sharp_or_plus();
        }
        let kind = if is_compound { RunKind::Compound } else { RunKind::Plain };
        self.run(byte_start, char_start, kind)
    }

    /// Counts the small ASCII letters that follow, up to a limit.
    fn n_small_letters(&self, limit: usize) -> usize {
        let rest = self.text.as_bytes().get(self.byte_at..).unwrap_or_default();
        let rest = rest.get(..limit).unwrap_or(rest);
        rest.iter().position(|byte| !byte.is_ascii_lowercase()).unwrap_or(rest.len())
    }

    /// Takes in the tail of `C#`, `F#` and `C++`.
    fn sharp_or_plus(&mut self) -> bool {
        let rest = self.text.as_bytes().get(self.byte_at..).unwrap_or_default();
        let n_tail = match rest {
            [b'#', ..] => 1,
            [b'+', b'+', ..] => 2,
            _ => return false,
        };
        let ends = self
            .char_at(self.byte_at + n_tail)
            .is_none_or(|char| matches!(class_of(char), Class::Separator | Class::Joining(_)));
        if ends {
            self.byte_at += n_tail;
            self.char_at += n_tail;
        }
        ends
    }

    /// Tells whether a sign holds what is before it and after it together.
    fn joins(&self, joining: Joining, previous: Class, next_byte: usize) -> bool {
        let Some(next) = self.char_at(next_byte).map(class_of) else { return false };
        let is_letter = |class| matches!(class, Class::Lower | Class::Upper);
        let is_digit = |class| class == Class::Digit;
        let both = |test: &dyn Fn(Class) -> bool| test(previous) && test(next);
        match joining {
            Joining::Always => both(&|class| is_letter(class) || is_digit(class)),
            Joining::Letters => both(&is_letter),
            Joining::Digits => both(&is_digit),
            Joining::BesideDigit => {
                both(&|class| is_letter(class) || is_digit(class))
                    && (is_digit(previous) || is_digit(next))
            }
        }
    }

    fn run(&self, byte_start: usize, char_start: usize, kind: RunKind) -> Run {
        Run {
            bytes: byte_start..self.byte_at,
            char_start,
            n_chars: self.char_at - char_start,
            kind,
        }
    }
}

/// What a character is for the scanner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// A letter that is not a capital.
    Lower,
    /// A capital.
    Upper,
    /// A digit of any script.
    Digit,
    /// A combining mark.
    Mark,
    /// Nothing: soft hyphen, joiner, variation selector.
    Ignorable,
    /// A sign that can hold a compound together.
    Joining(Joining),
    /// A character of a script without spaces.
    Ideograph,
    /// Everything else.
    Separator,
}

/// Between what a sign joins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Joining {
    /// Letters and digits: `_`, `-`, `.`, `@`.
    Always,
    /// Letters only: apostrophes, `&`.
    Letters,
    /// Digits only: `,`, `:`.
    Digits,
    /// Letters and digits, one of them a digit: `/`.
    BesideDigit,
}

const ASCII_CLASSES: [Class; 128] = ascii_classes();

const fn ascii_classes() -> [Class; 128] {
    let mut classes = [Class::Separator; 128];
    let mut code = 0_u8;
    while code < 128 {
        classes[code as usize] = match code {
            b'a'..=b'z' => Class::Lower,
            b'A'..=b'Z' => Class::Upper,
            b'0'..=b'9' => Class::Digit,
            b'_' | b'-' | b'.' | b'@' => Class::Joining(Joining::Always),
            b'\'' | b'&' => Class::Joining(Joining::Letters),
            b',' | b':' => Class::Joining(Joining::Digits),
            b'/' => Class::Joining(Joining::BesideDigit),
            _ => Class::Separator,
        };
        code += 1;
    }
    classes
}

/// Gives the class of a character.
#[inline]
pub(crate) fn class_of(char: char) -> Class {
    match ASCII_CLASSES.get(char as usize) {
        Some(class) => *class,
        None => class_of_other(char),
    }
}

fn class_of_other(char: char) -> Class {
    match char {
        // The most frequent letters first; the tables behind the tests below cost more.
        '\u{4e00}'..='\u{9fff}'
        | '\u{3041}'..='\u{3096}'
        | '\u{30a1}'..='\u{30fa}'
        | '\u{ac00}'..='\u{d7a3}' => Class::Ideograph,
        '\u{430}'..='\u{45f}' | '\u{df}'..='\u{f6}' | '\u{f8}'..='\u{ff}' => Class::Lower,
        '\u{400}'..='\u{42f}' | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{de}' => Class::Upper,
        '\u{2019}' | '\u{2018}' | '\u{2bc}' | '\u{ff07}' => Class::Joining(Joining::Letters),
        '\u{2010}' | '\u{2011}' | '\u{ff0d}' | '\u{ff3f}' | '\u{ff0e}' | '\u{ff20}' => {
            Class::Joining(Joining::Always)
        }
        _ if is_ignorable(char) => Class::Ignorable,
        _ if is_ideograph(char) => Class::Ideograph,
        _ if char.is_uppercase() => Class::Upper,
        _ if char.is_alphabetic() => Class::Lower,
        _ if char.is_numeric() => Class::Digit,
        _ if is_combining_mark(char) => Class::Mark,
        // Squared units (`㎏`, `㎡`) are letters once normalised.
        '\u{3371}'..='\u{33df}' => Class::Lower,
        _ => Class::Separator,
    }
}

/// Tells whether a letter belongs to Han, kana, hangul, bopomofo, or one of the scripts of
/// South-East Asia that are written without spaces.
pub fn is_ideograph(char: char) -> bool {
    matches!(char,
        '\u{e01}'..='\u{e4e}' | '\u{e81}'..='\u{ece}' | '\u{1000}'..='\u{103f}'
            | '\u{1050}'..='\u{109d}' | '\u{1780}'..='\u{17d3}'
            | '\u{1100}'..='\u{11ff}' | '\u{2e80}'..='\u{2fdf}' | '\u{3005}'..='\u{3007}'
            | '\u{3021}'..='\u{3029}' | '\u{3031}'..='\u{3035}' | '\u{3038}'..='\u{303c}'
            | '\u{3041}'..='\u{309f}' | '\u{30a1}'..='\u{30fa}' | '\u{30fc}'..='\u{318e}'
            | '\u{31a0}'..='\u{31ff}' | '\u{3300}'..='\u{3357}' | '\u{3400}'..='\u{4dbf}'
            | '\u{4e00}'..='\u{9fff}' | '\u{a960}'..='\u{a97f}' | '\u{ac00}'..='\u{d7fb}'
            | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ffdc}' | '\u{1aff0}'..='\u{1b16f}'
            | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Kind and place of each run, in characters.
    fn runs(text: &str) -> Vec<(RunKind, usize, usize)> {
        Scanner::new(text).map(|run| (run.kind, run.char_start, run.n_chars)).collect()
    }

    proptest! {
        /// Small ASCII letters are passed over many at a time, others one by one.
        #[test]
        fn all_small_letters_are_alike(text in "[a-zA-Z0-9é _.,@'&/:#+-]{0,60}") {
            let others = text.replace(|char: char| char.is_ascii_lowercase(), "é");
            prop_assert_eq!(runs(&text), runs(&others), "{}", text);
        }
    }

    #[test]
    fn noise_is_cut() {
        for n_before in [0, 1, 7] {
            let text = format!("{}{}", "A1_".repeat(n_before), "x".repeat(2 * MAX_WORD_BYTES + 3));
            let lengths: Vec<usize> = Scanner::new(&text).map(|run| run.bytes.len()).collect();
            assert_eq!(lengths, [MAX_WORD_BYTES, MAX_WORD_BYTES, 3 + 3 * n_before]);
        }
    }
}
