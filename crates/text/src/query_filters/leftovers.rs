//! Kinds and years that stayed in a query beside those that were taken out of it: what was said is
//! understood whole, or it is no filter, since a filter by half of it excludes the other half.
//!
//! Kinds that follow each other with nothing but a space between them are one list ([`bind`]). A
//! kind that is left beside what was taken, with nothing between the two but signs or small words,
//! belongs to a list that was not understood ([`kind_is_left`]): the words that join are not known in every
//! language. A year that is left anywhere is one that was asked for as well ([`year_is_left`]).

use std::sync::LazyLock;

use regex::Regex;

use super::extensions::{self, PLAIN};
use super::words::joints::ABOUT;
use super::{HOLE, not_years, words};

/// Is between two kinds that follow each other. It is a space, and one that nobody types.
pub(super) const BOUND: char = '\u{2005}';

/// The most words that join two kinds: `as well as`.
const MAX_JOINING_WORDS: usize = 3;

/// A word that joins two kinds in a language that has no row is no longer than this.
const MAX_UNKNOWN_CHARS: usize = 5;

fn build(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is constant and tested")
}

/// The name of a kind as a word. Names of scripts without spaces have no edges.
fn kind() -> String {
    let names = extensions::names();
    let (ascii, wide): (Vec<&str>, Vec<&str>) = names.split('|').partition(|name| name.is_ascii());
    format!(r"(?:(?-u:\b)(?:{})(?-u:\b)|{})", ascii.join("|"), wide.join("|"))
}

/// Kinds with nothing but a space between them.
static RUN: LazyLock<Regex> = LazyLock::new(|| {
    let kind = format!(r"\*?\.?{}", kind());
    build(&format!(r"(?i){kind}(?:\s+{kind})+"))
});

static PLAIN_KIND: LazyLock<Regex> =
    LazyLock::new(|| build(&format!(r"(?i)(?-u:\b)(?:{PLAIN})(?-u:\b)")));

static KIND: LazyLock<Regex> = LazyLock::new(|| build(&format!("(?i){}", kind())));

static JOINING: LazyLock<Regex> = LazyLock::new(|| {
    let known = format!(
        "{}|{}|{}|{}|{}",
        words::ors(),
        words::ands(),
        words::all(|words| words.before_formats),
        words::all(|words| words.after_formats),
        words::denials(),
    );
    build(&format!(r"(?i)^(?:{known})$"))
});

static TOPIC: LazyLock<Regex> = LazyLock::new(|| build(&format!(r"(?i)^(?:{ABOUT})$")));

/// Binds kinds that follow each other into one list, where one of them is a kind to everybody:
/// `html csv` is, and `word docs` may be anything.
pub(super) fn bind(query: &str) -> String {
    if !extensions::names_a_kind(query) {
        return query.to_owned();
    }
    let bound = |captures: &regex::Captures<'_>| {
        let run = captures.get(0).map_or("", |run| run.as_str());
        match PLAIN_KIND.is_match(run) {
            true => {
                let kinds: Vec<&str> = run.split_whitespace().collect();
                kinds.join(&BOUND.to_string()).replace(&format!("power{BOUND}"), "power ")
            }
            false => run.to_owned(),
        }
    };
    RUN.replace_all(query, bound).into_owned()
}

/// Tells whether a kind was left where it may belong to those that were taken.
pub(super) fn kind_is_left(rest: &str) -> bool {
    KIND.find_iter(rest).any(|kind| {
        let before = rest.get(..kind.start()).unwrap_or_default();
        let behind = rest.get(kind.end()..).unwrap_or_default();
        let nearest_before = before.rsplit_once(HOLE).map(|(_, between)| between);
        let nearest_behind = behind.split_once(HOLE).map(|(between, _)| between);
        let is_document = matches!(kind.as_str().to_lowercase().as_str(), "doc" | "docs");
        nearest_before.is_some_and(joins)
            || nearest_behind.is_some_and(|between| {
                // `docs in pdf` are documents.
                let is_beside = between.trim().is_empty();
                !(is_document && is_beside) && joins(between)
            })
    })
}

/// Tells whether a list of kinds that are not wanted goes on where it was not understood, before it
/// or behind it: `not in pdf ir docx`, `pdf ir docx以外`. What a cue is before is wanted: `not in pdf but
/// in docx`.
pub(super) fn list_goes_on(before: &str, behind: &str, is_suffixed: bool) -> bool {
    let has_cue = |between: &str| {
        let words = between.split_whitespace();
        words.map(|word| word.trim_matches(',').to_lowercase()).any(|word| CUE.is_match(&word))
    };
    let next = KIND.find(behind).and_then(|kind| behind.get(..kind.start()));
    let last = KIND.find_iter(before).last().and_then(|kind| before.get(kind.end()..));
    let goes_on = |between: &str| !has_cue(between) && joins(between);
    next.is_some_and(goes_on) || is_suffixed && last.is_some_and(goes_on)
}

static CUE: LazyLock<Regex> = LazyLock::new(|| {
    build(&format!(r"^(?:{}|{})$", words::all(|words| words.before_formats), extensions::BUT))
});

/// Tells whether what is between two kinds may make one list of them.
fn joins(between: &str) -> bool {
    let is_wide = |char: char| crate::analyze::is_ideograph(char);
    if between.contains(is_wide) {
        return between.chars().filter(|char| is_wide(*char)).count() <= MAX_UNKNOWN_CHARS;
    }
    let is_between_words = |char: char| {
        char.is_whitespace()
            || char == HOLE
            || SIGNS.contains(char)
            || char.is_ascii_punctuation() && char != '\''
    };
    let words = between.split(is_between_words);
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let is_joining = |word: &&str| {
        let is_short = word.chars().count() <= MAX_UNKNOWN_CHARS;
        !TOPIC.is_match(word)
            && (is_short || JOINING.is_match(word) || crate::is_small_word(&crate::fold(word)))
    };
    words.len() <= MAX_JOINING_WORDS && words.iter().all(is_joining)
}

/// Signs outside ASCII that may be between two kinds.
const SIGNS: &str = "、，；・·…–—／＋＆";

static YEAR: LazyLock<Regex> = LazyLock::new(|| {
    // `'21`, `FY21`, `2021/22`, `1990s`, and four digits.
    build(
        r"(?i)(?:^|[\s(,'’])(?:['’]\d\d(?:$|[^\d\p{L}])|fy[\s']*\d\d|(?:19|20)\d0['’]?s)|(?:19|20)\d\d",
    )
});

/// Tells whether a year was left that may be meant as those that were taken are.
pub(super) fn year_is_left(rest: &str) -> bool {
    YEAR.find_iter(rest).any(|found| {
        let head = rest.get(..found.start()).unwrap_or_default();
        let tail = rest.get(found.end()..).unwrap_or_default();
        let is_number =
            found.as_str().len() == 4 && found.as_str().bytes().all(|byte| byte.is_ascii_digit());
        !is_number || not_years::is_meant_as_year(head, tail)
    })
}
