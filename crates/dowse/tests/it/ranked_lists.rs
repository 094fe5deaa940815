//! Ranked lists are whole too: a walk through what was found gives everything once, whatever
//! comes meanwhile, with a cursor that stays short; where it ends before all was ranked it says
//! so; and what `fetch` reads of a table goes on to its last row.

use serde_json::{Value, json};
use testkit::Mcp;

use crate::library::Library;
use crate::lists::{CHARS, NEXT, TOKENS, assert_once, field, plain, walk};
use crate::test_server::TestServer;

/// Files of a walk that is longer than a cursor can name.
const N_FILES: usize = 260;

/// The longest cursor, in characters.
const MAX_CURSOR_CHARS: usize = 1_100;

fn start() -> Library {
    let folder = testkit::Folder::new();
    let rows: Vec<String> =
        (0..173).map(|n| format!("row-{n:04},{}", "z".repeat(n % 70))).collect();
    folder.write("ferries.csv", format!("name,text\n{}\n", rows.join("\n")));
    let colours =
        ["red", "green", "blue", "white", "black", "yellow", "brown", "grey", "pink", "teal"];
    for n in 0..N_FILES {
        let (one, two, three) = (colours[n % 10], colours[n / 10 % 10], colours[n / 100]);
        let text =
            format!("the windmill {one} {two} {three} mill {n} grinds {}\n", "corn ".repeat(n % 9));
        folder.write(format!("docs/mill-{n:03}.txt"), text);
    }
    let config = format!(
        "[embedder]\nprovider = \"none\"\n\
         [limits]\nresult_chars = {CHARS}\nresult_tokens = {TOKENS}\n\
         rate_per_minute = {{ default = 1000000, searchFiles = 1000000, openFile = 1000000, \
         rest = 1000000 }}\n\
         [files]\nroots = [\"docs\"]\nwatch = false\n\
         [[tables]]\nname = \"ferries\"\nsource = \"ferries.csv\"\n\
         [tables.fields]\nname = {{ type = \"string\" }}\ntext = {{ type = \"string\" }}\n"
    );
    let server = Library(TestServer::start_in(folder, &config));
    let root = server.0.folder.join("docs");
    let indexed = server.mcp(None).call("indexFolder", &json!({ "root": root })).success();
    assert_eq!(indexed["status"], "done", "{indexed}");
    server
}

/// Adds a file that is better than most, and indexes it.
fn add(server: &Library, mcp: &Mcp, name: &str) {
    let root = server.0.folder.join("docs");
    fs_err::write(root.join(format!("{name}.txt")), format!("windmill windmill {name}")).unwrap();
    let done = mcp.call("indexFolder", &json!({ "root": root })).success();
    assert_eq!(done["status"], "done", "{done}");
}

/// A cursor named every file that was given: 6,700 characters for a thousand of them.
#[test]
fn a_walk_through_files_is_whole_and_its_cursor_short() {
    let server = start();
    let mcp = server.mcp(None);
    let root = fs_err::canonicalize(server.0.folder.join("docs")).unwrap();
    let path = |n: usize| root.join(format!("mill-{n:03}.txt")).to_string_lossy().into_owned();
    let expected: Vec<String> = (0..N_FILES).map(path).collect();
    let paths = field("items", "/path");
    for k in [9, 100] {
        let (mut n_pages, mut longest) = (0, 0);
        let mut is_said = false;
        let items = |page: &Value| {
            longest = longest.max(page["pagination"]["next"].as_str().map_or(0, str::len));
            is_said |= page["warnings"].to_string().contains("fixed order");
            paths(page)
        };
        let items = std::cell::RefCell::new(items);
        let mut between = || {
            n_pages += 1;
            if n_pages % 7 == 2 {
                add(&server, &mcp, &format!("later-{k}-{n_pages}"));
            }
        };
        let arguments = json!({ "query": "windmill", "k": k });
        let next = ("/pagination/next", "offset");
        let of_page = |page: &Value| (items.borrow_mut())(page);
        let seen = walk(&mcp, "searchFiles", &arguments, next, &of_page, &mut between);
        assert_once(&seen, &expected, &format!("k {k}"));
        assert!(longest > 0 && longest <= MAX_CURSOR_CHARS, "{longest}");
        assert!(is_said);
    }
}

#[test]
fn a_walk_through_everything_is_whole() {
    let server = start();
    let mcp = server.mcp(None);
    // As many as are given, in pages of every size.
    let titles = field("results", "/title");
    let query = "\"windmill red\"";
    let expected: Vec<String> =
        (0..N_FILES).filter(|n| n % 10 == 0).map(|n| format!("mill-{n:03}.txt")).collect();
    for limit in [1, 7, 50] {
        let mut n_pages = 0;
        let mut between = || {
            n_pages += 1;
            if n_pages == 2 {
                add(&server, &mcp, &format!("windmill red {limit}"));
            }
        };
        let arguments = json!({ "query": query, "limit": limit });
        let seen = walk(&mcp, "search", &arguments, NEXT, &titles, &mut between);
        assert_once(&seen, &expected, &format!("limit {limit}"));
    }
    // More than a cursor can name.
    let everything: Vec<String> = (0..N_FILES).map(|n| format!("mill-{n:03}.txt")).collect();
    let arguments = json!({ "query": "windmill", "limit": 50 });
    let seen = walk(&mcp, "search", &arguments, NEXT, &titles, &mut || {});
    assert_once(&seen, &everything, "everything");
    let error = mcp.call("search", &json!({ "query": "windmill", "cursor": "10" })).error();
    assert!(error.to_string().contains("is not a cursor"), "{error}");
}

/// The answer ended at `max_results`, however many chunks there were.
#[test]
fn a_walk_through_chunks_is_whole_while_documents_come() {
    let server = start();
    let mcp = server.mcp(None);
    let (base, collection) = server.base(None, &json!({ "name": "Harbours" }));
    let text = |n: usize| format!("harbour {n} is open {}", "word ".repeat(n));
    let documents: Vec<Value> =
        (0..67).map(|n| json!({ "title": format!("title {n}"), "text": text(n) })).collect();
    let path = format!("/v1/collections/{collection}/documents");
    let added = server.post(None, &path, &json!({ "documents": documents })).json();
    server.wait(None, added["job"]["id"].as_str().unwrap());
    let ids: Vec<String> = added["ids"].as_array().unwrap().iter().map(plain).collect();
    let of_page = field("results", "/metadata/document_id");
    for max_results in [1, 7, 50] {
        let mut n_pages = 0;
        let mut between = || {
            n_pages += 1;
            if n_pages % 3 == 1 && n_pages < 9 {
                let text = format!("harbour that was built later, in {max_results} and {n_pages}");
                server.add(None, &collection, &json!({ "title": "later", "text": text }));
            }
        };
        let arguments = json!({
            "query": "harbour", "knowledge_base_id": base, "threshold": 0.0,
            "max_results": max_results,
        });
        let seen = walk(&mcp, "search_documents", &arguments, NEXT, &of_page, &mut between);
        assert_once(&seen, &ids, &format!("chunks {max_results}"));
    }
}

/// `fetch` gave the first fifty rows of a table, and no way to the others.
#[test]
fn rows_of_a_table_are_fetched_to_the_last() {
    let server = start();
    let mcp = server.mcp(None);
    let found = mcp.call("search", &json!({ "query": "ferries" })).success();
    let table = found["results"].as_array().unwrap().iter().find(|one| one["source"] == "tables");
    let id = plain(&table.unwrap()["id"]);
    let expected: Vec<String> = (0..173).map(|n| format!("row-{n:04}")).collect();
    let rows = |page: &Value| -> Vec<String> {
        let text = plain(&page["text"]);
        text.match_indices("row-").map(|(at, _)| text[at..at + 8].to_owned()).collect()
    };
    let next = ("/next", "offset");
    let seen = walk(&mcp, "fetch", &json!({ "id": id }), next, &rows, &mut || {});
    assert_eq!(seen, expected);
    let last = mcp.call("fetch", &json!({ "id": id, "offset": 170 })).success();
    assert_eq!(rows(&last).len(), 3);
    assert!(last["prev"].is_string() && last.get("next").is_none(), "{last}");
}
