//! A click becomes an evaluation case: judged results that `dowse eval` reads once they were
//! downloaded.
//!
//! The file in the data folder holds references alone: the queries, the ids of what they found,
//! what was judged and by whom. Titles and texts are asked for when somebody looks or downloads,
//! with the rights of whoever asks, so that the file neither shows one administrator what another
//! may read nor outlives a source that was deleted.

use std::collections::{BTreeMap, BTreeSet};
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

/// Results beside the judged one whose ids are kept with it.
const BESIDE: usize = 10;

/// One writer at a time.
static WRITING: Mutex<()> = Mutex::new(());

/// Gives the file of the viewer's tenant: no other tenant may see its queries.
fn file(viewer: &Viewer) -> PathBuf {
    viewer.app.console.data_dir.join(file_name(&viewer.signed_in.tenant))
}

fn file_name(tenant: &TenantId) -> String {
    if *tenant == TenantId::local() {
        return FILE.to_owned();
    }
    let digest = ring::digest::digest(&ring::digest::SHA256, tenant.to_string().as_bytes());
    let digest = model::hex(&digest.as_ref()[..8]);
    format!("judged-{digest}.jsonl")
}

/// Tells whether the viewer may judge results now.
pub(super) fn may_judge(viewer: &Viewer) -> bool {
    viewer.signed_in.is_admin() && !viewer.is_viewing_as()
}

/// Gives the cases with the texts that whoever asks may read now, as `dowse eval` reads them.
pub(super) async fn download(viewer: Viewer) -> Response {
    if !may_judge(&viewer) {
        return error_page(&viewer, &refused());
    }
    let judged = match read(&viewer).await {
        Ok(judged) => judged,
        Err(error) => return error_page(&viewer, &error),
    };
    if judged.queries.is_empty() {
        return error_page(
            &viewer,
            &ToolError::new(Code::NotFound, "no result was judged yet")
                .with_hint("press Right or Wrong beside a result of a search"),
        );
    }
    let mut visible = BTreeMap::new();
    for id in &judged.documents {
        if let Some(document) = resolve(&viewer, id).await {
            visible.insert(id.as_str(), document);
        }
    }
    let headers = [
        (CONTENT_TYPE, "application/x-ndjson"),
        (CONTENT_DISPOSITION, "attachment; filename=\"judged.jsonl\""),
    ];
    (headers, judged.with_texts(&visible)).into_response()
}

/// What a reference leads to, for the one who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Resolved {
    pub(super) title: String,
    text: String,
}

/// Asks for a document with the viewer's own rights; nothing where they may not see it, or where
/// it is gone.
pub(super) async fn resolve(viewer: &Viewer, id: &str) -> Option<Resolved> {
    let fetched = viewer.tool("fetch", json!({ "id": id })).await.ok()?.value;
    let text = |name: &str| fetched[name].as_str().unwrap_or_default().to_owned();
    Some(Resolved { title: text("title"), text: text("text") })
}

/// Reads what was judged in the viewer's tenant.
pub(super) async fn read(viewer: &Viewer) -> Result<Judged, ToolError> {
    let path = file(viewer);
    let read = tokio::task::spawn_blocking(move || Judged::read(&path)).await;
    match read {
        Ok(Ok(judged)) => Ok(judged),
        Ok(Err(error)) => Err(ToolError::new(
            Code::Unavailable,
            format!("the file of judgements cannot be read: {error}"),
        )),
        Err(_) => Err(ToolError::new(Code::InternalError, "the file of judgements cannot be read")),
    }
}

/// Gives what was judged for one query, so that its buttons show it; nothing where the viewer does
/// not judge.
pub(super) async fn verdicts(viewer: &Viewer, query: &str) -> BTreeMap<String, Verdict> {
    if !may_judge(viewer) {
        return BTreeMap::new();
    }
    let judged = read(viewer).await.ok();
    judged.and_then(|mut judged| judged.queries.remove(query)).unwrap_or_default()
}

/// Takes the texts out of files that an earlier version has left in a data folder: it kept what
/// the queries found beside the judgements.
pub(super) fn drop_texts(data_dir: &Path) -> std::io::Result<()> {
    for entry in fs_err::read_dir(data_dir)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if !name.starts_with("judged") || !name.ends_with(".jsonl") {
            continue;
        }
        let _one = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
        let old = fs_err::read_to_string(&path)?;
        let holds_text = |line: &str| {
            serde_json::from_str::<Value>(line).is_ok_and(|line| line.get("text").is_some())
        };
        if old.lines().any(holds_text) {
            Judged::parse(&old)?.write(&path)?;
            tracing::info!(file = name, "texts left the file of judgements: it has references now");
        }
    }
    Ok(())
}

/// Takes a judged query back.
pub(super) async fn forget(posted: Posted) -> Response {
    let Posted { viewer, params } = posted;
    if !may_judge(&viewer) {
        return error_page(&viewer, &refused());
    }
    if let Some(question) = super::confirm::ask(&viewer, "/activity/forget", &params) {
        return question;
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
    // A browser that goes on to another page drops this answer, and not what was judged.
    let judging = viewer.clone();
    let written =
        tokio::spawn(async move { write_down(&judging, &query, &id, is_right).await }).await;
    let written =
        written.unwrap_or_else(|_| Err(ToolError::internal("the judgement was not saved")));
    if let Err(error) = written {
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
    // The judge must be able to see what is judged.
    viewer.tool("fetch", json!({ "id": id })).await?;
    let by = format!("{}/{}", viewer.signed_in.tenant, viewer.signed_in.subject);
    let path = file(viewer);
    let (query, id) = (query.to_owned(), id.to_owned());
    let written = tokio::task::spawn_blocking(move || {
        let _one = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
        let mut judged = Judged::read(&path)?;
        judged.documents.extend(ids);
        if judged.documents.len() > MAX_DOCUMENTS {
            return Err(std::io::Error::other("the file of judgements is full"));
        }
        let verdict = Verdict { grade: u32::from(is_right), by: Some(by) };
        judged.queries.entry(query).or_default().insert(id, verdict);
        judged.write(&path)
    });
    match written.await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => {
            Err(ToolError::new(Code::Unavailable, format!("the judgement was not saved: {error}")))
        }
        Err(_) => Err(ToolError::new(Code::InternalError, "the judgement was not saved")),
    }
}

/// What was said of one result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Verdict {
    /// 1 is right, 0 is wrong.
    pub(super) grade: u32,
    /// Who judged, as `tenant/name`; earlier versions did not write it down.
    pub(super) by: Option<String>,
}

/// What the file holds.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Judged {
    /// Ids of everything that judged queries found, so that the order is worth measuring.
    pub(super) documents: BTreeSet<String>,
    /// Verdicts by query and document.
    pub(super) queries: BTreeMap<String, BTreeMap<String, Verdict>>,
}

impl Judged {
    /// Reads the file; nothing is in one that is not there.
    fn read(path: &Path) -> std::io::Result<Self> {
        match fs_err::read_to_string(path) {
            Ok(text) => Judged::parse(&text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Judged::default()),
            Err(error) => Err(error),
        }
    }

    fn parse(text: &str) -> std::io::Result<Self> {
        let mut judged = Judged::default();
        for line in text.lines() {
            let line: Value = serde_json::from_str(line)?;
            if let Some(query) = line["query"].as_str() {
                let grades = line["relevant"].as_object().into_iter().flatten();
                let verdicts = grades.map(|(id, grade)| {
                    let by = line["by"][id.as_str()].as_str().map(str::to_owned);
                    (id.clone(), Verdict { grade: grade.as_u64().unwrap_or_default() as u32, by })
                });
                judged.queries.insert(query.to_owned(), verdicts.collect());
            } else if let Some(id) = line["document"].as_str() {
                judged.documents.insert(id.to_owned());
            }
        }
        Ok(judged)
    }

    fn write(&self, path: &Path) -> std::io::Result<()> {
        let mut text = String::new();
        for id in &self.documents {
            text.push_str(&json!({ "document": id }).to_string());
            text.push('\n');
        }
        for (query, verdicts) in &self.queries {
            let grades: BTreeMap<&String, u32> =
                verdicts.iter().map(|(id, verdict)| (id, verdict.grade)).collect();
            let by: BTreeMap<&String, &String> = verdicts
                .iter()
                .filter_map(|(id, verdict)| Some((id, verdict.by.as_ref()?)))
                .collect();
            text.push_str(&json!({ "query": query, "relevant": grades, "by": by }).to_string());
            text.push('\n');
        }
        let beside = path.with_extension("new");
        fs_err::write(&beside, text)?;
        fs_err::rename(beside, path)
    }

    /// Writes the cases out with the texts of what is visible. What is not is left out and counted
    /// in `left_out`, as is a query of which nothing that was judged is visible.
    ///
    /// Hits in several places of one document are that document, once: a twin of a right answer
    /// would count as a wrong one before it.
    fn with_texts(&self, visible: &BTreeMap<&str, Resolved>) -> String {
        let mut text = String::new();
        let own_ids = own_ids(visible);
        for (id, document) in visible.iter().filter(|(id, _)| own_ids.get(*id) == Some(*id)) {
            let line = json!({ "document": id, "title": document.title, "text": document.text });
            text.push_str(&line.to_string());
            text.push('\n');
        }
        for (query, verdicts) in &self.queries {
            let mut grades: BTreeMap<&str, u32> = BTreeMap::new();
            let mut n_left_out = 0;
            for (id, verdict) in verdicts {
                match own_ids.get(id.as_str()) {
                    // A document that is right in one place is right.
                    Some(own) => {
                        let grade = grades.entry(own).or_default();
                        *grade = verdict.grade.max(*grade);
                    }
                    None => n_left_out += 1,
                }
            }
            if grades.is_empty() {
                continue;
            }
            let mut line = json!({ "query": query, "relevant": grades });
            if n_left_out > 0 {
                line["left_out"] = json!(n_left_out);
            }
            text.push_str(&line.to_string());
            text.push('\n');
        }
        text
    }
}

/// Gives for each id the first one that leads to the same text of the same thing.
fn own_ids<'a>(visible: &BTreeMap<&'a str, Resolved>) -> BTreeMap<&'a str, &'a str> {
    let mut by_content: BTreeMap<(&str, &str), Vec<&'a str>> = BTreeMap::new();
    let mut own_ids = BTreeMap::new();
    for (id, document) in visible {
        let first_ids = by_content.entry((&document.title, &document.text)).or_default();
        let own = first_ids.iter().copied().find(|first| across::is_same_thing(first, id));
        own_ids.insert(*id, own.unwrap_or(id));
        if own.is_none() {
            first_ids.push(id);
        }
    }
    own_ids
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
        judged.documents.insert("a".to_owned());
        let verdicts = judged.queries.entry("q \"x\"".to_owned()).or_default();
        let by = Some("acme/ann".to_owned());
        verdicts.insert("a".to_owned(), Verdict { grade: 1, by });
        verdicts.insert("b".to_owned(), Verdict { grade: 0, by: None });
        judged.write(&path).unwrap();
        assert_eq!(Judged::read(&path).unwrap(), judged);
    }

    /// What an earlier version wrote, with a text in it.
    const OLD: &str = "{\"document\":\"a\",\"title\":\"Title\",\"text\":\"a secret\"}\n\
                       {\"query\":\"q\",\"relevant\":{\"a\":1}}\n";

    #[test]
    fn texts_of_earlier_versions_leave_the_disk() {
        let folder = testkit::Folder::new();
        for name in [FILE, "judged-0123456789abcdef.jsonl"] {
            fs_err::write(folder.join(name), OLD).unwrap();
        }
        drop_texts(folder.path()).unwrap();
        for name in [FILE, "judged-0123456789abcdef.jsonl"] {
            let text = fs_err::read_to_string(folder.join(name)).unwrap();
            assert!(!text.contains("secret") && !text.contains("Title"), "{text}");
            let judged = Judged::read(&folder.join(name)).unwrap();
            assert_eq!(judged.documents, BTreeSet::from(["a".to_owned()]));
            assert_eq!(judged.queries["q"]["a"], Verdict { grade: 1, by: None });
        }
    }

    #[test]
    fn a_download_holds_what_its_reader_may_see_and_counts_the_rest() {
        let mut judged = Judged::default();
        let verdict = |grade| Verdict { grade, by: Some("acme/ann".to_owned()) };
        let both = BTreeMap::from([("a".to_owned(), verdict(1)), ("b".to_owned(), verdict(0))]);
        judged.queries.insert("both".to_owned(), both);
        let hidden = BTreeMap::from([("b".to_owned(), verdict(1))]);
        judged.queries.insert("hidden".to_owned(), hidden);
        judged.documents.extend(["a".to_owned(), "b".to_owned()]);
        let document = Resolved { title: "Title".to_owned(), text: "two\nlines".to_owned() };
        let lines = judged.with_texts(&BTreeMap::from([("a", document)]));
        let lines: Vec<Value> =
            lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(
            lines,
            [
                json!({ "document": "a", "title": "Title", "text": "two\nlines" }),
                json!({ "query": "both", "relevant": { "a": 1 }, "left_out": 1 }),
            ]
        );
    }

    #[test]
    fn a_document_that_was_hit_in_two_places_is_one() {
        let (first, second, other) =
            ("fHJ3KveJRRX1_hc4cvUW7", "fHJ3KveJRRX1_hc4cvUX8", "fPKS6gPyNYL-QFSA8gGAV");
        let verdict = |grade| Verdict { grade, by: None };
        let mut judged = Judged::default();
        let both =
            BTreeMap::from([(first.to_owned(), verdict(0)), (second.to_owned(), verdict(1))]);
        judged.queries.insert("q".to_owned(), both);
        let document = || Resolved { title: "Title".to_owned(), text: "text".to_owned() };
        let visible = [first, second, other].map(|id| (id, document()));
        let lines = judged.with_texts(&BTreeMap::from(visible));
        assert!(!lines.contains(second) && lines.contains(other), "{lines}");
        assert!(lines.contains(&format!("\"relevant\":{{\"{first}\":1}}")), "{lines}");
    }

    #[test]
    fn every_tenant_has_a_file_of_its_own() {
        assert_eq!(file_name(&TenantId::local()), FILE);
        let names = ["acme", "ACME", "../x"].map(|name| file_name(&TenantId::new(name)));
        assert_ne!(names[0], names[1]);
        assert!(names.iter().all(|name| !name.contains('/') && name != FILE), "{names:?}");
    }
}
