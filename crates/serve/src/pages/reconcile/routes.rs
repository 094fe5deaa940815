//! The addresses of the service: what a client sends is read, looked up, and answered.

use axum::body::Body;
use axum::extract::{FromRequest, Path, Request, State};
use axum::response::{IntoResponse, Response};
use axum::{Form, Json};
use filters::{ReconcileQuery, Reconciliation, SearchResult};
use http::HeaderMap;
use model::Caller;
use serde::Deserialize;
use serde_json::Value;
use tools::{Code, ToolError};

use super::messages;
use super::read;
use crate::api::body::refused as refused_body;
use crate::http::body::{self, MAX_JSON_VALUES, count_values};
use crate::http::{HttpState, Parameters, QueryParameters, Takes, coded};
use crate::pages::cross_origin::frame_ancestors;
use crate::pages::escape::escape;
use crate::pages::frame::{for_caller, framed_html};

/// Properties proposed unless the client says otherwise.
const DEFAULT_PROPOSED: usize = 50;

/// Where names and what is known of them are in the answers: to queries, to a suggestion, and to
/// rows that are extended.
const SOURCE_TEXT: [&str; 5] = [
    "/*/result/*/name",
    "/*/result/*/description",
    "/result/*/name",
    "/result/*/description",
    "/rows/*/*/*/str",
];

/// The largest form, in bytes.
const MAX_FORM_BYTES: usize = 2 << 20;

/// Arguments of the service's one address.
#[derive(Debug, Default, Deserialize)]
pub(in crate::pages) struct ServiceParameters {
    queries: Option<String>,
    extend: Option<String>,
}

impl Parameters for ServiceParameters {
    const TAKEN: &'static [(&'static str, Takes)] =
        &[("queries", Takes::Text), ("extend", Takes::Text)];
    const IS_OPEN: bool = true;
}

/// Arguments of a suggestion.
#[derive(Debug, Deserialize)]
pub(in crate::pages) struct Typed {
    #[serde(default)]
    prefix: String,
}

impl Parameters for Typed {
    const TAKEN: &'static [(&'static str, Takes)] = &[("prefix", Takes::Text)];
    const IS_OPEN: bool = true;
}

/// Arguments of a proposal.
#[derive(Debug, Deserialize)]
pub(in crate::pages) struct OfType {
    #[serde(default, rename = "type")]
    kind: String,
    limit: Option<usize>,
}

impl Parameters for OfType {
    const TAKEN: &'static [(&'static str, Takes)] =
        &[("type", Takes::Text), ("limit", Takes::Number { from: 0, most: None })];
    const IS_OPEN: bool = true;
}

/// Arguments of a preview.
#[derive(Debug, Deserialize)]
pub(in crate::pages) struct Named {
    id: String,
}

impl Parameters for Named {
    const TAKEN: &'static [(&'static str, Takes)] = &[("id", Takes::RequiredText)];
    const IS_OPEN: bool = true;
}

/// Describes the service, or answers queries given in the address.
pub(in crate::pages) async fn service(
    State(http_state): State<HttpState>,
    QueryParameters(asked): QueryParameters<ServiceParameters>,
    headers: HeaderMap,
) -> Response {
    match asked {
        Ok(asked) => answer(http_state, asked, headers).await,
        Err(wrong) => coded(&wrong),
    }
}

/// Answers queries given as a form.
pub(in crate::pages) async fn service_post(
    State(http_state): State<HttpState>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let body = match body::read(body, MAX_FORM_BYTES).await {
        Ok(body) => Body::from(body),
        Err(error) => return coded(&refused_body(&error)),
    };
    let headers = parts.headers.clone();
    match Form::<ServiceParameters>::from_request(Request::from_parts(parts, body), &()).await {
        Ok(Form(asked)) => answer(http_state, asked, headers).await,
        Err(_) => coded(&ToolError::bad_request(
            "the body must be a form with `queries` or `extend`, each at most once",
        )),
    }
}

async fn answer(http_state: HttpState, asked: ServiceParameters, headers: HeaderMap) -> Response {
    let url = format!("{}/reconcile", http_state.shared.load().server.link_base());
    json(http_state, headers, move |reconciliation, caller| match (&asked.queries, &asked.extend) {
        (Some(queries), _) => answer_queries(reconciliation, caller, &parsed("queries", queries)?),
        (None, Some(extend)) => extend_rows(reconciliation, caller, &parsed("extend", extend)?),
        (None, None) => Ok(messages::manifest(&reconciliation.types(caller, ""), &url)),
    })
    .await
}

pub(super) fn answer_queries(
    reconciliation: &Reconciliation,
    caller: &Caller,
    batch: &Value,
) -> Result<Value, ToolError> {
    let (keys, queries): (Vec<String>, Vec<ReconcileQuery>) =
        read::queries(batch)?.into_iter().unzip();
    let found = reconciliation.candidates(caller, &queries).map_err(refused)?;
    Ok(messages::results(keys, found))
}

pub(super) fn extend_rows(
    reconciliation: &Reconciliation,
    caller: &Caller,
    request: &Value,
) -> Result<Value, ToolError> {
    let asked = read::extension(request)?;
    let values = reconciliation.extend(caller, &asked.ids, &asked.properties).map_err(refused)?;
    Ok(messages::extended(&asked, values))
}

/// Suggests entities, types or properties.
pub(in crate::pages) async fn suggest(
    State(http_state): State<HttpState>,
    Path(what): Path<String>,
    QueryParameters(typed): QueryParameters<Typed>,
    headers: HeaderMap,
) -> Response {
    json(http_state, headers, move |reconciliation, caller| match (what.as_str(), typed?.prefix) {
        ("entity", prefix) => {
            Ok(messages::suggested_entities(reconciliation.suggested(caller, &prefix)))
        }
        ("type", prefix) => Ok(messages::suggested_names(&reconciliation.types(caller, &prefix))),
        ("property", prefix) => {
            Ok(messages::suggested_names(&reconciliation.properties(caller, &prefix)))
        }
        (other, _) => {
            let shown: String = other.chars().take(100).collect();
            let message = format!("there are no suggestions for `{shown}`");
            Err(ToolError::new(Code::NotFound, message)
                .with_hint("ask for `entity`, `type` or `property`"))
        }
    })
    .await
}

/// Proposes properties that can extend rows.
pub(in crate::pages) async fn propose(
    State(http_state): State<HttpState>,
    QueryParameters(of): QueryParameters<OfType>,
    headers: HeaderMap,
) -> Response {
    json(http_state, headers, move |reconciliation, caller| {
        let of = of?;
        let limit = of.limit.unwrap_or(DEFAULT_PROPOSED);
        let found = reconciliation.properties_of(caller, &of.kind, limit).map_err(refused)?;
        Ok(messages::proposed(&of.kind, limit, &found))
    })
    .await
}

/// Shows an entity.
pub(in crate::pages) async fn preview(
    State(http_state): State<HttpState>,
    QueryParameters(named): QueryParameters<Named>,
    headers: HeaderMap,
) -> Response {
    let ancestors = frame_ancestors(&http_state.shared.load().server.allowed_origins);
    let page = perform(http_state, headers, move |reconciliation, caller| {
        let named = named?;
        reconciliation.entity(caller, &named.id).map(|entity| shown(&entity)).map_err(refused)
    });
    match page.await {
        Ok(page) => framed_html(page, &ancestors),
        Err(refusal) => refusal,
    }
}

fn shown(entity: &SearchResult) -> String {
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>{name}</title>\
         <style>:root{{color-scheme:light dark}}body{{font:14px/1.4 system-ui,sans-serif;margin:12px}}\
         h1{{font-size:16px;margin:0 0 4px}}p{{margin:0 0 4px}}</style></head><body>\
         <h1>{name}</h1><p>{context}</p><p>{category}: <code>{value}</code></p></body></html>",
        name = escape(&text::redact(&entity.name).text),
        context = escape(&text::redact(entity.context.as_deref().unwrap_or_default()).text),
        category = escape(&entity.category),
        value = escape(&entity.filter_value),
    )
}

async fn json(
    http_state: HttpState,
    headers: HeaderMap,
    work: impl FnOnce(&Reconciliation, &Caller) -> Result<Value, ToolError> + Send + 'static,
) -> Response {
    match perform(http_state, headers, work).await {
        Ok(mut value) => {
            guard::redact_places(&mut value, &SOURCE_TEXT);
            Json(value).into_response()
        }
        Err(refusal) => refusal,
    }
}

async fn perform<T: Send + 'static>(
    http_state: HttpState,
    headers: HeaderMap,
    work: impl FnOnce(&Reconciliation, &Caller) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, Response> {
    let app = http_state.shared.load();
    let reconciliation = app.reconciliation.clone();
    for_caller(&app, &headers, "reconcile", None, move |caller, _| {
        let reconciliation = reconciliation.ok_or_else(|| {
            ToolError::new(Code::NotFound, "no dimension is configured")
                .with_hint("add a `[[dimensions]]` section to the configuration")
        })?;
        work(&reconciliation, caller)
    })
    .await
}

fn parsed(name: &str, text: &str) -> Result<Value, ToolError> {
    if count_values(text.as_bytes()) > MAX_JSON_VALUES {
        let message = format!("`{name}` holds more than {MAX_JSON_VALUES} JSON values");
        return Err(ToolError::new(Code::TooLarge, message).with_hint("send fewer at once"));
    }
    serde_json::from_str(text)
        .map_err(|error| ToolError::bad_request(format!("`{name}` is not JSON: {error}")))
}

#[expect(clippy::needless_pass_by_value, reason = "it is passed to `map_err`")]
fn refused(error: filters::Error) -> ToolError {
    let code = if error.is_callers() { Code::BadRequest } else { Code::InternalError };
    ToolError::new(code, error.to_string())
}
