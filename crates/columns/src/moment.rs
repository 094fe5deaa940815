//! Points in time: read from what people write in files, printed as ISO 8601, cut into buckets.
//! Everything is UTC; a time without a zone is taken as UTC.

use model::Timestamp;
use serde::{Deserialize, Serialize};

use crate::written_date::{
    from_parts, three_numbers, with_month_name, with_short_year_first, with_year_first,
};

/// One day.
pub const DAY_MILLIS: i64 = 86_400_000;

/// The latest moment that is taken: the end of the year 9999 in UTC. `9999-12-31` is how many
/// systems write "no end", and the calendar library's own timestamps stop a day before it.
pub(crate) const MAX_MILLIS: i64 = 253_402_300_799_999;
/// The earliest one: the start of the year 0.
pub(crate) const MIN_MILLIS: i64 = -62_167_219_200_000;

/// What a bare number means where a timestamp is expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Epoch {
    /// Seconds since 1970.
    S,
    /// Milliseconds since 1970.
    #[default]
    Ms,
    /// Microseconds since 1970.
    Us,
    /// Nanoseconds since 1970.
    Ns,
}

impl Epoch {
    /// Gives milliseconds, where the moment can be printed.
    pub fn to_millis(self, number: f64) -> Option<i64> {
        let millis = match self {
            Epoch::S => number * 1000.0,
            Epoch::Ms => number,
            Epoch::Us => number / 1000.0,
            Epoch::Ns => number / 1_000_000.0,
        };
        in_range(millis.floor())
    }
}

/// What comes first in a date of three numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DateOrder {
    /// `31/12/2024`.
    Dmy,
    /// `12/31/2024`.
    Mdy,
    /// `20241231`, eight digits without anything between them, or `24-12-31`.
    Ymd,
}

/// The width of one bar of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "those without a sentence are what they are called")]
pub enum Bucket {
    Minute,
    Hour,
    Day,
    /// A week that starts on Monday.
    Week,
    /// A month of the calendar.
    Month,
    /// A year of the calendar.
    Year,
}

impl Bucket {
    /// Every width, narrowest first.
    pub const ALL: [Bucket; 6] =
        [Bucket::Minute, Bucket::Hour, Bucket::Day, Bucket::Week, Bucket::Month, Bucket::Year];

    /// Gives the name used in calls and answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Bucket::Minute => "minute",
            Bucket::Hour => "hour",
            Bucket::Day => "day",
            Bucket::Week => "week",
            Bucket::Month => "month",
            Bucket::Year => "year",
        }
    }

    /// Gives the number of the bucket that holds a moment; neighbours have neighbouring numbers.
    pub fn index_of(self, millis: i64) -> i64 {
        match self {
            Bucket::Minute => millis.div_euclid(60_000),
            Bucket::Hour => millis.div_euclid(3_600_000),
            Bucket::Day => millis.div_euclid(DAY_MILLIS),
            // Day 0 was a Thursday, so Monday the 29th of December 1969 starts week 0.
            Bucket::Week => (millis.div_euclid(DAY_MILLIS) + 3).div_euclid(7),
            Bucket::Month => {
                let (year, month) = year_and_month(millis);
                year * 12 + month - 1
            }
            Bucket::Year => year_and_month(millis).0,
        }
    }

    /// Gives the first millisecond of a bucket.
    pub fn start_of(self, index: i64) -> i64 {
        match self {
            Bucket::Minute => index * 60_000,
            Bucket::Hour => index * 3_600_000,
            Bucket::Day => index * DAY_MILLIS,
            Bucket::Week => (index * 7 - 3) * DAY_MILLIS,
            Bucket::Month => start_of_month(index.div_euclid(12), index.rem_euclid(12) + 1),
            Bucket::Year => start_of_month(index, 1),
        }
    }
}

/// Reads a moment like [`parse`], and dates of three numbers in the given order.
pub fn parse_ordered(text: &str, epoch: Epoch, order: Option<DateOrder>) -> Option<i64> {
    let numbered = order.and_then(|order| {
        let parts = || three_numbers(text);
        match order {
            DateOrder::Dmy => {
                parts().and_then(|(day, month, year, rest)| from_parts(year, month, day, rest))
            }
            DateOrder::Mdy => {
                parts().and_then(|(month, day, year, rest)| from_parts(year, month, day, rest))
            }
            DateOrder::Ymd => {
                from_eight_digits(text.trim()).or_else(|| with_short_year_first(text))
            }
        }
    });
    let is_other_number = order == Some(DateOrder::Ymd) && text.trim().parse::<f64>().is_ok();
    numbered.or_else(|| if is_other_number { None } else { parse(text, epoch) })
}

/// Reads `20241231`.
fn from_eight_digits(text: &str) -> Option<i64> {
    let is_eight = text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_digit());
    let number: u32 = text.parse().ok().filter(|_| is_eight)?;
    let (month, day) = ((number / 100 % 100) as i8, (number % 100) as i8);
    from_parts((number / 10_000) as i16, month, day, "")
}

/// Reads a moment as people write it: RFC 3339, a date with the name of its month, a date with or without a time, `T` or a space
/// between them, `/`, `.` or `-` in the date, or a bare number in the given unit.
pub fn parse(text: &str, epoch: Epoch) -> Option<i64> {
    let text = text.trim();
    let is_short = text.len() < 8;
    let is_numeric = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'.' | b'+'));
    if (is_short || is_numeric)
        && let Ok(number) = text.parse::<f64>()
    {
        return number.is_finite().then(|| epoch.to_millis(number)).flatten();
    }
    let separator = ['/', '.'].into_iter().find(|separator| {
        let at = |place: usize| text.as_bytes().get(place) == Some(&(*separator as u8));
        at(4) && (*separator == '/' || at(7))
    });
    let owned;
    let text = match separator.filter(|_| text.len() >= 10) {
        Some(separator) => {
            owned = text.replacen(separator, "-", 2);
            owned.as_str()
        }
        None => text,
    };
    match model::parse_iso(text) {
        Some(moment) => checked(moment.millis()),
        None => with_year_first(text).or_else(|| with_month_name(text)),
    }
}

/// Tells whether the text of a moment has no time of day: it is a date, not a number of seconds.
pub(crate) fn is_date(text: &str) -> bool {
    let text = text.trim();
    // `2024-01-31T10` has an hour alone; in `Oct 31 2024` no digit is behind a T.
    let has_hour =
        text.as_bytes().windows(2).any(|pair| pair[0] == b'T' && pair[1].is_ascii_digit());
    !text.contains(':') && !has_hour && text.parse::<f64>().is_err()
}

/// Takes milliseconds that can be printed with four digits of a year.
pub(crate) fn checked(millis: i64) -> Option<i64> {
    (MIN_MILLIS..=MAX_MILLIS).contains(&millis).then_some(millis)
}

/// Prints a moment of a table, whose cells always have milliseconds.
pub fn to_iso(millis: i64) -> String {
    model::iso_millis(Timestamp(millis.clamp(MIN_MILLIS, MAX_MILLIS)))
}

pub(crate) fn in_range(millis: f64) -> Option<i64> {
    (millis >= MIN_MILLIS as f64 && millis <= MAX_MILLIS as f64).then_some(millis as i64)
}

fn year_and_month(millis: i64) -> (i64, i64) {
    let day = millis.clamp(MIN_MILLIS, MAX_MILLIS).div_euclid(DAY_MILLIS);
    let (year, month, _) = model::date_of_day(day);
    (year, i64::from(month))
}

fn start_of_month(year: i64, month: i64) -> i64 {
    // The month behind the last one starts where the last day ends.
    if year > 9999 {
        return MAX_MILLIS + 1;
    }
    let month = u8::try_from(month).expect("months run from 1 to 12");
    model::day_of_date(year.max(-9999), month, 1) * DAY_MILLIS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(parse(text, Epoch::Ms).map(to_iso).as_deref(), expected, "`{text}`");
    }

    #[test]
    fn the_usual_spellings_are_read() {
        check("2013-01-01T10:00:00Z", Some("2013-01-01T10:00:00.000Z"));
        check("2013-01-01T10:00:00+02:00", Some("2013-01-01T08:00:00.000Z"));
        check("2013-01-01 10:00:00", Some("2013-01-01T10:00:00.000Z"));
        check("2013-01-01T10:00:00.25", Some("2013-01-01T10:00:00.250Z"));
        check("2013-01-01", Some("2013-01-01T00:00:00.000Z"));
        check("2013/01/02", Some("2013-01-02T00:00:00.000Z"));
        check("2013.01.02", Some("2013-01-02T00:00:00.000Z"));
        check("2013.01.02 12:30:15.5", Some("2013-01-02T12:30:15.500Z"));
        check("2013.1234.56", None);
        check("0", Some("1970-01-01T00:00:00.000Z"));
        check("1700000000000", Some("2023-11-14T22:13:20.000Z"));
        check("-1", Some("1969-12-31T23:59:59.999Z"));
        check("Jun 12 1998", Some("1998-06-12T00:00:00.000Z"));
        check("12 June 1998", Some("1998-06-12T00:00:00.000Z"));
        check("Sept. 1, 2020 8:30", Some("2020-09-01T08:30:00.000Z"));
        check("Jun 31 1998", None);
        check("03/04/2024", None);
        check("", None);
        check("yesterday", None);
        check("2013-13-01", None);
        check("1e300", None);
        check("NaN", None);
        check("9999-12-31", Some("9999-12-31T00:00:00.000Z"));
        check("9999/12/31", Some("9999-12-31T00:00:00.000Z"));
        check("31 December 9999", Some("9999-12-31T00:00:00.000Z"));
        check("9999-12-31T23:59:59.999Z", Some("9999-12-31T23:59:59.999Z"));
        check("9999-12-31T23:59:59+02:00", Some("9999-12-31T21:59:59.000Z"));
        check("9999-12-31T23:59:59-02:00", None);
        check("0000-01-01", Some("0000-01-01T00:00:00.000Z"));
        check("-000043-03-15", None);
    }

    #[test]
    fn dates_of_three_numbers_follow_their_order() {
        let read = |text, order| parse_ordered(text, Epoch::Ms, order).map(to_iso);
        let dmy = read("03/04/2024", Some(DateOrder::Dmy));
        assert_eq!(dmy.as_deref(), Some("2024-04-03T00:00:00.000Z"));
        let mdy = read("03/04/2024 9:05", Some(DateOrder::Mdy));
        assert_eq!(mdy.as_deref(), Some("2024-03-04T09:05:00.000Z"));
        assert_eq!(read("13/13/2024", Some(DateOrder::Mdy)), None);
        let ymd = read("20240229", Some(DateOrder::Ymd));
        assert_eq!(ymd.as_deref(), Some("2024-02-29T00:00:00.000Z"));
        assert_eq!(read("20230229", Some(DateOrder::Ymd)), None);
        assert_eq!(read("5", Some(DateOrder::Ymd)), None);
        assert_eq!(
            read("2024-02-29", Some(DateOrder::Dmy)).as_deref(),
            Some("2024-02-29T00:00:00.000Z")
        );
    }

    #[test]
    fn bare_numbers_follow_their_unit() {
        assert_eq!(parse("1700000000", Epoch::S), Some(1_700_000_000_000));
        assert_eq!(parse("1700000000000000", Epoch::Us), Some(1_700_000_000_000));
    }

    #[test]
    fn buckets_start_where_they_hold() {
        for bucket in Bucket::ALL {
            for millis in [-1, 0, 1, 951_782_400_000, 1_700_000_000_000, MIN_MILLIS, MAX_MILLIS] {
                let index = bucket.index_of(millis);
                assert!(bucket.start_of(index) <= millis, "{bucket:?} {millis}");
                assert!(
                    index == bucket.index_of(MAX_MILLIS) || bucket.start_of(index + 1) > millis
                );
            }
        }
        assert_eq!(
            to_iso(Bucket::Week.start_of(Bucket::Week.index_of(1_700_000_000_000))),
            "2023-11-13T00:00:00.000Z"
        );
    }
}
