//! Trigrams as PostgreSQL's pg_trgm cuts them, so that scores mean what people know.
//!
//! Text is folded, cut into words of letters and digits, each word is padded with two spaces
//! before and one after, and every three neighbouring characters are one trigram. A set holds
//! each once; similarity is the size of the intersection over the size of the union.

use crate::fold;

/// Three neighbouring characters packed into one number, 21 bits each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Trigram(u64);

impl Trigram {
    /// Packs three characters.
    pub fn new(first: char, second: char, third: char) -> Self {
        Trigram(
            u64::from(u32::from(first)) << 42
                | u64::from(u32::from(second)) << 21
                | u64::from(u32::from(third)),
        )
    }

    /// Gives the number, for an index.
    pub fn code(self) -> u64 {
        self.0
    }
}

/// Gives the distinct trigrams of a text, sorted.
///
/// ```
/// assert_eq!(text::trigrams("cat").len(), 4); // "  c", " ca", "cat", "at "
/// assert_eq!(text::trigrams("Ștefan"), text::trigrams("stefan"));
/// ```
pub fn trigrams(text: &str) -> Vec<Trigram> {
    trigrams_of_folded(&fold::fold(text))
}

/// Gives the distinct trigrams of a text that is folded already, sorted.
pub fn trigrams_of_folded(folded: &str) -> Vec<Trigram> {
    let mut found = Vec::with_capacity(folded.len() + 2);
    for word in folded.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let (mut first, mut second) = (' ', ' ');
        for third in word.chars().chain([' ']) {
            found.push(Trigram::new(first, second, third));
            (first, second) = (second, third);
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Gives the similarity of two sorted sets, 0 to 1: shared over all.
///
/// ```
/// let similarity = text::trigram_similarity(&text::trigrams("word"), &text::trigrams("two words"));
/// assert!((similarity - 0.363_636).abs() < 1e-5);
/// ```
pub fn trigram_similarity(left: &[Trigram], right: &[Trigram]) -> f64 {
    let n_shared = shared_trigrams(left, right);
    let n_all = left.len() + right.len() - n_shared;
    if n_all == 0 { 0.0 } else { n_shared as f64 / n_all as f64 }
}

/// Counts the trigrams that two sorted sets share.
pub fn shared_trigrams(left: &[Trigram], right: &[Trigram]) -> usize {
    let mut n_shared = 0;
    let (mut left, mut right) = (left.iter().peekable(), right.iter().peekable());
    while let (Some(one), Some(other)) = (left.peek(), right.peek()) {
        match one.cmp(other) {
            std::cmp::Ordering::Less => _ = left.next(),
            std::cmp::Ordering::Greater => _ = right.next(),
            std::cmp::Ordering::Equal => {
                n_shared += 1;
                left.next();
                right.next();
            }
        }
    }
    n_shared
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(left: &str, right: &str, expected: f64) {
        let similarity = trigram_similarity(&trigrams(left), &trigrams(right));
        assert!((similarity - expected).abs() < 0.005, "`{left}` `{right}` {similarity}");
    }

    #[test]
    fn similarity_is_that_of_pg_trgm() {
        check("word", "two words", 0.3636);
        check("Cluj", "JUDEȚUL CLUJ", 0.38);
        check("same", "same", 1.0);
        check("one", "two", 0.0);
        check("", "", 0.0);
        check("a b", "b a", 1.0);
    }
}
