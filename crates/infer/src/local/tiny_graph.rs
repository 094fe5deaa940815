//! Tiny ONNX folders for tests of this crate, with rows that follow from the number of the word.

use std::path::Path;

pub(crate) use testkit::onnx::Head;
use testkit::onnx::TinyOnnx;

/// Words of the tokenizer, in the order of their ids.
pub(crate) const WORDS: [&str; 9] =
    ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "hello", "world", "query", ":", "river"];

/// The row of a word; rows are `width` long.
pub(crate) fn row(id: usize, width: usize) -> Vec<f32> {
    (0..width).map(|at| ((id * 7 + at * 3) % 5) as f32 - 1.5 + id as f32 / 10.0).collect()
}

/// Writes `model.onnx` and `tokenizer.json`.
pub(crate) fn write(folder: &Path, head: Head, width: usize) {
    let rows = (0..WORDS.len()).map(|id| row(id, width)).collect();
    TinyOnnx { words: WORDS.to_vec(), rows, head }.write(folder);
}
