//! Finds a document by what a person calls it: an id, the address of its page, a path, a file's
//! name or a title.

use files::FileEntry;
use model::ReadOutcome;
use serde_json::{Value, json};

use super::viewer::Viewer;

/// Results among which a document is looked for by its name.
const DEEP: usize = 50;

/// Files of a folder that may have one name.
const NAMESAKES: usize = 20;

/// A document that exists for the viewer.
pub(super) struct Located {
    /// The id that `search` gives and `fetch` takes.
    pub(super) id: String,
    pub(super) source: String,
    pub(super) title: String,
    /// What could be read of it; empty when nothing could.
    pub(super) text: String,
    /// A file's path.
    pub(super) path: Option<String>,
    /// A document of a knowledge base: the base and the document.
    pub(super) of_base: Option<(String, String)>,
    /// Why a file has no text in the index.
    pub(super) unread: Option<(ReadOutcome, String)>,
}

impl Located {
    /// Tells whether a result of `search` is this document, or names it as saying the same.
    pub(super) fn is(&self, result: &Value) -> bool {
        let is_it = |value: &Value| {
            value["id"].as_str().is_some_and(|id| across::is_same_thing(&self.id, id))
        };
        is_it(result) || result["duplicates"].as_array().into_iter().flatten().any(is_it)
    }
}

/// Looks for a document in the order from the most exact name to the loosest.
pub(super) async fn locate(viewer: &Viewer, given: &str) -> Option<Located> {
    let id = given.rsplit_once("/open/").map_or(given, |(_, id)| id);
    let id = id.split(['?', '#']).next().unwrap_or_default().trim();
    if let Ok(reply) = viewer.tool("fetch", json!({ "id": id })).await {
        return Some(fetched(viewer, id, &reply.value).await);
    }
    if let Some(file) = file(viewer, given).await {
        return Some(of_file(viewer, file).await);
    }
    // Whatever carries the name itself is found by it.
    let by_name = viewer.tool("search", json!({ "query": given, "limit": DEEP })).await.ok()?;
    let results = by_name.value["results"].as_array()?;
    let same = results.iter().find(|result| {
        let title = result["title"].as_str().unwrap_or_default();
        text::fold(title) == text::fold(given)
    })?;
    let id = same["id"].as_str()?;
    let reply = viewer.tool("fetch", json!({ "id": id })).await.ok()?;
    Some(fetched(viewer, id, &reply.value).await)
}

async fn fetched(viewer: &Viewer, id: &str, value: &Value) -> Located {
    let metadata = &value["metadata"];
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let path = text(&metadata["path"]);
    let unread = match &path {
        Some(path) => file(viewer, path).await.and_then(unread),
        None => None,
    };
    Located {
        id: id.to_owned(),
        source: text(&metadata["source"]).unwrap_or_default(),
        title: text(&value["title"]).unwrap_or_default(),
        text: text(&value["text"]).unwrap_or_default(),
        of_base: text(&metadata["knowledge_base_id"]).zip(text(&metadata["document_id"])),
        path,
        unread,
    }
}

async fn of_file(viewer: &Viewer, file: FileEntry) -> Located {
    let id = viewer.app.across.id_of("files", &file.path).unwrap_or_default();
    let reply = viewer.tool("fetch", json!({ "id": id })).await;
    let text = reply.ok().and_then(|reply| reply.value["text"].as_str().map(str::to_owned));
    Located {
        id,
        source: "files".to_owned(),
        title: name_of(&file.path).to_owned(),
        text: text.unwrap_or_default(),
        path: Some(file.path.clone()),
        of_base: None,
        unread: unread(file),
    }
}

fn unread(file: FileEntry) -> Option<(ReadOutcome, String)> {
    let reason = file.reason.unwrap_or_default();
    (file.outcome != ReadOutcome::Indexed).then_some((file.outcome, reason))
}

/// Finds a file of the index by its path, or by its name in any folder.
async fn file(viewer: &Viewer, given: &str) -> Option<FileEntry> {
    let service = viewer.app.files.clone()?;
    let (caller, given) = (viewer.caller.clone(), given.trim().to_owned());
    let looked = tokio::task::spawn_blocking(move || {
        let name = name_of(&given).to_owned();
        let folders = match given.rsplit_once('/') {
            Some((folder, _)) if given.starts_with('/') => vec![folder.to_owned()],
            _ => service.roots(&caller),
        };
        folders.iter().find_map(|folder| {
            let page = service.list_files(&caller, folder, Some(&name), None, NAMESAKES).ok()?;
            let is_it = |file: &FileEntry| {
                file.path == given || (!given.starts_with('/') && is_named(&file.path, &given))
            };
            page.files.into_iter().find(is_it)
        })
    });
    looked.await.ok().flatten()
}

/// Tells whether a path ends in a name, or in a part of a path.
fn is_named(path: &str, given: &str) -> bool {
    let (path, given) = (text::fold(path), text::fold(given));
    path.strip_suffix(given.as_str()).is_some_and(|before| before.ends_with('/'))
}

fn name_of(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_called_by_its_name_or_the_end_of_its_path() {
        for given in ["notes.md", "NOTES.md", "a/notes.md"] {
            assert!(is_named("/srv/a/notes.md", given), "{given}");
        }
        for given in ["otes.md", "b/notes.md", "notes", ""] {
            assert!(!is_named("/srv/a/notes.md", given), "{given}");
        }
        assert_eq!(name_of("/srv/a/notes.md"), "notes.md");
    }
}
