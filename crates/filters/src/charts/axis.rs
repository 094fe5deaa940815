//! The places of an axis of groups: those that rows fall into, and those between them that none
//! does, which are gaps or true zeros and must not vanish from the axis.

use columns::Zone;
use jiff::ToSpan as _;
use jiff::civil::Date;

use crate::charts::chart::Place;
use crate::charts::period::Period;
use crate::charts::request::MAX_POINTS;

/// What a group without a value is called.
pub const NO_VALUE: &str = "(none)";

const WEEKDAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// How groups follow each other on the axis.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Years, quarters or months.
    Periods,
    /// So many days apart: 1 for days, 7 for weeks.
    Days(i32),
    /// Hours of a time zone.
    Hours(Zone),
    /// Monday to Sunday.
    Weekdays,
    /// Ranges of numbers of this width, named by where they start.
    Width(f64),
    /// Values as they are, in the order in which they are given.
    Values,
}

impl Step {
    /// Tells whether a group without a value has no place on the axis.
    pub(super) fn is_scale(&self) -> bool {
        !matches!(self, Step::Values)
    }
}

/// The places of an axis.
#[derive(Debug, PartialEq)]
pub(super) struct Places {
    pub(super) places: Vec<Place>,
    /// How many of them no row falls into.
    pub(super) n_filled: usize,
}

/// Gives the places of groups that are named in the order in which they are given. Those beyond
/// the most points of a chart are cut after the first of them.
pub(super) fn axis(names: &[&str], step: &Step) -> Places {
    let filled = match step {
        Step::Periods => periods(names),
        Step::Days(days) => dates(names, *days),
        Step::Hours(zone) => hours(names, zone),
        Step::Weekdays => Some(named(WEEKDAYS.map(str::to_owned))),
        Step::Width(width) => ranges(names, *width),
        // Values that look like years may be years: where most of them are there, the missing
        // ones are gaps. Numbers of shops look like years as well, and have none between.
        Step::Values => periods(names).filter(|filled| filled.len() <= 2 * names.len()),
    };
    let is_whole = |filled: &Vec<Place>| {
        filled.len() > MAX_POINTS
            || names.iter().all(|name| filled.iter().any(|place| place.to_string() == *name))
    };
    match filled.filter(is_whole) {
        Some(places) => {
            let n_filled = places.len() - names.len().min(places.len());
            Places { places, n_filled }
        }
        None => Places { places: named(names.iter().map(|name| (*name).to_owned())), n_filled: 0 },
    }
}

fn named(names: impl IntoIterator<Item = String>) -> Vec<Place> {
    names.into_iter().map(Place::Name).collect()
}

fn periods(names: &[&str]) -> Option<Vec<Place>> {
    let periods: Option<Vec<Period>> = names.iter().map(|name| Period::parse(name)).collect();
    let periods = periods?;
    let is_one_type = periods.windows(2).all(|pair| pair[0].period_type() == pair[1].period_type());
    let (first, last) = (periods.iter().min()?, periods.iter().max()?);
    is_one_type.then(|| first.through(*last).take(MAX_POINTS + 1).map(Place::Period).collect())
}

fn dates(names: &[&str], days: i32) -> Option<Vec<Place>> {
    let dates: Option<Vec<Date>> = names.iter().map(|name| name.parse().ok()).collect();
    let dates = dates?;
    let (first, last) = (*dates.iter().min()?, *dates.iter().max()?);
    let all = std::iter::successors(Some(first), |date| {
        date.checked_add(days.max(1).days()).ok().filter(|date| *date <= last)
    });
    Some(named(all.take(MAX_POINTS + 1).map(|date| date.to_string())))
}

fn hours(names: &[&str], zone: &Zone) -> Option<Vec<Place>> {
    let moments: Option<Vec<i64>> = names.iter().map(|name| zone.moment_of(name)).collect();
    let moments = moments?;
    let (first, last) = (*moments.iter().min()?, *moments.iter().max()?);
    Some(named(zone.hours(first, last).take(MAX_POINTS + 1)))
}

fn ranges(names: &[&str], width: f64) -> Option<Vec<Place>> {
    let starts: Option<Vec<f64>> = names.iter().map(|name| name.parse().ok()).collect();
    let starts = starts?;
    let first = starts.iter().copied().min_by(f64::total_cmp)?;
    let last = starts.iter().copied().max_by(f64::total_cmp)?;
    let n_ranges = ((last - first) / width).round();
    if !n_ranges.is_finite() || n_ranges < 0.0 {
        return None;
    }
    let n_ranges = (n_ranges as usize).min(MAX_POINTS);
    let all = (0..=n_ranges).map(|at| {
        let start = first + at as f64 * width;
        // The name that a row has is kept: a sum of widths may differ from it in the last digit.
        let near = starts.iter().position(|known| (known - start).abs() < width / 2.0);
        near.map_or_else(|| shortest(start, width), |at| names[at].to_owned())
    });
    Some(named(all))
}

/// Writes a start without the digits that adding widths left behind.
fn shortest(start: f64, width: f64) -> String {
    let n_decimals = (6 - width.log10().floor() as i32).clamp(0, 15) as usize;
    let text = format!("{start:.n_decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(names: &[&str], step: &Step, expected: &[&str]) {
        let places: Vec<String> =
            axis(names, step).places.iter().map(ToString::to_string).collect();
        assert_eq!(places, expected);
    }

    #[test]
    fn what_no_row_falls_into_has_its_place() {
        check(&["2024-03", "2024-01"], &Step::Periods, &["2024-01", "2024-02", "2024-03"]);
        check(
            &["2024-02-28", "2024-03-01"],
            &Step::Days(1),
            &["2024-02-28", "2024-02-29", "2024-03-01"],
        );
        check(
            &["2024-01-01", "2024-01-15"],
            &Step::Days(7),
            &["2024-01-01", "2024-01-08", "2024-01-15"],
        );
        check(&["Sunday", "Monday"], &Step::Weekdays, &WEEKDAYS);
        check(&["0", "0.3", "0.1"], &Step::Width(0.1), &["0", "0.1", "0.2", "0.3"]);
        check(&["-200", "100"], &Step::Width(100.0), &["-200", "-100", "0", "100"]);
    }

    #[test]
    fn hours_are_those_of_the_zone() {
        let zone = Zone::named("Europe/Bucharest").unwrap();
        // Clocks go back: three o'clock is there twice.
        check(
            &["2023-10-29T02:00+03:00", "2023-10-29T04:00+02:00"],
            &Step::Hours(zone.clone()),
            &[
                "2023-10-29T02:00+03:00",
                "2023-10-29T03:00+03:00",
                "2023-10-29T03:00+02:00",
                "2023-10-29T04:00+02:00",
            ],
        );
        // Clocks go forward: there is none.
        check(
            &["2023-03-26T02:00+02:00", "2023-03-26T05:00+03:00"],
            &Step::Hours(zone),
            &["2023-03-26T02:00+02:00", "2023-03-26T04:00+03:00", "2023-03-26T05:00+03:00"],
        );
    }

    #[test]
    fn numbers_that_only_look_like_years_are_names() {
        check(&["1001", "5003", "2024"], &Step::Values, &["1001", "5003", "2024"]);
        check(&["2021", "2023"], &Step::Values, &["2021", "2022", "2023"]);
        check(&["UA", "B6"], &Step::Values, &["UA", "B6"]);
        check(&["2021", "UA"], &Step::Values, &["2021", "UA"]);
    }
}
