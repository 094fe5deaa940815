//! Where a filter would say something else than the words: what is not wanted, and lists of which
//! only a part was understood. Then it is no filter.

use std::sync::LazyLock;

use regex::Regex;

use super::words::denials::{
    BEFORE_BEHIND, BEHIND, DOUBTFUL, DOUBTFUL_BEHIND, DOUBTFUL_BESIDE, TOUCHING,
};
use super::{HOLE, extensions, words};

/// Words between "not" and what is not wanted: "not from the year 2021".
const N_WORDS_BETWEEN: usize = 3;

static NEGATED: LazyLock<Regex> = LazyLock::new(|| {
    let not = words::denials();
    let thing = format!(
        r"(?:\*?\.?(?:{})|(?:19|20)\d\d|{}|{}|{})",
        extensions::names(),
        words::all_years(|words| words.last_year),
        words::all_years(|words| words.this_year),
        words::all_years(|words| words.next_year),
    );
    let before = format!(
        r"(?:^|[\s,(])(?:(?:{not}|{DOUBTFUL})(?:\s+[\p{{L}}’'-]+){{0,{N_WORDS_BETWEEN}}}(?:\s+|[-־])|(?:{DOUBTFUL_BESIDE})\s*){thing}(?:$|[^\p{{L}}\d]|[\p{{Han}}\p{{Hiragana}}\p{{Katakana}}\p{{Hangul}}])"
    );
    let behind = format!(
        r"{thing}(?:年度?|년도?)?(?:形式|ファイル|格式|文件|파일)?(?:{BEFORE_BEHIND})*(?:{BEHIND}|(?:{DOUBTFUL_BEHIND})\b)"
    );
    build(&format!(r"(?i){before}|{behind}|(?:{TOUCHING}|除)[\s־-]*{thing}"))
});

static HALF: LazyLock<Regex> = LazyLock::new(|| {
    let (or, and) = (words::ors(), words::ands());
    let more_kinds = words::all(|words| words.after_formats);
    let wide_or = "または|又は|もしくは|あるいは|或いは|或者|或是|或|이나|또는|혹은";
    build(&format!(
        r"(?i){HOLE}\s*,?\s*(?:(?:{or})\s|(?:{wide_or})|か[^{HOLE}\p{{Hiragana}}\s]|(?:{and})\s+(?:\p{{L}}+\s+)?(?:{more_kinds})(?:$|[\s,.;?]))\s*[^{HOLE}\s]|(?:[^{HOLE}\s]\s+(?:{or})|[^{HOLE}\s]\s*(?:{wide_or}))\s*{HOLE}"
    ))
});

fn build(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is constant and tested")
}

/// Tells whether a query says what it does not want: a search has no filter for that.
pub(super) fn is_negated(query: &str) -> bool {
    // "no later than 2018" says what is wanted.
    NEGATED.is_match(query) && NEGATED.is_match(&BOUND_WITH_NOT.replace_all(query, " "))
}

static BOUND_WITH_NOT: LazyLock<Regex> = LazyLock::new(|| {
    build(
        r"(?i)(?:^|[\s,(])(?:(?:no|not)\s+(?:earlier|older|later|newer)\s+than|not\s+(?:before|after))\s+(?:the\s+year\s+)?(?:(?:19|20)\d\d)(?:$|[\s,.;?!)])",
    )
});

/// Tells whether something is joined by "or" to what was cut out of a query and was left there: a
/// filter by half of a list would exclude the other half.
pub(super) fn is_half(rest: &str) -> bool {
    HALF.is_match(rest)
}
