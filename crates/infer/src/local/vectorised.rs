//! Row operations of a transformer, written so that a compiler can turn them into vector
//! instructions: fixed lanes, no branches, no library calls.
//!
//! Nothing here is unsafe and nothing names an instruction set. A [`Work`] is run by
//! [`super::kernels::run`], which compiles it once for each level and chooses at run time.

/// How many numbers are added up side by side; the widest vector in use holds as many.
pub(crate) const LANES: usize = 16;

/// How `a * b + c` is computed: in one rounding where the processor can, in two elsewhere.
pub(crate) trait Arithmetic: Copy {
    /// Computes `a * b + c`.
    fn fused(a: f32, b: f32, c: f32) -> f32;
}

/// Two roundings: for processors whose fused form would be a library call.
#[derive(Clone, Copy)]
pub(crate) struct Plain;

/// One rounding.
#[derive(Clone, Copy)]
pub(crate) struct Fused;

impl Arithmetic for Plain {
    #[inline(always)]
    fn fused(a: f32, b: f32, c: f32) -> f32 {
        a * b + c
    }
}

impl Arithmetic for Fused {
    #[inline(always)]
    fn fused(a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }
}

/// Something to compute under a chosen instruction set. `run` must be `#[inline(always)]`.
pub(crate) trait Work {
    /// What is computed.
    type Output;
    /// Computes it.
    fn run<A: Arithmetic>(self) -> Self::Output;
}

/// A number as matrix products take it.
pub(crate) trait Number: Copy + Default + Send + Sync + 'static {
    /// Rounds to this type.
    fn from_f32(value: f32) -> Self;
}

impl Number for f32 {
    #[inline(always)]
    fn from_f32(value: f32) -> Self {
        value
    }
}

/// The upper half of an `f32`: its range with 8 bits of precision.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Bf16(pub(crate) u16);

impl Number for Bf16 {
    #[inline(always)]
    fn from_f32(value: f32) -> Self {
        // Ties go to even. Activations are finite, so a NaN needs no care of its own.
        let bits = value.to_bits();
        Bf16((bits.wrapping_add(0x7fff + ((bits >> 16) & 1)) >> 16) as u16)
    }
}

/// Computes `e^x` to about one part in ten million; below -87 it gives nearly 0.
#[inline(always)]
pub(crate) fn exp<A: Arithmetic>(x: f32) -> f32 {
    // Adding 1.5 * 2^23 leaves the rounded power of two in the low bits of the sum.
    const ROUNDER: f32 = 12_582_912.0;
    let x = x.clamp(-87.0, 88.0);
    let shifted = A::fused(x, std::f32::consts::LOG2_E, ROUNDER);
    let power = shifted - ROUNDER;
    let r = A::fused(power, -0.693_359_4, x);
    let r = A::fused(power, 2.121_944_4e-4, r);
    let mut sum = 1.987_569_1e-4;
    sum = A::fused(sum, r, 1.398_2e-3);
    sum = A::fused(sum, r, 8.333_452e-3);
    sum = A::fused(sum, r, 4.166_579_6e-2);
    sum = A::fused(sum, r, 1.666_666_5e-1);
    sum = A::fused(sum, r, 0.5);
    let value = A::fused(sum, r * r, r) + 1.0;
    value * f32::from_bits((shifted.to_bits() << 23).wrapping_add(0x3f80_0000))
}

/// Computes the exact GELU, `x/2 * (1 + erf(x / sqrt 2))`, to about one part in a million.
#[inline(always)]
pub(crate) fn gelu<A: Arithmetic>(x: f32) -> f32 {
    // The error function by the rational approximation 7.1.26 of Abramowitz and Stegun.
    let z = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
    let t = 1.0 / A::fused(z, 0.327_591_1, 1.0);
    let mut sum = 1.061_405_4;
    sum = A::fused(sum, t, -1.453_152);
    sum = A::fused(sum, t, 1.421_413_7);
    sum = A::fused(sum, t, -0.284_496_74);
    sum = A::fused(sum, t, 0.254_829_6);
    let erf = A::fused(-sum * t, exp::<A>(-z * z), 1.0);
    0.5 * x * (1.0 + erf.copysign(x))
}

/// Adds up numbers in lanes.
#[inline(always)]
pub(crate) fn sum(row: &[f32]) -> f32 {
    let mut lanes = [0.0; LANES];
    let (chunks, rest) = row.as_chunks::<LANES>();
    for chunk in chunks {
        for lane in 0..LANES {
            lanes[lane] += chunk[lane];
        }
    }
    sum_of_lanes(&lanes) + rest.iter().sum::<f32>()
}

/// Adds up squares of distances from a middle, in lanes.
#[inline(always)]
pub(crate) fn sum_of_squares<A: Arithmetic>(row: &[f32], middle: f32) -> f32 {
    let mut lanes = [0.0; LANES];
    let (chunks, rest) = row.as_chunks::<LANES>();
    for chunk in chunks {
        for lane in 0..LANES {
            let distance = chunk[lane] - middle;
            lanes[lane] = A::fused(distance, distance, lanes[lane]);
        }
    }
    let rest: f32 = rest.iter().map(|value| (value - middle) * (value - middle)).sum();
    sum_of_lanes(&lanes) + rest
}

/// Gives the largest of all lanes.
///
/// Not inlined, as [`sum_of_lanes`]: the compiler would take the tree of halves as a pattern for
/// the loop before it, and give that up for pairs of numbers.
#[inline(never)]
pub(crate) fn largest_lane(lanes: &[f32; LANES]) -> f32 {
    let mut halves = *lanes;
    for width in [8, 4, 2, 1] {
        for lane in 0..width {
            let other = halves[lane + width];
            halves[lane] = if other > halves[lane] { other } else { halves[lane] };
        }
    }
    halves[0]
}

/// Gives the sum of all lanes by halves: a chain of additions would wait for each.
#[inline(never)]
fn sum_of_lanes(lanes: &[f32; LANES]) -> f32 {
    let mut halves = *lanes;
    for width in [8, 4, 2, 1] {
        for lane in 0..width {
            halves[lane] += halves[lane + width];
        }
    }
    halves[0]
}

#[inline(always)]
fn largest(row: &[f32]) -> f32 {
    let mut lanes = [f32::NEG_INFINITY; LANES];
    let (chunks, rest) = row.as_chunks::<LANES>();
    for chunk in chunks {
        for lane in 0..LANES {
            lanes[lane] = if chunk[lane] > lanes[lane] { chunk[lane] } else { lanes[lane] };
        }
    }
    rest.iter().fold(largest_lane(&lanes), |most, value| most.max(*value))
}

/// Layer normalisation of every row in place, and a copy of the rows as operands of a product.
pub(crate) struct LayerNorm<'a, T> {
    /// The rows, one after another.
    pub(crate) rows: &'a mut [f32],
    /// Where the copy goes; at least as long.
    pub(crate) copy: &'a mut [T],
    pub(crate) scale: &'a [f32],
    pub(crate) shift: &'a [f32],
    pub(crate) epsilon: f32,
}

impl<T: Number> Work for LayerNorm<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let width = self.scale.len();
        let shift = &self.shift[..width];
        for (row, copy) in self.rows.chunks_exact_mut(width).zip(self.copy.chunks_exact_mut(width))
        {
            let mean = sum(row) / width as f32;
            let variance = sum_of_squares::<A>(row, mean) / width as f32;
            let factor = 1.0 / (variance + self.epsilon).sqrt();
            for at in 0..width {
                let value = A::fused((row[at] - mean) * factor, self.scale[at], shift[at]);
                row[at] = value;
                copy[at] = T::from_f32(value);
            }
        }
    }
}

/// Layer normalisation of every row, written as operands of a product; the rows stay.
pub(crate) struct NormaliseInto<'a, T> {
    /// The rows, one after another.
    pub(crate) rows: &'a [f32],
    /// Where the normalised rows go; at least as long.
    pub(crate) copy: &'a mut [T],
    pub(crate) scale: &'a [f32],
    pub(crate) shift: &'a [f32],
    pub(crate) epsilon: f32,
}

impl<T: Number> Work for NormaliseInto<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let width = self.scale.len();
        let shift = &self.shift[..width];
        for (row, copy) in self.rows.chunks_exact(width).zip(self.copy.chunks_exact_mut(width)) {
            let mean = sum(row) / width as f32;
            let variance = sum_of_squares::<A>(row, mean) / width as f32;
            let factor = 1.0 / (variance + self.epsilon).sqrt();
            for at in 0..width {
                let value = A::fused((row[at] - mean) * factor, self.scale[at], shift[at]);
                copy[at] = T::from_f32(value);
            }
        }
    }
}

/// Softmax of rows of scores, written as operands of a product. What lies outside of a row's
/// length or window becomes 0.
pub(crate) struct Softmax<'a, T> {
    pub(crate) scores: &'a mut [f32],
    pub(crate) weights: &'a mut [T],
    /// The distance between two rows, in both.
    pub(crate) stride: usize,
    pub(crate) n_rows: usize,
    pub(crate) length: usize,
    /// The place of the first row in its sequence.
    pub(crate) first_row: usize,
    /// How far to each side of its own place a row counts; everywhere where there is none.
    pub(crate) window: Option<usize>,
}

impl<T: Number> Work for Softmax<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let rows = self
            .scores
            .chunks_exact_mut(self.stride)
            .zip(self.weights.chunks_exact_mut(self.stride));
        for (row_idx, (scores, weights)) in rows.take(self.n_rows).enumerate() {
            let at = self.first_row + row_idx;
            let (from, to) = match self.window {
                Some(window) => (at.saturating_sub(window), self.length.min(at + window + 1)),
                None => (0, self.length),
            };
            let scores = &mut scores[from..to];
            let top = largest(scores);
            for score in scores.iter_mut() {
                *score = exp::<A>(*score - top);
            }
            let factor = 1.0 / sum(scores);
            let (before, rest) = weights.split_at_mut(from);
            let (kept, behind) = rest.split_at_mut(to - from);
            before.fill(T::default());
            for (weight, score) in kept.iter_mut().zip(&*scores) {
                *weight = T::from_f32(score * factor);
            }
            behind.fill(T::default());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn erf_by_series(x: f64) -> f64 {
        let (mut term, mut total, mut n) = (x, x, 0.0);
        while f64::abs(term) > 1e-18 {
            n += 1.0;
            term *= -x * x / n;
            total += term / (2.0 * n + 1.0);
        }
        total * 2.0 / std::f64::consts::PI.sqrt()
    }

    #[test]
    fn exp_is_close_to_the_library() {
        for step in -8000..800 {
            let x = step as f32 / 100.0;
            let (ours, theirs) = (f64::from(exp::<Plain>(x)), f64::from(x).exp());
            assert!(((ours - theirs) / theirs).abs() < 3e-7, "{x}: {ours} {theirs}");
        }
        assert!(exp::<Plain>(-1000.0) < 1e-37);
        assert!(exp::<Plain>(1000.0).is_finite());
    }

    #[test]
    fn gelu_is_the_exact_one() {
        for step in -500..500 {
            let x = f64::from(step) / 100.0;
            let expected = x / 2.0 * (1.0 + erf_by_series(x / 2f64.sqrt()));
            let ours = f64::from(gelu::<Plain>(x as f32));
            assert!((ours - expected).abs() < 2e-6, "{x}: {ours} {expected}");
        }
    }

    #[test]
    fn bf16_rounds_to_the_nearest() {
        for value in [0.0f32, 1.0, -2.5, 3.25, 1e-20, -1e20] {
            let back = f32::from_bits(u32::from(Bf16::from_f32(value).0) << 16);
            assert!((back - value).abs() <= value.abs() / 256.0, "{value} {back}");
        }
    }
}
