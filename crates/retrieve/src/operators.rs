//! Operators as other search engines write them: `AND`, `NOT`, `NEAR`, `NEAR/5`, and parentheses.
//!
//! They count in capitals alone, in a query that is not in capitals itself, and `NOT` beside no
//! other operator only where no small word shows that the query is a sentence, and before a thing:
//! `which costs are NOT covered` and `damage NOT covered` ask for what is not covered. What `AND` or `NEAR` joins has to be in one passage;
//! `AND` beside `OR` without parentheses has no meaning that everybody agrees on, and there all
//! words are alternatives, as they are without operators.

use model::Warning;
use text::{Language, fold, is_denied, is_small_word, is_small_word_of};

use crate::syntax::{Part, Piece, malformed, part_of};

/// Small words of no more characters are small whatever the language is.
const MAX_SHORT_CHARS: usize = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    And,
    Or,
    Not,
    Near,
}

impl Operator {
    fn of(piece: &Piece<'_>) -> Option<Self> {
        match piece.before.trim_start_matches('(') {
            _ if piece.quoted.is_some() => None,
            "AND" | "&&" => Some(Operator::And),
            "OR" | "||" => Some(Operator::Or),
            "NOT" => Some(Operator::Not),
            near if near == "NEAR" || near.starts_with("NEAR/") => Some(Operator::Near),
            _ => None,
        }
    }
}

/// A part of a query, or what is between two.
enum Item {
    Part(Part),
    Operator(Operator),
}

/// Reads a query that has operators; nothing for one that has none but `OR`.
pub(crate) fn read(
    pieces: &[Piece<'_>],
    fields: &[String],
    language: Language,
    warnings: &mut Vec<Warning>,
) -> Option<Vec<Part>> {
    if !has_operators(pieces, language) {
        return None;
    }
    if let Some(near) = pieces.iter().find(|piece| names_distance(piece)) {
        let near = near.before.trim_start_matches('(');
        let message = format!(
            "`{near}` asks for both in one passage: how many words are between the two is not measured"
        );
        warnings.push(Warning::new("distance_not_measured", message));
    }
    let mut groups: Vec<Vec<Item>> = vec![Vec::new()];
    for piece in pieces {
        let n_open = piece.before.chars().take_while(|char| *char == '(').count();
        let opened = piece.before.get(n_open..).unwrap_or_default();
        // What is in parentheses as a whole, as `f(x)` is, keeps its own.
        let inside = opened.matches('(').count();
        let at_end = opened.chars().rev().take_while(|char| *char == ')').count();
        let n_closed = if piece.quoted.is_some() { 0 } else { at_end.saturating_sub(inside) };
        let word = opened.get(..opened.len() - n_closed).unwrap_or_default();
        groups.extend((0..n_open).map(|_| Vec::new()));
        let plain = Piece { before: word, quoted: piece.quoted };
        let item = match Operator::of(&plain) {
            Some(operator) => Some(Item::Operator(operator)),
            None if word.is_empty() && piece.quoted.is_none() => None,
            None => part_of(&plain, fields, warnings).map(Item::Part),
        };
        groups.last_mut()?.extend(item);
        for _ in 0..n_closed {
            close(&mut groups, warnings);
        }
    }
    while groups.len() > 1 {
        close(&mut groups, warnings);
    }
    Some(joined(groups.pop()?, warnings))
}

/// Tells whether an operator says how near: `NEAR/5`.
fn names_distance(piece: &Piece<'_>) -> bool {
    piece.quoted.is_none() && piece.before.trim_start_matches('(').starts_with("NEAR/")
}

/// Puts what is in a pair of parentheses where it began; one that was never opened is nothing.
fn close(groups: &mut Vec<Vec<Item>>, warnings: &mut Vec<Warning>) {
    if groups.len() < 2 {
        return;
    }
    let Some(group) = groups.pop() else { return };
    let mut parts = joined(group, warnings);
    let part = match parts.len() {
        0 => return,
        1 => parts.remove(0),
        _ => Part::AnyOf(parts),
    };
    if let Some(around) = groups.last_mut() {
        around.push(Item::Part(part));
    }
}

/// Joins the parts of one group.
fn joined(items: Vec<Item>, warnings: &mut Vec<Warning>) -> Vec<Part> {
    let has =
        |one: Operator| items.iter().any(|item| matches!(item, Item::Operator(o) if *o == one));
    let is_mixed = has(Operator::Or) && (has(Operator::And) || has(Operator::Near));
    if is_mixed {
        let problem =
            "`AND` and `OR` are mixed without parentheses, so the words were taken as alternatives";
        warnings.push(malformed(problem));
    }
    let (items, excluded) = match has(Operator::Or) {
        true => (items, Vec::new()),
        false => without_excluded(items),
    };
    let mut parts: Vec<Part> = Vec::new();
    let (mut is_required, mut is_not, mut is_or) = (false, false, false);
    for item in items {
        let part = match item {
            Item::Operator(Operator::Not) => {
                is_not = true;
                continue;
            }
            Item::Operator(Operator::Or) => {
                is_or = !is_mixed && !parts.is_empty();
                continue;
            }
            Item::Operator(Operator::And | Operator::Near) => {
                if !is_mixed && let Some(before) = parts.pop() {
                    parts.push(required(before));
                    is_required = true;
                }
                continue;
            }
            Item::Part(part) => part,
        };
        let is_excluded = matches!(part, Part::Not(_));
        let part = match part {
            part if is_not && !is_excluded => Part::Not(Box::new(part)),
            part if is_required => required(part),
            part => part,
        };
        match parts.pop() {
            Some(Part::AnyOf(mut any)) if is_or && !matches!(part, Part::Not(_)) => {
                any.push(part);
                parts.push(Part::AnyOf(any));
            }
            Some(before) if is_or && !matches!(part, Part::Not(_)) => {
                parts.push(Part::AnyOf(vec![before, part]));
            }
            before => {
                parts.extend(before);
                parts.push(part);
            }
        }
        (is_required, is_not, is_or) = (false, false, false);
    }
    parts.extend(excluded);
    parts
}

/// Takes what groups leave out of them: `(roof NOT tiles) AND slate` wants no tiles, and not anything
/// that has a roof or has none.
fn without_excluded(items: Vec<Item>) -> (Vec<Item>, Vec<Part>) {
    let (mut kept, mut excluded) = (Vec::with_capacity(items.len()), Vec::new());
    for item in items {
        let is_refused = matches!(kept.last(), Some(Item::Operator(Operator::Not)));
        match item {
            Item::Part(Part::AnyOf(parts)) if !is_refused => {
                let (out, mut wanted): (Vec<Part>, Vec<Part>) =
                    parts.into_iter().partition(|part| matches!(part, Part::Not(_)));
                excluded.extend(out);
                match wanted.len() {
                    0 => {}
                    1 => kept.push(Item::Part(wanted.remove(0))),
                    _ => kept.push(Item::Part(Part::AnyOf(wanted))),
                }
            }
            item @ (Item::Part(_) | Item::Operator(_)) => kept.push(item),
        }
    }
    (kept, excluded)
}

fn required(part: Part) -> Part {
    match part {
        // These have to match, or not to, already.
        Part::Not(_) | Part::Field { .. } | Part::Phrase(_) | Part::Prefix(_) | Part::Must(_) => {
            part
        }
        Part::Words(_) | Part::AnyOf(_) => Part::Must(Box::new(part)),
    }
}

fn has_operators(pieces: &[Piece<'_>], language: Language) -> bool {
    let is_operator = |piece: &&Piece<'_>| Operator::of(piece).is_some();
    let words = || pieces.iter().filter(|piece| !is_operator(piece)).map(|piece| piece.before);
    let is_shouted = words().any(|word| word.chars().any(char::is_uppercase))
        && !words().any(|word| word.chars().any(char::is_lowercase))
        && pieces.iter().all(|piece| piece.quoted.is_none());
    if is_shouted {
        return false;
    }
    let operators: Vec<Operator> = pieces.iter().filter_map(Operator::of).collect();
    let is_joined = operators.iter().any(|one| matches!(one, Operator::And | Operator::Near));
    let is_sentence = || words().any(|word| is_small(word, language));
    let leaves_out = |pair: &[Piece<'_>]| match pair {
        [not, next] if Operator::of(not) == Some(Operator::Not) => {
            next.quoted.is_some() || !is_sentence() && !is_denied(next.before)
        }
        _ => false,
    };
    is_joined || pieces.windows(2).any(leaves_out)
}

/// A small word of another language is a thing in this one. One of two letters is none.
fn is_small(word: &str, language: Language) -> bool {
    let folded = fold(word.trim_matches(|char: char| !char.is_alphanumeric()));
    let is_short = folded.chars().nth(MAX_SHORT_CHARS).is_none();
    is_small_word_of(&folded, language) || is_short && is_small_word(&folded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::parse;

    fn words(text: &str) -> Part {
        Part::Words(text.to_owned())
    }

    fn must(part: Part) -> Part {
        Part::Must(Box::new(part))
    }

    fn not(part: Part) -> Part {
        Part::Not(Box::new(part))
    }

    #[track_caller]
    fn check(query: &str, expected: &[Part]) {
        let parsed = parse(query, &["ext".to_owned()], Language::English);
        assert_eq!(parsed.parts, expected, "{query}");
    }

    /// `NOT` and `AND` were words like others: `lighthouse NOT stone` gave what has `stone` first.
    #[test]
    fn operators_are_read() {
        let any = |parts: &[Part]| Part::AnyOf(parts.to_vec());
        let phrase = Part::Phrase("red roof".to_owned());
        check("lighthouse NOT stone", &[words("lighthouse"), not(words("stone"))]);
        check("灯台 NOT 石", &[words("灯台"), not(words("石"))]);
        check("a roof NOT \"red roof\"", &[words("a"), words("roof"), not(phrase.clone())]);
        check("roof AND tiles", &[must(words("roof")), must(words("tiles"))]);
        check("\"red roof\" AND tiles", &[phrase, must(words("tiles"))]);
        check("roof AND NOT tiles", &[must(words("roof")), not(words("tiles"))]);
        check("old roof AND tiles", &[words("old"), must(words("roof")), must(words("tiles"))]);
        check("roof NEAR/5 tiles", &[must(words("roof")), must(words("tiles"))]);
        check(
            "vendor AND (contract OR agreement)",
            &[must(words("vendor")), must(any(&[words("contract"), words("agreement")]))],
        );
        check(
            "vendor NEAR/5 contract AND (2021)",
            &[must(words("vendor")), must(words("contract")), must(words("2021"))],
        );
        check("roof AND", &[must(words("roof"))]);
        // A group with what is left out of it was anything that has the one or lacks the other.
        check(
            "(roof NOT tiles) AND slate",
            &[must(words("roof")), must(words("slate")), not(words("tiles"))],
        );
        check(
            "slate AND (roof OR wall NOT tiles)",
            &[
                must(words("slate")),
                must(any(&[words("roof"), words("wall")])),
                not(words("tiles")),
            ],
        );
    }

    /// The distance was read and did nothing, without a word.
    #[test]
    fn a_distance_that_is_not_measured_is_said() {
        let warnings = |query: &str| -> Vec<String> {
            let parsed = parse(query, &[], Language::English);
            parsed.warnings.into_iter().map(|warning| warning.code.to_string()).collect()
        };
        assert_eq!(warnings("roof NEAR/5 tiles"), ["distance_not_measured"]);
        assert_eq!(warnings("(roof NEAR/2 tiles) AND slate"), ["distance_not_measured"]);
        assert!(warnings("roof NEAR tiles").is_empty());
        assert!(warnings("\"NEAR/5\" tiles").is_empty());
    }

    #[test]
    fn sentences_and_capitals_are_plain_words() {
        check("TERMS AND CONDITIONS", &[words("TERMS"), words("AND"), words("CONDITIONS")]);
        let parsed = parse("which costs are NOT covered", &[], Language::English);
        assert!(parsed.parts.contains(&words("covered")), "{parsed:?}");
        check("damage NOT covered", &[words("damage"), words("NOT"), words("covered")]);
        check("roof and tiles", &[words("roof"), words("and"), words("tiles")]);
        let mixed = parse("roof AND tiles OR slate", &[], Language::English);
        assert_eq!(mixed.parts, [words("roof"), words("tiles"), words("slate")]);
        assert_eq!(mixed.warnings.len(), 1);
    }

    proptest::proptest! {
        #[test]
        fn any_query_is_read(query in "([a-z(){} \"-]|AND |OR |NOT |NEAR/2 ){0,30}") {
            let _ = parse(&query, &["ext".to_owned()], Language::English).plain_text();
        }
    }
}
