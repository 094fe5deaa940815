//! Token counts for budgets, without a vocabulary.
//!
//! Language models cut text into tokens by vocabularies that differ; a budget only needs a
//! number that is never far below the truth. The rules here follow how byte-pair vocabularies
//! behave: a short word is one token, a long one is a token for every few letters, a digit group
//! of three is one, Han and kana cost about one each, other letters outside ASCII about one for
//! every two, and each mark of punctuation is one.

/// How much one answer may hold: characters of its JSON, and tokens as a model counts them.
///
/// Whoever makes a cursor is given one and stops before it is used up; nobody behind them cuts
/// again, so that following the cursor gives everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Characters.
    pub chars: usize,
    /// Tokens.
    pub tokens: usize,
}

impl Budget {
    /// Gives what is left for a list when redaction may still lengthen its texts: seven eighths.
    pub fn before_redaction(self) -> Budget {
        Budget { chars: self.chars / 8 * 7, tokens: self.tokens / 8 * 7 }
    }

    /// Gives what is left of it beside a text.
    pub fn without(self, beside: &str) -> Budget {
        Budget {
            chars: self.chars.saturating_sub(beside.chars().count()),
            tokens: self.tokens.saturating_sub(count_tokens(beside)),
        }
    }

    /// Tells whether a text is within the budget.
    pub fn fits(&self, text: &str) -> bool {
        self.allowed_chars(text).is_none()
    }

    /// Gives about how many characters of a text are within the budget; nothing when all are.
    pub fn allowed_chars(&self, text: &str) -> Option<usize> {
        // A token has at least one byte, a character too, so that most answers are not counted.
        let n_tokens = if text.len() > self.tokens { count_tokens(text) } else { 0 };
        let by_tokens = (n_tokens > self.tokens).then(|| {
            let n_chars = text.chars().count() as u64;
            (n_chars * self.tokens as u64 / n_tokens as u64) as usize
        });
        let is_long = text.len() > self.chars && text.chars().count() > self.chars;
        by_tokens.into_iter().chain(is_long.then_some(self.chars)).min()
    }

    /// Counts how many of these texts, in order, are within the budget beside what is there
    /// already; at least one, which is then cut by whoever can say where to go on.
    pub fn n_fitting<'a>(&self, beside: &str, texts: impl Iterator<Item = &'a str>) -> usize {
        let mut n_chars = beside.chars().count();
        let mut n_tokens = count_tokens(beside);
        let mut n_fitting = 0;
        for text in texts {
            // A comma between two elements is a character and a token.
            n_chars += text.chars().count() + 1;
            n_tokens += count_tokens(text) + 1;
            if n_fitting > 0 && (n_chars > self.chars || n_tokens > self.tokens) {
                break;
            }
            n_fitting += 1;
        }
        n_fitting
    }
}

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
