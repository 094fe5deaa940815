//! Words that names and texts must not have: metaphors that have to be explained, for which this
//! field has a word of its own that readers guess and search for.
//!
//! Only what is never right is listed, so that nothing needs an exception: `stands for` is plain
//! English and `stands at` is not ours.

use super::{Problem, Workspace};

/// Types that say nothing about what they hold, and what to call them.
const TYPES: [(&str, &str); 9] = [
    ("Asked", "`Request`, or what is asked"),
    ("Desk", "`Client`, `Session`, or what it does"),
    ("Found", "`Match` or `Hit`"),
    ("Keeper", "`StoreBackend`, or what it keeps"),
    ("Kept", "`OpenStore`, or what it keeps"),
    ("Lasting", "`SharedState`"),
    ("Meaning", "`Embedding`"),
    ("Said", "`Transcript`, or whose answer it is"),
    ("World", "`Fixture`"),
];

/// Phrases of comments and messages, in two parts so that this file passes its own rule, and what to
/// say instead.
const PHRASES: [(&str, &str, &str); 12] = [
    ("codes of ", "the house", "the codes of every family"),
    ("inside ", "the house", "inside the workspace"),
    ("moved into ", "the house", "was added"),
    ("a room of ", "the workspace", "a crate"),
    ("nothing ", "stands at", "not found: no page or endpoint at"),
    ("stands ", "beside", "is next to"),
    ("asks nobody ", "who they are", "authentication is off"),
    ("holders of ", "1 key", "1 API key"),
    ("found by ", "meaning", "found by vector"),
    ("searched by ", "meaning", "searched by vector"),
    ("model cannot ", "be had", "the model could not be downloaded"),
    ("commits wait ", "for company", "commits are batched"),
];

pub(super) fn check(workspace: &Workspace) -> Vec<Problem> {
    // The changelog tells what earlier versions said.
    let files = workspace.files.iter().filter(|(path, _)| {
        (path.ends_with(".rs") || path.ends_with(".md")) && *path != "CHANGELOG.md"
    });
    files.flat_map(|(path, text)| check_file(path, text)).collect()
}

fn check_file(path: &str, text: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (line_idx, line) in text.lines().enumerate() {
        let mut add = |found: &str, instead: &str| {
            let place = format!("{path}:{}", line_idx + 1);
            problems.push(Problem::new(place, format!("`{found}` is not plain: say {instead}")));
        };
        if let Some((name, instead)) =
            defined_type(line).and_then(|name| TYPES.iter().find(|(refused, _)| *refused == name))
        {
            add(name, instead);
        }
        let lower = line.to_lowercase();
        for (first, second, instead) in PHRASES {
            let phrase = format!("{first}{second}");
            if lower.contains(&phrase) {
                add(&phrase, &format!("`{instead}`"));
            }
        }
    }
    problems
}

/// Gives the name of the type that a line defines.
fn defined_type(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let line = line.strip_prefix("pub(crate) ").or(line.strip_prefix("pub ")).unwrap_or(line);
    let rest =
        ["struct ", "enum ", "trait ", "type "].iter().find_map(|it| line.strip_prefix(it))?;
    rest.split(|char: char| !char.is_alphanumeric() && char != '_').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_never_right_is_refused() {
        let places = |text: &str| {
            let problems = check_file("x.rs", text).into_iter();
            problems.map(|problem| problem.place).collect::<Vec<_>>()
        };
        let types = "pub(crate) struct World {\nenum Foundation {\npub type Desk = Vec<u8>;\n";
        assert_eq!(places(types), ["x.rs:1", "x.rs:3"]);
        let (first, second, _) = PHRASES[4];
        let text = format!("// What a letter stands for.\n// {first}{}\n", second.to_uppercase());
        assert_eq!(places(&text), ["x.rs:2"]);
    }
}
