//! What holds when a key is left out: the values that the sources write down, as TOML writes them.
//!
//! Reads `impl Default` and other functions that give a struct, functions that `serde` is told to
//! call, constants, and the variants of enums that are marked. What would have to be run is not
//! known here, and the page then fails to be made rather than to be right.

use std::collections::BTreeMap;

/// How many names may stand for one another before a value.
const MAX_HOPS: usize = 8;

/// Values of Rust, by where they are written.
#[derive(Debug, Default)]
pub(super) struct Defaults {
    /// Fields of structs, by struct, function and field.
    fields: BTreeMap<(String, String, String), String>,
    /// What a function calls by a name of its own, by struct, function and name.
    locals: BTreeMap<(String, String, String), String>,
    /// The last line of a function without arguments, by its name, with its struct where it has one.
    functions: BTreeMap<String, String>,
    /// Constants, by their name, with their struct where they have one.
    constants: BTreeMap<String, String>,
    /// Constants of the file that is read.
    own: BTreeMap<String, String>,
    /// The variant that an enum has unless told otherwise.
    variants: BTreeMap<String, String>,
}

impl Defaults {
    /// Reads a file. Its constants are meant by their names in it, whatever other files call so.
    pub(super) fn add(&mut self, source: &str) {
        self.own =
            source.lines().filter(|line| !line.starts_with(' ')).filter_map(constant).collect();
        let (mut of, mut function) = (String::new(), String::new());
        let mut is_marked = false;
        let mut enumeration = String::new();
        let mut body: Vec<&str> = Vec::new();
        for line in source.lines() {
            let code = line.trim();
            if let Some(rest) = line.strip_prefix("impl ").and_then(|it| it.strip_suffix(" {")) {
                rest.rsplit(' ').next().unwrap_or_default().clone_into(&mut of);
            } else if let Some((_, name)) =
                code.strip_suffix(" {").and_then(|it| it.split_once("enum "))
            {
                name.clone_into(&mut enumeration);
            } else if line == "}" {
                self.end(&of, &function, &body);
                of.clear();
                function.clear();
            } else if code == "#[default]" {
                is_marked = true;
            } else if is_marked && !code.starts_with("#[") && !code.starts_with("///") {
                let variant = code.trim_end_matches(',').to_owned();
                self.variants.insert(enumeration.clone(), variant);
                is_marked = false;
            } else if let Some((name, value)) = constant(code) {
                let name = if line.starts_with(' ') { format!("{of}::{name}") } else { name };
                self.constants.insert(name, value);
            } else if let Some(name) = function_of_nothing(code) {
                name.clone_into(&mut function);
                body.clear();
            } else if line == "    }" && !of.is_empty() {
                self.end(&of, &function, &body);
                function.clear();
            } else if !function.is_empty() && !code.starts_with("//") {
                body.push(code);
            }
        }
    }

    /// Takes what a function gives.
    fn end(&mut self, of: &str, function: &str, body: &[&str]) {
        if function.is_empty() {
            return;
        }
        let key = |name: &str| (of.to_owned(), function.to_owned(), name.to_owned());
        for line in body {
            if let Some((name, value)) =
                line.strip_prefix("let ").and_then(|it| it.strip_suffix(';')?.split_once(" = "))
            {
                self.locals.insert(key(name), value.to_owned());
            }
        }
        let text = body.join(" ");
        let literal = [format!("{of} {{"), "Self {".to_owned()];
        let begun = literal.iter().find_map(|start| text.split_once(start.as_str()));
        match begun.filter(|_| !of.is_empty()) {
            Some((_, inside)) => {
                for (name, value) in members(inside) {
                    let value = self.own.get(&value).cloned().unwrap_or(value);
                    self.fields.insert(key(&name), value);
                }
            }
            None => {
                let name =
                    if of.is_empty() { function.to_owned() } else { format!("{of}::{function}") };
                let value = body.last().map_or("", |it| *it);
                let value = self.own.get(value).map_or(value, String::as_str).to_owned();
                self.functions.insert(name, value);
            }
        }
    }

    /// Gives the value of a field as TOML writes it; `function` is what `serde` calls for it.
    pub(super) fn of(&self, of: &str, field: &str, function: Option<&str>) -> Option<String> {
        if let Some(function) = function {
            return self.written(self.functions.get(function)?, of, "", MAX_HOPS);
        }
        let value = self.fields.get(&(of.to_owned(), "default".to_owned(), field.to_owned()))?;
        self.written(value, of, "default", MAX_HOPS)
    }

    /// Gives the word of an enum's marked variant.
    pub(super) fn variant(&self, kind: &str) -> Option<&str> {
        self.variants.get(kind).map(String::as_str)
    }

    /// Writes a value of Rust as one of TOML; nothing where that needs running it.
    fn written(&self, value: &str, of: &str, function: &str, hops: usize) -> Option<String> {
        let hops = hops.checked_sub(1)?;
        let value = value.trim().trim_end_matches(".to_owned()").trim_end_matches(".to_string()");
        let written = |value: &str| self.written(value, of, function, hops);
        if let Some(number) = number(value) {
            return Some(number);
        }
        if matches!(value, "true" | "false") || (value.starts_with('"') && value.ends_with('"')) {
            return Some(value.to_owned());
        }
        if let Some(items) = value.strip_prefix("vec![").and_then(|it| it.strip_suffix(']')) {
            let items: Option<Vec<String>> =
                items.split(',').filter(|item| !item.trim().is_empty()).map(written).collect();
            return Some(format!("[{}]", items?.join(", ")));
        }
        if let Some(address) = value.strip_prefix("SocketAddr::from(([") {
            let (bytes, port) = address.strip_suffix("))")?.split_once("], ")?;
            return Some(format!("\"{}:{port}\"", bytes.replace(", ", ".")));
        }
        match value {
            "Vec::new()" => return Some("[]".to_owned()),
            "String::new()" => return Some("\"\"".to_owned()),
            "BTreeMap::new()" => return Some("{}".to_owned()),
            "None" => return Some("none".to_owned()),
            _ => {}
        }
        // `PathBuf::from(x)` and `TenantId::new(x)` are x.
        if let Some((maker, inside)) = value.strip_suffix(')').and_then(|it| it.split_once('('))
            && (maker.ends_with("::from") || maker.ends_with("::new"))
        {
            return written(inside);
        }
        // `lines.chars`, where `let lines = Lines::standard();` is before it.
        if let Some((name, field)) = value.split_once('.') {
            let local = self.locals.get(&(of.to_owned(), function.to_owned(), name.to_owned()))?;
            let (of, function) = local.strip_suffix("()")?.rsplit_once("::")?;
            let of = of.rsplit("::").next()?;
            let key = (of.to_owned(), function.to_owned(), field.to_owned());
            return self.written(self.fields.get(&key)?, of, function, hops);
        }
        // A constant, by its own name or with its struct before it.
        let parts: Vec<&str> = value.split("::").collect();
        let last = *parts.last()?;
        if last.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_') {
            let of_struct = parts.len().checked_sub(2).map(|at| format!("{}::{last}", parts[at]));
            let constant = of_struct
                .and_then(|name| self.constants.get(&name))
                .or_else(|| self.constants.get(last))?;
            return written(constant);
        }
        let is_variant = parts.len() == 2 && last.chars().all(char::is_alphanumeric);
        is_variant.then(|| format!("\"{}\"", last.to_lowercase()))
    }
}

/// Reads `const NAME: TYPE = VALUE;`.
fn constant(code: &str) -> Option<(String, String)> {
    let (_, rest) = code
        .split_once("const ")
        .filter(|(before, _)| before.is_empty() || before.trim_end().starts_with("pub"))?;
    let (name, rest) = rest.split_once(": ")?;
    let value = rest.split_once(" = ")?.1.strip_suffix(';')?;
    Some((name.to_owned(), value.to_owned()))
}

/// Reads the name of a function that takes nothing.
fn function_of_nothing(code: &str) -> Option<&str> {
    let (_, rest) = code.split_once("fn ")?;
    let (name, rest) = rest.split_once("()")?;
    (rest.starts_with(" -> ") && rest.ends_with('{')).then_some(name)
}

/// Splits the inside of a struct's literal into names and values.
fn members(inside: &str) -> Vec<(String, String)> {
    let mut members = Vec::new();
    let (mut depth, mut member) = (0_i32, String::new());
    let mut is_text = false;
    for letter in inside.chars() {
        match letter {
            '"' => is_text = !is_text,
            '(' | '[' | '{' if !is_text => depth += 1,
            '}' if !is_text && depth == 0 => break,
            ')' | ']' | '}' if !is_text => depth -= 1,
            ',' if !is_text && depth == 0 => {
                members.extend(split_member(&member));
                member.clear();
                continue;
            }
            _ => {}
        }
        member.push(letter);
    }
    members.extend(split_member(&member));
    members
}

fn split_member(member: &str) -> Option<(String, String)> {
    let (name, value) = member.trim().split_once(": ")?;
    Some((name.to_owned(), value.trim().to_owned()))
}

/// Reads a number, a product of numbers, or one that is shifted.
fn number(value: &str) -> Option<String> {
    let plain = |text: &str| {
        let text = text.trim().replace('_', "");
        let is_number = !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || c == '.');
        is_number.then_some(text)
    };
    if let Some(number) = plain(value) {
        return Some(number);
    }
    if let Some((number, shift)) = value.split_once(" << ") {
        let number: u64 = plain(number)?.parse().ok()?;
        return Some((number << plain(shift)?.parse::<u32>().ok()?).to_string());
    }
    let factors: Option<Vec<u64>> =
        value.split(" * ").map(|factor| plain(factor)?.parse().ok()).collect();
    Some(factors?.iter().product::<u64>().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = r#"
const MAX: u64 = 1 << 20;

impl Named {
    pub const NAME: &str = "dowse";
}

impl Lines {
    pub fn standard() -> Self {
        Lines { chars: 1_000, rest: 2 }
    }
}

fn yes() -> bool {
    true
}

impl Tenant {
    /// The only one.
    pub fn local() -> Self {
        Tenant::new("local")
    }
}

enum Kind {
    /// This.
    #[default]
    One,
    Two,
}

impl Default for Config {
    fn default() -> Self {
        let lines = Lines::standard();
        Config {
            listen: SocketAddr::from(([127, 0, 0, 1], 7700)),
            // What common clients take.
            bytes: 4 * 1024,
            max: other::MAX,
            name: crate::Named::NAME.to_owned(),
            chars: lines.chars,
            urls: vec!["a".to_owned(), Named::NAME.to_owned()],
            provider: Provider::Local,
            run: compute(),
        }
    }
}
impl Default for Short {
    fn default() -> Self {
        Short { hours: 12, secret: None, all: Vec::new() }
    }
}
"#;

    #[test]
    fn values_are_read_where_they_are_written() {
        let mut defaults = Defaults::default();
        defaults.add(SOURCE);
        let check = |of: &str, field: &str, expected: Option<&str>| {
            assert_eq!(defaults.of(of, field, None).as_deref(), expected, "{of}.{field}");
        };
        check("Config", "listen", Some("\"127.0.0.1:7700\""));
        check("Config", "bytes", Some("4096"));
        check("Config", "max", Some("1048576"));
        check("Config", "name", Some("\"dowse\""));
        check("Config", "chars", Some("1000"));
        check("Config", "urls", Some("[\"a\", \"dowse\"]"));
        check("Config", "provider", Some("\"local\""));
        check("Config", "run", None);
        check("Short", "hours", Some("12"));
        check("Short", "secret", Some("none"));
        check("Short", "all", Some("[]"));
        assert_eq!(defaults.of("Any", "field", Some("yes")).as_deref(), Some("true"));
        let local = defaults.of("Any", "field", Some("Tenant::local"));
        assert_eq!(local.as_deref(), Some("\"local\""));
        assert_eq!(defaults.variant("Kind"), Some("One"));
    }

    #[test]
    fn a_constant_is_the_one_of_its_own_file() {
        let mut defaults = Defaults::default();
        let of = |name: &str, value: u32| {
            format!(
                "const SECONDS: u64 = {value};\nimpl Default for {name} {{\n    fn default() -> Self {{\n        {name} {{ seconds: SECONDS }}\n    }}\n}}\n"
            )
        };
        defaults.add(&of("One", 30));
        defaults.add(&of("Two", 2));
        assert_eq!(defaults.of("One", "seconds", None).as_deref(), Some("30"));
        assert_eq!(defaults.of("Two", "seconds", None).as_deref(), Some("2"));
    }
}
