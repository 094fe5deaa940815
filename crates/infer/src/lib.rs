//! Text to vector, pair to relevance, prompt to text: local models and HTTP providers.
//!
//! Three traits are the whole surface that other crates see: [`Embedder`], [`Reranker`] and
//! [`Llm`]. All are blocking, safe to share and bound by a [`model::Deadline`].
//!
//! - [`local`] runs models in this process: the default multilingual model on kernels of our own,
//!   ModernBERT checkpoints, and any folder with `model.onnx` through rten.
//! - [`providers`] speaks to models elsewhere: OpenAI-compatible servers, Text Embeddings
//!   Inference, Ollama, Jina, Cohere.
//! - [`models`] is the folder of models on this machine: list, pull, verify.
//! - [`EmbedderSlot`] is what search holds: an embedder that may be missing, on its way or down,
//!   with a [`ModelState`] that says so in words.
//!
//! Ranking, thresholds, calibration and the memory of passage vectors are left to other crates.
//!
//! ```
//! use std::time::Duration;
//!
//! use infer::{EmbedderChoice, EmbedderSlot};
//! use model::Deadline;
//!
//! // A machine without models: search goes on with words, and says what would help.
//! let slot = EmbedderSlot::new(EmbedderChoice::Local {
//!     model: infer::models::DEFAULT_EMBEDDER.to_owned(),
//!     models_dir: "no/such/folder".into(),
//! });
//! let state = slot.get(&Deadline::after(Duration::from_secs(1))).err().unwrap();
//! assert_eq!(state.fix().unwrap(), "dowse models pull multilingual-e5-small");
//! assert_eq!(state.warning().unwrap().code, "model_missing");
//! ```
#![doc(test(attr(deny(warnings))))]

mod embedder;
mod llm;
mod reranker;

mod token_blob;
mod token_match;
mod token_mean;

mod passage_vectors;

mod cache;
mod open;
mod platform;
mod state;

#[cfg_attr(
    not(all(target_arch = "x86_64", target_os = "linux")),
    allow(
        dead_code,
        unused_imports,
        unused_mut,
        unfulfilled_lint_expectations,
        reason = "kernels of other processors and systems are left out"
    )
)]
pub mod local;
pub mod models;
pub mod providers;

pub mod bench;
mod error;

pub use cache::{CachedEmbedder, MAX_CACHED_QUERIES};
pub use embedder::{EmbeddedText, Embedder, EmbedderId, TokenVectors};
pub use error::{Error, Result};
pub use llm::{Completion, Continue, Llm, Message, Role, TokensUsed};
pub use net::Secret;
pub use open::{EmbedderChoice, EmbedderSlot, RerankerChoice, open_local_embedder, open_reranker};
pub use passage_vectors::PassageVectors;
pub use reranker::Reranker;
pub use state::ModelState;
pub use token_blob::{n_packed_tokens, pack_tokens};
pub use token_match::TokenMatcher;
pub use token_mean::token_mean;
