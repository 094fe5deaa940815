//! Rotary positions: queries and keys are turned by angles that grow with the token's position.

use crate::local::vectorised::{Arithmetic, Number, Work};

/// Cosines and sines for every position, half a head wide.
#[derive(Debug)]
pub(super) struct RotaryTable {
    half: usize,
    cosines: Vec<f32>,
    sines: Vec<f32>,
}

impl RotaryTable {
    /// Computes the table; `theta` is the base of the angles.
    pub(super) fn new(head_size: usize, n_positions: usize, theta: f64) -> Self {
        let half = head_size / 2;
        let angles = (0..n_positions).flat_map(|position| {
            (0..half).map(move |at| {
                let frequency = theta.powf(-2.0 * at as f64 / head_size as f64);
                position as f64 * frequency
            })
        });
        let (cosines, sines) = angles.map(|angle| (angle.cos() as f32, angle.sin() as f32)).unzip();
        RotaryTable { half, cosines, sines }
    }
}

/// Turns the queries and keys of projected rows, and stores all three parts as operands.
pub(super) struct Rotate<'a, T> {
    pub(super) table: &'a RotaryTable,
    /// How many tokens each sequence has.
    pub(super) lengths: &'a [usize],
    /// The width of each of the three parts.
    pub(super) hidden: usize,
    /// Rows of queries, keys and values side by side.
    pub(super) rows: &'a [f32],
    pub(super) out: &'a mut [T],
}

impl<T: Number> Work for Rotate<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let (half, width) = (self.table.half, 3 * self.hidden);
        let mut rows = self.rows.chunks_exact(width).zip(self.out.chunks_exact_mut(width));
        for length in self.lengths {
            for (position, (row, out)) in rows.by_ref().take(*length).enumerate() {
                let cosines = &self.table.cosines[position * half..][..half];
                let sines = &self.table.sines[position * half..][..half];
                let (turned, values) = row.split_at(2 * self.hidden);
                let (out_turned, out_values) = out.split_at_mut(2 * self.hidden);
                for (head, out) in
                    turned.chunks_exact(2 * half).zip(out_turned.chunks_exact_mut(2 * half))
                {
                    let (first, second) = head.split_at(half);
                    let (out_first, out_second) = out.split_at_mut(half);
                    for at in 0..half {
                        let (cosine, sine) = (cosines[at], sines[at]);
                        let turned = A::fused(first[at], cosine, -second[at] * sine);
                        out_first[at] = T::from_f32(turned);
                        let turned = A::fused(second[at], cosine, first[at] * sine);
                        out_second[at] = T::from_f32(turned);
                    }
                }
                for (out, value) in out_values.iter_mut().zip(values) {
                    *out = T::from_f32(*value);
                }
            }
        }
    }
}
