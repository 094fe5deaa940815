//! How far two words are apart in slips of the hand: a letter lost, added, changed, or two
//! neighbours swapped (optimal string alignment).

/// Gives how many slips a word of this length may hold and still be meant.
pub(crate) fn allowed(n_chars: usize) -> usize {
    match n_chars {
        0..4 => 0,
        4..8 => 1,
        _ => 2,
    }
}

/// Counts the slips between two words, or gives nothing when there are more than `limit`.
pub(crate) fn distance(left: &str, right: &str, limit: usize) -> Option<usize> {
    let left: Vec<char> = left.chars().collect();
    let right: Vec<char> = right.chars().collect();
    if left.len().abs_diff(right.len()) > limit {
        return None;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=right.len()).collect();
    for row in 1..=left.len() {
        let mut current = vec![row; right.len() + 1];
        for column in 1..=right.len() {
            let changed = usize::from(left[row - 1] != right[column - 1]);
            let mut best =
                (above[column - 1] + changed).min(above[column] + 1).min(current[column - 1] + 1);
            let is_swap = row > 1
                && column > 1
                && left[row - 1] == right[column - 2]
                && left[row - 2] == right[column - 1];
            if is_swap {
                best = best.min(before[column - 2] + 1);
            }
            current[column] = best;
        }
        if current.iter().all(|distance| *distance > limit) {
            return None;
        }
        before = std::mem::replace(&mut above, current);
    }
    Some(above[right.len()]).filter(|distance| *distance <= limit)
}

/// Gives the similarity that a number of slips leaves.
pub(crate) fn similarity(distance: usize, n_chars: usize, starts_alike: bool) -> f32 {
    let first_letter = if starts_alike { 0.0 } else { 0.05 };
    1.0 - 0.9 * distance as f32 / n_chars as f32 - first_letter
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(left: &str, right: &str, expected: Option<usize>) {
        assert_eq!(distance(left, right, 2), expected);
        assert_eq!(distance(right, left, 2), expected);
    }

    #[test]
    fn slips_are_counted() {
        check("cluj", "cluj", Some(0));
        check("cluj", "clju", Some(1));
        check("braesti", "braiesti", Some(1));
        check("roman", "romania", Some(2));
        check("iasi", "arad", None);
        check("", "ab", Some(2));
    }
}
