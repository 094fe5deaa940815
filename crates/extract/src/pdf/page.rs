//! The characters of a page, put together into rows as they are drawn: what stands next to each
//! other on a baseline is one row, with a space where a gap is wide enough for one.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::flow::is_unspaced;

/// A gap wider than this part of the size parts words.
const SPACE_GAP: f64 = 0.13;

/// Between characters of a script without spaces only a gap this wide is one.
const UNSPACED_GAP: f64 = 0.7;

/// Pieces of one baseline further apart than this stand in different columns or cells.
const COLUMN_GAP: f64 = 1.3;

/// Baselines closer than this part of the size are one.
const SAME_BASELINE: f64 = 0.3;

/// Raised and lowered characters that touch stand on the row they touch.
const RAISED_BASELINE: f64 = 0.55;

/// More characters than this on one page are not text for readers.
const MAX_GLYPHS: usize = 2_000_000;

/// The characters of a page so far.
#[derive(Default)]
pub(super) struct Page {
    pieces: Vec<Piece>,
    seen: HashSet<(Rc<str>, i32, i32)>,
    n_glyphs: usize,
    pub(super) n_unmapped: usize,
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

/// A character and where it stands along the baseline.
#[derive(Clone)]
pub(super) struct Glyph {
    pub(super) text: Rc<str>,
    pub(super) start: f64,
    pub(super) end: f64,
}

impl Page {
    /// Adds a character: its place, the direction of writing, its length along it and its size.
    pub(super) fn add(
        &mut self,
        text: &Rc<str>,
        place: (f64, f64),
        direction: (f64, f64),
        length: f64,
        size: f64,
    ) {
        self.n_glyphs += 1;
        if self.n_glyphs > MAX_GLYPHS || !place.0.is_finite() || !place.1.is_finite() {
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
        let is_blank = text.trim().is_empty();
        if text.is_empty() {
            self.n_unmapped += 1;
        } else if !is_blank {
            // A character drawn twice at one place is bold, not two characters.
            let grid = (size * 0.2).max(0.01);
            let key =
                (Rc::clone(text), (start / grid).round() as i32, (base / grid).round() as i32);
            if !self.seen.insert(key) {
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
            piece.size = size;
            piece.base = base;
        }
        if !text.is_empty() {
            piece.glyphs.push(Glyph { text: Rc::clone(text), start, end });
        }
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
    let is_unspaced_pair = before.text.chars().next_back().is_some_and(is_unspaced)
        && after.text.chars().next().is_some_and(is_unspaced);
    let limit = if is_unspaced_pair { UNSPACED_GAP } else { SPACE_GAP };
    gap > limit * size || gap < -2.0 * size
}
