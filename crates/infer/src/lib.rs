//! Text to vector, pair to relevance, prompt to text: local models and HTTP providers.
#![doc(test(attr(deny(warnings))))]

mod embedder;
mod llm;
mod reranker;

pub mod local;

mod error;

pub use embedder::{EmbeddedText, Embedder, EmbedderId, TokenVectors};
pub use error::{Error, Result};
pub use llm::{Completion, Continue, Llm, Message, Role, TokensUsed};
pub use net::Secret;
pub use reranker::Reranker;
