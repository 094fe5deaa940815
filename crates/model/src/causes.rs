//! Errors with their causes, for logs and for the reason of a job that failed.

use std::error::Error;

/// Writes an error and everything that caused it, from the outside in, separated by colons.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("outside")]
    struct Outside(#[source] std::fmt::Error);

    #[test]
    fn causes_follow_their_error() {
        let inner = std::fmt::Error.to_string();
        assert_eq!(with_causes(&Outside(std::fmt::Error)), format!("outside: {inner}"));
    }
}
