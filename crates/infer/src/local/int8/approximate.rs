//! Functions for numbers that are rounded to eight bits right after: a few multiplications, no
//! division, and errors far below a step of the rounding.

use crate::local::vectorised::Arithmetic;

/// Adding 1.5 * 2^23 leaves the nearest whole number in the low bits of the sum.
pub(crate) const ROUNDER: f32 = 12_582_912.0;

/// Computes the exact GELU, `x * Φ(x)`, to 2e-4: Φ by an odd polynomial between -4 and 4, beyond
/// which it is nearly 0 or 1.
#[inline(always)]
pub(crate) fn gelu<A: Arithmetic>(x: f32) -> f32 {
    const BOUND: f32 = 4.0;
    // Coefficients by minimising the largest error of `x * Φ(x)` over the interval.
    let z = x.clamp(-BOUND, BOUND);
    let square = z * z;
    let mut sum = 2.277_999_1e-8;
    sum = A::fused(sum, square, -1.598_522_5e-6);
    sum = A::fused(sum, square, 4.795_380_3e-5);
    sum = A::fused(sum, square, -8.139_973_5e-4);
    sum = A::fused(sum, square, 8.772_291e-3);
    sum = A::fused(sum, square, -6.457_287e-2);
    sum = A::fused(sum, square, 3.978_831_5e-1);
    x * A::fused(sum, z, 0.5)
}

/// Computes `2^x` for `x` up to 0, to one part in ten thousand; far below it gives nearly 0.
#[inline(always)]
pub(crate) fn exp2<A: Arithmetic>(x: f32) -> f32 {
    let x = x.max(-126.0);
    let shifted = x + ROUNDER;
    let rest = x - (shifted - ROUNDER);
    let mut sum = 5.517_162_4e-2;
    sum = A::fused(sum, rest, 2.426_111_3e-1);
    sum = A::fused(sum, rest, 6.932_61e-1);
    sum = A::fused(sum, rest, 9.999_280_6e-1);
    f32::from_bits(sum.to_bits().wrapping_add(shifted.to_bits() << 23))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local::vectorised::{Plain, gelu as exact_gelu};

    #[test]
    fn gelu_is_close_to_the_exact_one() {
        for step in -2000..2000 {
            let x = step as f32 / 100.0;
            let (ours, exact) = (gelu::<Plain>(x), exact_gelu::<Plain>(x));
            assert!((ours - exact).abs() < 5e-4, "{x}: {ours} {exact}");
        }
    }

    #[test]
    fn exp2_is_close_to_the_library() {
        for step in -2500..=0 {
            let x = step as f32 / 100.0;
            let (ours, theirs) = (exp2::<Plain>(x), x.exp2());
            assert!(((ours - theirs) / theirs).abs() < 2e-4, "{x}: {ours} {theirs}");
        }
        assert!((0.0..1e-30).contains(&exp2::<Plain>(-1e30)));
    }
}
