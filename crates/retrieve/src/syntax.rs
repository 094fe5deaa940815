//! The query syntax for people: `"a phrase"`, `-not`, `field:value`, `prefix*`, `one OR other`, and
//! the operators of [`operators`](crate::operators).
//!
//! Nothing typed is an error. What looks like syntax and is malformed (a quote that never
//! closes, an `OR` with nothing beside it, a lone `-`) is taken as plain words with a warning.
//! Plain words are alternatives already; `OR` makes phrases and prefixes, which otherwise have
//! to match, alternatives as well.

use model::Warning;
use text::Language;

use crate::operators;

/// One part of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// Words, any of which may match.
    Words(String),
    /// Words that are together.
    Phrase(String),
    /// The start of a word.
    Prefix(String),
    /// Has to match.
    Must(Box<Part>),
    /// Must not match.
    Not(Box<Part>),
    /// At least one has to match.
    AnyOf(Vec<Part>),
    /// An attribute that the document has to have.
    Field {
        /// The attribute.
        name: String,
        value: String,
    },
}

/// A query, taken apart.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Parsed {
    pub(crate) parts: Vec<Part>,
    pub(crate) warnings: Vec<Warning>,
}

impl Parsed {
    /// Gives the text that says what is wanted: everything but what is excluded or filtered.
    pub(crate) fn plain_text(&self) -> String {
        let mut texts = Vec::new();
        self.parts.iter().for_each(|part| collect(part, &mut texts));
        texts.join(" ")
    }
}

fn collect<'a>(part: &'a Part, texts: &mut Vec<&'a str>) {
    match part {
        Part::Words(text) | Part::Phrase(text) | Part::Prefix(text) => texts.push(text),
        Part::AnyOf(parts) => parts.iter().for_each(|part| collect(part, texts)),
        Part::Must(part) => collect(part, texts),
        Part::Not(_) | Part::Field { .. } => {}
    }
}

/// Takes a query apart. `fields` are the names that may be before a colon; any other colon
/// is a part of its word. `language` is that of the query.
pub(crate) fn parse(query: &str, fields: &[String], language: Language) -> Parsed {
    let mut parsed = Parsed::default();
    match pieces(query) {
        Some(pieces) => match operators::read(&pieces, fields, language, &mut parsed.warnings) {
            Some(parts) => parsed.parts = parts,
            None => assemble(&pieces, fields, &mut parsed),
        },
        None => {
            parsed.warnings.push(malformed("a quote is not closed"));
            parsed.parts.push(Part::Words(query.replace('"', " ")));
        }
    }
    let has_wanted = parsed.parts.iter().any(|part| !matches!(part, Part::Not(_)));
    if !has_wanted && !parsed.parts.is_empty() {
        parsed.warnings.push(malformed("everything in it is excluded"));
        parsed.parts = vec![Part::Words(query.to_owned())];
    }
    parsed
}

/// A stretch between spaces, where a quoted phrase is one stretch.
#[derive(Debug, PartialEq)]
pub(crate) struct Piece<'a> {
    pub(crate) before: &'a str,
    pub(crate) quoted: Option<&'a str>,
}

/// Cuts a query at spaces outside quotes; nothing when a quote does not close.
fn pieces(query: &str) -> Option<Vec<Piece<'_>>> {
    let mut pieces = Vec::new();
    let mut rest = query.trim_start();
    while !rest.is_empty() {
        let end = rest.find(|char: char| char.is_whitespace() || char == '"').unwrap_or(rest.len());
        let (before, after) = rest.split_at(end);
        let is_lead = |before: &str| before.is_empty() || before == "-" || before.ends_with(':');
        let opens = after.starts_with('"') && is_lead(before.trim_start_matches('('));
        if opens {
            let (quoted, after) = after[1..].split_once('"')?;
            pieces.push(Piece { before, quoted: Some(quoted) });
            rest = after.trim_start();
        } else {
            // A quote inside a word, such as an inch sign, is a part of nothing.
            if !before.is_empty() {
                pieces.push(Piece { before, quoted: None });
            }
            let skip = after.starts_with('"');
            if skip && after[1..].starts_with(|char: char| !char.is_whitespace()) {
                return None;
            }
            rest = after[usize::from(skip)..].trim_start();
        }
    }
    Some(pieces)
}

fn assemble(pieces: &[Piece<'_>], fields: &[String], parsed: &mut Parsed) {
    let mut joins_next = false;
    for (piece_idx, piece) in pieces.iter().enumerate() {
        if piece.before == "OR" && piece.quoted.is_none() {
            let has_both = piece_idx > 0 && piece_idx + 1 < pieces.len() && !joins_next;
            let is_wanted = !matches!(parsed.parts.last(), Some(Part::Not(_) | Part::Field { .. }));
            if has_both && is_wanted {
                joins_next = true;
            } else {
                parsed.warnings.push(malformed("`OR` is without a word on each side"));
            }
            continue;
        }
        let part = part_of(piece, fields, &mut parsed.warnings);
        let Some(part) = part else { continue };
        if joins_next && !matches!(part, Part::Not(_) | Part::Field { .. }) {
            match parsed.parts.pop() {
                Some(Part::AnyOf(mut parts)) => {
                    parts.push(part);
                    parsed.parts.push(Part::AnyOf(parts));
                }
                Some(before) => parsed.parts.push(Part::AnyOf(vec![before, part])),
                None => parsed.parts.push(part),
            }
        } else {
            parsed.parts.push(part);
        }
        joins_next = false;
    }
}

pub(crate) fn part_of(
    piece: &Piece<'_>,
    fields: &[String],
    warnings: &mut Vec<Warning>,
) -> Option<Part> {
    let (is_not, before) = match piece.before.strip_prefix('-') {
        Some("") if piece.quoted.is_none() => {
            warnings.push(malformed("a `-` is alone"));
            return None;
        }
        // A dash before another is a dash of the text; so is one before a digit.
        Some(rest) if rest.starts_with(|char: char| char == '-' || char.is_ascii_digit()) => {
            (false, piece.before)
        }
        Some(rest) => (true, rest),
        None => (false, piece.before),
    };
    let field = before.split_once(':').filter(|(name, _)| fields.iter().any(|field| field == name));
    let part = match (field, piece.quoted) {
        (Some((name, value)), quoted) => {
            let value = quoted.unwrap_or(value).to_owned();
            if value.is_empty() {
                warnings.push(malformed("a field has no value"));
                Part::Words(name.to_owned())
            } else {
                Part::Field { name: name.to_owned(), value }
            }
        }
        (None, Some(quoted)) if quoted.trim().is_empty() => return None,
        (None, Some(quoted)) => Part::Phrase(quoted.to_owned()),
        (None, None) => match before.strip_suffix('*') {
            Some(start)
                if start.chars().count() >= 2 && start.chars().all(char::is_alphanumeric) =>
            {
                Part::Prefix(start.to_owned())
            }
            _ => Part::Words(before.to_owned()),
        },
    };
    Some(if is_not { Part::Not(Box::new(part)) } else { part })
}

pub(crate) fn malformed(problem: &str) -> Warning {
    Warning::new("query_syntax", format!("the query was read as plain words: {problem}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Part {
        Part::Words(text.to_owned())
    }

    #[track_caller]
    fn check(query: &str, expected: &[Part], n_warnings: usize) {
        let parsed = parse(query, &["ext".to_owned()], Language::English);
        assert_eq!(parsed.parts, expected, "{query}");
        assert_eq!(parsed.warnings.len(), n_warnings, "{query}");
    }

    #[test]
    fn syntax_is_read_and_malformed_syntax_is_plain_words() {
        let not = |part: Part| Part::Not(Box::new(part));
        let phrase = |text: &str| Part::Phrase(text.to_owned());
        check("red roof", &[words("red"), words("roof")], 0);
        check("\"red roof\" tiles", &[phrase("red roof"), words("tiles")], 0);
        check("roof -red", &[words("roof"), not(words("red"))], 0);
        check("roof -\"dark red\"", &[words("roof"), not(phrase("dark red"))], 0);
        check("e-mail -5 degrees", &[words("e-mail"), words("-5"), words("degrees")], 0);
        check("insul*", &[Part::Prefix("insul".to_owned())], 0);
        check("a OR b", &[Part::AnyOf(vec![words("a"), words("b")])], 0);
        check("a OR b OR \"c d\"", &[Part::AnyOf(vec![words("a"), words("b"), phrase("c d")])], 0);
        let pdf = Part::Field { name: "ext".to_owned(), value: "pdf".to_owned() };
        check("roof ext:pdf", &[words("roof"), pdf], 0);
        check("http://x", &[words("http://x")], 0);
        check("\"red roof", &[words(" red roof")], 1);
        check("OR roof", &[words("roof")], 1);
        check("roof OR", &[words("roof")], 1);
        check("- roof", &[words("roof")], 1);
        check("-roof", &[words("-roof")], 1);
        check("", &[], 0);
        check("a 5\" pipe", &[words("a"), words("5"), words("pipe")], 0);
    }

    proptest::proptest! {
        #[test]
        fn any_query_is_read(query in ".{0,60}") {
            let parsed = parse(&query, &["ext".to_owned()], Language::English);
            let _ = parsed.plain_text();
        }
    }
}
