//! `/v1/roots`: the folders that can be searched, with what became of their files.

use axum::extract::Path;
use axum::response::Response;
use model::ReadOutcome;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tools::ToolError;

use super::operation::{Api, Doc};
use super::paging::{Page, PageOf};
use super::rest::{Reply, Rest};
use super::views::{FileOutcomeView, RootView};
use crate::http::{Parameters, QueryParameters, Takes, coded};

pub(super) fn routes() -> Api {
    const TAG: &str = "files";
    let listed =
        Doc::page::<RootView>(TAG, "List folders with the outcomes of their files", "roots");
    let files =
        Doc::page::<FileOutcomeView>(TAG, "List the files with an outcome, and why", "files");
    let again = Doc::new::<RetriedView>(TAG, "Read the files with an outcome again");
    Api::default()
        .get("/v1/roots", list, listed)
        .get("/v1/roots/files/{outcome}", files_with, files)
        .post(
            "/v1/roots/files/{outcome}/retry",
            retry,
            again.accepted().with_query::<RetryParameters>(),
        )
}

/// Which of the files are read again.
#[derive(Deserialize, JsonSchema)]
struct RetryParameters {
    /// One file; all that came to the outcome when absent
    path: Option<String>,
}

impl Parameters for RetryParameters {
    const TAKEN: &'static [(&'static str, Takes)] = &[("path", Takes::Text)];
}

/// What is read again.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Retried")]
struct RetriedView {
    /// How many files a job reads again
    files: usize,
}

/// Counts files by what became of them; the same numbers are in `/metrics`.
async fn list(rest: Rest, page: PageOf) -> Response {
    let page = match Page::read("roots", page, rest.app.caps()) {
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
        Ok(page.reply(roots.collect()))
    })
    .await
}

/// Lists the files that came to an outcome, with the reason of each.
async fn files_with(rest: Rest, Path(outcome): Path<String>, page: PageOf) -> Response {
    let page = match Page::read("files", page, rest.app.caps()) {
        Ok(page) => page,
        Err(refused) => return coded(&refused),
    };
    let outcome = match read_outcome(&outcome) {
        Ok(outcome) => outcome,
        Err(refused) => return coded(&refused),
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
        Ok(page.reply(files))
    })
    .await
}

/// Begins to read files again; a job does it.
async fn retry(
    rest: Rest,
    Path(outcome): Path<String>,
    QueryParameters(asked): QueryParameters<RetryParameters>,
) -> Response {
    let path = match asked {
        Ok(asked) => asked.path,
        Err(refused) => return coded(&refused),
    };
    let outcome = match read_outcome(&outcome) {
        Ok(outcome) => outcome,
        Err(refused) => return coded(&refused),
    };
    let service = rest.app.files.clone();
    rest.answer("POST /v1/roots/files/{outcome}/retry", move |caller, _| {
        let files = match service {
            Some(service) => service
                .retry(caller, outcome, path.as_deref())
                .map_err(tools::files::error_of("path"))?,
            None => 0,
        };
        Ok(Reply::accepted(json!(RetriedView { files })))
    })
    .await
}

fn read_outcome(text: &str) -> Result<ReadOutcome, ToolError> {
    let codes = ReadOutcome::ALL.map(ReadOutcome::code);
    text.parse().map_err(|_| {
        let message =
            format!("unknown outcome in the address: expected one of {}", codes.join(", "));
        ToolError::bad_request(message).with_detail("allowed", codes)
    })
}
