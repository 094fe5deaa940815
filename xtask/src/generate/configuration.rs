//! The page of settings: the configuration's structs with the sentence above each field, its type,
//! its default, and one example that has every key.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context as _;

use super::defaults::Defaults;
use super::{Page, cell, heading};
use crate::project;

/// The struct that holds everything else, and where it is.
const ROOT: (&str, &str) = ("Config", "crates/dowse/src/config/sections.rs");
/// The example, which a test of the binary reads as a configuration.
const EXAMPLE: &str = "crates/dowse/src/config/example.toml";
/// How deep sections hold sections.
const MAX_DEPTH: usize = 6;

/// Types that may be written as one value or as a section: what the page says of the value, and the
/// struct that has the keys of the section.
const EITHER: [(&str, &str, &str); 2] =
    [("RootConfig", "path", "Restricted"), ("FilterKeyConfig", "text", "FilterKeyConfig::ByKind")];

/// Types that hold something under names of the reader's, and the struct that has its keys.
const NAMED: [(&str, &str); 2] = [("Fields", "Field"), ("Parameters", "Parameter")];

/// A field of a struct that can be read from the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Field {
    /// Its name in the sources.
    name: String,
    /// Its name in the file.
    key: String,
    kind: String,
    what: String,
    /// Whether it may be left out though its type does not say so.
    has_default: bool,
    /// The function that gives its value then.
    function: Option<String>,
}

type Structs = BTreeMap<String, Vec<Field>>;

/// What the sources say of the configuration.
#[derive(Debug, Default)]
struct Sources {
    structs: Structs,
    /// Words of enums that stand for themselves, with the case of their words.
    enums: BTreeMap<String, Words>,
    /// What holds when a key is left out.
    defaults: Defaults,
}

/// The words of an enum.
#[derive(Debug, Default)]
struct Words {
    case: String,
    words: Vec<String>,
    /// Whether it is known how each variant is written.
    is_whole: bool,
}

/// Walks from the root through every section that some crate defines.
pub(super) fn page() -> anyhow::Result<Page> {
    let mut sources = Sources::default();
    for path in project::files()? {
        let is_member = path.starts_with("crates") && path.extension().is_some_and(|it| it == "rs");
        let is_root = path.ends_with(ROOT.1);
        if !is_member {
            continue;
        }
        let source = fs_err::read_to_string(project::root().join(&path))?;
        for (name, fields) in structs_in(&source) {
            // Only the root may have the root's name.
            if name != ROOT.0 || is_root {
                sources.structs.insert(name, fields);
            }
        }
        sources.enums.extend(enums_in(&source));
        sources.defaults.add(&source);
    }
    let root = sources.structs.get(ROOT.0).cloned().unwrap_or_default();
    anyhow::ensure!(!root.is_empty(), "`{}` has no struct `{}`", ROOT.1, ROOT.0);
    let mut text = heading(
        "Configuration",
        "Every key of `dowse.toml`. A key without a default has to be given where its section is; an unknown key is an error. A key that holds one value can be set from the environment as well: `server.listen` is `DOWSE_SERVER_LISTEN`. An example with every key is at the end.",
    );
    text.push_str("| key | type | default | what |\n|---|---|---|---|\n");
    let mut keys = Vec::new();
    let mut table = TableWriter { sources: &sources, text: &mut text, keys: &mut keys };
    table.rows(ROOT.0, &root, "", MAX_DEPTH)?;
    let example = fs_err::read_to_string(project::root().join(EXAMPLE))?;
    let shown = keys_shown(&example);
    let is_missing = |key: &&String| !shown.contains(&key.replace("[]", ""));
    let missing: Vec<&String> = keys.iter().filter(is_missing).collect();
    text.push_str(&format!("\n## Example\n\n```toml\n{}\n```\n", example.trim_end()));
    anyhow::ensure!(missing.is_empty(), "`{EXAMPLE}` lacks {missing:?}");
    let unknown: Vec<&str> = text.lines().filter(|row| is_type_shown(row)).collect();
    anyhow::ensure!(unknown.is_empty(), "types of the sources are shown to readers: {unknown:?}");
    Ok(Page { name: "configuration.md", text })
}

/// Tells whether a row shows the name of a type, which says nothing to somebody who writes a
/// configuration.
fn is_type_shown(row: &str) -> bool {
    let kind = row.split(" | ").nth(1).unwrap_or_default();
    kind.split('`').skip(1).step_by(2).any(|word| word.starts_with(char::is_uppercase))
}

/// Gives every key that the example sets, with the sections that it is in; also those that are
/// commented out, as what cannot be given beside something else is.
fn keys_shown(example: &str) -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    let (mut section, mut unfinished) = (String::new(), String::new());
    for line in example.lines().map(str::trim) {
        let line = line.strip_prefix("# ").unwrap_or(line);
        if unfinished.is_empty() && line.starts_with('[') {
            section = line.split(']').next().unwrap_or(line).replace('[', "") + ".";
            add_section(&mut keys, &section);
            continue;
        }
        // A value may have several lines.
        unfinished.push_str(line);
        if !unfinished.contains(" = ") {
            unfinished.clear();
        } else if let Ok(table) = toml::from_str::<toml::Table>(&unfinished) {
            add_keys(&mut keys, &section, &table);
            unfinished.clear();
        } else {
            unfinished.push('\n');
        }
    }
    keys
}

/// Adds a section with those that it is in: `[views.parameters.host]` shows `views.parameters`.
fn add_section(keys: &mut BTreeSet<String>, section: &str) {
    let ends = section.match_indices('.').map(|(end, _)| section[..end].to_owned());
    keys.extend(ends);
}

/// Adds the keys of a section and of what is in it.
fn add_keys(keys: &mut BTreeSet<String>, section: &str, table: &toml::Table) {
    for (name, value) in table {
        let key = format!("{section}{name}");
        let in_list = value.as_array().into_iter().flatten();
        for table in in_list.chain([value]).filter_map(toml::Value::as_table) {
            add_keys(keys, &format!("{key}."), table);
        }
        keys.insert(key);
    }
}

/// Writes rows of the page, and remembers the keys.
struct TableWriter<'a> {
    sources: &'a Sources,
    text: &'a mut String,
    keys: &'a mut Vec<String>,
}

impl TableWriter<'_> {
    fn rows(
        &mut self,
        of: &str,
        fields: &[Field],
        prefix: &str,
        depth: usize,
    ) -> anyhow::Result<()> {
        let sources = self.sources;
        for field in fields {
            let Field { key: name, kind, what, .. } = field;
            let inner = unwrapped(kind);
            let suffix = if kind.contains("Vec<") { "[]" } else { "" };
            let key = format!("{prefix}{name}{suffix}");
            match self.sources.structs.get(inner).filter(|_| depth > 0) {
                Some(section) => {
                    self.text.push_str(&format!("| **`{key}`** | section | | {} |\n", cell(what)));
                    self.rows(inner, section, &format!("{key}."), depth - 1)?;
                }
                None => {
                    let key = format!("{prefix}{name}");
                    let kind = cell(&self.sources.kind(kind));
                    let default = self.sources.default_of(of, field).with_context(|| {
                        format!("what `{key}` is when it is left out is not written down")
                    })?;
                    let default = cell(&default);
                    self.text
                        .push_str(&format!("| `{key}` | {kind} | {default} | {} |\n", cell(what)));
                    if let Some((_, of_one)) = NAMED.iter().find(|(named, _)| *named == inner) {
                        self.named_rows(&key, of_one)?;
                    }
                    let section = EITHER.iter().find(|(either, ..)| *either == inner);
                    if let Some((.., of)) = section {
                        let fields = sources.structs.get(*of);
                        let fields = fields.with_context(|| format!("`{of}` has no keys"))?;
                        self.rows(of, fields, &format!("{key}{suffix}."), depth)?;
                    }
                    self.keys.push(key);
                }
            }
        }
        Ok(())
    }

    /// Writes the keys of what has a name of the reader's: a field of a table, a parameter of a view.
    fn named_rows(&mut self, names: &str, of_one: &str) -> anyhow::Result<()> {
        let sources = self.sources;
        let fields = sources.structs.get(of_one);
        for field in fields.with_context(|| format!("`{of_one}` is no struct"))? {
            let key = format!("{names}.NAME.{}", field.key);
            let kind = cell(&sources.kind(&field.kind));
            let default = sources.default_of(of_one, field).with_context(|| {
                format!("what `{key}` is when it is left out is not written down")
            })?;
            let (default, what) = (cell(&default), cell(&field.what));
            self.text.push_str(&format!("| `{key}` | {kind} | {default} | {what} |\n"));
        }
        Ok(())
    }
}

impl Sources {
    /// Says what may be written for a type.
    fn kind(&self, kind: &str) -> String {
        if let Some(inner) = kind.strip_prefix("Option<").and_then(|it| it.strip_suffix('>')) {
            return self.kind(inner);
        }
        if let Some(inner) = kind.strip_prefix("Vec<").and_then(|it| it.strip_suffix('>')) {
            return format!("list of {}", self.kind(inner));
        }
        if let Some(inner) =
            kind.strip_prefix("BTreeMap<String, ").and_then(|it| it.strip_suffix('>'))
        {
            return format!("section of {}", self.kind(inner));
        }
        let name = kind.rsplit("::").next().unwrap_or(kind);
        match name {
            "String" | "TenantId" | "CollectionId" => "text".to_owned(),
            "char" => "one character".to_owned(),
            "PathBuf" => "path".to_owned(),
            "bool" => "`true` or `false`".to_owned(),
            "SocketAddr" => "address".to_owned(),
            "Network" => "address or network".to_owned(),
            "Fields" => "section of fields".to_owned(),
            "Box<Field>" => "field".to_owned(),
            "Parameters" => "section of parameters".to_owned(),
            "Map<String, Value>" => "section".to_owned(),
            "Value" => "any value".to_owned(),
            "PerLocale" => "text, or section of text by language".to_owned(),
            name if EITHER.iter().any(|(either, ..)| *either == name) => {
                let value = EITHER.iter().find(|(either, ..)| *either == name);
                format!("{}, or section", value.map_or("value", |(_, value, _)| value))
            }
            "u16" | "u32" | "u64" | "usize" | "f64" | "f32" => "number".to_owned(),
            _ => match self.enums.get(name) {
                Some(Words { words, .. }) => {
                    let words: Vec<String> =
                        words.iter().map(|word| format!("`\"{word}\"`")).collect();
                    words.join(", ")
                }
                None => format!("`{name}`"),
            },
        }
    }

    /// Says what holds when a key is left out, or that it may not be; nothing where the sources do
    /// not say.
    fn default_of(&self, of: &str, field: &Field) -> Option<String> {
        let Field { name, kind, has_default, function, .. } = field;
        let value = self.defaults.of(of, name, function.as_deref());
        if let Some(value) = value.filter(|value| value != "none") {
            return Some(format!("`{value}`"));
        }
        if let Some(inner) = kind.strip_prefix("Option<") {
            let inner = inner.trim_end_matches('>').rsplit("::").next().unwrap_or(inner);
            let words = self.enums.get(inner).map_or(&[][..], |words| &words.words);
            return Some(default_word(&field.what, words).unwrap_or_else(|| "none".to_owned()));
        }
        if !has_default {
            return Some("required".to_owned());
        }
        if function.is_some() {
            return None;
        }
        Some(match kind.as_str() {
            kind if kind.starts_with("Vec<") => "`[]`".to_owned(),
            kind if kind.starts_with("BTreeMap<") => "`{}`".to_owned(),
            "Fields" | "Parameters" => "`{}`".to_owned(),
            "bool" => "`false`".to_owned(),
            "String" => "`\"\"`".to_owned(),
            kind => {
                let kind = kind.rsplit("::").next().unwrap_or(kind);
                let variant = self.defaults.variant(kind)?;
                let case = self.enums.get(kind).map_or("lowercase", |words| words.case.as_str());
                format!("`\"{}\"`", word_of(variant, case))
            }
        })
    }
}

/// Gives the word that a sentence calls the default, of those that may be given: `` `sqlite`, a file
/// (default) ``.
fn default_word(what: &str, words: &[String]) -> Option<String> {
    let before = what.split_once("(default)")?.0;
    let named = words.iter().filter_map(|word| Some((before.rfind(&format!("`{word}`"))?, word)));
    named.max().map(|(_, word)| format!("`\"{word}\"`"))
}

/// Finds enums whose variants are words of the configuration.
fn enums_in(source: &str) -> BTreeMap<String, Words> {
    let mut enums = BTreeMap::new();
    let mut case = None;
    let mut renamed = None;
    let mut current: Option<(String, Words)> = None;
    for line in source.lines().map(str::trim) {
        if let Some((name, words)) = &mut current {
            let word = line.trim_end_matches(',');
            if line == "}" {
                // Without a case of all, only words that are written down are known.
                let is_known = !words.case.is_empty() || !words.words.is_empty();
                if words.is_whole && is_known {
                    enums.insert(std::mem::take(name), std::mem::take(words));
                }
                current = None;
            } else if line.starts_with("#[") {
                renamed = renamed.or(quoted_in(line, "(rename = \""));
            } else if !word.is_empty() && word.chars().all(char::is_alphanumeric) {
                let written = renamed.take();
                words.is_whole &= written.is_some() || !words.case.is_empty();
                words.words.push(written.unwrap_or_else(|| word_of(word, &words.case)));
            } else if !line.starts_with("//") && !line.is_empty() {
                words.is_whole &= !words.case.is_empty();
            }
        } else if let Some(start) = line.find("rename_all = \"") {
            case = line[start + 14..].split('"').next();
        } else if let Some((_, name)) =
            line.strip_suffix(" {").and_then(|it| it.split_once("enum "))
        {
            let case = case.unwrap_or_default().to_owned();
            current = Some((name.to_owned(), Words { case, words: Vec::new(), is_whole: true }));
            renamed = None;
        } else if !line.starts_with('#') && !line.starts_with("///") {
            case = None;
        }
    }
    enums
}

/// Writes a variant as `serde` does.
fn word_of(variant: &str, case: &str) -> String {
    match case {
        "camelCase" => {
            let mut letters = variant.chars();
            let first = letters.next().map(|first| first.to_lowercase().to_string());
            first.unwrap_or_default() + letters.as_str()
        }
        "snake_case" | "kebab-case" => {
            let between = if case == "snake_case" { '_' } else { '-' };
            let mut word = String::new();
            for (idx, letter) in variant.chars().enumerate() {
                if letter.is_uppercase() && idx > 0 {
                    word.push(between);
                }
                word.extend(letter.to_lowercase());
            }
            word
        }
        _ => variant.to_lowercase(),
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
    let mut all_default = false;
    let mut has_default = false;
    let (mut function, mut renamed): (Option<String>, Option<String>) = (None, None);
    // An enum that is written as one of its variants, some of which are sections.
    let (mut is_untagged, mut untagged): (bool, Option<&str>) = (false, None);
    for line in source.lines().map(str::trim) {
        if let Some(sentence) = line.strip_prefix("///") {
            comment.push(sentence.trim());
        } else if line.starts_with("#[") {
            is_untagged |= line.contains("untagged");
            let is_section = line.contains("deny_unknown_fields");
            is_setting |= is_section;
            is_skipped |= line == "#[serde(skip)]";
            if current.is_none() {
                all_default = is_section && line.contains("default");
            } else {
                has_default |= line.contains("default");
                function = function.or(quoted_in(line, "default = \""));
                renamed =
                    renamed.or(quoted_in(line, " rename = \"").or(quoted_in(line, "(rename = \"")));
            }
        } else if let Some((name, fields)) = &mut current {
            if line == "}" || line == "}," {
                structs.insert(std::mem::take(name), std::mem::take(fields));
                current = None;
                is_setting = false;
            } else if let Some((name, kind)) = field_in(line).filter(|_| !is_skipped) {
                let what = comment.join(" ");
                let has_default = has_default || all_default;
                fields.push(Field {
                    name: name.to_owned(),
                    key: renamed.take().unwrap_or_else(|| name.to_owned()),
                    kind: kind.to_owned(),
                    what,
                    has_default,
                    function: function.take(),
                });
            }
            comment.clear();
            is_skipped = false;
            has_default = false;
            (function, renamed) = (None, None);
        } else {
            let opened = line.strip_suffix(" {");
            let name = opened.and_then(|it| it.split_once("struct "));
            if let Some((_, name)) = name.filter(|_| is_setting) {
                current = Some((name.to_owned(), Vec::new()));
            } else if let Some((of, variant)) = untagged.zip(opened) {
                current = Some((format!("{of}::{variant}"), Vec::new()));
            } else if let Some((_, name)) = opened.and_then(|it| it.split_once("enum ")) {
                untagged = Some(name).filter(|_| is_untagged);
            } else if line == "}" {
                untagged = None;
            }
            (is_setting, is_untagged) = (false, false);
            comment.clear();
        }
    }
    structs
}

/// Gives what an attribute says in quotes behind `before`.
fn quoted_in(attribute: &str, before: &str) -> Option<String> {
    let (_, rest) = attribute.split_once(before)?;
    Some(rest.split('"').next()?.to_owned())
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
    /// Which.
    pub(crate) kind: KindProvider,
    /// The most.
    pub(crate) max_bytes: u64,
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

#[serde(rename_all = \"lowercase\")]
pub(crate) enum KindProvider {
    /// Here.
    Local,
    /// Nowhere.
    None,
}

const MAX_BYTES: u64 = 1 << 20;

impl Default for Config {
    fn default() -> Self {
        Config {
            data_dir: PathBuf::from(\".dowse\"),
            kind: KindProvider::Local,
            max_bytes: MAX_BYTES,
        }
    }
}
";

    #[test]
    fn sections_are_followed_to_their_keys() {
        let structs = structs_in(SOURCE);
        assert!(!structs.contains_key("Other"));
        let root = structs["Config"].clone();
        let mut sources = Sources { structs, enums: enums_in(SOURCE), ..Sources::default() };
        sources.defaults.add(SOURCE);
        let (mut text, mut keys) = (String::new(), Vec::new());
        let mut table = TableWriter { sources: &sources, text: &mut text, keys: &mut keys };
        table.rows("Config", &root, "", MAX_DEPTH).unwrap();
        let expected = "\
| `data_dir` | path | `\".dowse\"` | Where data is kept. |
| `kind` | `\"local\"`, `\"none\"` | `\"local\"` | Which. |
| `max_bytes` | number | `1048576` | The most. |
| **`auth`** | section | | Who calls. |
| `auth.issuer` | text | required | The issuer. |
| **`tables[]`** | section | | Lists. |
| `tables[].name` | text | required | Its name. |
";
        assert_eq!(text, expected);
    }

    /// The page showed `RootConfig` and `DecimalMark`, and no key of what they hold.
    #[test]
    fn what_is_written_in_several_ways_has_all_its_keys() {
        const SOURCE: &str = "
#[serde(untagged)]
pub enum FilterKeyConfig {
    /// The same.
    One(String),
    /// Two.
    ByKind {
        /// For prefixes.
        prefix: String,
    },
}

/// A mark.
#[derive(Deserialize)]
pub enum DecimalMark {
    /// `1.5`
    #[serde(rename = \".\")]
    Point,
    #[serde(rename = \",\")]
    Comma,
}

pub enum Inner {
    Nothing,
}
";
        let structs = structs_in(SOURCE);
        assert_eq!(structs["FilterKeyConfig::ByKind"][0].what, "For prefixes.");
        let enums = enums_in(SOURCE);
        assert!(!enums.contains_key("Inner") && !enums.contains_key("FilterKeyConfig"));
        let sources = Sources { structs, enums, ..Sources::default() };
        assert_eq!(sources.kind("Option<DecimalMark>"), "`\".\"`, `\",\"`");
        assert_eq!(sources.kind("FilterKeyConfig"), "text, or section");
        assert!(is_type_shown("| `a` | list of `RootConfig` | none | What. |"));
        assert!(!is_type_shown("| `a` | `\"ymd\"`, `true` or `false` | none | `Word`. |"));
    }

    /// `tenants` of one section passed for that of every other.
    #[test]
    fn an_example_has_a_key_with_the_sections_it_is_in() {
        let example = "# b = 2\n[[auth.keys]]\nroles = [\n  \"a\",\n]\n[files]\n\
                       roots = [\"x\", { path = \"y\", allow = { roles = [] } }]\n# [store]\n";
        let shown = keys_shown(example);
        let shown: Vec<&str> = shown.iter().map(String::as_str).collect();
        let of_files = ["files", "files.roots", "files.roots.allow", "files.roots.allow.roles"];
        let mut expected = vec!["auth", "auth.keys", "auth.keys.roles", "b"];
        expected.extend(of_files);
        expected.extend(["files.roots.path", "store"]);
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_sentence_may_name_the_default() {
        let words = ["sqlite".to_owned(), "postgres".to_owned()];
        let said = "Where: `sqlite`, a file (default), or `postgres`.";
        assert_eq!(default_word(said, &words).as_deref(), Some("`\"sqlite\"`"));
        assert_eq!(default_word("Earlier name of `sqlite`.", &words), None);
    }
}
