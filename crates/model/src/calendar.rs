//! The calendar that every crate counts days in, and moments as ISO 8601 writes them.
//!
//! Days are counted from 1970-01-01 in the Gregorian calendar, also before it was introduced, for
//! every year that an `i64` of days can name: the calendar library ends with the year 9999, and a
//! day of a time zone may be the first of the year 10000.

use jiff::civil;
use jiff::fmt::temporal::Pieces;

use crate::Timestamp;

/// One day.
const DAY_MILLIS: i64 = 86_400_000;

/// Days from 0000-03-01, where the years of this arithmetic begin so that leap days come last.
const EPOCH: i64 = 719_468;
/// Days of 400 years, after which the calendar repeats.
const ERA_DAYS: i64 = 146_097;

/// Counts the days of a date from 1970-01-01 (Hinnant's `days_from_civil`).
///
/// ```
/// assert_eq!(model::day_of_date(2024, 2, 29), 19_782);
/// assert_eq!(model::date_of_day(19_782), (2024, 2, 29));
/// ```
#[inline]
pub fn day_of_date(year: i64, month: u8, day: u8) -> i64 {
    let month = i64::from(month);
    let year = year - i64::from(month <= 2);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + i64::from(day) - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    year.div_euclid(400) * ERA_DAYS + day_of_era - EPOCH
}

/// Gives year, month and day of a day counted from 1970-01-01 (Hinnant's `civil_from_days`).
#[inline]
pub fn date_of_day(day: i64) -> (i64, u8, u8) {
    let day = day + EPOCH;
    let day_of_era = day.rem_euclid(ERA_DAYS);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_idx = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * month_idx + 2) / 5 + 1;
    let month = if month_idx < 10 { month_idx + 3 } else { month_idx - 9 };
    let year = year_of_era + day.div_euclid(ERA_DAYS) * 400 + i64::from(month <= 2);
    (year, month as u8, day_of_month as u8)
}

/// Reads a moment of ISO 8601: with an offset, or in UTC where it has none; a date alone is its
/// first millisecond.
///
/// Moments of the last day of the year 9999, which are beyond the calendar library's timestamps,
/// are read too. With an offset they may be in the year 10000 in UTC: whoever prints four digits
/// of a year has to look.
pub fn parse_iso(text: &str) -> Option<Timestamp> {
    parse_with_offset(text).or_else(|| Some(in_utc(text.parse().ok()?)))
}

/// Reads a date and time of ISO 8601 that says its offset; nothing where it says none.
pub fn parse_with_offset(text: &str) -> Option<Timestamp> {
    if let Ok(moment) = text.parse::<jiff::Timestamp>() {
        return Some(Timestamp(moment.as_millisecond()));
    }
    let pieces = Pieces::parse(text).ok()?;
    let offset = i64::from(pieces.to_numeric_offset()?.seconds()) * 1000;
    let local = in_utc(pieces.date().to_datetime(pieces.time()?));
    Some(Timestamp(local.millis() - offset))
}

/// Gives the moment of a date and time that are in UTC.
pub fn in_utc(local: civil::DateTime) -> Timestamp {
    let (date, time) = (local.date(), local.time());
    let seconds =
        i64::from(time.hour()) * 3600 + i64::from(time.minute()) * 60 + i64::from(time.second());
    // The library's months and days are from 1 to 12 and 31.
    let day = day_of_date(i64::from(date.year()), date.month() as u8, date.day() as u8);
    Timestamp(day * DAY_MILLIS + seconds * 1000 + i64::from(time.millisecond()))
}

/// Writes a moment as ISO 8601 in UTC with milliseconds, also where they are zero, so that all
/// moments of a column are as long as one another.
pub fn iso_millis(at: Timestamp) -> String {
    let (year, month, day) = date_of_day(at.millis().div_euclid(DAY_MILLIS));
    let in_day = at.millis().rem_euclid(DAY_MILLIS);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:03}Z",
        in_day / 3_600_000,
        in_day / 60_000 % 60,
        in_day / 1000 % 60,
        in_day % 1000
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The calendar library is the naive model, wherever it has a date.
    #[test]
    fn days_and_dates_are_those_of_the_calendar_library() {
        let epoch = civil::date(1970, 1, 1);
        for day in (-1_000_000..2_900_000).step_by(97).chain(-800..800) {
            let Ok(date) = epoch.checked_add(jiff::Span::new().days(day)) else { continue };
            let parts = (i64::from(date.year()), date.month() as u8, date.day() as u8);
            assert_eq!(date_of_day(day), parts, "{day}");
            assert_eq!(day_of_date(parts.0, parts.1, parts.2), day);
        }
        assert_eq!(date_of_day(day_of_date(9999, 12, 31) + 1), (10_000, 1, 1));
    }

    #[test]
    fn moments_are_read_and_written() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(parse_iso(text).map(iso_millis).as_deref(), expected, "{text}");
        };
        check("1970-01-01T01:00:00Z", Some("1970-01-01T01:00:00.000Z"));
        check("1970-01-01T10:00:00.25+09:00", Some("1970-01-01T01:00:00.250Z"));
        check("2013-01-01 10:00", Some("2013-01-01T10:00:00.000Z"));
        check("2013-01-01", Some("2013-01-01T00:00:00.000Z"));
        check("9999-12-31T23:59:59.999Z", Some("9999-12-31T23:59:59.999Z"));
        check("0000-01-01", Some("0000-01-01T00:00:00.000Z"));
        check("2013-13-01", None);
        check("noon", None);
        assert!(parse_with_offset("2013-01-01T10:00").is_none());
    }
}
