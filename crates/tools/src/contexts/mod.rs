//! Tools of the contexts family: a user's own, with the name and description that they gave.

mod answer;

mod get_node;
mod search_chunks;

use std::sync::Arc;

use contexts::{Service, ToolKind};

pub use answer::{error, read_node};
pub use get_node::GetNode;
pub use search_chunks::{ChunkPage, ChunksAsked, SearchChunks, page_of_chunks};

/// Gives a user's tool as an agent calls it.
pub fn tool(service: &Service, tool: &contexts::Tool) -> Arc<dyn crate::Tool> {
    match tool.kind {
        ToolKind::Search => Arc::new(SearchChunks::new(service.clone(), tool)),
        ToolKind::Get => Arc::new(GetNode::new(service.clone(), tool)),
    }
}

#[cfg(test)]
mod tests;
