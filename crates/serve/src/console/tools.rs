//! `/tools`: every tool as an agent sees it, with its cost, and a place to try it.

use std::collections::BTreeMap;

use std::collections::VecDeque;
use std::sync::{LazyLock, Mutex, PoisonError};

use axum::extract::Path;
use axum::response::Response;
use maud::{Markup, html};
use serde_json::{Value, json};
use tools::{Code, Effect, Listed, Registry, ToolError};

use super::cost;
use super::go_to;
use super::json_view::{json_box, text_box};
use super::layout::{
    Section, empty, error_page, form_token, page, problem, problem_of_call, sentence,
};
use super::lists;
use super::params::{Params, encoded};
use super::schema_form;
use super::search::millis;
use super::start::clients;
use super::time::thousands;
use super::viewer::{Posted, ToolReply, Viewer};
use crate::mcp::list_estimate;

/// The address of the first table alone.
const FIRST_TABLE: &str = "/api/mcp";

/// Lists the tools of `/mcp`, and those of every other address.
pub(super) async fn list(viewer: Viewer) -> Response {
    let listed = viewer.app.tools.list(&viewer.caller);
    let costs: BTreeMap<String, usize> =
        list_estimate(&viewer.app.tools, &viewer.caller).into_iter().collect();
    let total: usize = costs.values().sum();
    let most = costs.values().copied().max().unwrap_or(1).max(1);
    let body = html! {
        h1 { "Tools" }
        p { "What an agent at " code { (viewer.app.server.link_base()) "/mcp" } " can call. "
            code { "tools/list" } " costs it at most about " strong { (thousands(total)) " tokens" } " before it has asked anything; "
            code { "dowse tools" } " counts them to the token." }
        div .scroll tabindex="0" {
            table .stack {
                thead { tr { th scope="col" { "Tool" } th scope="col" { "When an agent uses it" }
                    th scope="col" { "Effect" } th scope="col" .num { "Tokens in the list" } } }
                tbody {
                    @for tool in &listed {
                        @let n_tokens = costs.get(&tool.spec.name).copied().unwrap_or_default();
                        tr {
                            td .nowrap { a href=(viewer.href(&format!("/tools/{}", encoded(&tool.spec.name)))) {
                                code { (tool.spec.name) } } }
                            td { (sentence(&tool.spec.description)) }
                            td .nowrap data-name="Effect" { (effect(tool.spec.effect)) }
                            td .num data-name="Tokens in the list" { (cost::bar(n_tokens as f64 / most as f64)) " " span .figure { (thousands(n_tokens)) } }
                        }
                    }
                }
            }
        }
        @for (path, registry) in addresses(&viewer) { (served_at(&viewer, &path, registry)) }
        h2 { "Tools over JSON documents" }
        (made_over_json(&viewer).await)
        h2 { "Connect an agent" }
        (clients(&viewer, &format!("{}/mcp", viewer.app.server.link_base()), "dowse", "dowse", None))
    };
    page(&viewer, Section::Tools, "Tools", &body)
}

fn effect(effect: Effect) -> &'static str {
    match effect {
        Effect::ReadOnly => "reads",
        Effect::Additive => "adds or refreshes",
        Effect::Creates => "creates",
    }
}

/// The further addresses of the configuration, each with its tools.
fn addresses(viewer: &Viewer) -> Vec<(String, &Registry)> {
    let named = viewer.app.exposed.iter().map(|(name, tools)| (format!("/mcp/{name}"), tools));
    let first = viewer.app.first_table.iter().map(|tools| (FIRST_TABLE.to_owned(), tools));
    named.chain(first).collect()
}

/// The tools at another address than `/mcp`.
fn served_at(viewer: &Viewer, path: &str, registry: &Registry) -> Markup {
    let total: usize = list_estimate(registry, &viewer.caller).iter().map(|(_, n)| n).sum();
    let listed = registry.list(&viewer.caller);
    html! {
        h2 { "Tools at " code { (path) } }
        @if listed.is_empty() {
            p .note { "None of its tools is for you." }
        } @else {
            p .note { code { "tools/list" } " costs at most about " (thousands(total)) " tokens there." }
            ul .chips { @for tool in &listed {
                @let name = &tool.spec.name;
                @let at = Params::default().with("at", path);
                li { a .chip href=(viewer.link(&format!("/tools/{}", encoded(name)), &at)) { code { (name) } } }
            } }
        }
    }
}

/// The tools that people made over their JSON documents.
async fn made_over_json(viewer: &Viewer) -> Markup {
    let tools = made_tools(viewer).await;
    let Ok(tools) = tools.map_err(|error| problem(&error)) else {
        return html! { p .note { "Endpoints could not be listed." } };
    };
    if tools.is_empty() {
        let next = html! { p { a href=(viewer.href("/contexts")) { "Make a search tool over a JSON document" } } };
        return empty("There is none that you may see.", &next);
    }
    html! {
        ul .chips {
            @for tool in tools {
                li { a .chip href=(viewer.href(&format!("/tools/{}?made={}", encoded(&tool.1), encoded(&tool.0)))) {
                    code { (tool.1) } } }
            }
        }
    }
}

/// Gives id and name of each tool of the caller's projects.
async fn made_tools(viewer: &Viewer) -> Result<Vec<(String, String)>, ToolError> {
    let projects = lists::whole(viewer, "/v1/projects", "projects").await?;
    let mut made = Vec::new();
    for project in projects["projects"].as_array().into_iter().flatten() {
        let id = project["id"].as_str().unwrap_or_default();
        let tools = lists::whole(viewer, &format!("/v1/projects/{id}/tools"), "tools").await?;
        for tool in tools["tools"].as_array().into_iter().flatten() {
            let text = |name: &str| tool[name].as_str().unwrap_or_default().to_owned();
            made.push((text("id"), text("name")));
        }
    }
    Ok(made)
}

/// A form for a tool; a read-only tool runs by its address, which can be shared.
pub(super) async fn one(viewer: Viewer, Path(name): Path<String>, params: Params) -> Response {
    let tool = match find(&viewer, &name, &params) {
        Ok(tool) => tool,
        Err(error) => return error_page(&viewer, &error),
    };
    let is_run = params.get("run").is_some() && tool.spec.effect == Effect::ReadOnly;
    let outcome = match params.get("ran") {
        Some(id) => recall(&viewer, id),
        None if is_run => Some(run(&viewer, &tool, &params).await),
        None => None,
    };
    page(&viewer, Section::Tools, &name, &playground(&viewer, &tool, &params, outcome))
}

/// The longest address that a call is sent on to; what is longer breaks in proxies and browsers.
const MAX_ADDRESS: usize = 4_000;

/// Runs a tool. A call that only reads goes on to its own address, which can be shared, unless its
/// arguments are too long for one.
pub(super) async fn post(Path(name): Path<String>, posted: Posted) -> Response {
    let Posted { viewer, params } = posted;
    let params = params.without("form_token");
    let tool = match find(&viewer, &name, &params) {
        Ok(tool) => tool,
        Err(error) => return error_page(&viewer, &error),
    };
    if tool.spec.effect == Effect::ReadOnly {
        let address = format!("/tools/{}{}", encoded(&name), params.to_query());
        if address.len() <= MAX_ADDRESS {
            return go_to(&viewer, &address);
        }
    } else if let Err(error) = viewer.may_change() {
        return error_page(&viewer, &error);
    }
    let ran = run(&viewer, &tool, &params).await;
    if tool.spec.effect == Effect::ReadOnly {
        return page(
            &viewer,
            Section::Tools,
            &name,
            &playground(&viewer, &tool, &params, Some(ran)),
        );
    }
    // Loading the page of the answer again must not make the same call a second time.
    let id = remember(&viewer, ran);
    let place = |params: &Params| {
        format!("/tools/{}{}", encoded(&name), params.without("run").with("ran", &id).to_query())
    };
    let address = place(&params);
    if address.len() <= MAX_ADDRESS {
        return go_to(&viewer, &address);
    }
    let kept = KEPT.iter().filter_map(|name| Some((*name, params.get(name)?)));
    go_to(
        &viewer,
        &place(&kept.fold(Params::default(), |all, (name, value)| all.with(name, value))),
    )
}

/// Parameters that say where a tool is served.
const KEPT: [&str; 2] = ["made", "at"];

/// Calls that made something and whose page was not loaded yet, and bytes of an answer at most.
const MAX_RAN: usize = 32;
const MAX_RAN_BYTES: usize = 1 << 20;

/// Calls that wait for their page, with the id in its address and whose they are. What is lost
/// here, or asked for at another server, is an answer that was not read: the call was made.
static RAN: LazyLock<Mutex<VecDeque<(String, String, Ran)>>> = LazyLock::new(Mutex::default);

/// Remembers a call for the page that shows it.
fn remember(viewer: &Viewer, ran: Ran) -> String {
    let id = uuid::Uuid::new_v4().simple().to_string();
    if matches!(&ran.result, Ok(reply) if reply.text.len() > MAX_RAN_BYTES) {
        return id;
    }
    let mut waiting = RAN.lock().unwrap_or_else(PoisonError::into_inner);
    if waiting.len() == MAX_RAN {
        waiting.pop_front();
    }
    waiting.push_back((id.clone(), viewer.caller.client_key(), ran));
    id
}

/// Gives a call that this person made, once.
fn recall(viewer: &Viewer, id: &str) -> Option<Ran> {
    let mut waiting = RAN.lock().unwrap_or_else(PoisonError::into_inner);
    let caller = viewer.caller.client_key();
    let at = waiting.iter().position(|(known, whose, _)| known == id && *whose == caller)?;
    waiting.remove(at).map(|(_, _, ran)| ran)
}

fn find(viewer: &Viewer, name: &str, params: &Params) -> Result<Listed, ToolError> {
    let missing = || {
        ToolError::new(Code::NotFound, format!("the tool `{name}` is not served here"))
            .with_hint("the page Tools lists those that are")
    };
    if let Some(path) = params.get("at") {
        let found = addresses(viewer).into_iter().find(|(known, _)| known == path);
        let tool = found.and_then(|(_, registry)| registry.get(name, &viewer.caller));
        return tool.ok_or_else(missing);
    }
    let Some(id) = params.get("made") else {
        return viewer.app.tools.get(name, &viewer.caller).ok_or_else(missing);
    };
    let service = viewer.app.contexts.as_ref().ok_or_else(missing)?;
    let tool = service
        .get_tool(&viewer.caller, &contexts::ToolId::new(id))
        .map_err(tools::contexts::error)?;
    let tool = tools::contexts::tool(service, &tool);
    let spec = tool.spec(&viewer.caller).ok_or_else(missing)?;
    Ok(Listed::alone(spec, tool))
}

/// Gives an endpoint that serves a tool over a JSON document.
fn endpoint_of(viewer: &Viewer, id: &str) -> Option<String> {
    let service = viewer.app.contexts.as_ref()?;
    let tool = service.get_tool(&viewer.caller, &contexts::ToolId::new(id)).ok()?;
    let endpoints = service.list_endpoints(&viewer.caller, &tool.project_id).ok()?;
    let serving = endpoints.into_iter().find(|endpoint| endpoint.tool_ids.contains(&tool.id));
    serving.map(|endpoint| endpoint.id.to_string())
}

/// What a call was given and how it ended.
struct Ran {
    arguments: Value,
    result: Result<ToolReply, ToolError>,
}

async fn run(viewer: &Viewer, tool: &Listed, params: &Params) -> Ran {
    match schema_form::arguments(&tool.spec.input, params) {
        Ok(arguments) => {
            let result = viewer.call(tool.clone(), arguments.clone()).await;
            Ran { arguments, result }
        }
        Err(error) => Ran { arguments: json!({}), result: Err(error) },
    }
}

#[expect(clippy::needless_pass_by_value, reason = "a call is shown once")]
fn playground(viewer: &Viewer, tool: &Listed, params: &Params, ran: Option<Ran>) -> Markup {
    let spec = &tool.spec;
    let kept = KEPT.iter().filter_map(|name| Some((*name, params.get(name)?)));
    let address = viewer.href(&format!("/tools/{}", encoded(&spec.name)));
    let clear = kept.clone().fold(Params::default(), |all, (name, value)| all.with(name, value));
    let is_reading = spec.effect == Effect::ReadOnly;
    let may_call = is_reading || viewer.may_change().is_ok();
    let arguments = match &ran {
        Some(ran) => ran.arguments.clone(),
        None => schema_form::arguments(&spec.input, params).unwrap_or(json!({})),
    };
    html! {
        p .crumbs { a href=(viewer.href("/tools")) { "Tools" } " / " (spec.title) }
        h1 { code { (spec.name) } }
        p { (sentence(&spec.description)) }
        div .halves {
            section aria-labelledby="arguments" {
                h2 #arguments { "Arguments" }
                form .tool method=(if may_call { "post" } else { "get" }) action=(address) {
                    @if may_call { (form_token(viewer)) }
                    @for (name, value) in kept { input type="hidden" name=(name) value=(value); }
                    input type="hidden" name="run" value="1";
                    (schema_form::fields(&spec.input, params))
                    div .actions { @if may_call { button .primary type="submit" { "Call" } }
                        a .button href=(format!("{address}{}", clear.to_query())) { "Clear" }
                        @if !is_reading { span .note { "This tool " (effect(spec.effect)) "." } } }
                }
                details { summary { "Schemas" }
                    h3 { "Input" } (json_box("input-schema", &Value::Object((*spec.input).clone())))
                    h3 { "Output" } (json_box("output-schema", &Value::Object((*spec.output).clone())))
                }
            }
            section aria-labelledby="answer" {
                h2 #answer { "Answer" }
                @match &ran {
                    None if params.get("ran").is_some() => p .note { "The call was made, and its answer was shown once. " code { "Call" } " makes it again." },
                    None => p .note { "Nothing was called yet." },
                    Some(Ran { result: Ok(reply), .. }) => {
                        p .cost { strong { (cost::tokens(&reply.text)) } " tokens, "
                            (reply.text.chars().count()) " characters, " (millis(reply.took)) " ms" }
                        (json_box("answer-json", &reply.value))
                    },
                    Some(Ran { result: Err(error), .. }) => {
                        (problem_of_call(error))
                        (json_box("answer-json", &error.to_json(spec.errors)))
                    },
                }
                h2 { "The same call from elsewhere" }
                (elsewhere(viewer, tool, params, &arguments))
            }
        }
    }
}

fn elsewhere(viewer: &Viewer, tool: &Listed, params: &Params, arguments: &Value) -> Markup {
    let request = json!({
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": { "name": tool.spec.name, "arguments": arguments },
    });
    let is_made = params.get("made").is_some();
    let endpoint = params.get("made").and_then(|id| endpoint_of(viewer, id));
    let path = match (params.get("at"), &endpoint) {
        (Some(path), _) => path.to_owned(),
        (None, Some(endpoint)) => format!("/mcp/{endpoint}"),
        (None, None) if is_made => "/mcp/ENDPOINT_ID".to_owned(),
        (None, None) => "/mcp".to_owned(),
    };
    let url = format!("{}{path}", viewer.app.server.link_base());
    let needs_key = is_made || viewer.app.authenticator.is_required();
    let key = if needs_key { " \\\n  -H 'Authorization: Bearer YOUR_KEY'" } else { "" };
    // A quote ends the shell's string, so it is closed, escaped and opened again.
    let body = request.to_string().replace('\'', "'\\''");
    let curl =
        format!("curl -s {url} \\\n  -H 'Content-Type: application/json'{key} \\\n  -d '{body}'");
    html! {
        @if is_made && endpoint.is_none() {
            p .note { "No endpoint serves this tool yet: " a href=(viewer.href("/contexts")) { "make one in its project" } "." }
        }
        h3 { "Request" } (json_box("request-json", &request))
        h3 { "curl" } (text_box("request-curl", &curl))
        details { summary { "Lines for clients" } (clients(viewer, &url, "dowse", "dowse", needs_key.then_some("YOUR_KEY"))) }
    }
}
