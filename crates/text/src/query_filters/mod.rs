//! Filters that people say in the words of a query: "contracts from 2021 in ppt or docx".
//!
//! Some twenty languages of Europe, Korean, Japanese and Chinese are understood; their small words
//! are data ([`words`]). [`extensions`] finds kinds of files,
//! [`years`] finds years, ranges and words such as "last year"; what they take is cut out of the
//! query together with the small words that belong to it, and the rest is left as it was typed.
//!
//! Formats that are not wanted are left out; years that are not wanted, and a list of which only a
//! part was understood, are no filter ([`doubt`]). What is in quotes is looked for as it is written.
//!
//! A word is taken only where it is said as a filter. `how to convert pdf to docx` is about
//! formats and keeps them; `Legea 273/2006`, `Windows 2000` and `2000 lei` are no years.

mod bounds;
mod doubt;
mod extensions;
mod lazy;
mod leftovers;
mod not_years;
mod relative;
mod words;
mod years;

#[cfg(test)]
mod bounds_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod whole_tests;

use model::Clock;

pub use extensions::extensions_named;

/// What was said in a query, and what is left of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QueryFilters {
    /// The query without the words that became filters.
    pub text: String,
    /// File extensions without the point, in lower case, sorted; empty when none was said.
    pub extensions: Vec<String>,
    /// File extensions that are not wanted, in the same form; empty when none was said.
    pub without_extensions: Vec<String>,
    /// Years, sorted; empty when none was said.
    pub years: Vec<i32>,
}

impl QueryFilters {
    /// Tells whether nothing was said.
    pub fn is_empty(&self) -> bool {
        self.extensions.is_empty() && self.without_extensions.is_empty() && self.years.is_empty()
    }
}

/// Most characters of a query that are looked at; the rest is left as it is.
pub const MAX_FILTERED_QUERY_CHARS: usize = 2000;

/// Reads the filters out of a query; the clock says which year it is.
///
/// ```
/// use model::{Clock, Timestamp};
///
/// let clock = Clock::fixed(Timestamp(1_700_000_000_000)); // November 2023
/// let filters = text::query_filters("contracts from 2021 in ppt or docx", &clock);
/// assert_eq!(filters.text, "contracts");
/// assert_eq!(filters.extensions, ["docx", "ppt", "pptx"]);
/// assert_eq!(filters.years, [2021]);
/// assert_eq!(text::query_filters("去年的合同", &clock).years, [2022]);
/// ```
pub fn query_filters(query: &str, clock: &Clock) -> QueryFilters {
    let cut = query.char_indices().nth(MAX_FILTERED_QUERY_CHARS).map_or(query.len(), |(at, _)| at);
    let (head, tail) = query.split_at(cut);
    let (shielded, phrases) = shielded(head);
    let mut rest = leftovers::bind(&shielded);
    let mut without_extensions = taken_whole(&mut rest, extensions::take_excluded);
    let wanted = rest.clone();
    let mut extensions = taken_whole(&mut rest, extensions::take);
    let mut years = years_in(&mut rest, clock);
    if rest != wanted && !extensions.is_empty() && leftovers::kind_is_left(&rest) {
        rest = wanted.clone();
        extensions.clear();
        years = years_in(&mut rest, clock);
    }
    for extensions in [&mut without_extensions, &mut extensions] {
        extensions.sort();
        extensions.dedup();
    }
    years.sort_unstable();
    years.dedup();
    let filters = QueryFilters { text: String::new(), extensions, without_extensions, years };
    // Only where something was found is it asked whether it is wanted.
    if filters.is_empty() || doubt::is_negated(&wanted) || only_excludes(&rest) {
        return QueryFilters { text: query.to_owned(), ..QueryFilters::default() };
    }
    rest.push_str(tail);
    QueryFilters { text: unshielded(&clean(&rest), &phrases), ..filters }
}

/// Tells whether a query names a kind of files or a year that it does not want.
///
/// ```
/// assert!(text::denies_filter("roofs other than 2021"));
/// assert!(!text::denies_filter("carbon neutral by 2030"));
/// ```
pub fn denies_filter(query: &str) -> bool {
    doubt::is_negated(query)
}

/// Gives the words of a query that bound years to one side, as they are written. They name a year
/// that may be just the one which is not wanted.
///
/// ```
/// use model::{Clock, Timestamp};
///
/// let clock = Clock::fixed(Timestamp(1_700_000_000_000)); // November 2023
/// assert_eq!(text::year_bounds("budget before 2022", &clock), ["before 2022"]);
/// assert!(text::year_bounds("budget 2022", &clock).is_empty());
/// ```
pub fn year_bounds(query: &str, clock: &Clock) -> Vec<String> {
    let cut = query.char_indices().nth(MAX_FILTERED_QUERY_CHARS).map_or(query.len(), |(at, _)| at);
    let head = query.get(..cut).unwrap_or_default();
    years::bounds(head, year_of(clock.now().seconds()))
}

/// Stands for the first phrase in quotes; the next ones follow it. Nobody types these characters.
const FIRST_PHRASE: char = '\u{e000}';

/// The most phrases that are kept apart.
const MAX_PHRASES: usize = 100;

/// Puts a sign in the place of every phrase in quotes: what is in quotes is looked for as it is.
fn shielded(query: &str) -> (String, Vec<(char, String)>) {
    let parts: Vec<&str> = query.split('"').collect();
    let is_private = |char: char| (FIRST_PHRASE..='\u{f8ff}').contains(&char);
    if parts.len() < 3 || query.contains(is_private) {
        return (query.to_owned(), Vec::new());
    }
    let mut signs = FIRST_PHRASE..='\u{f8ff}';
    let (mut shielded, mut phrases) = (String::new(), Vec::new());
    for (part_idx, part) in parts.iter().enumerate() {
        let is_quoted = part_idx % 2 == 1 && part_idx + 1 < parts.len();
        if is_quoted
            && phrases.len() < MAX_PHRASES
            && let Some(sign) = signs.next()
        {
            shielded.push(sign);
            phrases.push((sign, format!("\"{part}\"")));
        } else {
            let is_behind_quote = part_idx % 2 == 1;
            shielded.extend(is_behind_quote.then_some('"'));
            shielded.push_str(part);
            shielded.extend(is_quoted.then_some('"'));
        }
    }
    (shielded, phrases)
}

fn unshielded(text: &str, phrases: &[(char, String)]) -> String {
    let mut text = text.to_owned();
    for (sign, phrase) in phrases {
        text = text.replace(*sign, phrase);
    }
    text
}

/// Takes the years out of a query, where none is left that was not understood.
fn years_in(rest: &mut String, clock: &Clock) -> Vec<i32> {
    let before = rest.clone();
    let years = taken_whole(rest, |rest| years::take(rest, year_of(clock.now().seconds())));
    if !years.is_empty() && leftovers::year_is_left(rest) {
        *rest = before;
        return vec![];
    }
    years
}

/// Tells whether what is left says nothing but what is not wanted: `2019 NOT slate` is about 2019, and
/// a search for all but slate would find what has no slate by no word.
fn only_excludes(rest: &str) -> bool {
    let (mut is_not, mut n_excluded) = (false, 0_usize);
    for word in rest.split(|char: char| char.is_whitespace() || char == HOLE) {
        let word = word.trim_matches(['(', ')']);
        let is_term = word.chars().any(|char| char.is_alphanumeric() || char >= FIRST_PHRASE);
        if word == "NOT" {
            is_not = true;
        } else if is_term && !matches!(word, "AND" | "OR" | "NEAR") && !word.starts_with("NEAR/") {
            let has_dash = word.strip_prefix('-').is_some_and(|rest| {
                !rest.starts_with(|char: char| char == '-' || char.is_ascii_digit())
            });
            if !is_not && !has_dash {
                return false;
            }
            n_excluded += 1;
            is_not = false;
        }
    }
    n_excluded > 0
}

/// Takes filters out of a query; all that were said or none.
fn taken_whole<T>(rest: &mut String, take: impl Fn(&mut String) -> Vec<T>) -> Vec<T> {
    let before = rest.clone();
    let taken = take(rest);
    if *rest != before && doubt::is_half(rest) {
        *rest = before;
        return vec![];
    }
    taken
}

/// Is where something was cut out, so that what stood around it does not grow together.
const HOLE: char = '\u{1}';

/// Cuts a stretch out of a text.
fn cut_out(text: &mut String, range: std::ops::Range<usize>) {
    text.replace_range(range, &HOLE.to_string());
}

/// Closes the holes: blank space, and signs and small words that now hold nothing together.
fn clean(text: &str) -> String {
    const LOOSE_SIGNS: &[char] = &[
        ',', ';', ':', '-', '–', '|', '/', '、', '，', 'の', '的', 'と', 'か', 'は', '或', '和',
        '(', ')', '（', '）',
    ];
    let pieces: Vec<&str> = text.split(HOLE).collect();
    let n_pieces = pieces.len();
    let mut cleaned: Vec<String> = Vec::new();
    for (piece_idx, piece) in pieces.into_iter().enumerate() {
        let mut piece = piece.trim();
        // Only what touches a hole can have lost its partner.
        let (after_hole, before_hole) = (piece_idx > 0, piece_idx + 1 < n_pieces);
        loop {
            let before = piece;
            if after_hole {
                piece = piece.trim_start_matches(LOOSE_SIGNS).trim_start();
                let word = piece.split_whitespace().next().unwrap_or_default();
                if is_joint(word) {
                    piece = piece.get(word.len()..).unwrap_or_default().trim_start();
                }
            }
            if before_hole && !asks(piece) {
                piece = piece.trim_end_matches(LOOSE_SIGNS).trim_end();
                let word = piece.split_whitespace().next_back().unwrap_or_default();
                if is_loose(word) {
                    piece = piece.get(..piece.len() - word.len()).unwrap_or_default().trim_end();
                }
            }
            if piece == before {
                break;
            }
        }
        if !piece.is_empty() {
            cleaned.push(piece.split_whitespace().collect::<Vec<_>>().join(" "));
        }
    }
    join(&cleaned)
}

/// Tells whether a piece ends with the particle of a question, `か` behind other kana, and not with
/// the `か` between two things of which one was cut out.
fn asks(piece: &str) -> bool {
    let mut last = piece.chars().rev();
    let is_kana = |char: char| ('\u{3041}'..='\u{309f}').contains(&char);
    last.next() == Some('か') && last.next().is_some_and(is_kana)
}

/// Tells whether a word held something that is a filter now.
fn is_loose(word: &str) -> bool {
    let word = word.to_lowercase();
    words::languages().any(|words| words.loose.contains(&word.as_str()))
}

/// Tells whether a word joined two things of which one is a filter now.
fn is_joint(word: &str) -> bool {
    let joints = words::languages().flat_map(|words| [words.and, words.or]);
    joints.flat_map(|joints| joints.split('|')).any(|joint| joint == word)
}

/// Puts pieces together with a space, where the script and the signs have one.
fn join(pieces: &[String]) -> String {
    let mut joined = String::new();
    for piece in pieces {
        let first = piece.chars().next();
        let is_sign = matches!(first, Some('?' | '!' | '.' | '？' | '！' | '。'));
        let is_wide = |char: Option<char>| char.is_some_and(crate::analyze::is_ideograph);
        let is_unspaced = is_wide(joined.chars().next_back()) && is_wide(first);
        if !joined.is_empty() && !is_sign && !is_unspaced {
            joined.push(' ');
        }
        joined.push_str(piece);
    }
    joined
}

/// Gives the year of a moment, in UTC.
fn year_of(seconds: i64) -> i32 {
    let (year, _, _) = model::date_of_day(seconds.div_euclid(86_400));
    i32::try_from(year).unwrap_or(i32::MAX)
}
