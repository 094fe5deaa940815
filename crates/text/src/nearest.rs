//! "Did you mean": the allowed word that is nearest to the one that was given.

use crate::fold;

/// Longest word that is compared; longer ones are not typing mistakes of a name.
const MAX_COMPARED_CHARS: usize = 64;
/// How alike two words must be to be suggested, 0 to 1.
const MIN_LIKENESS: f64 = 0.6;

/// Gives the candidate that the word is most likely a misspelling of, if one is near enough.
///
/// Case, diacritics and punctuation do not count as differences; neighbouring letters that
/// changed places count as one. Of equally near candidates the first wins.
///
/// ```
/// assert_eq!(text::nearest("latancy", &["level", "latency", "host"]), Some("latency"));
/// assert_eq!(text::nearest("zzz", &["level", "latency", "host"]), None);
/// ```
pub fn nearest<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    nearest_with_likeness(word, candidates).map(|(_, candidate)| candidate)
}

/// Gives what [`nearest`] gives, and how like the word it is, up to 1 for an equal one.
pub fn nearest_with_likeness<'a>(word: &str, candidates: &[&'a str]) -> Option<(f64, &'a str)> {
    let word = key(word);
    let mut best: Option<(f64, &str)> = None;
    for candidate in candidates {
        let likeness = likeness(&word, &key(candidate));
        if likeness >= MIN_LIKENESS
            && best.is_none_or(|(best_likeness, _)| likeness > best_likeness)
        {
            best = Some((likeness, candidate));
        }
    }
    best
}

fn key(word: &str) -> Vec<char> {
    let letters = fold::fold(word);
    letters.chars().filter(|char| char.is_alphanumeric()).take(MAX_COMPARED_CHARS).collect()
}

/// Gives 1 for equal words, less for each letter that differs.
fn likeness(one: &[char], other: &[char]) -> f64 {
    let longest = one.len().max(other.len());
    if longest == 0 {
        return 0.0;
    }
    let by_letters = 1.0 - distance(one, other) as f64 / longest as f64;
    // What was typed so far may be the start of a longer name.
    let shorter = one.len().min(other.len());
    let is_start = shorter >= 3 && one.get(..shorter) == other.get(..shorter);
    if is_start { by_letters.max(MIN_LIKENESS + 0.1) } else { by_letters }
}

/// Counts insertions, deletions, replacements and exchanges of neighbours.
fn distance(one: &[char], other: &[char]) -> usize {
    let mut before_last: Vec<usize> = vec![0; other.len() + 1];
    let mut last: Vec<usize> = (0..=other.len()).collect();
    let mut current = last.clone();
    for (row, letter) in one.iter().enumerate() {
        let mut left = row + 1;
        if let Some(first) = current.first_mut() {
            *first = left;
        }
        for (column, other_letter) in other.iter().enumerate() {
            let at =
                |cells: &[usize], idx: usize| cells.get(idx).copied().unwrap_or(usize::MAX / 2);
            let mut cell = (left + 1)
                .min(at(&last, column + 1) + 1)
                .min(at(&last, column) + usize::from(letter != other_letter));
            let exchanged = row > 0
                && column > 0
                && one.get(row - 1) == Some(other_letter)
                && other.get(column - 1) == Some(letter);
            if exchanged {
                cell = cell.min(at(&before_last, column - 1) + 1);
            }
            if let Some(place) = current.get_mut(column + 1) {
                *place = cell;
            }
            left = cell;
        }
        std::mem::swap(&mut before_last, &mut last);
        std::mem::swap(&mut last, &mut current);
    }
    last.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(word: &str, candidates: &[&str], expected: Option<&str>) {
        assert_eq!(nearest(word, candidates), expected, "for `{word}`");
    }

    #[test]
    fn misspellings_are_understood() {
        let fields = ["level", "latency", "regions", "status", "pathname"];
        check("lvel", &fields, Some("level"));
        check("LATENCY", &fields, Some("latency"));
        check("regoins", &fields, Some("regions"));
        check("path", &fields, Some("pathname"));
        check("statut", &fields, Some("status"));
        check("colour", &fields, None);
        check("", &fields, None);
        check("x", &[], None);
        check("școala", &["scoala"], Some("scoala"));
        check("search_files", &["searchFiles", "openFile"], Some("searchFiles"));
    }

    #[test]
    fn exchanged_neighbours_are_one_mistake() {
        let letters = |word: &str| word.chars().collect::<Vec<_>>();
        assert_eq!(distance(&letters("abcd"), &letters("abdc")), 1);
        assert_eq!(distance(&letters("kitten"), &letters("sitting")), 3);
        assert_eq!(distance(&letters(""), &letters("abc")), 3);
        assert_eq!(distance(&letters("abc"), &letters("")), 3);
    }
}
