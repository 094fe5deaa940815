//! `dowse index`, `dowse search` and `dowse open`: the files family at a terminal.

mod index;
mod open;
mod search;

pub(super) use index::{hosted as index_hosted, index, show_indexing};
pub(super) use open::{hosted as open_hosted, open};
pub(super) use search::{hosted as search_hosted, search};
