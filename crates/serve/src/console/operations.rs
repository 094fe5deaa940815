//! `/operations`: health, jobs, latency, store, models, keys, backups, and the configuration in
//! force.

use axum::response::Response;
use guard::LimitsConfig;
use maud::{Markup, html};
use serde_json::Value;
use tools::{Code, ToolError};

use super::activity;
use super::jobs::{self, short_time};
use super::latency::latency;
use super::layout::{Section, empty, error_page, page, part, problem, shown};
use super::params::Params;
use super::progress::JOBS;
use super::time::{ago, bytes, span, thousands};
use super::viewer::Viewer;
use crate::Health;

/// Where the page is.
const HERE: &str = "/operations";

/// Calls that are looked at for the last use of a key.
const LOOKED_AT: usize = 20_000;

/// Shows how the server is doing, to administrators.
pub(super) async fn show(viewer: Viewer, params: Params) -> Response {
    if let Some(refusal) = refusal(&viewer) {
        return refusal;
    }
    let checked = match params.get("check") {
        Some(_) => Some(check(&viewer).await),
        None => None,
    };
    if let (Some("check"), Some(checked)) = (params.get("part"), &checked) {
        return part(checked);
    }
    let app = viewer.app.clone();
    // A catalogue may be far away, and both of them ask it.
    let looked =
        tokio::task::spawn_blocking(move || ((app.readiness)(), (app.console.facts)())).await;
    let Ok((health_now, facts)) = looked else {
        let message = "the server could not check itself";
        return error_page(&viewer, &ToolError::new(Code::InternalError, message));
    };
    let jobs = jobs::list(&viewer).await;
    let keys = keys(&viewer, &facts["keys"]).await;
    let is_whole = sees_whole_server(&viewer, &facts["keys"]);
    let metrics = viewer.app.metrics.render();
    let body = html! {
        h1 { "Operations" }
        (now(&viewer, &health_now))
        div .grid {
            section .card aria-labelledby="health" { h2 #health { "Health" } (health(&viewer, &health_now)) }
            section .card aria-labelledby="backup" { h2 #backup { "Backup" } (backup(&facts["backup"])) }
            section .card aria-labelledby="limits" { h2 #limits { "Limits" } (limits(&viewer)) }
        }
        section .card aria-labelledby="check" {
            div .head { h2 #check { "What " code { "dowse check" } " says" }
                form method="get" action=(viewer.href("/operations")) data-live="#checked" data-part="check" {
                    input type="hidden" name="check" value="1"; button .small type="submit" { "Check now" } } }
            div #checked {
                @match &checked { Some(checked) => (checked),
                    None => p .note { "Reads everything that is kept, and says what does not fit. It may take a while." } }
            }
        }
        h2 #latency { "Latency" }
        (latency(&viewer, &metrics))
        h2 { "Jobs" }
        div data-events=(viewer.link("/events/jobs", &Params::default().with("next", HERE))) data-part=(JOBS) { (jobs::some(&viewer, &jobs, HERE)) }
        h2 { "Store" }
        @if is_whole { (fact(&facts["store"])) } @else { (of_operators()) }
        div .grid {
            section .card aria-labelledby="disk" { h2 #disk { "Disk" } (disk(&facts["disk"])) }
            section .card aria-labelledby="models" { h2 #models { "Models" } (models(&facts["models"])) }
        }
        h2 { "API keys" }
        (keys)
        h2 { "Configuration in force" }
        p .note { "Defaults, file and environment together. Secrets are hidden; names of variables are not secrets." }
        @if is_whole { (settings(&viewer.app.console.configuration)) } @else { (of_operators()) }
    };
    page(&viewer, Section::Operations, "Operations", &body)
}

fn refusal(viewer: &Viewer) -> Option<Response> {
    let hint = match viewer.is_viewing_as() {
        true => "press `Stop` in the bar at the top to go back to your own view",
        false => "sign in with a key that has the role `admin`",
    };
    let error = ToolError::new(Code::Forbidden, "only administrators see how the server is doing")
        .with_hint(hint);
    (!viewer.caller.is_admin()).then(|| error_page(viewer, &error))
}

/// What `/metrics` says, for an administrator who has a session and no key at hand.
pub(super) async fn metrics(viewer: Viewer) -> Response {
    match refusal(&viewer) {
        Some(refusal) => refusal,
        None => crate::http::exposition(&viewer.app).await,
    }
}

/// Tells whether what is of no tenant may be shown: to operators, and where all callers are of one
/// tenant.
fn sees_whole_server(viewer: &Viewer, keys: &Value) -> bool {
    let own = viewer.caller.tenant.to_string();
    let mut keys = keys.as_array().into_iter().flatten();
    let is_alone =
        viewer.app.token_issuer.is_none() && keys.all(|key| key["tenant"] == own.as_str());
    is_alone || viewer.app.console.is_operator(&viewer.caller)
}

fn of_operators() -> Markup {
    html! { p .note { "Several tenants use this server: shown to those whom " code { "console.operators" } " names." } }
}

/// Figures of the moment.
fn now(viewer: &Viewer, health: &Health) -> Markup {
    let (n_waiting, n_running) = viewer.app.queue.as_ref().map_or((0, 0), |queue| queue.counts());
    let started = viewer.app.console.started_at;
    let tiles = [
        ("State", health.status().to_owned()),
        ("Up for", span(viewer.app.clock.now().0 - started.0)),
        ("Jobs waiting", thousands(n_waiting)),
        ("Jobs running", thousands(n_running)),
        ("Changes not searchable yet", thousands(health.lag as usize)),
    ];
    html! {
        dl .tiles {
            @for (name, value) in tiles { div { dt { (name) } dd { (value) } } }
            @if let Some(lag) = health.follower_lag {
                div { dt { "Behind other servers" } dd { (span(lag.as_millis() as i64)) } }
            }
        }
    }
}

fn health(viewer: &Viewer, health: &Health) -> Markup {
    html! {
        @match health.status() {
            "ready" => p { span .badge.ok { "ready" } " It can answer and be written to." },
            status => p { span .badge.failed { (status) } " reads: " (health.reads) ", writes: " (health.writes) },
        }
        @for degraded in &health.degraded {
            p .warnings { strong { (degraded.what) } ": " (degraded.problem) " (" (degraded.hint) ")" }
        }
        dl .facts {
            dt { "Version" } dd { (env!("CARGO_PKG_VERSION")) }
            dt { "Address" } dd { code { (viewer.app.server.link_base()) } }
            dt { "Authentication" } dd { (if viewer.app.authenticator.is_required() { "on" } else { "off: loopback only" }) }
            @if let Some(issuer) = &viewer.app.token_issuer { dt { "Tokens of" } dd { (issuer) } }
        }
    }
}

fn backup(made: &Value) -> Markup {
    html! {
        @match made["at"].as_str() {
            Some(at) => { p { "Last copied " strong { (short_time(at)) } " UTC." }
                dl .facts { dt { "Size" } dd { (bytes(made["bytes"].as_u64().unwrap_or_default())) } } },
            None => p { span .badge.warning { "none" } " This data folder was never copied." },
        }
        p .note { "Copy everything while it runs: " code { "dowse backup FILE" } }
    }
}

fn limits(viewer: &Viewer) -> Markup {
    let limits = &viewer.app.limits;
    html! { dl .facts {
        dt { "Answer" } dd { (thousands(limits.result_chars)) " characters, " (thousands(limits.result_tokens)) " tokens" }
        dt { "Calls at a time" } dd { (limits.concurrent_calls) }
        dt { "A call" } dd { "at most " (limits.call_seconds) " s" }
        dt { "This console" } dd { (rate(limits, "console")) " calls a minute" }
        dt { "Answers kept" } dd { (viewer.app.audit_config.keep_answers_days) " days, " (viewer.app.audit_config.keep_answers_mb) " MB" }
    } }
}

/// The rate of a class, as it is in force.
fn rate(limits: &LimitsConfig, class: &str) -> u32 {
    let usual =
        || LimitsConfig::RATES.iter().find(|(name, _)| *name == class).map(|(_, rate)| *rate);
    limits.rate_per_minute.get(class).copied().or_else(usual).unwrap_or_default()
}

/// What `dowse check` says now.
async fn check(viewer: &Viewer) -> Markup {
    let app = viewer.app.clone();
    let checked = tokio::task::spawn_blocking(move || (app.console.check)(&app)).await;
    let report = match checked {
        Ok(Ok(report)) => report,
        Ok(Err(error)) => return problem(&ToolError::new(Code::Unavailable, error)),
        Err(_) => return problem(&ToolError::new(Code::InternalError, "the check stopped")),
    };
    let list = |name: &str| report[name].as_array().map(Vec::as_slice).unwrap_or_default();
    let sources = || list("tables").iter().chain(list("dimensions"));
    let n_problems = list("problems").len()
        + sources()
            .filter(|source| source["problems"].as_array().is_some_and(|all| !all.is_empty()))
            .count();
    html! {
        @if n_problems == 0 { div .good { p { "The store is consistent, and every source can be read." } } }
        @for found in list("problems") {
            div .problem { p { strong { (shown(&found["what"])) } " " (shown(&found["problem"])) } p .hint { (shown(&found["hint"])) } }
        }
        p .note { "Store: " (shown(&report["store"])) }
        div .scroll tabindex="0" { table {
            thead { tr { th scope="col" { "Table or dimension" } th scope="col" .num { "Rows" } th scope="col" { "Problems" } } }
            tbody { @for source in sources() { tr {
                td { (shown(&source["name"])) } td .num { (source["n_rows"].as_u64().map_or("cannot be read".to_owned(), |n| thousands(n as usize))) }
                td { @let problems = source["problems"].as_array().map(Vec::as_slice).unwrap_or_default();
                    @if problems.is_empty() { span .badge.ok { "none" } } @else { ul .plain { @for found in problems { li { (shown(found)) } } } } }
            } } }
        } }
    }
}

/// The keys of the configuration, with when each was last used. They are listed, not made.
async fn keys(viewer: &Viewer, keys: &Value) -> Markup {
    let keys = keys.as_array().map(Vec::as_slice).unwrap_or_default();
    let own = viewer.caller.tenant.to_string();
    let is_local = viewer.caller.identity == model::Identity::Local;
    let keys: Vec<&Value> =
        keys.iter().filter(|key| is_local || key["tenant"] == own.as_str()).collect();
    if keys.is_empty() {
        return empty(
            "No API key is configured.",
            &html! { p { "Name one in " code { "dowse.toml" } ":" }
            pre { code { "[[auth.keys]]\nname = \"ann\"\nkey_env = \"ANN_KEY\"\nroles = [\"reader\"]\n" } } },
        );
    }
    let with_console = Params::default().with("console", "1");
    let calls = activity::entries(viewer, &with_console, LOOKED_AT).await.unwrap_or_default();
    let now = viewer.app.clock.now();
    html! {
        div .scroll tabindex="0" { table {
            thead { tr { th scope="col" { "Name" } th scope="col" { "Tenant" } th scope="col" { "Department" } th scope="col" { "Clearance" } th scope="col" { "Roles" } th scope="col" { "Variable" } th scope="col" { "Last use" } } }
            tbody { @for key in keys {
                @let is_its = |entry: &&guard::Entry| key["name"] == entry.caller.as_str() && key["tenant"] == entry.tenant.as_str();
                tr { td { strong { (shown(&key["name"])) } } td { (shown(&key["tenant"])) } td { (shown(&key["department"])) }
                    td { span .badge { (shown(&key["clearance"])) } } td { (shown(&key["roles"])) } td { code { (shown(&key["variable"])) } }
                    td .nowrap { (calls.iter().find(is_its).map_or("not lately".to_owned(), |entry| ago(entry.at, now))) } }
            } }
        } }
    }
}

/// What the data folder takes, its largest parts first, and what is free.
fn disk(disk: &Value) -> Markup {
    let Some(parts) = disk["parts"].as_array() else { return fact(disk) };
    let size = |part: &Value| {
        let at_least = if part["is_cut"] == true { "more than " } else { "" };
        format!("{at_least}{}", bytes(part["bytes"].as_u64().unwrap_or_default()))
    };
    html! {
        p { @match disk["free"].as_u64() {
            Some(free) => { strong { (bytes(free)) } " are free." },
            None => "The free space is not known on this system.",
        } }
        dl .facts { @for part in parts { dt { (said_part(part["name"].as_str().unwrap_or_default())) } dd { (size(part)) } } }
        p .note { "In " code { (shown(&disk["folder"])) } }
    }
}

/// What a part of the data folder holds.
fn said_part(name: &str) -> &str {
    match name {
        "store" => "Index and catalogue",
        "tables" => "Tables",
        "names" => "Vectors of names",
        "charts" => "Charts",
        "audit" => "Audit",
        "answers" => "Kept answers",
        "uploads" => "Uploads in progress",
        other => other,
    }
}

/// What each model does, which one it is, and how it is.
fn models(models: &Value) -> Markup {
    html! {
        dl .facts { @for model in models.as_array().into_iter().flatten() {
            @let is_well = model["is_well"].as_bool().unwrap_or(true);
            dt { (shown(&model["what"])) }
            dd {
                @if let Some(name) = model["model"].as_str() { strong { (name) } " " }
                @if let Some(place) = model["place"].as_str() { code { (place) } " " }
                @if is_well { (shown(&model["state"])) } @else { div .warnings { (shown(&model["state"])) } }
            }
        } }
    }
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
                thead { tr { @for column in &columns { th scope="col" .num[rows[0][column.as_str()].is_number()] { (capitalised(column)) } } } }
                tbody { @for row in rows { tr { @for column in &columns {
                    @let cell = &row[column.as_str()];
                    @if column.as_str() == "namespace" { td .path { (said_namespace(&shown(cell))) br; span .note { code { (shown(cell)) } } } }
                    @else { td .num[cell.is_number()] { (cell.as_u64().map_or_else(|| shown(cell), |count| thousands(count as usize))) } } } } } }
            } } }
        }
        Value::Object(members) => {
            html! { dl .facts { @for (name, value) in members { dt { (capitalised(name)) } dd { (shown(value)) } } } }
        }
        other @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)) => html! { p { (shown(other)) } },
    }
}

/// What a namespace of the store holds.
fn said_namespace(name: &str) -> &'static str {
    match name.split_once('_') {
        Some(("knowledge", _)) => "Documents of a knowledge base with one clearance and department",
        Some(("project", _)) => "A JSON document",
        Some(("files", _)) => "Names of files",
        None if name == "files" => "Files of the folders",
        _ => "Others",
    }
}

/// A name as the beginning of a line.
fn capitalised(name: &str) -> String {
    let mut chars = name.chars();
    let first = chars.next().map(|char| char.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}", chars.as_str().replace('_', " "))
}

fn settings(configuration: &Value) -> Markup {
    match configuration.as_object() {
        None => problem(&ToolError::new(Code::Unavailable, "the configuration is not known here")),
        Some(settings) => html! { details { summary { (settings.len()) " settings" }
        div .scroll tabindex="0" { table { thead { tr { th scope="col" { "Setting" } th scope="col" { "Value" } } }
            tbody { @for (name, value) in settings { tr { td { code { (name) } } td .cell { (shown(value)) } } } } } } } },
    }
}
