//! Looks at a JSON-RPC message before the protocol library does, to answer well where the
//! library answers badly: text that is no JSON, batches, and a handshake that leaves out what
//! nobody needs (`clientInfo`), as short scripts do.

use bytes::Bytes;
use http::StatusCode;
use serde_json::{Map, Value, json};

/// The first version of the protocol that has no handshake.
const FIRST_WITHOUT_HANDSHAKE: &str = "2026-07-28";

/// A message that cannot be taken, as the JSON-RPC error to answer with.
#[derive(Debug, PartialEq)]
pub(crate) struct Refused {
    pub(crate) status: StatusCode,
    pub(crate) body: Value,
}

/// A message whose outer form is right.
#[derive(Debug)]
pub(crate) struct Checked {
    /// Its bytes, completed where needed.
    pub(crate) body: Bytes,
    /// The message as it came.
    pub(crate) message: Map<String, Value>,
}

/// Checks the outer form of a message and completes it where needed. `version` is the protocol's
/// as the header names it.
pub(crate) fn check(body: Bytes, version: Option<&str>) -> Result<Checked, Refused> {
    let parsed: Value = serde_json::from_slice(&body)
        .map_err(|error| refused(Value::Null, -32700, format!("parse error: {error}")))?;
    let Value::Object(mut message) = parsed else {
        let reason = if parsed.is_array() {
            "batches are not supported: send one message for each request"
        } else {
            "a message must be a JSON object"
        };
        return Err(refused(Value::Null, -32600, reason.to_owned()));
    };
    let id = match message.get("id") {
        Some(id @ (Value::String(_) | Value::Number(_))) => id.clone(),
        _ => Value::Null,
    };
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(refused(id, -32600, "`jsonrpc` must be `2.0`".to_owned()));
    }
    if message.get("id").is_some_and(|given| given.is_null() || given != &id) {
        return Err(refused(id, -32600, "`id` must be a string or a number".to_owned()));
    }
    let is_answer = message.contains_key("result") || message.contains_key("error");
    let method = match message.get("method") {
        Some(Value::String(method)) => method.clone(),
        None if is_answer => return Ok(Checked { body, message }),
        _ => return Err(refused(id, -32600, "`method` must be a string".to_owned())),
    };
    match message.get("params") {
        None | Some(Value::Object(_)) => {}
        Some(_) => return Err(refused(id, -32602, "`params` must be an object".to_owned())),
    }
    match method.as_str() {
        "tools/call" => match check_tool_call(message.get("params")) {
            Ok(()) => Ok(Checked { body, message }),
            Err(reason) => Err(refused(id, -32602, reason.to_owned())),
        },
        // Versions are dates, so that the order of letters is the order of time.
        "initialize" if version.is_some_and(|version| version >= FIRST_WITHOUT_HANDSHAKE) => {
            let reason = "there is no `initialize` in this version: call `server/discover`";
            let refused = refused(id, -32601, reason.to_owned());
            Err(Refused { status: StatusCode::NOT_FOUND, ..refused })
        }
        "initialize" => {
            let Some(Value::Object(params)) = message.get_mut("params") else {
                return Err(refused(id, -32602, "`initialize` needs `params`".to_owned()));
            };
            if params.contains_key("clientInfo") && params.contains_key("capabilities") {
                return Ok(Checked { body, message });
            }
            params.entry("capabilities").or_insert_with(|| json!({}));
            params
                .entry("clientInfo")
                .or_insert_with(|| json!({ "name": "unknown", "version": "0" }));
            let body = serde_json::to_vec(&message).map_or(body, Bytes::from);
            Ok(Checked { body, message })
        }
        _ => Ok(Checked { body, message }),
    }
}

fn check_tool_call(params: Option<&Value>) -> Result<(), &'static str> {
    let Some(Value::Object(params)) = params else { return Err("`tools/call` needs `params`") };
    if !params.get("name").is_some_and(Value::is_string) {
        return Err("`params.name` must be the name of a tool");
    }
    match params.get("arguments") {
        None | Some(Value::Object(_)) => Ok(()),
        Some(_) => Err("`params.arguments` must be an object"),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "every caller has just made them")]
fn refused(id: Value, code: i64, message: String) -> Refused {
    let body = json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } });
    Refused { status: StatusCode::BAD_REQUEST, body }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_code(message: &str, expected: Option<i64>) {
        let code = check(Bytes::from(message.to_owned()), None)
            .err()
            .map(|refused| refused.body["error"]["code"].as_i64().unwrap());
        assert_eq!(code, expected, "{message}");
    }

    #[test]
    fn outer_forms() {
        check_code(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#, None);
        check_code(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, None);
        check_code(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, None);
        check_code(r#"{"jsonrpc":"2.0","id":1,"#, Some(-32700));
        check_code("", Some(-32700));
        check_code("\"text\"", Some(-32600));
        check_code(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, Some(-32600));
        check_code(r#"{"id":1,"method":"tools/list"}"#, Some(-32600));
        check_code(r#"{"jsonrpc":"2.0","id":null,"method":"tools/list"}"#, Some(-32600));
        check_code(r#"{"jsonrpc":"2.0","id":{},"method":"tools/list"}"#, Some(-32600));
        check_code(r#"{"jsonrpc":"2.0","id":1,"method":5}"#, Some(-32600));
        check_code(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[1]}"#, Some(-32602));
        check_code(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#, Some(-32602));
        check_code(
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":[]}}"#,
            Some(-32602),
        );
        check_code(&format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)), Some(-32700));
    }

    #[test]
    fn a_short_handshake_is_completed() {
        let short = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}"#;
        let checked = check(Bytes::from(short), Some("2025-03-26")).unwrap();
        let message: Value = serde_json::from_slice(&checked.body).unwrap();
        assert_eq!(message["params"]["clientInfo"]["name"], "unknown");
        assert_eq!(message["params"]["protocolVersion"], "2025-03-26");
    }

    #[test]
    fn the_handshake_is_gone_where_the_header_names_a_version_without_it() {
        let handshake = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#;
        let refused = check(Bytes::from(handshake), Some("2026-07-28")).unwrap_err();
        assert_eq!((refused.status, &refused.body["id"]), (StatusCode::NOT_FOUND, &json!(1)));
        assert_eq!(refused.body["error"]["code"], -32601);
    }
}
