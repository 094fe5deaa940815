//! What is said of a call to a tool that a caller does not have.
//!
//! A tool of ours that has nothing to work on is not listed, and says what it would need. A tool
//! that the configuration hides is as unknown as one that never was.

use model::Caller;

use crate::Registry;

/// Tools of each family, and what they need.
const FAMILIES: &[(&[&str], &str)] = &[
    (
        &[
            "listRoots",
            "listFiles",
            "searchFiles",
            "openFile",
            "indexFolder",
            "summarizeResults",
            "rewriteQuery",
        ],
        "no folder is served to you (`files.roots`)",
    ),
    (
        &["query_table", "describe_schema", "aggregate_table", "chart_table"],
        "no table is served to you (`[[tables]]`)",
    ),
    (
        &["search_filters", "search_filters_batch"],
        "no names or codes are served to you (`[[dimensions]]`)",
    ),
    (&["generate_chart_data"], "no facts for charts are served to you (`[charts]`)"),
    (
        &["list_knowledge_bases", "search_documents", "get_knowledge_base_summary"],
        "there is no knowledge base that you may read",
    ),
];

/// Says that a tool has nothing to work on, and what it would need.
pub(crate) fn without_work(name: &str) -> Option<String> {
    let (_, missing) = FAMILIES.iter().find(|(tools, _)| tools.contains(&name))?;
    Some(format!("`{name}` has no data to work on: {missing}"))
}

/// Says that a caller has no such tool, and names those that they have.
pub fn unknown_tool(name: &str, registry: &Registry, caller: &Caller) -> (String, Vec<String>) {
    let listed = registry.list(caller);
    let names: Vec<String> = listed.iter().map(|listed| listed.spec.name.clone()).collect();
    let shown: String = name.chars().take(100).collect();
    let family = FAMILIES.iter().find(|(tools, _)| tools.contains(&name));
    let is_here = |tools: &&[&str]| names.iter().any(|name| tools.contains(&name.as_str()));
    let mut message = match family {
        // Another endpoint may have it: `/api/mcp` has two tools of tables.
        Some((tools, _)) if is_here(tools) && registry.exposure().allows(name, caller) => {
            format!("`{shown}` is not served here; there are `{}`", names.join("`, `"))
        }
        Some((_, missing)) if registry.exposure().allows(name, caller) => {
            format!("`{shown}` has no data to work on: {missing}")
        }
        _ => format!("unknown tool `{shown}`"),
    };
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    if family.is_none()
        && let Some(nearest) = text::nearest(name, &known)
    {
        message.push_str(&format!("; did you mean `{nearest}`?"));
    }
    (message, names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Fixture;
    use crate::everywhere::Search;
    use crate::{Exposure, ToolNames};

    #[test]
    fn a_tool_without_a_source_says_what_it_needs_and_a_hidden_one_nothing() {
        let fixture = Fixture::new();
        let links = "http://127.0.0.1:7700".to_owned();
        let registry = Registry::new(vec![Box::new(Search::new(fixture.across.clone(), links))]);
        let caller = Caller::local_admin();
        let told = |name: &str, registry: &Registry| unknown_tool(name, registry, &caller).0;
        let expected = "`search_filters` has no data to work on: no names or codes are served to you \
             (`[[dimensions]]`)";
        assert_eq!(told("search_filters", &registry), expected);
        assert_eq!(told("serch", &registry), "unknown tool `serch`; did you mean `search`?");
        let hidden_tools = vec!["search_filters".to_owned()];
        let hidden = ToolNames { hidden_tools, ..Default::default() };
        let registry = registry.exposed(Exposure::default().and(&hidden));
        assert_eq!(told("search_filters", &registry), "unknown tool `search_filters`");
        assert_eq!(unknown_tool("x", &registry, &caller).1, ["search"]);
    }

    /// A tool that is not listed for want of anything to work on answered an empty list. A base that is
    /// named is looked for all the same: whether there is one, and whose, is another answer.
    #[test]
    fn a_tool_without_anything_to_work_on_says_so() {
        let fixture = Fixture::new();
        let bases = crate::knowledge::ListKnowledgeBases::new(fixture.knowledge.clone());
        let registry = Registry::new(vec![Box::new(bases)]);
        let caller = Caller::local_admin();
        assert!(registry.list(&caller).is_empty());
        let listed = registry.get("list_knowledge_bases", &caller).unwrap();
        let call = || {
            listed.tool.call(&crate::Call {
                caller: &caller,
                arguments: &serde_json::Map::new(),
                deadline: &model::Deadline::after(std::time::Duration::from_secs(60)),
                budget: text::Budget { chars: 100_000, tokens: 25_000 },
                progress: &|_| {},
            })
        };
        let told = call().map(|answer| answer.value).unwrap_err().message;
        assert!(told.contains("there is no knowledge base that you may read"), "{told}");
        assert_eq!(told, unknown_tool("list_knowledge_bases", &registry, &caller).0);
        fixture.base_of(&caller);
        assert_eq!(call().unwrap().n_results, 1);
    }
}
