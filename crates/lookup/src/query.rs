//! A query made ready: its words, what each may stand for, and other ways to cut it.

use ahash::AHashMap;

use crate::evidence::EvidenceIdx;
use crate::expansion::Expansion;
use crate::index::{Index, NameIdx};
use crate::token::{Token, tokens};
use crate::vocabulary::{WordIdx, is_number, is_wide};
use crate::weights;
use crate::words::{Nature, nature};

/// A word is split only when both parts have this many letters.
const LEAST_PART_CHARS: usize = 3;

/// What it costs to read words joined or apart when they were not written so.
const RECUT_COST: f32 = 0.98;

/// What is left of a name that was found without the number that the query gives: never enough to
/// be taken without asking.
const UNKNOWN_NUMBER: f32 = 0.7;

/// How alike a word of the dimension must be to be what a misspelt word surely means.
const LEAST_MEANT: f32 = 0.8;

/// One way to read a query.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) words: Vec<QueryWord>,
    /// All expansions of all words: which query words a word of a name can answer.
    pub(crate) answers: AHashMap<WordIdx, Vec<(u8, f32)>>,
    pub(crate) weight: f32,
    /// Multiplies every score found by this reading.
    pub(crate) factor: f32,
}

#[derive(Debug)]
pub(crate) struct QueryWord {
    pub(crate) token: Token,
    pub(crate) spelling: Option<u32>,
    pub(crate) expansions: Vec<Expansion>,
    pub(crate) weight: f32,
    pub(crate) is_number: bool,
    pub(crate) nature: Nature,
    /// The words of contexts, metadata and kinds that this word is, where any entry has them.
    pub(crate) evidence: Vec<EvidenceIdx>,
}

/// Reads a query as it is written, and with words joined or split where the dimension has the
/// result as a word. The first reading is the query as written.
pub(crate) fn readings(index: &Index, text: &str) -> Vec<Reading> {
    let tokens = tokens(text);
    if tokens.is_empty() {
        return Vec::new();
    }
    let mut readings = vec![reading(index, tokens.clone(), 1.0)];
    if let Some(joined) = joined(index, &tokens) {
        readings.push(reading(index, joined, RECUT_COST));
    }
    if let Some(split) = split(index, &tokens) {
        readings.push(reading(index, split, RECUT_COST));
    }
    readings
}

/// Reads a query without its numbers that no name has, where words are left that names do have:
/// a slip in a number must not hide that the rest is right.
pub(crate) fn without_unknown_numbers(index: &Index, text: &str) -> Option<Reading> {
    let has_digit = |token: &Token| token.folded.contains(|char: char| char.is_ascii_digit());
    let is_known = |token: &Token| index.vocabulary.find(&token.folded).is_some();
    let mut left = tokens(text);
    let n_before = left.len();
    left.retain(|token| !has_digit(token) || is_known(token));
    let says_something =
        left.iter().any(|token| nature(&token.folded) == Nature::Plain && is_known(token));
    (left.len() < n_before && says_something).then(|| reading(index, left, UNKNOWN_NUMBER))
}

/// Reads a word as two of one name that lost the space between them, however short they are:
/// `LaPaz`, `ATT` for `AT&T`. Nearly every word begins or ends like some short one, so this is for
/// queries that found nothing.
pub(crate) fn with_short_parts(index: &Index, text: &str) -> Option<Reading> {
    let tokens = tokens(text);
    let is_of_one_name = |first: &str, second: &str| {
        let find = |part: &str| index.vocabulary.find(part);
        let (Some(first), Some(second)) = (find(first), find(second)) else { return false };
        let holds_both = |name: &NameIdx| {
            let words = index.words_of(&index.names[*name as usize]);
            [first, second].iter().all(|part| words.iter().any(|word| word.word == *part))
        };
        index.postings[second as usize].iter().any(holds_both)
    };
    for (at, token) in tokens.iter().enumerate() {
        if is_number(&token.folded)
            || nature(&token.folded) != Nature::Plain
            || index.vocabulary.find(&token.folded).is_some()
        {
            continue;
        }
        let mut cuts =
            token.folded.char_indices().skip(1).map(|(place, _)| token.folded.split_at(place));
        if let Some((first, second)) = cuts.find(|(first, second)| is_of_one_name(first, second)) {
            let mut recut = tokens.clone();
            recut.splice(at..=at, parts(token, first, second));
            return Some(reading(index, recut, RECUT_COST));
        }
    }
    None
}

fn reading(index: &Index, tokens: Vec<Token>, factor: f32) -> Reading {
    let n_names = index.names.len() as u32;
    let words: Vec<QueryWord> = tokens
        .into_iter()
        .map(|token| {
            let expansions = index.vocabulary.expand(&token);
            // A misspelt word weighs what the word weighs that was surely meant.
            let meant = expansions
                .iter()
                .find(|likeliest| !likeliest.is_abbreviation)
                .filter(|likeliest| likeliest.similarity >= LEAST_MEANT);
            let n_holding =
                meant.map_or(1, |likeliest| index.postings[likeliest.word as usize].len() as u32);
            let of_token = nature(&token.folded);
            let is_known = expansions.iter().any(|expansion| !expansion.is_abbreviation);
            let nature = match meant {
                Some(likeliest) if of_token == Nature::Plain => {
                    index.vocabulary.word(likeliest.word).nature
                }
                _ => of_token,
            };
            QueryWord {
                spelling: index.vocabulary.spelling(&token.spelled),
                weight: weights::in_query(nature, n_holding, n_names) * doubt(&token, is_known),
                is_number: is_number(&token.folded),
                nature,
                evidence: index.evidence.find(&token.folded),
                expansions,
                token,
            }
        })
        .collect();
    let mut answers: AHashMap<WordIdx, Vec<(u8, f32)>> = AHashMap::new();
    for (at, word) in words.iter().enumerate() {
        for expansion in &word.expansions {
            answers.entry(expansion.word).or_default().push((at as u8, expansion.similarity));
        }
    }
    let weight = words.iter().map(|word| word.weight).sum();
    Reading { words, answers, weight, factor }
}

/// What is left of the weight of a word that no name holds, so short that its slips lead nowhere:
/// it may be any other short word.
const DOUBT: f32 = 0.5;
/// The most letters of such a word.
const DOUBTED_CHARS: usize = 3;

fn doubt(token: &Token, is_known: bool) -> f32 {
    let is_doubted = !is_known
        && token.folded.chars().count() <= DOUBTED_CHARS
        && token.folded.chars().all(|char| char.is_alphabetic() && !is_wide(char));
    if is_doubted { DOUBT } else { 1.0 }
}

fn joined(index: &Index, tokens: &[Token]) -> Option<Vec<Token>> {
    let at = tokens.windows(2).position(|pair| {
        let joined = format!("{}{}", pair[0].folded, pair[1].folded);
        !is_number(&joined) && index.vocabulary.find(&joined).is_some()
    })?;
    let mut recut = tokens.to_vec();
    let second = recut.remove(at + 1);
    recut[at].spelled.push_str(&second.spelled);
    recut[at].folded.push_str(&second.folded);
    recut[at].dotted = false;
    recut[at].ends_part = second.ends_part;
    Some(recut)
}

fn split(index: &Index, tokens: &[Token]) -> Option<Vec<Token>> {
    // A letter may have been written in place of the space.
    split_number(index, tokens)
        .or_else(|| split_at(index, tokens, 0))
        .or_else(|| split_at(index, tokens, 1))
}

/// Splits the first word that is a number and a word without the space between them.
fn split_number(index: &Index, tokens: &[Token]) -> Option<Vec<Token>> {
    let is_known = |part: &str| index.vocabulary.find(part).is_some();
    let unknown = tokens.iter().enumerate().filter(|(_, token)| !is_known(&token.folded));
    for (at, token) in unknown {
        let folded = token.folded.as_str();
        let is_digit = |place: usize| folded.as_bytes().get(place).is_some_and(u8::is_ascii_digit);
        let border = folded
            .char_indices()
            .map(|(place, _)| place)
            .find(|place| *place > 0 && is_digit(*place) != is_digit(*place - 1));
        let Some((first, second)) = border.map(|border| folded.split_at(border)) else { continue };
        if is_known(first) && is_known(second) {
            let mut recut = tokens.to_vec();
            recut.splice(at..=at, parts(token, first, second));
            return Some(recut);
        }
    }
    None
}

/// The two words that one word of a query is read as.
fn parts(token: &Token, first: &str, second: &str) -> [Token; 2] {
    [Token::plain(first), Token { ends_part: token.ends_part, ..Token::plain(second) }]
}

/// Splits the first word that is two others with so many letters between them.
fn split_at(index: &Index, tokens: &[Token], n_between: usize) -> Option<Vec<Token>> {
    for (at, token) in tokens.iter().enumerate() {
        if index.vocabulary.find(&token.folded).is_some() || is_number(&token.folded) {
            continue;
        }
        let n_chars = token.folded.chars().count();
        for n_first in LEAST_PART_CHARS..=n_chars.saturating_sub(LEAST_PART_CHARS + n_between) {
            let place = |n: usize| token.folded.char_indices().nth(n).map_or(0, |(place, _)| place);
            let (first, _) = token.folded.split_at(place(n_first));
            let (_, second) = token.folded.split_at(place(n_first + n_between));
            let both_known =
                index.vocabulary.find(first).is_some() && index.vocabulary.find(second).is_some();
            if both_known {
                let mut recut = tokens.to_vec();
                recut.splice(at..=at, parts(token, first, second));
                return Some(recut);
            }
        }
    }
    None
}
