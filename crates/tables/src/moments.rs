//! Points in time as calls write them: milliseconds, ISO 8601 with or without a zone, or a date
//! alone, which is the whole day.

use columns::{Value, Zone};

/// Which end of a range a date without a time is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// Its first millisecond.
    Start,
    /// Its last millisecond.
    Last,
}

/// Reads a moment. A date or a time without a zone is one of the given zone.
pub(crate) fn moment(value: &Value, zone: &Zone, end: End) -> Option<i64> {
    match value {
        Value::Integer(millis) | Value::Timestamp(millis) => Some(*millis),
        Value::Real(millis) => Some(millis.floor() as i64),
        Value::Text(text) => from_text(text.trim(), zone, end),
        Value::Null | Value::Decimal(_) | Value::Boolean(_) | Value::List(_) => None,
    }
}

fn from_text(text: &str, zone: &Zone, end: End) -> Option<i64> {
    // Eight digits are a date where they can be one, not eight hours of 1970.
    let basic = match (text.get(..4), text.get(4..6), text.get(6..)) {
        (Some(year), Some(month), Some(day)) if day.len() == 2 => format!("{year}-{month}-{day}"),
        _ => text.to_owned(),
    };
    let is_basic = text.bytes().all(|byte| byte.is_ascii_digit()) && basic != text;
    let text = if is_basic && zone.span_of_date(&basic).is_some() { &basic } else { text };
    if let Ok(millis) = text.parse::<i64>()
        && text.len() > 4
    {
        return Some(millis);
    }
    if let Some((start, last)) = zone.span_of_date(text) {
        return Some(match end {
            End::Start => start,
            End::Last => last,
        });
    }
    zone.moment_of(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, zone: &str, end: End, expected: Option<&str>) {
        let zone = Zone::named(zone).unwrap();
        let millis = moment(&Value::from(text), &zone, end);
        assert_eq!(millis.map(columns::to_iso).as_deref(), expected, "{text}");
    }

    #[test]
    fn a_date_is_its_whole_day_in_the_zone() {
        let utc = "UTC";
        check("2024-02-29", utc, End::Start, Some("2024-02-29T00:00:00.000Z"));
        check("2024-02-29", utc, End::Last, Some("2024-02-29T23:59:59.999Z"));
        let new_york = "America/New_York";
        check("2013-03-10", new_york, End::Start, Some("2013-03-10T05:00:00.000Z"));
        check("2013-03-10", new_york, End::Last, Some("2013-03-11T03:59:59.999Z"));
        check("2013-03-10T12:00", new_york, End::Last, Some("2013-03-10T16:00:00.000Z"));
        check("2013-03-10T12:00:00Z", new_york, End::Last, Some("2013-03-10T12:00:00.000Z"));
        check("2013-03", utc, End::Last, Some("2013-03-31T23:59:59.999Z"));
        check("2013", utc, End::Start, Some("2013-01-01T00:00:00.000Z"));
        check("1704067200000", utc, End::Start, Some("2024-01-01T00:00:00.000Z"));
        check("20240229", utc, End::Last, Some("2024-02-29T23:59:59.999Z"));
        check("20240230", utc, End::Start, Some("1970-01-01T05:37:20.230Z"));
        check("yesterday", utc, End::Start, None);
        check("2013-02-30", utc, End::Start, None);
    }
}
