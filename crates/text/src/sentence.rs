//! Sentence ends, for any script.
//!
//! Unicode's rules (UAX 29) give the boundaries; they know the full stops of Japanese, Chinese,
//! Hindi, Arabic and the rest, quotation marks and brackets after them, and numbers with points.
//! What they cannot know is put right here: a point after an abbreviation or an initial ends
//! nothing (`art. 5`, `nr. 12`, `Dr. Ionescu`, `e.g.`), and a line break inside a paragraph is
//! no end unless a blank line follows.

use std::iter::Peekable;
use std::ops::Range;

use unicode_segmentation::{USentenceBoundIndices, UnicodeSegmentation};

/// Longest word that is looked up as an abbreviation, in bytes.
const MAX_ABBREVIATION_BYTES: usize = 8;

/// Abbreviations, lower-cased, that are followed by more of the same sentence.
const ABBREVIATIONS: &[&str] = &[
    // English.
    "mr", "mrs", "ms", "dr", "prof", "st", "jr", "sr", "vs", "no", "fig", "figs", "eq", "vol", "pp",
    "ed", "eds", "inc", "ltd", "co", "corp", "dept", "est", "approx", "cf", "al", "e.g", "i.e",
    "gen", "col", "sgt", "capt", "lt", "rev", "hon", "gov", "sen", "rep", "sec", "ch",
    // Romanian.
    "nr", "art", "alin", "lit", "pct", "str", "bl", "sc", "ap", "et", "jud", "com", "mun", "or",
    "ing", "conf", "univ", "av", "arh", "ec", "dl", "dna", "dvs", "tg", "cap", "tel", "ex", "obs",
    "op", "cit", "urm", "p", "pag", "loc", "sf", "sos", "șos", "bd", "int", "d.p.d.v",
    // German, French, Spanish, Italian.
    "bzw", "ca", "evtl", "ggf", "hr", "fr", "z.b", "d.h", "usw", "abs", "m", "mme", "mlle", "sig",
    "sra", "srta", "ud", "uds", "dott", "avv",
];

/// Gives the sentences of a text as ranges of bytes, in order, without gaps: together they are
/// the whole text, and each holds the blank space that follows it.
///
/// ```
/// let text = "Conform art. 5, nr. 12 se aplică. 次の文です。終わり。";
/// let sentences: Vec<&str> = text::sentences(text).map(|range| &text[range]).collect();
/// assert_eq!(sentences, ["Conform art. 5, nr. 12 se aplică. ", "次の文です。", "終わり。"]);
/// ```
pub fn sentences(text: &str) -> impl Iterator<Item = Range<usize>> {
    Sentences {
        text,
        bounds: text.split_sentence_bound_indices().peekable(),
        start: 0,
        done: text.is_empty(),
    }
}

struct Sentences<'a> {
    text: &'a str,
    bounds: Peekable<USentenceBoundIndices<'a>>,
    start: usize,
    done: bool,
}

impl Iterator for Sentences<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        if self.done {
            return None;
        }
        loop {
            let Some((at, piece)) = self.bounds.next() else {
                self.done = true;
                let rest = self.start..self.text.len();
                return (!rest.is_empty()).then_some(rest);
            };
            let mut end = at + piece.len();
            // Blank lines belong to the sentence before them.
            while let Some((at, blank)) =
                self.bounds.next_if(|(_, piece)| piece.chars().all(char::is_whitespace))
            {
                end = at + blank.len();
            }
            let piece = self.text.get(at..end).unwrap_or_default();
            let rest = self.text.get(end..).unwrap_or_default();
            if end < self.text.len() && (is_soft_break(piece, rest) || ends_short(piece)) {
                continue;
            }
            let sentence = self.start..end;
            self.start = end;
            return Some(sentence);
        }
    }
}

/// A single line break in the middle of a sentence: Unicode ends a paragraph there, prose in
/// plain text files does not.
fn is_soft_break(piece: &str, rest: &str) -> bool {
    let body = piece.trim_end_matches([' ', '\t', '\r', '\n']);
    let Some(last) = body.chars().next_back() else { return false };
    let n_breaks = piece.get(body.len()..).map_or(0, |tail| tail.matches('\n').count());
    let ends_in_stop = matches!(
        last,
        '.' | '!'
            | '?'
            | '…'
            | '。'
            | '！'
            | '？'
            | '．'
            | ':'
            | ';'
            | '：'
            | '；'
            | '」'
            | '』'
            | '"'
            | ')'
    );
    // What goes on in lower case, or in a script without case, goes on.
    let goes_on = rest.chars().next().is_some_and(|char| {
        char.is_alphabetic() && !char.is_uppercase() || matches!(char, ',' | '、' | '，' | '(')
    });
    n_breaks == 1 && !ends_in_stop && goes_on
}

/// Tells whether a sentence seems to end in an abbreviation, an initial or a list number.
fn ends_short(piece: &str) -> bool {
    let body = piece.trim_end();
    if piece.contains('\n') && piece.trim_end_matches([' ', '\t']).ends_with('\n') {
        return false;
    }
    let Some(before_stop) = body.strip_suffix('.') else { return false };
    let word_start = before_stop
        .char_indices()
        .rev()
        .take(MAX_ABBREVIATION_BYTES + 1)
        .take_while(|(_, char)| char.is_alphanumeric() || *char == '.')
        .last()
        .map_or(before_stop.len(), |(at, _)| at);
    let Some(word) = before_stop.get(word_start..).filter(|word| !word.is_empty()) else {
        return false;
    };
    let mut chars = word.chars();
    let first = chars.next();
    let is_initial = chars.next().is_none() && first.is_some_and(char::is_uppercase);
    let starts_item =
        word_start == 0 && word.len() <= 3 && word.chars().all(|char| char.is_ascii_digit());
    let lower = word.to_lowercase();
    is_initial
        || starts_item
        || (lower.len() <= MAX_ABBREVIATION_BYTES && ABBREVIATIONS.contains(&lower.as_str()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(expected: &[&str]) {
        let text = expected.concat();
        let found: Vec<&str> = sentences(&text).map(|range| &text[range]).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn plain_sentences() {
        check(&["One ends. ", "Two ends! ", "Three?"]);
        check(&["He said \"stop.\" ", "Then he left."]);
        check(&["It costs 3.14 dollars. ", "Cheap."]);
        check(&["No end at all"]);
        check(&[]);
    }

    #[test]
    fn abbreviations_and_initials_go_on() {
        check(&[
            "Conform art. 12 alin. (3) din Legea nr. 273/2006, se aprobă. ",
            "Dl. Ionescu semnează.",
        ]);
        check(&["Dr. Smith met J. R. Jones vs. the rest. ", "They won."]);
        check(&["Das gilt z.B. hier. ", "Dort nicht."]);
    }

    #[test]
    fn other_scripts() {
        check(&["東京は首都です。", "人口は多い！", "そうですか？", "はい。"]);
        check(&["他说：“你好。”", "我说好。"]);
        check(&["यह एक वाक्य है। ", "यह दूसरा है।"]);
        check(&["هذه جملة. ", "وهذه أخرى؟"]);
    }

    #[test]
    fn wrapped_lines_and_paragraphs() {
        check(&["A sentence that was\nwrapped by hand. ", "Another."]);
        check(&["A heading\n", "A paragraph."]);
        check(&["one\n\n", "two"]);
    }

    proptest! {
        #[test]
        fn sentences_are_the_whole_text(text in "[a-zA-Z .!?\\n\"。！、あ一0-9]{0,80}|\\PC{0,60}") {
            let whole: String = sentences(&text).map(|range| &text[range]).collect();
            prop_assert_eq!(whole, text);
        }
    }
}
