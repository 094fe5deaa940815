//! `/v1/roots`: the folders that can be searched, with what became of their files.

use axum::Router;
use axum::extract::Path;
use axum::response::Response;
use axum::routing::get;
use model::ReadOutcome;
use serde_json::{Value, json};
use tools::ToolError;

use super::paging::{Page, PageOf};
use super::rest::Rest;
use crate::http::{HttpState, coded};

pub(super) fn routes() -> Router<HttpState> {
    Router::new().route("/v1/roots", get(list)).route("/v1/roots/files/{outcome}", get(files))
}

/// Counts files by what became of them; the same numbers are in `/metrics`.
async fn list(rest: Rest, page: PageOf) -> Response {
    let page = match Page::read(page, rest.app.caps()) {
        Ok(page) => page,
        Err(refused) => return coded(&refused),
    };
    let service = rest.app.files.clone();
    rest.answer("GET /v1/roots", move |caller, _| {
        let roots = match service {
            Some(service) => service.outcomes(caller).map_err(tools::files::error_of("root"))?,
            None => vec![],
        };
        let roots = roots.into_iter().map(|root| {
            let total: usize = root.counts.values().sum();
            let value = json!({ "root": root.root, "files": total, "outcomes": root.counts });
            (root.root, value)
        });
        Ok(page.reply("roots", roots.collect()))
    })
    .await
}

/// Lists the files that came to an outcome, with the reason of each.
async fn files(rest: Rest, Path(outcome): Path<String>, page: PageOf) -> Response {
    let page = match Page::read(page, rest.app.caps()) {
        Ok(page) => page,
        Err(refused) => return coded(&refused),
    };
    let codes = ReadOutcome::ALL.map(ReadOutcome::code);
    let Ok(outcome) = outcome.parse::<ReadOutcome>() else {
        let message = format!("the outcome in the address is none of {}", codes.join(", "));
        return coded(&ToolError::bad_request(message).with_detail("allowed", codes));
    };
    let service = rest.app.files.clone();
    rest.answer("GET /v1/roots/files/{outcome}", move |caller, _| {
        let files = match service {
            Some(service) => service
                .files_with(caller, outcome, page.after(), page.n_asked())
                .map_err(tools::files::error_of("root"))?,
            None => vec![],
        };
        let files: Vec<(String, Value)> =
            files.into_iter().map(|file| (file.path.clone(), json!(file))).collect();
        Ok(page.reply("files", files))
    })
    .await
}
