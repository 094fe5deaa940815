//! A comment on an item that says no more than its name is left out, or says how it is used.
//!
//! Looked at are comments of one line, without figures and code, on functions, types, fields and
//! variants. Constants are passed over: what is written of a limit is its line in the reference.

use super::product::product;
use super::{Problem, Workspace};

/// Words that add nothing to a name.
const SMALL_WORDS: [&str; 40] = [
    "a", "all", "an", "and", "are", "as", "by", "for", "from", "get", "gets", "give", "gives",
    "has", "in", "is", "it", "its", "make", "makes", "new", "of", "on", "one", "or", "return",
    "returns", "says", "tell", "tells", "that", "the", "their", "there", "to", "what", "when",
    "whether", "which", "with",
];

/// Crates that only tests and chores use.
const ELSEWHERE: [&str; 5] =
    ["crates/conformance/", "crates/fit/", "crates/measure/", "crates/testkit/", "xtask/"];

pub(super) fn check(workspace: &Workspace) -> Vec<Problem> {
    let is_product = |path: &str| {
        path.starts_with("crates/")
            && !ELSEWHERE.iter().any(|folder| path.starts_with(folder))
            && !path.contains("/tests/")
            && !path.ends_with("tests.rs")
    };
    let files = workspace.rust_files().filter(|(path, _)| is_product(path));
    files.flat_map(|(path, text)| check_file(path, text)).collect()
}

fn check_file(path: &str, text: &str) -> Vec<Problem> {
    let product = product(text);
    let lines: Vec<&str> = product.lines().collect();
    let mut problems = Vec::new();
    let mut owner = "";
    for (line_idx, line) in lines.iter().enumerate() {
        if let Some(name) = owner_of(line) {
            owner = name;
        }
        let Some(comment) = line.trim_start().strip_prefix("/// ") else { continue };
        let is_comment = |line: Option<&&str>| line.is_some_and(|it| it.trim().starts_with("///"));
        if is_comment(lines.get(line_idx + 1))
            || is_comment(line_idx.checked_sub(1).and_then(|before| lines.get(before)))
        {
            continue;
        }
        let item = lines[line_idx + 1..].iter().find(|line| !line.trim().starts_with("#["));
        let Some(name) = item.and_then(|item| named(item)) else { continue };
        if repeats(comment, name, owner) {
            let what = format!(
                "`{comment}` only repeats `{name}`: leave it out, or say how it is used, in what \
                 unit, or when it is absent"
            );
            problems.push(Problem::new(format!("{path}:{}", line_idx + 1), what));
        }
    }
    problems
}

/// Tells whether every word of a comment is small or a part of one of two names.
fn repeats(comment: &str, name: &str, owner: &str) -> bool {
    // Help of the command line has no full stop, and every argument needs a line.
    let is_sentence = comment.ends_with('.');
    if !is_sentence || comment.contains(|c: char| c == '`' || c.is_ascii_digit() || !c.is_ascii()) {
        return false;
    }
    let known: Vec<String> = parts(name).chain(parts(owner)).collect();
    let mut words = comment
        .split(|char: char| !char.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(|word| stem(&word.to_lowercase()))
        .filter(|word| !SMALL_WORDS.contains(&word.as_str()))
        .peekable();
    words.peek().is_some() && words.all(|word| known.contains(&word))
}

/// Gives the type that the lines after this one belong to.
fn owner_of(line: &str) -> Option<&str> {
    let line = line.strip_prefix("pub(crate) ").or(line.strip_prefix("pub ")).unwrap_or(line);
    if let Some(rest) = line.strip_prefix("impl") {
        let of = rest.rsplit(" for ").next()?.trim_end_matches('{').trim();
        return of.split('<').next()?.split(|char: char| !is_part(char)).rfind(|it| !it.is_empty());
    }
    let rest = ["struct ", "enum ", "trait "].iter().find_map(|it| line.strip_prefix(it))?;
    rest.split(|char: char| !is_part(char)).next()
}

/// Gives the name that a line defines, but for constants.
fn named(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let line = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(") ")?.1,
        Some(rest) => rest.strip_prefix(' ')?,
        None => line,
    };
    let first = line.split(' ').next()?;
    if ["const", "static", "impl", "use", "mod", "macro_rules!"].contains(&first) {
        let function = line.strip_prefix("const fn ")?;
        return function.split(|char: char| !is_part(char)).next();
    }
    let kinds = ["async fn ", "unsafe fn ", "fn ", "struct ", "enum ", "trait ", "type "];
    let rest = kinds.iter().find_map(|kind| line.strip_prefix(kind)).unwrap_or(line);
    rest.split(|char: char| !is_part(char)).next().filter(|name| !name.is_empty())
}

fn is_part(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

/// Gives the words of a name in snake or camel case.
fn parts(name: &str) -> impl Iterator<Item = String> {
    let mut parts = vec![String::new()];
    for char in name.chars() {
        if char == '_' || char.is_uppercase() {
            parts.push(String::new());
        }
        if let Some(part) = parts.last_mut()
            && char != '_'
        {
            part.extend(char.to_lowercase());
        }
    }
    parts.into_iter().filter(|part| !part.is_empty()).map(|part| stem(&part))
}

/// Takes the ending off a plural.
fn stem(word: &str) -> String {
    match word.strip_suffix("ies") {
        Some(rest) => format!("{rest}y"),
        None => word.strip_suffix('s').filter(|rest| rest.len() > 2).unwrap_or(word).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(comment: &str, item: &str, expected: bool) {
        let text = format!("impl Store {{\n    /// {comment}\n    #[must_use]\n    {item}\n}}\n");
        assert_eq!(!check_file("crates/a/src/b.rs", &text).is_empty(), expected, "{comment}");
    }

    #[test]
    fn a_comment_must_say_more_than_its_name() {
        check("Gives the catalogue.", "pub fn catalogue(&self) -> &Catalogue {", true);
        check("Tells whether the store is empty.", "pub(crate) fn is_empty(&self) -> bool {", true);
        check("Its documents.", "pub n_documents: usize,", true);
        check("A text part.", "TextPart(String),", true);
        check(
            "Gives the half that is the truth.",
            "pub fn catalogue(&self) -> &Catalogue {",
            false,
        );
        check("Its documents, from 1.", "pub n_documents: usize,", false);
        check("Documents of one store.", "pub const MAX_DOCUMENTS: usize = 3;", false);
        check("Its `documents`.", "pub n_documents: usize,", false);
        check("Which one.", "pub which: usize,", false);
        check("The documents", "documents: Vec<PathBuf>,", false);
    }
}
