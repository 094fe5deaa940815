//! What of a source file is product: everything but its test modules.
//!
//! Lines keep their numbers, so that a problem names the right one.

/// Leaves out test modules: `#[cfg(test)] mod NAME { … }` up to its brace at the beginning of a
/// line, and `#[cfg(test)] mod NAME;`, whose file other rules leave out by its name.
pub(super) fn product(text: &str) -> String {
    let mut product = String::with_capacity(text.len());
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let is_tests = line == "#[cfg(test)]" && lines.peek().is_some_and(|it| is_module(it));
        if is_tests {
            product.push('\n');
            let mut is_open = lines.peek().is_some_and(|module| module.ends_with('{'));
            product.push('\n');
            lines.next();
            while is_open && let Some(line) = lines.next() {
                product.push('\n');
                is_open = line != "}";
            }
        } else {
            product.push_str(line);
            product.push('\n');
        }
    }
    product
}

fn is_module(line: &str) -> bool {
    let is_named = ["mod ", "pub mod ", "pub(crate) mod "].iter().any(|it| line.starts_with(it));
    is_named && (line.ends_with('{') || line.ends_with(';') || line.ends_with('}'))
}

#[cfg(test)]
mod tests {
    use super::product;

    #[test]
    fn what_follows_a_test_module_is_product() {
        let check = |text: &str, expected: &str| assert_eq!(product(text), expected);
        check("a\n#[cfg(test)]\nmod tests;\n\nb\n", "a\n\n\n\nb\n");
        check("a\n#[cfg(test)]\nmod tests {\n    b\n}\nc\n", "a\n\n\n\n\nc\n");
        check("#[cfg(test)]\nfn of_tests() {}\n", "#[cfg(test)]\nfn of_tests() {}\n");
    }
}
