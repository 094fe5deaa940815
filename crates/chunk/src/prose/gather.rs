//! Puts neighbouring units together until a passage is full.

use model::{BLOCK_SEPARATOR, BlockKind, Pointer, Span};

use super::place::{Part, Place};
use super::units::{self, Unit};
use super::{Piece, ProseConfig};
use crate::cursor::Cursor;

/// A heading starts a new passage only when the one before it has this share of its size, so
/// that a list of tiny sections does not become a list of tiny passages.
const MIN_SHARE_BEFORE_HEADING: usize = 5;
/// The last unit of a block may overfill a passage by this share, rather than stand alone.
const OVERFILL_SHARE: usize = 6;
/// Most characters of a table's first row that are repeated as a heading.
const MAX_HEADER_ROW_CHARS: usize = 200;

/// Makes passages of the units of one place after the other.
pub(super) struct Gathering<'a> {
    config: &'a ProseConfig,
    /// Headings above the current place, with their levels.
    headings: Vec<(u8, String)>,
    /// Characters of the whole text before the place that comes next.
    n_chars_before: usize,
    pieces: Vec<Piece>,
}

impl<'a> Gathering<'a> {
    pub(super) fn new(config: &'a ProseConfig) -> Self {
        Gathering { config, headings: Vec::new(), n_chars_before: 0, pieces: Vec::new() }
    }

    /// Takes a place; no passage goes on beyond it.
    pub(super) fn take_place(&mut self, place: &Place) {
        let config = self.config;
        let mut gatherer = Gatherer { place, gathering: self, open: None, heading_idx: None };
        let mut start = Cursor::default();
        for block_idx in 0..place.parts.len() {
            let (units, next) = units::take_apart(place, block_idx, start, config);
            units.iter().for_each(|unit| gatherer.take(unit));
            start = next;
        }
        gatherer.close();
        self.n_chars_before += place.whole.chars().count() + BLOCK_SEPARATOR.chars().count();
    }

    pub(super) fn into_pieces(self) -> Vec<Piece> {
        self.pieces
    }
}

/// Gathers the units of one place.
struct Gatherer<'p, 'a> {
    place: &'p Place,
    gathering: &'p mut Gathering<'a>,
    open: Option<Open>,
    /// The heading that was entered last.
    heading_idx: Option<usize>,
}

/// A passage that is not full yet.
struct Open {
    start: Cursor,
    end: Cursor,
    pointer: Pointer,
    headings: Vec<String>,
    last_block_idx: usize,
    /// Whether it holds nothing but headings so far.
    only_headings: bool,
}

impl Gatherer<'_, '_> {
    fn take(&mut self, unit: &Unit) {
        let Some(block) = self.place.parts.get(unit.block_idx) else { return };
        let starts_section = matches!(block.kind, BlockKind::Heading(_))
            && self.open.as_ref().is_some_and(|open| {
                let is_enough = (open.end.char - open.start.char) * MIN_SHARE_BEFORE_HEADING
                    >= self.gathering.config.target_chars;
                is_enough && !open.only_headings
            });
        if starts_section {
            self.close();
        }
        let is_full = self.open.as_ref().is_some_and(|open| !self.fits(open, unit, block));
        let overlap = is_full.then(|| self.overlap_before(unit)).flatten();
        if is_full {
            self.close();
        }
        // Headings change after the passage before them is closed and before a new one opens.
        self.enter_heading(block, unit);
        match &mut self.open {
            Some(open) => {
                open.end = unit.end;
                open.last_block_idx = unit.block_idx;
                open.only_headings &= matches!(block.kind, BlockKind::Heading(_));
            }
            None => self.open = Some(self.start_piece(unit, block, overlap)),
        }
    }

    fn fits(&self, open: &Open, unit: &Unit, block: &Part) -> bool {
        let n_chars = unit.end.char - open.start.char;
        let target = self.gathering.config.target_chars;
        let same_block = open.last_block_idx == unit.block_idx;
        let is_tail = unit.ends_block && same_block;
        let limit = if open.only_headings {
            self.gathering.config.max_chars
        } else if is_tail && !matches!(block.kind, BlockKind::Table | BlockKind::Code) {
            (target + target / OVERFILL_SHARE).min(self.gathering.config.max_chars)
        } else {
            target
        };
        n_chars <= limit
    }

    /// Gives where the next passage starts so that it repeats the end of the full one.
    fn overlap_before(&self, unit: &Unit) -> Option<Cursor> {
        let open = self.open.as_ref()?;
        let block = self.place.parts.get(unit.block_idx)?;
        // Rows and lines of code repeat nothing: half a row misleads more than it helps.
        let is_prose = |kind: BlockKind| {
            !matches!(kind, BlockKind::Table | BlockKind::Code | BlockKind::Heading(_))
        };
        let last = self.place.parts.get(open.last_block_idx)?;
        if !is_prose(block.kind) || !is_prose(last.kind) || open.only_headings {
            return None;
        }
        // The repeated part must leave room for what is new.
        let n_free =
            self.gathering.config.target_chars.saturating_sub(unit.end.char - open.end.char);
        let n_shared = self.gathering.config.overlap_chars.min(n_free);
        let from = open.end.back(&self.place.whole, n_shared);
        if from <= open.start || n_shared == 0 {
            return None;
        }
        let shared = self.place.whole.get(from.byte..open.end.byte)?;
        let start = overlap_start(shared)?;
        Some(from.advance_to(&self.place.whole, from.byte + start))
    }

    fn start_piece(&self, unit: &Unit, block: &Part, overlap: Option<Cursor>) -> Open {
        let is_heading = matches!(block.kind, BlockKind::Heading(_));
        let mut headings: Vec<String> =
            self.gathering.headings.iter().map(|(_, text)| text.clone()).collect();
        if is_heading {
            headings.pop();
        }
        if matches!(block.kind, BlockKind::Table) && unit.n_lines_before > 0 {
            let text = self.place.text(block);
            let row = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
            headings.push(row.trim().chars().take(MAX_HEADER_ROW_CHARS).collect());
        }
        let pointer = match overlap {
            Some(start) => self.pointer_of_overlap(start, unit, block),
            None => pointer_at(&block.pointer, unit.n_lines_before),
        };
        Open {
            start: overlap.unwrap_or(unit.start),
            end: unit.end,
            pointer,
            headings,
            last_block_idx: unit.block_idx,
            only_headings: is_heading,
        }
    }

    /// Points at a character of the passage before, which the next one repeats from there on.
    ///
    /// Invariant: `start` is before `unit`, no further than an overlap is long and the blank
    /// between them.
    fn pointer_of_overlap(&self, start: Cursor, unit: &Unit, block: &Part) -> Pointer {
        let n_breaks = |text: &str| {
            let n_breaks = text.bytes().filter(|byte| *byte == b'\n').count();
            u32::try_from(n_breaks).unwrap_or(u32::MAX)
        };
        let between =
            |from: usize, to: usize| n_breaks(self.place.whole.get(from..to).unwrap_or_default());
        let begins = unit.block_start;
        if start.byte >= begins {
            let n_repeated = between(start.byte, unit.start.byte);
            return pointer_at(&block.pointer, unit.n_lines_before.saturating_sub(n_repeated));
        }
        // The passage before ended with its block, or with one before that.
        for before in self.place.parts.iter().take(unit.block_idx).rev() {
            let begins = before.range.start;
            if start.byte >= begins {
                let n_after = between(start.byte, before.range.end);
                let n_lines = n_breaks(self.place.text(before)).saturating_sub(n_after);
                return pointer_at(&before.pointer, n_lines);
            }
        }
        block.pointer.clone()
    }

    fn enter_heading(&mut self, block: &Part, unit: &Unit) {
        let BlockKind::Heading(level) = block.kind else { return };
        // A heading that was cut in several units is entered once.
        if self.heading_idx.replace(unit.block_idx) == Some(unit.block_idx) {
            return;
        }
        let headings = &mut self.gathering.headings;
        while headings.last().is_some_and(|(above, _)| *above >= level) {
            headings.pop();
        }
        headings.push((level, heading_words(self.place.text(block)).to_owned()));
    }

    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        let text = self.place.whole.get(open.start.byte..open.end.byte).unwrap_or_default();
        let n_before = self.gathering.n_chars_before;
        self.gathering.pieces.push(Piece {
            text: text.to_owned(),
            span: Span::new(n_before + open.start.char, n_before + open.end.char),
            pointer: open.pointer,
            headings: open.headings,
        });
    }
}

/// Gives a heading without the marks of its level.
fn heading_words(text: &str) -> &str {
    text.trim().trim_start_matches('#').trim_start()
}

/// Tells whether two blocks may be in one passage: the same place, or lines of one text.
pub(super) fn same_place(one: &Pointer, other: &Pointer) -> bool {
    match (one, other) {
        (Pointer::Line(_), Pointer::Line(_)) => true,
        (
            Pointer::Inner { path, place },
            Pointer::Inner { path: other_path, place: other_place },
        ) => path == other_path && same_place(place, other_place),
        _ => one == other,
    }
}

/// Moves a pointer to a line down by the lines of its block that come before.
fn pointer_at(pointer: &Pointer, n_lines: u32) -> Pointer {
    match pointer {
        Pointer::Line(line) => Pointer::Line(line.saturating_add(n_lines)),
        Pointer::Inner { path, place } => {
            Pointer::Inner { path: path.clone(), place: Box::new(pointer_at(place, n_lines)) }
        }
        Pointer::Whole
        | Pointer::Page(_)
        | Pointer::Slide(_)
        | Pointer::Sheet { .. }
        | Pointer::Message(_)
        | Pointer::Json(_) => pointer.clone(),
    }
}

/// Gives where a repeated part should start: at a sentence, else at a clause, else at a word.
fn overlap_start(shared: &str) -> Option<usize> {
    let after = |at: usize| {
        let rest = shared.get(at..)?;
        let sign = rest.chars().next()?;
        let start = at + sign.len_utf8();
        let tail = shared.get(start..)?;
        let start = start + (tail.len() - tail.trim_start().len());
        (start < shared.len()).then_some(start)
    };
    let by = |test: fn(char) -> bool| shared.find(test).and_then(after);
    by(|char| matches!(char, '。' | '！' | '？' | '\n'))
        .or_else(|| {
            shared
                .find(". ")
                .or_else(|| shared.find("! "))
                .or_else(|| shared.find("? "))
                .and_then(after)
        })
        .or_else(|| by(|char| matches!(char, '、' | '，')))
        .or_else(|| by(char::is_whitespace))
        .or_else(|| (!shared.contains(char::is_whitespace)).then_some(0))
}
