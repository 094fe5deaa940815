//! The nearest vectors, by reading all that may be read.

use std::cmp::Ordering;

use model::Deadline;

use super::kernels::{Unit, differing_bits, dot_rows};
use super::quantise::{normalised, to_bits, to_codes, words_for};
use super::view::VectorView;
use crate::bits::Bits;

/// Rows read between two looks at the clock.
const ROWS_PER_LOOK: usize = 8_192;
/// When no more than this part of the vectors may be read, they are read one by one.
const FEW_PART: f64 = 0.10;
/// The shortlist by bits holds this many times what is asked for, and at least [`MIN_SHORTLIST`].
const SHORTLIST_FACTOR: usize = 16;
const MIN_SHORTLIST: usize = 4_096;
/// The list by codes holds this many times what is asked for.
const RESCORE_FACTOR: usize = 2;

/// What a search by vector found.
#[derive(Debug, Default)]
pub(crate) struct Near {
    /// Passage numbers and cosines, nearest first.
    pub(crate) hits: Vec<(u32, f32)>,
    /// The deadline came first.
    pub(crate) is_partial: bool,
}

impl VectorView {
    /// Finds the nearest vectors among the allowed passages.
    ///
    /// Invariant: the question has length 1 and the file's dimensions.
    pub(crate) fn nearest(
        &self,
        question: &[f32],
        allowed: Option<&Bits>,
        limit: usize,
        deadline: &Deadline,
    ) -> Near {
        if limit == 0 || self.len() == 0 {
            return Near::default();
        }
        let mut is_partial = false;
        let n_allowed = allowed.map_or(self.n_slots, Bits::len);
        let slots = if (n_allowed as f64) < self.n_slots as f64 * FEW_PART {
            let slots = allowed.into_iter().flat_map(Bits::iter).filter_map(|n| self.slot(n));
            self.shortlist_of(question, slots, limit, deadline, &mut is_partial)
        } else if self.bits().is_empty() {
            self.shortlist_by_codes(question, allowed, limit, deadline, &mut is_partial)
        } else {
            let slots = self.shortlist_by_bits(question, allowed, limit, deadline, &mut is_partial);
            self.shortlist_of(question, slots.into_iter(), limit, deadline, &mut is_partial)
        };
        let mut hits: Vec<(u32, f32)> = slots
            .into_iter()
            .map(|slot| (self.number(slot), self.cosine(question, slot)))
            .collect();
        hits.sort_unstable_by(nearest_first);
        hits.truncate(limit);
        Near { hits, is_partial }
    }

    /// Reads the bits of all and keeps those that differ least.
    fn shortlist_by_bits(
        &self,
        question: &[f32],
        allowed: Option<&Bits>,
        limit: usize,
        deadline: &Deadline,
        is_partial: &mut bool,
    ) -> Vec<usize> {
        let mut question_bits = vec![];
        to_bits(question.iter().copied(), &self.mean, &mut question_bits);
        let n_words = words_for(self.dimensions);
        let mut distances = vec![u16::MAX; self.n_slots];
        let mut counts = vec![0usize; self.dimensions + 1];
        for (chunk_idx, (rows, chunk)) in self
            .bits()
            .chunks(ROWS_PER_LOOK * n_words)
            .zip(distances.chunks_mut(ROWS_PER_LOOK))
            .enumerate()
        {
            if deadline.is_over() {
                *is_partial = true;
                break;
            }
            differing_bits(Unit::best(), &question_bits, rows, chunk);
            for (slot, distance) in (chunk_idx * ROWS_PER_LOOK..).zip(chunk) {
                if self.may_read(slot, allowed) {
                    counts[usize::from(*distance)] += 1;
                } else {
                    *distance = u16::MAX;
                }
            }
        }
        let wanted = (limit * SHORTLIST_FACTOR).max(MIN_SHORTLIST);
        let mut n_within = 0;
        let furthest = counts.iter().position(|count| {
            n_within += count;
            n_within >= wanted
        });
        let furthest = furthest.unwrap_or(self.dimensions) as u16;
        let within = distances.iter().enumerate().filter(|(_, distance)| **distance <= furthest);
        within.map(|(slot, _)| slot).collect()
    }

    /// Reads the codes of all and keeps the nearest.
    fn shortlist_by_codes(
        &self,
        question: &[f32],
        allowed: Option<&Bits>,
        limit: usize,
        deadline: &Deadline,
        is_partial: &mut bool,
    ) -> Vec<usize> {
        let question = codes_of(question);
        let mut nearest = Nearest::new(limit * RESCORE_FACTOR);
        let mut dots = vec![0; ROWS_PER_LOOK];
        for (chunk_idx, rows) in self.codes().chunks(ROWS_PER_LOOK * self.dimensions).enumerate() {
            if deadline.is_over() {
                *is_partial = true;
                break;
            }
            let dots = &mut dots[..rows.len() / self.dimensions];
            dot_rows(Unit::best(), &question, rows, dots);
            for (slot, dot) in (chunk_idx * ROWS_PER_LOOK..).zip(dots) {
                let score = *dot as f32 * self.scale(slot);
                if score > nearest.threshold && self.may_read(slot, allowed) {
                    nearest.offer(slot, score);
                }
            }
        }
        nearest.into_slots()
    }

    /// Reads the codes of the given slots and keeps the nearest.
    fn shortlist_of(
        &self,
        question: &[f32],
        slots: impl Iterator<Item = usize>,
        limit: usize,
        deadline: &Deadline,
        is_partial: &mut bool,
    ) -> Vec<usize> {
        let question = codes_of(question);
        let codes = self.codes();
        let mut nearest = Nearest::new(limit * RESCORE_FACTOR);
        let mut dot = [0];
        for (n_read, slot) in (1usize..).zip(slots) {
            let row = &codes[slot * self.dimensions..][..self.dimensions];
            dot_rows(Unit::best(), &question, row, &mut dot);
            let score = dot[0] as f32 * self.scale(slot);
            if score > nearest.threshold {
                nearest.offer(slot, score);
            }
            if n_read.is_multiple_of(ROWS_PER_LOOK) && deadline.is_over() {
                *is_partial = true;
                break;
            }
        }
        nearest.into_slots()
    }

    fn may_read(&self, slot: usize, allowed: Option<&Bits>) -> bool {
        let number = self.number(slot);
        // A dead slot is one that its number does not lead to any more.
        self.slot_of.get(number as usize).is_some_and(|living| *living as usize == slot)
            && allowed.is_none_or(|allowed| allowed.contains(number))
    }

    /// Gives the cosine with the question in full and the vector in eight bits a dimension.
    fn cosine(&self, question: &[f32], slot: usize) -> f32 {
        let row = &self.codes()[slot * self.dimensions..][..self.dimensions];
        cosine(question, row, self.scale(slot))
    }
}

fn cosine(question: &[f32], row: &[i8], scale: f32) -> f32 {
    let dot: f32 = question.iter().zip(row).map(|(a, b)| a * f32::from(*b)).sum();
    (dot * scale).clamp(-1.0, 1.0)
}

/// Gives the cosine that a search by vector would give a passage if this vector were stored; nothing
/// where one of the two has no direction.
pub fn cosine_as_stored(question: &[f32], vector: &[f32]) -> Option<f32> {
    let (question, vector) = (normalised(question)?, normalised(vector)?);
    let mut codes = vec![];
    let scale = to_codes(&vector, &mut codes);
    let row: Vec<i8> = codes.into_iter().map(|code| code as i8).collect();
    Some(cosine(&question, &row, scale))
}

fn codes_of(vector: &[f32]) -> Vec<i8> {
    let mut codes = vec![];
    to_codes(vector, &mut codes);
    codes.into_iter().map(|code| code as i8).collect()
}

fn nearest_first(left: &(u32, f32), right: &(u32, f32)) -> Ordering {
    right.1.total_cmp(&left.1).then(left.0.cmp(&right.0))
}

/// Keeps the slots with the highest scores, in batches: cheaper than a heap when most lose.
struct Nearest {
    limit: usize,
    threshold: f32,
    kept: Vec<(usize, f32)>,
}

impl Nearest {
    fn new(limit: usize) -> Self {
        Nearest { limit: limit.max(1), threshold: f32::NEG_INFINITY, kept: vec![] }
    }

    fn offer(&mut self, slot: usize, score: f32) {
        self.kept.push((slot, score));
        if self.kept.len() >= self.limit * 2 {
            self.cut();
        }
    }

    fn cut(&mut self) {
        if self.kept.len() > self.limit {
            self.kept.select_nth_unstable_by(self.limit - 1, |left, right| {
                right.1.total_cmp(&left.1).then(left.0.cmp(&right.0))
            });
            self.kept.truncate(self.limit);
            self.threshold = self.kept[self.limit - 1].1;
        }
    }

    fn into_slots(mut self) -> Vec<usize> {
        self.cut();
        self.kept.into_iter().map(|(slot, _)| slot).collect()
    }
}
