//! Columns of moments: what comes first in dates of three numbers and where that is in doubt, and
//! which bare numbers are moments.

use columns::{DateOrder, parse_ordered, three_numbers};

use super::MIN_FITTING;
use super::codes::words_of;
use crate::config::Epoch;

/// What a draft says of years of two digits.
const TWO_DIGITS: &str = "; AMBIGUOUS: years of two digits are read as 1969 to 2068";

/// What a column of dates of three numbers may be.
pub(super) enum Order {
    /// So it is read, with what cannot be known.
    Known(DateOrder, String),
    /// Dates, or versions of something: a person decides.
    Unknown(&'static str),
}

/// Finds what comes first in dates of three numbers, and says what cannot be known.
pub(super) fn date_order(name: &str, texts: &[String]) -> Option<Order> {
    let fits = |order: DateOrder| {
        let n_fit = texts
            .iter()
            .filter(|text| three_numbers(text).is_some())
            .filter(|text| parse_ordered(text, Epoch::Ms, Some(order)).is_some())
            .count();
        !texts.is_empty() && n_fit as f64 >= texts.len() as f64 * MIN_FITTING
    };
    let known =
        |order, doubt: &str| Order::Known(order, format!("{doubt}{}", doubt_of_years(texts)));
    if texts.iter().any(|text| has_short_dashes(text)) {
        // The year may be on either side.
        let orders = [
            (DateOrder::Dmy, "day-month-year"),
            (DateOrder::Mdy, "month-day-year"),
            (DateOrder::Ymd, "year-month-day"),
        ];
        let fitting = orders.into_iter().filter(|(order, _)| fits(*order));
        let fitting: Vec<(DateOrder, &str)> = fitting.collect();
        let ((order, read_as), others) = fitting.split_first()?;
        if others.is_empty() {
            return Some(known(*order, ""));
        }
        let others: Vec<String> = others
            .iter()
            .map(|(order, shown)| format!("date_order = \"{}\" for {shown}", name_of(*order)))
            .collect();
        let doubt = format!("; AMBIGUOUS: read as {read_as}, set {}", others.join(" or "));
        return Some(known(*order, &doubt));
    }
    let dates: Vec<(i8, i8)> = texts
        .iter()
        .filter_map(|text| three_numbers(text))
        .map(|(first, second, _, _)| (first, second))
        .collect();
    let has_day_first = dates.iter().any(|(first, _)| *first > 12);
    let has_month_first = dates.iter().any(|(_, second)| *second > 12);
    let has_short_points = texts.iter().any(|text| has_short_points(text));
    // `1.2.34` is a version as well as a date; `13.5.10` among others whose first number is a day
    // and whose second one is a month is hardly a version, unless it is called one.
    if has_short_points && !says_moment(name) {
        let are_padded = texts.iter().all(|text| is_padded(text));
        if !fits(DateOrder::Dmy) || says_version(name) {
            return None;
        }
        if !are_padded && !has_day_first {
            return Some(Order::Unknown(MAY_BE_DATES));
        }
    }
    let (order, doubt) = match (has_day_first, has_month_first) {
        (true, true) => return None,
        (true, false) => (DateOrder::Dmy, ""),
        // Between points the day is first, or the year, which is not known to be.
        (false, true) if has_short_points => return None,
        (false, true) => (DateOrder::Mdy, ""),
        (false, false) => (
            DateOrder::Dmy,
            "; AMBIGUOUS: read as day/month/year, set date_order = \"mdy\" for month/day/year",
        ),
    };
    fits(order).then(|| known(order, doubt))
}

const MAY_BE_DATES: &str = "; AMBIGUOUS: they may be dates, which type = \"timestamp\" with \
                            date_order = \"dmy\" reads";

fn name_of(order: DateOrder) -> &'static str {
    match order {
        DateOrder::Dmy => "dmy",
        DateOrder::Mdy => "mdy",
        DateOrder::Ymd => "ymd",
    }
}

/// Tells whether the name of a column says that it holds versions: `2021.3.1` is no day then.
pub(super) fn says_version(name: &str) -> bool {
    const WORDS: [&str; 6] = ["version", "versions", "ver", "release", "ip", "section"];
    words_of(name).iter().any(|word| WORDS.contains(&word.as_str()))
}

/// Tells whether all three numbers between dashes have two digits: `01-02-20`.
fn has_short_dashes(text: &str) -> bool {
    let date = text.trim().split([' ', 'T', ',']).next().unwrap_or_default();
    let numbers: Vec<&str> = date.split('-').collect();
    let is_two = |number: &&str| number.len() == 2 && number.bytes().all(|it| it.is_ascii_digit());
    numbers.len() == 3 && numbers.iter().all(is_two)
}

/// Says that the century of dates is not known, where their years have two digits.
pub(super) fn doubt_of_years(texts: &[String]) -> &'static str {
    if texts.iter().any(|text| has_short_year(text)) { TWO_DIGITS } else { "" }
}

/// Tells whether the last number of a date has two digits: `2/23/37`, `12-Jun-98`.
fn has_short_year(text: &str) -> bool {
    let date = text.trim().split([' ', 'T', ',']).next().unwrap_or_default();
    let numbers: Vec<&str> = date.split(['/', '.', '-']).collect();
    numbers.len() == 3 && numbers[0].len() <= 2 && numbers[2].len() == 2
}

fn has_short_points(text: &str) -> bool {
    has_short_year(text) && text.contains('.') && !text.contains('/')
}

/// Tells whether day and month have two digits each.
fn is_padded(text: &str) -> bool {
    let mut numbers = text.trim().split('.');
    let is_two = |number: Option<&str>| number.is_some_and(|number| number.len() == 2);
    is_two(numbers.next()) && is_two(numbers.next())
}

/// Words of names of columns that hold moments.
const MOMENT_WORDS: [&str; 20] = [
    "date",
    "datetime",
    "day",
    "time",
    "timestamp",
    "ts",
    "epoch",
    "unixtime",
    "when",
    "created",
    "updated",
    "modified",
    "datum",
    "fecha",
    "dato",
    "tarih",
    "日付",
    "日期",
    "时间",
    "날짜",
];
/// Last words of such names: `created_at`, `paid_on`.
const LAST_WORDS: [&str; 2] = ["at", "on"];

/// How moments are written in digits alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Digits {
    /// So many units since 1970.
    Since1970(Epoch),
    /// `20241231`.
    Date,
}

/// Finds how bare numbers are moments: the name of the column says that they are, and every one of
/// them lies between 1990 and 2100. Digits alone say nothing: they may be a postal code.
pub(super) fn moments_in_digits(name: &str, texts: &[String]) -> Option<Digits> {
    if !says_moment(name) || texts.is_empty() {
        return None;
    }
    let is_ours = |millis: i64| (631_152_000_000..4_102_444_800_000).contains(&millis);
    let is_date = |text: &String| {
        parse_ordered(text, Epoch::Ms, Some(DateOrder::Ymd)).is_some_and(is_ours)
            && text.trim().len() == 8
    };
    if texts.iter().all(is_date) {
        return Some(Digits::Date);
    }
    let numbers: Option<Vec<f64>> = texts.iter().map(|text| text.trim().parse().ok()).collect();
    let numbers = numbers?;
    [Epoch::S, Epoch::Ms, Epoch::Us, Epoch::Ns]
        .into_iter()
        .find(|epoch| numbers.iter().all(|number| epoch.to_millis(*number).is_some_and(is_ours)))
        .map(Digits::Since1970)
}

/// Tells whether the name of a column says that it holds moments.
fn says_moment(name: &str) -> bool {
    let words = words_of(name);
    let is_last = |word: &String| LAST_WORDS.contains(&word.as_str());
    words.iter().any(|word| MOMENT_WORDS.contains(&word.as_str()))
        || (words.len() > 1 && words.last().is_some_and(is_last))
}
