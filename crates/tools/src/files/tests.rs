//! The descriptions and errors of this family, over a real folder.

use std::sync::Arc;

use model::Caller;
use serde_json::json;

use super::{
    IndexFolder, ListFiles, ListRoots, OpenFile, RewriteQuery, SearchFiles, SummarizeResults,
};
use crate::contract::{Away, Fixture, assert_holds_none_of, page};
use crate::{Call, Tool};

#[track_caller]
fn answer(tool: &dyn Tool, arguments: &serde_json::Value) -> serde_json::Value {
    let caller = Caller::local_admin();
    let spec = tool.spec(&caller).unwrap();
    let accepted = crate::accept(&spec, arguments.as_object().unwrap().clone()).unwrap();
    let call = Call {
        caller: &caller,
        arguments: &accepted.arguments,
        deadline: &model::Deadline::after(std::time::Duration::from_secs(60)),
        budget: text::Budget { chars: 100_000, tokens: 25_000 },
        progress: &|_| {},
    };
    tool.call(&call).unwrap().value
}

#[test]
fn list_roots_schema_and_errors() {
    let fixture = Fixture::new();
    let wrong = [json!({ "root": "/srv" })];
    let tool = ListRoots::new(fixture.files.clone());
    insta::assert_snapshot!(page(&tool, &Caller::local_admin(), &wrong));
}

#[test]
fn list_files_schema_and_errors() {
    let fixture = Fixture::new();
    let wrong = [
        json!({ "path": 5 }),
        json!({ "path": "cellar" }),
        json!({ "path": fixture.path("elsewhere") }),
        json!({ "path": fixture.path("shelf/absent") }),
        json!({ "path": fixture.path("shelf/notes.txt") }),
        json!({ "limit": 0 }),
        json!({ "limit": 1_000 }),
        json!({ "folder": fixture.path("shelf") }),
    ];
    let tool = ListFiles::new(fixture.files.clone());
    insta::assert_snapshot!(fixture.settled(&page(&tool, &Caller::local_admin(), &wrong)));
}

#[test]
fn index_folder_schema_and_errors() {
    let fixture = Fixture::new();
    let root = fixture.path("shelf");
    let tool = IndexFolder::new(fixture.files.clone());
    // Nobody works, so this one waits, and the same folder cannot be rebuilt meanwhile.
    assert_eq!(answer(&tool, &json!({ "root": root }))["status"], "running");
    let wrong = [
        json!({}),
        json!({ "root": 5 }),
        json!({ "root": root, "full": "yes" }),
        json!({ "root": root, "priority": "hihg" }),
        json!({ "root": root, "priority": 1 }),
        json!({ "folder": root }),
        json!({ "root": "" }),
        json!({ "root": "cellar" }),
        json!({ "root": fixture.path("shelf/notes.txt") }),
        json!({ "root": fixture.path("shelf/absent") }),
        json!({ "root": fixture.path("elsewhere") }),
        json!({ "root": fixture.path("shelf/../elsewhere") }),
        json!({ "root": root, "full": true }),
    ];
    insta::assert_snapshot!(fixture.settled(&page(&tool, &Caller::local_admin(), &wrong)));
}

#[test]
fn search_files_schema_and_errors() {
    let fixture = Fixture::new();
    let wrong = [
        json!({}),
        json!({ "query": 5 }),
        json!({ "query": "" }),
        json!({ "query": "x".repeat(2_001) }),
        json!({ "query": "x", "k": 0 }),
        json!({ "query": "x", "k": 101 }),
        json!({ "query": "x", "k": "10" }),
        json!({ "query": "x", "offset": -1 }),
        json!({ "query": "x", "offset": 10_001 }),
        json!({ "query": "x", "exts": ".pdf" }),
        json!({ "query": "x", "exts": [5] }),
        json!({ "query": "x", "years": [2021] }),
        json!({ "query": "x", "roots": "/srv" }),
        json!({ "query": "x", "explain": "yes" }),
        json!({ "query": "x", "ext": [".pdf"] }),
        json!({ "query": "x", "roots": [fixture.path("elsewhere")] }),
        json!({ "query": "x", "roots": [fixture.path("shelf/absent")] }),
        json!({ "query": "x", "roots": [fixture.path("shelf/notes.txt")] }),
        json!({ "query": "x", "roots": ["cellar"] }),
    ];
    let tool = SearchFiles::new(fixture.files.clone());
    insta::assert_snapshot!(fixture.settled(&page(&tool, &Caller::local_admin(), &wrong)));
}

#[test]
fn open_file_schema_and_errors() {
    let mut fixture = Fixture::new();
    fixture.files.index_all().unwrap();
    fixture.work();
    let notes = fixture.path("shelf/notes.txt");
    let wrong = [
        json!({}),
        json!({ "path": ["a"] }),
        json!({ "path": notes, "pointer": 3 }),
        json!({ "path": notes, "before": -1 }),
        json!({ "path": notes, "after": "200" }),
        json!({ "path": notes, "after": 1_000_001 }),
        json!({ "path": notes, "pointr": "line 1" }),
        json!({ "path": "missing.txt" }),
        json!({ "path": fixture.path("shelf/absent.txt") }),
        json!({ "path": fixture.path("shelf") }),
        json!({ "path": fixture.path("elsewhere/secret.txt") }),
        json!({ "path": fixture.path("elsewhere/absent.txt") }),
        json!({ "path": notes, "pointer": "third page" }),
        json!({ "path": notes, "pointer": "page 3" }),
    ];
    let tool = OpenFile::new(fixture.files.clone());
    insta::assert_snapshot!(fixture.settled(&page(&tool, &Caller::local_admin(), &wrong)));
    assert_holds_none_of(&tool, &Caller::local_admin(), &["lighthouse"]);
    // The contract lets the server cut what is asked for around a place.
    let wide = answer(&tool, &json!({ "path": notes, "before": 5_000, "after": 200.0 }));
    assert!(wide["preview"].as_str().unwrap().contains("lighthouse"), "{wide}");
}

/// A path with a letter in another case, or without its folder, cost a search to put right.
#[test]
fn a_file_of_that_name_elsewhere_is_named() {
    let mut fixture = Fixture::new();
    fixture.files.index_all().unwrap();
    fixture.work();
    let notes = fixture.path("shelf/notes.txt");
    let tool = OpenFile::new(fixture.files.clone());
    for path in ["shelf/Notes.TXT", "shelf/deep/notes.txt"] {
        let arguments = json!({ "path": fixture.path(path) });
        let told = refusal(&tool, &arguments).to_json(crate::ErrorShape::Coded);
        assert_eq!(told["error"]["details"]["did_you_mean"], json!(notes), "{told}");
    }
}

/// Calls a tool as the local administrator; it must refuse.
fn refusal(tool: &OpenFile, arguments: &serde_json::Value) -> crate::ToolError {
    let call = Call {
        caller: &Caller::local_admin(),
        arguments: arguments.as_object().unwrap(),
        deadline: &model::Deadline::after(std::time::Duration::from_secs(60)),
        budget: text::Budget { chars: 100_000, tokens: 25_000 },
        progress: &|_| {},
    };
    tool.call(&call).map(|_| ()).unwrap_err()
}

/// The name of a file, or a place behind its path, was refused though it can mean one thing alone.
#[test]
fn a_path_that_can_mean_one_place_alone_is_opened() {
    let mut fixture = Fixture::new();
    let leaf = write_file(&fixture, "shelf/deep/leaf.txt");
    write_file(&fixture, "shelf/one/page.txt");
    let second = write_file(&fixture, "shelf/two/page.txt");
    fixture.files.index_all().unwrap();
    fixture.work();
    let tool = OpenFile::new(fixture.files.clone());
    for path in [leaf.clone(), "leaf.txt".to_owned()] {
        for place in ["", ":1", "#L1", "#line=1", ":1:4", "#L1-L2"] {
            let opened = answer(&tool, &json!({ "path": format!("{path}{place}") }));
            assert_eq!((&opened["path"], &opened["pointer"]), (&json!(leaf), &json!("line 1")));
        }
    }
    // What two files could mean is refused.
    let arguments = json!({ "path": "page.txt" });
    let told = refusal(&tool, &arguments).message;
    assert!(told.contains("no root has it"), "{told}");
    let opened = answer(&tool, &json!({ "path": "two/page.txt:1" }));
    assert_eq!(opened["path"], json!(second), "{opened}");
}

fn write_file(fixture: &Fixture, inner: &str) -> String {
    let path = fixture.path(inner);
    fs_err::create_dir_all(std::path::Path::new(&path).parent().unwrap()).unwrap();
    fs_err::write(&path, format!("What {inner} says.")).unwrap();
    path
}

#[test]
fn a_file_without_text_in_the_index_says_so() {
    let fixture = Fixture::new();
    let tool = OpenFile::new(fixture.files.clone());
    let empty = answer(&tool, &json!({ "path": fixture.path("shelf/notes.txt") }));
    assert_eq!(empty["preview"], "");
    assert!(empty["warnings"][0].as_str().unwrap().contains("indexFolder"), "{empty}");
}

#[test]
fn summarize_results_schema_and_errors() {
    let fixture = Fixture::with_model(Some(Arc::new(Away)));
    let result = json!({ "path": "/a", "snippet": "Vendor X agrees." });
    let many = vec![result.clone(); 51];
    let wrong = [
        json!({}),
        json!({ "query": "x" }),
        json!({ "query": 5, "results": [result] }),
        json!({ "query": "x", "results": result }),
        json!({ "query": "x", "results": [] }),
        json!({ "query": "x", "results": many }),
        json!({ "query": "x", "results": [{ "path": "/a" }] }),
        json!({ "query": "x", "results": [{ "path": "/a", "snippet": "x".repeat(4_001) }] }),
        json!({ "query": "x", "results": ["/a"] }),
        json!({ "query": "x", "results": [result], "style": "bulets" }),
        json!({ "query": "x", "results": [result], "style": "poem" }),
        json!({ "query": "x", "results": [result], "max_tokens": 15 }),
        json!({ "query": "x", "results": [result], "max_tokens": 4_001 }),
        json!({ "query": "x", "results": [result], "max_token": 100 }),
        json!({ "query": "x", "results": [result] }),
    ];
    let tool = SummarizeResults::new(fixture.files.clone());
    insta::assert_snapshot!(page(&tool, &Caller::local_admin(), &wrong));
}

#[test]
fn rewrite_query_schema_and_errors() {
    let fixture = Fixture::with_model(Some(Arc::new(Away)));
    let wrong = [
        json!({}),
        json!({ "query": null }),
        json!({ "query": "" }),
        json!({ "query": "x".repeat(2_001) }),
        json!({ "qeury": "x" }),
        json!({ "query": "contracts from 2021 in docx" }),
    ];
    let tool = RewriteQuery::new(fixture.files.clone());
    insta::assert_snapshot!(page(&tool, &Caller::local_admin(), &wrong));
}

/// A relative name of one thing in one root is taken where an absolute path is.
#[test]
fn one_thing_may_be_named_without_its_folder() {
    let fixture = Fixture::new();
    let open = OpenFile::new(fixture.files.clone());
    let absolute = answer(&open, &json!({ "path": fixture.path("shelf/notes.txt") }));
    for path in ["notes.txt", "shelf/notes.txt"] {
        let opened = answer(&open, &json!({ "path": path }));
        assert_eq!(opened["preview"], absolute["preview"], "{path}");
        assert!(opened["path"].as_str().unwrap().ends_with("/shelf/notes.txt"), "{opened}");
    }
}
