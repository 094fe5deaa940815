//! `/knowledge`: knowledge bases, their collections and documents, uploads, clearance, summaries,
//! and what a threshold lets through.

use axum::extract::Path;
use axum::response::Response;
use maud::{Markup, html};
use model::Clearance;
use serde_json::{Value, json};
use tools::ToolError;

use super::confirm::asks;
use super::jobs::short_time;
use super::layout::{Section, empty, error_page, form_token, page, part, problem, shown};
use super::lists;
use super::marked::{as_prose, marked};
use super::params::{Params, encoded};
use super::sharing::sharing_fields;
use super::stages::score_bar;
use super::time::counted;
use super::viewer::Viewer;
use super::walk::{SEARCH_DOCUMENTS, walk};

/// Documents of one page.
const SHOWN: usize = 50;

/// The threshold that a tool has unless it is given one.
const USUAL_THRESHOLD: f64 = 0.6;

/// What sharing by name does.
const SHARED_BASE: &str = "They read the base although it is private.";
const SHARED_COLLECTION: &str =
    "They see the collection from other departments; their clearance must reach it all the same.";

/// Candidates that the threshold is shown on.
const CANDIDATES: usize = 50;

/// Lists the knowledge bases.
pub(super) async fn list(viewer: Viewer, params: Params) -> Response {
    let (bases, counts) = tokio::join!(
        lists::page_of(&viewer, "/v1/knowledge-bases", &params),
        viewer.tool("list_knowledge_bases", json!({}))
    );
    // Without the tool the list has no counts.
    let counts = counts.map(|reply| reply.value).unwrap_or_default();
    let n_documents = |base: &Value| {
        let counted = array(&counts["knowledge_bases"]).iter().find(|it| it["id"] == base["id"]);
        counted.and_then(|counted| counted["total_documents"].as_u64())
    };
    let body = html! {
        h1 { "Knowledge" }
        @match &bases {
            Err(error) => (problem(error)),
            Ok(answer) => {
                (lists::begins_anew(answer))
                @let bases = array(&answer["knowledge_bases"]);
                @if bases.is_empty() {
                    (empty("There is no knowledge base that you may see.", &html! { @if viewer.may_change().is_ok() { p { "Make one below, then a collection in it, and drop files there." } } @else { p { "Bases appear here when their owners make them public or share them." } } }))
                }
                ul .cards { @for base in bases { li { a href=(viewer.href(&format!("/knowledge/{}", text(base, "id")))) {
                    strong { (text(base, "name")) @if let Some(count) = n_documents(base) { small { (counted(count, "document")) } } }
                    span { (text(base, "description")) }
                    span .note { "Of " (text(base, "owner")) "; read by " (readers(base)) } } } } }
                (lists::pager(&viewer, "/knowledge", &params, answer))
            },
        }
        @if bases.is_ok() && viewer.may_change().is_ok() {
        h2 { "New knowledge base" }
        form .fields method="post" action=(viewer.href("/do/create-base")) {
            (form_token(&viewer))
            (input("new-base", "name", "Name", "", true))
            (input("new-base", "description", "What it is about", "", false))
            (visibility_field("private"))
            (sharing_fields("new-base", &Value::Null, SHARED_BASE))
            button .primary type="submit" { "Create" }
        }
        }
    };
    page(&viewer, Section::Knowledge, "Knowledge", &body)
}

/// One knowledge base: its summary, its collections, and a search with a threshold.
pub(super) async fn base(viewer: Viewer, Path(id): Path<String>, params: Params) -> Response {
    let found = thresholds(&viewer, &id, &params).await;
    if params.get("part") == Some("results") {
        return part(&found);
    }
    let path = format!("/v1/knowledge-bases/{}", encoded(&id));
    let base = match viewer.get(&path).await {
        Ok(base) => base,
        Err(error) => return error_page(&viewer, &error),
    };
    let (summary_path, collections_path) =
        (format!("{path}/summary"), format!("{path}/collections"));
    let (summary, collections) = tokio::join!(
        viewer.get(&summary_path),
        lists::page_of(&viewer, &collections_path, &params)
    );
    let name = text(&base, "name").to_owned();
    let may_change = may_change(&viewer, &id).await;
    let body = html! {
        p .crumbs { a href=(viewer.href("/knowledge")) { "Knowledge" } " / " (name) }
        h1 { (name) }
        p { (text(&base, "description")) }
        section .card aria-labelledby="summary" {
            h2 #summary { "Summary" }
            @match &summary {
                Err(error) => (problem(error)),
                Ok(summary) => {
                    p { (without_marks(&shown(&summary["summary"]))) }
                    p .note { "Version " (shown(&summary["version"])) ", " (short_time(text(summary, "generated_at")))
                        ", made by " (shown(&summary["engine"])) ": "
                        (count(&summary["statistics"]["total_documents"], "document")) ", "
                        (count(&summary["statistics"]["total_chunks"], "passage")) }
                },
            }
        }
        h2 { "Collections" }
        @if let Ok(answer) = &collections { (lists::begins_anew(answer)) }
        (collection_list(&viewer, &collections, may_change))
        @if let Ok(answer) = &collections { (lists::pager(&viewer, &format!("/knowledge/{id}"), &params, answer)) }
        @if may_change { details { summary { "New collection" } (new_collection(&viewer, &id)) } }
        h2 { "Threshold" }
        p .note { "Move the slider to see what an agent would get with another threshold." }
        form .toolbar role="search" method="get" action=(viewer.href(&format!("/knowledge/{id}"))) data-live="#results" {
            div .field.grow { label for="q" { "Question" } input #q type="search" name="q" value=(params.text("q")) maxlength="2000"; }
            div .field { label for="threshold" { "Threshold " output #shown-threshold { (threshold(&params)) } }
                input #threshold type="range" name="threshold" min="0" max="1" step="0.05" value=(threshold(&params)) data-slider="#shown-threshold"; }
            button type="submit" { "Search" }
        }
        div #results { (found) }
        @if may_change {
        h2 { "Change" }
        form .fields method="post" action=(viewer.href("/do/update-base")) {
            (form_token(&viewer)) (hidden("id", &id)) (hidden("next", &format!("/knowledge/{id}")))
            (input("change", "name", "Name", &name, true)) (input("change", "description", "What it is about", text(&base, "description"), false))
            (visibility_field(text(&base, "visibility")))
            (sharing_fields("change", &base["shared_with"], SHARED_BASE))
            button type="submit" { "Save" }
        }
        form .apart method="post" action=(viewer.href("/do/delete-base")) data-confirm { (asks(&format!("Delete the knowledge base {name} with everything in it?")))
            (form_token(&viewer)) (hidden("id", &id)) button .danger type="submit" { "Delete this knowledge base" }
        }
        }
    };
    page(&viewer, Section::Knowledge, &name, &body)
}

/// Tells whether the person may change a knowledge base now.
pub(super) async fn may_change(viewer: &Viewer, base: &str) -> bool {
    let Some(service) = viewer.app.knowledge.clone() else { return false };
    let (caller, base) = (viewer.caller.clone(), base.to_owned());
    let may = tokio::task::spawn_blocking(move || {
        service.may_change(&caller, &knowledge::KnowledgeBaseId::new(&base))
    });
    viewer.may_change().is_ok() && may.await.unwrap_or_default()
}

fn threshold(params: &Params) -> f64 {
    params
        .get("threshold")
        .and_then(|text| text.parse().ok())
        .unwrap_or(USUAL_THRESHOLD)
        .clamp(0.0, 1.0)
}

/// What a search finds above and below the threshold.
async fn thresholds(viewer: &Viewer, id: &str, params: &Params) -> Markup {
    let typed = params.text("q");
    if typed.is_empty() {
        return html! {};
    }
    let query = typed.trim();
    let threshold = threshold(params);
    let arguments = json!({ "query": query, "knowledge_base_id": id, "threshold": 0, "max_results": CANDIDATES });
    let walked = match walk(viewer, &SEARCH_DOCUMENTS, arguments, CANDIDATES, |_| false).await {
        Ok(walked) => walked,
        Err(error) => return problem(&error),
    };
    let results = &walked.results;
    let score = |result: &Value| result["score"].as_f64().unwrap_or_default();
    let n_above = results.iter().filter(|result| score(result) >= threshold).count();
    html! {
        p .summary { (n_above) " of " (counted(results.len() as u64, "candidate")) " reach " (format!("{threshold:.2}")) "."
            @if !walked.is_whole { " These are the best; there are others below them." } }
        div .scroll tabindex="0" { table .stack {
            thead { tr { th scope="col" { "Passes" } th scope="col" { "Score" } th scope="col" { "Document" } th scope="col" { "Text" } } }
            tbody { @for result in results {
                @let passes = score(result) >= threshold;
                tr {
                    td { span class=(if passes { "badge ok" } else { "badge" }) { (if passes { "yes" } else { "no" }) } }
                    td { (score_bar(score(result))) }
                    td { (shown(&result["metadata"]["title"])) " " span .note { (shown(&result["metadata"]["pointer"])) } }
                    td .cell { (marked(&beginning(&as_prose(result["content"].as_str().unwrap_or_default())), query)) }
                }
            } }
        } }
        @for warning in &walked.warnings { p .warnings { (warning) } }
    }
}

fn beginning(text: &str) -> String {
    let mut shown: String = text.chars().take(240).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

/// A summary without the marks of the headings that it was made of, which are on one line there.
fn without_marks(summary: &str) -> String {
    let is_mark = |word: &str| word.len() <= 6 && word.bytes().all(|byte| byte == b'#');
    let words = summary.split_whitespace().map(|word| if is_mark(word) { "·" } else { word });
    words.collect::<Vec<_>>().join(" ").trim_start_matches("· ").to_owned()
}

fn collection_list(viewer: &Viewer, answer: &Result<Value, ToolError>, may_change: bool) -> Markup {
    let collections = match answer {
        Ok(answer) => array(&answer["collections"]),
        Err(error) => return problem(error),
    };
    if collections.is_empty() {
        return empty(
            "No collection that you may see.",
            &html! { p { "Documents live in collections" @if may_change { ": make the first one." } @else { ", each with its clearance and department." } } },
        );
    }
    html! {
        div .scroll tabindex="0" { table .stack {
            thead { tr { th scope="col" { "Collection" } th scope="col" { "Clearance" } th scope="col" { "Department" } th scope="col" .num { "Documents" } th scope="col" .num { "Passages" } th scope="col" { "Changed" } } }
            tbody { @for collection in collections { tr {
                td { a href=(viewer.href(&format!("/knowledge/collections/{}", text(collection, "id")))) { (text(collection, "name")) } }
                td { span .badge { (text(collection, "clearance")) } } td data-name="Department" { (shown(&collection["department"])) }
                td .num data-name="Documents" { (shown(&collection["total_documents"])) } td .num data-name="Passages" { (shown(&collection["total_chunks"])) }
                td .nowrap data-name="Changed" { (short_time(text(collection, "updated_at"))) }
            } } }
        } }
    }
}

fn new_collection(viewer: &Viewer, base: &str) -> Markup {
    html! {
        form .fields method="post" action=(viewer.href("/do/create-collection")) {
            (form_token(viewer)) (hidden("parent", base))
            (input("new-collection", "name", "Name", "", true)) (input("new-collection", "description", "What it is about", "", false))
            (input("new-collection", "department", "Department (all when empty)", "", false)) (clearance_field("internal"))
            (sharing_fields("new-collection", &Value::Null, SHARED_COLLECTION))
            button .primary type="submit" { "Create" }
        }
    }
}

/// One collection: its documents, and a place to drop more.
pub(super) async fn collection(viewer: Viewer, Path(id): Path<String>, params: Params) -> Response {
    let path = format!("/v1/collections/{}", encoded(&id));
    let collection = match viewer.get(&path).await {
        Ok(collection) => collection,
        Err(error) => return error_page(&viewer, &error),
    };
    let (documents_path, summaries_path) =
        (format!("{path}/documents?limit={SHOWN}"), format!("{path}/summaries"));
    let base_id = text(&collection, "knowledge_base_id");
    let base_path = format!("/v1/knowledge-bases/{}", encoded(base_id));
    let (documents, summaries, base_named) = tokio::join!(
        lists::page_of(&viewer, &documents_path, &params),
        viewer.get(&summaries_path),
        viewer.get(&base_path)
    );
    let base_name = base_named.as_ref().map_or("knowledge base", |base| text(base, "name"));
    let name = text(&collection, "name").to_owned();
    let here = format!("/knowledge/collections/{id}");
    let base = format!("/knowledge/{base_id}");
    let may_change = may_change(&viewer, text(&collection, "knowledge_base_id")).await;
    let body = html! {
        p .crumbs { a href=(viewer.href("/knowledge")) { "Knowledge" } " / " a href=(viewer.href(&base)) { (base_name) } " / " (name) }
        h1 { (name) }
        p .note data-refresh { "Clearance " strong { (text(&collection, "clearance")) } ", department " (shown(&collection["department"])) ", "
            (count(&collection["total_documents"], "document")) ", " (count(&collection["total_chunks"], "passage")) }
        @if may_change { (upload(&viewer, &id, &here)) }
        h2 { "Documents" }
        div data-refresh { (document_list(&viewer, &documents, &ParentPage { here: &here, may_change }, &params)) }
        h2 { "Summaries" }
        @match &summaries {
            Err(error) => (problem(error)),
            Ok(answer) if array(&answer["versions"]).is_empty() => p .note { "None yet: one is made after documents have come." },
            Ok(answer) => @for version in array(&answer["versions"]) {
                details { summary { "Version " (shown(&version["version"])) ", " (short_time(text(version, "generated_at"))) ", " (shown(&version["engine"])) } p { (without_marks(&shown(&version["text"]))) } }
            },
        }
        @if may_change {
        h2 { "Change" }
        form .fields method="post" action=(viewer.href("/do/update-collection")) {
            (form_token(&viewer)) (hidden("id", &id)) (hidden("next", &here))
            (input("change", "name", "Name", &name, true)) (input("change", "description", "What it is about", text(&collection, "description"), false))
            (input("change", "department", "Department (all when empty)", text(&collection, "department"), false))
            (clearance_field(text(&collection, "clearance")))
            (sharing_fields("change", &collection["shared_with"], SHARED_COLLECTION))
            button type="submit" { "Save" }
        }
        form .apart method="post" action=(viewer.href("/do/delete-collection")) data-confirm { (asks(&format!("Delete the collection {name} with its documents?")))
            (form_token(&viewer)) (hidden("id", &id)) (hidden("next", &base)) button .danger type="submit" { "Delete this collection" }
        }
        }
    };
    page(&viewer, Section::Knowledge, &name, &body)
}

/// Files dropped or chosen; text typed in, for those without a script.
fn upload(viewer: &Viewer, id: &str, here: &str) -> Markup {
    html! {
        h2 { "Add documents" }
        div .drop data-upload=(viewer.href(&format!("/upload/{}", encoded(id)))) data-token=(viewer.form_token()) {
            label for="files" { "Drop files here, or choose them" }
            div { input #files type="file" multiple; }
            ul data-uploads aria-live="polite" {}
            p .note { "pdf, docx, pptx, xlsx, odt, html, md, eml, epub, zip and others; each is indexed by a job." }
            noscript { p .note { "Uploading files needs a script; texts can be added below without one." } }
        }
        details { summary { "Add a text" }
            form .fields method="post" action=(viewer.href("/do/add-text")) {
                (form_token(viewer)) (hidden("parent", id)) (hidden("next", here))
                (input("new-text", "title", "Title", "", true))
                div .field { label for="text" { "Text" } textarea #text name="text" required {} }
                button type="submit" { "Add" }
            }
        }
    }
}

/// The page of something that holds other things.
pub(super) struct ParentPage<'a> {
    /// Its path below the base.
    pub(super) here: &'a str,
    /// Whether the person may change what is in it now.
    pub(super) may_change: bool,
}

fn document_list(
    viewer: &Viewer,
    answer: &Result<Value, ToolError>,
    place: &ParentPage<'_>,
    params: &Params,
) -> Markup {
    let here = place.here;
    let answer = match answer {
        Ok(answer) => answer,
        Err(error) => return problem(error),
    };
    let documents = array(&answer["documents"]);
    if documents.is_empty() {
        return empty(
            "No documents yet.",
            &html! { p { @if place.may_change { "Drop files above." } @else { "Those who may change the knowledge base add them." } } },
        );
    }
    html! {
        (lists::begins_anew(answer))
        div .scroll tabindex="0" { table .stack {
            thead { tr { th scope="col" { "Document" } th scope="col" { "State" } th scope="col" .num { "Passages" } th scope="col" { "Changed" } th scope="col" { "Problem" } th scope="col" { span .visually-hidden { "Actions" } } } }
            tbody { @for document in documents {
                @let id = text(document, "id");
                tr data-file=(document["file_name"].as_str().unwrap_or(text(document, "title"))) {
                    td .path { a href=(viewer.href(&format!("/knowledge/documents/{id}"))) { (text(document, "title")) }
                        @if let Some(file) = document["file_name"].as_str().filter(|file| *file != text(document, "title")) { br; span .note { (file) } } }
                    td { span class=(format!("badge {}", text(document, "status"))) { (text(document, "status")) } }
                    td .num data-name="Passages" { (shown(&document["chunk_count"])) }
                    td .nowrap data-name="Changed" { (short_time(text(document, "updated_at"))) }
                    td .cell { @if !document["error"].is_null() { (shown(&document["error"])) } }
                    td { @if place.may_change { form method="post" action=(viewer.href("/do/delete-document")) data-confirm { (asks(&format!("Delete {}?", text(document, "title"))))
                        (form_token(viewer)) (hidden("id", id)) (hidden("next", here)) button .small.danger type="submit" { "Delete" } } } }
                }
            } }
        } }
        (lists::pager(viewer, here, params, answer))
    }
}

/// Who reads a knowledge base, in words.
fn readers(base: &Value) -> String {
    let n_named = |name: &str| array(&base["shared_with"][name]).len();
    match (text(base, "visibility"), n_named("users") + n_named("groups")) {
        ("public", _) => "everyone of the tenant".to_owned(),
        (_, 0) => "its owner and administrators".to_owned(),
        (_, 1) => "its owner, administrators and one more by name".to_owned(),
        (_, n_named) => format!("its owner, administrators and {n_named} more by name"),
    }
}

/// A count of an answer with its noun.
fn count(value: &Value, noun: &str) -> String {
    counted(value.as_u64().unwrap_or_default(), noun)
}

/// Options for how far readers must be trusted.
fn clearance_field(chosen: &str) -> Markup {
    html! { div .field { label for="clearance" { "Clearance of readers" }
    select #clearance name="clearance" { @for level in Clearance::ALL { option value=(level) selected[level.as_str() == chosen] { (level) } } } } }
}

fn visibility_field(chosen: &str) -> Markup {
    html! { div .field { label for="visibility" { "Who may read it" }
    select #visibility name="visibility" { @for (value, label) in [("private", "Its owner and administrators"), ("public", "Everyone of the tenant")] {
        option value=(value) selected[value == chosen] { (label) } } } } }
}

/// A labelled line of text; `form` tells its id from those of other forms of the page.
pub(super) fn input(form: &str, name: &str, label: &str, value: &str, is_required: bool) -> Markup {
    let id = format!("{form}-{name}");
    html! { div .field { label for=(id) { (label) } input id=(id) name=(name) value=(value) required[is_required]; } }
}

pub(super) fn hidden(name: &str, value: &str) -> Markup {
    html! { input type="hidden" name=(name) value=(value); }
}

/// A member of an object as text.
pub(super) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

/// A list, or an empty one.
pub(super) fn array(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}
