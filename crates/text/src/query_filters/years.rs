//! Years: `2021`, `2019-2021`, "since 2019", "last year", `令和3年`, `过去三年`.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::lazy::{LazyPattern, folded};
use super::not_years::{counts_something, is_of_standard, is_part_of_name, joins_to_year};
use super::{cut_out, words};
use crate::written_years;

/// The first year that is read as one where a word says that it is.
const FIRST_YEAR: i32 = 1900;
/// The first year that is read as one when it stands alone.
const FIRST_BARE_YEAR: i32 = 1950;
/// How far ahead of the present a year may be: plans and budgets look ahead.
const N_YEARS_AHEAD: i32 = 10;
/// The longest range that is spelled out.
const MAX_RANGE_YEARS: i32 = 200;

/// Takes the years out of a query.
pub(super) fn take(query: &mut String, now: i32) -> Vec<i32> {
    let mut years = Vec::new();
    take_relative(query, now, &mut years);
    take_eras(query, now, &mut years);
    take_numbers(query, now, &mut years);
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

/// What a pattern of words means, given the present year and the number it holds.
type Interpretation = fn(i32, i32) -> Range<i32>;

/// Chooses words of a language.
type WordsOf = fn(&words::Words) -> &'static str;

/// What a pattern has in the place of `N`: a number in digits or words.
static NUMBER: LazyLock<String> = LazyLock::new(|| {
    let mut names: Vec<&str> =
        words::languages().flat_map(|words| words.numbers).map(|(name, _)| *name).collect();
    names.sort_unstable_by_key(|name| (std::cmp::Reverse(name.len()), *name));
    format!(r"(\d{{1,2}}|{}|[一二两三四五六七八九十]{{1,2}})", names.join("|"))
});

static RELATIVE: LazyLock<Vec<(LazyPattern, Interpretation)>> = LazyLock::new(|| {
    let lead = r"(?:\b(?:from|in|of|during|over|since|for)\s+)?(?:\bthe\s+)?";
    let lead_ro = r"(?:\b(?:din|de|pentru|pe)\s+)?(?:\b[iî]n\s+)?";
    let build = LazyPattern::new;
    let mut patterns: Vec<(LazyPattern, Interpretation)> = Vec::new();
    let rows: [(WordsOf, Interpretation); 4] = [
        (|words| words.last_years, recent),
        (|words| words.last_year, |now, _| now - 1..now),
        (|words| words.this_year, |now, _| now..now + 1),
        (|words| words.next_year, |now, _| now + 1..now + 2),
    ];
    for (of, interpretation) in rows {
        for pattern in words::languages().map(of).filter(|pattern| !pattern.is_empty()) {
            patterns.push((build(format!(r"(?i)(?:^|\b)(?:{pattern})(?:$|\b)")), interpretation));
        }
    }
    let fixed: Vec<(LazyPattern, Interpretation)> = vec![
        (build(format!(r"(?i){lead}\b(?:last|past|previous)\s+N\s+years\b")), recent),
        (build(format!(r"(?i){lead_ro}\bultimii\s+N\s+ani\b")), recent),
        (
            build(
                r"(?:過去|直近|ここ|最近|过去|最近的?|近)N(?:カ|ヶ|か)?年(?:間|来|间)?(?:の|的|で)?"
                    .to_owned(),
            ),
            recent,
        ),
        (build(format!(r"(?i){lead}\byear before last\b")), |now, _| now - 2..now - 1),
        (build(format!(r"(?i){lead}\b(?:last|previous|past)\s+year(?:'s)?\b")), |now, _| {
            now - 1..now
        }),
        (build(format!(r"(?i){lead}\b(?:this|current)\s+year(?:'s)?\b")), |now, _| now..now + 1),
        (build(format!(r"(?i){lead}\bnext\s+year(?:'s)?\b")), |now, _| now + 1..now + 2),
        (
            build(format!(r"(?i){lead_ro}\banul(?:ui)?\s+(?:trecut|precedent|anterior)\b")),
            |now, _| now - 1..now,
        ),
        (build(format!(r"(?i){lead_ro}\bultimul(?:ui)?\s+an\b")), |now, _| now - 1..now + 1),
        (
            build(format!(r"(?i){lead_ro}\banul(?:ui)?\s+(?:acesta|[aă]sta|curent|[iî]n curs)")),
            |now, _| now..now + 1,
        ),
        (build(format!(r"(?i){lead_ro}\banul(?:ui)?\s+(?:viitor|urm[aă]tor)\b")), |now, _| {
            now + 1..now + 2
        }),
        (build(r"(?:一昨年|おととし)度?(?:の|に|で)?".to_owned()), |now, _| {
            now - 2..now - 1
        }),
        (build(r"(?:昨年|去年|上一年|上年)度?(?:の|に|で|的)?".to_owned()), |now, _| now - 1..now),
        (build(r"(?:今年|本年|当年|当年度)度?(?:の|に|で|的)?".to_owned()), |now, _| now..now + 1),
        (build(r"(?:来年|明年)度?(?:の|に|で|的)?".to_owned()), |now, _| now + 1..now + 2),
    ];
    patterns.extend(fixed);
    patterns
});

/// "The last three years" are this one and the three before it: nobody counts the months.
fn recent(now: i32, n_years: i32) -> Range<i32> {
    now - n_years..now + 1
}

fn take_relative(query: &mut String, now: i32, years: &mut Vec<i32>) {
    let folded = folded(query);
    for (pattern, meaning) in RELATIVE.iter() {
        let Some(pattern) = pattern.for_query(&folded, &NUMBER) else { continue };
        while let Some(captures) = pattern.captures(query) {
            let n_years = captures.get(1).map_or(1, |number| read_number(number.as_str()));
            let range = captures.get(0).map_or(0..0, |whole| whole.range());
            years.extend(meaning(now, n_years));
            cut_out(query, range);
        }
    }
    // The same two characters are last year in Japanese and the year before it in Chinese.
    while let Some(at) = query.find("前年") {
        let is_japanese = query.chars().any(|char| matches!(char, '\u{3041}'..='\u{30ff}'));
        years.push(if is_japanese { now - 1 } else { now - 2 });
        cut_out(query, at..at + "前年".len());
    }
}

fn read_number(word: &str) -> i32 {
    const HAN: &[(&str, i32)] = &[
        ("一", 1),
        ("二", 2),
        ("两", 2),
        ("三", 3),
        ("四", 4),
        ("五", 5),
        ("六", 6),
        ("七", 7),
        ("八", 8),
        ("九", 9),
        ("十", 10),
    ];
    let word = word.to_lowercase();
    let mut named = words::languages().flat_map(|words| words.numbers).chain(HAN);
    let named = named.find(|(name, _)| *name == word);
    word.parse().ok().or(named.map(|(_, number)| *number)).unwrap_or(1)
}

static BEHIND_ERA: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new("^年?度?(?:の|に|的)?").expect("the pattern is constant and tested")
});

fn take_eras(query: &mut String, now: i32, years: &mut Vec<i32>) {
    // A month behind it makes a date, which is what is asked about.
    let is_year = |query: &str, range: &Range<usize>, year: i32| {
        let tail = query.get(range.end..).unwrap_or_default();
        let is_date = tail.trim_start_matches(['年', ' ']).starts_with(char::is_numeric);
        !is_date && (FIRST_YEAR..=now + N_YEARS_AHEAD).contains(&year)
    };
    while let Some((range, year)) =
        written_years(query).into_iter().find(|(range, year)| is_year(query, range, *year))
    {
        let tail = query.get(range.end..).unwrap_or_default();
        let end = range.end + BEHIND_ERA.find(tail).map_or(0, |found| found.end());
        years.push(year);
        cut_out(query, range.start..end);
    }
}

struct Patterns {
    number: Regex,
    between: Regex,
    joined: Regex,
    reaches: Regex,
    cue: Regex,
    since: Regex,
    after: Regex,
    before: Regex,
    until: Regex,
    unclear: Regex,
    tail: Regex,
    behind: Regex,
    since_tail: Regex,
    after_tail: Regex,
    before_tail: Regex,
    until_tail: Regex,
    date_tail: Regex,
    date_head: Regex,
}

static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| {
    let build = |pattern: &str| Regex::new(pattern).expect("the pattern is constant and tested");
    let between = words::all(|words| words.between);
    let (to, and) = (words::all(|words| words.to), words::all(|words| words.and));
    let of_year = words::all(|words| words.of_year);
    let (since, after) = (words::all(|words| words.since), words::all(|words| words.after));
    let (before, until) = (words::all(|words| words.before), words::all(|words| words.until));
    let the = words::joints::THE_YEAR;
    // "before the year 2022", "vor dem Jahr 2022".
    let the_year = r"(?:\s+(?:(?:the|dem|das|het|el|o|il|du)\s+)?(?:years?|jahre?|jaar|anul(?:ui)?|l['’]an(?:née)?|año|ano|l['’]anno|anno|rok(?:u|iem|em)?|år(?:et)?|год(?:а|у|ом)?|року?))?";
    let head = |words: &str| format!(r"(?i)(?:^|[\s,(])(?:{words}){the_year}\s*$");
    let behind_of = |of: fn(&words::Words) -> &'static str, fixed: &str| {
        let words = words::all(of);
        format!(r"(?i)^(?:\s*(?:{words})\b|\s*(?:年度?|년도?)?\s*(?:{fixed})(?:の|的|의)?)")
    };
    let (behind, months) =
        (words::all(|words| words.behind_year), words::all(|words| words.months));
    Patterns {
        number: build(r"(?:19|20)\d\d"),
        between: build(&format!(r"(?i)(?:^|[\s,(])(?:{between})\s+{the}$")),
        joined: build(&format!(
            r"(?i)^\s*(?:年度?)?\s*(?:-|–|—|~|〜|～|―|->|→|…|\.{{2,}}|(?:{to}|{and})(?:\s+{the})?|から|至|到|ー)\s*$"
        )),
        // "2016 to Q2 2018", "2016 - Mar 2018", "2016 all the way to 2018".
        reaches: build(&format!(
            r"(?i)^(?:\s*(?:-|–|—|~|〜|～|―|->|→|…|\.{{2,}})\s*|\s+(?:\p{{L}}+\s+){{0,3}}?(?:{to}|{until})\s+)(?:[\p{{L}}\d.’']+[\s-]+){{0,2}}?((?:19|20)\d\d)(?:$|[^\p{{L}}\d])"
        )),
        cue: build(&format!(
            r"(?i)(?:^|[\s,(])(?:{of_year})(?:\s+(?:the\s+years?|the|year|anul|anii|anului))?\s*$"
        )),
        since: build(&head(&since)),
        after: build(&head(&after)),
        before: build(&head(&before)),
        until: build(&head(&until)),
        // A goal, or "for" in Dutch: no range.
        unclear: build(&head("by|voor")),
        behind: build(&format!(r"(?i)^\s*(?:{behind})")),
        tail: build(r"^\s*(?:年度|年)?(?:の間|まで|の|的|に|で)*"),
        since_tail: build(&behind_of(
            |words| words.since_behind,
            &format!(
                r"以降|以来|以后|之后|至今|から現在まで|からの|이후|부터|onwards?|[iî]ncoace|\+(?:$|[\s,.?])|{}",
                words::joints::TO_THE_PRESENT
            ),
        )),
        after_tail: build(&behind_of(|words| words.after_behind, "より後")),
        before_tail: build(&behind_of(|words| words.before_behind, "より前|未満")),
        // What is before a year may hold the year itself: more is found, and nothing is lost.
        until_tail: build(&behind_of(
            |words| words.until_behind,
            &format!(r"以前|まで|之前|이전|까지|{}", words::joints::AND_EARLIER),
        )),
        date_tail: build(r"^(?:'s|’s|\s*年代|\s*年\s*\d{1,2}\s*月|\s*년\s*\d{1,2}\s*월)"),
        date_head: build(&format!(
            r"(?i)(?:\b(?:{months})(?:\s+\d{{1,2}},?|\s+(?:de|del|of))?|\banii)\s+$"
        )),
    }
});

fn take_numbers(query: &mut String, now: i32, years: &mut Vec<i32>) {
    let mut from = 0;
    let mut last_open: Option<Years> = None;
    while let Some((at, year)) = next_year(query, from) {
        let last_year = now + N_YEARS_AHEAD;
        let head = query.get(..at).unwrap_or_default();
        let after_first = at + 4;
        let second = next_year(query, after_first).filter(|(second_at, second)| {
            let joint = query.get(after_first..*second_at).unwrap_or_default();
            PATTERNS.joined.is_match(joint) && *second > year && *second <= last_year.max(now)
        });
        let is_and = |joint: &str| {
            let joint = joint.trim().to_lowercase();
            let joint = match joint.split_once(char::is_whitespace) {
                // `e il 2023`
                Some((first, rest)) if THE.is_match(&format!("{rest} ")) => first.to_owned(),
                _ => joint,
            };
            let ands = words::languages().flat_map(|words| words.and.split('|'));
            joint == "la" || ands.into_iter().any(|and| and == joint)
        };
        let taken = match second {
            Some((second_at, second)) if year >= FIRST_YEAR && !is_of_standard(head) => {
                let joint = query.get(after_first..second_at).unwrap_or_default();
                let between = PATTERNS.between.find(head);
                let is_range = !is_and(joint) || between.is_some();
                let last = if second - year > MAX_RANGE_YEARS { year } else { second };
                let found = if is_range { (year..=last).collect() } else { vec![year, second] };
                let start =
                    between.or_else(|| PATTERNS.cue.find(head)).map_or(at, |cue| cue.start());
                last_open = None;
                Some((start..second_at + 4, found))
            }
            _ => single(query, at, year, now).map(|(range, found, open)| {
                let before = last_open.take().filter(|_| follows(query, range.start));
                let both = before.zip(open.as_ref());
                let Some((before, inner)) =
                    both.and_then(|(before, open)| Some((before.clone(), inner(&before, open)?)))
                else {
                    last_open = open;
                    return (range, found);
                };
                years.retain(|year| !before.contains(year));
                (range, inner.collect())
            }),
        };
        let Some((range, found)) = taken else {
            from = after_first;
            continue;
        };
        let tail = query.get(range.end..).unwrap_or_default();
        let tail_len = PATTERNS.tail.find(tail).map_or(0, |tail| tail.end());
        let end = range.end
            + if tail.get(..tail_len).is_some_and(|tail| tail.trim().is_empty()) {
                0
            } else {
                tail_len
            };
        let end = end + behind_len(query.get(end..).unwrap_or_default());
        years.extend(found);
        from = range.start + super::HOLE.len_utf8();
        cut_out(query, range.start..end);
    }
}

static THE: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = format!("(?i)^{}$", words::joints::THE_YEAR);
    Regex::new(&pattern).expect("the pattern is constant and tested")
});

/// Counts the bytes of a word that belongs to the year before it: "2021 roku", `2021年`.
fn behind_len(tail: &str) -> usize {
    let Some(behind) = PATTERNS.behind.find(tail) else { return 0 };
    let next = tail.get(behind.end()..).and_then(|rest| rest.chars().next());
    // Part of a longer word is another word.
    if next.is_some_and(char::is_alphanumeric) { 0 } else { behind.end() }
}

/// Tells whether what begins here follows the year that was taken before: nothing but a small word
/// is between them.
fn follows(query: &str, at: usize) -> bool {
    let between = query.get(..at).and_then(|head| head.rsplit_once(super::HOLE));
    between.is_some_and(|(_, between)| {
        let between = between.trim_matches([' ', ',', '(']).to_lowercase();
        let mut ands = words::languages().flat_map(|words| words.and.split('|'));
        between.is_empty() || ands.any(|and| and == between)
    })
}

/// Gives the years that pass a bound to each side: "after 2016 and before 2019".
fn inner(one: &Years, other: &Years) -> Option<Years> {
    let are_opposite = (*one.start() == FIRST_YEAR) != (*other.start() == FIRST_YEAR);
    let inner = *one.start().max(other.start())..=*one.end().min(other.end());
    (are_opposite && !inner.is_empty()).then_some(inner)
}

/// Gives a year, with those after it up to another one that it reaches to: "Q1 2016 to Q2 2018".
fn up_to(year: i32, tail: &str, now: i32) -> Vec<i32> {
    let last = PATTERNS.reaches.captures(tail).and_then(|found| found[1].parse().ok());
    let fits =
        |last: &i32| *last > year && *last <= (now + N_YEARS_AHEAD).min(year + MAX_RANGE_YEARS);
    (year..=last.filter(fits).unwrap_or(year)).collect()
}

/// Where a year is, the years that are meant, and those of a range that is open to one side.
type Single = (Range<usize>, Vec<i32>, Option<Years>);

/// Reads a year that is not the first of a range.
fn single(query: &str, at: usize, year: i32, now: i32) -> Option<Single> {
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
        return years.map(|years| (range, years.clone().collect(), Some(years)));
    }
    if let Some(cue) = PATTERNS.cue.find(head) {
        return Some((cue.start()..at + 4, up_to(year, tail, now), None));
    }
    let is_marked = tail.trim_start().starts_with('年');
    let stands_alone = year >= FIRST_BARE_YEAR && !is_part_of_name(head);
    (is_marked || stands_alone).then(|| (at..at + 4, up_to(year, tail, now), None))
}

/// Years from the first to the last of a range.
type Years = std::ops::RangeInclusive<i32>;

/// Reads a range that is open to one side, with the stretch of the query that says it. What ends in
/// the future is a goal and no range of documents, so that there are no years.
fn open_range(
    head: &str,
    tail: &str,
    at: usize,
    year: i32,
    now: i32,
) -> Option<(Range<usize>, Option<Years>)> {
    let (since, after) = (year..=now.max(year), year + 1..=now.max(year + 1));
    let (before, until) = (FIRST_YEAR..=year - 1, FIRST_YEAR..=year);
    let is_past = year <= now && year > FIRST_YEAR;
    let past = |years: &Years| is_past.then(|| years.clone());
    for (pattern, years) in [
        (&PATTERNS.since_tail, Some(since.clone())),
        (&PATTERNS.after_tail, Some(after.clone())),
        (&PATTERNS.before_tail, past(&before)),
        (&PATTERNS.until_tail, past(&until)),
    ] {
        if let Some(found) = pattern.find(tail) {
            let start = PATTERNS.cue.find(head).map_or(at, |cue| cue.start());
            return Some((start..at + 4 + found.end(), years));
        }
    }
    for (pattern, years) in [
        (&PATTERNS.since, Some(since)),
        (&PATTERNS.after, Some(after)),
        (&PATTERNS.before, past(&before)),
        (&PATTERNS.until, past(&until)),
    ] {
        if let Some(cue) = pattern.find(head).filter(|cue| !joins_to_year(head, cue.range())) {
            return Some((cue.start()..at + 4, years));
        }
    }
    None
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
    PATTERNS.date_tail.is_match(tail) || PATTERNS.date_head.is_match(head)
}
