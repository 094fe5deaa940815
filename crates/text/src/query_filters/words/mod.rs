//! The small words of filters, by language: one row for each, so that another language is data.
//!
//! Entries are patterns, written without capitals; they stand between word boundaries. Japanese
//! and Chinese have no spaces and are read by patterns of their own.

pub(super) mod bounds;
pub(super) mod denials;
mod germanic;
pub(super) mod joints;
mod others;
mod romance;
mod slavic;

/// The words of one language.
pub(super) struct Words {
    /// Joins two formats or two years that are both meant.
    pub(super) and: &'static str,
    /// Joins two formats of which either is meant.
    pub(super) or: &'static str,
    /// Turns what follows into what is not meant: "not in pdf", "except 2021".
    pub(super) not: &'static str,
    /// Is before a list of formats: "in ppt or docx".
    pub(super) before_formats: &'static str,
    /// Is behind a list of formats: "pdf files".
    pub(super) after_formats: &'static str,
    /// Joins the ends of a range of years.
    pub(super) to: &'static str,
    /// Is before the two ends of a range: "between 2019 and 2021".
    pub(super) between: &'static str,
    /// Is before one year: "from 2021", "in the year 2021".
    pub(super) of_year: &'static str,
    /// Begins a range that is open to the present, with its year.
    pub(super) since: &'static str,
    /// Begins a range that is open to the present, without its year.
    pub(super) after: &'static str,
    /// Ends a range that is open to the past, without its year.
    pub(super) before: &'static str,
    /// Ends a range that is open to the past, with its year.
    pub(super) until: &'static str,
    /// Is behind a year and begins a range without it: "2021 után".
    pub(super) after_behind: &'static str,
    /// Is behind a year and begins a range with it.
    pub(super) since_behind: &'static str,
    /// Is behind a year and ends a range without it.
    pub(super) before_behind: &'static str,
    /// Is behind a year and ends a range with it.
    pub(super) until_behind: &'static str,
    pub(super) last_year: &'static str,
    pub(super) this_year: &'static str,
    pub(super) next_year: &'static str,
    /// "The last N years", with `N` where the number is.
    pub(super) last_years: &'static str,
    /// Words that mean nothing once what they belonged to is a filter.
    pub(super) loose: &'static [&'static str],
    /// Is behind a year and belongs to it: "2021 roku".
    pub(super) behind_year: &'static str,
    /// Verbs of making one format out of another: a query with one is about formats.
    pub(super) convert: &'static str,
    /// Months, where their names are not those of a language before.
    pub(super) months: &'static str,
    /// Small numbers, for "the last three years".
    pub(super) numbers: &'static [(&'static str, i32)],
}

/// Every language. English and Romanian have further patterns beside their rows.
pub(super) fn languages() -> impl Iterator<Item = &'static Words> + Clone {
    [germanic::ROWS, romance::ROWS, slavic::ROWS, others::ROWS].into_iter().flatten()
}

/// Puts the patterns of all languages together as alternatives, longer ones first.
pub(super) fn all(of: impl Fn(&Words) -> &'static str) -> String {
    let mut alternatives: Vec<&str> = languages()
        .flat_map(|words| split(of(words)))
        .filter(|pattern| !pattern.is_empty())
        .collect();
    alternatives.sort_unstable_by_key(|pattern| (std::cmp::Reverse(pattern.len()), *pattern));
    alternatives.dedup();
    alternatives.join("|")
}

/// Gives the words before what is not wanted, of all languages.
pub(super) fn denials() -> String {
    format!("{}|{}", all(|words| words.not), denials::FURTHER)
}

/// Gives the words that join formats of which either is meant, of all languages.
pub(super) fn ors() -> String {
    format!("{}|{}", all(|words| words.or), joints::OR)
}

/// Gives the words that join formats of which both are meant, of all languages.
pub(super) fn ands() -> String {
    format!("{}|{}", all(|words| words.and), joints::AND)
}

/// The same for words that mean a year; nothing matches where there are none.
pub(super) fn all_years(of: impl Fn(&Words) -> &'static str) -> String {
    let patterns: Vec<&str> = languages().map(of).filter(|pattern| !pattern.is_empty()).collect();
    format!("(?:{})", patterns.join("|"))
}

/// Splits alternatives that are not inside brackets.
pub(super) fn split(patterns: &'static str) -> Vec<&'static str> {
    let (mut parts, mut depth, mut begin) = (Vec::new(), 0_usize, 0);
    for (at, char) in patterns.char_indices() {
        match char {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            '|' if depth == 0 => {
                parts.push(patterns.get(begin..at).unwrap_or_default());
                begin = at + 1;
            }
            _ => {}
        }
    }
    parts.push(patterns.get(begin..).unwrap_or_default());
    parts
}
