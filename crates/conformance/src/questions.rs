//! Tools that ask the client while they run, as the revisions before 2026-07-28 allow.
#![expect(deprecated, reason = "the suite still tests the sampling of the older revisions")]

use rmcp::model::{
    CallToolResult, ClientResult, ContentBlock, CreateMessageRequestParams, ElicitRequest,
    ElicitRequestParams, JsonObject, SamplingMessage, ServerRequest,
};
use rmcp::service::{RequestContext, RoleServer, ServiceError};
use serde_json::{Value, json};

/// Answers, if this is one of these tools.
pub(super) async fn answer(
    name: &str,
    arguments: &JsonObject,
    context: &RequestContext<RoleServer>,
) -> Option<CallToolResult> {
    let text = |name: &str| {
        arguments.get(name).and_then(|value| value.as_str()).unwrap_or_default().to_owned()
    };
    let answered = match name {
        "test_sampling" => sample(context, &text("prompt")).await,
        "test_elicitation" => elicit(context, text("message"), person()).await,
        "test_elicitation_sep1034_defaults" => {
            elicit(context, "All of these have defaults".to_owned(), defaults()).await
        }
        "test_elicitation_sep1330_enums" => {
            elicit(context, "Choose from each of these".to_owned(), enumerations()).await
        }
        _ => return None,
    };
    Some(match answered {
        Ok(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
        Err(error) => CallToolResult::error(vec![ContentBlock::text(error.to_string())]),
    })
}

async fn sample(
    context: &RequestContext<RoleServer>,
    prompt: &str,
) -> Result<String, ServiceError> {
    let question = CreateMessageRequestParams::new(vec![SamplingMessage::user_text(prompt)], 100);
    let sampled = context.peer.create_message(question).await?;
    let text = sampled.message.content.first().and_then(|content| content.as_text());
    let text = text.map_or("no text", |text| text.text.as_str());
    Ok(format!("LLM response: {text}"))
}

async fn elicit(
    context: &RequestContext<RoleServer>,
    message: String,
    schema: Value,
) -> Result<String, ServiceError> {
    let question = form(message, schema);
    let answered = context.peer.send_request(ServerRequest::ElicitRequest(question)).await?;
    let ClientResult::ElicitResult(given) = answered else {
        return Err(ServiceError::UnexpectedResponse);
    };
    let given = serde_json::to_value(given).unwrap_or_default();
    let action = given["action"].as_str().unwrap_or_default();
    Ok(format!("User response: action={action}, content={}", given["content"]))
}

/// Writes a form for the person at the client.
pub(super) fn form(message: String, schema: Value) -> ElicitRequest {
    ElicitRequest::new(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message,
        requested_schema: serde_json::from_value(schema)
            .expect("the schemas of this file and of `rounds` describe flat forms"),
    })
}

fn person() -> Value {
    json!({
        "type": "object",
        "properties": {
            "username": { "type": "string", "description": "The name to show" },
            "email": { "type": "string", "description": "Where to write to" },
        },
        "required": ["username", "email"],
    })
}

fn defaults() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "default": "John Doe" },
            "age": { "type": "integer", "default": 30 },
            "score": { "type": "number", "default": 95.5 },
            "status": {
                "type": "string",
                "enum": ["active", "inactive", "pending"],
                "default": "active",
            },
            "verified": { "type": "boolean", "default": true },
        },
    })
}

fn enumerations() -> Value {
    let titled = |names: [&str; 3]| -> Vec<Value> {
        let number = |(idx, title): (usize, &str)| json!({ "const": format!("value{}", idx + 1), "title": title });
        names.into_iter().enumerate().map(number).collect()
    };
    let plain = json!(["option1", "option2", "option3"]);
    json!({
        "type": "object",
        "properties": {
            "untitledSingle": { "type": "string", "enum": plain },
            "titledSingle": {
                "type": "string",
                "oneOf": titled(["First Option", "Second Option", "Third Option"]),
            },
            "legacyEnum": {
                "type": "string",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": { "type": "array", "items": { "type": "string", "enum": plain } },
            "titledMulti": {
                "type": "array",
                "items": { "anyOf": titled(["First Choice", "Second Choice", "Third Choice"]) },
            },
        },
    })
}
