//! What `tools/list` costs an agent, before it has asked anything.
//!
//! A model sees the name, the description and the input schema of each tool; output schemas and
//! annotations are for its client.

use model::Caller;
use serde_json::json;
use tools::{Registry, Spec};

use super::translate::tool;

/// Gives each tool's name with the tokens that a model of the o200k vocabulary counts for it.
///
/// The vocabulary is loaded for the call and let go afterwards: a third of a second, and some
/// 40 MB that a server has a better use for.
pub fn list_cost(registry: &Registry, caller: &Caller) -> Vec<(String, usize)> {
    let Ok(vocabulary) = tiktoken_rs::o200k_base() else {
        // The vocabulary is part of the program, so this cannot happen; an estimate is still good.
        return list_estimate(registry, caller);
    };
    cost(registry, caller, |text| vocabulary.encode_ordinary(text).len())
}

/// Gives the same as [`list_cost`], estimated without a vocabulary.
pub(crate) fn list_estimate(registry: &Registry, caller: &Caller) -> Vec<(String, usize)> {
    cost(registry, caller, text::count_tokens)
}

fn cost(
    registry: &Registry,
    caller: &Caller,
    count: impl Fn(&str) -> usize,
) -> Vec<(String, usize)> {
    let listed = registry.list(caller);
    listed.iter().map(|listed| (listed.spec.name.clone(), count(&seen(&listed.spec)))).collect()
}

/// Writes what a model sees of a tool.
fn seen(spec: &Spec) -> String {
    let entry = json!(tool(spec));
    json!({
        "name": entry["name"],
        "description": entry["description"],
        "input_schema": entry["inputSchema"],
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_counted_with_a_vocabulary_and_the_estimate_is_never_far_below() {
        let tool = tools::knowledge::NormalizeOcrText::by_rules();
        let registry = Registry::new(vec![Box::new(tool)]);
        let caller = Caller::local_admin();
        let exact = list_cost(&registry, &caller);
        let estimate = list_estimate(&registry, &caller);
        assert_eq!(exact.len(), 1);
        let ((name, exact), (_, estimate)) = (&exact[0], &estimate[0]);
        assert_eq!(name, "normalize_ocr_text");
        assert!((50..400).contains(exact), "{exact}");
        assert!(*estimate * 10 >= *exact * 8, "{estimate} is far below {exact}");
    }
}
