//! `/v1/roots`: the folders that can be searched, with what became of their files.

use axum::extract::Path;
use axum::response::Response;
use model::ReadOutcome;
use serde_json::{Value, json};
use tools::ToolError;

use super::operation::{Api, Doc};
use super::paging::{Page, PageOf};
use super::rest::Rest;
use super::views::{FileOutcomeView, RootView};
use crate::http::coded;

pub(super) fn routes() -> Api {
    const TAG: &str = "files";
    let listed = Doc::page::<RootView>(TAG, "Folders with what became of their files", "roots");
    let files = Doc::page::<FileOutcomeView>(TAG, "Files that came to an outcome, why", "files");
    Api::default().get("/v1/roots", list, listed).get(
        "/v1/roots/files/{outcome}",
        files_with,
        files,
    )
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
            let outcomes = json!(root.counts);
            let value = json!(RootView { root: root.root.clone(), files: total, outcomes });
            (root.root, value)
        });
        Ok(page.reply("roots", roots.collect()))
    })
    .await
}

/// Lists the files that came to an outcome, with the reason of each.
async fn files_with(rest: Rest, Path(outcome): Path<String>, page: PageOf) -> Response {
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
        let files: Vec<(String, Value)> = files
            .into_iter()
            .map(|file| {
                let outcome = json!(file.outcome);
                let (path, reason) = (file.path.clone(), file.reason);
                (path, json!(FileOutcomeView { path: file.path, outcome, reason }))
            })
            .collect();
        Ok(page.reply("files", files))
    })
    .await
}
