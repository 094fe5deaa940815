//! Results that say the same, whatever family they come from and however each was cut.
//!
//! A text is what it says, in order: its letters and digits without their case and marks, and the
//! signs that change what they mean. Two texts say the same when the shorter one is in the longer
//! one whole, or when one begins within the other and little of the shorter one is outside.
//! A form that was filled in twice, with other names and sums, says two things; texts that are too
//! short for a cut, such as names, say the same only when they are equal.

/// Shorter texts are compared as a whole.
const MIN_CUT_CHARS: usize = 44;

/// The part of the shorter text that must be in the longer one.
const SHARED_PART: f64 = 0.85;

/// Characters that are looked at.
const MAX_CHARS: usize = 2_000;

/// A text as far as it is compared.
pub(crate) struct Content {
    said: String,
    n_chars: usize,
}

impl Content {
    pub(crate) fn of(text: &str) -> Self {
        let folded: Vec<char> = text::fold(text).chars().collect();
        let mut said = String::new();
        let mut n_chars = 0;
        for (idx, char) in folded.iter().enumerate() {
            let before = idx.checked_sub(1).and_then(|before| folded.get(before));
            if !means_something(*char, before.copied(), folded.get(idx + 1).copied()) {
                continue;
            }
            said.push(if char.is_whitespace() { ' ' } else { *char });
            n_chars += 1;
            if n_chars == MAX_CHARS {
                break;
            }
        }
        Content { said, n_chars }
    }

    /// Tells whether two texts say the same.
    pub(crate) fn says_the_same(&self, other: &Content) -> bool {
        if self.said == other.said {
            return !self.said.is_empty();
        }
        let (short, long) = match self.n_chars <= other.n_chars {
            true => (self, other),
            false => (other, self),
        };
        if short.n_chars < MIN_CUT_CHARS {
            return false;
        }
        let n_outside = ((1.0 - SHARED_PART) * short.n_chars as f64) as usize;
        long.said.contains(&short.said)
            || short.ends_within(long, n_outside)
            || long.ends_within(short, n_outside + long.n_chars - short.n_chars)
    }

    /// Tells whether the other text begins within this one, which ends within it, after no more
    /// characters than these.
    fn ends_within(&self, other: &Content, n_outside: usize) -> bool {
        let starts = self.said.char_indices().map(|(at, _)| at).take(n_outside + 1);
        starts
            .into_iter()
            .any(|at| self.said.get(at..).is_some_and(|end| other.said.starts_with(end)))
    }
}

/// Tells whether a character, between these two, changes what a text says. Marks of prose and of
/// markup do not; a minus, a decimal point, the sign of a currency and `C#` do.
fn means_something(char: char, before: Option<char>, after: Option<char>) -> bool {
    let is_digit = |char: Option<char>| char.is_some_and(char::is_numeric);
    let is_word = |char: Option<char>| char.is_some_and(char::is_alphanumeric);
    match char {
        // `5 00` is not `500`.
        _ if char.is_whitespace() => is_digit(before) && is_digit(after),
        '-' | '−' => is_digit(after) && !before.is_some_and(char::is_alphabetic),
        '.' | ',' | ':' | '\'' => is_digit(before) && is_digit(after),
        '/' => is_word(before) && is_word(after),
        '#' => is_word(before),
        // At the beginning of a line it quotes.
        '>' => before.is_some_and(|before| before != '\n'),
        '*' | '_' | '`' | '|' | '"' | '!' | '?' | ';' | '(' | ')' | '[' | ']' | '{' | '}'
        | '\\' | '~' => false,
        _ if char.is_ascii() => true,
        // Quotes, dashes, points and brackets of other scripts.
        '\u{2010}'..='\u{2027}'
        | '\u{3000}'..='\u{3003}'
        | '\u{3008}'..='\u{301f}'
        | '·'
        | '«'
        | '»'
        | '，'
        | '：'
        | '；'
        | '！'
        | '？'
        | '（'
        | '）' => false,
        _ => !char.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "Remote work is allowed on three days a week. The manager must agree \
        before the first day, and the allowance is paid at the end of each month.";

    #[track_caller]
    fn check(one: &str, other: &str, expected: bool) {
        let (one, other) = (Content::of(one), Content::of(other));
        assert_eq!(one.says_the_same(&other), expected);
        assert_eq!(other.says_the_same(&one), expected);
    }

    #[test]
    fn copies_and_cuts_say_the_same() {
        check(TEXT, TEXT, true);
        check(TEXT, &TEXT.to_uppercase().replace(' ', "  "), true);
        check(TEXT, &TEXT[10..], true);
        check(TEXT, &format!("Preface of another kind, quite long. {TEXT} And an epilogue."), true);
        check(&TEXT[..TEXT.len() - 8], &TEXT[8..], true);
        check(&TEXT[..70], &TEXT[60..], false);
        check(TEXT, &format!("# **{}**", TEXT.replace(". ", ".\n\n> ")), true);
    }

    #[test]
    fn other_texts_and_names_do_not() {
        check(TEXT, "Remote work is a matter of trust, which this text does not speak of.", false);
        check("Cluj", "Cluj-Napoca", false);
        check("Cluj", "CLUJ", true);
        check("", "", false);
        check("...", "!!!", false);
    }

    #[test]
    fn what_differs_in_a_number_a_sign_or_a_name_says_something_else() {
        check(TEXT, &TEXT.replace("three", "four"), false);
        check(TEXT, &TEXT.replace("must agree", "must not agree"), false);
        let balances = ["-500", "500", "$500", "500 %", "+500", "5.00", "5 00", "5,000", "≈500"];
        for (idx, one) in balances.iter().enumerate() {
            for other in &balances[..idx] {
                let of = |balance: &str| format!("{TEXT} The balance is {balance} at the end.");
                check(&of(one), &of(other), false);
                check(&format!("balance {one}"), &format!("balance {other}"), false);
            }
        }
        check("a < b in C++ ✓", "a > b in C++ ✓", false);
        check("a < b in C++ ✓", "a < b in C# ✓", false);
        check("a < b in C++ ✓", "a < b in C++ ✗", false);
        // A form that was filled in twice: what differs is at both ends, and all between is equal.
        let form = |name: &str, sum: &str| format!("For {name}. {TEXT} {TEXT} Sum: {sum} EUR");
        check(&form("Aalto", "1,250.00"), &form("Borg", "98,400.00"), false);
        check(&form("Aalto", "1,250.00"), &form("Aalto", "1,250.01"), false);
        check(&form("Aalto", "1,250.00"), &form("Borgs", "1,250.00"), false);
    }
}
