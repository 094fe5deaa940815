//! Years, quarters and months: `2024`, `2024-Q1`, `2024-03`.

use std::fmt;

use jiff::civil::Date;
use serde::{Deserialize, Serialize, Serializer};

/// The length of a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum PeriodType {
    /// One of the calendar.
    Month,
    /// Three months.
    Quarter,
    /// Twelve months.
    Year,
}

impl PeriodType {
    /// Gives the name used in requests.
    pub fn as_str(self) -> &'static str {
        match self {
            PeriodType::Month => "MONTH",
            PeriodType::Quarter => "QUARTER",
            PeriodType::Year => "YEAR",
        }
    }

    /// Gives a period as messages show it to whoever wrote another one.
    pub fn example(self) -> &'static str {
        match self {
            PeriodType::Month => "2024-03",
            PeriodType::Quarter => "2024-Q1",
            PeriodType::Year => "2024",
        }
    }

    /// Gives the name of an axis of such periods.
    pub fn axis_name(self) -> &'static str {
        match self {
            PeriodType::Month => "Month",
            PeriodType::Quarter => "Quarter",
            PeriodType::Year => "Year",
        }
    }

    fn per_year(self) -> i32 {
        match self {
            PeriodType::Month => 12,
            PeriodType::Quarter => 4,
            PeriodType::Year => 1,
        }
    }
}

/// One year, quarter or month.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Period {
    period_type: PeriodType,
    /// Periods of this type since year 0.
    ordinal: i32,
}

impl Period {
    /// Reads `2024`, `2024-Q1` or `2024-03`; gives nothing for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let (year, rest) = match text.split_once('-') {
            Some((year, rest)) => (year, Some(rest)),
            None => (text, None),
        };
        let is_year = year.len() == 4 && year.bytes().all(|byte| byte.is_ascii_digit());
        let year: i32 = if is_year { year.parse().ok()? } else { return None };
        let (period_type, within) = match rest {
            None => (PeriodType::Year, 0),
            Some(quarter) if quarter.starts_with('Q') => {
                (PeriodType::Quarter, one_of(&quarter[1..], 1, 4)?)
            }
            Some(month) => (PeriodType::Month, one_of(month, 2, 12)?),
        };
        Some(Period { period_type, ordinal: year * period_type.per_year() + within })
    }

    /// Reads a period as callers write it: as [`Period::parse`] does, a quarter in another form
    /// (`Q1 2024`), or the first or last day of a period of this type, as an ISO 8601 date or in
    /// milliseconds. A day within a period means only a part of it, and is none.
    pub fn read(text: &str, period_type: PeriodType) -> Option<Self> {
        let text = text.trim();
        let day = || {
            let day = day(text)?;
            let of = |day: Date| Period::parse_cell(&day.to_string())?.within(period_type);
            let is_edge =
                of(day.yesterday().ok()?) != of(day) || of(day.tomorrow().ok()?) != of(day);
            if is_edge { of(day) } else { None }
        };
        Period::parse(text).or_else(|| quarter(text)).or_else(day)
    }

    /// Reads a cell of a fact table: a period, or a date, whose month is meant.
    pub(crate) fn parse_cell(cell: &str) -> Option<Self> {
        let cell = cell.trim();
        Period::parse(cell).or_else(|| {
            let mut parts = cell.splitn(3, '-');
            let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
            let has_day = day.len() >= 2 && day.as_bytes()[..2].iter().all(u8::is_ascii_digit);
            if has_day { Period::parse(&format!("{year}-{month}")) } else { None }
        })
    }

    /// Gives the length.
    pub fn period_type(self) -> PeriodType {
        self.period_type
    }

    /// Gives the year that it is or belongs to.
    pub fn year(self) -> i32 {
        self.ordinal.div_euclid(self.period_type.per_year())
    }

    /// Gives the longer period that holds this one, or nothing when it is no longer.
    pub(crate) fn within(self, period_type: PeriodType) -> Option<Self> {
        if period_type < self.period_type {
            return None;
        }
        let ratio = self.period_type.per_year() / period_type.per_year();
        Some(Period { period_type, ordinal: self.ordinal.div_euclid(ratio) })
    }

    /// Gives every period from this one to another of the same type, both included.
    pub(crate) fn through(self, end: Period) -> impl Iterator<Item = Period> {
        let period_type = self.period_type;
        (self.ordinal..=end.ordinal).map(move |ordinal| Period { period_type, ordinal })
    }

    /// Counts the periods from this one to another, both included.
    pub(crate) fn n_through(self, end: Period) -> usize {
        usize::try_from(end.ordinal - self.ordinal + 1).unwrap_or(0)
    }
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let year = self.year();
        let within = self.ordinal.rem_euclid(self.period_type.per_year()) + 1;
        match self.period_type {
            PeriodType::Year => write!(f, "{year:04}"),
            PeriodType::Quarter => write!(f, "{year:04}-Q{within}"),
            PeriodType::Month => write!(f, "{year:04}-{within:02}"),
        }
    }
}

impl Serialize for Period {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Period {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Period::parse(&text).ok_or_else(|| serde::de::Error::custom(format!("no period: `{text}`")))
    }
}

/// Reads a quarter with its parts in any order and case.
fn quarter(text: &str) -> Option<Period> {
    let plain: String = text.chars().filter(|char| char.is_ascii_alphanumeric()).collect();
    let plain = plain.to_ascii_uppercase();
    let (year, quarter) = match plain.strip_prefix('Q') {
        Some(rest) => (rest.get(1..)?, rest.get(..1)?),
        None => plain.split_once('Q')?,
    };
    Period::parse(&format!("{year}-Q{quarter}"))
}

/// Reads a date, with or without a time, or milliseconds since 1970.
fn day(text: &str) -> Option<Date> {
    if text.len() >= MIN_MILLIS_DIGITS
        && let Ok(millis) = text.parse()
    {
        let at = jiff::Timestamp::from_millisecond(millis).ok()?;
        return Some(at.to_zoned(jiff::tz::TimeZone::UTC).date());
    }
    let (date, time) = text.split_at_checked("2024-03-31".len())?;
    let is_date = time.is_empty() || time.starts_with(['T', 't', ' ']);
    if is_date { date.parse().ok() } else { None }
}

/// Fewer digits are no moment of this century in milliseconds.
const MIN_MILLIS_DIGITS: usize = 11;

/// Gives a number of exactly this many digits, from 1, counted from 0.
fn one_of(text: &str, n_digits: usize, most: i32) -> Option<i32> {
    let is_number = text.len() == n_digits && text.bytes().all(|byte| byte.is_ascii_digit());
    let number: i32 = if is_number { text.parse().ok()? } else { return None };
    (1..=most).contains(&number).then_some(number - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_read_back() {
        for text in ["2024", "2024-Q1", "2024-Q4", "2024-01", "2024-12", "0000"] {
            assert_eq!(Period::parse(text).unwrap().to_string(), text);
        }
        for text in ["", "24", "2024-13", "2024-00", "2024-Q5", "2024-q1", "2024-1", "2024-", "x"] {
            assert_eq!(Period::parse(text), None, "`{text}`");
        }
        assert_eq!(Period::parse_cell("2024-03-31T00:00:00Z").unwrap().to_string(), "2024-03");
        assert_eq!(Period::parse_cell("2024-03-xx"), None);
    }

    /// Dates were refused, although every other tool takes them.
    #[test]
    fn periods_are_read_as_callers_write_them() {
        let check = |text: &str, period_type: PeriodType, expected: Option<&str>| {
            let read = Period::read(text, period_type).map(|period| period.to_string());
            assert_eq!(read.as_deref(), expected, "{text}");
        };
        for text in
            ["2024-Q1", "2024-q1", "2024Q1", "Q1 2024", "q1-2024", "2024-03-31", "2024-01-01"]
        {
            check(text, PeriodType::Quarter, Some("2024-Q1"));
        }
        check("2024-01-01", PeriodType::Month, Some("2024-01"));
        check("2024-02-29T23:59:59Z", PeriodType::Month, Some("2024-02"));
        check("2024-12-31", PeriodType::Year, Some("2024"));
        check("1577836800000", PeriodType::Year, Some("2020"));
        // A part of a period is not the period.
        for text in ["2024-06-15", "2024-06-30", "2024-13-01", "31.12.2024", "1577836800", "Q1"] {
            check(text, PeriodType::Year, None);
        }
        check("2024-01", PeriodType::Year, Some("2024-01"));
    }

    #[test]
    fn shorter_periods_fall_into_longer_ones() {
        let month = Period::parse("2024-05").unwrap();
        assert_eq!(month.within(PeriodType::Quarter).unwrap().to_string(), "2024-Q2");
        assert_eq!(month.within(PeriodType::Year).unwrap().to_string(), "2024");
        assert_eq!(Period::parse("2024").unwrap().within(PeriodType::Month), None);
    }

    #[test]
    fn intervals_hold_both_ends() {
        let (start, end) = (Period::parse("2023-Q3").unwrap(), Period::parse("2024-Q2").unwrap());
        let all: Vec<String> = start.through(end).map(|period| period.to_string()).collect();
        assert_eq!(all, ["2023-Q3", "2023-Q4", "2024-Q1", "2024-Q2"]);
        assert_eq!(start.n_through(end), 4);
    }
}
