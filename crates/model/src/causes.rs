//! The causes of an error: walked, and in one line for logs and for the record of a job.

use std::error::Error;

/// Gives an error and its causes, outermost first.
pub fn causes<'a>(
    error: &'a (dyn Error + 'static),
) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| Error::source(*error))
}

/// Writes an error and its causes, outermost first, separated by colons. A cause that the text
/// before it says already is left out: some libraries write their causes into their own message.
///
/// ```
/// let inner = std::io::Error::other("disk full");
/// assert_eq!(model::with_causes(&inner), "disk full");
/// ```
pub fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    for inner in error.source().into_iter().flat_map(causes) {
        let of_cause = inner.to_string();
        if !text.contains(&of_cause) {
            text.push_str(": ");
            text.push_str(&of_cause);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::fmt;

    use super::*;

    #[derive(Debug)]
    struct Layer(&'static str, Option<Box<Layer>>);

    impl fmt::Display for Layer {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    impl Error for Layer {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            self.1.as_deref().map(|inner| inner as &(dyn Error + 'static))
        }
    }

    #[test]
    fn causes_follow_each_once() {
        let chain = |texts: [&'static str; 3]| {
            let last = Layer(texts[2], None);
            with_causes(&Layer(texts[0], Some(Box::new(Layer(texts[1], Some(Box::new(last)))))))
        };
        assert_eq!(chain(["no write", "no room", "disk full"]), "no write: no room: disk full");
        assert_eq!(
            chain(["no write: no room", "no room", "disk full"]),
            "no write: no room: disk full"
        );
    }
}
