//! A metric that is registered and never set tells an operator that nothing happens.
//!
//! Every metric of `crates/guard/src/metrics.rs` is a field that some public method changes, and
//! that method is called by a source of the product other than tests. A name that other types use
//! as well (`begin`, `end`) counts as called only behind a value that is called `metrics`.

use super::product::product;
use super::{Problem, Workspace};

const FILE: &str = "crates/guard/src/metrics.rs";

pub(super) fn check(workspace: &Workspace) -> Vec<Problem> {
    let Some(text) = workspace.files.get(FILE) else { return Vec::new() };
    let callers = workspace.rust_files().filter(|(path, _)| {
        let is_test = path.contains("/tests/") || path.ends_with("tests.rs");
        path.starts_with("crates/") && *path != FILE && !is_test
    });
    let callers: Vec<String> = callers.map(|(_, text)| without_blanks(&product(text))).collect();
    check_file(text, &callers)
}

fn check_file(text: &str, callers: &[String]) -> Vec<Problem> {
    let product = product(text);
    let methods = methods(&product);
    let mut problems = Vec::new();
    for field in registered(&product) {
        let setting: Vec<&str> = methods
            .iter()
            .filter(|(_, body)| body.contains(&format!("self.{field}.")))
            .map(|(name, _)| *name)
            .collect();
        let is_called = |name: &&str| {
            let call = format!("metrics.{name}(");
            let call_of = format!("metrics().{name}(");
            callers.iter().any(|caller| caller.contains(&call) || caller.contains(&call_of))
        };
        if !setting.iter().any(is_called) {
            let what = format!("the metric `{field}` is registered, and nobody sets it");
            problems.push(Problem::new(FILE, what));
        }
    }
    problems
}

/// Gives the fields that are registered.
fn registered(text: &str) -> Vec<&str> {
    text.split("registry.register(")
        .skip(1)
        .filter_map(|call| {
            let arguments = &call[..call.find(");")?];
            let end = arguments.rfind(".clone()")?;
            arguments[..end].rsplit(|char: char| !char.is_alphanumeric() && char != '_').next()
        })
        .collect()
}

/// Gives the public methods that take `&self`, with their bodies.
fn methods(text: &str) -> Vec<(&str, &str)> {
    text.split("    pub fn ")
        .skip(1)
        .filter(|method| method.contains("(&self"))
        .filter_map(|method| Some((&method[..method.find('(')?], method)))
        .collect()
}

fn without_blanks(text: &str) -> String {
    text.split_whitespace().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_that_nobody_sets_is_found() {
        let text = "        registry.register(\"a\", \"A\", first.clone());\n\
                    registry.register(\n\"b\",\n\"B\",\nsecond.clone(),\n);\n\
                    \x20   pub fn begin(&self) {\n        self.first.inc();\n    }\n\
                    \x20   pub fn set_second(&self) {\n        self.second.set(1);\n    }\n";
        let calls = |text: &str| vec![without_blanks(text)];
        let found = |callers: &[String]| check_file(text, callers).len();
        assert_eq!(registered(text), ["first", "second"]);
        assert_eq!(found(&calls("app.metrics\n    .begin(); metrics().set_second(2)")), 0);
        assert_eq!(found(&calls("clock.begin(); app.metrics.set_second(2)")), 1);
        assert_eq!(found(&[]), 2);
    }
}
