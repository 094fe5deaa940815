//! The models on this machine: which there are, how to get one, whether it is whole.
//!
//! `list`, `pull` and `verify` are what `dowse models` does. Nothing here runs a model.

mod catalogue;
mod checked;
mod folder;

mod hub;
mod package;
mod pull;

mod progress;

#[cfg(test)]
mod tests;

pub use catalogue::{CONTAINER_FILE, DEFAULT_EMBEDDER, KNOWN_MODELS, KnownModel, known};
pub use folder::{
    FileSum, ListedModel, Manifest, folder_of, is_model_folder, list, read_manifest, state, verify,
};
pub use progress::{Progress, Purpose, Step};
pub use pull::{DEFAULT_HUB_URL, PullConfig, pull};

pub(crate) use catalogue::{CHECKPOINT_FILE, GRAPH_FILE, TOKENIZER_FILE};
pub(crate) use folder::problem_in;
