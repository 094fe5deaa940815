//! Numbers as people write them in files: `1.234,56`, `1,234.56`, `12 %`, `€ 9,99`, `(120)`.
//!
//! A column says which mark comes before its decimals; without that only plain numbers are
//! numbers, since `1,234` is a thousand to some and a little over one to others.

use serde::{Deserialize, Serialize};

/// What comes before the decimals of a written number; the other one may separate thousands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum DecimalMark {
    /// `1,234.56`
    #[serde(rename = ".")]
    Point,
    /// `1.234,56`
    #[serde(rename = ",")]
    Comma,
}

impl DecimalMark {
    /// Gives the character.
    pub fn as_char(self) -> char {
        match self {
            DecimalMark::Point => '.',
            DecimalMark::Comma => ',',
        }
    }
}

/// A written number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Numeral {
    /// The number as a program writes it: digits, a point, a minus in front.
    pub plain: String,
    /// The sign or name that is written beside it: `%`, `€`, `USD`.
    pub unit: Option<String>,
    /// Whether thousands or decimals were marked, so that the mark mattered.
    pub is_marked: bool,
}

/// Units of money that are written in letters.
const CURRENCIES: [&str; 26] = [
    "usd", "eur", "gbp", "jpy", "cny", "chf", "ron", "lei", "pln", "czk", "huf", "sek", "nok",
    "dkk", "cad", "aud", "nzd", "inr", "brl", "mxn", "zar", "try", "krw", "bgn", "rub", "kr",
];

/// Signs that are written beside a number.
const SIGNS: [char; 10] = ['%', '€', '$', '£', '¥', '₹', '₽', '₺', '₩', '฿'];

/// Digits between two separators of thousands.
const GROUP: usize = 3;

/// Reads a number whose decimals come after `mark`.
///
/// Thousands may be separated by the other mark, a space, an apostrophe or an underscore, in
/// groups of three, or by commas as in India (`12,34,567`); a sign or a name of money or `%` may be on either side; brackets mean minus.
pub fn read_numeral(text: &str, mark: DecimalMark) -> Option<Numeral> {
    let text = text.trim();
    let (text, in_brackets) = match text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) {
        Some(inner) => (inner.trim(), true),
        None => (text, false),
    };
    let (text, is_negative) = without_minus(text);
    let (text, unit) = without_unit(text)?;
    // `-€5` and `€-5` are both written.
    let (text, is_negative) = match is_negative {
        true => (text, true),
        false => without_minus(text),
    };
    let mut parts = text.splitn(2, mark.as_char());
    let whole = parts.next()?;
    let decimals = parts.next();
    let grouped = ungrouped(whole, mark)?;
    let has_groups = grouped.len() < whole.len();
    let is_decimal = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if decimals.is_some_and(|part| !is_decimal(part)) {
        return None;
    }
    if grouped.is_empty() && decimals.is_none_or(str::is_empty) {
        return None;
    }
    let mut plain = String::with_capacity(text.len() + 2);
    if is_negative || in_brackets {
        plain.push('-');
    }
    plain.push_str(if grouped.is_empty() { "0" } else { &grouped });
    if let Some(decimals) = decimals.filter(|part| !part.is_empty()) {
        plain.push('.');
        plain.push_str(decimals);
    }
    Some(Numeral { plain, unit, is_marked: has_groups || decimals.is_some() })
}

fn without_minus(text: &str) -> (&str, bool) {
    match text.strip_prefix(['-', '\u{2212}']) {
        Some(rest) => (rest.trim_start(), true),
        None => (text.strip_prefix('+').map_or(text, str::trim_start), false),
    }
}

/// Takes a unit from the front or the back; nothing when something else is written there.
fn without_unit(text: &str) -> Option<(&str, Option<String>)> {
    let is_of_number = |char: char| char.is_ascii_digit() || "-\u{2212}+.,".contains(char);
    let start = text.find(is_of_number)?;
    let end = text.rfind(|char: char| char.is_ascii_digit() || ".,".contains(char))?;
    let end = end + text[end..].chars().next().map_or(1, char::len_utf8);
    if start >= end {
        return None;
    }
    let (front, back) = (text[..start].trim(), text[end..].trim());
    match (front, back) {
        ("", "") => Some((&text[start..end], None)),
        ("", unit) | (unit, "") if is_unit(unit) => {
            Some((&text[start..end], Some(unit.to_owned())))
        }
        _ => None,
    }
}

fn is_unit(text: &str) -> bool {
    let mut chars = text.chars();
    let is_sign =
        matches!((chars.next(), chars.next()), (Some(sign), None) if SIGNS.contains(&sign));
    is_sign
        || matches!(text, "US$" | "C$" | "A$" | "R$" | "zł" | "Kč" | "Ft")
        || CURRENCIES.contains(&text.to_ascii_lowercase().as_str())
}

/// Takes the separators of thousands out: one kind of them, before every third digit.
fn ungrouped(whole: &str, mark: DecimalMark) -> Option<String> {
    let Some(separator) = whole.chars().find(|char| !char.is_ascii_digit()) else {
        return Some(whole.to_owned());
    };
    let other = match mark {
        DecimalMark::Point => ',',
        DecimalMark::Comma => '.',
    };
    let is_separator = separator == other
        || matches!(separator, ' ' | '\u{a0}' | '\u{202f}' | '\u{2009}' | '\'' | '’' | '_');
    if !is_separator {
        return None;
    }
    if separator == ',' && is_in_lakhs(whole) {
        return Some(whole.replace(separator, ""));
    }
    let mut groups = whole.split(separator);
    let first = groups.next().filter(|first| (1..=GROUP).contains(&first.len()))?;
    let is_digits = |group: &str| group.bytes().all(|byte| byte.is_ascii_digit());
    let mut digits = is_digits(first).then(|| first.to_owned())?;
    for group in groups {
        if group.len() != GROUP || !is_digits(group) {
            return None;
        }
        digits.push_str(group);
    }
    Some(digits)
}

/// Tells whether commas are where India has them: before the last three digits, and before every
/// two in front of those.
fn is_in_lakhs(whole: &str) -> bool {
    let groups: Vec<&str> = whole.split(',').collect();
    let [first, middle @ .., last] = groups.as_slice() else { return false };
    let are_digits = groups.iter().all(|group| group.bytes().all(|byte| byte.is_ascii_digit()));
    are_digits
        && (1..=2).contains(&first.len())
        && !middle.is_empty()
        && middle.iter().all(|group| group.len() == 2)
        && last.len() == GROUP
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, point: Option<&str>, comma: Option<&str>) {
        let read = |mark| read_numeral(text, mark).map(|numeral| numeral.plain);
        assert_eq!(read(DecimalMark::Point).as_deref(), point, "`{text}` with a point");
        assert_eq!(read(DecimalMark::Comma).as_deref(), comma, "`{text}` with a comma");
    }

    #[test]
    fn both_marks_are_read() {
        check("12", Some("12"), Some("12"));
        check("-12.5", Some("-12.5"), None);
        check("1,234.56", Some("1234.56"), None);
        check("1.234,56", None, Some("1234.56"));
        check("1,234", Some("1234"), Some("1.234"));
        check("1.234", Some("1.234"), Some("1234"));
        check("1.234.567", None, Some("1234567"));
        check("1 234 567,5", None, Some("1234567.5"));
        check("1\u{202f}234,5", None, Some("1234.5"));
        check("1’234.50", Some("1234.50"), None);
        check("0,5", None, Some("0.5"));
        check(",5", None, Some("0.5"));
        check("12,34,567", Some("1234567"), None);
        check("1,00,000.50", Some("100000.50"), None);
        check("12,3,567", None, None);
    }

    #[test]
    fn money_and_shares_keep_their_unit_apart() {
        let unit = |text, mark| read_numeral(text, mark).and_then(|numeral| numeral.unit);
        assert_eq!(unit("12 %", DecimalMark::Point).as_deref(), Some("%"));
        assert_eq!(unit("$1,000.00", DecimalMark::Point).as_deref(), Some("$"));
        check("9,99 €", None, Some("9.99"));
        check("EUR 1.000", Some("1.000"), Some("1000"));
        check("-$5.00", Some("-5.00"), None);
        check("$-5.00", Some("-5.00"), None);
        check("(120)", Some("-120"), Some("-120"));
        check("\u{2212}3", Some("-3"), Some("-3"));
        check("+3", Some("3"), Some("3"));
    }

    #[test]
    fn what_is_no_number_is_none() {
        for text in [
            "",
            "-",
            ".",
            ",",
            "€",
            "12 apples",
            "abc",
            "555-1234",
            "(555) 123-4567",
            "10:30",
            "1/2",
            "2024-01-01",
            "1.2.3",
            "192.168.0.1",
            "1e5x",
            "--5",
            "5 % of",
            "1  234",
        ] {
            check(text, None, None);
        }
    }
}
