//! Whole-run figures of the store: what writing, searching and opening cost at several sizes,
//! beside what a user would reach for otherwise.

mod alternatives;
mod machine;
mod material;
mod run;

pub use material::sentences;
pub use run::{BenchConfig, run};
