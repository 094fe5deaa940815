//! `/operations`: health, jobs, latency, store, models, and the configuration in force.

use std::collections::BTreeMap;

use axum::response::Response;
use maud::{Markup, html};
use serde_json::Value;
use tools::{Code, ToolError};

use super::jobs;
use super::layout::{Section, error_page, page, problem, shown};
use super::sources::progress;
use super::time::span;
use super::viewer::Viewer;

/// Shows how the server is doing, to administrators.
pub(super) async fn show(viewer: Viewer) -> Response {
    if !viewer.caller.is_admin() {
        let error =
            ToolError::new(Code::Forbidden, "only administrators see how the server is doing")
                .with_hint("sign in with a key that has the role `admin`");
        return error_page(&viewer, &error);
    }
    let app = viewer.app.clone();
    let facts = tokio::task::spawn_blocking(move || (app.console.facts)()).await;
    let facts = facts.unwrap_or(Value::Null);
    let jobs = jobs::list(&viewer).await;
    let metrics = viewer.app.metrics.render();
    let body = html! {
        h1 { "Operations" }
        div .grid {
            section .card { h2 { "Health" } (health(&viewer)) }
            section .card { h2 { "Limits" } (limits(&viewer)) }
            section .card { h2 { "Now" } (gauges(&metrics)) }
        }
        h2 { "Latency" }
        p .note { "Since the start, estimated from the buckets of " a href=(viewer.href("/metrics")) { code { "/metrics" } } ". Calls of this console are counted apart, as " code { "console:…" } ". Exact figures of the newest calls: " a href=(viewer.href("/activity?view=cost")) { "Activity" } "." }
        (latency(&metrics))
        @for (name, value) in facts.as_object().into_iter().flatten() {
            h2 { (name) }
            (fact(value))
        }
        h2 { "Jobs" }
        div data-events=(viewer.href("/events/jobs")) { (progress(&viewer, &jobs)) }
        h2 { "Configuration in force" }
        p .note { "Defaults, file and environment together. Secrets are hidden; names of variables are not secrets." }
        (settings(&viewer.app.console.configuration))
    };
    page(&viewer, Section::Operations, "Operations", &body)
}

fn health(viewer: &Viewer) -> Markup {
    let now = viewer.app.clock.now();
    html! {
        @let health = (viewer.app.readiness)();
        @match health.status() {
            "ready" => p { span .badge.ok { "ready" } " It can answer." },
            status => p { span .badge.failed { (status) } " reads: " (health.reads) ", writes: " (health.writes) },
        }
        @for degraded in &health.degraded {
            p { (degraded.what) ": " (degraded.problem) " (" (degraded.hint) ")" }
        }
        dl .facts {
            dt { "Version" } dd { (env!("CARGO_PKG_VERSION")) }
            dt { "Up for" } dd { (span(now.0 - viewer.app.console.started_at.0)) }
            dt { "Address" } dd { code { (viewer.app.server.link_base()) } }
            dt { "Authentication" } dd { (if viewer.app.authenticator.is_required() { "on" } else { "off: loopback only" }) }
        }
    }
}

fn limits(viewer: &Viewer) -> Markup {
    let limits = &viewer.app.limits;
    html! { dl .facts {
        dt { "Answer" } dd { (limits.result_chars) " characters, " (limits.result_tokens) " tokens" }
        dt { "Calls at a time" } dd { (limits.concurrent_calls) }
        dt { "A call" } dd { "at most " (limits.call_seconds) " s" }
        dt { "Answers kept" } dd { (viewer.app.audit_config.keep_answers_days) " days, " (viewer.app.audit_config.keep_answers_mb) " MB" }
    } }
}

/// Single values of the metrics, such as queue lengths and calls in progress.
fn gauges(metrics: &str) -> Markup {
    let lines = metrics.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let (name, value) = line.rsplit_once(' ')?;
        let is_gauge = [
            "dowse_calls_in_flight",
            "dowse_index_size",
            "dowse_queue_length",
            "dowse_redacted_pieces_total",
        ]
        .iter()
        .any(|known| name.starts_with(known));
        is_gauge.then(|| (name.trim_start_matches("dowse_").to_owned(), value.to_owned()))
    });
    html! { dl .facts { @for (name, value) in lines { dt { (label(&name)) } dd { (value) } } } }
}

/// `queue_length{name="jobs"}` as `queue length: jobs`.
fn label(name: &str) -> String {
    match name.split_once('{') {
        None => name.replace('_', " "),
        Some((name, labels)) => {
            let value = labels.split('"').nth(1).unwrap_or_default();
            format!("{}: {value}", name.replace('_', " "))
        }
    }
}

/// Percentiles of every histogram, by tool and, where they are measured, by stage.
fn latency(metrics: &str) -> Markup {
    let rows = histograms(metrics);
    if rows.is_empty() {
        return html! { p .note { "Nothing was called yet." } };
    }
    html! {
        div .scroll tabindex="0" { table {
            thead { tr { th scope="col" { "What" } th scope="col" .num { "Calls" } th scope="col" .num { "p50 ms" } th scope="col" .num { "p95 ms" } th scope="col" .num { "p99 ms" } } }
            tbody { @for (name, buckets) in &rows {
                @let n = buckets.last().map_or(0.0, |(_, count)| *count);
                tr { td { code { (name) } } td .num { (n) }
                    @for share in [0.5, 0.95, 0.99] { td .num { (format!("{:.1}", 1000.0 * quantile(buckets, share))) } } }
            } }
        } }
    }
}

/// Cumulative counts by upper bound, for each label set of each histogram in seconds.
fn histograms(metrics: &str) -> BTreeMap<String, Vec<(f64, f64)>> {
    let mut found: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
    for line in metrics.lines().filter(|line| line.contains("_seconds_bucket{")) {
        let Some((name, labels)) = line.split_once("_seconds_bucket{") else { continue };
        let Some((labels, count)) = labels.rsplit_once("} ") else { continue };
        let mut bound = f64::INFINITY;
        let mut kept: Vec<&str> = Vec::new();
        for label in labels.split("\",") {
            match label.split_once("=\"") {
                Some(("le", value)) => {
                    bound = value.trim_end_matches('"').parse().unwrap_or(f64::INFINITY)
                }
                Some((_, value)) => kept.push(value.trim_end_matches('"')),
                None => {}
            }
        }
        let Ok(count) = count.trim().parse::<f64>() else { continue };
        let name = match name.trim_start_matches("dowse_") {
            "call" => kept.join(" "),
            other => format!("{} {}", other, kept.join(" ")),
        };
        found.entry(name).or_default().push((bound, count));
    }
    for buckets in found.values_mut() {
        buckets.sort_by(|(left, _), (right, _)| left.total_cmp(right));
    }
    found
}

/// The value below which a share lies, with the values of a bucket spread evenly in it.
fn quantile(buckets: &[(f64, f64)], share: f64) -> f64 {
    let total = buckets.last().map_or(0.0, |(_, count)| *count);
    let wanted = share * total;
    let (mut before, mut lower) = (0.0, 0.0);
    for (upper, count) in buckets {
        if *count >= wanted && *count > before {
            return if upper.is_finite() {
                lower + (upper - lower) * (wanted - before) / (count - before)
            } else {
                lower
            };
        }
        (before, lower) = (*count, *upper);
    }
    lower
}

/// A fact of any shape: a table for lists of objects, else names and values.
fn fact(value: &Value) -> Markup {
    match value {
        Value::Array(rows) if rows.iter().all(Value::is_object) && !rows.is_empty() => {
            let columns: Vec<&String> = rows
                .first()
                .and_then(Value::as_object)
                .map(|row| row.keys().collect())
                .unwrap_or_default();
            html! { div .scroll tabindex="0" { table {
                thead { tr { @for column in &columns { th scope="col" { (column) } } } }
                tbody { @for row in rows { tr { @for column in &columns { td .num[row[column.as_str()].is_number()] { (shown(&row[column.as_str()])) } } } } }
            } } }
        }
        Value::Object(members) => {
            html! { dl .facts { @for (name, value) in members { dt { (name) } dd { (shown(value)) } } } }
        }
        other @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)) => html! { p { (shown(other)) } },
    }
}

fn settings(configuration: &Value) -> Markup {
    match configuration.as_object() {
        None => problem(&ToolError::new(Code::Unavailable, "the configuration is not known here")),
        Some(settings) => html! { details { summary { (settings.len()) " settings" }
        div .scroll tabindex="0" { table { thead { tr { th scope="col" { "Setting" } th scope="col" { "Value" } } }
            tbody { @for (name, value) in settings { tr { td { code { (name) } } td .cell { (shown(value)) } } } } } } } },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_read_out_of_buckets() {
        let metrics = "# TYPE dowse_call_seconds histogram\n\
            dowse_call_seconds_bucket{tool=\"search\",le=\"0.01\"} 50\n\
            dowse_call_seconds_bucket{le=\"0.1\",tool=\"search\"} 100\n\
            dowse_call_seconds_bucket{tool=\"search\",le=\"+Inf\"} 100\n\
            dowse_stage_seconds_bucket{stage=\"dense\",le=\"+Inf\"} 1\n";
        let found = histograms(metrics);
        assert_eq!(found.keys().collect::<Vec<_>>(), ["search", "stage dense"]);
        let search = &found["search"];
        assert!((quantile(search, 0.5) - 0.01).abs() < 1e-9);
        assert!((quantile(search, 0.75) - 0.055).abs() < 1e-9);
        assert_eq!(quantile(&found["stage dense"], 0.99), 0.0);
        assert_eq!(quantile(&[], 0.5), 0.0);
        assert_eq!(label("queue_length{name=\"jobs\"}"), "queue length: jobs");
    }
}
