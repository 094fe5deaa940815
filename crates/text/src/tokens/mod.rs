//! Token counts without a vocabulary.

mod count;

mod pairs;

pub use count::count_tokens;
