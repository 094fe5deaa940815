//! Patterns that are compiled when a query may match them.
//!
//! Compiling the patterns of all languages takes longer than a search, and most queries match none.
//! What a match must contain is read off the pattern's text, so that a language's words stay data.

use std::sync::OnceLock;

use regex::Regex;

/// A pattern with what its matches contain.
pub(super) struct LazyPattern {
    pattern: String,
    /// Every match contains one of these; nothing is known where there are none.
    required: Vec<String>,
    regex: OnceLock<Regex>,
}

impl LazyPattern {
    /// Takes a pattern that ignores case.
    pub(super) fn new(pattern: String) -> Self {
        let required = required(pattern.trim_start_matches("(?i)")).unwrap_or_default();
        LazyPattern { pattern, required, regex: OnceLock::new() }
    }

    /// Gives the compiled pattern if a query may match it; `folded` is the query without case.
    pub(super) fn for_query(&self, folded: &str) -> Option<&Regex> {
        let may_match = self.required.is_empty()
            || self.required.iter().any(|literal| folded.contains(literal.as_str()));
        may_match.then(|| {
            self.regex.get_or_init(|| {
                Regex::new(&self.pattern).expect("the pattern is constant and tested")
            })
        })
    }
}

/// Gives a text as patterns compare it that ignore case.
pub(super) fn folded(text: &str) -> String {
    text.to_lowercase().chars().map(fold).collect()
}

/// Two letters have a second small form, which patterns take for the same.
fn fold(char: char) -> char {
    match char {
        'ſ' => 's',
        'ς' => 'σ',
        other => other,
    }
}

/// Gives texts of which every match of a pattern contains one.
fn required(pattern: &str) -> Option<Vec<String>> {
    let mut all = Vec::new();
    for alternative in alternatives(pattern) {
        all.extend(required_in_sequence(alternative)?);
    }
    Some(all)
}

fn alternatives(pattern: &str) -> Vec<&str> {
    let (mut parts, mut begin) = (Vec::new(), 0);
    let mut at = 0;
    while let Some(token) = next_token(pattern, at) {
        if token == "|" {
            parts.push(pattern.get(begin..at).unwrap_or_default());
            begin = at + 1;
        }
        at += token.len();
    }
    parts.push(pattern.get(begin..).unwrap_or_default());
    parts
}

/// Gives the best of the stretches of letters and of the groups that a sequence cannot do without.
fn required_in_sequence(sequence: &str) -> Option<Vec<String>> {
    let mut candidates: Vec<Vec<String>> = Vec::new();
    let mut run = String::new();
    let mut at = 0;
    while let Some(token) = next_token(sequence, at) {
        at += token.len();
        let is_optional = sequence.get(at..).unwrap_or_default().starts_with(['?', '*', '{']);
        let first = token.chars().next().unwrap_or_default();
        if token.chars().count() == 1 && !"|?*+{}.^$".contains(first) && !is_optional {
            run.extend(first.to_lowercase().map(fold));
            continue;
        }
        candidates.push(vec![std::mem::take(&mut run)]);
        if first == '(' && !is_optional {
            // One bracket alone: `(?:(?:from )?last)` begins with another group.
            let inner = token.strip_prefix("(?:").or(token.strip_prefix('(')).unwrap_or(token);
            candidates.extend(required(inner.strip_suffix(')').unwrap_or(inner)));
        }
    }
    candidates.push(vec![run]);
    let shortest = |candidate: &Vec<String>| candidate.iter().map(String::len).min().unwrap_or(0);
    candidates.into_iter().max_by_key(shortest).filter(|candidate| shortest(candidate) > 0)
}

/// Gives the token at a place: a group, a class, an escape, a count or one character.
fn next_token(pattern: &str, at: usize) -> Option<&str> {
    let rest = pattern.get(at..).filter(|rest| !rest.is_empty())?;
    let first = rest.chars().next()?;
    let end = match first {
        '(' => end_of(rest, '(', ')'),
        '[' => rest.find(']').map_or(rest.len(), |end| end + 1),
        '{' => rest.find('}').map_or(rest.len(), |end| end + 1),
        '\\' if rest.starts_with(r"\p{") => rest.find('}').map_or(rest.len(), |end| end + 1),
        '\\' => rest.char_indices().nth(2).map_or(rest.len(), |(end, _)| end),
        other => other.len_utf8(),
    };
    rest.get(..end)
}

fn end_of(text: &str, open: char, close: char) -> usize {
    let (mut depth, mut is_escaped) = (0_usize, false);
    for (at, char) in text.char_indices() {
        if is_escaped {
            is_escaped = false;
        } else if char == '\\' {
            is_escaped = true;
        } else if char == open {
            depth += 1;
        } else if char == close {
            depth -= 1;
            if depth == 0 {
                return at + close.len_utf8();
            }
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_match_contains_is_read_off_the_pattern() {
        let check = |pattern: &str, expected: &[&str]| {
            assert_eq!(required(pattern).unwrap_or_default(), expected, "{pattern}");
        };
        check(r"(?:im )?nächste[ns]\s+jahr(?:es)?", &["nächste"]);
        check(r"tämän\s+vuoden|tänä\s+vuonna", &["tämän", "vuonna"]);
        check(r"(?:fra )?(?:i\s+år|dette\s+år)", &["år", "dette"]);
        check(r"bu\s+(?:yıl(?:ın|ki)?|sene(?:ki)?)", &["yıl", "sene"]);
        check(r"jövő\s+évi?|JÖVŐRE", &["jövő", "jövőre"]);
        check(
            r"(?:^|\b)(?:(?:från |under )?(?:förra\s+året|i\s+fjol))(?:$|\b)",
            &["förra", "fjol"],
        );
        check(r"a?b*c{2}", &[]);
        check(r"ab+c", &["ab"]);
        check(r"\d+|x", &[]);
        check("έτους", &["έτουσ"]);
        assert_eq!(folded("ΈΤΟΥΣ ſ"), "έτουσ s");
    }
}
