//! Texts compared as bags of words, without regard to layout.

use std::collections::HashMap;

pub type Words = HashMap<String, usize>;

/// The share of expected words that were found, and of found words that were expected.
#[derive(Debug, Clone, Copy)]
pub struct Overlap {
    pub recall: f64,
    pub precision: f64,
}

pub fn overlap(expected: &Words, found: &Words) -> Overlap {
    let n_expected: usize = expected.values().sum();
    let n_found: usize = found.values().sum();
    let n_common: usize = expected
        .iter()
        .map(|(word, count)| (*count).min(found.get(word).copied().unwrap_or_default()))
        .sum();
    let share = |total: usize| if total == 0 { 1.0 } else { n_common as f64 / total as f64 };
    Overlap { recall: share(n_expected), precision: share(n_found) }
}

/// For each word the middle of three counts: what two of three engines agree on at least.
pub fn agreed(engines: &[Words]) -> Words {
    let mut agreed = Words::new();
    for word in engines.iter().flat_map(HashMap::keys) {
        let mut counts: Vec<usize> =
            engines.iter().map(|words| words.get(word).copied().unwrap_or_default()).collect();
        counts.sort_unstable();
        let middle = counts[counts.len() / 2];
        if middle > 0 {
            agreed.insert(word.clone(), middle);
        }
    }
    agreed
}

/// Counts words; scripts without spaces count by pairs of characters.
pub fn words(text: &str) -> Words {
    let mut counts = Words::new();
    let mut word = String::new();
    let mut before: Option<char> = None;
    let mut end = |word: &mut String| {
        if !word.is_empty() {
            *counts.entry(std::mem::take(word)).or_insert(0) += 1;
        }
    };
    for char in text.chars() {
        if is_unspaced(char) {
            end(&mut word);
            if let Some(before) = before {
                end(&mut format!("{before}{char}"));
            }
            before = Some(char);
            continue;
        }
        before = None;
        if char.is_alphanumeric() {
            word.extend(char.to_lowercase());
        } else {
            end(&mut word);
        }
    }
    end(&mut word);
    counts
}

fn is_unspaced(char: char) -> bool {
    matches!(char, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}
