//! Models that run elsewhere, over HTTP.

mod embed;
mod llm;
mod rerank;

mod endpoint;
mod thoughts;

#[cfg(test)]
mod tests;

pub use embed::{EmbedDialect, HttpEmbedder, HttpEmbedderConfig};
pub use llm::{HttpLlm, HttpLlmConfig, LlmDialect};
pub use rerank::{HttpReranker, HttpRerankerConfig, RerankDialect};
