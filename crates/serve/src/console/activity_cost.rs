//! What agents pay: tokens of answers and of `tools/list`, with latencies, by tool or by client.

use std::collections::{BTreeMap, BTreeSet};

use guard::{Entry, Outcome};
use maud::{Markup, html};

use super::cost::bar;
use super::params::Params;
use super::time::thousands;
use super::viewer::Viewer;
use crate::mcp::list_estimate;

/// Calls, tokens and latencies of the calls that were looked at.
pub(super) fn figures(viewer: &Viewer, params: &Params, entries: &[Entry]) -> Markup {
    let by_client = params.get("by") == Some("client");
    let mut groups: BTreeMap<String, Vec<&Entry>> = BTreeMap::new();
    for entry in entries {
        let key = match by_client {
            true => format!("{}/{}", entry.tenant, entry.caller),
            false => entry.tool.clone(),
        };
        groups.entry(key).or_default().push(entry);
    }
    let most = groups.values().map(|entries| total(entries)).max().unwrap_or(1).max(1);
    html! {
        (list_cost(viewer))
        div .head { h2 { "Answers" }
            ul .chips aria-label="Grouped by" {
                @for (name, label) in [("tool", "by tool"), ("client", "by client")] {
                    li { a .chip href=(viewer.link("/activity", &params.with("by", name)))
                        aria-current=[((name == "client") == by_client).then_some("true")] { (label) } }
                }
            }
        }
        @if groups.is_empty() { p .note { "No call fits." } } @else {
            div .scroll tabindex="0" { table {
                thead { tr { th scope="col" { (if by_client { "Client" } else { "Tool" }) } th scope="col" .num { "Calls" }
                    th scope="col" .num { (if by_client { "Tools" } else { "Clients" }) } th scope="col" .num { "Not ok" }
                    th scope="col" .num { "Tokens" } th scope="col" { span .visually-hidden { "Share" } } th scope="col" .num { "Each" } th scope="col" .num { "p95 each" }
                    th scope="col" .num { "p50 ms" } th scope="col" .num { "p95 ms" } th scope="col" .num { "p99 ms" } } }
                tbody { @for (name, entries) in &groups {
                    @let (tokens, latencies) = (tokens(entries), latencies(entries));
                    tr { td { code { (name) } } td .num { (thousands(entries.len())) } td .num { (others(entries, by_client)) }
                        td .num { (entries.iter().filter(|entry| entry.outcome != Outcome::Ok).count()) }
                        td .num { (thousands(total(entries) as usize)) }
                        td { (bar(total(entries) as f64 / most as f64)) }
                        td .num { (thousands(tokens.iter().sum::<f64>() as usize / tokens.len().max(1))) }
                        td .num { (thousands(percentile(&tokens, 0.95) as usize)) }
                        @for share in [0.5, 0.95, 0.99] { td .num { (format!("{:.1}", percentile(&latencies, share))) } } }
                } }
            } }
            p .note { "Over the newest " (thousands(entries.len())) " calls that fit. What another number of results or other caps would cost: open a search and choose “What it costs”." }
        }
    }
}

/// What `tools/list` costs each address that agents connect to.
fn list_cost(viewer: &Viewer) -> Markup {
    let cost = |tools: &tools::Registry| -> (usize, usize) {
        let costs: Vec<(String, usize)> =
            list_estimate(tools, &viewer.caller).into_iter().collect();
        (costs.len(), costs.iter().map(|(_, tokens)| tokens).sum())
    };
    let mut rows = vec![("/mcp".to_owned(), cost(&viewer.app.tools))];
    rows.extend(
        viewer.app.exposed.iter().map(|(name, tools)| (format!("/mcp/{name}"), cost(tools))),
    );
    rows.extend(viewer.app.first_table.iter().map(|tools| ("/api/mcp".to_owned(), cost(tools))));
    let most = rows.iter().map(|(_, (_, tokens))| *tokens).max().unwrap_or(1).max(1);
    html! {
        h2 { code { "tools/list" } }
        div .scroll tabindex="0" { table {
            thead { tr { th scope="col" { "Address" } th scope="col" .num { "Tools" } th scope="col" .num { "Tokens" } th scope="col" { span .visually-hidden { "Share" } } } }
            tbody { @for (path, (n_tools, n_tokens)) in &rows { tr {
                td { code { (viewer.app.server.link_base()) (path) } } td .num { (n_tools) } td .num { (thousands(*n_tokens)) }
                td { (bar(*n_tokens as f64 / most as f64)) }
            } } }
        } }
        p .note { "What an agent pays before it has asked anything, at most, as it is estimated here; " code { "dowse tools" } " counts it. " a href=(viewer.href("/tools")) { "By tool" } "." }
    }
}

fn others(entries: &[&Entry], by_client: bool) -> usize {
    let other = |entry: &&Entry| match by_client {
        true => entry.tool.clone(),
        false => format!("{}/{}", entry.tenant, entry.caller),
    };
    entries.iter().map(other).collect::<BTreeSet<String>>().len()
}

fn total(entries: &[&Entry]) -> u64 {
    entries.iter().filter_map(|entry| entry.tokens).sum()
}

fn tokens(entries: &[&Entry]) -> Vec<f64> {
    sorted(entries.iter().filter_map(|entry| entry.tokens).map(|tokens| tokens as f64))
}

fn latencies(entries: &[&Entry]) -> Vec<f64> {
    sorted(entries.iter().map(|entry| entry.latency_ms))
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The value below which a share of sorted values lies.
fn percentile(sorted: &[f64], share: f64) -> f64 {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_occurred() {
        let values = sorted([5.0, 1.0, 3.0, 2.0, 4.0].into_iter());
        assert_eq!([0.5, 0.95, 0.99].map(|share| percentile(&values, share)), [3.0, 5.0, 5.0]);
        assert_eq!(percentile(&[], 0.5), 0.0);
    }
}
