//! Dates as people write them: `03/04/2024 2:15 PM`, `Jun 12 1998`, `Tue, 23 May 2023 10:00 +0200`.
//!
//! Nothing is guessed here: what comes first in a date of three numbers is the caller's to say.

use jiff::civil;
use jiff::tz::Offset;

use crate::moment::checked;
use crate::month_names::month_named;

/// Years of two digits from this one on are of the last century, as POSIX has it.
const FIRST_OF_LAST_CENTURY: i16 = 69;

/// Splits `03/04/2024 12:30` into its numbers and the time behind; the year comes last. It has
/// four digits, or two where slashes or points separate the numbers or all have two.
pub fn three_numbers(text: &str) -> Option<(i8, i8, i16, &str)> {
    let (date, rest) = cut_time(text);
    let separator = date.chars().find(|char| matches!(char, '/' | '.' | '-'))?;
    let mut parts = date.split(separator);
    let first: i8 = number(parts.next()?, 2)?.try_into().ok()?;
    let second: i8 = number(parts.next()?, 2)?.try_into().ok()?;
    let written_year = parts.next()?;
    let is_short = written_year.len() < 4;
    // `1-2-34` is anything.
    let is_padded = date.len() == 8;
    let year = year_of(written_year).filter(|_| !is_short || is_padded || separator != '-')?;
    let is_over = parts.next().is_none() && first > 0 && second > 0;
    is_over.then_some((first, second, year, rest))
}

/// Reads `24-12-31` and `24.12.31`, whose year comes first, with a time of day behind it.
pub(crate) fn with_short_year_first(text: &str) -> Option<i64> {
    let (date, rest) = cut_time(text);
    let separator = date.chars().find(|char| matches!(char, '-' | '.' | '/'))?;
    let parts: Vec<&str> = date.split(separator).collect();
    let [year, month, day] = parts.as_slice() else { return None };
    let are_two = parts.iter().all(|part| part.len() == 2);
    let year = year_of(year).filter(|_| are_two)?;
    from_parts(year, number(month, 2)? as i8, number(day, 2)? as i8, rest)
}

/// Reads what begins with a year of four digits: `2000.1.1`, `2024/3/5 10:30`, `2024年3月5日`, and
/// `2010-01` as the first day of the month.
pub(crate) fn with_year_first(text: &str) -> Option<i64> {
    let plain;
    let text = if text.contains(['年', '년']) {
        plain = text.replace(['年', '月', '년', '월'], "-").replace(['日', '일'], " ");
        // Of a Korean date the parts are apart.
        plain.replace("- ", "-")
    } else {
        text.to_owned()
    };
    let (date, rest) = cut_time(&text);
    let date = date.trim_end_matches('-');
    let separator = date.chars().find(|char| matches!(char, '-' | '.' | '/'))?;
    let parts: Vec<&str> = date.split(separator).collect();
    let year = number(parts.first().filter(|year| year.len() == 4)?, 4)?;
    match parts.as_slice() {
        [_, month, day] => from_parts(year, number(month, 2)? as i8, number(day, 2)? as i8, rest),
        // `2010.1` is a number.
        [_, month] if separator != '.' && month.len() == 2 && rest.is_empty() => {
            from_parts(year, number(month, 2)? as i8, 1, rest)
        }
        _ => None,
    }
}

/// Splits a date from the time behind it.
fn cut_time(text: &str) -> (&str, &str) {
    let text = text.trim();
    let cut = text.find([' ', 'T', ',']).unwrap_or(text.len());
    (&text[..cut], text[cut..].trim_start_matches([' ', 'T', ',']).trim())
}

/// Words between the parts of a date that say nothing: `5 de mayo de 2020`.
const BETWEEN_PARTS: [&str; 4] = ["de", "del", "of", "d'"];

/// Reads dates with the name of a month: `Jun 12 1998`, `12 June 1998`, `June 12, 1998 08:30`,
/// `12. Juni 1998`, with or without the day of the week before it; and `Jan 2010` as the first day
/// of the month.
pub(crate) fn with_month_name(text: &str) -> Option<i64> {
    let mut rest = text;
    let mut first = next_word(&mut rest)?;
    if is_weekday(first) {
        first = next_word(&mut rest)?;
    }
    let second = next_part(&mut rest)?;
    let Some(third) = next_part(&mut rest) else {
        return match (month_named(first), month_named(second)) {
            (Some(month), _) => from_parts(whole_year(second)?, month, 1, ""),
            (None, Some(month)) => from_parts(whole_year(first)?, month, 1, ""),
            (None, None) => None,
        };
    };
    let rest = rest.trim_start_matches([' ', ',']);
    let (month, day) = match (month_named(first), month_named(second)) {
        (Some(month), _) => (month, second),
        (None, Some(month)) => (month, first),
        (None, None) => return None,
    };
    // `2023 Jan 15`, as statisticians write it.
    if let Some(year) = whole_year(day) {
        return from_parts(year, month, third.parse().ok()?, rest);
    }
    let day = day.trim_end_matches(|char: char| char.is_ascii_alphabetic() || char == '.');
    // `Mon Jan  2 10:00:00 2023`, as C writes it: the year is behind the time.
    if third.contains(':') {
        let year = year_of(rest).filter(|_| rest.len() == 4)?;
        return from_parts(year, month, day.parse().ok()?, third);
    }
    from_parts(year_of(third)?, month, day.parse().ok()?, rest)
}

fn whole_year(text: &str) -> Option<i16> {
    year_of(text).filter(|_| text.len() == 4)
}

/// Takes the next word that says something.
fn next_part<'a>(rest: &mut &'a str) -> Option<&'a str> {
    let word = next_word(rest)?;
    if BETWEEN_PARTS.contains(&word) { next_word(rest) } else { Some(word) }
}

/// Takes the next word; what is behind it stays as it is, since a minus may begin an offset.
fn next_word<'a>(rest: &mut &'a str) -> Option<&'a str> {
    const BETWEEN: [char; 4] = [' ', ',', '-', '/'];
    let text = rest.trim_start_matches(BETWEEN);
    let (word, behind) = text.split_at(text.find(BETWEEN).unwrap_or(text.len()));
    *rest = behind;
    (!word.is_empty()).then_some(word)
}

/// Puts a date and a written time of day together; without an offset it is UTC.
pub(crate) fn from_parts(year: i16, month: i8, day: i8, time: &str) -> Option<i64> {
    let date = civil::Date::new(year, month, day).ok()?;
    let (time, offset) = time_of_day(time)?;
    let offset = offset.map_or(0, |offset| i64::from(offset.seconds()) * 1000);
    checked(model::in_utc(date.to_datetime(time)).millis() - offset)
}

/// Reads `08:30`, `8:30:15.5`, `2:15 PM`, each with `Z`, `UTC`, `GMT` or an offset behind it.
fn time_of_day(text: &str) -> Option<(civil::Time, Option<Offset>)> {
    let text = text.trim();
    if text.is_empty() {
        return Some((civil::Time::midnight(), None));
    }
    let (text, offset) = without_offset(text)?;
    let upper = text.to_ascii_uppercase();
    let (clock, half) = ["AM", "PM", "A.M.", "P.M."]
        .iter()
        .find_map(|half| Some((upper.strip_suffix(half)?.trim_end(), Some(*half))))
        .unwrap_or((upper.as_str(), None));
    let padded = if clock.find(':').unwrap_or(clock.len()) == 1 {
        format!("0{clock}")
    } else {
        clock.to_owned()
    };
    let padded = if half.is_some() && !padded.contains(':') { padded + ":00" } else { padded };
    let time: civil::Time = padded.parse().ok()?;
    let Some(half) = half else { return Some((time, offset)) };
    let is_afternoon = half.starts_with('P');
    let hour = match (time.hour(), is_afternoon) {
        (12, false) => 0,
        (12, true) => 12,
        (hour @ 1..=11, false) => hour,
        (hour @ 1..=11, true) => hour + 12,
        _ => return None,
    };
    Some((time.with().hour(hour).build().ok()?, offset))
}

fn without_offset(text: &str) -> Option<(&str, Option<Offset>)> {
    for utc in ["UTC", "GMT", "Z"] {
        if let Some(time) = text.strip_suffix(utc) {
            return Some((time.trim_end(), Some(Offset::UTC)));
        }
    }
    let Some(at) = text.rfind(['+', '-']) else { return Some((text, None)) };
    let (time, offset) = text.split_at(at);
    let sign = if offset.starts_with('-') { -1 } else { 1 };
    let digits = offset[1..].replace(':', "");
    let (hours, minutes) = match digits.len() {
        2 => (number(&digits, 2)?, 0),
        4 => (number(&digits[..2], 2)?, number(&digits[2..], 2)?),
        _ => return None,
    };
    let seconds = sign * (i32::from(hours) * 3600 + i32::from(minutes) * 60);
    Some((time.trim_end(), Some(Offset::from_seconds(seconds).ok()?)))
}

fn year_of(text: &str) -> Option<i16> {
    let year = number(text, 4)?;
    match text.len() {
        4 => Some(year),
        2 if year >= FIRST_OF_LAST_CENTURY => Some(1900 + year),
        2 => Some(2000 + year),
        _ => None,
    }
}

fn number(text: &str, max_digits: usize) -> Option<i16> {
    let is_number =
        (1..=max_digits).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

fn is_weekday(word: &str) -> bool {
    const DAYS: [&str; 7] =
        ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    let word = word.trim_end_matches('.').to_ascii_lowercase();
    word.len() >= 3 && DAYS.iter().any(|day| day.starts_with(&word))
}

#[cfg(test)]
mod tests {
    use crate::moment::{DateOrder, Epoch, parse_ordered, to_iso};

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        let read = parse_ordered(text, Epoch::Ms, Some(DateOrder::Mdy)).map(to_iso);
        assert_eq!(read.as_deref(), expected, "`{text}`");
    }

    #[test]
    fn halves_of_the_day_are_read() {
        check("03/04/2024 2:15 PM", Some("2024-03-04T14:15:00.000Z"));
        check("03/04/2024 02:15:10 am", Some("2024-03-04T02:15:10.000Z"));
        check("03/04/2024 12:00 AM", Some("2024-03-04T00:00:00.000Z"));
        check("03/04/2024 12:00PM", Some("2024-03-04T12:00:00.000Z"));
        check("3/4/2024, 9 p.m.", Some("2024-03-04T21:00:00.000Z"));
        check("03/04/2024 13:15 PM", None);
        check("Jun 12, 1998 5:00 PM", Some("1998-06-12T17:00:00.000Z"));
    }

    #[test]
    fn years_of_two_digits_are_read_between_slashes_or_points_and_beside_names() {
        check("3/4/98", Some("1998-03-04T00:00:00.000Z"));
        check("3/4/24", Some("2024-03-04T00:00:00.000Z"));
        check("12-Jun-98", Some("1998-06-12T00:00:00.000Z"));
        check("1.2.34", Some("2034-01-02T00:00:00.000Z"));
        check("05.13.10", Some("2010-05-13T00:00:00.000Z"));
        check("1-2-34", None);
    }

    #[test]
    fn dates_of_other_orders_and_languages_are_read() {
        check("2000.1.1", Some("2000-01-01T00:00:00.000Z"));
        check("2024/3/5 9:30", Some("2024-03-05T09:30:00.000Z"));
        check("2024年3月5日", Some("2024-03-05T00:00:00.000Z"));
        check("2024年12月", Some("2024-12-01T00:00:00.000Z"));
        check("2024년 3월 5일 10:00", Some("2024-03-05T10:00:00.000Z"));
        check("5 de mayo de 2020", Some("2020-05-05T00:00:00.000Z"));
        check("1. Januar 2020", Some("2020-01-01T00:00:00.000Z"));
        check("12 août 2022 08:30", Some("2022-08-12T08:30:00.000Z"));
        check("Jan 2010", Some("2010-01-01T00:00:00.000Z"));
        check("2010 Jan", Some("2010-01-01T00:00:00.000Z"));
        check("2010 Jan 15", Some("2010-01-15T00:00:00.000Z"));
        check("2010-12", Some("2010-12-01T00:00:00.000Z"));
        check("01-13-20 10:00:00", Some("2020-01-13T10:00:00.000Z"));
        let first = |text| parse_ordered(text, Epoch::Ms, Some(DateOrder::Ymd)).map(to_iso);
        assert_eq!(first("20-12-31").as_deref(), Some("2020-12-31T00:00:00.000Z"));
    }

    #[test]
    fn mail_and_c_are_read() {
        check("Tue, 23 May 2023 10:00:00 GMT", Some("2023-05-23T10:00:00.000Z"));
        check("Tue, 23 May 2023 10:00:00 +0200", Some("2023-05-23T08:00:00.000Z"));
        check("23 May 2023 10:00:00 -05:30", Some("2023-05-23T15:30:00.000Z"));
        check("Mon Jan 02 2023", Some("2023-01-02T00:00:00.000Z"));
        check("Mon Jan  2 10:00:00 2023", Some("2023-01-02T10:00:00.000Z"));
        check("Monday, 2nd January 2023", Some("2023-01-02T00:00:00.000Z"));
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in [
            "03/04",
            "1.2.3.4",
            "May 23",
            "12 apples 2023",
            "13/13/2024",
            "a/b/2024",
            "2010-13",
            "2010-1",
            "1-2-34",
        ] {
            check(text, None);
        }
    }
}
