//! Deleting a source erases it everywhere: after the deletion no file under the data folder holds
//! a word of it, byte by byte.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rustix::process::Signal;
use serde_json::{Value, json};
use testkit::{Folder, Request};

use crate::library::{Library, id_of};
use crate::test_server::TestServer;

/// A word of what is deleted. No language makes another form of it, and nobody asks for it: the
/// record of calls may hold what callers said.
const WORD: &str = "qzxuvorak";

/// A word of what stays.
const OTHER: &str = "wjkubelin";

const CONFIG: &str = "[embedder]\nprovider = \"none\"\n[contexts]\nchunk_threshold_chars = 200\n";

/// Gives the files under the data folder that hold a word, apart from the record of calls, which
/// has what callers said.
fn holding(test_server: &TestServer, word: &str) -> Vec<PathBuf> {
    let mut files = files_under(&test_server.folder.join("data"));
    files.retain(|path| {
        let bytes = fs_err::read(path).unwrap_or_default();
        let is_audit = path.components().any(|part| part.as_os_str() == "audit");
        let mut windows = bytes.windows(word.len());
        !is_audit && windows.any(|window| window.eq_ignore_ascii_case(word.as_bytes()))
    });
    files
}

/// Gives the segments of the full-text indexes. A segment is written once and never changed, and
/// packs its words so that their bytes do not show: what was erased is gone when the segment is.
fn segments(test_server: &TestServer) -> BTreeSet<PathBuf> {
    let files = files_under(&test_server.folder.join("data/store"));
    let is_segment = |path: &PathBuf| path.extension().is_some_and(|kind| kind == "term");
    files.into_iter().filter(is_segment).collect()
}

/// The same once no job writes any more: a segment that came late would be taken for that of what
/// came next.
fn segments_at_rest(test_server: &TestServer) -> BTreeSet<PathBuf> {
    let seen = std::cell::RefCell::new(BTreeSet::new());
    test_server.wait_until(|| {
        let jobs = test_server.http().get("/v1/jobs").json();
        let is_busy = |job: &Value| job["status"] == "queued" || job["status"] == "running";
        let before = seen.replace(segments(test_server));
        jobs["jobs"].as_array().is_some_and(|jobs| !jobs.iter().any(is_busy))
            && before == *seen.borrow()
    });
    seen.into_inner()
}

fn files_under(folder: &Path) -> Vec<PathBuf> {
    // Files come and go while the server works.
    let Ok(entries) = fs_err::read_dir(folder) else { return Vec::new() };
    let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    paths.flat_map(|path| if path.is_dir() { files_under(&path) } else { vec![path] }).collect()
}

/// Does something that writes to an index, and gives the segments that came with it.
#[track_caller]
fn new_segments(test_server: &TestServer, act: impl FnOnce()) -> BTreeSet<PathBuf> {
    let before = segments(test_server);
    act();
    let new: BTreeSet<PathBuf> = segments(test_server).difference(&before).cloned().collect();
    assert!(!new.is_empty());
    new
}

/// Holds that a word is in the catalogue, so that its absence means something.
#[track_caller]
fn assert_held(test_server: &TestServer, word: &str) {
    let held = holding(test_server, word);
    let is_catalogue = |path: &PathBuf| path.to_string_lossy().contains("catalogue");
    assert!(held.iter().any(is_catalogue), "{held:?}");
}

#[track_caller]
fn assert_no_segments(test_server: &TestServer, erased: &BTreeSet<PathBuf>) {
    let left: Vec<PathBuf> = segments(test_server).intersection(erased).cloned().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[track_caller]
fn assert_gone(test_server: &TestServer, word: &str) {
    let held = holding(test_server, word);
    assert!(held.is_empty(), "{held:?}");
}

/// A text with a word, long enough to be cut into chunks and to need pages of its own.
fn text(word: &str) -> String {
    format!("The word {word} stands in this sentence of many. ").repeat(120)
}

fn library() -> Library {
    Library(TestServer::start(CONFIG))
}

/// Deletes over REST and waits for the job, where there is one.
#[track_caller]
fn delete(library: &Library, path: &str) {
    let answer = library.send(None, Request::new("DELETE", path));
    assert!([200, 202].contains(&answer.status), "{}", answer.text());
    let answer = answer.json();
    if let Some(job) = answer["job"]["id"].as_str() {
        library.wait(None, job);
    }
}

/// Waits until nothing is left to do.
fn settle(library: &Library) {
    library.0.wait_until(|| {
        let jobs = library.get(None, "/v1/jobs").json();
        let busy = |job: &Value| ["queued", "running"].contains(&job["status"].as_str().unwrap());
        jobs["jobs"].as_array().is_some_and(|jobs| !jobs.iter().any(busy))
    });
}

#[test]
fn a_document_leaves_nothing_and_its_neighbour_stays() {
    let library = library();
    let (base, collection) = library.base(None, &json!({ "name": "Rules" }));
    let add =
        |word: &str| library.add(None, &collection, &json!({ "title": word, "text": text(word) }));
    add(OTHER);
    settle(&library);
    let mut gone = String::new();
    let erased = new_segments(&library.0, || gone = add(WORD));
    // The summary repeats sentences of both.
    settle(&library);
    let summary = library
        .mcp(None)
        .call("get_knowledge_base_summary", &json!({ "knowledge_base_id": base }))
        .success();
    assert!(summary["summary"].to_string().contains(WORD), "{summary}");
    assert_held(&library.0, WORD);
    delete(&library, &format!("/v1/documents/{gone}"));
    assert_gone(&library.0, WORD);
    assert_no_segments(&library.0, &erased);
    settle(&library);
    assert_gone(&library.0, WORD);
    assert_held(&library.0, OTHER);
    let arguments = json!({ "query": OTHER, "knowledge_base_id": base, "threshold": 0.0 });
    let found = library.mcp(None).call("search_documents", &arguments).success();
    assert!(found["count"].as_u64().unwrap() > 0, "{found}");
}

#[test]
fn a_collection_and_a_knowledge_base_leave_nothing() {
    let library = library();
    let (base, collection) = library.base(None, &json!({ "name": "Rules" }));
    let path = format!("/v1/knowledge-bases/{base}/collections");
    let second = id_of(&library.post(None, &path, &json!({ "name": OTHER })).json());
    let erased = new_segments(&library.0, || {
        library.add(None, &collection, &json!({ "title": WORD, "text": text(WORD) }));
    });
    library.add(None, &second, &json!({ "title": OTHER, "text": text(OTHER) }));
    settle(&library);
    assert_held(&library.0, WORD);
    delete(&library, &format!("/v1/collections/{collection}"));
    assert_gone(&library.0, WORD);
    assert_no_segments(&library.0, &erased);
    assert_held(&library.0, OTHER);
    delete(&library, &format!("/v1/knowledge-bases/{base}"));
    settle(&library);
    assert_gone(&library.0, OTHER);
    assert!(segments(&library.0).is_empty());
}

/// A project with one table of two long strings, and a search tool over the first of them.
struct Made {
    project: String,
    table: String,
    tool: String,
    /// What the tool's index is made of.
    segments: BTreeSet<PathBuf>,
}

/// Makes a project whose second string has a tool already when the first gets its own.
fn project(library: &Library) -> Made {
    let made = |path: &str, body: &Value| {
        let made = library.post(None, path, body);
        assert_eq!(made.status, 201, "{}", made.text());
        made.json()
    };
    let project = id_of(&made("/v1/projects", &json!({ "name": "Docs" })));
    let data = json!({ "one": text(WORD), "two": text(OTHER) });
    let body = json!({ "name": "manual", "data": data });
    let table = id_of(&made(&format!("/v1/projects/{project}/tables"), &body));
    let tool_over = |part: &str| {
        let path = format!("/{part}");
        let body = json!({ "type": "search", "table_id": table, "json_path": path, "name": part });
        let tool = made("/v1/tools", &body);
        library.wait(None, tool["job"]["id"].as_str().unwrap());
        id_of(&tool)
    };
    tool_over("two");
    let mut tool = String::new();
    let segments = new_segments(&library.0, || tool = tool_over("one"));
    Made { project, table, tool, segments }
}

#[test]
fn a_tool_a_table_and_a_project_leave_nothing() {
    let library = library();
    let made = project(&library);
    assert_held(&library.0, WORD);
    // The document itself stays with its table; the index of the tool goes.
    delete(&library, &format!("/v1/tools/{}", made.tool));
    settle(&library);
    assert_no_segments(&library.0, &made.segments);
    assert_held(&library.0, OTHER);
    delete(&library, &format!("/v1/tables/{}", made.table));
    assert_gone(&library.0, WORD);
    assert_gone(&library.0, OTHER);
    assert!(segments(&library.0).is_empty());

    delete(&library, &format!("/v1/projects/{}", made.project));
    let made = project(&library);
    assert_held(&library.0, WORD);
    delete(&library, &format!("/v1/projects/{}", made.project));
    assert_gone(&library.0, WORD);
    assert_gone(&library.0, OTHER);
}

#[test]
fn a_root_leaves_nothing_also_when_it_is_the_last() {
    let shelves = Folder::new();
    let gone = shelves.write(format!("gone/{WORD}.txt"), text(WORD));
    shelves.write("kept/other.txt", text(OTHER));
    let roots = |names: &[&str]| {
        let roots: Vec<String> =
            names.iter().map(|name| format!("\"{}\"", shelves.join(name).display())).collect();
        format!("{CONFIG}[files]\nroots = [{}]\n", roots.join(", "))
    };
    let test_server = TestServer::start(&roots(&["kept"]));
    let change = |config: &str| {
        test_server.rewrite(config);
        test_server.server.signal(Signal::HUP);
    };
    test_server.wait_until(|| {
        !holding(&test_server, OTHER).is_empty() && !segments(&test_server).is_empty()
    });
    let before = segments_at_rest(&test_server);
    change(&roots(&["kept", "gone"]));
    test_server
        .wait_until(|| !holding(&test_server, WORD).is_empty() && segments(&test_server) != before);
    let erased: BTreeSet<PathBuf> =
        segments_at_rest(&test_server).difference(&before).cloned().collect();
    change(&roots(&["kept"]));
    test_server.wait_until(|| holding(&test_server, WORD).is_empty());
    test_server.wait_until(|| segments(&test_server).is_disjoint(&erased));
    assert!(gone.exists(), "the folder itself is nobody's to touch");
    assert_held(&test_server, OTHER);
    change(CONFIG);
    test_server.wait_until(|| holding(&test_server, OTHER).is_empty());
    test_server.assert_alive();
    assert_gone(&test_server, WORD);
    assert!(segments(&test_server).is_empty());
}

#[test]
fn a_file_that_is_deleted_leaves_the_kept_answers_and_its_neighbour_stays() {
    let shelves = Folder::new();
    let gone = shelves.write("shelf/gone.txt", text(WORD));
    let kept = shelves.write("shelf/kept.txt", text(OTHER));
    let root = shelves.join("shelf");
    let test_server =
        TestServer::start(&format!("{CONFIG}[files]\nroots = [\"{}\"]\n", root.display()));
    let answered = |word: &str| {
        let held = holding(&test_server, word);
        held.iter().any(|path| path.to_string_lossy().contains("answers-"))
    };
    test_server.wait_until(|| {
        !holding(&test_server, WORD).is_empty() && !holding(&test_server, OTHER).is_empty()
    });
    for path in [&gone, &kept] {
        let path = path.display().to_string();
        test_server.mcp().call("openFile", &json!({ "path": path })).success();
    }
    assert!(answered(WORD) && answered(OTHER));
    fs_err::remove_file(&gone).unwrap();
    test_server.wait_until(|| !answered(WORD));
    assert!(answered(OTHER), "what cannot hold it stays");
    test_server.assert_alive();
}

#[test]
fn a_root_that_leaves_while_the_server_is_down_leaves_nothing_at_the_next_start() {
    let shelves = Folder::new();
    shelves.write("gone/notes.txt", text(WORD));
    let root = shelves.join("gone");
    let test_server =
        TestServer::start(&format!("{CONFIG}[files]\nroots = [\"{}\"]\n", root.display()));
    test_server.wait_until(|| {
        !holding(&test_server, WORD).is_empty() && !segments(&test_server).is_empty()
    });
    test_server.rewrite(CONFIG);
    let test_server = test_server.restarted();
    test_server.wait_until(|| holding(&test_server, WORD).is_empty());
    test_server.assert_alive();
    assert!(segments(&test_server).is_empty());
}

#[test]
fn a_chart_leaves_nothing() {
    let sources = Folder::new();
    sources.write("units.csv", "id,name\n1,Cluj\n");
    sources.write("facts.csv", "month,account,amount,unit\n2024-01,ch,7,1\n");
    let path = |name: &str| sources.join(name).display().to_string();
    let config = format!(
        "{CONFIG}[[dimensions]]\ncategory = \"uat\"\nsource = \"{}\"\nvalue = \"id\"\n\
         filter_key = \"uat_ids\"\nname = \"name\"\n[charts]\nsource = \"{}\"\ncolumns = {{ period \
         = \"month\", account = \"account\", amount = \"amount\", uat = \"unit\" }}\n",
        path("units.csv"),
        path("facts.csv"),
    );
    let library = Library(TestServer::start(&config));
    let period = json!({ "type": "YEAR", "selection": { "dates": ["2024"] } });
    let filter = json!({ "report_period": period, "account_category": "ch" });
    let chart = library.mcp(None).call(
        "generate_chart_data",
        &json!({
            "title": format!("Spending of {WORD}"),
            "chart_type": "bar",
            "series_definitions": [{ "label": WORD, "filter": filter }],
        }),
    );
    let id = chart.success()["chart_id"].as_str().unwrap().to_owned();
    assert!(!holding(&library.0, WORD).is_empty());
    delete(&library, &format!("/v1/charts/{id}"));
    assert_gone(&library.0, WORD);
}

/// A table and a dimension whose rows are outside the data folder, in two parts of a configuration.
fn of_rows(folder: &Folder) -> (String, String) {
    let table = folder.write("stock.csv", format!("article\n{WORD}\n"));
    let places = folder.write("places.csv", format!("id,name\n1,{OTHER}\n"));
    let table = format!(
        "[[tables]]\nname = \"stock\"\nsource = \"{}\"\n[tables.fields]\narticle = {{ type = \
         \"string\" }}\n",
        table.display()
    );
    let dimension = format!(
        "[[dimensions]]\ncategory = \"place\"\nsource = \"{}\"\nvalue = \"id\"\nfilter_key = \
         \"place_ids\"\nname = \"name\"\n",
        places.display()
    );
    (table, dimension)
}

/// Asks the table and the dimension, so that their answers are kept.
#[track_caller]
fn ask_rows(test_server: &TestServer) {
    test_server.mcp().call("query_table", &json!({})).success();
    let names = json!({ "category": "place", "query": OTHER });
    test_server.mcp().call("search_filters", &names).success();
    for word in [WORD, OTHER] {
        assert!(!holding(test_server, word).is_empty(), "{word}");
    }
}

#[test]
fn a_table_and_a_dimension_that_leave_the_configuration_leave_the_kept_answers() {
    let rows = Folder::new();
    let (table, dimension) = of_rows(&rows);
    let test_server = TestServer::start(&format!("{CONFIG}{table}{dimension}"));
    ask_rows(&test_server);
    let call = test_server.http().get("/activity").text();
    let mut calls =
        call.split("href=\"/activity/").skip(1).filter_map(|link| link.split('"').next());
    let call = calls.find(|link| !link.starts_with("export")).unwrap().replace("&amp;", "&");
    // Nothing is erased while both are there.
    test_server.rewrite(&format!(
        "{CONFIG}{table}{dimension}[server]\nallowed_hosts = [\"search.example.org\"]\n"
    ));
    test_server.server.signal(Signal::HUP);
    let configuration = || test_server.server.stderr();
    test_server.wait_until(|| configuration().contains("the new configuration is in place"));
    assert!(!holding(&test_server, WORD).is_empty());

    test_server.rewrite(&format!("{CONFIG}{dimension}"));
    test_server.server.signal(Signal::HUP);
    test_server.wait_until(|| holding(&test_server, WORD).is_empty());
    let replay = test_server.http().get(&format!("/activity/{call}")).text();
    assert!(replay.contains("It was erased when a source was deleted"), "{replay}");

    let names = json!({ "category": "place", "query": OTHER });
    test_server.mcp().call("search_filters", &names).success();
    assert!(!holding(&test_server, OTHER).is_empty());
    test_server.rewrite(CONFIG);
    let test_server = test_server.restarted();
    test_server.wait_until(|| holding(&test_server, OTHER).is_empty());
    test_server.assert_alive();
}

#[test]
fn a_table_whose_rows_come_from_elsewhere_now_leaves_the_kept_answers() {
    let rows = Folder::new();
    let (table, dimension) = of_rows(&rows);
    let test_server = TestServer::start(&format!("{CONFIG}{table}{dimension}"));
    ask_rows(&test_server);
    rows.write("other.csv", "article\nnothing\n");
    let table = table.replace("stock.csv", "other.csv");
    test_server.rewrite(&format!("{CONFIG}{table}{dimension}"));
    test_server.server.signal(Signal::HUP);
    test_server.wait_until(|| holding(&test_server, WORD).is_empty());
    test_server.assert_alive();
}
