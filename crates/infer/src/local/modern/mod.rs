//! ModernBERT on our own kernels: rotary positions, alternating local and global attention, GeGLU.
//!
//! A folder with `model.safetensors`, `config.json` (`model_type` is `modernbert`) and
//! `tokenizer.json` becomes an embedder or, with a classification head, a cross-encoder. The
//! forward pass is checked against a plain one in the tests beside it.

mod config;
mod weights;

mod encoder;
mod rotary;

mod classifier;
mod embedder;

#[cfg(test)]
mod tests;

pub use classifier::ModernCrossEncoder;
pub use embedder::ModernEmbedder;
pub use weights::MAX_CHECKPOINT_BYTES;

pub(crate) use config::{ensure_read, is_modern};
