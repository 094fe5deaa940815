//! Calendar buckets in a time zone: which month, week or hour a moment belongs to where people
//! are, and how that bucket is called.
//!
//! Zones come from the IANA database inside the binary, so the same data gives the same buckets
//! on every machine.

use std::str::FromStr;

use jiff::tz::TimeZone;
use jiff::{Timestamp, civil};

use crate::{Bucket, DAY_MILLIS, Error, Result};

const HOUR_MILLIS: i64 = 3_600_000;

/// A time zone by its IANA name. `UTC` is the default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zone {
    name: String,
    zone: TimeZone,
}

impl Default for Zone {
    fn default() -> Self {
        Zone { name: "UTC".to_owned(), zone: TimeZone::UTC }
    }
}

impl Zone {
    /// Finds a zone by its IANA name, in any case.
    ///
    /// Fails on a name that the database does not have.
    pub fn named(name: &str) -> Result<Self> {
        let is_utc =
            ["UTC", "Z", "Etc/UTC", "GMT"].iter().any(|utc| utc.eq_ignore_ascii_case(name));
        if is_utc {
            return Ok(Zone::default());
        }
        let zone =
            TimeZone::get(name).map_err(|_| Error::UnknownZone { received: name.to_owned() })?;
        let name = zone.iana_name().unwrap_or(name).to_owned();
        Ok(Zone { name, zone })
    }

    /// Gives the IANA name, which answers state.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Gives the first and the last millisecond of the day that holds a moment.
    pub fn day_of(&self, millis: i64) -> (i64, i64) {
        let offset = self.offset_at(millis);
        let day = (millis + offset).div_euclid(DAY_MILLIS);
        (self.start_of_day(day), self.start_of_day(day + 1) - 1)
    }

    /// Gives the first millisecond of a day, counted from 1970-01-01 in this zone.
    pub fn start_of_day(&self, day: i64) -> i64 {
        let local = day * DAY_MILLIS;
        let zoned = library_date(day).and_then(|date| date.to_zoned(self.zone.clone()).ok());
        // Behind the calendar library's timestamps the last offset goes on.
        zoned.map_or_else(
            || local - self.offset_at(local),
            |zoned| zoned.timestamp().as_millisecond(),
        )
    }

    /// Gives the first and the last millisecond of a day, month or year in this zone:
    /// `2024-02-29`, `2024-02` or `2024`.
    pub fn span_of_date(&self, text: &str) -> Option<(i64, i64)> {
        let is_date = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        let (first, last): (civil::Date, civil::Date) = match (text.len(), is_date) {
            (10, true) => {
                let date = text.parse().ok()?;
                (date, date)
            }
            (7, true) => {
                let date: civil::Date = format!("{text}-01").parse().ok()?;
                (date, date.last_of_month())
            }
            (4, true) => {
                let date: civil::Date = format!("{text}-01-01").parse().ok()?;
                (date, date.last_of_year())
            }
            _ => return None,
        };
        let behind = self.start_of_day(day_number(last) + 1);
        Some((self.start_of_day(day_number(first)), behind - 1))
    }

    /// Reads a date with a time; one without an offset is of this zone.
    pub fn moment_of(&self, text: &str) -> Option<i64> {
        if let Some(moment) = model::parse_with_offset(text) {
            return Some(moment.millis());
        }
        let local: civil::DateTime = text.parse().ok()?;
        let millis = model::in_utc(local).millis();
        let zoned = local.to_zoned(self.zone.clone());
        Some(zoned.map_or_else(
            |_| millis - self.offset_at(millis),
            |zoned| zoned.timestamp().as_millisecond(),
        ))
    }

    /// Gives the first millisecond of the bucket behind one that starts at a moment.
    pub fn next_start(&self, bucket: Bucket, start: i64) -> i64 {
        let day = (start + self.offset_at(start)).div_euclid(DAY_MILLIS);
        let behind = match bucket {
            Bucket::Minute => return start + 60_000,
            // An hour may end early or late where clocks change by half of one.
            Bucket::Hour => {
                let number = |millis: i64| Calendar::Hour.number(millis, self.offset_at(millis));
                let minutes = (1..=120).map(|minutes| start + minutes * 60_000);
                let mut minutes = minutes.filter(|millis| number(*millis) > start);
                return minutes.next().unwrap_or(start + HOUR_MILLIS);
            }
            Bucket::Day => day + 1,
            Bucket::Week => day + 7,
            Bucket::Month => day_of_month(day, 1),
            Bucket::Year => day_of_month(day, 12),
        };
        self.start_of_day(behind).max(start + 1)
    }

    /// Names the hours from the one that holds a moment to the one that holds another, as buckets
    /// of hours are named.
    pub fn hours(&self, first: i64, last: i64) -> impl Iterator<Item = String> {
        let start_of = move |millis: i64| Calendar::Hour.number(millis, self.offset_at(millis));
        let starts = std::iter::successors(Some(start_of(first)), move |start| {
            Some(start_of(start + HOUR_MILLIS)).filter(|next| next > start && *next <= last)
        });
        starts.map(|start| Calendar::Hour.label(start, self))
    }

    /// Gives the milliseconds that this zone is ahead of UTC.
    pub(crate) fn offset_at(&self, millis: i64) -> i64 {
        i64::from(self.zone.to_offset(timestamp(millis)).seconds()) * 1000
    }

    /// Gives the changes of the offset between two moments: from when which offset holds. The
    /// first entry holds at `from`.
    ///
    /// At most `limit` are given; `None` when there are more.
    pub(crate) fn offsets(&self, from: i64, to: i64, limit: usize) -> Option<Vec<(i64, i64)>> {
        let mut offsets = vec![(i64::MIN, self.offset_at(from))];
        for change in self.zone.following(timestamp(from)) {
            let at = change.timestamp().as_millisecond();
            if at > to {
                break;
            }
            if offsets.len() >= limit {
                return None;
            }
            offsets.push((at, i64::from(change.offset().seconds()) * 1000));
        }
        Some(offsets)
    }
}

/// A bucket of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "those without a sentence are what they are called")]
pub enum Calendar {
    Year,
    /// A quarter of a year.
    Quarter,
    Month,
    /// A week that starts on Monday.
    Week,
    Day,
    Hour,
    /// The day of the week, Monday first, whatever the week.
    Weekday,
}

const WEEKDAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

impl Calendar {
    /// Every bucket, in the order of schemas.
    pub const ALL: [Calendar; 7] = [
        Calendar::Year,
        Calendar::Quarter,
        Calendar::Month,
        Calendar::Week,
        Calendar::Day,
        Calendar::Hour,
        Calendar::Weekday,
    ];

    /// Gives the name used in calls and answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Calendar::Year => "year",
            Calendar::Quarter => "quarter",
            Calendar::Month => "month",
            Calendar::Week => "week",
            Calendar::Day => "day",
            Calendar::Hour => "hour",
            Calendar::Weekday => "weekday",
        }
    }

    /// Gives the number of the bucket that holds a moment. Numbers ascend with time; those of
    /// weekdays are 0 to 6, those of hours are the millisecond at which the hour starts, so that
    /// the two hours of one name when clocks go back stay apart.
    pub(crate) fn number(self, millis: i64, offset: i64) -> i64 {
        let local = millis + offset;
        let day = local.div_euclid(DAY_MILLIS);
        match self {
            Calendar::Hour => local.div_euclid(HOUR_MILLIS) * HOUR_MILLIS - offset,
            Calendar::Day => day,
            // Day 0 was a Thursday.
            Calendar::Week => (day + 3).div_euclid(7) * 7 - 3,
            Calendar::Weekday => (day + 3).rem_euclid(7),
            Calendar::Year | Calendar::Quarter | Calendar::Month => {
                let (year, month, _) = model::date_of_day(day);
                let month = i64::from(month);
                match self {
                    Calendar::Year => year,
                    Calendar::Quarter => year * 4 + (month - 1) / 3,
                    Calendar::Month
                    | Calendar::Week
                    | Calendar::Day
                    | Calendar::Hour
                    | Calendar::Weekday => year * 12 + month - 1,
                }
            }
        }
    }

    /// Gives the bucket's name: `2024`, `2024-Q1`, `2024-03`, the Monday of a week, a day, an
    /// hour with its offset, or the name of a weekday.
    pub(crate) fn label(self, number: i64, zone: &Zone) -> String {
        match self {
            Calendar::Year => format!("{number:04}"),
            Calendar::Quarter => {
                format!("{:04}-Q{}", number.div_euclid(4), number.rem_euclid(4) + 1)
            }
            Calendar::Month => {
                format!("{:04}-{:02}", number.div_euclid(12), number.rem_euclid(12) + 1)
            }
            Calendar::Week | Calendar::Day => date_label(number),
            Calendar::Hour => {
                let offset = zone.offset_at(number);
                let local = number + offset;
                let date = date_label(local.div_euclid(DAY_MILLIS));
                let hour = local.rem_euclid(DAY_MILLIS) / HOUR_MILLIS;
                let minutes = local.rem_euclid(HOUR_MILLIS) / 60_000;
                format!("{date}T{hour:02}:{minutes:02}{}", offset_label(offset))
            }
            Calendar::Weekday => {
                WEEKDAYS[usize::try_from(number.rem_euclid(7)).unwrap_or_default()].to_owned()
            }
        }
    }
}

impl FromStr for Calendar {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        Calendar::ALL.into_iter().find(|bucket| bucket.as_str() == name).ok_or(())
    }
}

/// Numbers the buckets of moments in ascending order. Offsets and dates are looked up when they
/// change, not for each moment.
pub(crate) struct Numbering<'z> {
    calendar: Calendar,
    zone: &'z Zone,
    offset: i64,
    /// The offset holds before this moment.
    until: i64,
    day: i64,
    number_of_day: i64,
}

impl<'z> Numbering<'z> {
    pub(crate) fn new(calendar: Calendar, zone: &'z Zone) -> Self {
        Numbering { calendar, zone, offset: 0, until: i64::MIN, day: i64::MIN, number_of_day: 0 }
    }

    /// Takes moments in ascending order.
    pub(crate) fn next(&mut self, millis: i64) -> i64 {
        if millis >= self.until {
            self.offset = self.zone.offset_at(millis);
            self.until = self
                .zone
                .zone
                .following(timestamp(millis))
                .next()
                .map_or(i64::MAX, |change| change.timestamp().as_millisecond());
        }
        if self.calendar == Calendar::Hour {
            return self.calendar.number(millis, self.offset);
        }
        let day = (millis + self.offset).div_euclid(DAY_MILLIS);
        if day != self.day {
            self.day = day;
            self.number_of_day = self.calendar.number(millis, self.offset);
        }
        self.number_of_day
    }
}

/// The first day of the month that is so many months behind that of a day.
fn day_of_month(day: i64, n_months: i64) -> i64 {
    let (year, month, _) = model::date_of_day(day);
    let index = year * 12 + i64::from(month) - 1 + n_months;
    Bucket::Month.start_of(index).div_euclid(DAY_MILLIS)
}

/// Writes the date of a day; in a zone ahead of UTC the last one is in the year 10000.
fn date_label(day: i64) -> String {
    let (year, month, day) = model::date_of_day(day);
    format!("{year:04}-{month:02}-{day:02}")
}

/// Gives the calendar library's date of a day, where it has a year of four digits.
fn library_date(day: i64) -> Option<civil::Date> {
    let (year, month, day) = model::date_of_day(day);
    let year = i16::try_from(year).ok()?;
    civil::Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
}

/// Counts the days of one of the library's dates from 1970-01-01.
fn day_number(date: civil::Date) -> i64 {
    model::in_utc(date.at(0, 0, 0, 0)).millis().div_euclid(DAY_MILLIS)
}

/// Gives the library's timestamp, or its first or last one where a moment is beyond them.
fn timestamp(millis: i64) -> Timestamp {
    Timestamp::from_millisecond(millis).unwrap_or(if millis < 0 {
        Timestamp::MIN
    } else {
        Timestamp::MAX
    })
}

fn offset_label(offset: i64) -> String {
    if offset == 0 {
        return "Z".to_owned();
    }
    let sign = if offset < 0 { '-' } else { '+' };
    let minutes = offset.abs() / 60_000;
    format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(calendar: Calendar, zone: &str, moment: &str, expected: &str) {
        let zone = Zone::named(zone).unwrap();
        let millis = crate::parse_moment(moment, crate::Epoch::Ms).unwrap();
        let number = calendar.number(millis, zone.offset_at(millis));
        assert_eq!(calendar.label(number, &zone), expected);
    }

    #[test]
    fn buckets_are_those_of_the_zone() {
        check(Calendar::Month, "UTC", "2013-02-01T04:59:00Z", "2013-02");
        check(Calendar::Month, "America/New_York", "2013-02-01T04:59:00Z", "2013-01");
        check(Calendar::Day, "Asia/Kolkata", "2024-02-28T18:30:00Z", "2024-02-29");
        check(Calendar::Quarter, "Europe/Bucharest", "2024-03-31T21:30:00Z", "2024-Q2");
        check(Calendar::Week, "UTC", "2024-01-07T23:59:59Z", "2024-01-01");
        check(Calendar::Weekday, "UTC", "2024-01-07T23:59:59Z", "Sunday");
        check(Calendar::Year, "Pacific/Auckland", "2023-12-31T12:00:00Z", "2024");
    }

    #[test]
    fn the_hour_that_comes_twice_stays_two_hours() {
        let zone = "America/New_York";
        check(Calendar::Hour, zone, "2013-11-03T05:30:00Z", "2013-11-03T01:00-04:00");
        check(Calendar::Hour, zone, "2013-11-03T06:30:00Z", "2013-11-03T01:00-05:00");
        check(Calendar::Hour, "Asia/Kolkata", "2024-01-01T00:10:00Z", "2024-01-01T05:00+05:30");
        check(Calendar::Hour, "UTC", "2024-01-01T00:10:00Z", "2024-01-01T00:00Z");
    }

    #[test]
    fn the_last_days_of_the_year_9999_have_their_places_in_every_zone() {
        check(Calendar::Day, "UTC", "9999-12-31T23:59:59.999Z", "9999-12-31");
        check(Calendar::Month, "America/New_York", "9999-12-31T00:00:00Z", "9999-12");
        check(Calendar::Day, "Pacific/Auckland", "9999-12-31T23:00:00Z", "10000-01-01");
        check(Calendar::Hour, "America/New_York", "9999-12-31T23:30:00Z", "9999-12-31T18:00-05:00");
        let span = |zone: &str| Zone::named(zone).unwrap().span_of_date("9999-12-31").unwrap();
        assert_eq!(span("UTC"), (253_402_214_400_000, 253_402_300_799_999));
        let (first, last) = span("America/New_York");
        assert_eq!((first, last), (253_402_232_400_000, 253_402_318_799_999));
    }

    #[test]
    fn a_zone_that_does_not_exist_is_an_error() {
        assert!(matches!(Zone::named("Mars/Olympus"), Err(Error::UnknownZone { .. })));
        assert_eq!(Zone::named("europe/bucharest").unwrap().name(), "Europe/Bucharest");
    }

    proptest! {
        #[test]
        fn numbering_in_order_equals_numbering_one_by_one(
            mut moments in proptest::collection::vec(-2_000_000_000_000_i64..4_000_000_000_000, 1..60),
            zone in proptest::sample::select(vec!["UTC", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata"]),
        ) {
            moments.sort_unstable();
            let zone = Zone::named(zone).unwrap();
            for calendar in Calendar::ALL {
                let mut numbering = Numbering::new(calendar, &zone);
                for millis in &moments {
                    prop_assert_eq!(
                        numbering.next(*millis),
                        calendar.number(*millis, zone.offset_at(*millis))
                    );
                }
            }
        }

        #[test]
        fn the_next_start_is_the_first_moment_of_the_next_bucket(
            millis in 0_i64..4_000_000_000_000,
            zone in proptest::sample::select(vec!["UTC", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "America/Sao_Paulo"]),
        ) {
            let zone = Zone::named(zone).unwrap();
            let pairs = [
                (Bucket::Hour, Calendar::Hour),
                (Bucket::Day, Calendar::Day),
                (Bucket::Week, Calendar::Week),
                (Bucket::Month, Calendar::Month),
                (Bucket::Year, Calendar::Year),
            ];
            for (bucket, calendar) in pairs {
                let number = |millis: i64| calendar.number(millis, zone.offset_at(millis));
                let label = calendar.label(number(millis), &zone);
                let span = zone.span_of_date(&label).map(|(start, _)| start);
                let start = span.or_else(|| zone.moment_of(&label)).unwrap();
                let next = zone.next_start(bucket, start);
                prop_assert_eq!(number(start), number(millis));
                prop_assert!(start <= millis && millis < next, "{bucket:?} {label}");
                prop_assert_ne!(number(next), number(millis));
                prop_assert_eq!(number(next - 1), number(millis));
            }
        }

        #[test]
        fn months_and_days_are_those_of_the_calendar_library(
            millis in -60_000_000_000_000_i64..250_000_000_000_000,
            zone in proptest::sample::select(vec!["UTC", "America/New_York", "Asia/Kolkata"]),
        ) {
            let zone = Zone::named(zone).unwrap();
            let zoned = Timestamp::from_millisecond(millis).unwrap().to_zoned(zone.zone.clone());
            let label = |calendar: Calendar| {
                calendar.label(calendar.number(millis, zone.offset_at(millis)), &zone)
            };
            prop_assert_eq!(label(Calendar::Day), zoned.date().to_string());
            prop_assert_eq!(label(Calendar::Month), zoned.date().to_string()[..7].to_owned());
            prop_assert_eq!(
                label(Calendar::Weekday),
                WEEKDAYS[zoned.weekday().to_monday_zero_offset() as usize]
            );
        }
    }
}
