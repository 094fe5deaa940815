//! What a server tells an agent about its tools: with which to begin, and which belong together.

use model::Caller;

use crate::Registry;

/// Tools that are named together, and the sentence that names them.
type Route = (&'static [&'static str], &'static str);

/// For each thing to do, the ways to do it, the best first: the first of which all tools are there
/// is told, so that an endpoint or a key with few tools is told about those.
const ROUTES: [&[Route]; 7] = [
    &[
        (
            &["search", "fetch"],
            " Begin with `search` over everything and `fetch` what it finds; use the tools of one \
             source when you know where to look.",
        ),
        (&["search"], " Begin with `search` over everything."),
    ],
    &[
        (&["searchFiles", "openFile"], " Folders: `searchFiles`, then `openFile` at the pointer."),
        (&["searchFiles"], " Folders: `searchFiles`."),
        (&["openFile"], " A file by its path: `openFile`."),
    ],
    &[(&["listFiles"], " To browse a folder: `listFiles`.")],
    &[
        (
            &["query_table", "describe_schema"],
            " Rows, counts and sums: `describe_schema` first, then `query_table`.",
        ),
        (&["query_table"], " Rows of tables: `query_table`."),
        (&["aggregate_table"], " Counts and sums of tables: `aggregate_table`."),
    ],
    &[(&["search_filters"], " The exact value behind a name or code: `search_filters`.")],
    &[
        (
            &["search_filters", "generate_chart_data"],
            " A chart of what it gave: `generate_chart_data`.",
        ),
        (&["generate_chart_data"], " A chart of figures over time: `generate_chart_data`."),
    ],
    &[
        (
            &["list_knowledge_bases", "search_documents"],
            " Knowledge bases: `list_knowledge_bases`, then `search_documents`.",
        ),
        (&["search_documents"], " Knowledge bases: `search_documents`."),
    ],
];

/// Adds to an introduction which tool to use when; only tools that this caller has are named.
pub fn instructions(introduction: &str, registry: &Registry, caller: &Caller) -> String {
    let mut text = introduction.to_owned();
    let listed = registry.list(caller);
    let is_listed = |name: &&str| listed.iter().any(|listed| listed.spec.name == **name);
    for routes in ROUTES {
        if let Some((_, sentence)) = routes.iter().find(|(tools, _)| tools.iter().all(is_listed)) {
            text.push_str(sentence);
        }
    }
    text.push_str(" Lists go on with `next`.");
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Fixture;
    use crate::everywhere::{Fetch, Search};
    use crate::files::{ListFiles, OpenFile, SearchFiles};
    use crate::{Exposure, ToolNames};

    #[test]
    fn only_tools_that_are_served_are_named() {
        let fixture = Fixture::new();
        let links = "http://127.0.0.1:7700".to_owned();
        let registry = Registry::new(vec![
            Box::new(Search::new(fixture.across.clone(), links.clone())),
            Box::new(Fetch::new(fixture.across.clone(), links)),
            Box::new(ListFiles::new(fixture.files.clone())),
            Box::new(SearchFiles::new(fixture.files.clone())),
            Box::new(OpenFile::new(fixture.files.clone())),
        ]);
        let caller = Caller::local_admin();
        let told = instructions("Intro.", &registry, &caller);
        assert!(told.starts_with("Intro. Begin with `search`"), "{told}");
        assert!(told.contains("`searchFiles`") && told.contains("`listFiles`"), "{told}");
        assert!(!told.contains("search_documents") && !told.contains("generate_chart"), "{told}");
        let hidden = ToolNames { hidden_tools: vec!["openFile".to_owned()], ..Default::default() };
        let registry = registry.exposed(Exposure::default().and(&hidden));
        let told = instructions("Intro.", &registry, &caller);
        assert!(!told.contains("openFile") && told.contains("`listFiles`"), "{told}");
        // What is left is told without what is hidden.
        assert!(told.contains("Folders: `searchFiles`."), "{told}");
    }
}
