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
use serde_json::{Value, json};
use tools::{Code, ToolError};

use super::go_to;
use super::layout::error_page;
use super::viewer::{Posted, Viewer};

/// The file in the data folder.
const FILE: &str = "judged.jsonl";

/// Documents that the file holds at most.
const MAX_DOCUMENTS: usize = 5_000;

/// Results beside the judged one that are kept with it.
const BESIDE: usize = 10;

/// One writer at a time.
static WRITING: Mutex<()> = Mutex::new(());

/// Gives the file of a server.
pub(super) fn file(viewer: &Viewer) -> PathBuf {
    viewer.app.console.data_dir.join(FILE)
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
    if !viewer.signed_in.is_admin() {
        let message = "only administrators judge results";
        return Err(ToolError::new(Code::Forbidden, message));
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
}
