//! Results that say the same, whatever family they come from.
//!
//! Two results say the same when their texts are equal, with what is directly around them in their
//! sources: the same words in the same order, the same numbers, signs and marks on letters. Only
//! case, white space and the marks of a markup may differ. A text that another one holds and goes on
//! from says less than that one does: a rule is not the rule with its repeal behind it.

/// Characters on each side of a text that are compared as well.
const N_AROUND: usize = 300;

/// A text as far as it is compared.
#[derive(PartialEq, Eq)]
pub(crate) struct Content {
    before: String,
    text: String,
    after: String,
}

impl Content {
    /// Takes a text with what is before it and after it in its source.
    pub(crate) fn of(before: &str, text: &str, after: &str) -> Self {
        let (before, after) = (plain(before), plain(after));
        let n_before = before.chars().count().saturating_sub(N_AROUND);
        Content {
            before: before.chars().skip(n_before).collect(),
            text: plain(text),
            after: after.chars().take(N_AROUND).collect(),
        }
    }

    /// Tells whether two texts say the same.
    pub(crate) fn says_the_same(&self, other: &Content) -> bool {
        !self.text.is_empty() && self == other
    }
}

/// Gives what a text says: without markup, in small letters, with one space between words.
fn plain(text: &str) -> String {
    let composed = text::composed(text);
    let lines = composed.lines().map(without_mark);
    let words = lines.flat_map(str::split_whitespace).map(without_emphasis);
    words.filter(|word| !word.is_empty() && *word != "|").collect::<Vec<_>>().join(" ")
}

/// Takes the marks of headings, quotations and lists off a line. `#500` and `>500` have none.
fn without_mark(line: &str) -> &str {
    let mut line = line.trim_start();
    while let Some((mark, rest)) = line.split_once(' ') {
        // `- 500` may be below zero.
        let is_item =
            matches!(mark, "-" | "*") && rest.trim_start().starts_with(char::is_alphabetic);
        let is_mark = is_item || mark == ">" || mark.bytes().all(|byte| byte == b'#');
        if !is_mark {
            break;
        }
        line = rest.trim_start();
    }
    line
}

/// Takes `**` and the like off a word, where something is left of it.
fn without_emphasis(word: &str) -> &str {
    let is_mark = |char: char| matches!(char, '*' | '_' | '`');
    let inner = word.trim_matches(is_mark);
    if inner.is_empty() { word } else { inner }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "Remote work is allowed on three days a week. The manager must agree \
        before the first day, and the allowance is paid at the end of each month.";

    #[track_caller]
    fn check(one: &str, other: &str, expected: bool) {
        let (one, other) = (Content::of("", one, ""), Content::of("", other, ""));
        assert_eq!(one.says_the_same(&other), expected);
        assert_eq!(other.says_the_same(&one), expected);
    }

    #[test]
    fn copies_say_the_same_whatever_their_markup() {
        check(TEXT, TEXT, true);
        check(TEXT, &TEXT.to_uppercase().replace(' ', "  "), true);
        check(TEXT, &format!("# **{TEXT}**").replace(". ", ".\n\n> "), true);
        check(TEXT, &format!("- {}", TEXT.replace("three", "_three_")), true);
        check("| a | b |", "a b", true);
        check("Cluj", "CLUJ", true);
        // Composed and decomposed letters are the same letters.
        check("sch\u{f6}n", "scho\u{308}n", true);
    }

    /// A repeal behind a rule was hidden behind the rule.
    #[test]
    fn what_goes_on_says_something_else() {
        check(TEXT, &format!("{TEXT} This rule is repealed."), false);
        check(TEXT, &format!("Until May: {TEXT}"), false);
        check(TEXT, &TEXT[10..], false);
        check(&TEXT[..TEXT.len() - 8], &TEXT[8..], false);
        let around = |before: &str, after: &str| Content::of(before, TEXT, after);
        let rule = around("Rule 1. ", "");
        assert!(rule.says_the_same(&around("Rule  1.\n", "\n")));
        assert!(!rule.says_the_same(&around("Rule 1. ", " This rule is repealed.")));
        assert!(!rule.says_the_same(&around("Not in force: Rule 1. ", "")));
        // What is far away is other content.
        let far = "x".repeat(2 * N_AROUND);
        let near = "y".repeat(N_AROUND);
        let (one, other) = (format!("{far}{near}"), near.clone());
        assert!(around(&one, "").says_the_same(&around(&other, "")));
    }

    #[test]
    fn other_texts_and_names_do_not() {
        check(TEXT, "Remote work is a matter of trust, which this text does not speak of.", false);
        check("Cluj", "Cluj-Napoca", false);
        check("", "", false);
        check(" \n", "", false);
    }

    #[test]
    fn what_differs_in_a_number_a_sign_or_a_letter_says_something_else() {
        check(TEXT, &TEXT.replace("three", "four"), false);
        check(TEXT, &TEXT.replace("must agree", "must not agree"), false);
        for row in [
            "-500|500|$500|500 %|+500|5.00|5 00|5,000|≈500|(500)|500*2|500 * 2|<500|>500|500!|#500",
            "(12,500)|12,500|[12,500]|12.500|12'500|−12,500|~12,500|12,500?",
            "schon|schön|Schon!",
            "año|ano",
            "a < b in C++ ✓|a > b in C++ ✓|a < b in C# ✓|a < b in C++ ✗|a <= b in C++ ✓",
            "x² = 4|x2 = 4",
            "a_b|ab|a b",
            "He said: go|He said go|He said \"go\"",
        ] {
            let texts: Vec<&str> = row.split('|').collect();
            for (idx, one) in texts.iter().enumerate() {
                for other in &texts[..idx] {
                    let of = |part: &str| format!("{TEXT} The balance is {part} at the end.");
                    check(&of(one), &of(other), false);
                    check(&format!("balance {one}"), &format!("balance {other}"), false);
                    check(one, other, false);
                }
            }
        }
        // A form that was filled in twice: what differs is at both ends, and all between is equal.
        let form = |name: &str, sum: &str| format!("For {name}. {TEXT} {TEXT} Sum: {sum} EUR");
        check(&form("Aalto", "1,250.00"), &form("Borg", "98,400.00"), false);
        check(&form("Aalto", "1,250.00"), &form("Aalto", "1,250.01"), false);
        check(&form("Aalto", "1,250.00"), &form("Borgs", "1,250.00"), false);
    }
}
