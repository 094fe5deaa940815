//! Ranges of years that are open to one side: "since 2019", "before Q3 2016", `>= 2016`, `2020年以降`;
//! and what is left beside years that says that they were not understood ([`is_left`]).

use std::ops::{Range, RangeInclusive};
use std::sync::LazyLock;

use regex::Regex;

use super::not_years::joins_to_year;
use super::words::bounds::{
    BOUNDING, BOUNDING_AHEAD, BOUNDING_BEFORE, EARLIER, LATER, PERIOD, PRESENT, WIDE_BEFORE,
    WIDE_BEHIND,
};
use super::words::joints::{THE_YEAR, TO_THE_PRESENT};
use super::years::FIRST_YEAR;
use super::{HOLE, words};

/// Years from the first to the last of a range.
pub(super) type Years = RangeInclusive<i32>;

/// Which side of a year is meant, with the year or without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Since,
    After,
    Before,
    Until,
}

impl Side {
    /// A bound within a year holds the rest of that year.
    fn with_year(self) -> Self {
        match self {
            Side::Since | Side::After => Side::Since,
            Side::Before | Side::Until => Side::Until,
        }
    }

    /// What ends in the future is a goal and no range of documents, so that there are no years.
    fn years(self, year: i32, now: i32) -> Option<Years> {
        let is_past = year <= now && year > FIRST_YEAR;
        match self {
            Side::Since => Some(year..=now.max(year)),
            Side::After => Some(year + 1..=now.max(year + 1)),
            Side::Before => is_past.then_some(FIRST_YEAR..=year - 1),
            Side::Until => is_past.then_some(FIRST_YEAR..=year),
        }
    }
}

struct Patterns {
    /// Before a year.
    heads: [(Regex, Side); 8],
    /// Behind a year.
    tails: [(Regex, Side); 5],
    and_later: Regex,
    and_earlier: Regex,
    from_wide: Regex,
    cue: Regex,
    between: Regex,
    left: Regex,
}

fn build(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is constant and tested")
}

static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| {
    // "before the year 2022", "vor dem Jahr 2022", "since Q3 2016".
    let the_year = r"(?:\s+(?:(?:the|dem|das|het|el|o|il|du)\s+)?(?:years?|jahre?|jaar|anul(?:ui)?|l['’]an(?:née)?|année|año|ano|l['’]anno|anno|rok(?:u|iem|em)?|år(?:et)?|год(?:а|у|ом)?|року?))?";
    let head = |of: fn(&words::Words) -> &'static str| {
        let words = words::all(of);
        build(&format!(r"(?i)(?:^|[\s,(])(?:{words})(?:\s+(?P<period>{PERIOD})$|{the_year}\s*$)"))
    };
    let sign = |sign: &str| build(&format!(r"(?:^|[^<>=!~-])(?P<sign>{sign})\s*$"));
    let tail = |of: fn(&words::Words) -> &'static str, fixed: &str| {
        let words = words::all(of);
        build(&format!(r"(?i)^(?:\s*(?:{words})\b|\s*(?:年度?|년도?)?\s*(?:{fixed})(?:の|的|의)?)"))
    };
    let (and, or) = (words::all(|words| words.and), words::all(|words| words.or));
    let of_year = words::all(|words| words.of_year);
    let between = words::all(|words| words.between);
    let all_heads = [
        words::all(|words| words.since),
        words::all(|words| words.after),
        words::all(|words| words.before),
        words::all(|words| words.until),
        between.clone(),
    ];
    let all_tails = [
        words::all(|words| words.since_behind),
        words::all(|words| words.after_behind),
        words::all(|words| words.before_behind),
        words::all(|words| words.until_behind),
    ];
    // Between a bound and its year; `and` and `or` are before the bound behind a year.
    let small = format!(r"(?:{PERIOD}|{THE_YEAR}(?:(?:{of_year}|{and}|{or})\s+)?)");
    let (heads, tails) = (all_heads.join("|"), all_tails.join("|"));
    let (to, until) = (words::all(|words| words.to), words::all(|words| words.until));
    Patterns {
        heads: [
            (head(|words| words.since), Side::Since),
            (head(|words| words.after), Side::After),
            (head(|words| words.before), Side::Before),
            (head(|words| words.until), Side::Until),
            (sign(">=|=>|≥|⩾"), Side::Since),
            (sign(">"), Side::After),
            (sign("<"), Side::Before),
            (sign("<=|=<|≤|⩽"), Side::Until),
        ],
        tails: [
            (
                tail(
                    |words| words.since_behind,
                    &format!(
                        r"以降|以来|以后|之后|至今|から現在まで|からの|이후|부터|onwards?|[iî]ncoace|\+(?:$|[\s,.?){HOLE}])|{TO_THE_PRESENT}"
                    ),
                ),
                Side::Since,
            ),
            (tail(|words| words.after_behind, "より後"), Side::After),
            (tail(|words| words.before_behind, "より前|未満"), Side::Before),
            // What is before a year may hold the year itself: more is found, and nothing is lost.
            (tail(|words| words.until_behind, "以前|まで|之前|이전|까지"), Side::Until),
            (build(&format!(r"(?i)^\s+(?:{and})\s+(?:{PRESENT})\b")), Side::Since),
        ],
        and_later: build(&format!(r"(?i)^\s*[,(]?\s*(?:{and}|{or})\s+(?:{LATER})$|^\s+on$")),
        and_earlier: build(&format!(r"(?i)^\s*[,(]?\s*(?:{and}|{or})\s+(?:{EARLIER})$")),
        from_wide: build("(?:自从|自從|自|从|從)$"),
        cue: build(&format!(
            r"(?i)(?:^|[\s,(])(?:{of_year})(?:\s+(?:the\s+years?|the|year|anul|anii|anului))?\s*$"
        )),
        between: build(&format!(r"(?i)(?:^|[\s,(])(?:{between})\s+{THE_YEAR}(?:{PERIOD})?$")),
        left: build(&format!(
            r"(?i)(?:^|[\s,(])(?:(?:{heads}|{BOUNDING}|{BOUNDING_BEFORE}|{BOUNDING_AHEAD})\.?\s*{small}*|(?:{BOUNDING_AHEAD})\s+{small}*[^\s{HOLE}]+\s*{small}*){HOLE}|(?:[<>≤≥⩽⩾≠~≈±→←^]|!\s*=)\s*=*\s*{HOLE}|(?:\.\.|…|(?:^|[\s(])[–—−〜～]){HOLE}|(?:{WIDE_BEFORE})\s*{HOLE}|{HOLE}(?:\s*[<>≤≥⩽⩾≠~≈±→←^]|\s*!\s*=|\.\.|…|{WIDE_BEHIND}|[–—−〜～-])|{HOLE}[\s(]*{small}*(?:{BOUNDING}|{BOUNDING_AHEAD}|{tails})(?:$|[^\p{{L}}])|{HOLE}\s+(?:[\p{{L}}\d.]+\s+){{0,3}}?(?:{to}|{until})\s+(?:[^\s{HOLE}]+\s+){{0,4}}?{HOLE}"
        )),
    }
});

/// Where a bound, its year and what belongs to them are, and the years that are meant; none where
/// it is a goal.
pub(super) type Open = (Range<usize>, Option<Years>);

/// Reads a range that is open to one side, with the stretch of the query that says it.
pub(super) fn open_range(head: &str, tail: &str, at: usize, year: i32, now: i32) -> Option<Open> {
    let patterns = &*PATTERNS;
    let tails = patterns
        .tails
        .iter()
        .find_map(|(pattern, side)| pattern.find(tail).map(|found| (found.end(), *side)));
    if let Some((n_bytes, side)) = tails.or_else(|| and_more(tail)) {
        let start = start_of(head, at, side);
        return Some((start..at + 4 + n_bytes, side.years(year, now)));
    }
    let heads = patterns.heads.iter().filter_map(|(pattern, side)| {
        let found = pattern.captures(head)?;
        let whole = found.get(0)?.range();
        let sign = found.name("sign").map(|sign| sign.start()..whole.end);
        let side = if found.name("period").is_some() { side.with_year() } else { *side };
        (!joins_to_year(head, whole.clone())).then(|| (sign.unwrap_or(whole), side))
    });
    // "no later than" begins before "later than".
    let (range, side) = heads.min_by_key(|(range, _)| range.start)?;
    Some((range.start..at + 4, side.years(year, now)))
}

/// Finds what a range begins with when its other end is behind its year: "from", "between".
pub(super) fn start_of_range(head: &str, at: usize) -> usize {
    let patterns = &*PATTERNS;
    let between = patterns.between.find(head).or_else(|| patterns.cue.find(head));
    between.map_or_else(|| start_of(head, at, Side::Since), |found| found.start())
}

/// Tells whether a range with "and" is meant: "between 2019 and 2021".
pub(super) fn is_between(head: &str) -> bool {
    PATTERNS.between.is_match(head)
}

/// A bound on both sides of its year is one: "since 2016 onwards", `自2016年以来`, "from 2016 and later".
fn start_of(head: &str, at: usize, side: Side) -> usize {
    let patterns = &*PATTERNS;
    let same_side =
        patterns.heads.iter().filter(|(_, other)| other.with_year() == side.with_year());
    let mut same_side = same_side.filter(|(_, other)| *other == other.with_year());
    let same = same_side.find_map(|(pattern, _)| pattern.find(head));
    let found = same.or_else(|| patterns.cue.find(head)).or_else(|| patterns.between.find(head));
    let wide = || patterns.from_wide.find(head).filter(|_| side == Side::Since);
    found.or_else(wide).map_or(at, |found| found.start())
}

/// Reads "and later" and the like behind a year, up to a sign or the end: in "2016 and later than
/// that" and "2016 and before taxes" the words go on.
fn and_more(tail: &str) -> Option<(usize, Side)> {
    let end = tail.find(['.', ',', ';', ':', '?', '!', ')', HOLE]).unwrap_or(tail.len());
    let words = tail.get(..end)?.trim_end();
    let is = |pattern: &Regex| pattern.is_match(words);
    // `2016 (and later)`.
    let is_closed = words.trim_start().starts_with('(') && tail.get(end..)?.starts_with(')');
    let n_bytes = if is_closed { end + 1 } else { words.len() };
    if is(&PATTERNS.and_later) {
        Some((n_bytes, Side::Since))
    } else if is(&PATTERNS.and_earlier) {
        Some((n_bytes, Side::Until))
    } else {
        None
    }
}

/// Tells whether a sign or a word that bounds years is left beside one that was taken, so that the
/// year alone is not what was meant.
pub(super) fn is_left(rest: &str) -> bool {
    // What is cut out begins with the space before it.
    let mut spaced = String::with_capacity(rest.len());
    for char in rest.chars() {
        let touches = char == HOLE && spaced.ends_with(char::is_alphanumeric);
        spaced.extend(touches.then_some(' '));
        spaced.push(char);
    }
    PATTERNS.left.is_match(&spaced)
}
