//! How much one answer may hold.

use crate::count_tokens;

/// Characters of a sentence that one token holds.
const CHARS_PER_TOKEN: usize = 4;

/// How much one answer may hold: characters of its JSON, and tokens as a model counts them.
///
/// Whoever makes a cursor is given one and stops before it is used up; nobody behind them cuts
/// again, so that following the cursor gives everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Characters.
    pub chars: usize,
    /// As [`crate::count_tokens`] counts them.
    pub tokens: usize,
}

impl Budget {
    /// Gives what is left for a list when redaction may still lengthen its texts: seven eighths.
    pub fn before_redaction(self) -> Budget {
        Budget { chars: self.chars / 8 * 7, tokens: self.tokens / 8 * 7 }
    }

    /// Gives what is left of it beside sentences of up to so many characters, which are not
    /// written yet. They take a quarter at most: what was asked for comes before what is said of it.
    #[must_use]
    pub fn without_sentences(self, n_chars: usize) -> Budget {
        Budget {
            chars: self.chars - n_chars.min(self.chars / 4),
            tokens: self.tokens - (n_chars / CHARS_PER_TOKEN).min(self.tokens / 4),
        }
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
