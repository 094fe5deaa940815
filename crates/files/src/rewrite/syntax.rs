//! A query as `searchFiles` reads it: terms and phrases, what is left out, and operators between them.

use text::{Language, LanguageSet, query_language};

use super::query::is_small;
use super::words::{QUESTION_WORDS, has};

/// A phrase in quotes, or a word outside of them.
pub(super) enum Piece<'a> {
    Phrase { phrase: &'a str, is_excluded: bool },
    Word(&'a str),
}

/// Cuts a text at spaces, but for what is in quotes, as a search does; where a quote never closes,
/// all quotes are spaces.
pub(super) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let is_between = |char: char| char.is_whitespace() || char == '"';
    let words = || text.split(is_between).filter(|word| !word.is_empty()).map(Piece::Word);
    quoted_pieces(text).unwrap_or_else(|| words().collect())
}

fn quoted_pieces(text: &str) -> Option<Vec<Piece<'_>>> {
    let mut pieces = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let end = rest.find(|char: char| char.is_whitespace() || char == '"');
        let (before, after) = rest.split_at(end.unwrap_or(rest.len()));
        let lead = before.trim_start_matches('(');
        let is_lead = lead.is_empty() || lead == "-" || lead.ends_with(':');
        let Some(quoted) = after.strip_prefix('"') else {
            pieces.push(Piece::Word(before));
            rest = after.trim_start();
            continue;
        };
        if !is_lead {
            // The sign of an inch.
            if quoted.starts_with(|char: char| !char.is_whitespace()) {
                return None;
            }
            pieces.push(Piece::Word(before));
            rest = quoted.trim_start();
            continue;
        }
        let (phrase, behind) = quoted.split_once('"')?;
        let word = if lead == "-" { before.strip_suffix('-')? } else { before };
        pieces.extend((!word.is_empty()).then_some(Piece::Word(word)));
        if phrase.contains(char::is_alphanumeric) {
            pieces.push(Piece::Phrase { phrase: phrase.trim(), is_excluded: lead == "-" });
        } else {
            pieces.extend(phrase.split_whitespace().map(Piece::Word));
        }
        rest = behind.trim_start();
    }
    Some(pieces)
}

/// Gives a query that joins its terms by `AND` or `NEAR` as it is, since without them it would ask
/// for something else: words side by side are alternatives. What a model writes is not taken so: it
/// joins what nobody asked to have together.
pub(super) fn as_typed(text: &str, languages: LanguageSet) -> Option<String> {
    let pieces = pieces(text);
    let is_meant = has_operators(&pieces, query_language(text, languages)) && joins_well(&pieces);
    is_meant.then(|| typed(&pieces))
}

/// Writes pieces as they were typed, and what `NOT` leaves out as a search shows it.
fn typed(pieces: &[Piece<'_>]) -> String {
    let mut written: Vec<String> = Vec::new();
    let mut is_not = false;
    for piece in pieces {
        written.push(match piece {
            Piece::Word("NOT") => {
                is_not = true;
                continue;
            }
            Piece::Word(word) if is_not => {
                let term = word.trim_end_matches(')');
                let closing = word.get(term.len()..).unwrap_or_default();
                let term = term.strip_prefix('-').filter(|_| is_excluded(term)).unwrap_or(term);
                format!("{}{closing}", left_out(term))
            }
            Piece::Word(word) => (*word).to_owned(),
            Piece::Phrase { phrase, is_excluded } if is_not || *is_excluded => {
                format!("-\"{phrase}\"")
            }
            Piece::Phrase { phrase, .. } => format!("\"{phrase}\""),
        });
        is_not = false;
    }
    written.join(" ")
}

/// Writes what is left out as a search reads it: a dash before a digit is a dash of the text, so that
/// `-2019` asks for 2019.
pub(super) fn left_out(term: &str) -> String {
    match term.starts_with('"') || term.starts_with(char::is_alphabetic) {
        true => format!("-{term}"),
        false => format!("-\"{term}\""),
    }
}

/// Tells whether a text is in the syntax of a search, and no question: it has an operator, and no
/// small words.
pub(super) fn has_operators(pieces: &[Piece<'_>], language: Language) -> bool {
    let words = || {
        pieces.iter().enumerate().filter_map(|(at, piece)| match piece {
            Piece::Word(word) => Some((at, *word)),
            Piece::Phrase { .. } => None,
        })
    };
    let is_joining =
        |word: &str| ["AND", "OR", "NEAR"].contains(&word) || word.starts_with("NEAR/");
    // `damage NOT covered` asks for what is not covered.
    let leaves_out = |at: usize, word: &str| {
        word == "NOT"
            && matches!(pieces.get(at + 1), Some(Piece::Word(next)) if !text::is_denied(next))
    };
    let is_said = |word: &str| {
        let word = text::without_signs(word, |_| false).to_lowercase();
        is_small(&word, language) || has(QUESTION_WORDS, &word)
    };
    let has_any =
        words().any(|(at, word)| is_joining(word) || is_excluded(word) || leaves_out(at, word));
    has_any && !words().any(|(_, word)| !is_joining(word) && word != "NOT" && is_said(word))
}

/// Tells whether a text wants things together (`AND`, `NEAR`) and every operator of it is between
/// two terms, with parentheses that close: a search reads it as it is.
fn joins_well(pieces: &[Piece<'_>]) -> bool {
    let is_together = |word: &str| word == "AND" || word == "NEAR" || word.starts_with("NEAR/");
    let (mut depth, mut has_term, mut is_joined, mut n_together) = (0_usize, false, false, 0_usize);
    // What is left out may follow `AND`, and is no alternative.
    let mut is_or = false;
    for (idx, piece) in pieces.iter().enumerate() {
        let word = match piece {
            Piece::Phrase { is_excluded: true, .. } if is_or => return false,
            Piece::Phrase { .. } => "",
            Piece::Word(word) => *word,
        };
        let is_operator = is_together(word) || word == "OR" || word == "NOT";
        if is_operator {
            let next = pieces.get(idx + 1);
            // What is left out is one term, and no term that another one can be joined with.
            let is_group = matches!(next, Some(Piece::Word(next)) if next.starts_with('('));
            let is_left_out = word == "NOT" && is_joined && !is_or;
            if !has_term && !is_left_out || word == "NOT" && is_group {
                return false;
            }
            n_together += usize::from(is_together(word));
            (has_term, is_joined, is_or) = (false, true, word == "OR");
            continue;
        }
        if is_or && word.starts_with('-') {
            return false;
        }
        for char in word.chars() {
            match char {
                '(' => depth += 1,
                ')' if depth == 0 => return false,
                ')' => depth -= 1,
                _ => {}
            }
        }
        if word.is_empty() || word.contains(char::is_alphanumeric) {
            (has_term, is_joined, is_or) = (true, false, false);
        }
    }
    depth == 0 && !is_joined && n_together > 0
}

/// Tells whether a dash is a part of the number behind it, as a search reads it.
pub(super) fn is_minus(typed: &str) -> bool {
    typed.strip_prefix('-').is_some_and(|rest| rest.starts_with(|char: char| char.is_ascii_digit()))
}

/// Tells whether a search reads the word as excluded: a dash before anything but another one and a
/// digit.
pub(super) fn is_excluded(typed: &str) -> bool {
    typed.strip_prefix('-').is_some_and(|rest| {
        !rest.starts_with(|char: char| char == '-' || char.is_ascii_digit())
            && rest.contains(char::is_alphanumeric)
    })
}

/// Gives the terms of a query that [`fts`] wrote: words, phrases in quotes, and what is excluded.
pub(super) fn terms(query: &str) -> impl Iterator<Item = String> + '_ {
    let mut rest = query;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        let begin = if rest.starts_with('-') { 1 } else { 0 };
        let quoted = rest.get(begin..).and_then(|rest| rest.strip_prefix('"'));
        let end = match quoted.and_then(|quoted| quoted.find('"')) {
            Some(n_bytes) => begin + n_bytes + 2,
            None => rest.find(char::is_whitespace).unwrap_or(rest.len()),
        };
        let (term, behind) = rest.split_at_checked(end)?;
        rest = behind;
        (!term.is_empty()).then(|| term.to_owned())
    })
}

pub(super) fn is_refused(term: &str) -> bool {
    term.starts_with('-') && !is_minus(term)
}
