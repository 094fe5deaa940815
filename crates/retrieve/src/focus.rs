//! The tokens of a query without what they have in common.
//!
//! The tokens of a short text are alike: they share its language and the tone of a question, more
//! than they share with the same words in a passage of another language. Taking a part of what is
//! common off leaves what tells the tokens apart, which is what is asked.

use infer::{TokenMatcher, TokenVectors};

/// The part of the query's own mean token that is taken off each token. All of it would leave
/// nothing of a query whose words are all about one thing.
const OWN_PART: f32 = 0.3;

/// The part of the mean token of queries in the same language that is taken off.
const LANGUAGE_PART: f32 = 0.5;

/// Prepares a query's tokens for late interaction; nothing when it has no tokens.
///
/// `mean` is the mean of all tokens of the model, `usual` the mean token of queries in each
/// language that the model has a background for, in which `mean` is taken off already.
pub(crate) fn focused<'a>(
    tokens: &TokenVectors,
    mean: &[f32],
    usual: impl Iterator<Item = &'a [f32]>,
) -> Option<TokenMatcher> {
    let dimensions = tokens.dimensions;
    if tokens.is_empty() || mean.len() != dimensions {
        return None;
    }
    let mut directions = directions(tokens, mean);
    let own = mean_of(&directions, dimensions);
    // The language is told by the tokens themselves, so that a query of one word has one too.
    let nearest = usual
        .filter(|usual| usual.len() == dimensions)
        .map(|usual| (dot(usual, &own) / length(usual), usual))
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .map(|(_, usual)| usual);
    for direction in &mut directions {
        for (idx, value) in direction.iter_mut().enumerate() {
            let usual = nearest.map_or(0.0, |usual| usual[idx]);
            *value -= OWN_PART * own[idx] + LANGUAGE_PART * usual;
        }
    }
    let tokens = TokenVectors { dimensions, flat: directions.concat() };
    TokenMatcher::new(&tokens, &vec![0.0; dimensions])
}

/// Gives the mean token of some queries, as [`focused`] wants it.
pub(crate) fn mean_token<'a>(
    queries: impl Iterator<Item = &'a TokenVectors>,
    mean: &[f32],
) -> Vec<f32> {
    let directions: Vec<Vec<f32>> = queries.flat_map(|tokens| directions(tokens, mean)).collect();
    mean_of(&directions, mean.len())
}

/// Gives the tokens with the mean of all tokens taken off, each of length 1.
fn directions(tokens: &TokenVectors, mean: &[f32]) -> Vec<Vec<f32>> {
    let direction = |token: &[f32]| -> Vec<f32> {
        let centred: Vec<f32> = token.iter().zip(mean).map(|(value, mean)| value - mean).collect();
        let length = length(&centred);
        centred.into_iter().map(|value| value / length).collect()
    };
    tokens.iter().map(direction).collect()
}

fn mean_of(vectors: &[Vec<f32>], dimensions: usize) -> Vec<f32> {
    let mut mean = vec![0.0; dimensions];
    let n = vectors.len().max(1) as f32;
    for vector in vectors {
        mean.iter_mut().zip(vector).for_each(|(sum, value)| *sum += value / n);
    }
    mean
}

fn length(vector: &[f32]) -> f32 {
    dot(vector, vector).sqrt().max(f32::MIN_POSITIVE)
}

fn dot(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEAN: [f32; 4] = [0.0; 4];

    fn tokens(tokens: &[[f32; 4]]) -> TokenVectors {
        TokenVectors { dimensions: 4, flat: tokens.concat() }
    }

    fn score(query: &[[f32; 4]], usual: &[&[f32]], passage: &[[f32; 4]]) -> f64 {
        let matcher = focused(&tokens(query), &MEAN, usual.iter().copied()).unwrap();
        matcher.score(&infer::pack_tokens(&tokens(passage), &MEAN)).unwrap()
    }

    #[test]
    fn what_the_tokens_share_counts_less_than_what_tells_them_apart() {
        // The first number is what the query's tokens share, the others what they say.
        let query = [[0.9, 0.4, -0.1, -0.1], [0.9, -0.1, 0.4, -0.1]];
        let sharing = [[1.0, -0.1, -0.1, 1.0], [1.0, -0.1, -0.1, 1.0]];
        let saying = [[-1.0, 1.0, -0.1, -0.1], [-1.0, -0.1, 1.0, -0.1]];
        let plain = TokenMatcher::new(&tokens(&query), &MEAN).unwrap();
        let lead = |one: f64, other: f64| one - other;
        let bits = |passage: &[[f32; 4]]| infer::pack_tokens(&tokens(passage), &MEAN);
        let before =
            lead(plain.score(&bits(&saying)).unwrap(), plain.score(&bits(&sharing)).unwrap());
        let usual: &[&[f32]] = &[&[0.9, 0.1, 0.1, 0.0]];
        let after = lead(score(&query, usual, &saying), score(&query, usual, &sharing));
        assert!(after > before + 0.2, "{before} {after}");
    }

    #[test]
    fn one_token_alone_stays_what_it_is() {
        let passage = [[1.0, 1.0, -1.0, -1.0]];
        let query = [[0.5, 0.5, -0.5, -0.5]];
        assert!(score(&query, &[], &passage) > 0.99);
        assert!(focused(&TokenVectors::default(), &[], std::iter::empty()).is_none());
    }
}
