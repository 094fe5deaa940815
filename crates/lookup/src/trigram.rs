//! The trigrams of pg_trgm: each word padded with two spaces before and one after.
//!
//! `similarity` is pg_trgm's measure over a whole text, a part of every explanation. The index over words uses the same sets.

use std::collections::BTreeSet;

/// Three characters packed into one number, 21 bits each.
pub(crate) type Trigram = u64;

/// Gives the trigrams of one folded word, sorted and without repeats.
pub(crate) fn word_trigrams(word: &str) -> Vec<Trigram> {
    let padded: Vec<char> = [' ', ' '].into_iter().chain(word.chars()).chain([' ']).collect();
    let mut trigrams: Vec<Trigram> =
        padded.windows(3).map(|window| pack(window[0], window[1], window[2])).collect();
    trigrams.sort_unstable();
    trigrams.dedup();
    trigrams
}

/// Gives pg_trgm's `similarity` of two texts: shared trigrams over all trigrams.
///
/// Words are runs of letters and digits in lower case, as in PostgreSQL; no diacritics are
/// folded, so fold both sides first to compare without them.
///
/// ```
/// let similarity = lookup::similarity("cluj", "judetul cluj");
/// assert!((similarity - 0.3846).abs() < 0.001);
/// ```
pub fn similarity(left: &str, right: &str) -> f64 {
    let (left, right) = (text_trigrams(left), text_trigrams(right));
    let shared = left.intersection(&right).count();
    let all = left.len() + right.len() - shared;
    if all == 0 { 0.0 } else { shared as f64 / all as f64 }
}

fn text_trigrams(text: &str) -> BTreeSet<Trigram> {
    text.to_lowercase()
        .split(|char: char| !char.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .flat_map(word_trigrams)
        .collect()
}

fn pack(first: char, second: char, third: char) -> Trigram {
    (Trigram::from(u32::from(first)) << 42)
        | (Trigram::from(u32::from(second)) << 21)
        | Trigram::from(u32::from(third))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_as_pg_trgm() {
        // Values printed by PostgreSQL 18 `similarity(a, b)`.
        for (left, right, expected) in [
            ("word", "two words", 0.363_636),
            ("cluj", "judetul cluj", 0.384_615),
            ("abc", "abc", 1.0),
            ("abc", "xyz", 0.0),
            ("", "abc", 0.0),
        ] {
            let similarity = similarity(left, right);
            assert!((similarity - expected).abs() < 1e-4, "{left} ~ {right}: {similarity}");
        }
    }
}
