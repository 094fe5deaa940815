//! Patterns that are compiled when a query may match them.
//!
//! Compiling the patterns of all languages takes longer than a search, and most queries match none.
//! What a match must contain is read off the pattern's text, so that a language's words stay data.

use std::sync::OnceLock;

use regex::Regex;

/// What is filled in before a pattern is compiled, such as all names of numbers.
const HOLE: char = 'N';

/// A pattern with what its matches contain.
pub(super) struct LazyPattern {
    pattern: String,
    contents: Contents,
    regex: OnceLock<Regex>,
}

impl LazyPattern {
    /// Takes a pattern that ignores case, in which `N` is filled in when it is compiled.
    pub(super) fn new(pattern: String) -> Self {
        let contents = contents(pattern.trim_start_matches("(?i)"));
        LazyPattern { pattern, contents, regex: OnceLock::new() }
    }

    /// Gives the compiled pattern if a query may match it; `folded` is the query without case, and
    /// `filling` what takes the place of `N`.
    pub(super) fn for_query(&self, folded: &str, filling: &str) -> Option<&Regex> {
        self.contents.may_be_in(folded).then(|| {
            self.regex.get_or_init(|| {
                Regex::new(&self.pattern.replace(HOLE, filling))
                    .expect("the pattern is constant and tested")
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

/// What every match of a pattern contains. An empty `All` says that nothing is known.
#[derive(Debug, PartialEq, Eq)]
enum Contents {
    Letters(String),
    All(Vec<Contents>),
    Any(Vec<Contents>),
}

impl Contents {
    fn may_be_in(&self, folded: &str) -> bool {
        match self {
            Contents::Letters(letters) => folded.contains(letters.as_str()),
            Contents::All(parts) => parts.iter().all(|part| part.may_be_in(folded)),
            Contents::Any(parts) => parts.iter().any(|part| part.may_be_in(folded)),
        }
    }
}

fn contents(pattern: &str) -> Contents {
    let mut alternatives: Vec<Contents> =
        alternatives(pattern).into_iter().map(contents_of_sequence).collect();
    match alternatives.len() {
        1 => alternatives.remove(0),
        _ => Contents::Any(alternatives),
    }
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

/// Gives the stretches of letters and the groups that a sequence cannot do without.
fn contents_of_sequence(sequence: &str) -> Contents {
    let mut parts: Vec<Contents> = Vec::new();
    let mut run = String::new();
    let mut at = 0;
    let end_run = |run: &mut String, parts: &mut Vec<Contents>| {
        if !run.is_empty() {
            parts.push(Contents::Letters(std::mem::take(run)));
        }
    };
    while let Some(token) = next_token(sequence, at) {
        at += token.len();
        let is_optional = sequence.get(at..).unwrap_or_default().starts_with(['?', '*', '{']);
        let first = token.chars().next().unwrap_or_default();
        let is_letter = token.chars().count() == 1 && !"|?*+{}.^$".contains(first) && first != HOLE;
        if is_letter && !is_optional {
            run.extend(first.to_lowercase().map(fold));
            continue;
        }
        end_run(&mut run, &mut parts);
        if first == '(' && !is_optional {
            // One bracket alone: `(?:(?:from )?last)` begins with another group.
            let inner = token.strip_prefix("(?:").or(token.strip_prefix('(')).unwrap_or(token);
            parts.push(contents(inner.strip_suffix(')').unwrap_or(inner)));
        }
    }
    end_run(&mut run, &mut parts);
    parts.retain(|part| *part != Contents::All(Vec::new()));
    match parts.len() {
        1 => parts.remove(0),
        _ => Contents::All(parts),
    }
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

    fn letters(letters: &str) -> Contents {
        Contents::Letters(letters.to_owned())
    }

    #[test]
    fn what_a_match_contains_is_read_off_the_pattern() {
        let check = |pattern: &str, matching: &[&str], others: &[&str]| {
            let contents = contents(pattern);
            for query in matching {
                assert!(contents.may_be_in(&folded(query)), "{pattern}: {query}: {contents:?}");
            }
            for query in others {
                assert!(!contents.may_be_in(&folded(query)), "{pattern}: {query}: {contents:?}");
            }
        };
        check(r"(?:im )?nächste[ns]\s+jahr(?:es)?", &["im nächsten Jahr"], &["nächste", "jahr"]);
        check(r"tämän\s+vuoden|tänä\s+vuonna", &["TÄMÄN vuoden", "tänä vuonna"], &["vuonna"]);
        check(r"(?:fra )?(?:i\s+år|dette\s+år)", &["fra dette år", "i år"], &["år", "dette"]);
        check(r"bu\s+(?:yıl(?:ın|ki)?|sene(?:ki)?)", &["bu yılın", "bu sene"], &["yıl", "sene"]);
        check(r"jövő\s+évi?|JÖVŐRE", &["jövő év", "jövőre"], &["jövő"]);
        check(r"(?:(?:ab|cd)\s+|ef)gh", &["ab gh", "efgh"], &["ab cd", "gh"]);
        check(
            r"(?:^|\b)(?:(?:från |under )?(?:förra\s+året|i\s+fjol))(?:$|\b)",
            &["förra året", "från i fjol"],
            &["året", "från"],
        );
        check(r"a?b*c{2}", &["", "cc"], &[]);
        check(r"ab+c", &["abbc"], &["bc", "ab"]);
        check(r"\d+|x", &["", "7", "x"], &[]);
        check(r"ultimii\s+N\s+ani", &["ultimii trei ani"], &["ultimii", "ani"]);
        check("έτους", &["ΈΤΟΥΣ"], &["έτο"]);
        assert_eq!(
            contents("(?:a|b)c"),
            Contents::All(vec![Contents::Any(vec![letters("a"), letters("b")]), letters("c"),])
        );
        assert_eq!(folded("ΈΤΟΥΣ ſ"), "έτουσ s");
    }
}
