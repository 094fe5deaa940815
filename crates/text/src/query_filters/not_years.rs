//! Numbers that look like years and are none: those of laws, products, rooms, standards and amounts.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::years::next_year;
use super::{HOLE, words};

/// Tells whether a year between these two that was not taken is a year all the same: a date, one
/// far away, one that is too early to be taken alone. The number of a law, of a product or of pages
/// is none.
pub(super) fn is_meant_as_year(head: &str, tail: &str) -> bool {
    let before = head.chars().next_back();
    let is_digit = |char: Option<char>| char.is_some_and(|char| char.is_ascii_digit());
    let is_code = |char: char| char.is_alphanumeric() || matches!(char, '_' | '#' | '$' | '€');
    // `273/2006` is the number of a law, and `2021/2022` two years.
    let is_after_slash =
        before == Some('/') && !super::years::is_year_behind(head.trim_end_matches('/'));
    !before.is_some_and(is_code)
        && !is_after_slash
        && !is_digit(tail.chars().next())
        && !counts_something(tail)
        && !is_part_of_name(head)
}

/// Products, laws and rooms have numbers that look like years.
pub(super) fn is_part_of_name(head: &str) -> bool {
    const NAMES: &[&str] = &[
        "nr",
        "nr.",
        "no",
        "no.",
        "art",
        "art.",
        "law",
        "legea",
        "lege",
        "hg",
        "oug",
        "og",
        "ordinul",
        "room",
        "model",
        "iso",
        "rfc",
        "version",
        "windows",
        "office",
        "server",
        "studio",
        "exchange",
        "sharepoint",
        "page",
        "pagina",
        "pag.",
        "euro",
        "agenda",
        "horizon",
        "number",
        "camera",
        "sala",
    ];
    let last = head.split_whitespace().next_back().unwrap_or_default().to_lowercase();
    let last_at = head.trim_end().len() - last.len().min(head.trim_end().len());
    NAMES.contains(&last.as_str()) && !joins_to_year(head, last_at..head.len())
        || STANDARD_PATTERN.is_match(head)
}

/// The number of a standard before its year: `ISO 9001 2015`, `DIN EN 1090-2 (2018)`, `ГОСТ 12.1
/// 2004`. Short names of bodies are words of some language, so that they need their capitals.
const STANDARD: &str = r"(?:^|[\s(,/])(?:(?i:iso|iec|ieee|ansi|astm|din|etsi|itu|nist|jis|gost|гост|rfc|iatf)|EN|BS|NF|UNI|UNE|SR|STAS|GB|NBR|CSA|AS|SS|PN|ČSN|STN|MIL|SAE|UL|VDE)(?:[\s/-]*(?i:iso|iec|en|std|tr|ts|t|q|z|c))*[\s-]*[A-Z]?\d[\d.–-]*\s*[(:：]?\s*$";

static STANDARD_PATTERN: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(STANDARD).expect("the pattern is constant and tested"));

/// Tells whether the number of a standard is before a year.
pub(super) fn is_of_standard(head: &str) -> bool {
    STANDARD_PATTERN.is_match(head)
}

/// Tells whether a word joins what follows to the year before it: `2021 sau 2019` is a list in Romanian,
/// where the same word is "after" in Vietnamese.
pub(super) fn joins_to_year(head: &str, word: Range<usize>) -> bool {
    let joining = head.get(word.clone()).unwrap_or_default().trim().to_lowercase();
    let rows = words::languages().flat_map(|words| [words.and, words.or]);
    let mut joints = rows.flat_map(|row| row.split('|'));
    let before = head.get(..word.start).unwrap_or_default().trim_end();
    joints.any(|joint| joint == joining)
        && (before.ends_with(HOLE) || next_year(before, before.len().saturating_sub(4)).is_some())
}

pub(super) fn counts_something(tail: &str) -> bool {
    const UNITS: &[&str] = &[
        "lei", "ron", "euro", "eur", "usd", "dollars", "m", "mm", "km", "kg", "mb", "gb", "people",
        "persons", "words", "pages", "ani", "years", "persoane", "pagini", "oameni", "rows",
        "files", "jahre", "jahren", "ans", "años", "anni", "anos", "jaar", "lat", "лет",
    ];
    const WIDE_UNITS: &[char] =
        &['円', '元', '人', '米', '个', '個', '万', '件', '頁', '원', '명', '개', '%'];
    let next = tail.split_whitespace().next().unwrap_or_default();
    let next = next.trim_end_matches([',', '.', ';', '?']).to_lowercase();
    let separated = tail.starts_with(' ');
    (separated && UNITS.contains(&next.as_str())) || tail.trim_start().starts_with(WIDE_UNITS)
}
