//! `dowse.toml`: every setting, its default, and what is said when it cannot be read.

mod data_place;
mod load;
mod overrides;
mod sections;

pub(crate) use data_place::{Remembered, UserData, place_data};
pub(crate) use load::{Loaded, load};
pub(crate) use sections::{
    Config, EmbedderProvider, LlmProvider, RerankerConfig, RerankerProvider, StoreConfig,
    StoreProvider,
};
