//! Token counts for budgets, without a vocabulary.
//!
//! Language models cut text into tokens by vocabularies that differ; a budget only needs a
//! number that is never far below the truth. The rules here follow how byte-pair vocabularies
//! behave: a short word is one token, a long one is a token for every few letters, a digit group
//! of three is one, Han and kana cost about one each, other letters outside ASCII about one for
//! every two, and each mark of punctuation is one.

/// Letters of an ASCII word that one token holds on average once a word is long.
const ASCII_LETTERS_PER_TOKEN: usize = 6;
/// Letters of a word with letters outside ASCII that one token holds.
const OTHER_LETTERS_PER_TOKEN: usize = 3;
/// Digits that one token holds.
const DIGITS_PER_TOKEN: usize = 3;

/// Estimates how many tokens a language model counts in a text; linear, allocates nothing.
///
/// ```
/// assert_eq!(text::count_tokens(""), 0);
/// assert_eq!(text::count_tokens("The cat sat."), 4);
/// assert_eq!(text::count_tokens("東京都"), 3);
/// ```
pub fn count_tokens(text: &str) -> usize {
    let mut n_tokens = 0;
    let mut run = Run::default();
    for char in text.chars() {
        let class = Class::of(char);
        if class != run.class || matches!(class, Class::Ideograph | Class::Mark) {
            n_tokens += run.n_tokens();
            run = Run { class, n_chars: 0, ascii: true };
        }
        run.n_chars += 1;
        run.ascii &= char.is_ascii();
    }
    n_tokens + run.n_tokens()
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Class {
    #[default]
    Space,
    LineBreak,
    Letter,
    Digit,
    Ideograph,
    Mark,
}

impl Class {
    fn of(char: char) -> Class {
        match char {
            'a'..='z' | 'A'..='Z' => Class::Letter,
            '0'..='9' => Class::Digit,
            '\n' | '\r' => Class::LineBreak,
            ' ' | '\t' => Class::Space,
            '\u{2e80}'..='\u{9fff}'
            | '\u{f900}'..='\u{faff}'
            | '\u{ff00}'..='\u{ffef}'
            | '\u{ac00}'..='\u{d7a3}'
            | '\u{20000}'..='\u{3ffff}' => Class::Ideograph,
            other if other.is_alphabetic() => Class::Letter,
            other if other.is_whitespace() => Class::Space,
            other if other.is_numeric() => Class::Digit,
            _ => Class::Mark,
        }
    }
}

#[derive(Default)]
struct Run {
    class: Class,
    n_chars: usize,
    ascii: bool,
}

impl Run {
    fn n_tokens(&self) -> usize {
        match self.class {
            // One space belongs to the word that follows it.
            Class::Space => usize::from(self.n_chars > 1),
            Class::LineBreak => usize::from(self.n_chars > 0),
            Class::Letter if self.ascii => self.n_chars.div_ceil(ASCII_LETTERS_PER_TOKEN),
            Class::Letter => self.n_chars.div_ceil(OTHER_LETTERS_PER_TOKEN),
            Class::Digit => self.n_chars.div_ceil(DIGITS_PER_TOKEN),
            Class::Ideograph | Class::Mark => self.n_chars,
        }
    }
}
