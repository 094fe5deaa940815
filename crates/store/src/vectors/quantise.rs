//! Vectors in fewer bits.

/// How far from 1 the length of a vector may be after it was rounded to single precision.
const UNIT_SLACK: f64 = 1e-6;

/// Gives the vector with length 1; nothing when it has no direction.
pub fn normalised(vector: &[f32]) -> Option<Vec<f32>> {
    let length = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt();
    if !length.is_finite() || length <= f64::from(f32::MIN_POSITIVE) {
        return None;
    }
    // One that has this length keeps its bits, so that copies of a catalogue can be compared.
    if (length - 1.0).abs() <= UNIT_SLACK {
        return Some(vector.to_vec());
    }
    Some(vector.iter().map(|x| (f64::from(*x) / length) as f32).collect())
}

/// Writes a vector in eight bits a dimension and gives the scale that leads back.
pub(super) fn to_codes(vector: &[f32], codes: &mut Vec<u8>) -> f32 {
    let largest = vector.iter().fold(0f32, |largest, x| largest.max(x.abs()));
    let scale = if largest > 0.0 { largest / 127.0 } else { 1.0 };
    codes.extend(vector.iter().map(|x| (x / scale).round() as i8 as u8));
    scale
}

/// Gives how many words hold one bit for each dimension.
pub(super) fn words_for(dimensions: usize) -> usize {
    dimensions.div_ceil(64)
}

/// Writes which side of the mean a vector lies on, one bit a dimension.
pub(super) fn to_bits(values: impl Iterator<Item = f32>, mean: &[f32], bits: &mut Vec<u64>) {
    let start = bits.len();
    bits.resize(start + words_for(mean.len()), 0);
    for (at, (value, mean)) in values.zip(mean).enumerate() {
        if value > *mean {
            bits[start + at / 64] |= 1 << (at % 64);
        }
    }
}
