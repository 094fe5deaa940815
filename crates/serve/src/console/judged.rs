//! A click becomes an evaluation case: judged results in a file that `dowse eval` reads.
//!
//! The file has a line for each document that a judged query found, with its text as it left the
//! server, and a line for each query with the documents that are right. Documents that are wrong
//! are there too, so that the order is worth measuring.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use model::TenantId;
use serde_json::{Value, json};
use tools::{Code, ToolError};

use super::go_to;
use super::layout::error_page;
use super::viewer::{Posted, Viewer};

/// The file in the data folder, for the tenant of whoever needs no name.
const FILE: &str = "judged.jsonl";

/// Documents that the file holds at most.
const MAX_DOCUMENTS: usize = 5_000;

/// Results beside the judged one that are kept with it.
const BESIDE: usize = 10;

/// One writer at a time.
static WRITING: Mutex<()> = Mutex::new(());

/// Gives the file of the viewer's tenant: it holds text that no other tenant may see.
pub(super) fn file(viewer: &Viewer) -> PathBuf {
    viewer.app.console.data_dir.join(file_name(&viewer.signed_in.tenant))
}

fn file_name(tenant: &TenantId) -> String {
    if *tenant == TenantId::local() {
        return FILE.to_owned();
    }
    let digest = ring::digest::digest(&ring::digest::SHA256, tenant.to_string().as_bytes());
    let digest: String = digest.as_ref().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("judged-{digest}.jsonl")
}

/// Tells whether the viewer may judge results now.
pub(super) fn may_judge(viewer: &Viewer) -> bool {
    viewer.signed_in.is_admin() && !viewer.is_viewing_as()
}

/// Gives the file, for `dowse eval` elsewhere.
pub(super) async fn download(viewer: Viewer) -> Response {
    if !may_judge(&viewer) {
        return error_page(&viewer, &refused());
    }
    let headers = [
        (CONTENT_TYPE, "application/x-ndjson"),
        (CONTENT_DISPOSITION, "attachment; filename=\"judged.jsonl\""),
    ];
    match fs_err::read(file(&viewer)) {
        Ok(bytes) => (headers, bytes).into_response(),
        Err(_) => error_page(
            &viewer,
            &ToolError::new(Code::NotFound, "no result was judged yet")
                .with_hint("press Right or Wrong beside a result of a search"),
        ),
    }
}

/// Takes a judged query back.
pub(super) async fn forget(posted: Posted) -> Response {
    let Posted { viewer, params } = posted;
    if !may_judge(&viewer) {
        return error_page(&viewer, &refused());
    }
    let (path, query) = (file(&viewer), params.text("query").to_owned());
    let forgotten = tokio::task::spawn_blocking(move || {
        let _one = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
        let mut judged = Judged::read(&path)?;
        judged.queries.remove(&query);
        judged.write(&path)
    });
    match forgotten.await {
        Ok(Ok(())) => go_to(&viewer, "/activity?view=judged"),
        _ => error_page(&viewer, &ToolError::new(Code::Unavailable, "the file cannot be written")),
    }
}

fn refused() -> ToolError {
    ToolError::new(Code::Forbidden, "only administrators judge results")
        .with_hint("sign in with a key that has the role `admin`")
}

/// Writes down that a result is right or wrong for a query.
pub(super) async fn judge(posted: Posted) -> Response {
    let Posted { viewer, params } = posted;
    let (query, id) = (params.text("query").to_owned(), params.text("id").to_owned());
    let is_right = params.text("verdict") == "right";
    if let Err(error) = write_down(&viewer, &query, &id, is_right).await {
        return error_page(&viewer, &error);
    }
    match params.get("next") {
        Some(next) => go_to(&viewer, next),
        None => StatusCode::NO_CONTENT.into_response(),
    }
}

async fn write_down(
    viewer: &Viewer,
    query: &str,
    id: &str,
    is_right: bool,
) -> Result<(), ToolError> {
    viewer.may_change()?;
    if !may_judge(viewer) {
        return Err(refused());
    }
    if query.trim().is_empty() || id.is_empty() {
        return Err(ToolError::bad_request("a judgement names a query and a result"));
    }
    let found = viewer.tool("search", json!({ "query": query, "limit": BESIDE })).await?.value;
    let mut ids: Vec<String> = found["results"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|result| result["id"].as_str().map(str::to_owned))
        .collect();
    if !ids.iter().any(|known| known == id) {
        ids.push(id.to_owned());
    }
    let mut documents = Vec::new();
    for id in ids {
        // What is gone or cannot be fetched now is left out; the judged one must be there.
        match viewer.tool("fetch", json!({ "id": id })).await {
            Ok(reply) => documents.push((id, reply.value)),
            Err(error) if documents.is_empty() => return Err(error),
            Err(_) => {}
        }
    }
    let path = file(viewer);
    let (query, id) = (query.to_owned(), id.to_owned());
    let written = tokio::task::spawn_blocking(move || {
        let _one = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
        let mut judged = Judged::read(&path)?;
        for (id, fetched) in documents {
            let text = |name: &str| fetched[name].as_str().unwrap_or_default().to_owned();
            judged.documents.entry(id).or_insert((text("title"), text("text")));
        }
        if judged.documents.len() > MAX_DOCUMENTS {
            return Err(std::io::Error::other("the file of judgements is full"));
        }
        judged.queries.entry(query).or_default().insert(id, u32::from(is_right));
        judged.write(&path)
    });
    match written.await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => {
            Err(ToolError::new(Code::Unavailable, format!("the judgement was not kept: {error}")))
        }
        Err(_) => Err(ToolError::new(Code::InternalError, "the judgement was not kept")),
    }
}

/// What the file holds.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Judged {
    /// Title and text by id.
    pub(super) documents: BTreeMap<String, (String, String)>,
    /// Grades by query and document: 1 is right, 0 is wrong.
    pub(super) queries: BTreeMap<String, BTreeMap<String, u32>>,
}

impl Judged {
    /// Reads the file; nothing is in one that is not there.
    pub(super) fn read(path: &Path) -> std::io::Result<Self> {
        let text = match fs_err::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Judged::default());
            }
            Err(error) => return Err(error),
        };
        let mut judged = Judged::default();
        for line in text.lines() {
            let line: Value = serde_json::from_str(line)?;
            let text = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
            if let Some(query) = line["query"].as_str() {
                let grades = line["relevant"].as_object().into_iter().flatten();
                let grades = grades
                    .map(|(id, grade)| (id.clone(), grade.as_u64().unwrap_or_default() as u32));
                judged.queries.insert(query.to_owned(), grades.collect());
            } else {
                judged.documents.insert(text("document"), (text("title"), text("text")));
            }
        }
        Ok(judged)
    }

    fn write(&self, path: &Path) -> std::io::Result<()> {
        let mut text = String::new();
        for (id, (title, content)) in &self.documents {
            text.push_str(&json!({ "document": id, "title": title, "text": content }).to_string());
            text.push('\n');
        }
        for (query, grades) in &self.queries {
            text.push_str(&json!({ "query": query, "relevant": grades }).to_string());
            text.push('\n');
        }
        let beside = path.with_extension("new");
        fs_err::write(&beside, text)?;
        fs_err::rename(beside, path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn judgements_read_back() {
        let folder = testkit::Folder::new();
        let path = folder.join(FILE);
        assert_eq!(Judged::read(&path).unwrap(), Judged::default());
        let mut judged = Judged::default();
        judged.documents.insert("a".to_owned(), ("Title".to_owned(), "two\nlines".to_owned()));
        judged.queries.entry("q \"x\"".to_owned()).or_default().insert("a".to_owned(), 1);
        judged.queries.entry("q \"x\"".to_owned()).or_default().insert("b".to_owned(), 0);
        judged.write(&path).unwrap();
        assert_eq!(Judged::read(&path).unwrap(), judged);
    }

    #[test]
    fn every_tenant_has_a_file_of_its_own() {
        assert_eq!(file_name(&TenantId::local()), FILE);
        let names = ["acme", "ACME", "../x"].map(|name| file_name(&TenantId::new(name)));
        assert_ne!(names[0], names[1]);
        assert!(names.iter().all(|name| !name.contains('/') && name != FILE), "{names:?}");
    }
}
