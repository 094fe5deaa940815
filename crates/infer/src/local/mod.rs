//! Models that run in this process.

mod e5;

mod attention;
mod container;
mod encoder;
mod unigram;

mod kernels;
mod product;
mod vectorised;

#[cfg(test)]
mod tiny;

pub use container::MAX_CONTAINER_BYTES;
pub use e5::{E5Embedder, MAX_THREADS, MAX_TOKENS};
