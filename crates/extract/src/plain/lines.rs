//! Text by lines, each with its number.

use model::Pointer;

/// Gives each line with its number, from 1.
pub(crate) fn numbered_lines(text: &str) -> impl Iterator<Item = (u32, &str)> {
    (1_u32..).zip(text.lines())
}

pub(crate) fn at_line(number: u32) -> Pointer {
    Pointer::Line(number.max(1))
}

/// Lines that are put together until something ends them.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    text: String,
    first_line: u32,
}

impl Gathered {
    pub(crate) fn add(&mut self, number: u32, line: &str) {
        if self.text.is_empty() {
            self.first_line = number;
        } else {
            self.text.push('\n');
        }
        self.text.push_str(line);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }

    /// Gives the lines and where they start, and starts anew.
    pub(crate) fn take(&mut self) -> (String, Pointer) {
        (std::mem::take(&mut self.text), at_line(self.first_line))
    }
}
