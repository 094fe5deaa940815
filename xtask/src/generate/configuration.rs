//! The page of settings: the configuration's structs with the sentence above each field.

use std::collections::BTreeMap;

use super::{Page, cell, heading};
use crate::project;

/// The struct that holds everything else, and where it is.
const ROOT: (&str, &str) = ("Config", "crates/dowse/src/config/sections.rs");
/// How deep sections hold sections.
const MAX_DEPTH: usize = 6;

/// A field of a struct that can be read from the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Field {
    name: String,
    kind: String,
    what: String,
}

type Structs = BTreeMap<String, Vec<Field>>;

/// Walks from the root through every section that some crate defines.
pub(super) fn page() -> anyhow::Result<Page> {
    let mut structs = Structs::new();
    for path in project::files()? {
        let is_member = path.starts_with("crates") && path.extension().is_some_and(|it| it == "rs");
        let is_root = path.ends_with(ROOT.1);
        if is_member {
            let source = fs_err::read_to_string(project::root().join(&path))?;
            for (name, fields) in structs_in(&source) {
                // Only the root may have the root's name.
                if (name == ROOT.0) == is_root {
                    structs.insert(name, fields);
                }
            }
        }
    }
    let root = structs.get(ROOT.0).cloned().unwrap_or_default();
    anyhow::ensure!(!root.is_empty(), "`{}` has no struct `{}`", ROOT.1, ROOT.0);
    let mut text = heading(
        "Configuration",
        "Every key of `dowse.toml`. Each has a default unless it names a thing of yours; an unknown key is an error. A key that holds one value can be set from the environment as well: `server.listen` is `DOWSE_SERVER_LISTEN`.",
    );
    text.push_str("| key | type | what |\n|---|---|---|\n");
    rows(&structs, &root, "", MAX_DEPTH, &mut text);
    Ok(Page { name: "configuration.md", text })
}

fn rows(structs: &Structs, fields: &[Field], prefix: &str, depth: usize, text: &mut String) {
    for Field { name, kind, what } in fields {
        let inner = unwrapped(kind);
        let is_list = kind.contains("Vec<");
        match structs.get(inner).filter(|_| depth > 0) {
            Some(section) => {
                let key =
                    if is_list { format!("{prefix}{name}[]") } else { format!("{prefix}{name}") };
                text.push_str(&format!("| **`{key}`** | section | {} |\n", cell(what)));
                rows(structs, section, &format!("{key}."), depth - 1, text);
            }
            None => {
                let kind = kind.rsplit("::").next().unwrap_or(kind);
                text.push_str(&format!(
                    "| `{prefix}{name}` | `{}` | {} |\n",
                    cell(kind),
                    cell(what)
                ));
            }
        }
    }
}

/// Takes `Option` and `Vec` from around a type.
fn unwrapped(kind: &str) -> &str {
    for wrapper in ["Option<", "Vec<"] {
        if let Some(inner) = kind.strip_prefix(wrapper).and_then(|it| it.strip_suffix('>')) {
            return unwrapped(inner);
        }
    }
    kind
}

/// Finds the structs of a file that derive `Deserialize` and refuse unknown keys.
fn structs_in(source: &str) -> Structs {
    let mut structs = Structs::new();
    let mut is_setting = false;
    let mut current: Option<(String, Vec<Field>)> = None;
    let mut comment: Vec<&str> = Vec::new();
    let mut is_skipped = false;
    for line in source.lines().map(str::trim) {
        if let Some(sentence) = line.strip_prefix("///") {
            comment.push(sentence.trim());
        } else if line.starts_with("#[") {
            is_setting |= line.contains("deny_unknown_fields");
            is_skipped |= line == "#[serde(skip)]";
        } else if let Some((name, fields)) = &mut current {
            if line == "}" {
                structs.insert(std::mem::take(name), std::mem::take(fields));
                current = None;
                is_setting = false;
            } else if let Some((name, kind)) = field_in(line).filter(|_| !is_skipped) {
                let what = comment.join(" ");
                fields.push(Field { name: name.to_owned(), kind: kind.to_owned(), what });
            }
            comment.clear();
            is_skipped = false;
        } else {
            let name = line.strip_suffix(" {").and_then(|it| it.split_once("struct "));
            if let Some((_, name)) = name.filter(|_| is_setting) {
                current = Some((name.to_owned(), Vec::new()));
            }
            is_setting = false;
            comment.clear();
        }
    }
    structs
}

fn field_in(line: &str) -> Option<(&str, &str)> {
    let declaration = ["pub(crate) ", "pub(super) ", "pub "]
        .iter()
        .find_map(|visibility| line.strip_prefix(visibility))
        .unwrap_or(line);
    let (name, kind) = declaration.strip_suffix(',')?.split_once(": ")?;
    let is_name = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    is_name.then_some((name, kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "
/// Everything.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Config {
    /// Not a key.
    #[serde(skip)]
    pub(crate) base: PathBuf,
    /// Where data
    /// is kept.
    pub(crate) data_dir: PathBuf,
    /// Who calls.
    pub(crate) auth: Option<AuthConfig>,
    /// Lists.
    pub(crate) tables: Vec<TableConfig>,
}

#[serde(deny_unknown_fields)]
pub struct AuthConfig {
    /// The issuer.
    pub issuer: String,
}

#[serde(deny_unknown_fields)]
pub struct TableConfig {
    /// Its name.
    pub name: String,
}

pub struct Other {
    pub port: u16,
}
";

    #[test]
    fn sections_are_followed_to_their_keys() {
        let structs = structs_in(SOURCE);
        assert!(!structs.contains_key("Other"));
        let mut text = String::new();
        rows(&structs, &structs["Config"], "", MAX_DEPTH, &mut text);
        let expected = "\
| `data_dir` | `PathBuf` | Where data is kept. |
| **`auth`** | section | Who calls. |
| `auth.issuer` | `String` | The issuer. |
| **`tables[]`** | section | Lists. |
| `tables[].name` | `String` | Its name. |
";
        assert_eq!(text, expected);
    }
}
