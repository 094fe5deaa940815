//! `dowse.toml`: every setting, its default, and what is said when it cannot be read.

mod data_place;
mod load;
mod overrides;
mod sections;
mod store;

pub(crate) use data_place::{Purpose, Remembered, UserData, place_data, remembered_in};
pub(crate) use load::{Loaded, is_without_model, load, use_no_model};
pub(crate) use sections::{
    Config, EmbedderProvider, LlmProvider, RerankerConfig, RerankerProvider,
};
pub(crate) use store::{CatalogueKind, EngineKind, QdrantSection, StoreConfig, TurbopufferSection};
