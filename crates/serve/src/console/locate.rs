//! Finds a document by what a person calls it: an id, the address of its page, a path, a file's
//! name or a title.

use files::FileEntry;
use model::ReadOutcome;
use serde_json::{Value, json};

use super::viewer::Viewer;

/// Results among which a document is looked for by its name.
const DEEP: usize = 50;

/// Pages of a folder's files that are looked through for a name; each is of 20,000 files or more
/// where few have it.
const MAX_PAGES: usize = 100;

/// Files that are proposed for a name that none of them has.
const PROPOSED: usize = 5;

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
    /// A JSON document of a project, whose nodes are results of their own.
    pub(super) json: Option<JsonDocument>,
}

/// A JSON document and the tools that search it.
pub(super) struct JsonDocument {
    pub(super) project_id: contexts::ProjectId,
    /// Id and name of each search tool over it or a part of it.
    pub(super) tools: Vec<(contexts::ToolId, String)>,
}

impl Located {
    /// Tells whether a result of `search` is this document, or names it as saying the same.
    pub(super) fn is(&self, result: &Value) -> bool {
        let copies = result["duplicates"].as_array().into_iter().flatten();
        self.is_itself(result) || copies.into_iter().any(|copy| self.is_itself(copy))
    }

    /// Tells whether a result of `search` is this document and no copy of it.
    pub(super) fn is_itself(&self, result: &Value) -> bool {
        if self.json.is_some() {
            let title = result["title"].as_str().unwrap_or_default();
            let node = title.strip_prefix(self.title.as_str());
            return result["source"] == "contexts" && node.is_some_and(is_end_of_title);
        }
        result["id"].as_str().is_some_and(|id| across::is_same_thing(&self.id, id))
    }
}

/// Tells whether this is what follows the name of a JSON document in the title of its node: a
/// blank and a pointer.
fn is_end_of_title(rest: &str) -> bool {
    rest.strip_prefix(' ').is_some_and(|pointer| pointer.is_empty() || pointer.starts_with('/'))
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
    match titled(viewer, given).await {
        Some(located) => Some(located),
        None => json_document(viewer, given).await,
    }
}

/// Whatever carries the name itself is found by it.
async fn titled(viewer: &Viewer, given: &str) -> Option<Located> {
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
        json: None,
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
        json: None,
    }
}

fn unread(file: FileEntry) -> Option<(ReadOutcome, String)> {
    let reason = file.reason.unwrap_or_default();
    (file.outcome != ReadOutcome::Indexed).then_some((file.outcome, reason))
}

/// Finds a JSON document of the viewer's projects by its name.
async fn json_document(viewer: &Viewer, given: &str) -> Option<Located> {
    let service = viewer.app.contexts.clone()?;
    let (caller, given) = (viewer.caller.clone(), text::fold(given.trim()));
    let looked = tokio::task::spawn_blocking(move || {
        service.list_projects(&caller).ok()?.into_iter().find_map(|project| {
            let tables = service.list_tables(&caller, &project.id).ok()?;
            let table = tables.into_iter().find(|table| text::fold(&table.name) == given)?;
            let tools = service.list_tools(&caller, &project.id).unwrap_or_default();
            let searching = tools
                .into_iter()
                .filter(|tool| tool.table_id == table.id && tool.kind == contexts::ToolKind::Search)
                .map(|tool| (tool.id, tool.name));
            let json = JsonDocument { project_id: project.id, tools: searching.collect() };
            Some((table.name, json))
        })
    });
    let (title, json) = looked.await.ok().flatten()?;
    Some(Located {
        id: String::new(),
        source: "contexts".to_owned(),
        title,
        text: String::new(),
        path: None,
        of_base: None,
        unread: None,
        json: Some(json),
    })
}

/// Finds a file of the index by its path, or by its name in any folder.
async fn file(viewer: &Viewer, given: &str) -> Option<FileEntry> {
    let service = viewer.app.files.clone()?;
    let (caller, given) = (viewer.caller.clone(), given.trim().to_owned());
    let looked = tokio::task::spawn_blocking(move || {
        let name = name_of(&given).to_owned();
        let list = |folder: &str, after: Option<&str>| {
            service.list_files(&caller, folder, Some(&name), after, files::MAX_LISTED).ok()
        };
        match given.rsplit_once('/').filter(|_| given.starts_with('/')) {
            // Paths are in order: what is next after the path without its end is the path.
            Some((folder, _)) => {
                let end = given.char_indices().next_back().map_or(0, |(at, _)| at);
                let page = list(folder, Some(&given[..end]))?;
                page.files.into_iter().find(|file| file.path == given)
            }
            None => service.roots(&caller).iter().find_map(|folder| {
                let mut after: Option<String> = None;
                for _ in 0..MAX_PAGES {
                    let page = list(folder, after.as_deref())?;
                    if let Some(file) =
                        page.files.into_iter().find(|file| is_named(&file.path, &given))
                    {
                        return Some(file);
                    }
                    after = Some(page.next?);
                }
                None
            }),
        }
    });
    looked.await.ok().flatten()
}

/// Gives a few files of the index that have a part of a name in their paths.
pub(super) async fn alike(viewer: &Viewer, given: &str) -> Vec<String> {
    let Some(service) = viewer.app.files.clone() else { return Vec::new() };
    let (caller, word) = (viewer.caller.clone(), name_of(given.trim()).to_owned());
    let looked = tokio::task::spawn_blocking(move || {
        let mut alike = Vec::new();
        for folder in service.roots(&caller) {
            let page = service.list_files(&caller, &folder, Some(&word), None, PROPOSED);
            alike.extend(page.map(|page| page.files).unwrap_or_default());
        }
        alike.into_iter().take(PROPOSED).map(|file| file.path).collect()
    });
    looked.await.unwrap_or_default()
}

/// Finds a file of the index by its whole path.
pub(super) async fn file_at(viewer: &Viewer, path: &str) -> Option<FileEntry> {
    file(viewer, path).await.filter(|file| file.path == path)
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

    #[test]
    fn a_node_belongs_to_the_document_that_its_title_names() {
        let located = Located {
            id: String::new(),
            source: "contexts".to_owned(),
            title: "t200".to_owned(),
            text: String::new(),
            path: None,
            of_base: None,
            unread: None,
            json: Some(JsonDocument {
                project_id: contexts::ProjectId::new("p"),
                tools: Vec::new(),
            }),
        };
        let is = |source: &str, title: &str| {
            located.is_itself(&json!({ "id": "x", "source": source, "title": title }))
        };
        assert!(is("contexts", "t200 /chapters/4/text") && is("contexts", "t200 "));
        assert!(!is("contexts", "t2000 /a") && !is("contexts", "t200 b /a"));
        assert!(!is("files", "t200 /chapters/4/text"));
    }
}
