//! An error with all its causes in one line, for logs and for the record of a job.

use std::error::Error;

/// Writes an error and its causes, outermost first, separated by colons.
///
/// ```
/// let inner = std::io::Error::other("disk full");
/// assert_eq!(model::with_causes(&inner), "disk full");
/// ```
pub fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text
}
