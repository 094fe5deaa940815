//! Every tool that a full server lists is held to the contract: its schema and its errors are
//! in a snapshot beside its source.

use std::collections::BTreeSet;
use std::path::Path;

use testkit::Mcp;

use crate::demo::Demo;

/// Snapshots with this ending are the pages of tools.
const PAGE: &str = "schema_and_errors.snap";

/// A line of a page that names its tool.
const NAME: &str = "  \"name\": \"";

#[test]
fn every_tool_has_its_schema_and_errors_in_a_snapshot() {
    let demo = Demo::start();
    let tools = Mcp::new(demo.server.http(), "/mcp").list_tools();
    let listed: BTreeSet<String> =
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
    assert!(listed.contains("generate_chart_data") && listed.contains("listRoots"), "{listed:?}");
    let kept = names_in_snapshots();
    let without: Vec<&String> = listed.difference(&kept).collect();
    assert!(without.is_empty(), "no snapshot of schema and errors in `crates/tools`: {without:?}");
}

fn names_in_snapshots() -> BTreeSet<String> {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tools/src");
    let families = fs_err::read_dir(sources).unwrap().map(|entry| entry.unwrap().path());
    let folders = families.map(|family| family.join("snapshots")).filter(|folder| folder.is_dir());
    let snapshots = folders.flat_map(|folder| fs_err::read_dir(folder).unwrap());
    snapshots
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().ends_with(PAGE))
        .filter_map(|path| {
            let page = fs_err::read_to_string(path).unwrap();
            let line = page.lines().find_map(|line| line.strip_prefix(NAME))?;
            Some(line.trim_end_matches("\",").to_owned())
        })
        .collect()
}
