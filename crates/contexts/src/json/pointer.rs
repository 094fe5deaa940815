//! RFC 6901 pointers: keys in and out, one pointer under another.
//!
//! A key has exactly one escaped form, so that two pointers name the same place exactly when
//! their texts are equal, and one lies under another exactly when it begins with it at the end
//! of a component.

/// A text that is no pointer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadPointer {
    /// It does not begin with a slash.
    #[error("a JSON pointer is empty or begins with `/`, received `{received}`")]
    NoSlash {
        /// What was given.
        received: String,
    },
    /// A tilde that stands for nothing.
    #[error(
        "`~` is written `~0` and `/` inside a key `~1` in a JSON pointer, received `{received}`"
    )]
    BadEscape {
        /// What was given.
        received: String,
    },
}

/// How much of a bad pointer is shown.
const SHOWN_CHARS: usize = 200;

/// Writes a key behind a pointer.
pub fn push_key(pointer: &mut String, key: &str) {
    pointer.push('/');
    pointer.push_str(&model::pointer_token(key));
}

/// Gives the keys and indexes of a pointer, outermost first.
pub fn components(pointer: &str) -> Result<Vec<String>, BadPointer> {
    let shown = || pointer.chars().take(SHOWN_CHARS).collect();
    if pointer.is_empty() {
        return Ok(vec![]);
    }
    let Some(rest) = pointer.strip_prefix('/') else {
        return Err(BadPointer::NoSlash { received: shown() });
    };
    rest.split('/')
        .map(|component| {
            unescape(component).ok_or_else(|| BadPointer::BadEscape { received: shown() })
        })
        .collect()
}

/// Gives the last key or index of a pointer; nothing for the empty one.
pub fn last(pointer: &str) -> Option<String> {
    let (_, component) = pointer.rsplit_once('/')?;
    unescape(component)
}

/// Tells whether a place is the scope itself or lies under it.
pub fn covers(scope: &str, pointer: &str) -> bool {
    relative(scope, pointer).is_some()
}

/// Gives a pointer as it is seen from a scope above it; nothing when it does not lie there.
pub fn relative<'a>(scope: &str, pointer: &'a str) -> Option<&'a str> {
    pointer.strip_prefix(scope).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Nothing where a `~` is no escape.
fn unescape(component: &str) -> Option<String> {
    let mut escapes = component.split('~').skip(1);
    let is_valid = escapes.all(|rest| rest.starts_with(['0', '1']));
    is_valid.then(|| model::pointer_name(component).into_owned())
}
