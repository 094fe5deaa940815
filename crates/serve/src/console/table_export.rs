//! `/tables/{name}/export`: every row of a view, in its order. The rows come as they are read from
//! the link that `query_table` gives to agents, so that a large table costs no memory.

use axum::extract::Path;
use axum::response::Response;
use serde_json::json;
use tools::ToolError;

use super::go_to;
use super::layout::error_page;
use super::params::{Params, encoded};
use super::tables::view;
use super::viewer::Viewer;

/// The formats that people choose from, with what each is called.
pub(super) const FORMATS: [(&str, &str); 3] =
    [("csv", "CSV"), ("jsonl", "JSON lines"), ("parquet", "Parquet")];

/// Sends the browser to the rows of a view.
pub(super) async fn export(viewer: Viewer, Path(name): Path<String>, params: Params) -> Response {
    match token(&viewer, name, &params).await {
        Ok(token) => go_to(&viewer, &format!("/v1/exports/{}", encoded(&token))),
        Err(error) => error_page(&viewer, &error),
    }
}

async fn token(viewer: &Viewer, name: String, params: &Params) -> Result<String, ToolError> {
    let view = view(viewer, name, params).await?;
    let mut arguments = view.arguments();
    arguments["pageSize"] = json!(1);
    arguments["facets"] = json!([]);
    arguments["export"] = json!(params.get("format").unwrap_or("csv"));
    // What a spreadsheet would run as a formula is text.
    arguments["defuseFormulas"] = json!(true);
    if let Some(sort) = params.get("sort") {
        arguments["sort"] = json!({ "id": sort, "desc": params.get("desc").is_some() });
    }
    let answer = viewer.tool("query_table", arguments).await?.value;
    let url = answer["export"]["url"].as_str().unwrap_or_default();
    let token = url.rsplit('/').next().unwrap_or_default().to_owned();
    if token.is_empty() {
        return Err(ToolError::bad_request("this table cannot be exported here")
            .with_hint("set `server.public_url`, so that links to exports can be given"));
    }
    Ok(token)
}
