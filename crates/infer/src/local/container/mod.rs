//! Reading the E5S1 container: the shape of the model, its vocabulary and its tensors.
//!
//! The file comes from outside, so every number in it is checked against the file's length and
//! against named limits before it is used.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use half::f16;

use crate::{Error, Result};

/// The largest container that is read.
pub const MAX_CONTAINER_BYTES: u64 = 2 * 1024 * 1024 * 1024;
/// The longest vector, the widest feed-forward row and the like.
const MAX_WIDTH: usize = 16 * 1024;
/// The most layers and heads.
const MAX_DEPTH: usize = 256;
/// The largest vocabulary, and the most positions.
const MAX_ROWS: usize = 4 * 1024 * 1024;
/// The most tensors.
const MAX_TENSORS: usize = 16 * 1024;
/// A block of 32 four-bit numbers: a scale in half precision and 16 bytes.
const BLOCK_BYTES: usize = 18;
/// The numbers of a block.
pub(crate) const BLOCK_LENGTH: usize = 32;

/// The shape of a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shape {
    pub(crate) hidden: usize,
    pub(crate) n_layers: usize,
    pub(crate) n_heads: usize,
    pub(crate) feed_forward: usize,
    pub(crate) vocabulary: usize,
    pub(crate) max_positions: usize,
    pub(crate) epsilon: f32,
}

/// The vocabulary as the container has it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Vocabulary {
    pub(crate) begin: u32,
    pub(crate) end: u32,
    pub(crate) padding: u32,
    pub(crate) unknown: u32,
    /// Where each piece begins in `blob`, and one more for the end.
    pub(crate) offsets: Vec<u32>,
    pub(crate) scores: Vec<f32>,
    pub(crate) blob: Vec<u8>,
    /// What stands for a code point before pieces are looked for; sorted by code point.
    pub(crate) replacements: Vec<(char, Box<str>)>,
}

/// A container in memory.
#[derive(Debug)]
pub(crate) struct Container {
    path: PathBuf,
    bytes: Arc<Vec<u8>>,
    pub(crate) shape: Shape,
    pub(crate) vocabulary: Vocabulary,
    tensors: HashMap<String, TensorPlace>,
}

#[derive(Debug, Clone, Copy)]
struct TensorPlace {
    is_quantised: bool,
    n_elements: usize,
    offset: usize,
}

impl TensorPlace {
    fn n_bytes(self) -> usize {
        if self.is_quantised {
            self.n_elements.div_ceil(BLOCK_LENGTH) * BLOCK_BYTES
        } else {
            self.n_elements * 4
        }
    }
}

/// A matrix or vector that stays in the container until a row of it is asked for.
#[derive(Debug, Clone)]
pub(crate) struct Tensor {
    bytes: Arc<Vec<u8>>,
    place: TensorPlace,
}

impl Container {
    /// Reads a container.
    ///
    /// Fails when the file cannot be read, or anything in it is out of place.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let n_bytes = fs_err::metadata(path)?.len();
        if n_bytes > MAX_CONTAINER_BYTES {
            return Err(Error::BadModelFile {
                path: path.to_owned(),
                problem: format!("it has {n_bytes} bytes, allowed are {MAX_CONTAINER_BYTES}"),
            });
        }
        Container::parse(path, fs_err::read(path)?)
    }

    fn parse(path: &Path, bytes: Vec<u8>) -> Result<Self> {
        let mut reader = Reader { bytes: &bytes, at: 0 };
        let read = reader.header().and_then(|shape| {
            let vocabulary = reader.vocabulary()?;
            let tensors = reader.tensors()?;
            Ok((shape, vocabulary, tensors))
        });
        let (shape, vocabulary, tensors) =
            read.map_err(|problem| Error::BadModelFile { path: path.to_owned(), problem })?;
        Ok(Container { path: path.to_owned(), bytes: Arc::new(bytes), shape, vocabulary, tensors })
    }

    /// Gives a tensor that must have so many elements.
    pub(crate) fn tensor(&self, name: &str, n_elements: usize) -> Result<Tensor> {
        let bad = |problem| Error::BadModelFile { path: self.path.clone(), problem };
        let place =
            *self.tensors.get(name).ok_or_else(|| bad(format!("tensor `{name}` is missing")))?;
        if place.n_elements < n_elements {
            return Err(bad(format!(
                "tensor `{name}` has {} elements, expected {n_elements}",
                place.n_elements
            )));
        }
        Ok(Tensor { bytes: Arc::clone(&self.bytes), place })
    }

    /// Gives all numbers of a small tensor.
    pub(crate) fn vector(&self, name: &str, n_elements: usize) -> Result<Vec<f32>> {
        let tensor = self.tensor(name, n_elements)?;
        let mut values = vec![0.0; n_elements];
        tensor.read_row(0, &mut values);
        Ok(values)
    }

    /// Tells whether all matrices of the layers are in blocks of four-bit numbers.
    pub(crate) fn has_blocks(&self) -> bool {
        let parts = ["q", "k", "v", "ao", "fi", "fo"];
        let names = (0..self.shape.n_layers)
            .flat_map(|layer_idx| parts.map(|part| format!("l{layer_idx}.{part}.w")));
        names.into_iter().all(|name| self.tensors.get(&name).is_some_and(|at| at.is_quantised))
    }

    /// Says that the file's shape cannot be used.
    pub(crate) fn unusable(&self, problem: impl Into<String>) -> Error {
        Error::BadModelFile { path: self.path.clone(), problem: problem.into() }
    }
}

impl Tensor {
    /// Copies the tensor out of its container, so that the rest of the file can be let go.
    pub(crate) fn detached(&self) -> Tensor {
        let end = self.place.offset + self.place.n_bytes();
        let bytes = self.bytes[self.place.offset..end].to_vec();
        Tensor { bytes: Arc::new(bytes), place: TensorPlace { offset: 0, ..self.place } }
    }

    /// Reads one row as numbers; rows are as long as `row`.
    ///
    /// Invariant: the row lies inside the tensor, and rows of a quantised tensor begin at a block.
    pub(crate) fn read_row(&self, row_idx: usize, row: &mut [f32]) {
        let start = row_idx * row.len();
        debug_assert!(start + row.len() <= self.place.n_elements, "the row must be inside");
        if !self.place.is_quantised {
            let bytes = &self.bytes[self.place.offset + start * 4..][..row.len() * 4];
            for (value, bytes) in row.iter_mut().zip(bytes.as_chunks::<4>().0) {
                *value = f32::from_le_bytes(*bytes);
            }
            return;
        }
        debug_assert!(start.is_multiple_of(BLOCK_LENGTH), "rows begin at a block");
        let first_block = start / BLOCK_LENGTH;
        let bytes = &self.bytes[self.place.offset + first_block * BLOCK_BYTES..];
        for (values, block) in row.chunks_mut(BLOCK_LENGTH).zip(bytes.as_chunks::<BLOCK_BYTES>().0)
        {
            let scale = f16::from_le_bytes([block[0], block[1]]).to_f32();
            let mut whole = [0.0; BLOCK_LENGTH];
            for (at, byte) in block[2..].iter().enumerate() {
                whole[at] = (f32::from(byte & 15) - 8.0) * scale;
                whole[at + BLOCK_LENGTH / 2] = (f32::from(byte >> 4) - 8.0) * scale;
            }
            values.copy_from_slice(&whole[..values.len()]);
        }
    }
}

impl Tensor {
    /// Reads one row as the file has it: a small number for each element, a scale for each block.
    /// Tells whether the tensor is in blocks; nothing is read where it is not.
    ///
    /// Invariant: the row lies inside the tensor, and is a whole number of blocks.
    pub(crate) fn read_blocks(
        &self,
        row_idx: usize,
        numbers: &mut [i8],
        scales: &mut [f32],
    ) -> bool {
        if !self.place.is_quantised {
            return false;
        }
        let first_block = row_idx * numbers.len() / BLOCK_LENGTH;
        let bytes = &self.bytes[self.place.offset + first_block * BLOCK_BYTES..];
        let (blocks, _) = bytes.as_chunks::<BLOCK_BYTES>();
        let (numbers, _) = numbers.as_chunks_mut::<BLOCK_LENGTH>();
        for ((numbers, scale), block) in numbers.iter_mut().zip(scales).zip(blocks) {
            *scale = f16::from_le_bytes([block[0], block[1]]).to_f32();
            for (at, byte) in block[2..].iter().enumerate() {
                numbers[at] = (byte & 15).cast_signed() - 8;
                numbers[at + BLOCK_LENGTH / 2] = (byte >> 4).cast_signed() - 8;
            }
        }
        true
    }
}

/// What is wrong with a file, in words.
type Problem = String;

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn header(&mut self) -> std::result::Result<Shape, Problem> {
        let magic = self.take(4)?;
        if magic != b"E5S1" {
            return Err(format!("it begins with `{}`, expected `E5S1`", magic.escape_ascii()));
        }
        let _version = self.u32()?;
        let hidden = self.size("hidden size", MAX_WIDTH)?;
        let n_layers = self.size("number of layers", MAX_DEPTH)?;
        let n_heads = self.size("number of heads", MAX_DEPTH)?;
        let feed_forward = self.size("feed-forward size", MAX_WIDTH)?;
        let vocabulary = self.size("vocabulary", MAX_ROWS)?;
        let max_positions = self.size("number of positions", MAX_ROWS)?;
        let _types = self.size("type vocabulary", MAX_ROWS)?;
        let epsilon = f32::from_bits(self.u32()?);
        let block = self.size("quantisation block", MAX_WIDTH)?;
        if block != BLOCK_LENGTH {
            return Err(format!("its quantisation block is {block}, expected {BLOCK_LENGTH}"));
        }
        if !hidden.is_multiple_of(n_heads) {
            return Err(format!("{hidden} dimensions cannot be shared by {n_heads} heads"));
        }
        let has_whole_blocks =
            hidden.is_multiple_of(BLOCK_LENGTH) && feed_forward.is_multiple_of(BLOCK_LENGTH);
        if !has_whole_blocks {
            return Err(format!(
                "rows of {hidden} and {feed_forward} are no whole number of blocks of {BLOCK_LENGTH}"
            ));
        }
        if !(epsilon.is_finite() && epsilon > 0.0) {
            return Err(format!("its layer-norm epsilon is {epsilon}"));
        }
        Ok(Shape { hidden, n_layers, n_heads, feed_forward, vocabulary, max_positions, epsilon })
    }

    fn vocabulary(&mut self) -> std::result::Result<Vocabulary, Problem> {
        let n_pieces = self.size("number of pieces", MAX_ROWS)?;
        let mut special = [0; 4];
        for id in &mut special {
            *id = self.u32()?;
            if *id as usize >= n_pieces {
                return Err(format!("special piece {id} is not among {n_pieces}"));
            }
        }
        let [begin, end, padding, unknown] = special;
        let n_blob = usize::try_from(self.u64()?).map_err(|_| "a huge vocabulary".to_owned())?;
        let offsets: Vec<u32> = self.many(n_pieces + 1)?.map(u32::from_le_bytes).collect();
        let scores: Vec<f32> = self.many(n_pieces)?.map(f32::from_le_bytes).collect();
        let blob = self.take(n_blob)?.to_vec();
        let is_ordered =
            offsets.is_sorted() && offsets.last().is_some_and(|end| *end as usize <= n_blob);
        if !is_ordered {
            return Err("the pieces of its vocabulary overlap or lie outside".to_owned());
        }
        if scores.iter().any(|score| !score.is_finite()) {
            return Err("a piece has no finite score".to_owned());
        }
        let replacements = self.replacements()?;
        Ok(Vocabulary { begin, end, padding, unknown, offsets, scores, blob, replacements })
    }

    fn replacements(&mut self) -> std::result::Result<Vec<(char, Box<str>)>, Problem> {
        let n_entries = self.u32()? as usize;
        let _n_bytes = self.u32()?;
        if n_entries > MAX_ROWS {
            return Err(format!("{n_entries} replacements, allowed are {MAX_ROWS}"));
        }
        let mut replacements = Vec::new();
        for _ in 0..n_entries {
            let code = self.u32()?;
            let from = char::from_u32(code).ok_or_else(|| format!("{code} is no code point"))?;
            let n_chars = usize::from(self.take(1)?[0]);
            let text = self
                .many(n_chars)?
                .map(u32::from_le_bytes)
                .map(|code| char::from_u32(code).ok_or_else(|| format!("{code} is no code point")))
                .collect::<std::result::Result<String, Problem>>()?;
            replacements.push((from, text.into_boxed_str()));
        }
        replacements.sort_by_key(|(from, _)| *from);
        Ok(replacements)
    }

    fn tensors(&mut self) -> std::result::Result<HashMap<String, TensorPlace>, Problem> {
        let n_tensors = self.size("number of tensors", MAX_TENSORS)?;
        let mut tensors = HashMap::new();
        for _ in 0..n_tensors {
            let n_name = usize::from(u16::from_le_bytes(self.array()?));
            let name = String::from_utf8_lossy(self.take(n_name)?).into_owned();
            let is_quantised = self.take(1)?[0] != 0;
            let n_elements = self.u32()? as usize;
            let offset = self.u64()?;
            let n_bytes = self.u64()?;
            let place = TensorPlace { is_quantised, n_elements, offset: offset as usize };
            let is_inside = place.n_bytes() as u64 <= n_bytes
                && offset.checked_add(n_bytes).is_some_and(|end| end <= self.bytes.len() as u64);
            if !is_inside {
                return Err(format!("tensor `{name}` lies outside the file"));
            }
            tensors.insert(name, place);
        }
        Ok(tensors)
    }

    fn take(&mut self, n_bytes: usize) -> std::result::Result<&'a [u8], Problem> {
        let end = self.at.checked_add(n_bytes).filter(|end| *end <= self.bytes.len());
        let end = end.ok_or_else(|| format!("it ends at byte {}", self.bytes.len()))?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> std::result::Result<[u8; N], Problem> {
        let taken = self.take(N)?;
        Ok(taken.try_into().expect("as many bytes were taken"))
    }

    fn many(
        &mut self,
        n_words: usize,
    ) -> std::result::Result<impl Iterator<Item = [u8; 4]> + use<'a>, Problem> {
        let n_bytes = n_words.checked_mul(4).ok_or("a huge table")?;
        Ok(self.take(n_bytes)?.as_chunks::<4>().0.iter().copied())
    }

    fn u32(&mut self) -> std::result::Result<u32, Problem> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn u64(&mut self) -> std::result::Result<u64, Problem> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    fn size(&mut self, what: &str, largest: usize) -> std::result::Result<usize, Problem> {
        let number = i32::from_le_bytes(self.array()?);
        let size = usize::try_from(number).ok().filter(|size| (1..=largest).contains(size));
        size.ok_or_else(|| format!("its {what} is {number}, expected 1 to {largest}"))
    }
}

#[cfg(test)]
pub(crate) mod tests;
