//! Two texts compared as bags of words, without regard to layout.

use std::collections::HashMap;

use crate::flow::is_unspaced;

/// How much of one text is in the other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Overlap {
    /// The share of expected words that were found.
    pub recall: f64,
    /// The share of found words that were expected.
    pub precision: f64,
}

/// Compares texts as multisets of words; scripts without spaces count by pairs of characters.
pub fn overlap(expected: &str, found: &str) -> Overlap {
    let expected = counted(expected);
    let found = counted(found);
    let n_expected: usize = expected.values().sum();
    let n_found: usize = found.values().sum();
    let n_common: usize = expected
        .iter()
        .map(|(word, count)| (*count).min(found.get(word).copied().unwrap_or_default()))
        .sum();
    let share = |total: usize| if total == 0 { 1.0 } else { n_common as f64 / total as f64 };
    Overlap { recall: share(n_expected), precision: share(n_found) }
}

fn counted(text: &str) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    let mut word = String::new();
    let mut before: Option<char> = None;
    let mut end = |word: &mut String| {
        if !word.is_empty() {
            *counts.entry(std::mem::take(word)).or_insert(0) += 1;
        }
    };
    for char in text.chars() {
        if is_unspaced(char) && char.is_alphanumeric() {
            end(&mut word);
            if let Some(before) = before {
                end(&mut format!("{before}{char}"));
            }
            before = Some(char);
        } else {
            before = None;
            if char.is_alphanumeric() {
                word.extend(char.to_lowercase());
            } else {
                end(&mut word);
            }
        }
    }
    end(&mut word);
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(expected: &str, found: &str, recall: f64, precision: f64) {
        assert_eq!(overlap(expected, found), Overlap { recall, precision });
    }

    #[test]
    fn layout_does_not_count() {
        check("One two.", "two\n\none", 1.0, 1.0);
        check("one one", "one", 0.5, 1.0);
        check("one", "one two", 1.0, 0.5);
        check("日本語", "日本 語", 0.5, 1.0);
        check("", "", 1.0, 1.0);
    }
}
