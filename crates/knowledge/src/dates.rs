//! Dates as people and models write them: ISO 8601, whole or in part.

use jiff::civil;

use model::Timestamp;

/// Gives the first and the last millisecond of what a text names: a year, a month, a day, or a
/// moment, in UTC where it says no offset. Nothing when it is no ISO 8601.
pub(crate) fn span_of_date(text: &str) -> Option<(Timestamp, Timestamp)> {
    let text = text.trim();
    let is_date = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    if !is_date {
        return model::parse_iso(text).map(|moment| (moment, moment));
    }
    let (first, behind) = match text.len() {
        10 => {
            let date: civil::Date = text.parse().ok()?;
            (date, date.tomorrow().ok()?)
        }
        7 => {
            let date: civil::Date = format!("{text}-01").parse().ok()?;
            (date, date.last_of_month().tomorrow().ok()?)
        }
        4 => {
            let date: civil::Date = format!("{text}-01-01").parse().ok()?;
            (date, date.last_of_year().tomorrow().ok()?)
        }
        _ => return None,
    };
    let start_of = |date: civil::Date| model::in_utc(date.at(0, 0, 0, 0));
    Some((start_of(first), Timestamp(start_of(behind).millis() - 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_whole_and_moments_are_one() {
        let span = |text| span_of_date(text).map(|(first, last)| (first.millis(), last.millis()));
        let day = 86_400_000;
        assert_eq!(span("1970"), Some((0, 365 * day - 1)));
        assert_eq!(span("1970-02"), Some((31 * day, 59 * day - 1)));
        assert_eq!(span(" 1970-01-01 "), Some((0, day - 1)));
        for moment in [
            "1970-01-01T01:00:00Z",
            "1970-01-01T01:00",
            "1970-01-01 01:00:00.000",
            "1970-01-01T10:00:00+09:00",
        ] {
            assert_eq!(span(moment), Some((3_600_000, 3_600_000)), "{moment}");
        }
        for nonsense in ["", "-", "1970-13", "1970-02-30", "19700", "noon", "01/02/1970", "197"] {
            assert_eq!(span(nonsense), None, "{nonsense}");
        }
    }
}
