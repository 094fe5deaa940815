//! Models that run in this process.
//!
//! [`E5Embedder`] runs the default model and [`ModernEmbedder`] and [`ModernCrossEncoder`] run
//! ModernBERT checkpoints on kernels of our own; [`OnnxEmbedder`] and [`CrossEncoder`] run folders
//! with `model.onnx` and `tokenizer.json` through rten.

mod cross_encoder;
mod e5;
mod modern;
mod onnx;

mod attention;
pub(crate) mod container;
mod embeddings;
mod encoder;
mod graph;
#[cfg(target_arch = "x86_64")]
mod int8;
mod interactive_first;
mod pooling;
mod runner;
mod sentence;
mod unigram;

pub(crate) mod kernels;
mod product;
mod vectorised;

#[cfg(test)]
pub(crate) mod tiny;
#[cfg(test)]
mod tiny_graph;

pub use container::MAX_CONTAINER_BYTES;
pub use cross_encoder::{CrossEncoder, MAX_PAIRS};
pub use e5::{E5Embedder, KERNELS_VARIABLE, MAX_TOKENS, kernel_names};
pub use graph::MAX_GRAPH_BYTES;
pub use modern::{MAX_CHECKPOINT_BYTES, ModernCrossEncoder, ModernEmbedder};
pub use onnx::OnnxEmbedder;
pub use runner::MAX_THREADS;

pub(crate) use modern::{ensure_read, is_modern};
pub(crate) use pooling::{scale_to_one, sigmoid};
