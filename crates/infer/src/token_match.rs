//! Late interaction: how near the nearest token of a passage is to each token of the query.
//!
//! Passage tokens are kept as one bit a dimension ([`crate::pack_tokens`]); query tokens keep eight
//! bits. The cosine of the two is then a sum of the query's numbers over the bits that are set:
//! looked up eight bits at a time, or done by the processor's own instruction where it has one.

use crate::TokenVectors;
use crate::local::kernels::{BitSums, has_bit_sums};

/// Query tokens beyond these are left out: a longer query is a document.
const MAX_QUERY_TOKENS: usize = 64;

/// The largest number of a query's token.
const LARGEST: f32 = 127.0;

/// The tokens of a query, ready to be compared with the bits of passages.
pub struct TokenMatcher {
    dimensions: usize,
    tokens: Vec<Token>,
    sums: Sums,
}

/// What brings the sum over a token's set bits to a cosine.
struct Token {
    total: i32,
    scale: f64,
}

/// How sums over set bits are made.
enum Sums {
    Native(BitSums),
    /// For each token and byte of a passage's token, what each value of the byte adds.
    Tables(Vec<Vec<[i16; 256]>>),
}

impl TokenMatcher {
    /// Prepares a query; nothing when it has no tokens.
    pub fn new(tokens: &TokenVectors, mean: &[f32]) -> Option<Self> {
        TokenMatcher::choose(tokens, mean, has_bit_sums())
    }

    fn choose(tokens: &TokenVectors, mean: &[f32], is_native: bool) -> Option<Self> {
        let dimensions = tokens.dimensions;
        if tokens.is_empty() || mean.len() != dimensions {
            return None;
        }
        let (mut kept, mut numbers) = (Vec::new(), Vec::new());
        for token in tokens.iter().take(MAX_QUERY_TOKENS) {
            let centred: Vec<f32> =
                token.iter().zip(mean).map(|(value, mean)| value - mean).collect();
            let norm = centred.iter().map(|value| value * value).sum::<f32>().sqrt();
            let largest = centred.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
            if norm <= f32::EPSILON {
                continue;
            }
            let to_integer = LARGEST / largest;
            let rounded: Vec<i8> =
                centred.iter().map(|value| (value * to_integer).round() as i8).collect();
            kept.push(Token {
                total: rounded.iter().map(|value| i32::from(*value)).sum(),
                scale: f64::from(1.0 / (to_integer * norm)) / (dimensions as f64).sqrt(),
            });
            numbers.push(rounded);
        }
        if kept.is_empty() {
            return None;
        }
        let sums = match is_native {
            true => Sums::Native(BitSums::new(&numbers)),
            false => Sums::Tables(
                numbers.iter().map(|token| token.chunks(8).map(table_of).collect()).collect(),
            ),
        };
        Some(TokenMatcher { dimensions, tokens: kept, sums })
    }

    /// Scores one passage by its kept bits: the mean over the query's tokens of the best cosine.
    pub fn score(&self, blob: &[u8]) -> Option<f64> {
        let (dimensions, bits) = crate::token_blob::bits_of(blob)?;
        if dimensions != self.dimensions || bits.is_empty() {
            return None;
        }
        let n_bytes = dimensions.div_ceil(8);
        let mut best = vec![i32::MIN; self.tokens.len()];
        match &self.sums {
            Sums::Native(sums) => sums.raise(bits, n_bytes, &mut best),
            Sums::Tables(tables) => {
                for (tables, best) in tables.iter().zip(&mut best) {
                    let sums = bits.chunks_exact(n_bytes).map(|token| sum_of(tables, token));
                    *best = sums.max().unwrap_or(i32::MIN);
                }
            }
        }
        // A bit that is not set counts the other way.
        let cosine = |(token, best): (&Token, i32)| f64::from(2 * best - token.total) * token.scale;
        Some(self.tokens.iter().zip(best).map(cosine).sum::<f64>() / self.tokens.len() as f64)
    }
}

fn sum_of(tables: &[[i16; 256]], token: &[u8]) -> i32 {
    tables.iter().zip(token).map(|(table, byte)| i32::from(table[usize::from(*byte)])).sum()
}

fn table_of(numbers: &[i8]) -> [i16; 256] {
    std::array::from_fn(|byte| {
        let set = numbers.iter().enumerate().filter(|(bit, _)| byte >> bit & 1 == 1);
        set.map(|(_, number)| i16::from(*number)).sum()
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn token(dimensions: usize, seed: usize) -> Vec<f32> {
        (0..dimensions).map(|at| (((seed * 31 + at * 17) % 13) as f32 - 6.0) / 6.0).collect()
    }

    fn vectors(dimensions: usize, seeds: &[usize]) -> TokenVectors {
        let flat = seeds.iter().flat_map(|seed| token(dimensions, *seed)).collect();
        TokenVectors { dimensions, flat }
    }

    #[test]
    fn a_text_is_nearest_to_itself() {
        let mean = vec![0.0; 32];
        let query = TokenMatcher::new(&vectors(32, &[1, 2]), &mean).unwrap();
        let score =
            |seeds: &[usize]| query.score(&crate::pack_tokens(&vectors(32, seeds), &mean)).unwrap();
        assert!(score(&[1, 2, 3]) > 0.7);
        assert!(score(&[1, 2]) > score(&[1, 5]));
        assert!(score(&[1, 5]) > score(&[4, 5]));
        assert_eq!(query.score(&[]), None);
        assert!(TokenMatcher::new(&TokenVectors::default(), &[]).is_none());
    }

    proptest! {
        #[test]
        fn every_way_gives_the_mean_of_the_best_cosines(
            dimensions in 1..200_usize,
            query in prop::collection::vec(0..1000_usize, 1..20),
            passage in prop::collection::vec(0..1000_usize, 1..20),
        ) {
            let mean = vec![0.01; dimensions];
            let (query, passage) = (vectors(dimensions, &query), vectors(dimensions, &passage));
            let blob = crate::pack_tokens(&passage, &mean);
            let centred = |token: &[f32]| -> Vec<f64> {
                token.iter().map(|value| f64::from(value - 0.01)).collect()
            };
            let expected = query.iter().map(|asked| {
                let asked = centred(asked);
                let norm = asked.iter().map(|value| value * value).sum::<f64>().sqrt();
                let cosines = passage.iter().map(|kept| {
                    let signs = centred(kept).into_iter().map(|value| value.signum());
                    let sum: f64 = asked.iter().zip(signs).map(|(value, sign)| value * sign).sum();
                    sum / norm / (dimensions as f64).sqrt()
                });
                cosines.fold(f64::NEG_INFINITY, f64::max)
            });
            let expected = expected.sum::<f64>() / query.len() as f64;
            for is_native in [false, has_bit_sums()] {
                let matcher = TokenMatcher::choose(&query, &mean, is_native).unwrap();
                let found = matcher.score(&blob).unwrap();
                prop_assert!((found - expected).abs() < 0.02, "{found} instead of {expected}");
            }
        }
    }
}
