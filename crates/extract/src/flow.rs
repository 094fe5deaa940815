//! Running text as it is put together from pieces: white space folded the way a browser does,
//! with no space where a line of Chinese or Japanese was only broken.

/// Lists are drawn nested at most so deep.
const MAX_LIST_DEPTH: usize = 8;

/// Gives what is before an item of a list inside `depth` lists, its own included.
pub(crate) fn list_indent(depth: usize) -> String {
    "  ".repeat(depth.saturating_sub(1).min(MAX_LIST_DEPTH))
}

/// A paragraph in the making.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    text: String,
    pending: Pending,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Pending {
    #[default]
    Nothing,
    Space,
    Break,
}

impl Flow {
    /// Adds text with its white space folded.
    pub(crate) fn fold(&mut self, piece: &str) {
        for char in piece.chars() {
            match char {
                '\n' | '\r' => self.pending = Pending::Break,
                ' ' | '\t' | '\u{c}' => {
                    if self.pending == Pending::Nothing {
                        self.pending = Pending::Space;
                    }
                }
                _ => {
                    self.settle(char);
                    self.text.push(char);
                }
            }
        }
    }

    /// Adds text as it is.
    pub(crate) fn push(&mut self, piece: &str) {
        if let Some(first) = piece.chars().next() {
            self.settle(first);
            self.text.push_str(piece);
        }
    }

    /// Adds text right behind what is here, before white space that has come since.
    pub(crate) fn attach(&mut self, piece: &str) {
        self.text.push_str(piece);
    }

    /// Makes sure that what follows is not joined to what is here.
    pub(crate) fn space(&mut self) {
        if self.pending == Pending::Nothing {
            self.pending = Pending::Space;
        }
    }

    /// Starts a new line.
    pub(crate) fn line_break(&mut self) {
        self.pending = Pending::Nothing;
        if !self.text.is_empty() {
            self.text.push('\n');
        }
    }

    pub(crate) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Gives the text and starts anew.
    pub(crate) fn take(&mut self) -> String {
        self.pending = Pending::Nothing;
        std::mem::take(&mut self.text)
    }

    fn settle(&mut self, next: char) {
        let pending = std::mem::take(&mut self.pending);
        if pending == Pending::Nothing {
            return;
        }
        let Some(last) = self.text.chars().next_back() else { return };
        let is_joined = pending == Pending::Break && is_unspaced(last) && is_unspaced(next);
        if !last.is_whitespace() && !is_joined {
            self.text.push(' ');
        }
    }
}

/// Tells whether a character belongs to a script that is written without spaces.
pub(crate) fn is_unspaced(char: char) -> bool {
    matches!(char,
        '\u{2e80}'..='\u{2fdf}' | '\u{3000}'..='\u{303f}' | '\u{3040}'..='\u{30ff}'
        | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ff60}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pieces: &[&str], expected: &str) {
        let mut flow = Flow::default();
        for piece in pieces {
            flow.fold(piece);
        }
        assert_eq!(flow.take(), expected);
    }

    #[test]
    fn white_space_folds() {
        check(&["  a \n b", " ", " c"], "a b c");
        check(&["a", "b"], "ab");
        check(&["日本\n  語", "の 文"], "日本語の 文");
        check(&["日本\nand"], "日本 and");
    }
}
