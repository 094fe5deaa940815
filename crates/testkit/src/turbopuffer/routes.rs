//! Which request goes where, and who may ask.

use serde_json::{Value, json};

use super::error::{Outcome, Refusal, kind};
use super::state::{Consistency, State};
use super::{query, write};
use crate::loopback::{Reply, Seen};

/// The longest name of a namespace.
const MAX_NAME: usize = 128;
/// The largest body, in bytes.
const MAX_BODY_BYTES: usize = 512_000_000;
/// Namespaces of one page of a list, at most and unless asked otherwise.
const MAX_PAGE: usize = 1_000;

/// Answers a request of the API.
pub(super) fn answer(state: &mut State, key: &str, seen: &Seen) -> Reply {
    match route(state, key, seen) {
        Ok((status, body)) => {
            Reply::status(status, body.to_string()).with_header("content-type", "application/json")
        }
        Err(refusal) => refusal.reply(),
    }
}

fn route(state: &mut State, key: &str, seen: &Seen) -> Outcome<(u16, Value)> {
    if seen.header("authorization") != Some(&format!("Bearer {key}")) {
        return Err(Refusal::unauthorized());
    }
    if seen.body.len() > MAX_BODY_BYTES {
        return Err(Refusal::bad_request("the request body is too large"));
    }
    let (path, parameters) = seen.path.split_once('?').unwrap_or((&seen.path, ""));
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    let method = seen.method.as_str();
    if let ["v1", "namespaces"] = parts.as_slice() {
        return Ok((200, list(state, parameters)?));
    }
    let [version, "namespaces", name, rest @ ..] = parts.as_slice() else {
        return Err(Refusal::not_found(format!("no such endpoint: {method} {path}")));
    };
    check_name(name)?;
    let strong = |state: &State| state.namespace(name, Consistency::Strong).cloned();
    match (method, *version, rest) {
        ("POST", "v2", []) => Ok((200, write::apply(state, name, &body(seen)?)?)),
        ("DELETE", "v2", []) => {
            state.remove(name)?;
            Ok((200, json!({"status": "OK"})))
        }
        ("POST", "v2", ["query"]) => Ok((200, query::answer(state, name, &body(seen)?)?)),
        ("GET", "v2", ["metadata"]) | ("GET", "v1", ["metadata"]) => {
            Ok((200, strong(state)?.metadata()))
        }
        ("GET", "v1", ["schema"]) => Ok((200, strong(state)?.schema_json())),
        ("POST", "v1", ["schema"]) => {
            let mut changed = strong(state)?;
            changed.schema.declare(&body(seen)?)?;
            let shown = changed.schema_json();
            state.put(name, changed);
            Ok((200, shown))
        }
        ("GET", "v1", ["hint_cache_warm"]) => {
            strong(state)?;
            Ok((202, json!({"status": "ACCEPTED", "message": "cache starting to warm"})))
        }
        _ => Err(Refusal::not_found(format!("no such endpoint: {method} {path}"))),
    }
}

fn body(seen: &Seen) -> Outcome<Value> {
    let is_json = seen
        .header("content-type")
        .is_some_and(|value| value.to_ascii_lowercase().starts_with("application/json"));
    if !is_json {
        return Err(Refusal::bad_request("content-type has to be application/json"));
    }
    if seen.header("content-encoding").is_some() {
        return Err(Refusal::unsupported("a compressed body"));
    }
    let body: Value = serde_json::from_slice(&seen.body)
        .map_err(|error| Refusal::bad_request(format!("invalid JSON: {error}")))?;
    if !body.is_object() {
        return Err(Refusal::unprocessable(format!(
            "invalid type: {}, expected a map",
            kind(&body)
        )));
    }
    Ok(body)
}

fn check_name(name: &str) -> Outcome<()> {
    let is_allowed = |char: char| char.is_ascii_alphanumeric() || "-_.".contains(char);
    if name.is_empty() || name.len() > MAX_NAME || !name.chars().all(is_allowed) {
        return Err(Refusal::bad_request(format!(
            "namespace names must match [A-Za-z0-9-_.]{{1,{MAX_NAME}}}, got {name:?}"
        )));
    }
    Ok(())
}

fn list(state: &State, parameters: &str) -> Outcome<Value> {
    let (mut prefix, mut cursor, mut page_size) = ("", None, 100);
    for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        match name {
            "prefix" => prefix = value,
            "cursor" => cursor = Some(value),
            "page_size" => {
                page_size =
                    value.parse().ok().filter(|size| (1..=MAX_PAGE).contains(size)).ok_or_else(
                        || Refusal::bad_request(format!("page_size is 1 to {MAX_PAGE}")),
                    )?;
            }
            _ => return Err(Refusal::bad_request(format!("unknown parameter `{name}`"))),
        }
    }
    let mut names = state
        .names()
        .filter(|name| name.starts_with(prefix) && cursor.is_none_or(|cursor| *name > cursor));
    let page: Vec<&str> = names.by_ref().take(page_size).collect();
    let mut answer =
        json!({"namespaces": page.iter().map(|id| json!({"id": id})).collect::<Vec<_>>()});
    if let (Some(last), true) = (page.last(), names.next().is_some()) {
        answer["next_cursor"] = (*last).into();
    }
    Ok(answer)
}
