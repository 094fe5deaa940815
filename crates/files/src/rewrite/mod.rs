//! `rewriteQuery`: a question in natural language as filters and a query string.

mod query;

mod answered;
mod korean;
mod syntax;
mod words;
mod written;

pub(crate) use query::rewrite;
pub use query::{Rewritten, RewrittenFilters};
