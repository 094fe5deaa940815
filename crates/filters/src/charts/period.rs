//! Years, quarters and months: `2024`, `2024-Q1`, `2024-03`.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

/// The length of a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum PeriodType {
    /// A month.
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

    /// Gives a period of this type as an example.
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

    /// Gives the year.
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
