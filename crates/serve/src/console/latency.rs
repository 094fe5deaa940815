//! Latencies by tool and by stage, read out of the histograms that `/metrics` shows.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::stages::stage_name;
use super::time::thousands;
use super::viewer::Viewer;

/// What calls of the console are counted under.
const CONSOLE: &str = "console:";

/// Percentiles by tool and by stage.
pub(super) fn latency(viewer: &Viewer, metrics: &str) -> Markup {
    let tools = histograms(metrics, "dowse_call_seconds_bucket{", "tool");
    let stages = histograms(metrics, "dowse_stage_seconds_bucket{", "stage");
    let skipped = counters(metrics, "dowse_stages_skipped_total{", "stage");
    if tools.is_empty() {
        return html! { p .note { "Nothing was called yet." } };
    }
    let (people, agents): (Vec<_>, Vec<_>) =
        tools.iter().partition(|(name, _)| name.starts_with(CONSOLE));
    html! {
        p .note { "Since the start, estimated from the buckets of " a href=(viewer.href("/operations/metrics")) { code { "/metrics" } }
            ". Exact figures of the newest calls: " a href=(viewer.href("/activity?view=cost")) { "Activity" } "." }
        div .halves {
            section aria-labelledby="by-tool" { h3 #by-tool { "By tool" }
                @if agents.is_empty() { p .note { "No agent has called yet." } } @else { (table("Tool", &agents)) } }
            section aria-labelledby="by-stage" { h3 #by-stage { "By stage of a search" }
                @if stages.is_empty() { p .note { "Nothing was searched yet." } }
                @else { (stage_table(&stages, &skipped)) } }
        }
        @if !people.is_empty() { details { summary { "Calls of this console" } (table("Tool", &people)) } }
    }
}

type Buckets = Vec<(f64, f64)>;

fn table(what: &str, rows: &[(&String, &Buckets)]) -> Markup {
    html! {
        div .scroll tabindex="0" { table {
            thead { tr { th scope="col" { (what) } th scope="col" .num { "Calls" } th scope="col" .num { "p50 ms" } th scope="col" .num { "p95 ms" } th scope="col" .num { "p99 ms" } } }
            tbody { @for (name, buckets) in rows { tr { td { code { (name.trim_start_matches(CONSOLE)) } } (cells(buckets)) } } }
        } }
    }
}

fn stage_table(stages: &BTreeMap<String, Buckets>, skipped: &BTreeMap<String, f64>) -> Markup {
    html! {
        div .scroll tabindex="0" { table {
            thead { tr { th scope="col" { "Stage" } th scope="col" .num { "Runs" } th scope="col" .num { "p50 ms" } th scope="col" .num { "p95 ms" } th scope="col" .num { "p99 ms" } th scope="col" .num { "Skipped" } } }
            tbody {
                @for (name, buckets) in stages {
                    tr { td { (stage_name(name).0) } (cells(buckets))
                        td .num { (thousands(skipped.get(name).copied().unwrap_or_default() as usize)) } }
                }
                @for (name, count) in skipped.iter().filter(|(name, _)| !stages.contains_key(*name)) {
                    tr { td { (stage_name(name).0) } td .num { "0" } td .num { "—" } td .num { "—" } td .num { "—" } td .num { (thousands(*count as usize)) } }
                }
            }
        } }
    }
}

fn cells(buckets: &Buckets) -> Markup {
    let n_calls = buckets.last().map_or(0.0, |(_, count)| *count);
    html! {
        td .num { (thousands(n_calls as usize)) }
        @for share in [0.5, 0.95, 0.99] { td .num { (said(buckets, share)) } }
    }
}

/// A percentile as a person reads it. Behind the longest bound nothing is known but that.
fn said(buckets: &[(f64, f64)], share: f64) -> String {
    let value = quantile(buckets, share);
    if value.is_finite() {
        return millis(value);
    }
    let bounds = buckets.iter().map(|(bound, _)| *bound).filter(|bound| bound.is_finite());
    format!("over {}", millis(bounds.fold(0.0, f64::max)))
}

fn millis(seconds: f64) -> String {
    let millis = 1000.0 * seconds;
    if millis < 1.0 { format!("{millis:.2}") } else { format!("{millis:.1}") }
}

/// The labels of a line and its value, where it belongs to a family of metrics.
fn labelled<'a>(line: &'a str, family: &str) -> Option<(BTreeMap<&'a str, &'a str>, f64)> {
    let (labels, value) = line.strip_prefix(family)?.rsplit_once("} ")?;
    let labels = labels.split("\",").filter_map(|label| {
        let (name, value) = label.split_once("=\"")?;
        Some((name, value.trim_end_matches('"')))
    });
    Some((labels.collect(), value.trim().parse().ok()?))
}

fn counters(metrics: &str, family: &str, label: &str) -> BTreeMap<String, f64> {
    let lines = metrics.lines().filter_map(|line| labelled(line, family));
    lines.filter_map(|(labels, value)| Some(((*labels.get(label)?).to_owned(), value))).collect()
}

/// Cumulative counts by upper bound in seconds, for each value of a label.
fn histograms(metrics: &str, family: &str, label: &str) -> BTreeMap<String, Buckets> {
    let mut found: BTreeMap<String, Buckets> = BTreeMap::new();
    for (labels, count) in metrics.lines().filter_map(|line| labelled(line, family)) {
        let (Some(name), Some(bound)) = (labels.get(label), labels.get("le")) else { continue };
        let bound = bound.parse().unwrap_or(f64::INFINITY);
        found.entry((*name).to_owned()).or_default().push((bound, count));
    }
    for buckets in found.values_mut() {
        buckets.sort_by(|(left, _), (right, _)| left.total_cmp(right));
    }
    found
}

/// The value below which a share lies, with the values of a bucket spread evenly in it; infinite
/// where it is behind the longest bound.
fn quantile(buckets: &[(f64, f64)], share: f64) -> f64 {
    let total = buckets.last().map_or(0.0, |(_, count)| *count);
    let wanted = share * total;
    let (mut before, mut lower) = (0.0, 0.0);
    for (upper, count) in buckets {
        if *count >= wanted && *count > before {
            return if upper.is_finite() {
                lower + (upper - lower) * (wanted - before) / (count - before)
            } else {
                f64::INFINITY
            };
        }
        (before, lower) = (*count, *upper);
    }
    lower
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use guard::{Metrics, Outcome};

    use super::*;

    #[test]
    fn percentiles_are_read_out_of_the_metrics_that_are_written() {
        let metrics = Metrics::new();
        for _ in 0..50 {
            metrics.called("search", Outcome::Ok, Duration::from_millis(8), 0);
        }
        metrics.called("console:search", Outcome::Ok, Duration::from_millis(8), 0);
        metrics.stage_ran("dense", Duration::from_millis(3));
        metrics.stage_skipped("cross_encoder");
        let text = metrics.render();
        let tools = histograms(&text, "dowse_call_seconds_bucket{", "tool");
        assert_eq!(tools.keys().collect::<Vec<_>>(), ["console:search", "search"]);
        let median = quantile(&tools["search"], 0.5);
        assert!((0.005..=0.01).contains(&median), "{median}");
        let stages = histograms(&text, "dowse_stage_seconds_bucket{", "stage");
        assert!(quantile(&stages["dense"], 0.99) <= 0.005);
        let skipped = counters(&text, "dowse_stages_skipped_total{", "stage");
        assert_eq!(skipped.get("cross_encoder"), Some(&1.0));
        assert_eq!(quantile(&[], 0.5), 0.0);
        // As an export of many rows takes.
        metrics.called("slow", Outcome::Ok, Duration::from_secs(3_600), 0);
        let tools = histograms(&metrics.render(), "dowse_call_seconds_bucket{", "tool");
        assert!(said(&tools["slow"], 0.5).starts_with("over "), "{:?}", tools["slow"]);
        assert!(!said(&tools["search"], 0.99).starts_with("over "));
    }
}
