//! The text of a file as its passages have it, with the line breaks that the file has.
//!
//! A text is its blocks with one blank line between them, and its passages are stretches of that; what
//! is between two of them is blank. Where lines are counted, the file may have fewer or more line
//! breaks at the place where two blocks meet: [`Lines`] knows, and what is shown has as many.

use std::collections::BTreeMap;
use std::ops::Range;

use model::{BLOCK_SEPARATOR, Passage, Pointer};

use crate::lines::{Lines, is_one_text};

/// Is where the text has a character that the file has not. Unicode has no such character.
const NOT_IN_FILE: char = '\u{10ffff}';

/// The document's text as its passages have it.
pub(crate) struct WholeText {
    /// Where the first passage begins in the source.
    pub(crate) start: usize,
    chars: Vec<char>,
    /// Line breaks that the file has beside those of the text, by the character behind them.
    more_breaks: BTreeMap<usize, usize>,
}

impl WholeText {
    /// Joins passages by their spans: overlaps are counted once, gaps become blank.
    pub(crate) fn of(passages: &[Passage], lines: &Lines) -> Self {
        let start = passages.iter().map(|passage| passage.span.start).min().unwrap_or(0);
        let end = passages.iter().map(|passage| passage.span.end).max().unwrap_or(0);
        let mut text =
            WholeText { start, chars: vec![' '; end - start], more_breaks: BTreeMap::new() };
        let mut covered = start;
        let mut before: Option<&Passage> = None;
        let mut gaps: Vec<Range<usize>> = Vec::new();
        for passage in passages {
            if passage.span.start > covered {
                let gap = covered - start..passage.span.start - start;
                text.fill_gap(gap.clone(), before, passage, lines);
                gaps.push(gap);
            }
            for (offset, char) in passage.text.chars().enumerate() {
                if let Some(slot) = text.chars.get_mut(passage.span.start - start + offset) {
                    *slot = char;
                }
            }
            before = Some(passage);
            covered = covered.max(passage.span.end);
        }
        // Every file in an archive counts its own lines.
        let is_one = passages.iter().all(|passage| matches!(passage.pointer, Pointer::Line(_)));
        if let Some(line) = passages.first().and_then(|first| first.pointer.line())
            && is_one
        {
            text.set_breaks(line, lines, &gaps);
        }
        text
    }

    /// How many characters it has; every one is a place.
    pub(crate) fn len(&self) -> usize {
        self.chars.len()
    }

    /// Gives where its line breaks are.
    pub(crate) fn breaks(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.len()).filter(|at| self.chars[*at] == '\n')
    }

    /// Gives a stretch as the file has it.
    pub(crate) fn shown(&self, stretch: Range<usize>) -> String {
        let stretch = stretch.start.min(self.len())..stretch.end.min(self.len());
        let mut shown = String::with_capacity(stretch.len());
        for (at, char) in stretch.clone().zip(&self.chars[stretch]) {
            if let Some(n_breaks) = self.more_breaks.get(&at) {
                shown.extend(std::iter::repeat_n('\n', *n_breaks));
            }
            shown.extend(Some(*char).filter(|char| *char != NOT_IN_FILE));
        }
        shown
    }

    /// Puts as many line breaks as the file has where two blocks meet inside of a passage. Between
    /// passages they were put already.
    fn set_breaks(&mut self, first_line: u32, lines: &Lines, gaps: &[Range<usize>]) {
        let n_between = BLOCK_SEPARATOR.chars().count();
        let (mut from, mut line) = (0, first_line as usize);
        // Breaks are counted in the text as it is, and not as it is shown.
        let counted: Vec<usize> =
            (0..self.chars.len()).filter(|at| self.chars[*at] == '\n').collect();
        for (begin, begins_on) in lines.noted() {
            let begins_on = *begins_on as usize;
            let Some(at) = begin.checked_sub(self.start).filter(|at| *at < self.chars.len()) else {
                continue;
            };
            let is_in_gap = gaps.iter().any(|gap| gap.end == at);
            let Some(end_before) = at.checked_sub(n_between).filter(|end| *end >= from) else {
                continue;
            };
            let is_between = self.chars[end_before..at].iter().all(|char| *char == '\n');
            if is_between && !is_in_gap {
                let n_counted = |until: usize| counted.partition_point(|place| *place < until);
                let ends_on = line + n_counted(end_before) - n_counted(from);
                // Rows that are far apart in the file, as those of a JSON document are, are one table:
                // what reads the names of its columns must see them together.
                let most =
                    if self.is_between_rows(end_before, at) { n_between } else { usize::MAX };
                let n_breaks = begins_on.saturating_sub(ends_on).min(most);
                for slot in self.chars[end_before..at].iter_mut().skip(n_breaks) {
                    *slot = NOT_IN_FILE;
                }
                if n_breaks > n_between {
                    self.more_breaks.insert(at, n_breaks - n_between);
                }
            }
            (from, line) = (at, begins_on);
        }
    }

    /// Tells whether what ends at one place and begins at the other are rows of a table.
    fn is_between_rows(&self, end: usize, begin: usize) -> bool {
        let mut before: Vec<char> =
            self.chars[..end].iter().rev().take_while(|char| **char != '\n').copied().collect();
        before.reverse();
        let after = self.chars[begin..].iter().take_while(|char| **char != '\n');
        is_row(&before.iter().collect::<String>()) && is_row(&after.collect::<String>())
    }

    /// Fills what was left out between two passages: blank space, of which the length is known and, where
    /// lines are counted, how many line breaks are in it. They come first: what is indented begins
    /// with its blanks.
    fn fill_gap(
        &mut self,
        gap: Range<usize>,
        before: Option<&Passage>,
        after: &Passage,
        lines: &Lines,
    ) {
        let at = gap.end;
        let slots = &mut self.chars[gap];
        let Some(before) = before else {
            slots.fill('\n');
            return;
        };
        if is_in_table(before, after) {
            slots.fill('\n');
            return;
        }
        let is_one = is_one_text(&before.pointer, &after.pointer);
        let (Some(last), Some(first), true) = (lines.last_of(before), after.pointer.line(), is_one)
        else {
            slots.fill(blank_between(before, after, slots.len()));
            return;
        };
        let n_breaks = first.saturating_sub(last) as usize;
        let is_noted = lines.noted().iter().any(|(begin, _)| *begin == after.span.start);
        let is_tabbed = [&before.text, &after.text].iter().any(|text| text.contains("\n\t"));
        let blank = match (is_noted, is_tabbed && n_breaks > 0) {
            (true, _) => NOT_IN_FILE,
            (false, true) => '\t',
            (false, false) => ' ',
        };
        for (place, slot) in slots.iter_mut().enumerate() {
            *slot = if place < n_breaks { '\n' } else { blank };
        }
        if n_breaks > slots.len() {
            self.more_breaks.insert(at, n_breaks - slots.len());
        }
    }
}

/// Passages of a table are cut between rows. Two rows on one line would have cells at the place of
/// other columns.
fn is_in_table(before: &Passage, after: &Passage) -> bool {
    before.text.lines().next_back().is_some_and(is_row)
        && after.text.lines().next().is_some_and(is_row)
}

fn is_row(line: &str) -> bool {
    line.contains(" | ")
}

/// Tells what was left out between two passages where no lines are counted. A paragraph ends there, but
/// for one character inside a line.
fn blank_between(before: &Passage, after: &Passage, n_chars: usize) -> char {
    if n_chars > 1 {
        return '\n';
    }
    match before.pointer {
        Pointer::Page(_) | Pointer::Slide(_) | Pointer::Message(_) => {
            let begins = after.text.trim_start().chars().next();
            let is_block = begins.is_some_and(|char| "#|-*•>".contains(char));
            if is_block { '\n' } else { ' ' }
        }
        Pointer::Whole
        | Pointer::Sheet { .. }
        | Pointer::Line(_)
        | Pointer::Json(_)
        | Pointer::Inner { .. } => '\n',
    }
}

#[cfg(test)]
mod tests {
    use model::{Block, PassageId, Span};

    use super::*;

    fn shown(passages: &[Passage], lines: &Lines) -> String {
        let text = WholeText::of(passages, lines);
        text.shown(0..text.len())
    }

    /// Where lines of the source are not those of the text, as in a CSV whose cells hold line
    /// breaks, two rows became one; and a text without an empty line had one every 4,000 characters.
    #[test]
    fn between_two_passages_are_as_many_lines_as_in_the_source() {
        let passage = |ordinal: u32, text: &str, start: usize, line: u32| Passage {
            id: PassageId::new(format!("d:{ordinal}")),
            ordinal,
            text: text.to_owned(),
            span: Span::new(start, start + text.chars().count()),
            pointer: Pointer::Line(line),
            headings: vec![],
        };
        let passages = [passage(0, "a | b\nann | 1", 0, 1), passage(1, "bob | 2", 14, 2)];
        let text: String = shown(&passages, &Lines::default());
        assert_eq!(text, "a | b\nann | 1\nbob | 2");
        // Blocks of a text are two characters apart, also where it was cut between two lines. The
        // second one repeats the end of the first.
        let lines = [
            passage(0, "one\ntwo\nthree", 0, 1),
            passage(1, "three\nfour", 8, 3),
            passage(2, "five", 20, 5),
            passage(3, "seven", 26, 7),
        ];
        let text: String = shown(&lines, &Lines::default());
        assert_eq!(text, "one\ntwo\nthree\nfour\n five\n\nseven");
    }

    /// Rows of a JSON document are lines apart in the file: with the blank lines of that between them
    /// they were no table, and the names of its columns held for the first ones alone.
    #[test]
    fn rows_that_are_far_apart_in_the_file_stay_one_table() {
        let row = |n: usize| {
            format!("  [\n    \"user{n}\",\n    \"{}\",\n    \"x\"\n  ]", "long ".repeat(40))
        };
        let rows: Vec<String> = (0..300).map(row).collect();
        let text = format!("[\n  [\"user\", \"note\", \"team\"],\n{}\n]\n", rows.join(",\n"));
        let (read, _) = extract::extract(text.as_bytes(), "a.json", &extract::Caps::standard());
        assert!(read.blocks.len() > 2, "{}", read.blocks.len());
        let whole = Block::whole_text(&read.blocks);
        let passage = Passage {
            id: PassageId::new("d:0".to_owned()),
            ordinal: 0,
            text: whole.clone(),
            span: Span::new(0, whole.chars().count()),
            pointer: Pointer::Line(1),
            headings: vec![],
        };
        let shown = shown(&[passage], &Lines::of("a.json", &read.blocks));
        assert!(!shown.contains("\n\n\n"), "{shown}");
    }

    /// A text of any blank lines, cut in any way, is shown as the file has it.
    #[test]
    fn a_text_is_shown_as_the_file_has_it() {
        let line = |n: usize| {
            format!("{n}: the keeper wrote {}", "word ".repeat(n % 9)).trim_end().to_owned()
        };
        let texts = [
            // Without a blank line: blocks meet at the end of a line.
            (0..400).map(|n| line(n) + "\n").collect::<String>(),
            // With one, two and three of them.
            (0..300).map(|n| line(n) + &"\n".repeat(1 + n % 4)).collect(),
            "\n\n\nfirst\n\nsecond\n\n\n\nthird\nfourth".to_owned(),
            (0..200)
                .map(|n| format!("def f{n}(x):\n    if x:\n\n        return {n}\n\n\n"))
                .collect(),
        ];
        for (text, name) in texts.iter().zip(["a.txt", "a.txt", "a.txt", "a.py"]) {
            let (read, _) = extract::extract(text.as_bytes(), name, &extract::Caps::standard());
            let lines = Lines::of(name, &read.blocks);
            let whole: Vec<char> = Block::whole_text(&read.blocks).chars().collect();
            let line_at = |at: usize| -> u32 {
                let mut begin = 0;
                for block in &read.blocks {
                    let n_chars = block.text.chars().count();
                    if at <= begin + n_chars {
                        let head: String = block.text.chars().take(at - begin).collect();
                        let n_breaks = head.matches('\n').count() as u32;
                        return block.pointer.line().unwrap() + n_breaks;
                    }
                    begin += n_chars + 2;
                }
                1
            };
            for n_chars in [60, 777, 5_000, 100_000] {
                let (mut passages, mut at) = (Vec::new(), 0);
                while at < whole.len() {
                    // A passage begins and ends with a character that is not blank.
                    while whole.get(at).is_some_and(|char| char.is_whitespace()) {
                        at += 1;
                    }
                    let mut end = (at + n_chars).min(whole.len());
                    while end > at && whole[end - 1].is_whitespace() {
                        end -= 1;
                    }
                    if end <= at {
                        break;
                    }
                    passages.push(Passage {
                        id: PassageId::new(format!("d:{at}")),
                        ordinal: passages.len() as u32,
                        text: whole[at..end].iter().collect(),
                        span: Span::new(at, end),
                        pointer: Pointer::Line(line_at(at)),
                        headings: vec![],
                    });
                    at = end;
                }
                let (shown, text) = (shown(&passages, &lines), text.trim());
                let n_same =
                    shown.trim().bytes().zip(text.bytes()).take_while(|(a, b)| a == b).count();
                let place = text.get(n_same.saturating_sub(30)..(n_same + 30).min(text.len()));
                assert!(shown.trim() == text, "{name} in {n_chars}: {place:?}");
            }
        }
    }
}
