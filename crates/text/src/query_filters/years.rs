//! Years in digits: `2021`, `2019-2021`, "between Q3 2016 and Q1 2019".
//!
//! What is said of a query's years is understood whole, or none of them is taken: a sign, a second
//! bound or a word that bounds beside a year changes what it means.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::bounds::{self, Years, open_range};
use super::not_years::{counts_something, is_of_standard, is_part_of_name};
use super::words::bounds::PERIOD;
use super::{cut_out, relative, words};

/// The first year that is read as one where a word says that it is.
pub(super) const FIRST_YEAR: i32 = 1900;
/// The first year that is read as one when it stands alone.
const FIRST_BARE_YEAR: i32 = 1950;
/// How far ahead of the present a year may be: plans and budgets look ahead.
const N_YEARS_AHEAD: i32 = 10;

/// Takes the years out of a query; all that were said or none.
pub(super) fn take(query: &mut String, now: i32) -> Vec<i32> {
    let before = query.clone();
    let mut years = Vec::new();
    let is_spelled = relative::take(query, now, &mut years);
    let is_understood = take_numbers(query, now, &mut years)
        && !(is_spelled && next_year(query, 0).is_some())
        && (years.is_empty() || !bounds::is_left(query));
    if !is_understood {
        *query = before;
        years.clear();
    }
    years
}

/// Gives the words of a query that bound years to one side: "before 2022", "2019以降".
pub(super) fn bounds(query: &str, now: i32) -> Vec<String> {
    let (mut bounds, mut from) = (Vec::new(), 0);
    while let Some((at, year)) = next_year(query, from) {
        let head = query.get(..at).unwrap_or_default();
        let tail = query.get(at + 4..).unwrap_or_default();
        if let Some((range, Some(_))) = open_range(head, tail, at, year, now) {
            let words = query.get(range).unwrap_or_default();
            bounds.push(words.trim_matches([' ', ',', '(']).to_owned());
        }
        from = at + 4;
    }
    bounds
}

struct Patterns {
    number: Regex,
    joined: Regex,
    reaches: Regex,
    between_and: Regex,
    cue: Regex,
    unclear: Regex,
    tail: Regex,
    behind: Regex,
    date_tail: Regex,
    date_head: Regex,
    only_and: Regex,
    only_or: Regex,
    joins: Regex,
}

static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| {
    let build = |pattern: &str| Regex::new(pattern).expect("the pattern is constant and tested");
    let (to, and) = (words::all(|words| words.to), words::all(|words| words.and));
    let (until, or) = (words::all(|words| words.until), words::all(|words| words.or));
    let of_year = words::all(|words| words.of_year);
    let the = words::joints::THE_YEAR;
    let but = super::extensions::BUT;
    let signs = r"-|–|—|~|〜|～|―|->|→|…|\.{2,}";
    let (behind, months) =
        (words::all(|words| words.behind_year), words::all(|words| words.months));
    Patterns {
        number: build(r"(?:19|20)\d\d"),
        joined: build(&format!(
            r"(?i)^\s*(?:年度?|년도?)?\s*(?:{signs}|(?P<to>{to}|から|至|到|ー)|(?P<and>{and}))(?:\s+{the}(?:{PERIOD})?)?\s*$"
        )),
        // "2016 to Q2 2018", "2016 - Mar 2018", "2016 all the way to 2018".
        reaches: build(&format!(
            r"(?i)^(?:\s*(?:{signs})\s*|\s+(?:[\p{{L}}\d.]+\s+){{0,3}}?(?:{to}|{until})\s+)(?:[\p{{L}}\d.’']+[\s-]+){{0,4}}?$"
        )),
        // "between the end of 2016 and Q1 2019", "between 2016 budgets and 2019".
        between_and: build(&format!(
            r"(?i)^\s+(?:\p{{L}}+\s+)?(?:{and})\s+(?:[\p{{L}}\d.’']+[\s-]+){{0,3}}?$"
        )),
        cue: build(&format!(
            r"(?i)(?:^|[\s,(])(?:{of_year})(?:\s+(?:the\s+years?|the|year|anul|anii|anului))?\s*$"
        )),
        // A goal, or "for" in Dutch: no range.
        unclear: build(&format!(r"(?i)(?:^|[\s,(])(?:by|voor)\s+{the}(?:{PERIOD}){{0,2}}$")),
        behind: build(&format!(r"(?i)^\s*(?:{behind})")),
        tail: build(r"^\s*(?:年度|年)?(?:の間|まで|の|的|に|で)*"),
        date_tail: build(r"^(?:'s|’s|\s*年代|\s*年\s*\d{1,2}\s*月|\s*년\s*\d{1,2}\s*월)"),
        date_head: build(&format!(r"(?i)\b(?:{months})(?:\s+\d{{1,2}},?|\s+(?:de|del|of))?\s+$")),
        only_and: build(&format!(
            r"(?i)^[\s,(&]*(?:(?:{and}|{but})(?:\s+(?:{and}|{but}))?)?[\s,(&]*$"
        )),
        joins: build(&format!(r"(?i)(?:^|\s)(?:{and}|{or})\s*$")),
        only_or: build(&format!(r"(?i)^[\s,(|]*(?:{or})[\s,(|]*$")),
    }
});

/// What was said of a year, or of a range of them.
#[derive(Debug, Clone)]
enum YearTerm {
    Years(Vec<i32>),
    /// A range that is open to one side.
    Open(Years),
}

/// Takes the years in digits; tells whether what is said of them fits together.
fn take_numbers(query: &mut String, now: i32, years: &mut Vec<i32>) -> bool {
    let mut said: Vec<YearTerm> = years.iter().map(|year| YearTerm::Years(vec![*year])).collect();
    let mut from = 0;
    while let Some((at, year)) = next_year(query, from) {
        let taken = range_of_two(query, at, year, now).or_else(|| single(query, at, year, now));
        let Some((range, found)) = taken else {
            from = at + 4;
            continue;
        };
        let between = query.get(..range.start).unwrap_or_default();
        let between = between.rsplit_once(super::HOLE).map_or(between, |(_, between)| between);
        if !add(&mut said, found, between) {
            return false;
        }
        let tail = query.get(range.end..).unwrap_or_default();
        let tail_len = PATTERNS.tail.find(tail).map_or(0, |tail| tail.end());
        let end = range.end
            + if tail.get(..tail_len).is_some_and(|tail| tail.trim().is_empty()) {
                0
            } else {
                tail_len
            };
        let end = end + behind_len(query.get(end..).unwrap_or_default());
        from = range.start + super::HOLE.len_utf8();
        cut_out(query, range.start..end);
    }
    *years = said
        .into_iter()
        .flat_map(|said| match said {
            YearTerm::Years(years) => years,
            YearTerm::Open(years) => years.collect(),
        })
        .collect();
    true
}

/// Adds what is said to what was said before it; tells whether the two fit together. Two bounds are
/// the years between them, or those outside of them: "after 2016 and before 2019", "before 2016 or
/// after 2019". A bound beside a year is not understood, but for "before 2016 or 2021".
fn add(said: &mut Vec<YearTerm>, found: YearTerm, between: &str) -> bool {
    let is_or = PATTERNS.only_or.is_match(between);
    let is_and = PATTERNS.only_and.is_match(between);
    let fits = match (said.last(), &found) {
        // "during and after 2016"
        (None, YearTerm::Open(_)) => !PATTERNS.joins.is_match(between),
        (None, YearTerm::Years(_)) | (Some(YearTerm::Years(_)), YearTerm::Years(_)) => true,
        (Some(YearTerm::Open(one)), YearTerm::Open(other)) if is_and => {
            let are_opposite = (*one.start() == FIRST_YEAR) != (*other.start() == FIRST_YEAR);
            let inner = *one.start().max(other.start())..=*one.end().min(other.end());
            if are_opposite && !inner.is_empty() {
                said.pop();
                said.push(YearTerm::Years(inner.collect()));
                return said.len() == 1;
            }
            are_opposite
        }
        _ => is_or,
    };
    let has_open = |said: &[YearTerm]| said.iter().any(|said| matches!(said, YearTerm::Open(_)));
    let fits = fits && (said.len() < 2 || !has_open(said) && !matches!(found, YearTerm::Open(_)));
    said.push(found);
    fits
}

/// Counts the bytes of a word that belongs to the year before it: "2021 roku", `2021年`.
fn behind_len(tail: &str) -> usize {
    let Some(behind) = PATTERNS.behind.find(tail) else { return 0 };
    let next = tail.get(behind.end()..).and_then(|rest| rest.chars().next());
    // Part of a longer word is another word.
    if next.is_some_and(char::is_alphanumeric) { 0 } else { behind.end() }
}

/// Where years are, and what is said of them.
type Taken = (Range<usize>, YearTerm);

/// Reads a year with the next one, where both are the ends of a range or a list: "2016 to Q2 2018".
fn range_of_two(query: &str, at: usize, year: i32, now: i32) -> Option<Taken> {
    let head = query.get(..at)?;
    let last_year = now + N_YEARS_AHEAD;
    let (second_at, second) = next_year(query, at + 4)?;
    let years = FIRST_YEAR..=last_year;
    if !years.contains(&year) || !years.contains(&second) || is_of_standard(head) {
        return None;
    }
    let joint = query.get(at + 4..second_at)?;
    let is_between = bounds::is_between(head);
    let joined = PATTERNS.joined.captures(joint);
    let is_list = !is_between && joined.as_ref().is_some_and(|found| found.name("and").is_some());
    if is_list {
        // A bound or a month before the first is said of it alone.
        let is_bound = open_range(head, "", at, year, now).is_some();
        let is_date = PATTERNS.date_head.is_match(head) || PATTERNS.unclear.is_match(head);
        let start = PATTERNS.cue.find(head).map_or(at, |cue| cue.start());
        return (!is_bound && !is_date)
            .then(|| (start..second_at + 4, YearTerm::Years(vec![year, second])));
    }
    let is_range = joined.is_some()
        || PATTERNS.reaches.is_match(joint)
        || is_between && PATTERNS.between_and.is_match(joint);
    if !is_range || PATTERNS.date_head.is_match(head) || PATTERNS.date_tail.is_match(joint) {
        return None;
    }
    let (first, last) = (year.min(second), year.max(second));
    let start = bounds::start_of_range(head, at);
    Some((start..second_at + 4, YearTerm::Years((first..=last).collect())))
}

/// Reads a year that is not the first of a range.
fn single(query: &str, at: usize, year: i32, now: i32) -> Option<Taken> {
    let head = query.get(..at).unwrap_or_default();
    let tail = query.get(at + 4..).unwrap_or_default();
    let last_year = now + N_YEARS_AHEAD;
    if !(FIRST_YEAR..=last_year).contains(&year)
        || counts_something(tail)
        || is_date_or_decade(head, tail)
        || PATTERNS.unclear.is_match(head)
    {
        return None;
    }
    if let Some((range, years)) = open_range(head, tail, at, year, now) {
        return years.map(|years| (range, YearTerm::Open(years)));
    }
    let found = YearTerm::Years(vec![year]);
    if let Some(cue) = PATTERNS.cue.find(head) {
        return Some((cue.start()..at + 4, found));
    }
    let is_marked = tail.trim_start().starts_with('年');
    let stands_alone = year >= FIRST_BARE_YEAR && !is_part_of_name(head);
    (is_marked || stands_alone).then_some((at..at + 4, found))
}

/// Finds the next four digits that can be a year: no letter, digit or sign of a code beside them.
pub(super) fn next_year(query: &str, from: usize) -> Option<(usize, i32)> {
    let rest = query.get(from..)?;
    // Most queries have no year, and need none of the patterns around one.
    if !rest.contains("19") && !rest.contains("20") {
        return None;
    }
    PATTERNS.number.find_iter(rest).find_map(|found| {
        let at = from + found.start();
        let before = query.get(..at)?.chars().next_back();
        let mut after = query.get(at + 4..)?.chars();
        let next = after.next();
        let is_code = |char: char| {
            char.is_ascii_alphanumeric() || matches!(char, '_' | '/' | '#' | '$' | '€')
        };
        // A comma or a colon is part of a number only with a digit behind it, and a point also
        // of the name of a file: `budget 2021.docx`.
        let behind = after.next();
        let sign_then_digit = matches!(next, Some('.' | ',' | ':'))
            && behind.is_some_and(|char| char.is_ascii_digit())
            || next == Some('.') && behind.is_some_and(char::is_alphanumeric);
        let date_follows = next == Some('-')
            && !is_year_ahead(query.get(at + 5..)?)
            && query.get(at + 5..)?.starts_with(|char: char| char.is_ascii_digit());
        let before_joined = before == Some('-') && !is_year_behind(query.get(..at - 1)?);
        // `12.2021` is part of a date, and `9001:2015` the number of a standard.
        let decimal_before = query
            .get(..at)?
            .strip_suffix(['.', ',', ':', '：'])
            .is_some_and(|head| head.ends_with(|char: char| char.is_ascii_digit()));
        let fits = !before.is_some_and(is_code)
            && !next.is_some_and(is_code)
            && !sign_then_digit
            && !date_follows
            && !before_joined
            && !decimal_before;
        fits.then(|| Some((at, found.as_str().parse().ok()?))).flatten()
    })
}

fn is_year_ahead(text: &str) -> bool {
    PATTERNS.number.find(text).is_some_and(|found| found.start() == 0)
        && !text.get(4..).is_some_and(|rest| rest.starts_with(|char: char| char.is_ascii_digit()))
}

pub(super) fn is_year_behind(text: &str) -> bool {
    text.ends_with(super::HOLE)
        || text
            .get(text.len().saturating_sub(4)..)
            .is_some_and(|year| PATTERNS.number.is_match(year))
}

/// A whole date or a decade is what a question is about: `2009年8月`, `August 2009`, `1970's`.
fn is_date_or_decade(head: &str, tail: &str) -> bool {
    PATTERNS.date_tail.is_match(tail)
        || PATTERNS.date_head.is_match(head)
        || head.trim_end().to_lowercase().ends_with(" anii")
}
