//! Laws of the vector file at its real sizes: the shortlist by bits, and generations.

use std::time::Duration;

use model::Deadline;

use super::file::BITS_FROM;
use super::{VectorFile, VectorView, normalised};
use crate::bits::Bits;

const DIMENSIONS: usize = 64;
/// Vectors lie around this many centres, as those of real texts do.
const N_CENTRES: usize = 64;
const PER_STEP: usize = 16_384;

/// Gives a number from 0 to 1 that is always the same.
fn noise(seed: usize) -> f32 {
    let mut state = (seed as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((state ^ (state >> 31)) >> 40) as f32 / (1u64 << 24) as f32
}

fn vector(number: usize) -> Vec<f32> {
    let centre = number % N_CENTRES;
    let values: Vec<f32> = (0..DIMENSIONS)
        .map(|at| {
            noise(centre * DIMENSIONS + at) - 0.5
                + 0.4 * (noise(10_000_000 + number * DIMENSIONS + at) - 0.5)
        })
        .collect();
    normalised(&values).unwrap()
}

fn filled(folder: &std::path::Path, n_vectors: usize) -> VectorFile {
    let mut file = VectorFile::open(folder, DIMENSIONS).unwrap();
    for first in (0..n_vectors).step_by(PER_STEP) {
        let step: Vec<(u32, Vec<f32>)> = (first..(first + PER_STEP).min(n_vectors))
            .map(|number| (number as u32, vector(number)))
            .collect();
        file.append(&step).unwrap();
    }
    file.commit(1).unwrap();
    file
}

fn nearest(view: &VectorView, question: &[f32], allowed: Option<&Bits>) -> Vec<(u32, f32)> {
    let near = view.nearest(question, allowed, 10, &Deadline::after(Duration::from_secs(60)));
    assert!(!near.is_partial);
    near.hits
}

fn exact(question: &[f32], numbers: impl Iterator<Item = usize>) -> Vec<(u32, f32)> {
    let cosine =
        |number: usize| -> f32 { vector(number).iter().zip(question).map(|(a, b)| a * b).sum() };
    let mut all: Vec<(u32, f32)> = numbers.map(|number| (number as u32, cosine(number))).collect();
    all.sort_by(|one, other| other.1.total_cmp(&one.1));
    all.truncate(10);
    all
}

fn recall(found: &[(u32, f32)], expected: &[(u32, f32)]) -> usize {
    // A neighbour as near as the last one that was expected is as good.
    let last = expected.last().unwrap().1 - 0.01;
    found.iter().filter(|(_, score)| *score >= last).count()
}

#[test]
fn above_the_threshold_bits_make_the_shortlist_and_old_generations_go() {
    let folder = tempfile::tempdir().unwrap();
    let n_vectors = BITS_FROM + 1_000;
    let mut file = filled(folder.path(), n_vectors);
    let view = file.view().unwrap();
    assert!(!view.bits().is_empty(), "there are enough vectors for bits");
    let questions: Vec<Vec<f32>> = [3, 70_001, n_vectors - 1].map(vector).to_vec();
    for question in &questions {
        let expected = exact(question, 0..n_vectors);
        let found = nearest(&view, question, None);
        assert!(recall(&found, &expected) >= 9, "{found:?} {expected:?}");
        assert_eq!(found[0].0, expected[0].0, "a vector is nearest to itself");
    }
    // Half of them allowed: still the bits. One in a hundred: one by one.
    for step in [2, 100] {
        let mut allowed = Bits::none(n_vectors as u32);
        (0..n_vectors as u32).step_by(step).for_each(|number| allowed.insert(number));
        let expected = exact(&questions[0], (0..n_vectors).step_by(step));
        let found = nearest(&view, &questions[0], Some(&allowed));
        assert!(found.iter().all(|(number, _)| (*number as usize).is_multiple_of(step)));
        assert!(recall(&found, &expected) >= 9, "{found:?} {expected:?}");
    }
    // More than a quarter dead: the next commit writes a generation without them.
    (0..n_vectors as u32)
        .filter(|number| number.is_multiple_of(3))
        .for_each(|number| file.forget(number));
    file.commit(2).unwrap();
    let after = file.view().unwrap();
    assert_eq!(after.n_slots, after.len(), "no dead slot is left");
    assert_eq!(after.len(), n_vectors - n_vectors.div_ceil(3));
    assert!(after.bits().is_empty(), "fewer than the threshold are left");
    assert_eq!(nearest(&view, &questions[0], None)[0].0, 3, "the earlier view still reads");
    let expected = exact(&questions[1], (0..n_vectors).filter(|number| !number.is_multiple_of(3)));
    let found = nearest(&after, &questions[1], None);
    assert!(recall(&found, &expected) >= 9, "{found:?} {expected:?}");
    drop((view, after));
    file.verify().unwrap();
    drop(file);
    let mut again = VectorFile::open(folder.path(), DIMENSIONS).unwrap();
    again.verify().unwrap();
    assert_eq!(again.sequence(), 2);
    assert_eq!(nearest(&again.view().unwrap(), &questions[1], None), found);
}

#[test]
fn below_the_threshold_codes_are_read_and_answers_are_exact() {
    let folder = tempfile::tempdir().unwrap();
    let mut file = filled(folder.path(), 5_000);
    let view = file.view().unwrap();
    assert!(view.bits().is_empty());
    for number in [0, 2_500, 4_999] {
        let question = vector(number);
        let (found, expected) = (nearest(&view, &question, None), exact(&question, 0..5_000));
        assert_eq!(recall(&found, &expected), 10, "{found:?} {expected:?}");
    }
}

#[test]
fn a_vector_that_is_not_stored_is_as_near_as_once_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let view = filled(folder.path(), 300).view().unwrap();
    let question = vector(7_000);
    for (number, score) in nearest(&view, &question, None) {
        assert_eq!(super::cosine_as_stored(&question, &vector(number as usize)), Some(score));
    }
    assert_eq!(super::cosine_as_stored(&question, &[0.0; DIMENSIONS]), None);
}
