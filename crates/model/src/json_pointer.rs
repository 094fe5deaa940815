//! Names in a JSON pointer (RFC 6901): `~` is written `~0` and `/` is written `~1`.

use std::borrow::Cow;

/// Writes the name of a member as it is written in a pointer.
///
/// ```
/// assert_eq!(model::pointer_token("a/b~c"), "a~1b~0c");
/// ```
pub fn pointer_token(name: &str) -> Cow<'_, str> {
    if !name.contains(['~', '/']) {
        return Cow::Borrowed(name);
    }
    Cow::Owned(name.replace('~', "~0").replace('/', "~1"))
}

/// Reads the name of a member from a part of a pointer. What is no escape stays as it is.
///
/// ```
/// assert_eq!(model::pointer_name("a~1b~0c"), "a/b~c");
/// ```
pub fn pointer_name(token: &str) -> Cow<'_, str> {
    if !token.contains('~') {
        return Cow::Borrowed(token);
    }
    // `~0` last: `~01` is `~1`, not `/`.
    Cow::Owned(token.replace("~1", "/").replace("~0", "~"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All names of up to five of the letters that matter.
    #[test]
    fn names_are_read_back_and_hold_no_slash() {
        let mut names = vec![String::new()];
        for _ in 0..5 {
            let longer = names
                .iter()
                .flat_map(|name| ["~", "/", "0", "1", "é"].map(|end| format!("{name}{end}")));
            names = longer.chain([String::new()]).collect();
            for name in &names {
                let token = pointer_token(name);
                assert!(!token.contains('/'), "{name}");
                assert_eq!(pointer_name(&token), *name);
            }
        }
    }
}
