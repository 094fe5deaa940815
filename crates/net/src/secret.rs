//! A key that cannot be printed by accident.

use std::fmt;

/// A text that must not appear in logs, errors or answers.
///
/// `Debug` and `Display` show a fixed mark; the text is had only by [`Secret::reveal`], whose
/// calls are easy to find.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// What is in place of a secret wherever it would be shown.
    pub const MARK: &str = "[secret]";

    /// Wraps a key.
    pub fn new(text: impl Into<String>) -> Self {
        Secret(text.into())
    }

    /// Gives the key itself, to be sent and not to be shown.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Puts the mark in place of every appearance of the key.
    pub fn blank_out(&self, text: &str) -> String {
        if self.0.is_empty() { text.to_owned() } else { text.replace(&self.0, Secret::MARK) }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Secret::MARK)
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Secret::MARK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_shows_nothing() {
        let secret = Secret::new("sk-123");
        assert_eq!(
            format!("{secret} {secret:?} {:?}", Some(&secret)),
            "[secret] [secret] Some([secret])"
        );
        assert_eq!(secret.blank_out("wrong key sk-123!"), "wrong key [secret]!");
        assert_eq!(Secret::new("").blank_out("text"), "text");
    }
}
