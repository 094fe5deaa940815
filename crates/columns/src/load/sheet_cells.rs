//! What the cells of a sheet hold: numbers, moments, durations and texts.

use calamine::{Data, ExcelDateTime};

use super::intern::Raw;

/// Behind the last day of the year 9999, in either count of days.
const END_OF_DAYS: f64 = 2_958_466.0;

/// Gives what is a number or a truth value of its own.
pub(super) fn number_of(cell: &Data) -> Option<Raw<'static>> {
    match cell {
        Data::Int(number) => Some(Raw::Integer(*number)),
        Data::Float(number) => Some(whole_or_real(*number)),
        Data::Bool(flag) => Some(Raw::Boolean(*flag)),
        // A duration is its seconds, as in Parquet.
        Data::DateTime(moment) if moment.is_duration() => {
            Some(whole_or_real((moment.as_f64() * 86_400_000.0).round() / 1000.0))
        }
        Data::String(_)
        | Data::DateTime(_)
        | Data::DateTimeIso(_)
        | Data::DurationIso(_)
        | Data::Error(_)
        | Data::Empty => None,
    }
}

/// Sheets know only floats; a whole one was typed as a whole number.
fn whole_or_real(number: f64) -> Raw<'static> {
    if number.fract() == 0.0 && number.abs() < 9e15 {
        Raw::Integer(number as i64)
    } else {
        Raw::Real(number)
    }
}

/// A date of a sheet as ISO 8601, a time of day and an error as the sheet shows it.
pub(super) fn text_of(cell: &Data) -> String {
    match cell {
        Data::DateTime(moment) => moment_text(moment),
        Data::DurationIso(written) => clock_text(written).unwrap_or_else(|| written.clone()),
        other @ (Data::Int(_)
        | Data::Float(_)
        | Data::String(_)
        | Data::Bool(_)
        | Data::DateTimeIso(_)
        | Data::Error(_)
        | Data::Empty) => other.to_string(),
    }
}

/// Days are counted from 1900 or from 1904, as the workbook says, and the first of them with a
/// leap day that there was not: the library knows both.
fn moment_text(moment: &ExcelDateTime) -> String {
    let days = moment.as_f64();
    if !(0.0..END_OF_DAYS).contains(&days) {
        return Data::Float(days).to_string();
    }
    let (year, month, day, hour, minute, second, milli) = moment.to_ymd_hms_milli();
    let mut time = format!("{hour:02}:{minute:02}:{second:02}");
    if milli > 0 {
        time = format!("{time}.{milli:03}");
    }
    // Day 0 is no day: the cell is a time of day, and no moment of 1899.
    if days < 1.0 {
        return time;
    }
    let date = format!("{year:04}-{month:02}-{day:02}");
    // A whole day is a date, and no time zone moves it.
    if time == "00:00:00" { date } else { format!("{date}T{time}Z") }
}

/// OpenDocument writes times of day and durations alike, `PT08H30M00S`: the sheet shows them as
/// `08:30:00`, and longer ones as `30:01:00`.
fn clock_text(written: &str) -> Option<String> {
    let mut rest = written.strip_prefix("PT")?;
    let mut part = |unit: char| -> Option<&str> {
        let (digits, behind) = rest.split_once(unit)?;
        rest = behind;
        Some(digits)
    };
    let (hours, minutes) = (part('H')?.parse::<u32>().ok()?, part('M')?.parse::<u32>().ok()?);
    let seconds = part('S')?.replace(',', ".");
    let (whole, fraction) = seconds.split_once('.').unwrap_or((&seconds, ""));
    let fraction = fraction.trim_end_matches('0');
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) {
        return None;
    }
    let point = if fraction.is_empty() { "" } else { "." };
    Some(format!("{hours:02}:{minutes:02}:{whole:0>2}{point}{fraction}"))
}

#[cfg(test)]
mod tests {
    use calamine::ExcelDateTimeType;

    use super::*;

    #[track_caller]
    fn check(days: f64, counts_from_1904: bool, expected: &str) {
        let moment = ExcelDateTime::new(days, ExcelDateTimeType::DateTime, counts_from_1904);
        assert_eq!(text_of(&Data::DateTime(moment)), expected, "{days} {counts_from_1904}");
    }

    #[test]
    fn a_time_of_day_is_no_moment_of_1899() {
        check(8.5 / 24.0, false, "08:30:00");
        check(0.0, false, "00:00:00");
        check(8.5 / 24.0, true, "08:30:00");
    }

    #[test]
    fn days_are_counted_as_the_workbook_counts() {
        check(45_292.0, false, "2024-01-01");
        check(45_292.5, false, "2024-01-01T12:00:00Z");
        check(45_292.0 + 0.123 / 86_400.0, false, "2024-01-01T00:00:00.123Z");
        check(43_830.0, true, "2024-01-01");
        check(43_830.25, true, "2024-01-01T06:00:00Z");
        // The 29th of February 1900 was none: days before it are counted from another day.
        check(1.0, false, "1900-01-01");
        check(59.0, false, "1900-02-28");
        check(61.0, false, "1900-03-01");
        check(1.0, true, "1904-01-02");
    }

    #[test]
    fn what_is_no_day_stays_a_number() {
        check(-3.5, false, "-3.5");
        check(9e9, false, "9000000000");
    }

    #[test]
    fn times_of_opendocument_are_shown_as_its_sheets_show_them() {
        for (written, expected) in [
            ("PT08H30M00S", "08:30:00"),
            ("PT30H01M00S", "30:01:00"),
            ("PT00H00M01.500S", "00:00:01.5"),
            ("PT8H3M5,25S", "08:03:05.25"),
            ("P1D", "P1D"),
            ("PT-1H00M00S", "PT-1H00M00S"),
        ] {
            assert_eq!(text_of(&Data::DurationIso(written.to_owned())), expected);
        }
    }
}
