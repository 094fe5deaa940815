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

/// Writes a path as people and programs write it (`$.a[0]['b.c']`, `a.b`, `a/0`) as a pointer; a
/// pointer stays as it is, without a slash at its end.
///
/// ```
/// assert_eq!(model::pointer_of_path("$.items[3]['a/b']"), "/items/3/a~1b");
/// assert_eq!(model::pointer_of_path("#/items/3"), "/items/3");
/// ```
pub fn pointer_of_path(path: &str) -> String {
    let path = path.trim().trim_start_matches(['#', '$']);
    if path.starts_with('/') {
        return path.trim_end_matches('/').to_owned();
    }
    if path.contains('/') && !path.contains('[') {
        return format!("/{}", path.trim_end_matches('/'));
    }
    let (mut pointer, mut step, mut quote) = (String::new(), String::new(), None);
    let end = |step: &mut String, pointer: &mut String| {
        if !step.is_empty() {
            pointer.push('/');
            pointer.push_str(&pointer_token(step));
            step.clear();
        }
    };
    for char in path.chars() {
        match (quote, char) {
            // What is in quotes is one name: `$['a.b'][3]`.
            (Some(open), _) if char == open => quote = None,
            (None, '\'' | '"') if step.is_empty() => quote = Some(char),
            (None, '.' | '/' | '[' | ']') => end(&mut step, &mut pointer),
            _ => step.push(char),
        }
    }
    end(&mut step, &mut pointer);
    pointer
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
