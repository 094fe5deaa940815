//! Takes private things out of text that leaves the server.

use std::sync::LazyLock;

use regex::Regex;

/// What redaction gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redaction {
    /// The text with marks in place of what was private.
    pub text: String,
    /// How many pieces were replaced.
    pub n_pieces: usize,
}

/// Replaces private things with marks such as `[email]`.
pub fn redact(text: &str) -> Redaction {
    static EMAIL: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}")
            .expect("the pattern is constant and tested")
    });
    let n_pieces = EMAIL.find_iter(text).count();
    Redaction { text: EMAIL.replace_all(text, "[email]").into_owned(), n_pieces }
}
