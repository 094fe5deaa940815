//! What a model thinks aloud before it answers (`<think>…</think>`) is no part of its answer.
//!
//! Only what comes before the answer is taken for thoughts: the same words inside of it stay.

/// The marks around thoughts, as models write them.
const MARKS: [(&str, &str); 3] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<|channel|>analysis", "<|channel|>final<|message|>"),
];

/// Leaves thoughts out of a text that comes in pieces.
#[derive(Debug, Default)]
pub(super) struct Thoughts {
    /// What came and was not given yet: blanks, a mark that may be beginning, or thoughts.
    held: String,
    /// Blanks behind thoughts are no part of the answer either.
    has_thought: bool,
    is_answering: bool,
}

impl Thoughts {
    /// Takes the next piece and gives what of the answer is known now.
    pub(super) fn answer_in(&mut self, piece: &str) -> String {
        if self.is_answering {
            return piece.to_owned();
        }
        self.held.push_str(piece);
        loop {
            let text = self.held.trim_start();
            let begun = MARKS.iter().find(|(open, _)| text.starts_with(open));
            if let Some((open, close)) = begun {
                let Some(end) = text.find(close).filter(|end| *end >= open.len()) else {
                    return String::new();
                };
                self.held = text[end + close.len()..].to_owned();
                self.has_thought = true;
                continue;
            }
            // What is only blank, or the beginning of a mark, may still become thoughts.
            if MARKS.iter().any(|(open, _)| open.starts_with(text)) {
                return String::new();
            }
            self.is_answering = true;
            return self.taken();
        }
    }

    fn taken(&mut self) -> String {
        let held = std::mem::take(&mut self.held);
        if self.has_thought { held.trim_start().to_owned() } else { held }
    }

    /// Gives what was held back of a text that has ended: nothing of thoughts that did not end.
    pub(super) fn rest(mut self) -> String {
        let text = self.held.trim_start();
        let is_thinking = MARKS.iter().any(|(open, _)| text.starts_with(open));
        if is_thinking { String::new() } else { self.taken() }
    }
}

/// Leaves thoughts out of a whole text. A model whose prompt begins them writes their end alone.
pub(super) fn without_thoughts(text: &str) -> String {
    let (_, close) = MARKS[0];
    let is_begun = MARKS.iter().any(|(open, _)| text.contains(open));
    let text = match text.split_once(close) {
        Some((_, answer)) if !is_begun => answer.trim_start(),
        _ => text,
    };
    let mut thoughts = Thoughts::default();
    let mut answer = thoughts.answer_in(text);
    answer.push_str(&thoughts.rest());
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thoughts_are_left_out_of_texts_and_of_pieces() {
        for (written, answer) in [
            ("ferry leaves", "ferry leaves"),
            ("<think>the user wants a ferry</think>\n\nferry leaves", "ferry leaves"),
            ("\n<thinking>a < b</thinking>ferry", "ferry"),
            ("<think></think><think>again</think> ferry", "ferry"),
            ("<think>it never ends", ""),
            ("<thi", "<thi"),
            ("<b>ferry</b>", "<b>ferry</b>"),
            ("a tag <think>like this</think> stays", "a tag <think>like this</think> stays"),
            ("  indented", "  indented"),
            ("", ""),
        ] {
            assert_eq!(without_thoughts(written), answer, "{written}");
            for n_bytes in [1, 2, 3, 7] {
                let mut thoughts = Thoughts::default();
                let pieces = written.as_bytes().chunks(n_bytes);
                let mut given: String = pieces
                    .map(|piece| thoughts.answer_in(std::str::from_utf8(piece).unwrap()))
                    .collect();
                given.push_str(&thoughts.rest());
                assert_eq!(given, answer, "{written} by {n_bytes}");
            }
        }
        assert_eq!(without_thoughts("so it is a ferry.\n</think>\nferry"), "ferry");
    }
}
