//! The source around a piece of text that leaves.

/// What is in the source before and after a string of an answer, so that private things that
/// reach over its edges are recognised. It never leaves by itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Around {
    /// Where the string is in the answer, as a JSON pointer.
    pub at: String,
    /// The name of the member or column that holds it, where it has one: the value of `password`
    /// is private whatever it looks like.
    pub name: Option<String>,
    /// The line of headings of the table that it is in, where one of its columns holds secrets
    /// and the line may be further away than `before` reaches.
    pub heading: Option<String>,
    /// The characters directly before it.
    pub before: String,
    /// The characters directly after it.
    pub after: String,
}

impl Around {
    /// Describes a piece by the text on both sides of it; where it is in an answer is said later.
    pub fn new(before: impl Into<String>, after: impl Into<String>) -> Self {
        Around { before: before.into(), after: after.into(), ..Around::default() }
    }

    /// Names the headings of the table that the piece is in.
    #[must_use]
    pub fn with_heading(mut self, heading: Option<String>) -> Self {
        self.heading = heading;
        self
    }

    /// Gives the same for a string at this place of an answer.
    pub fn at(&self, place: impl Into<String>) -> Self {
        Around { at: place.into(), ..self.clone() }
    }

    /// Gives what is around a part of the piece, which begins and ends at these characters of it.
    pub fn of_part(&self, piece: &str, start: usize, end: usize) -> Self {
        let head: String = piece.chars().take(start).collect();
        let tail: String = piece.chars().skip(end).collect();
        Around {
            before: format!("{}{head}", self.before),
            after: format!("{tail}{}", self.after),
            ..self.clone()
        }
    }
}
