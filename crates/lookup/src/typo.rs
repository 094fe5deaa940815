//! How far two words are apart in slips of the hand.
//!
//! Slips are not equally likely: a letter lost, doubled or swapped with its neighbour happens
//! to everyone, while one particular wrong letter is one of many. And where diacritics are gone,
//! an inner `a` and `i` may be the two orthographies of one word, which is hardly a slip at all.

/// What a lost letter, a doubled letter or two swapped neighbours cost.
const COMMON: f32 = 0.8;
/// What a wrong letter costs.
const WRONG: f32 = 1.0;
/// What a letter costs that is nowhere near in the word.
const ADDED: f32 = 1.05;
/// What an inner `a` for `i` costs, or the other way round.
const ORTHOGRAPHY: f32 = 0.35;

/// What one slip of any kind costs at most.
pub(crate) const ONE: f32 = ADDED;
/// What a single letter may cost that is left of two.
pub(crate) const LOST: f32 = COMMON;

/// In how many orthographies a word of the dimension is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Orthographies {
    /// One: its `a` and `i` are no `â` and `î`.
    One,
    /// Perhaps two: it has an `â` or `î`, or nobody knows, since the names have no diacritics.
    Two,
}

/// The longest word that is compared; longer ones must agree in other ways.
pub(crate) const MAX_CHARS: usize = 32;

/// Gives how much slips may cost in a word of this length that is still meant.
pub(crate) fn allowed(n_chars: usize) -> f32 {
    match n_chars {
        0..3 => 0.0,
        // A word of four letters that lost one, or three of which two are swapped.
        3 => COMMON,
        // One slip of any kind, and the other orthography beside it.
        4..8 => ADDED + ORTHOGRAPHY,
        8..10 => 1.85,
        _ => 2.1,
    }
}

/// Adds up the slips that lead from a word of the dimension to a word of the query, or gives
/// nothing when they cost more than `limit`.
pub(crate) fn cost(
    written: &[char],
    meant: &[char],
    orthographies: Orthographies,
    limit: f32,
) -> Option<f32> {
    let n_meant = meant.len();
    if written.len() > MAX_CHARS || n_meant > MAX_CHARS {
        return None;
    }
    let mut before = [0.0_f32; MAX_CHARS + 1];
    let mut above = [0.0_f32; MAX_CHARS + 1];
    for (column, cell) in above.iter_mut().enumerate() {
        *cell = column as f32 * COMMON;
    }
    for row in 1..=written.len() {
        let mut current = [f32::INFINITY; MAX_CHARS + 1];
        let letter = written[row - 1];
        let is_doubled = row > 1 && written[row - 2] == letter;
        let added = if is_doubled { COMMON } else { ADDED };
        current[0] = above[0] + added;
        let mut least = current[0];
        for column in 1..=n_meant {
            let other = meant[column - 1];
            let changed = match difference(letter, other, orthographies) {
                Some(cost) if cost == 0.0 || column > 1 => cost,
                Some(_) | None => WRONG,
            };
            let mut best = (above[column - 1] + changed)
                .min(above[column] + added)
                .min(current[column - 1] + COMMON);
            if row > 1
                && column > 1
                && letter != other
                && let Some(first) = difference(letter, meant[column - 2], orthographies)
                && let Some(second) = difference(written[row - 2], other, orthographies)
            {
                best = best.min(before[column - 2] + COMMON + first + second);
            }
            current[column] = best;
            least = least.min(best);
        }
        if least > limit {
            return None;
        }
        before = above;
        above = current;
    }
    Some(above[n_meant]).filter(|cost| *cost <= limit)
}

/// What it costs to take one letter for another that is no wrong one: the same, or the other
/// orthography.
fn difference(letter: char, other: char, orthographies: Orthographies) -> Option<f32> {
    match (letter, other) {
        (letter, other) if letter == other => Some(0.0),
        ('a', 'i') | ('i', 'a') if orthographies == Orthographies::Two => Some(ORTHOGRAPHY),
        _ => None,
    }
}

/// What one slip takes from the similarity of words of one letter.
const SLIP: f32 = 0.9;

/// What a slip in the first letter takes besides. Little enough that a name with another slip is
/// not sure beside it.
const FIRST_LETTER: f32 = 0.03;

/// Gives the similarity that slips of this cost leave.
pub(crate) fn similarity(cost: f32, n_chars: usize, starts_alike: bool) -> f32 {
    let first_letter = if starts_alike { 0.0 } else { FIRST_LETTER };
    1.0 - SLIP * cost / n_chars as f32 - first_letter
}

/// Gives the slips that leave a similarity, in a word of so many letters.
pub(crate) fn slips(similarity: f32, n_letters: f32) -> f32 {
    (1.0 - similarity).max(0.0) * n_letters / SLIP
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(written: &str, meant: &str, expected: Option<f32>) {
        let written: Vec<char> = written.chars().collect();
        let meant: Vec<char> = meant.chars().collect();
        assert_eq!(cost(&written, &meant, Orthographies::Two, 2.1), expected);
    }

    #[test]
    fn slips_are_counted() {
        check("cluj", "cluj", Some(0.0));
        check("clju", "cluj", Some(COMMON));
        check("braesti", "braiesti", Some(COMMON));
        check("dobrresti", "dobresti", Some(COMMON));
        check("cluk", "cluj", Some(WRONG));
        check("clujx", "cluj", Some(ADDED));
        check("calnic", "cilnic", Some(ORTHOGRAPHY));
        check("prajol", "pirjol", Some(COMMON + ORTHOGRAPHY));
        check("roman", "romania", Some(2.0 * COMMON));
        check("iasi", "bacau", None);
        check("", "ab", Some(2.0 * COMMON));
        let (lida, lada) = (['l', 'i', 'd', 'a'], ['l', 'a', 'd', 'a']);
        assert_eq!(cost(&lida, &lada, Orthographies::One, 2.1), Some(WRONG));
    }
}
