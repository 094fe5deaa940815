//! Tools and a prompt that need an input before they can answer, as revision 2026-07-28 does it:
//! the answer names the inputs, and the client calls again with them.
#![expect(deprecated, reason = "the suite tests sampling and roots as inputs")]

use std::collections::BTreeMap;

use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ContentBlock,
    CreateMessageRequest, CreateMessageRequestParams, InputRequest, InputRequests,
    InputRequiredResult, InputResponses, ListRootsRequest, RequestMetaObject, SamplingMessage,
};
use serde_json::{Map, Value, json};

use super::questions::form;
use super::session::Session;

type Outcome = Result<CallToolResponse, ErrorData>;

/// Answers, if this is one of these tools.
pub(super) fn answer(
    params: &CallToolRequestParams,
    session: &Session,
    meta: &RequestMetaObject,
) -> Option<Outcome> {
    let inputs = params.input_responses.as_ref();
    let state = params.request_state.as_deref();
    let kind = match params.name.as_ref() {
        "test_missing_capability" => return Some(needs_sampling(meta)),
        "test_streaming_elicitation" => return Some(ask([("value", text_form("value"))], None)),
        name => name.strip_prefix("test_input_required_result_")?,
    };
    Some(match kind {
        "elicitation" => match given(inputs, "user_name") {
            Some(name) => done(&format!("Hello, {}!", member(name, "/content/name"))),
            None => ask([("user_name", text_form("name"))], None),
        },
        "sampling" => match given(inputs, "capital_question") {
            Some(text) => done(&format!("Sampled: {}", member(text, "/content/text"))),
            None => ask([("capital_question", sampling())], None),
        },
        "list_roots" => match given(inputs, "client_roots") {
            Some(roots) => done(&format!("Roots: {}", member(roots, "/roots/0/uri"))),
            None => ask([("client_roots", roots_question())], None),
        },
        "request_state" | "tampered_state" => match checked(session, state) {
            Ok(None) => ask([("confirm", confirmation())], Some(session.keep_round(1))),
            Ok(Some(_)) => done("Confirmed: state-ok"),
            Err(error) => Err(error),
        },
        "multiple_inputs" => three_inputs(inputs, session, state),
        "multi_round" => match checked(session, state) {
            Ok(None) => ask([("step1", text_form("name"))], Some(session.keep_round(1))),
            Ok(Some(1)) => ask([("step2", text_form("color"))], Some(session.keep_round(2))),
            Ok(Some(_)) => done("Both rounds are done"),
            Err(error) => Err(error),
        },
        "capabilities" if inputs.is_some() => done("Every input arrived"),
        "capabilities" => what_the_client_can(meta),
        _ => return None,
    })
}

/// The prompt that needs a context; nothing when it was given.
pub(super) fn prompt_context(
    inputs: Option<&InputResponses>,
) -> Result<String, Box<InputRequiredResult>> {
    match given(inputs, "user_context") {
        Some(context) => Ok(member(context, "/content/context")),
        None => {
            let requests = BTreeMap::from([("user_context".to_owned(), text_form("context"))]);
            Err(Box::new(InputRequiredResult::from_input_requests(requests)))
        }
    }
}

fn three_inputs(
    inputs: Option<&InputResponses>,
    session: &Session,
    state: Option<&str>,
) -> Outcome {
    let wanted = ["user_name", "greeting", "client_roots"];
    match checked(session, state)? {
        Some(_) if wanted.iter().all(|name| given(inputs, name).is_some()) => {
            done("All inputs received")
        }
        _ => {
            let questions = [text_form("name"), sampling(), roots_question()];
            let requests = wanted.into_iter().zip(questions);
            ask(requests, Some(session.keep_round(1)))
        }
    }
}

fn what_the_client_can(meta: &RequestMetaObject) -> Outcome {
    let client = meta.client_capabilities().unwrap_or_default();
    let mut requests = Vec::new();
    if client.elicitation.is_some() {
        requests.push(("user_name", text_form("name")));
    }
    if client.sampling.is_some() {
        requests.push(("greeting", sampling()));
    }
    if client.roots.is_some() {
        requests.push(("client_roots", roots_question()));
    }
    if requests.is_empty() { done("The client gives no inputs") } else { ask(requests, None) }
}

fn needs_sampling(meta: &RequestMetaObject) -> Outcome {
    if meta.client_capabilities().unwrap_or_default().sampling.is_some() {
        return done("The client samples");
    }
    let needed = ClientCapabilities::builder().enable_sampling().build();
    Err(ErrorData::missing_required_client_capability(needed))
}

/// Gives the round of a state, nothing without one, and an error for one that is not ours.
fn checked(session: &Session, state: Option<&str>) -> Result<Option<u32>, ErrorData> {
    let Some(handle) = state else { return Ok(None) };
    match session.round(handle) {
        Some(round) => Ok(Some(round)),
        None => Err(ErrorData::invalid_params("`requestState` was changed on its way", None)),
    }
}

/// An input counts when it is an object; anything else is asked for again.
fn given<'a>(inputs: Option<&'a InputResponses>, name: &str) -> Option<&'a Map<String, Value>> {
    inputs?.get(name)?.as_object()
}

fn member(input: &Map<String, Value>, pointer: &str) -> String {
    let whole = Value::Object(input.clone());
    whole.pointer(pointer).and_then(Value::as_str).unwrap_or("nothing").to_owned()
}

fn done(text: &str) -> Outcome {
    Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
}

fn ask<'a>(
    requests: impl IntoIterator<Item = (&'a str, InputRequest)>,
    state: Option<String>,
) -> Outcome {
    let requests: InputRequests =
        requests.into_iter().map(|(name, request)| (name.to_owned(), request)).collect();
    Ok(InputRequiredResult::new(Some(requests), state).into())
}

fn text_form(field: &str) -> InputRequest {
    let schema = json!({
        "type": "object", "properties": { field: { "type": "string" } }, "required": [field],
    });
    InputRequest::Elicitation(form(format!("Please give the {field}"), schema))
}

fn confirmation() -> InputRequest {
    let schema = json!({
        "type": "object", "properties": { "ok": { "type": "boolean" } }, "required": ["ok"],
    });
    InputRequest::Elicitation(form("Please confirm".to_owned(), schema))
}

fn sampling() -> InputRequest {
    let question = SamplingMessage::user_text("What is the capital of France?");
    let params = CreateMessageRequestParams::new(vec![question], 100);
    InputRequest::CreateMessage(CreateMessageRequest::new(params))
}

fn roots_question() -> InputRequest {
    InputRequest::ListRoots(ListRootsRequest::default())
}
