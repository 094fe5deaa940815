//! Columns of moments: what comes first in dates of three numbers, and where that is in doubt.

use columns::{DateOrder, parse_ordered, three_numbers};

use super::MIN_FITTING;
use crate::config::Epoch;

/// Finds what comes first in dates of three numbers, and says when it cannot be known.
pub(super) fn date_order(texts: &[String]) -> Option<(DateOrder, &'static str)> {
    let dates: Vec<(i8, i8)> = texts
        .iter()
        .filter_map(|text| three_numbers(text))
        .map(|(first, second, _, _)| (first, second))
        .collect();
    let fits = |order: DateOrder| {
        let n_fit = texts
            .iter()
            .filter(|text| three_numbers(text).is_some())
            .filter(|text| parse_ordered(text, Epoch::Ms, Some(order)).is_some())
            .count();
        !texts.is_empty() && n_fit as f64 >= texts.len() as f64 * MIN_FITTING
    };
    let has_day_first = dates.iter().any(|(first, _)| *first > 12);
    let has_month_first = dates.iter().any(|(_, second)| *second > 12);
    let (order, doubt) = match (has_day_first, has_month_first) {
        (true, true) => return None,
        (true, false) => (DateOrder::Dmy, ""),
        (false, true) => (DateOrder::Mdy, ""),
        (false, false) => (
            DateOrder::Dmy,
            "; AMBIGUOUS: read as day/month/year, set date_order = \"mdy\" for month/day/year",
        ),
    };
    fits(order).then_some((order, doubt))
}
