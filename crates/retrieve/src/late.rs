//! Late interaction: how near the nearest token of a passage is to each token of the query.
//!
//! Passage tokens are kept as one bit a dimension, after the model's mean token vector was taken
//! off; query tokens keep their numbers. The cosine of the two is then a sum over the bits,
//! which is looked up eight at a time.

use infer::TokenVectors;

/// Query tokens beyond these are left out: a longer query is a document.
const MAX_QUERY_TOKENS: usize = 64;

/// The tokens of a query, ready to be compared with the bits of passages.
pub(crate) struct LateQuery {
    dimensions: usize,
    /// For each token and byte of a passage's token, what each value of the byte adds.
    tables: Vec<Vec<[i16; 256]>>,
    /// What brings the sums of each token back to cosines.
    scales: Vec<f64>,
}

/// What the largest sum of one table comes to, so that all of them fit sixteen bits.
const TABLE_RANGE: f32 = 16_000.0;

impl LateQuery {
    /// Prepares a query; nothing when it has no tokens.
    pub(crate) fn new(tokens: &TokenVectors, mean: &[f32]) -> Option<Self> {
        let dimensions = tokens.dimensions;
        if tokens.is_empty() || mean.len() != dimensions {
            return None;
        }
        let (mut tables, mut scales) = (Vec::new(), Vec::new());
        for token in tokens.iter().take(MAX_QUERY_TOKENS) {
            let centred: Vec<f32> =
                token.iter().zip(mean).map(|(value, mean)| value - mean).collect();
            let norm = centred.iter().map(|value| value * value).sum::<f32>().sqrt();
            let sum: f32 = centred.iter().map(|value| value.abs()).sum();
            if norm <= f32::EPSILON {
                continue;
            }
            let to_integer = TABLE_RANGE / sum;
            tables.push(centred.chunks(8).map(|values| table_of(values, to_integer)).collect());
            scales.push(f64::from(1.0 / (to_integer * norm)) / (dimensions as f64).sqrt());
        }
        (!tables.is_empty()).then_some(LateQuery { dimensions, tables, scales })
    }

    /// Scores one passage by its kept bits: the mean over the query's tokens of the best cosine.
    pub(crate) fn score(&self, blob: &[u8]) -> Option<f64> {
        let (dimensions, tokens) = infer::unpack_tokens(blob)?;
        if dimensions != self.dimensions || tokens.is_empty() {
            return None;
        }
        let mut sum = 0.0;
        for (tables, scale) in self.tables.iter().zip(&self.scales) {
            let best = tokens.iter().map(|token| similarity(tables, token)).max()?;
            sum += f64::from(best) * scale;
        }
        Some(sum / self.tables.len() as f64)
    }
}

fn similarity(tables: &[[i16; 256]], token: &[u8]) -> i32 {
    tables.iter().zip(token).map(|(table, byte)| i32::from(table[usize::from(*byte)])).sum()
}

fn table_of(values: &[f32], to_integer: f32) -> [i16; 256] {
    let mut table = [0; 256];
    for (byte, entry) in table.iter_mut().enumerate() {
        let signed =
            |(bit, value): (usize, &f32)| if byte >> bit & 1 == 1 { *value } else { -value };
        let sum: f32 = values.iter().enumerate().map(signed).sum();
        *entry = (sum * to_integer).round() as i16;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_nearest_to_itself() {
        let dimensions = 32;
        let token = |seed: usize| -> Vec<f32> {
            (0..dimensions).map(|at| (((seed * 31 + at * 17) % 13) as f32 - 6.0) / 6.0).collect()
        };
        let vectors = |seeds: &[usize]| TokenVectors {
            dimensions,
            flat: seeds.iter().flat_map(|seed| token(*seed)).collect(),
        };
        let mean = vec![0.0; dimensions];
        let query = LateQuery::new(&vectors(&[1, 2]), &mean).unwrap();
        let score =
            |seeds: &[usize]| query.score(&infer::pack_tokens(&vectors(seeds), &mean)).unwrap();
        assert!(score(&[1, 2, 3]) > 0.7);
        assert!(score(&[1, 2]) > score(&[1, 5]));
        assert!(score(&[1, 5]) > score(&[4, 5]));
        assert_eq!(query.score(&[]), None);
        assert!(LateQuery::new(&TokenVectors::default(), &[]).is_none());
    }
}
