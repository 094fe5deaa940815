//! Values that somebody may have meant.

use model::Deadline;

use crate::{Error, Result, Value};

/// The most values that are compared; a column with more gives its first ones only.
pub const MAX_COMPARED: usize = 200_000;
/// How alike two texts must be to be worth naming.
const MIN_LIKENESS: f64 = 0.72;
/// How often the clock is read.
const CHECK_EVERY: usize = 4096;

/// Ranks values by their likeness to the wanted one, best first.
pub(crate) fn nearest(
    values: impl Iterator<Item = Value>,
    wanted: &Value,
    limit: usize,
    deadline: &Deadline,
) -> Result<Vec<Value>> {
    let mut ranked: Vec<(f64, Value)> = Vec::new();
    let wanted_text = wanted.as_str().map(str::to_lowercase);
    for (n_seen, value) in values.take(MAX_COMPARED).enumerate() {
        if n_seen % CHECK_EVERY == 0 && deadline.is_over() {
            return Err(Error::TimedOut);
        }
        let score = match (&wanted_text, &value) {
            (Some(wanted), Value::Text(text)) => likeness(wanted, &text.to_lowercase()),
            _ => match (wanted.as_f64(), value.as_f64()) {
                (Some(wanted), Some(number)) => -(wanted - number).abs(),
                _ => continue,
            },
        };
        let is_worth = wanted_text.is_none() || score >= MIN_LIKENESS;
        if is_worth {
            ranked.push((score, value));
        }
        if ranked.len() >= 64 * limit.max(1) {
            keep_best(&mut ranked, limit);
        }
    }
    keep_best(&mut ranked, limit);
    Ok(ranked.into_iter().map(|(_, value)| value).collect())
}

/// Tells how alike two folded texts are, 0..=1. One that holds the other is very like it, and
/// so is one that a single slip of the finger makes of the other.
pub fn likeness(left: &str, right: &str) -> f64 {
    const VERY_LIKE: f64 = 0.8;
    let are_empty = left.is_empty() || right.is_empty();
    let is_inside = !are_empty && (left.contains(right) || right.contains(left));
    let is_long_enough = left.len() >= 3 && left.len().abs_diff(right.len()) <= 1;
    let is_slip = is_long_enough && strsim::osa_distance(left, right) <= 1;
    let letters = strsim::jaro_winkler(left, right);
    if is_inside || is_slip { letters.max(VERY_LIKE) } else { letters }
}

fn keep_best(ranked: &mut Vec<(f64, Value)>, limit: usize) {
    ranked.sort_by(|(left, _), (right, _)| right.total_cmp(left));
    ranked.truncate(limit);
}
