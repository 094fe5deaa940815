//! `dowse.toml`: every setting, its default, and what is said when it cannot be read.

mod data_place;
mod load;
mod overrides;
mod sections;
mod store;
mod values;
mod variables;

pub(crate) use data_place::{
    DEMO, Purpose, Remembered, UserData, mend_damaged, place_data, remembered_in, user_folder,
};
pub(crate) use load::{
    DEFAULT_FILE, Loaded, data_dir_flag, is_without_model, load, load_as_written, use_data_dir,
    use_no_model,
};
pub(crate) use sections::{
    Config, EmbedderProvider, LlmProvider, RerankerConfig, RerankerProvider,
};
pub(crate) use store::{CatalogueKind, EngineKind, QdrantSection, StoreConfig, TurbopufferSection};
pub(crate) use variables::{Misspelt, Unset, misspelt_here, without_effect_here};
