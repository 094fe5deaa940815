//! The characters of a page, put together into rows as they are drawn: what is next to each
//! other on a baseline is one row, with a space where a gap is wide enough for one.

use std::collections::HashMap;
use std::rc::Rc;

use crate::flow::is_unspaced;

use super::shifted::Counts;

/// A gap wider than this part of the size parts words.
const SPACE_GAP: f64 = 0.11;

/// Between characters of a script without spaces only a gap this wide is one.
const UNSPACED_GAP: f64 = 0.7;

/// Pieces of one baseline further apart than this are in different columns or cells.
const COLUMN_GAP: f64 = 1.3;

/// Baselines closer than this part of the size are one.
const SAME_BASELINE: f64 = 0.3;

/// Raised and lowered characters that touch are on the row they touch.
const RAISED_BASELINE: f64 = 0.55;

/// The same character closer than this part of the size is drawn twice to look bold.
const SAME_PLACE: f64 = 0.06;

/// What is drawn further out than this is on no paper.
const MAX_COORDINATE: f64 = 1e7;

/// More characters than this on one page are not text for readers.
const MAX_GLYPHS: usize = 2_000_000;

/// The characters of a page so far.
#[derive(Default)]
pub(super) struct Page {
    pieces: Vec<Piece>,
    drawn: HashMap<(Rc<str>, i64, i64), (f64, f64)>,
    n_glyphs: usize,
    pub(super) n_unmapped: usize,
    /// Pictures drawn on the page, masks included.
    pub(super) n_pictures: usize,
}

/// Characters that follow each other.
pub(super) struct Piece {
    /// The direction of writing in whole degrees.
    pub(super) angle: i32,
    /// The distance of the baseline, upwards as seen by the writing.
    pub(super) base: f64,
    pub(super) size: f64,
    pub(super) start: f64,
    pub(super) end: f64,
    pub(super) glyphs: Vec<Glyph>,
}

/// A character and where it is along the baseline.
#[derive(Clone)]
pub(super) struct Glyph {
    pub(super) text: Rc<str>,
    /// What it may stand for instead; nothing once the page is settled.
    guess: Option<char>,
    pub(super) start: f64,
    pub(super) end: f64,
    /// Is above the row in a smaller size, as the mark of a footnote does.
    pub(super) is_raised: bool,
}

/// Characters smaller than this part of the row's size can be raised.
const RAISED_SIZE: f64 = 0.85;

/// And are this much of the row's size above its baseline.
const RAISED_BY: f64 = 0.15;

impl Page {
    /// Adds a character with what it may stand for instead: its place, the direction of writing, its
    /// length along it and its size.
    pub(super) fn add(
        &mut self,
        (text, guess): (&Rc<str>, Option<char>),
        place: (f64, f64),
        direction: (f64, f64),
        length: f64,
        size: f64,
    ) {
        self.n_glyphs += 1;
        let is_on_paper = |value: f64| value.abs() < MAX_COORDINATE;
        let is_sane = [place.0, place.1, length, size].into_iter().all(is_on_paper);
        if self.n_glyphs > MAX_GLYPHS || !is_sane {
            return;
        }
        let angle = if direction.1 == 0.0 && direction.0 > 0.0 {
            0
        } else {
            direction.1.atan2(direction.0).to_degrees().round() as i32
        };
        let (start, base) = if angle == 0 {
            place
        } else {
            let (sin, cos) = f64::from(angle).to_radians().sin_cos();
            (place.0 * cos + place.1 * sin, place.1 * cos - place.0 * sin)
        };
        let end = start + length.max(0.0);
        let is_blank =
            text.trim().is_empty() && (!text.is_empty() || guess.is_none_or(char::is_whitespace));
        if text.is_empty() {
            self.n_unmapped += 1;
        } else if !is_blank {
            // A character drawn twice at one place is bold, not two characters.
            if self.was_drawn(text, start, base, size) {
                return;
            }
        }
        let fits = self.pieces.last().is_some_and(|piece| piece.takes(angle, base, start, size));
        if !fits {
            if is_blank {
                return;
            }
            self.pieces.push(Piece { angle, base, size, start, end, glyphs: Vec::new() });
        }
        let Some(piece) = self.pieces.last_mut() else { return };
        piece.end = piece.end.max(end);
        piece.start = piece.start.min(start);
        if size > piece.size {
            // The larger of two sizes is the row's; the smaller one is raised or lowered.
            let were_raised =
                piece.size < RAISED_SIZE * size && piece.base > base + RAISED_BY * size;
            for glyph in &mut piece.glyphs {
                glyph.is_raised |= were_raised;
            }
            piece.size = size;
            piece.base = base;
        }
        let is_raised =
            size < RAISED_SIZE * piece.size && base > piece.base + RAISED_BY * piece.size;
        if !text.is_empty() || guess.is_some() {
            piece.glyphs.push(Glyph { text: Rc::clone(text), guess, start, end, is_raised });
        }
    }

    /// Decides whether characters are what they were guessed to be, and leaves out those of which
    /// nothing is known. `is_known` is whether pages before had guesses that were right; gives
    /// whether this one had.
    pub(super) fn settle(&mut self, is_known: bool) -> bool {
        let (mut unmapped, mut own, mut instead) =
            (Counts::default(), Counts::default(), Counts::default());
        for glyph in self.pieces.iter().flat_map(|piece| &piece.glyphs) {
            match (glyph.guess, glyph.text.chars().next()) {
                (Some(guess), None) => unmapped.add(guess),
                (Some(guess), Some(char)) => {
                    own.add(char);
                    instead.add(guess);
                }
                (None, _) => {}
            }
        }
        let is_other_text = own.is_noise() && instead.is_text();
        // Spaces and digits of a font whose letters are others have no text at all.
        let is_unmapped_text = is_known || is_other_text || unmapped.is_text();
        let mut n_found = 0;
        for piece in &mut self.pieces {
            for glyph in &mut piece.glyphs {
                let is_unmapped = glyph.text.is_empty();
                let is_right = if is_unmapped { is_unmapped_text } else { is_other_text };
                if let Some(guess) = glyph.guess.take().filter(|_| is_right) {
                    glyph.text = Rc::from(guess.to_string());
                    n_found += usize::from(is_unmapped);
                }
            }
            piece.glyphs.retain(|glyph| !glyph.text.is_empty());
        }
        self.n_unmapped = self.n_unmapped.saturating_sub(n_found);
        n_found > 0
    }

    /// Tells whether the character is here already, and notes that it does.
    fn was_drawn(&mut self, text: &Rc<str>, start: f64, base: f64, size: f64) -> bool {
        let near = size * SAME_PLACE;
        let cell = |value: f64| (value / (2.0 * near).max(0.01)).floor() as i64;
        let is_here = |(other_start, other_base): &(f64, f64)| {
            (other_start - start).abs() < near && (other_base - base).abs() < near
        };
        // What is near can be in the next cell; mostly that is the same one.
        let (left, right) = (cell(start - near), cell(start + near));
        let (below, above) = (cell(base - near), cell(base + near));
        for across in left..=right {
            for up in below..=above {
                let key = (Rc::clone(text), across, up);
                if self.drawn.get(&key).is_some_and(is_here) {
                    return true;
                }
            }
        }
        self.drawn.insert((Rc::clone(text), cell(start), cell(base)), (start, base));
        false
    }

    pub(super) fn n_glyphs(&self) -> usize {
        self.n_glyphs
    }

    /// Joins pieces of one baseline that were drawn apart, in the order they were begun.
    pub(super) fn into_pieces(self) -> Vec<Piece> {
        let mut joined: Vec<Piece> = Vec::with_capacity(self.pieces.len());
        let mut by_base: HashMap<(i32, i64), Vec<usize>> = HashMap::new();
        for piece in self.pieces {
            let cell = |base: f64| (base / 4.0).floor() as i64;
            let near = (-1..=1).flat_map(|step| {
                by_base
                    .get(&(piece.angle, cell(piece.base) + step))
                    .into_iter()
                    .flatten()
                    .rev()
                    .take(64)
            });
            let neighbour = near.copied().find(|idx| {
                joined.get(*idx).is_some_and(|other| {
                    let is_level = (other.base - piece.base).abs()
                        < SAME_BASELINE * other.size.max(piece.size);
                    let after = piece.start - other.end;
                    let before = other.start - piece.end;
                    let reach = other.size.min(piece.size) * COLUMN_GAP;
                    let touches = |gap: f64| (-0.2 * reach..reach).contains(&gap);
                    is_level && (touches(after) || touches(before))
                })
            });
            if let Some(idx) = neighbour
                && let Some(other) = joined.get_mut(idx)
            {
                other.join(piece);
                continue;
            }
            by_base.entry((piece.angle, cell(piece.base))).or_default().push(joined.len());
            joined.push(piece);
        }
        joined.retain(|piece| !piece.glyphs.is_empty());
        joined
    }
}

impl Piece {
    fn takes(&self, angle: i32, base: f64, start: f64, size: f64) -> bool {
        if angle != self.angle {
            return false;
        }
        let larger = self.size.max(size);
        let gap = start - self.end;
        let shift = (base - self.base).abs();
        if shift < SAME_BASELINE * larger {
            return (-0.6 * larger..COLUMN_GAP * larger).contains(&gap);
        }
        shift < RAISED_BASELINE * larger
            && size != self.size
            && (-0.3 * larger..0.3 * larger).contains(&gap)
    }

    fn join(&mut self, other: Piece) {
        let is_before = other.start < self.start;
        self.start = self.start.min(other.start);
        self.end = self.end.max(other.end);
        self.size = self.size.max(other.size);
        if is_before {
            let after = std::mem::replace(&mut self.glyphs, other.glyphs);
            self.glyphs.extend(after);
        } else {
            self.glyphs.extend(other.glyphs);
        }
    }

    /// Gives the text of the row, with spaces where gaps are, in reading order.
    pub(super) fn text(&self) -> String {
        if super::bidi::is_right_to_left(&self.glyphs) {
            return super::bidi::logical_text(&self.glyphs, self.size);
        }
        let mut text = String::new();
        let mut before: Option<&Glyph> = None;
        for glyph in &self.glyphs {
            if before.is_some_and(|before| needs_space(before, glyph, self.size))
                && !text.ends_with(' ')
            {
                text.push(' ');
            }
            text.push_str(&glyph.text);
            before = Some(glyph);
        }
        text
    }

    /// Gives how much room the first word takes.
    pub(super) fn first_word_length(&self) -> f64 {
        let mut end = self.start;
        let mut before: Option<&Glyph> = None;
        for glyph in self.glyphs.iter().skip_while(|glyph| glyph.text.trim().is_empty()) {
            let ends_word = glyph.text.trim().is_empty()
                || before.is_some_and(|before| {
                    needs_space(before, glyph, self.size) || before.text.chars().any(is_unspaced)
                });
            if ends_word {
                break;
            }
            end = glyph.end;
            before = Some(glyph);
        }
        (end - self.start).max(0.0)
    }
}

/// Tells whether the gap between two characters is a space that was not drawn.
pub(super) fn needs_space(before: &Glyph, after: &Glyph, size: f64) -> bool {
    let gap = after.start - before.end;
    // Marks over letters are where their letter does.
    if after.text.chars().all(is_mark) || (before.text.chars().all(is_mark) && gap < 0.3 * size) {
        return false;
    }
    let is_unspaced_pair = before.text.chars().next_back().is_some_and(is_unspaced)
        && after.text.chars().next().is_some_and(is_unspaced);
    if before.is_raised != after.is_raised {
        // The mark of a note is no part of the word it is at, but `th` is of a number.
        let (mark, word) = if after.is_raised { (after, before) } else { (before, after) };
        let is_mark = mark.text.chars().all(|char| char.is_ascii_digit());
        if is_mark && word.text.chars().all(char::is_alphabetic) {
            return true;
        }
    }
    let limit = if is_unspaced_pair { UNSPACED_GAP } else { SPACE_GAP };
    gap > limit * size || gap < -2.0 * size
}

fn is_mark(char: char) -> bool {
    matches!(char, '\u{300}'..='\u{36f}' | '\u{591}'..='\u{5c7}' | '\u{64b}'..='\u{65f}' | '\u{670}')
}
