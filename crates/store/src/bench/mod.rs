//! Whole-run figures of the store: what writing, searching and opening cost at several sizes.
//! Another engine can be measured on the same material in the same run, see [`run_beside`].

mod machine;
mod material;
mod run;

pub use machine::{cpu_seconds, percentiles};
pub use material::{DIMENSIONS, DOCUMENTS_PER_BATCH, Material, PASSAGES_PER_DOCUMENT, sentences};
pub use run::{BenchConfig, Beside, run, run_beside};
