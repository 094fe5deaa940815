//! Results that say the same, whatever family they come from.
//!
//! Two results say the same when they are of the same place of the same content: the same words in
//! the same order, the same numbers, signs and marks on letters, with the same around them. Only
//! case, white space and the marks of a markup may differ, and where the text was cut: families cut
//! one document at different places. A text that goes on where another one ends says something else:
//! a rule is not the rule with its repeal behind it.

/// Characters on each side of a text that are compared as well.
const N_AROUND: usize = 300;
/// Characters on each side that are read for that: markup and white space do not count.
const N_READ: usize = 4 * N_AROUND;

/// A text as far as it is compared, inside what is around it.
pub(crate) struct Content {
    whole: String,
    start: usize,
    end: usize,
    /// There is more in front of `whole` in the source.
    is_cut_before: bool,
    /// There is more behind it.
    is_cut_after: bool,
}

impl Content {
    /// Takes a text with what is before it and after it in its source.
    pub(crate) fn of(before: &str, text: &str, after: &str) -> Self {
        let (near_before, mut is_cut_before) = last_chars(before, N_READ);
        let (near_after, mut is_cut_after) = first_chars(after, N_READ);
        let mut whole = plain(&format!("{near_before}{text}{near_after}"));
        let (head, tail) = (plain(near_before), plain(near_after));
        // A mark that is one at the start of a line alone can be read in pieces.
        let is_whole = whole.starts_with(&head) && whole.ends_with(&tail);
        if !is_whole || whole.len() < head.len() + tail.len() {
            whole = format!("{head} {} {tail}", plain(text));
        }
        let end = whole.strip_suffix(tail.as_str()).unwrap_or(&whole).trim_end().len();
        let start = end - whole[head.len().min(end)..end].trim_start().len();
        let (kept_head, is_head_cut) = last_chars(&whole[..start], N_AROUND);
        let (kept_tail, is_tail_cut) = first_chars(&whole[end..], N_AROUND);
        is_cut_before |= is_head_cut;
        is_cut_after |= is_tail_cut;
        let (from, to) = (start - kept_head.len(), end + kept_tail.len());
        let (start, end) = (start - from, end - from);
        Content { whole: whole[from..to].to_owned(), start, end, is_cut_before, is_cut_after }
    }

    fn text(&self) -> &str {
        &self.whole[self.start..self.end]
    }

    /// Tells whether two texts are of the same place of the same content; one of them may hold more
    /// of it.
    pub(crate) fn says_the_same(&self, other: &Content) -> bool {
        let (short, long) = match self.text().len() <= other.text().len() {
            true => (self, other),
            false => (other, self),
        };
        let Some(first) = short.text().chars().next() else { return false };
        // A text that repeats itself is found at places that overlap.
        let mut from = long.start;
        while let Some(at) = long.whole[from..long.end].find(short.text()) {
            let (start, end) = (from + at, from + at + short.text().len());
            let heads = [
                (&long.whole[..start], long.is_cut_before),
                (&short.whole[..short.start], short.is_cut_before),
            ];
            let tails = [
                (&long.whole[end..], long.is_cut_after),
                (&short.whole[short.end..], short.is_cut_after),
            ];
            if agree(heads, |whole, part| whole.ends_with(part))
                && agree(tails, |whole, part| whole.starts_with(part))
            {
                return true;
            }
            from = start + first.len_utf8();
        }
        false
    }
}

/// Tells whether two sides of a text agree as far as both are known; what ends must end for both.
fn agree(sides: [(&str, bool); 2], holds: impl Fn(&str, &str) -> bool) -> bool {
    let [(one, is_one_cut), (other, is_other_cut)] = sides;
    let (less, is_less_cut, more) = match one.len() < other.len() {
        true => (one, is_one_cut, other),
        false => (other, is_other_cut, one),
    };
    holds(more, less) && (is_less_cut || less.len() == more.len())
}

/// Gives the last characters of a text, and whether there are more.
fn last_chars(text: &str, n_chars: usize) -> (&str, bool) {
    match text.char_indices().rev().nth(n_chars.saturating_sub(1)) {
        Some((at, _)) => (&text[at..], at > 0),
        None => (text, false),
    }
}

/// Gives the first characters of a text, and whether there are more.
fn first_chars(text: &str, n_chars: usize) -> (&str, bool) {
    match text.char_indices().nth(n_chars) {
        Some((at, _)) => (&text[..at], true),
        None => (text, false),
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

    /// A folder and a knowledge base cut the same document at different places.
    #[test]
    fn pieces_of_one_document_say_the_same_where_one_holds_the_other() {
        let japanese = "\u{5c31}\u{696d}\u{898f}\u{5247}\u{3002}".repeat(40);
        let english = format!("# Rules\n\n{TEXT}\n\n- It **holds** from May.\n\n{TEXT}");
        for document in [english.clone(), english.repeat(4), japanese] {
            let chars: Vec<char> = document.chars().collect();
            let piece = |from: usize, to: usize| {
                let part = |range: std::ops::Range<usize>| chars[range].iter().collect::<String>();
                Content::of(&part(0..from), &part(from..to), &part(to..chars.len()))
            };
            let n = chars.len();
            // Words and marks are not cut, where there are spaces between words.
            let is_border = |at: &usize| {
                *at >= n
                    || chars[*at] == ' '
                        && (chars[*at - 1].is_alphanumeric() || chars[*at - 1] == '.')
            };
            let border = |at: usize| match document.contains(' ') {
                true => (at..).find(is_border).unwrap_or(n).min(n),
                false => at,
            };
            for (from, to) in [(0, n), (0, n / 2), (n / 3, n), (n / 4, n / 2)] {
                let inner = piece(border(from + (to - from) / 4), border(to - (to - from) / 3));
                let (from, to) = (if from == 0 { 0 } else { border(from) }, border(to));
                assert!(piece(from, to).says_the_same(&inner), "{from} to {to} of {document}");
                assert!(inner.says_the_same(&piece(from, to)), "{from} to {to} of {document}");
            }
            // The same words, and something behind them that the other document does not have.
            let longer = format!("{document} This is repealed.");
            let all = Content::of("", &longer, "");
            assert!(!piece(0, n).says_the_same(&all), "{document}");
            assert!(!piece(n / 4, n).says_the_same(&all), "{document}");
        }
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
