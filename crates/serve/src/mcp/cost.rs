//! What `tools/list` costs an agent, before it has asked anything.

use model::Caller;
use tools::Registry;

use super::translate::tool;

/// Gives each tool's name with the tokens of its entry in `tools/list`.
pub fn list_cost(registry: &Registry, caller: &Caller) -> Vec<(String, usize)> {
    registry
        .list(caller)
        .iter()
        .map(|listed| {
            let entry = serde_json::to_string(&tool(&listed.spec)).unwrap_or_default();
            (listed.spec.name.clone(), text::count_tokens(&entry))
        })
        .collect()
}
