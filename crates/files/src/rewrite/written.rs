//! What a language model writes around and into a query: labels, marks of lists and emphasis, and
//! the syntax of other search engines.

/// What models write before a query, beside words with `query` in them.
const LABELS: [&str; 8] =
    ["fts", "search", "search terms", "search string", "keywords", "terms", "answer", "result"];

/// Gives the query in a line that a model wrote, in the syntax of a search; nothing where the line is
/// a statement for a database.
pub(super) fn query_in(line: &str, question: &str) -> Option<String> {
    let line: String = line.chars().map(|char| if is_hidden(char) { ' ' } else { char }).collect();
    let line = without_mark(&line);
    // `Here is the query: vendor contracts`.
    let line = match line.split_once(':') {
        Some((lead, rest)) if is_label(lead) => without_mark(rest),
        _ => line,
    };
    let lower = line.to_lowercase();
    if lower.starts_with("select ") && lower.contains(" from ") {
        return None;
    }
    let line =
        line.replace(['“', '”', '„', '«', '»'], "\"").replace("**", "").replace("||", " OR ");
    let line = line.replace(['<', '>', '`'], " ");
    // Every second part is in quotes, and is as it is.
    let parts = line.split('"').enumerate().map(|(part_idx, part)| match part_idx % 2 {
        0 => plain_words(part, question),
        _ => part.to_owned(),
    });
    Some(parts.collect::<Vec<_>>().join("\"").trim().to_owned())
}

/// Takes away the mark of a list: `- `, `* `, `1. `.
fn without_mark(line: &str) -> &str {
    let line = line.trim();
    if let Some(rest) = line.strip_prefix(['-', '*', '•']).filter(|rest| rest.starts_with(' ')) {
        return rest.trim();
    }
    let rest = line.trim_start_matches(|char: char| char.is_ascii_digit());
    let n_digits = line.len() - rest.len();
    match rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") ")) {
        Some(rest) if (1..=2).contains(&n_digits) => rest.trim(),
        _ => line,
    }
}

fn is_label(lead: &str) -> bool {
    let lead = lead.trim_matches(|char: char| !char.is_alphanumeric()).to_lowercase();
    lead.contains("query") || LABELS.contains(&lead.as_str())
}

/// Tells whether a character is seen by nobody: control characters, and marks of direction.
fn is_hidden(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Takes the syntax of other engines off words: `title:ferry`, `+ferry`, `ferry^2`, `ferry~1`.
fn plain_words(text: &str, question: &str) -> String {
    text.split(' ').map(|word| plain_word(word, question)).collect::<Vec<_>>().join(" ")
}

fn plain_word<'a>(word: &'a str, question: &str) -> &'a str {
    // What the question itself says so is meant so.
    if question.contains(word) {
        return word;
    }
    let word = word.strip_prefix('+').unwrap_or(word);
    let word = match word.split_once(':') {
        Some((field, rest))
            if !field.is_empty()
                && field.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_')
                && rest.starts_with(|char: char| char.is_alphanumeric() || char == '(') =>
        {
            rest
        }
        _ => word,
    };
    match word.rsplit_once(['^', '~']) {
        Some((rest, boost))
            if !rest.is_empty()
                && boost.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') =>
        {
            rest
        }
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_around_a_query_and_is_other_syntax_goes() {
        for (line, query) in [
            ("ferry leaves", "ferry leaves"),
            ("1. ferry leaves", "ferry leaves"),
            ("- ferry leaves", "ferry leaves"),
            ("-tickets ferry", "-tickets ferry"),
            ("fts: ferry leaves", "ferry leaves"),
            ("**Query:** ferry leaves", "ferry leaves"),
            ("Here is the query: \"ferry leaves\"", "\"ferry leaves\""),
            ("**ferry** leaves", "ferry leaves"),
            ("`ferry leaves`", "ferry leaves"),
            ("“ferry leaves” tickets", "\"ferry leaves\" tickets"),
            ("title:ferry^2 +tickets~1", "ferry tickets"),
            ("ferry || boat", "ferry  OR  boat"),
            ("ferry\u{202e}leaves\0tickets", "ferry leaves tickets"),
            ("ISO 9001:2015", "ISO 9001:2015"),
            ("12 ferries", "12 ferries"),
        ] {
            assert_eq!(query_in(line, "when?").as_deref(), Some(query), "{line}");
        }
        assert_eq!(query_in("SELECT * FROM docs WHERE text LIKE '%ferry%'", "when?"), None);
        let asked = "what does title:ferry mean";
        assert_eq!(query_in("title:ferry", asked).as_deref(), Some("title:ferry"));
    }
}
