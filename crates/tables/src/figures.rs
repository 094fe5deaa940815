//! Figures of groups as they are shown: without the noise of floats, and with a word about those
//! that a number cannot hold.

use columns::{Aggregate, GroupBy, Op, Value as Cell};
use model::Warning;

/// The code of the warning about numbers that are text.
pub(crate) const LONG_NUMBERS: &str = "long_numbers";

/// Says what of the figures is not exact, or not there. `names` are those of groups and measures.
pub(crate) fn figure_warnings(
    wanted: &Aggregate,
    names: &[String],
    rows: &[Vec<Cell>],
) -> Vec<Warning> {
    let mut warnings: Vec<Warning> = warn_of_long_figures(names, rows).into_iter().collect();
    let n_groupings = wanted.group_by.len();
    let cells_of = |at: usize| rows.iter().filter_map(move |row| row.get(at));
    for (at, name) in names.iter().enumerate().skip(n_groupings) {
        let n_beyond = cells_of(at)
            .filter(|cell| matches!(cell, Cell::Real(number) if !number.is_finite()))
            .count();
        if n_beyond > 0 {
            let message = format!(
                "`{name}` is null in {n_beyond} groups, since it is beyond 1.7e308, which is more \
                 than a number holds"
            );
            warnings.push(Warning::new("figures_too_large", message));
        }
    }
    for (at, grouping) in wanted.group_by.iter().enumerate() {
        let GroupBy::Width(width) = grouping.by else { continue };
        let is_last = |cell: &Cell| {
            cell.as_f64().is_some_and(|start| start.abs() >= columns::LAST_RANGE * width)
        };
        if cells_of(at).any(is_last) {
            let message = format!(
                "values of `{}` beyond {:e} are in one range, for `width` {width} is too narrow \
                 for them: take a larger one",
                grouping.column,
                columns::LAST_RANGE * width
            );
            warnings.push(Warning::new("ranges_too_narrow", message));
        }
    }
    warnings
}

/// Says which figures are text, since they have more digits than a number of JSON is sure to keep.
fn warn_of_long_figures(names: &[String], rows: &[Vec<Cell>]) -> Option<Warning> {
    let is_long = |at: usize| {
        let mut cells = rows.iter().filter_map(|row| row.get(at));
        cells.any(|cell| matches!(cell, Cell::Decimal(_)) && cell.to_json().is_string())
    };
    let named = names.iter().enumerate().filter(|(at, _)| is_long(*at));
    let named: Vec<String> = named.map(|(_, name)| format!("`{name}`")).collect();
    (!named.is_empty()).then(|| {
        let message = format!(
            "{} has numbers with more digits than readers of JSON keep: those are text, with all \
             their digits",
            named.join(", ")
        );
        Warning::new(LONG_NUMBERS, message)
    })
}

/// Takes noise off what was computed. The lowest and the highest value of a group, and the group
/// itself, are values of rows and stay as they are.
pub(crate) fn rounded(cell: &Cell, op: Option<Op>) -> Cell {
    match cell {
        Cell::Real(number) => Cell::Real(match op {
            Some(Op::Sum | Op::Avg | Op::Percentile(_)) => without_noise(*number),
            Some(Op::Count | Op::CountDistinct | Op::Min | Op::Max) | None => *number,
        }),
        other @ (Cell::Null
        | Cell::Text(_)
        | Cell::Integer(_)
        | Cell::Decimal(_)
        | Cell::Boolean(_)
        | Cell::Timestamp(_)
        | Cell::List(_)) => other.clone(),
    }
}

/// Takes noise off what was computed: the last bits of a sum, a division or a value between two
/// others are noise that costs tokens. Only what is within a few of them is: the cents of a sum of
/// a hundred trillions are not, and neither are the digits of a sum of billionths.
pub(crate) fn without_noise(number: f64) -> f64 {
    /// So many decimal digits a float holds for sure.
    const DIGITS: usize = 15;
    const BITS: f64 = 4.0;
    /// From here on fifteen digits would leave no decimals.
    const ALL_WHOLE: f64 = 1e14;
    if number.fract() == 0.0 || number.abs() >= ALL_WHOLE {
        return number;
    }
    let short: f64 = format!("{number:.*e}", DIGITS - 1).parse().unwrap_or(number);
    let last_bit = number.abs().next_up() - number.abs();
    if (short - number).abs() <= BITS * last_bit { short } else { number }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_noise_is_taken_off() {
        for (number, shown) in [
            (0.1 + 0.2, 0.3),
            (1e-300, 1e-300),
            (1.234_567_89e-10, 1.234_567_89e-10),
            (100_000_000_000_000.25, 100_000_000_000_000.25),
            (4_503_599_627_370_481.5, 4_503_599_627_370_481.5),
            (-1.1 - 2.2, -3.3),
            (2.0 / 3.0, 0.666_666_666_666_667),
        ] {
            assert_eq!(without_noise(number), shown, "{number}");
        }
    }
}
