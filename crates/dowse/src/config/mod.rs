//! `dowse.toml`: every setting, its default, and what is said when it cannot be read.

mod load;
mod overrides;
mod sections;

pub(crate) use load::load;
pub(crate) use sections::{
    Config, EmbedderProvider, LlmProvider, RerankerConfig, RerankerProvider, StoreConfig,
    StoreProvider,
};
