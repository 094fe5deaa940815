//! The pages of tools and metrics, asked of the running demo, which serves every family.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use testkit::{Folder, Mcp, Server};

use super::{Page, cell, heading};
use crate::project;

/// More calls than any client may make in a minute.
const MAX_CALLS: usize = 1_000;

/// Starts the demo and makes both pages.
pub(super) fn pages(binary: &Path) -> anyhow::Result<Vec<Page>> {
    let folder = Folder::new();
    let mut command = Command::new(binary);
    command.args(["demo", "--listen", "127.0.0.1:0", "--data-dir"]).arg(folder.path());
    // The pages do not depend on a model, and fetching one takes longer than everything else.
    command.env("DOWSE_EMBEDDER_PROVIDER", "none").current_dir(project::root());
    let server = Server::start_command(command);
    server.wait_until_ready();
    let mcp = Mcp::new(server.http(), "/mcp");
    let tools = mcp.list_tools();
    // A metric appears once it has something to count: answers, mistakes, refusals.
    mcp.call("normalize_ocr_text", &json!({}));
    let is_refused = (0..MAX_CALLS)
        .any(|_| mcp.call("normalize_ocr_text", &json!({ "text": "マネ-ジャ-" })).is_error);
    anyhow::ensure!(is_refused, "{MAX_CALLS} calls at once met no rate limit");
    let metrics = server.http().get("/metrics").text();
    Ok(vec![tools_page(&tools), metrics_page(&metrics)])
}

fn tools_page(tools: &[Value]) -> Page {
    let mut text = heading("Tools", "What an agent reads in `tools/list`, as the server gives it.");
    for tool in tools {
        let part = |name: &str| tool[name].as_str().unwrap_or_default().to_owned();
        text.push_str(&format!("\n## {}\n\n{}\n", part("name"), part("description")));
        for (title, field) in
            [("Input", "inputSchema"), ("Output", "outputSchema"), ("Annotations", "annotations")]
        {
            if tool[field].is_object() {
                text.push_str(&format!("\n{title}:\n\n```json\n{:#}\n```\n", tool[field]));
            }
        }
    }
    Page { name: "tools.md", text }
}

/// Reads the `# HELP` and `# TYPE` lines of the Prometheus text.
fn metrics_page(metrics: &str) -> Page {
    let mut text = heading("Metrics", "What `/metrics` gives, in the Prometheus text format.");
    text.push_str("| metric | kind | meaning |\n|---|---|---|\n");
    let kind_of = |name: &str| {
        let start = format!("# TYPE {name} ");
        metrics.lines().find_map(|line| line.strip_prefix(&start)).unwrap_or("untyped")
    };
    for line in metrics.lines() {
        if let Some((name, help)) = line.strip_prefix("# HELP ").and_then(|it| it.split_once(' ')) {
            text.push_str(&format!("| `{name}` | {} | {} |\n", kind_of(name), cell(help)));
        }
    }
    Page { name: "metrics.md", text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_read_from_their_help() {
        let page =
            metrics_page("# HELP calls Calls of tools.\n# TYPE calls counter\ncalls_total 3\n");
        assert!(page.text.contains("| `calls` | counter | Calls of tools. |"), "{}", page.text);
    }
}
