//! `/reconcile`: lists of names against dimensions, as OpenRefine and others ask (version 0.2).

use axum::body::Body;
use axum::extract::{FromRequest, Path, Request, State};
use axum::response::{IntoResponse, Response};
use axum::{Form, Json};
use filters::{Reconciliation, SearchResult};
use http::HeaderMap;
use model::Caller;
use serde::Deserialize;
use serde_json::Value;
use tools::{Code, ToolError};

use super::cross_origin::frame_ancestors;
use super::escape::escape;
use super::frame::{for_caller, framed_html};
use crate::api::body::refused as refused_body;
use crate::http::body::{self, MAX_JSON_VALUES, count_values};
use crate::http::{HttpState, Parameters, QueryParameters, Takes, coded};

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
pub(super) struct ReconcileQuery {
    queries: Option<String>,
    extend: Option<String>,
}

impl Parameters for ReconcileQuery {
    const TAKEN: &'static [(&'static str, Takes)] =
        &[("queries", Takes::Text), ("extend", Takes::Text)];
    const IS_OPEN: bool = true;
}

/// Arguments of a suggestion.
#[derive(Debug, Deserialize)]
pub(super) struct Typed {
    #[serde(default)]
    prefix: String,
}

impl Parameters for Typed {
    const TAKEN: &'static [(&'static str, Takes)] = &[("prefix", Takes::Text)];
    const IS_OPEN: bool = true;
}

/// Arguments of a proposal.
#[derive(Debug, Deserialize)]
pub(super) struct OfType {
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
pub(super) struct Named {
    id: String,
}

impl Parameters for Named {
    const TAKEN: &'static [(&'static str, Takes)] = &[("id", Takes::RequiredText)];
    const IS_OPEN: bool = true;
}

/// Describes the service, or answers queries given in the address.
pub(super) async fn service(
    State(http_state): State<HttpState>,
    QueryParameters(asked): QueryParameters<ReconcileQuery>,
    headers: HeaderMap,
) -> Response {
    match asked {
        Ok(asked) => answer(http_state, asked, headers).await,
        Err(wrong) => coded(&wrong),
    }
}

/// Answers queries given as a form.
pub(super) async fn service_post(
    State(http_state): State<HttpState>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let body = match body::read(body, MAX_FORM_BYTES).await {
        Ok(body) => Body::from(body),
        Err(error) => return coded(&refused_body(&error)),
    };
    let headers = parts.headers.clone();
    match Form::<ReconcileQuery>::from_request(Request::from_parts(parts, body), &()).await {
        Ok(Form(asked)) => answer(http_state, asked, headers).await,
        Err(_) => coded(&ToolError::bad_request(
            "the body must be a form with `queries` or `extend`, each at most once",
        )),
    }
}

async fn answer(http_state: HttpState, asked: ReconcileQuery, headers: HeaderMap) -> Response {
    let url = format!("{}/reconcile", http_state.shared.load().server.link_base());
    json(http_state, headers, move |reconciliation, caller| match (&asked.queries, &asked.extend) {
        (Some(queries), _) => {
            reconciliation.queries(caller, &parsed("queries", queries)?).map_err(refused)
        }
        (None, Some(extend)) => {
            reconciliation.extend(caller, &parsed("extend", extend)?).map_err(refused)
        }
        (None, None) => Ok(reconciliation.manifest(caller, &url)),
    })
    .await
}

/// Suggests entities, types or properties.
pub(super) async fn suggest(
    State(http_state): State<HttpState>,
    Path(what): Path<String>,
    QueryParameters(typed): QueryParameters<Typed>,
    headers: HeaderMap,
) -> Response {
    json(http_state, headers, move |reconciliation, caller| match (what.as_str(), typed?.prefix) {
        ("entity", prefix) => Ok(reconciliation.suggest_entities(caller, &prefix)),
        ("type", prefix) => Ok(reconciliation.suggest_types(caller, &prefix)),
        ("property", prefix) => Ok(reconciliation.suggest_properties(caller, &prefix)),
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
pub(super) async fn propose(
    State(http_state): State<HttpState>,
    QueryParameters(of): QueryParameters<OfType>,
    headers: HeaderMap,
) -> Response {
    json(http_state, headers, move |reconciliation, caller| {
        let of = of?;
        let limit = of.limit.unwrap_or(DEFAULT_PROPOSED);
        reconciliation.propose_properties(caller, &of.kind, limit).map_err(refused)
    })
    .await
}

/// Shows an entity.
pub(super) async fn preview(
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
