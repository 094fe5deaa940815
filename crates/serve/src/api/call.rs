//! `POST /v1/call/{tool}`: any tool, with the same arguments, answers and guard as over MCP.

use axum::extract::{Path, Request};
use axum::response::Response;
use serde_json::{Map, Value};
use tools::{Code, ToolError};

use super::body;
use super::knowledge::by_tool;
use super::openapi::TOOL_CALL;
use super::operation::{Api, Doc};
use super::rest::Rest;
use super::views::ToolAnswer;
use crate::http::coded;

pub(super) fn routes() -> Api {
    let doc = Doc::new::<ToolAnswer>("tools", "Call a tool").with_body::<ToolAnswer>();
    Api::default().post(TOOL_CALL, call, doc)
}

async fn call(rest: Rest, Path(tool): Path<String>, request: Request) -> Response {
    if rest.app.tools.get(&tool, &rest.caller).is_none() {
        return coded(&unknown(&rest, &tool));
    }
    let read = async {
        let bytes = body::read(request, rest.app.limits.body_bytes).await?;
        // A tool without arguments may be called without a body.
        if bytes.is_empty() {
            return Ok(Map::new());
        }
        body::parse_json::<Map<String, Value>>(bytes).await
    };
    match read.await {
        Ok(arguments) => by_tool(rest, &tool, arguments).await,
        Err(refused) => coded(&refused),
    }
}

fn unknown(rest: &Rest, tool: &str) -> ToolError {
    let (message, names) = tools::unknown_tool(tool, &rest.app.tools, &rest.caller);
    ToolError::new(Code::NotFound, message)
        .with_detail("allowed", names)
        .with_hint("`POST /v1/call/{tool}` takes the names of `tools/list`")
}
