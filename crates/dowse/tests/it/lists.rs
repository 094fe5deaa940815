//! The law of lists, through the real server: following `next` to the end gives every item that
//! exists during the whole walk exactly once, at every page size, in tools and in REST, in every
//! format, also while items are added; and every page is within the budget.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use testkit::{Mcp, Request};

use crate::library::{Library, id_of};
use crate::test_server::TestServer;

/// More pages than any walk here has; one that goes in circles ends here.
pub(crate) const MAX_PAGES: usize = 2_000;

/// A budget so small that most pages are ended by it and not by their size.
pub(crate) const CHARS: usize = 8_000;
pub(crate) const TOKENS: usize = 3_000;

const N_ROWS: usize = 211;
const N_FILES: usize = 61;

fn config() -> String {
    let months = "period = \"month\", account = \"account\", amount = \"amount\", uat = \"unit\"";
    format!(
        "[embedder]\nprovider = \"none\"\n\
         [limits]\nresult_chars = {CHARS}\nresult_tokens = {TOKENS}\n\
         rate_per_minute = {{ default = 1000000, searchFiles = 1000000, openFile = 1000000, \
         rest = 1000000 }}\n\
         [files]\nroots = [\"docs\"]\nwatch = false\n\
         [contexts]\nchunk_threshold_chars = 200\n\
         [[tables]]\nname = \"rows\"\nsource = \"rows.csv\"\n\
         [tables.fields]\nname = {{ type = \"string\" }}\ntext = {{ type = \"string\" }}\n\
         [[dimensions]]\ncategory = \"place\"\nsource = \"places.csv\"\nvalue = \"id\"\n\
         filter_key = \"uat_ids\"\nname = \"name\"\n\
         [charts]\nsource = \"facts.csv\"\ncolumns = {{ {months} }}\n"
    )
}

/// A server with something in every list.
fn start() -> Library {
    let folder = testkit::Folder::new();
    let rows: Vec<String> =
        (0..N_ROWS).map(|n| format!("row-{n:04},{}", "y".repeat(n % 90))).collect();
    folder.write("rows.csv", format!("name,text\n{}\n", rows.join("\n")));
    let places: Vec<String> = (0..120).map(|n| format!("{n},Place {n} of many")).collect();
    folder.write("places.csv", format!("id,name\n{}\n", places.join("\n")));
    folder.write("facts.csv", "month,account,amount,unit\n2024-01,ch,7,1\n");
    for n in 0..N_FILES {
        let text = format!("lighthouse number {n} stands alone\n");
        folder.write(format!("docs/notes {}/note-{n:03}.txt", n % 7), text);
        folder.write(format!("docs/flat-{n:03}.md"), format!("# Flat {n}\n\nnothing here\n"));
    }
    let long: String = (0..700).map(|n| format!("paragraph {n} of the keeper\n\n")).collect();
    folder.write("docs/long.txt", long);
    let server = Library(TestServer::start_in(folder, &config()));
    let root = server.0.folder.join("docs");
    let indexed = server.mcp(None).call("indexFolder", &json!({ "root": root })).success();
    assert_eq!(indexed["status"], "done", "{indexed}");
    server
}

/// Follows `next` of a tool into one of its arguments, and calls `between` after every page.
#[track_caller]
pub(crate) fn walk(
    mcp: &Mcp,
    tool: &str,
    arguments: &Value,
    (next_at, argument): (&str, &str),
    items: &dyn Fn(&Value) -> Vec<String>,
    between: &mut dyn FnMut(),
) -> Vec<String> {
    let mut arguments = arguments.clone();
    let mut seen = Vec::new();
    for _ in 0..MAX_PAGES {
        let result = mcp.call(tool, &arguments);
        assert!(result.text.chars().count() <= CHARS, "{tool}: {}", result.text.len());
        assert!(text::count_tokens(&result.text) <= TOKENS, "{tool}: {}", result.text);
        let page = result.success();
        seen.extend(items(&page));
        match page.pointer(next_at).filter(|next| !next.is_null()) {
            Some(next) => arguments[argument] = json!(next.as_str().expect("`next` is text")),
            None => return seen,
        }
        between();
    }
    panic!("the walk through `{tool}` does not end");
}

/// Follows `next` of a REST list into `after`.
#[track_caller]
fn walk_rest(
    server: &Library,
    path: &str,
    list: &str,
    limit: usize,
    between: &mut dyn FnMut(),
) -> Vec<Value> {
    let (mut seen, mut after) = (Vec::new(), String::new());
    for _ in 0..MAX_PAGES {
        let page = server.get(None, &format!("{path}?limit={limit}{after}"));
        assert_eq!(page.status, 200, "{path}: {}", page.text());
        let page = page.json();
        let items = page[list].as_array().unwrap_or_else(|| panic!("{path}: {page}"));
        assert!(items.len() <= limit, "{path}");
        if items.len() > 1 {
            assert!(text::count_tokens(&page.to_string()) <= TOKENS, "{path}: {page}");
        }
        seen.extend(items.iter().cloned());
        match page["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => return seen,
        }
        between();
    }
    panic!("the walk through `{path}` does not end");
}

pub(crate) fn field<'a>(list: &'a str, name: &'a str) -> impl Fn(&Value) -> Vec<String> + 'a {
    move |page| {
        let items = page[list].as_array().unwrap_or_else(|| panic!("no `{list}` in {page}"));
        items
            .iter()
            .map(|item| item.pointer(name).map_or_else(|| item.to_string(), plain))
            .collect()
    }
}

pub(crate) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Holds that a walk gave each of these once; others, which came meanwhile, at most once.
#[track_caller]
pub(crate) fn assert_once(seen: &[String], expected: &[String], what: &str) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    seen.iter().for_each(|item| *counts.entry(item).or_default() += 1);
    let missing: Vec<&String> =
        expected.iter().filter(|item| !counts.contains_key(item.as_str())).collect();
    assert!(missing.is_empty(), "{what}: {} are missing: {missing:?}", missing.len());
    let twice: Vec<_> = counts.iter().filter(|(_, n)| **n > 1).collect();
    assert!(twice.is_empty(), "{what}: more than once: {twice:?}");
}

pub(crate) const NEXT: (&str, &str) = ("/next", "cursor");

#[test]
fn rows_in_every_format_groups_and_fields() {
    let server = start();
    let mcp = server.mcp(None);
    let expected: Vec<String> = (0..N_ROWS).map(|n| format!("row-{n:04}")).collect();
    let names = |page: &Value| -> Vec<String> {
        let text = page.to_string();
        text.match_indices("row-").map(|(at, _)| text[at..at + 8].to_owned()).collect()
    };
    let rows = |page: &Value| page.get("rows").map_or_else(|| names(page), names);
    for format in ["json", "stats", "markdown", "csv"] {
        for page_size in [1, 7, 53, 500] {
            if page_size == 1 && format != "json" {
                continue;
            }
            let arguments = json!({ "pageSize": page_size, "format": format });
            let seen = walk(&mcp, "query_table", &arguments, NEXT, &rows, &mut || {});
            assert_eq!(seen, expected, "{format} {page_size}");
        }
    }
    let arguments = json!({ "group_by": ["name"], "measures": ["count"], "limit": 500 });
    let groups = field("rows", "/name");
    let seen = walk(&mcp, "aggregate_table", &arguments, NEXT, &groups, &mut || {});
    assert_once(&seen, &expected, "groups");
    // A row that grows over the budget alone is cut where it is longest, and says so.
    let answer = mcp.call("describe_schema", &json!({ "detail": true })).success();
    assert!(answer["schema"]["properties"]["text"].is_object(), "{answer}");
}

#[test]
fn names_and_batches_of_names() {
    let server = start();
    let mcp = server.mcp(None);
    let about = |query: String| json!({ "category": "place", "query": query, "limit": 5 });
    let queries: Vec<Value> = (0..100).map(|n| about(format!("Place {n} of many"))).collect();
    // Every third has as many results as it may have, the others have one.
    let mixed: Vec<Value> = (0..100)
        .map(|n| if n % 3 == 0 { about("of many".to_owned()) } else { queries[n].clone() })
        .collect();
    // The first page begins with the first query; others name the query of each answer.
    let values_of = |page: &Value| -> Vec<String> {
        let responses = page["responses"].as_array().unwrap().iter().enumerate();
        let named = responses.flat_map(|(at, response)| {
            let at = response["index"].as_u64().unwrap_or(at as u64);
            let results = response["results"].as_array().unwrap();
            results.iter().map(move |one| format!("{at}: {}", plain(&one["filterValue"])))
        });
        named.collect()
    };
    let arguments = json!({ "queries": mixed });
    let seen = walk(&mcp, "search_filters_batch", &arguments, NEXT, &values_of, &mut || {});
    let alone = mixed.iter().enumerate().flat_map(|(at, query)| {
        let answer = mcp.call("search_filters", query).success();
        let results = answer["results"].as_array().unwrap().clone();
        results.into_iter().map(move |one| format!("{at}: {}", plain(&one["filterValue"])))
    });
    let expected: Vec<String> = alone.collect();
    assert_eq!(expected.len(), 34 * 5 + 66);
    assert_once(&seen, &expected, "batch");
    assert_eq!(seen.len(), expected.len());
    let values = field("results", "/filterValue");
    let expected_names: Vec<String> = (0..120).map(|n| n.to_string()).collect();
    for limit in [1, 7, 50] {
        let arguments = json!({ "category": "place", "query": "of many", "limit": limit });
        let seen = walk(&mcp, "search_filters", &arguments, NEXT, &values, &mut || {});
        assert_once(&seen, &expected_names, &format!("names {limit}"));
    }
    // With the usual budget, a hundred names give a hundred answers in one call.
    let usual =
        config().replace(&format!("result_chars = {CHARS}\nresult_tokens = {TOKENS}\n"), "");
    let roomy = Library(TestServer::start_in(copy_of(&server), &usual));
    let answer = roomy.mcp(None).call("search_filters_batch", &json!({ "queries": queries }));
    let answer = answer.success();
    let first: Vec<String> = field("responses", "/results/0/filterValue")(&answer);
    assert_eq!(first, (0..100).map(|n| n.to_string()).collect::<Vec<_>>());
}

/// A folder with the same sources.
fn copy_of(server: &Library) -> testkit::Folder {
    let folder = testkit::Folder::new();
    for name in ["rows.csv", "places.csv", "facts.csv"] {
        folder.write(name, fs_err::read(server.0.folder.join(name)).unwrap());
    }
    folder.write("docs/one.txt", "one");
    folder
}

#[test]
fn files_of_a_search_and_of_folders_while_files_come() {
    let server = start();
    let mcp = server.mcp(None);
    let folder = server.0.folder.path().to_owned();
    let root = fs_err::canonicalize(server.0.folder.join("docs")).unwrap();
    let note = |n: usize| {
        root.join(format!("notes {}/note-{n:03}.txt", n % 7)).to_string_lossy().into_owned()
    };
    let expected: Vec<String> = (0..N_FILES).map(note).collect();
    let mut n_added = 0;
    for k in [1, 7, 100] {
        let mut n_pages = 0;
        let mut between = || {
            n_pages += 1;
            // Some files come during the walk: they may be seen once or not at all.
            if n_pages % 5 == 1 && n_added < 12 {
                n_added += 1;
                let name = folder.join(format!("docs/notes 0/added-{n_added:02}.txt"));
                fs_err::write(name, "a lighthouse that was built later").unwrap();
                let done = mcp.call("indexFolder", &json!({ "root": root })).success();
                assert_eq!(done["status"], "done", "{done}");
            }
        };
        let arguments = json!({ "query": "lighthouse", "k": k });
        let next = ("/pagination/next", "offset");
        let paths = field("items", "/path");
        let seen = walk(&mcp, "searchFiles", &arguments, next, &paths, &mut between);
        assert_once(&seen, &expected, &format!("k {k}"));
    }
    for limit in [1, 7, 200] {
        let names = field("entries", "/name");
        let mut expected: Vec<String> = (0..N_FILES).map(|n| format!("flat-{n:03}.md")).collect();
        expected.extend((0..7).map(|n| format!("notes {n}/")));
        expected.push("long.txt".to_owned());
        let mut n_pages = 0;
        let mut between = || {
            n_pages += 1;
            if n_pages == 2 {
                let name = folder.join(format!("docs/flat-000-{limit}.md"));
                fs_err::write(name, "later").unwrap();
                mcp.call("indexFolder", &json!({ "root": root })).success();
            }
        };
        let arguments = json!({ "path": root, "limit": limit });
        let seen = walk(&mcp, "listFiles", &arguments, NEXT, &names, &mut between);
        assert_once(&seen, &expected, &format!("limit {limit}"));
        assert!(seen.is_sorted(), "{seen:?}");
    }
    let inner = mcp.call("listFiles", &json!({ "path": root.join("notes 3") })).success();
    let file = &inner["entries"][0];
    assert_eq!(file["name"], "note-003.txt");
    assert!(file["bytes"].as_u64().is_some_and(|bytes| bytes > 10), "{file}");
    assert!(file["modified"].as_str().is_some_and(|date| date.starts_with("20")), "{file}");
    let outside = mcp.call("listFiles", &json!({ "path": "/etc" })).error();
    assert_eq!(outside["error"]["code"], "FORBIDDEN");
}

#[test]
fn texts_are_read_to_their_ends() {
    let server = start();
    let mcp = server.mcp(None);
    let long: String = (0..700).map(|n| format!("paragraph {n} of the keeper\n\n")).collect();
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let path = server.0.folder.join("docs/long.txt");
    let next = ("/next", "offset");
    let preview = |page: &Value| vec![plain(&page["preview"])];
    let read = walk(&mcp, "openFile", &json!({ "path": path }), next, &preview, &mut || {});
    assert_eq!(squeezed(&read.concat()), squeezed(&long));

    let found = mcp.call("search", &json!({ "query": "\"paragraph 433\"" })).success();
    let id = plain(&found["results"][0]["id"]);
    let whole = |page: &Value| vec![plain(&page["text"])];
    let read = walk(&mcp, "fetch", &json!({ "id": id, "offset": 0 }), next, &whole, &mut || {});
    assert_eq!(squeezed(&read.concat()), squeezed(&long));

    // As a resource: the last line and the metadata name the address of the rest.
    for first in [format!("dowse://open/{id}"), format!("dowse://files{}", path.display())] {
        let (mut read, mut uri) = (String::new(), first.clone());
        for _ in 0..MAX_PAGES {
            let answer = mcp.request("resources/read", &json!({ "uri": uri }));
            let content = &answer["contents"][0];
            let text = plain(&content["text"]);
            assert!(text.chars().count() <= CHARS);
            match content["_meta"]["dowse/next"].as_str() {
                Some(next) => {
                    let (text, line) = text.rsplit_once('\n').unwrap();
                    assert!(line.contains(next), "{line}");
                    read.push_str(text);
                    uri = next.to_owned();
                }
                None => {
                    read.push_str(&text);
                    break;
                }
            }
        }
        assert_eq!(squeezed(&read), squeezed(&long), "{first}");
    }
}

#[test]
fn knowledge_bases_collections_documents_and_chunks() {
    let server = start();
    let (base, collection) = server.base(None, &json!({ "name": "First" }));
    let documents: Vec<Value> = (0..57)
        .map(|n| json!({ "title": format!("title {n}"), "text": format!("harbour {n} is open {}", "word ".repeat(n)) }))
        .collect();
    let path = format!("/v1/collections/{collection}/documents");
    let added = server.post(None, &path, &json!({ "documents": documents }));
    assert_eq!(added.status, 202, "{}", added.text());
    let added = added.json();
    server.wait(None, added["job"]["id"].as_str().unwrap());
    let ids: Vec<String> = added["ids"].as_array().unwrap().iter().map(plain).collect();
    assert_eq!(ids.len(), 57);
    for n in 0..23 {
        server.post(None, "/v1/knowledge-bases", &json!({ "name": format!("Base {n}") }));
        let path = format!("/v1/knowledge-bases/{base}/collections");
        server.post(None, &path, &json!({ "name": format!("Shelf {n}") }));
    }
    let of = |items: &[Value]| -> Vec<String> { items.iter().map(id_of).collect() };
    let bases = of(&walk_rest(&server, "/v1/knowledge-bases", "knowledge_bases", 500, &mut || {}));
    assert_eq!(bases.len(), 24);
    let collections_at = format!("/v1/knowledge-bases/{base}/collections");
    let collections = of(&walk_rest(&server, &collections_at, "collections", 500, &mut || {}));
    assert_eq!(collections.len(), 24);
    for limit in [1, 5, 19, 500] {
        let mut n_pages = 0;
        let mut more = || {
            n_pages += 1;
            if n_pages % 7 == 1 {
                server.post(None, "/v1/knowledge-bases", &json!({ "name": "Later" }));
                server.post(None, &collections_at, &json!({ "name": "Later" }));
                server.post(None, &path, &json!({ "title": "later", "text": "later" }));
            }
        };
        let what = format!("limit {limit}");
        let at = "/v1/knowledge-bases";
        let seen = of(&walk_rest(&server, at, "knowledge_bases", limit, &mut more));
        assert_once(&seen, &bases, &what);
        let seen = of(&walk_rest(&server, &collections_at, "collections", limit, &mut more));
        assert_once(&seen, &collections, &what);
        let seen = of(&walk_rest(&server, &path, "documents", limit, &mut more));
        assert_once(&seen, &ids, &what);
    }
    let mcp = server.mcp(None);
    let listed = field("knowledge_bases", "/id");
    let mut between = || {
        server.post(None, "/v1/knowledge-bases", &json!({ "name": "Later still" }));
    };
    let seen = walk(&mcp, "list_knowledge_bases", &json!({}), NEXT, &listed, &mut between);
    assert_once(&seen, &bases, "list_knowledge_bases");
}

#[test]
fn projects_nodes_charts_jobs_and_the_audit() {
    let server = start();
    let post = |path: &str, body: &Value| {
        let made = server.post(None, path, body);
        assert!(made.status < 300, "{path}: {}", made.text());
        made.json()
    };
    let project = id_of(&post("/v1/projects", &json!({ "name": "First" })));
    let text: String = (0..900).map(|n| format!("node {n} of the document; ")).collect();
    let data = json!({ "long": text, "list": [1, 2, 3] });
    let tables_at = format!("/v1/projects/{project}/tables");
    let table = id_of(&post(&tables_at, &json!({ "name": "manual", "data": data })));
    for n in 0..13 {
        post("/v1/projects", &json!({ "name": format!("Project {n}") }));
        post(&tables_at, &json!({ "name": format!("table {n}"), "data": { "n": n } }));
        let tool = json!({ "table_id": table, "name": format!("find_{n}"), "json_path": "/long" });
        let tool = id_of(&post("/v1/tools", &tool));
        post("/v1/endpoints", &json!({ "name": format!("Endpoint {n}"), "tool_ids": [tool] }));
    }
    let month = |n: usize| format!("{}-{:02}", 1990 + n / 12, n % 12 + 1);
    let series: Vec<Value> = (0..3)
        .map(|n| {
            let interval = json!({ "start": month(0), "end": month(299) });
            let period = json!({ "type": "MONTH", "selection": { "interval": interval } });
            let filter = json!({ "report_period": period, "account_category": "ch" });
            json!({ "label": format!("series {n}"), "filter": filter })
        })
        .collect();
    let chart = json!({ "title": "A chart", "chart_type": "line", "series_definitions": series });
    let mcp = server.mcp(None);
    let points = |page: &Value| -> Vec<String> {
        let series = page["data_series"].as_array().unwrap();
        assert_eq!(series.len(), 3);
        let points = series.iter().map(|one| one["data_points"].as_array().unwrap());
        let points: Vec<Vec<String>> =
            points.map(|points| points.iter().map(|point| plain(&point["x"])).collect()).collect();
        assert!(points.iter().all(|one| *one == points[0]));
        points[0].clone()
    };
    let expected: Vec<String> = (0..300).map(month).collect();
    let seen = walk(&mcp, "generate_chart_data", &chart, NEXT, &points, &mut || {});
    assert_eq!(seen, expected);
    let charts = walk_rest(&server, "/v1/charts", "charts", 500, &mut || {});
    assert_eq!(charts.len(), 1, "going on makes no other chart");
    let chart_at = format!("/v1/charts/{}", id_of(&charts[0]));
    let (mut seen, mut query) = (Vec::new(), String::new());
    for _ in 0..MAX_PAGES {
        let page = server.get(None, &format!("{chart_at}{query}")).json();
        seen.extend(points(&page));
        match page["next"].as_str() {
            Some(next) => query = format!("?after={next}"),
            None => break,
        }
    }
    assert_eq!(seen, expected);
    for _ in 0..7 {
        mcp.call("generate_chart_data", &chart).success();
    }

    // A node, over REST and through a tool.
    let (mut read, mut offset) = (String::new(), "0".to_owned());
    for _ in 0..MAX_PAGES {
        let at = format!("/v1/tables/{table}/node?pointer=/long&max_chars=50000&offset={offset}");
        let page = server.get(None, &at).json();
        assert!(page.to_string().chars().count() <= CHARS);
        read.push_str(page["text"].as_str().unwrap());
        match page["next"].as_str() {
            Some(next) => next.clone_into(&mut offset),
            None => break,
        }
    }
    assert_eq!(read, text);
    let reader = json!({ "type": "get", "table_id": table, "name": "read", "json_path": "" });
    let reader = id_of(&post("/v1/tools", &reader));
    let endpoint = post("/v1/endpoints", &json!({ "name": "Reader", "tool_ids": [reader] }));
    let key = format!("Bearer {}", plain(&endpoint["api_key"]));
    let agent = Mcp::new(server.0.http(), &format!("/mcp/{}", id_of(&endpoint)));
    let agent = agent.header("Authorization", &key);
    let arguments = json!({ "json_path": "/long", "max_chars": 50_000 });
    let next = ("/next", "offset");
    let whole = |page: &Value| vec![plain(&page["text"])];
    let seen = walk(&agent, "read", &arguments, next, &whole, &mut || {});
    assert_eq!(seen.concat(), text);

    let of = |items: &[Value]| -> Vec<String> { items.iter().map(id_of).collect() };
    let endpoints_at = format!("/v1/projects/{project}/endpoints");
    let tools_at = format!("/v1/projects/{project}/tools");
    let lists = [
        ("/v1/projects", "projects"),
        (tables_at.as_str(), "tables"),
        (tools_at.as_str(), "tools"),
        (endpoints_at.as_str(), "endpoints"),
        ("/v1/charts", "charts"),
        ("/v1/jobs", "jobs"),
    ];
    for (path, list) in lists {
        let all = of(&walk_rest(&server, path, list, 500, &mut || {}));
        assert!(all.len() >= 8, "{path}: {all:?}");
        for limit in [1, 3, 11] {
            let mut n_pages = 0;
            let mut between = || {
                n_pages += 1;
                if n_pages == 2 {
                    post("/v1/projects", &json!({ "name": "Later" }));
                    post(&tables_at, &json!({ "name": "later", "data": {} }));
                    let name = format!("later_{limit}_{}", list);
                    let tool = json!({ "table_id": table, "name": name, "json_path": "/long" });
                    post("/v1/tools", &tool);
                    mcp.call("generate_chart_data", &chart).success();
                }
            };
            let seen = of(&walk_rest(&server, path, list, limit, &mut between));
            assert_once(&seen, &all, &format!("{path} {limit}"));
        }
    }
    // Every page that is asked for is an entry more, at the new end.
    let request = |entry: &Value| plain(&entry["request"]);
    let all: Vec<String> =
        walk_rest(&server, "/v1/audit", "entries", 500, &mut || {}).iter().map(request).collect();
    assert!(all.len() > 100, "{}", all.len());
    for limit in [13, 67] {
        let seen = walk_rest(&server, "/v1/audit", "entries", limit, &mut || {});
        let seen: Vec<String> = seen.iter().map(request).collect();
        assert_once(&seen, &all, &format!("audit {limit}"));
    }
    let wrong = server.send(None, Request::new("GET", "/v1/audit?limit=3&after=xyz"));
    assert_eq!(wrong.status, 400, "{}", wrong.text());
}
