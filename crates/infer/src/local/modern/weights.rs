//! The tensors of a `model.safetensors` file, as numbers of 32 bits.

use std::path::{Path, PathBuf};

use half::{bf16, f16};
use safetensors::{Dtype, SafeTensors};

use crate::local::sentence::{read_limited, require};
use crate::models::CHECKPOINT_FILE;
use crate::{Error, Result};

/// The largest checkpoint that is read.
pub const MAX_CHECKPOINT_BYTES: u64 = 4 * 1024 * 1024 * 1024;

/// The bytes of a checkpoint.
pub(super) struct Checkpoint {
    path: PathBuf,
    bytes: Vec<u8>,
}

/// The tensors of a checkpoint, by name.
pub(super) struct Tensors<'a> {
    path: &'a Path,
    tensors: SafeTensors<'a>,
}

impl Checkpoint {
    /// Reads the checkpoint of a folder.
    ///
    /// Fails when it is missing or too large.
    pub(super) fn open(folder: &Path) -> Result<Self> {
        let path = folder.join(CHECKPOINT_FILE);
        require(&path)?;
        let bytes = read_limited(&path, MAX_CHECKPOINT_BYTES)?;
        Ok(Checkpoint { path, bytes })
    }

    /// Gives the tensors.
    ///
    /// Fails when the file is damaged.
    pub(super) fn tensors(&self) -> Result<Tensors<'_>> {
        let path = self.path.as_path();
        let tensors = SafeTensors::deserialize(&self.bytes).map_err(|error| {
            Error::BadModelFile { path: path.to_owned(), problem: error.to_string() }
        })?;
        Ok(Tensors { path, tensors })
    }
}

impl Tensors<'_> {
    /// Gives a tensor that must be there, with this many elements. Checkpoints of a bare encoder
    /// leave out the `model.` before its names.
    ///
    /// Fails when it is missing, of another size, or of a type that is not supported.
    pub(super) fn get(&self, name: &str, n_elements: usize) -> Result<Vec<f32>> {
        self.find(name, n_elements)?.ok_or_else(|| self.bad(format!("tensor `{name}` is missing")))
    }

    /// Gives a tensor that may be missing.
    ///
    /// Fails when it is of another size, or of a type that is not supported.
    pub(super) fn find(&self, name: &str, n_elements: usize) -> Result<Option<Vec<f32>>> {
        let bare = name.strip_prefix("model.").unwrap_or(name);
        let found = self.tensors.tensor(name).or_else(|_| self.tensors.tensor(bare));
        let Ok(view) = found else { return Ok(None) };
        let n_found: usize = view.shape().iter().product();
        if n_found != n_elements {
            let problem = format!("tensor `{name}` has {n_found} elements, expected {n_elements}");
            return Err(self.bad(problem));
        }
        let data = view.data();
        let (pairs, quads) = (data.as_chunks::<2>().0, data.as_chunks::<4>().0);
        #[expect(clippy::wildcard_enum_match_arm, reason = "types that the format may gain too")]
        let values = match view.dtype() {
            Dtype::F32 => quads.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect(),
            Dtype::F16 => pairs.iter().map(|bytes| f16::from_le_bytes(*bytes).to_f32()).collect(),
            Dtype::BF16 => pairs.iter().map(|bytes| bf16::from_le_bytes(*bytes).to_f32()).collect(),
            other => {
                let problem =
                    format!("tensor `{name}` is of type {other:?}, supported are F32, F16, BF16");
                return Err(self.bad(problem));
            }
        };
        Ok(Some(values))
    }

    fn bad(&self, problem: String) -> Error {
        Error::BadModelFile { path: self.path.to_owned(), problem }
    }
}
