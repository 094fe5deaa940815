//! Years that are said without their number: "last year", "the last three years", `令和3年`.
//!
//! What means one year becomes that year in digits, so that "since last year" is read as "since
//! 2022" is; what means several is taken as they are.

use std::ops::Range;
use std::sync::LazyLock;

use super::lazy::{LazyPattern, folded};
use super::years::FIRST_YEAR;
use super::{cut_out, words};
use crate::written_years;

/// Years from here on are not read as digits either.
const LAST_YEAR: i32 = 2100;

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
    // "since last year" goes on to the present.
    let lead_year = r"(?:\b(?:from|in|of|during|over|for)\s+)?(?:\bthe\s+)?";
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
        (build(format!(r"(?i){lead_year}\byear before last\b")), |now, _| now - 2..now - 1),
        (build(format!(r"(?i){lead_year}\b(?:last|previous|past)\s+year(?:'s)?\b")), |now, _| {
            now - 1..now
        }),
        (build(format!(r"(?i){lead_year}\b(?:this|current)\s+year(?:'s)?\b")), |now, _| now..now + 1),
        (build(format!(r"(?i){lead_year}\bnext\s+year(?:'s)?\b")), |now, _| now + 1..now + 2),
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
        (build(r"(?:一昨年|おととし)度?".to_owned()), |now, _| {
            now - 2..now - 1
        }),
        (build(r"(?:昨年|去年|上一年|上年)度?".to_owned()), |now, _| now - 1..now),
        (build(r"(?:今年|本年|当年|当年度)度?".to_owned()), |now, _| now..now + 1),
        (build(r"(?:来年|明年)度?".to_owned()), |now, _| now + 1..now + 2),
    ];
    patterns.extend(fixed);
    patterns
});

/// "The last three years" are this one and the three before it: nobody counts the months.
fn recent(now: i32, n_years: i32) -> Range<i32> {
    now - n_years..now + 1
}

/// Takes what means several years, and writes what means one in digits; tells whether there was any
/// of the latter.
pub(super) fn take(query: &mut String, now: i32, years: &mut Vec<i32>) -> bool {
    let folded = folded(query);
    let mut is_spelled = false;
    for (pattern, meaning) in RELATIVE.iter() {
        let Some(pattern) = pattern.for_query(&folded, &NUMBER) else { continue };
        while let Some(captures) = pattern.captures(query) {
            let n_years = captures.get(1).map_or(1, |number| read_number(number.as_str()));
            let range = captures.get(0).map_or(0..0, |whole| whole.range());
            let meant = meaning(now, n_years);
            if meant.len() == 1 {
                spell_out(query, range, meant.start);
                is_spelled = true;
            } else {
                years.extend(meant);
                cut_out(query, range);
            }
        }
    }
    // The same two characters are last year in Japanese and the year before it in Chinese.
    while let Some(at) = query.find("前年") {
        let is_japanese = query.chars().any(|char| matches!(char, '\u{3041}'..='\u{30ff}'));
        spell_out(query, at..at + "前年".len(), if is_japanese { now - 1 } else { now - 2 });
        is_spelled = true;
    }
    let next = |query: &str| {
        written_years(query).into_iter().find(|(_, year)| (FIRST_YEAR..LAST_YEAR).contains(year))
    };
    while let Some((range, year)) = next(query) {
        spell_out(query, range, year);
        is_spelled = true;
    }
    is_spelled
}

/// Writes a year in digits, with the sign of years where it was said in Han.
fn spell_out(query: &mut String, range: Range<usize>, year: i32) {
    let said = query.get(range.clone()).unwrap_or_default();
    let sign = if said.contains(crate::analyze::is_ideograph) { "年" } else { "" };
    query.replace_range(range, &format!("{year}{sign}"));
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
