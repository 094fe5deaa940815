//! Lines of a file's text: which one a character is on.
//!
//! A passage points at the line of its first character, and its line breaks are those of the file
//! as long as it is one block. Where blocks meet, the text has one blank line whatever the file
//! has: those that are nearer or further apart are noted when the file is read, and kept with the
//! document. So is the first row of a Markdown table, which the line under its heading is left out
//! before.

use std::path::Path;

use extract::Format;
use model::{BLOCK_SEPARATOR, Block, BlockKind, Passage, Pointer};
use serde_json::{Value, json};

/// The most blocks of one file that are noted; a hit behind the last of them points at its
/// passage's first line, or the line of the last block that is known.
const MAX_NOTED: usize = 2_000;

/// Where the lines of a file are not those of its text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Lines {
    /// A block's first character in the file's text, and its line, in order.
    noted: Vec<(usize, u32)>,
    /// Behind this character nothing was noted.
    known_until: Option<usize>,
}

impl Lines {
    /// Notes where the blocks of a file of this name do not follow each other with one blank line
    /// between them.
    pub(crate) fn of(name: &str, blocks: &[Block]) -> Self {
        let mut lines = Lines::default();
        let mut start = 0;
        let mut before: Option<(&Block, u32)> = None;
        for block in blocks {
            let line = block.pointer.line();
            let beside = before.filter(|(one, _)| is_one_text(&one.pointer, &block.pointer));
            if let (Some((_, follows)), Some(line)) = (beside, line)
                && follows != line
                && !lines.note(start, line)
            {
                return lines;
            }
            let mut n_breaks = n_breaks(&block.text) + n_breaks(BLOCK_SEPARATOR);
            // The rows of a long table go on in the next block, without a blank line between.
            let goes_on = beside.is_some_and(|(one, follows)| {
                one.kind == BlockKind::Table && line.is_some_and(|line| line < follows)
            });
            if let (Some(line), Some(heading)) = (line, ruled_heading(name, block))
                && !goes_on
            {
                n_breaks += 1;
                let row = start + heading.chars().count() + 1;
                if !lines.note(row, line.saturating_add(2)) {
                    return lines;
                }
            }
            before = line.map(|line| (block, line.saturating_add(n_breaks)));
            start += block.text.chars().count() + BLOCK_SEPARATOR.chars().count();
        }
        lines
    }

    /// Notes the line of a character; tells whether it was within the limit.
    fn note(&mut self, start: usize, line: u32) -> bool {
        let has_room = self.noted.len() < MAX_NOTED;
        match has_room {
            true => self.noted.push((start, line)),
            false => {
                self.known_until = Some(start.saturating_sub(BLOCK_SEPARATOR.chars().count()));
            }
        }
        has_room
    }

    /// Writes them as numbers, each as the difference from the one before it; nothing when the
    /// lines of the text are those of the file.
    pub(crate) fn to_json(&self) -> Option<Value> {
        if self.noted.is_empty() {
            return None;
        }
        let mut numbers = Vec::with_capacity(self.noted.len() * 2);
        let mut last = (0, 0);
        for (start, line) in &self.noted {
            numbers.push(json!(start - last.0));
            numbers.push(json!(i64::from(*line) - i64::from(last.1)));
            last = (*start, *line);
        }
        numbers.extend(self.known_until.map(|until| json!(until)));
        Some(Value::Array(numbers))
    }

    /// Reads what [`Lines::to_json`] wrote.
    pub(crate) fn from_json(value: &Value) -> Self {
        let numbers: Vec<i64> =
            value.as_array().into_iter().flatten().filter_map(Value::as_i64).collect();
        let (pairs, rest) = numbers.as_chunks::<2>();
        let mut lines = Lines::default();
        let mut last = (0_i64, 0_i64);
        for [start, line] in pairs {
            last = (last.0.saturating_add(*start), last.1.saturating_add(*line));
            let (Ok(start), Ok(line)) = (usize::try_from(last.0), u32::try_from(last.1)) else {
                return Lines::default();
            };
            lines.noted.push((start, line));
        }
        lines.known_until = rest.first().and_then(|until| usize::try_from(*until).ok());
        lines
    }

    /// Gives where blocks begin whose lines do not follow the default, with the line: characters of the
    /// file's text, in order.
    pub(crate) fn noted(&self) -> &[(usize, u32)] {
        &self.noted
    }

    /// Names the line of a character of a passage, where its file has lines.
    pub(crate) fn at(&self, passage: &Passage, char_idx: usize) -> Option<u32> {
        let first = passage.pointer.line()?;
        let begins = passage.span.start;
        let mut wanted = begins.saturating_add(char_idx);
        if let Some(until) = self.known_until {
            wanted = wanted.min(until.max(begins));
        }
        let n_before = self.noted.partition_point(|(start, _)| *start <= wanted);
        let noted = n_before.checked_sub(1).and_then(|last| self.noted.get(last));
        let (from, line) = match noted {
            Some((start, line)) if *start > begins => (*start, *line),
            _ => (begins, first),
        };
        let walked = passage.text.chars().skip(from - begins).take(wanted - from);
        let n_breaks = walked.filter(|char| *char == '\n').count();
        let line = line.saturating_add(u32::try_from(n_breaks).unwrap_or(u32::MAX));
        // A block may show one line of the file as several.
        let next = self.noted.get(n_before).map(|(_, line)| *line);
        Some(next.filter(|next| *next >= first).map_or(line, |next| line.min(next)))
    }

    /// Names the last line of a passage.
    pub(crate) fn last_of(&self, passage: &Passage) -> Option<u32> {
        self.at(passage, passage.span.end.saturating_sub(passage.span.start))
    }
}

/// Gives the heading of a table under which the file has a line that the text leaves out, as every
/// table in Markdown has; nothing where there is no row to point at.
fn ruled_heading<'t>(name: &str, block: &'t Block) -> Option<&'t str> {
    let name = innermost(&block.pointer).unwrap_or(name);
    let extension = Path::new(name).extension()?.to_str()?.to_lowercase();
    let is_ruled = block.kind == BlockKind::Table
        && Format::of_extension(&extension) == Some(Format::Markdown);
    is_ruled.then(|| block.text.split_once('\n')).flatten().map(|(heading, _)| heading)
}

/// Gives the name of the file in an archive that a pointer is about.
fn innermost(pointer: &Pointer) -> Option<&str> {
    match pointer {
        Pointer::Inner { path, place } => Some(innermost(place).unwrap_or(path)),
        Pointer::Whole
        | Pointer::Page(_)
        | Pointer::Slide(_)
        | Pointer::Sheet { .. }
        | Pointer::Line(_)
        | Pointer::Message(_)
        | Pointer::Json(_) => None,
    }
}

/// Tells whether lines of two places are counted together.
pub(crate) fn is_one_text(one: &Pointer, other: &Pointer) -> bool {
    match (one, other) {
        (Pointer::Line(_), Pointer::Line(_)) => true,
        (
            Pointer::Inner { path, place },
            Pointer::Inner { path: other_path, place: other_place },
        ) => path == other_path && is_one_text(place, other_place),
        _ => false,
    }
}

fn n_breaks(text: &str) -> u32 {
    u32::try_from(text.matches('\n').count()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use model::{BlockKind, PassageId, Span};

    use super::*;

    fn block(line: u32, text: &str) -> Block {
        Block::new(text, Pointer::Line(line), BlockKind::Paragraph)
    }

    fn passage(blocks: &[Block]) -> Passage {
        let text = Block::whole_text(blocks);
        Passage {
            id: PassageId::new("d#0"),
            ordinal: 0,
            span: Span::new(0, text.chars().count()),
            text,
            pointer: blocks[0].pointer.clone(),
            headings: Vec::new(),
        }
    }

    #[test]
    fn blocks_that_are_nearer_or_further_apart_keep_their_lines() {
        let blocks = [block(1, "# Plan"), block(2, "é one\ntwo"), block(9, "nine"), block(11, "x")];
        let lines = Lines::of("a.md", &blocks);
        let written = lines.to_json().unwrap();
        assert_eq!(written, json!([8, 2, 11, 7]));
        assert_eq!(Lines::from_json(&written), lines);
        let passage = passage(&blocks);
        for (word, line) in [("Plan", 1), ("one", 2), ("two", 3), ("nine", 9), ("x", 11)] {
            let before = passage.text.find(word).unwrap();
            let char_idx = passage.text[..before].chars().count();
            assert_eq!(lines.at(&passage, char_idx), Some(line), "{word}");
        }
        assert_eq!(lines.last_of(&passage), Some(11));
    }

    #[test]
    fn a_text_with_one_blank_line_between_its_blocks_needs_no_notes() {
        let blocks = [block(1, "one\ntwo"), block(4, "four"), block(6, "six")];
        assert_eq!(Lines::of("a.md", &blocks).to_json(), None);
    }

    /// Every row of every table, long ones too, is on the line that the file has it on.
    #[test]
    fn rows_of_a_markdown_table_are_on_their_own_lines() {
        let rows: String = (0..900).map(|row| format!("| long{row}. | value |\n")).collect();
        let markdown = format!(
            "# Plan\n\nBefore.\n| n | what |\n|---|---|\n| one. | x |\n| two. | x |\n\n\n\
             | only. |\n|---|\n\n| n | what |\n|---|---|\n{rows}\nAfter.\n"
        );
        let (read, _) = extract::extract(markdown.as_bytes(), "a.md", &extract::Caps::standard());
        let lines = Lines::of("a.md", &read.blocks);
        let passage = passage(&read.blocks);
        let words = (0..900).map(|row| format!("long{row}."));
        let words = words.chain(["Before.", "one.", "two.", "only.", "After."].map(str::to_owned));
        for word in words {
            let before = passage.text.find(&word).unwrap();
            let char_idx = passage.text[..before].chars().count();
            let place = markdown.find(&word).unwrap();
            let line = n_breaks(&markdown[..place]) + 1;
            assert_eq!(lines.at(&passage, char_idx), Some(line), "{word}");
        }
        // Rows of other files have no such line.
        let csv = [Block::new("n | what\none. | x", Pointer::Line(1), BlockKind::Table)];
        assert_eq!(Lines::of("a.csv", &csv).to_json(), None);
    }

    /// Only so many are noted: behind them a line is never one that comes later in the file.
    #[test]
    fn behind_the_last_note_lines_are_not_guessed() {
        let blocks: Vec<Block> =
            (1..=2 * MAX_NOTED as u32).map(|line| block(line, &format!("item{line}."))).collect();
        let lines = Lines::of("a.md", &blocks);
        assert_eq!(lines.noted.len(), MAX_NOTED);
        assert_eq!(Lines::from_json(&lines.to_json().unwrap()), lines);
        let passage = passage(&blocks);
        for line in 1..=2 * MAX_NOTED as u32 {
            let char_idx = passage.text.find(&format!("item{line}.")).unwrap();
            let known = lines.at(&passage, char_idx).unwrap();
            assert!(known <= line, "{known} for {line}");
            assert!(line > MAX_NOTED as u32 || known == line, "{known} for {line}");
        }
    }
}
