//! What language models send without harm is taken, through the real server: null and "" for what
//! is optional, numbers as text, one value for a list, dates as ISO or milliseconds, names where
//! ids are expected, the name of the only table. Everything else is refused with what is allowed.

use serde_json::{Value, json};
use testkit::{Folder, Mcp};

use crate::library::Library;
use crate::test_server::TestServer;

fn start() -> Library {
    let folder = Folder::new();
    folder.write("docs/ferry-2021.md", "# Ferry\n\nThe ferry leaves at noon in 2021.\n");
    folder.write("docs/ferry-2022.txt", "The ferry leaves at one in 2022.\n");
    let rows = "at,level,ms\n2024-05-01T08:00:00Z,error,12\n2024-05-02T09:00:00Z,info,7\n\
                2024-06-01T09:00:00Z,error,9\n";
    folder.write("log.csv", rows);
    folder.write("places.csv", "id,name\n1,Cluj\n2,Sibiu\n");
    folder.write("facts.csv", "month,account,amount,unit\n2024-01,ch,7,1\n2024-02,ch,8,1\n");
    let config = "[embedder]\nprovider = \"none\"\n\
        [limits]\nrate_per_minute = { default = 100000, searchFiles = 100000, openFile = 100000 }\n\
        [files]\nroots = [\"docs\"]\nwatch = false\n\
        [[tables]]\nname = \"log\"\nsource = \"log.csv\"\n[tables.fields]\n\
        at = { type = \"array\", items = { type = \"timestamp\" }, match = \"range\" }\n\
        level = { type = \"array\", match = \"in\", \
        items = { type = \"stringLiteral\", values = [\"error\", \"info\"] } }\n\
        ms = { type = \"number\" }\n\
        [[dimensions]]\ncategory = \"place\"\nsource = \"places.csv\"\nvalue = \"id\"\n\
        filter_key = \"uat_ids\"\nname = \"name\"\n\
        [charts]\nsource = \"facts.csv\"\ncolumns = { period = \"month\", account = \"account\", \
        amount = \"amount\", uat = \"unit\" }\n";
    let server = Library(TestServer::start_in(folder, config));
    let root = server.0.folder.join("docs");
    server.mcp(None).call("indexFolder", &json!({ "root": root })).success();
    let (_, collection) = server.base(None, &json!({ "name": "Rules of the harbour" }));
    let document = json!({ "title": "Ferry", "text": "The ferry leaves the harbour at noon." });
    server.add(None, &collection, &document);
    server
}

/// Two ways to say the same give the same answer.
#[track_caller]
fn check(mcp: &Mcp, tool: &str, plain: &Value, said: &Value) {
    let expected = mcp.call(tool, plain).success();
    let result = mcp.call(tool, said);
    assert!(!result.is_error, "{tool} {said}: {}", result.text);
    let mut given = result.success();
    // Only a note about what was converted may be more.
    let is_expected = |warning: &Value| {
        expected["warnings"].as_array().is_some_and(|warnings| warnings.contains(warning))
    };
    if let Some(answer) = given.as_object_mut()
        && let Some(warnings) = answer.get_mut("warnings").and_then(Value::as_array_mut)
    {
        warnings.retain(is_expected);
        if warnings.is_empty() {
            answer.shift_remove("warnings");
        }
    }
    assert_eq!(given, expected, "{tool} {said}");
}

/// `level: ""` gave every row, without a word, although the schema lists `""` as a value.
#[test]
fn an_empty_text_that_the_schema_lists_is_a_value() {
    let folder = Folder::new();
    folder.write("log.csv", "n,level,kind\n1,error,\n2,,b\n3,,a\n");
    let config = "[embedder]\nprovider = \"none\"\n\
        [[tables]]\nname = \"log\"\nsource = \"log.csv\"\nnull_values = []\n[tables.fields]\n\
        n = { type = \"number\" }\n\
        level = { type = \"array\", match = \"in\", \
        items = { type = \"stringLiteral\", values = [\"error\", \"\"] } }\n\
        kind = { type = \"stringLiteral\", values = [\"a\", \"b\", \"\"] }\n";
    let server = Library(TestServer::start_in(folder, config));
    let mcp = server.mcp(None);
    let total = |filters: Value| {
        let answer = mcp.call("query_table", &json!({ "filters": filters })).success();
        answer["total"].as_u64()
    };
    for filters in
        [json!({ "level": "" }), json!({ "level": [""] }), json!({ "level": { "eq": "" } })]
    {
        assert_eq!(total(filters.clone()), Some(2), "{filters}");
    }
    assert_eq!(total(json!({ "kind": "" })), Some(1));
    // Where it is no value, it asks for nothing.
    assert_eq!(total(json!({ "n": "", "level": [] })), Some(3));
}

#[test]
fn what_models_send_is_taken() {
    let server = start();
    let mcp = server.mcp(None);
    let ferry = |more: Value| {
        let mut arguments = json!({ "query": "ferry" });
        for (name, value) in more.as_object().unwrap() {
            arguments[name] = value.clone();
        }
        arguments
    };
    let plain = ferry(json!({}));
    let search_files = [
        (plain.clone(), json!({ "exts": null, "years": null, "roots": null, "offset": null })),
        (plain.clone(), json!({ "exts": "", "years": "", "offset": "", "explain": "" })),
        (ferry(json!({ "k": 2 })), json!({ "k": "2" })),
        (ferry(json!({ "k": 2 })), json!({ "k": 2.0 })),
        (ferry(json!({ "years": ["2021"] })), json!({ "years": [2021] })),
        (ferry(json!({ "years": ["2021"] })), json!({ "years": 2021 })),
        (ferry(json!({ "years": ["2021", "2022"] })), json!({ "years": "[2021, 2022]" })),
        (ferry(json!({ "exts": [".md"] })), json!({ "exts": "md" })),
        (ferry(json!({ "exts": [".md"] })), json!({ "exts": ["MD"] })),
        (ferry(json!({ "offset": 1 })), json!({ "offset": "1" })),
        (ferry(json!({ "explain": true })), json!({ "explain": "true" })),
    ];
    for (plain, said) in search_files {
        check(&mcp, "searchFiles", &plain, &ferry(said));
    }
    let errors = json!({ "filters": { "level": ["error"] } });
    let may = json!({ "filters": { "at": [1_714_521_600_000_i64, 1_717_199_999_999_i64] } });
    let query_table = [
        (errors.clone(), json!({ "filters": { "level": "error" } })),
        (errors.clone(), json!({ "table": "log", "filters": { "level": "error" } })),
        (errors.clone(), json!({ "filters": { "level": ["error"], "ms": null }, "cursor": "" })),
        (errors.clone(), json!({ "filters": "{\"level\": [\"error\"]}", "page": "1" })),
        (errors, json!({ "filters": { "level": { "eq": "error" } }, "sort": null })),
        (may.clone(), json!({ "filters": { "at": ["2024-05-01", "2024-05-31"] } })),
        (may.clone(), json!({ "filters": { "at": ["2024-05-01T00:00:00Z", "2024-05-31"] } })),
        (may, json!({ "filters": { "at": { "min": "2024-05-01", "max": "2024-05-31" } } })),
        // An end that is empty is open, as null is.
        (
            json!({ "filters": { "at": { "min": "2024-05-02" } } }),
            json!({ "filters": { "at": { "min": "2024-05-02", "max": "" } } }),
        ),
        (
            json!({ "filters": { "at": { "min": "2024-05-02" } } }),
            json!({ "filters": { "at": ["2024-05-02", ""] } }),
        ),
        (json!({}), json!({ "filters": { "at": { "min": "", "max": "" }, "level": "" } })),
        (
            json!({ "filters": { "at": [1_714_550_400_000_i64] } }),
            json!({ "filters": { "at": "2024-05-01" } }),
        ),
        (json!({ "filters": { "ms": 7 } }), json!({ "filters": { "ms": "7" } })),
        (json!({ "columns": ["ms"] }), json!({ "columns": "ms", "pageSize": "50" })),
    ];
    for (plain, said) in query_table {
        check(&mcp, "query_table", &plain, &said);
    }
    let counted = json!({ "group_by": ["level"], "measures": [{ "op": "count" }] });
    let aggregate = [
        json!({ "group_by": "level", "measures": "count" }),
        json!({ "group_by": "level", "measures": { "op": "count" }, "table": "log" }),
        json!({ "group_by": ["level"], "cursor": "", "limit": "50", "having": null }),
    ];
    for said in aggregate {
        check(&mcp, "aggregate_table", &counted, &said);
    }
    check(&mcp, "describe_schema", &json!({}), &json!({ "table": "log" }));
    let base = mcp.call("list_knowledge_bases", &json!({})).success();
    let id = base["knowledge_bases"][0]["id"].clone();
    let documents = |base: Value| json!({ "query": "ferry", "knowledge_base_id": base });
    for name in [json!("Rules of the harbour"), json!("rules of the harbour"), json!(null)] {
        check(&mcp, "search_documents", &documents(id.clone()), &documents(name.clone()));
        let (plain, said) =
            (json!({ "knowledge_base_id": id }), json!({ "knowledge_base_id": name }));
        check(&mcp, "get_knowledge_base_summary", &plain, &said);
    }
    let place = json!({ "category": "place", "query": "Cluj" });
    let said = json!({ "category": "place", "query": "Cluj", "limit": "10", "cursor": "" });
    check(&mcp, "search_filters", &place, &said);
    check(&mcp, "search", &plain, &ferry(json!({ "limit": "10", "cursor": "", "explain": null })));
}

#[test]
fn what_cannot_be_meant_is_refused_with_what_is_allowed() {
    let server = start();
    let mcp = server.mcp(None);
    let cases = [
        ("searchFiles", json!({ "query": "ferry", "k": "two" }), "k"),
        ("searchFiles", json!({ "query": "ferry", "k": 2.5 }), "k"),
        ("searchFiles", json!({ "query": "ferry", "years": ["21"] }), "years"),
        ("searchFiles", json!({ "query": "ferry", "kk": 2 }), "kk"),
        ("query_table", json!({ "table": "logs" }), "log"),
        ("query_table", json!({ "filters": { "level": "errors" } }), "error"),
        ("query_table", json!({ "filters": { "at": "yesterday" } }), "at"),
        ("search_documents", json!({ "query": "x", "knowledge_base_id": "Other" }), "Rules of the"),
    ];
    for (tool, arguments, named) in cases {
        let error = mcp.call(tool, &arguments).error().to_string();
        assert!(error.contains(named), "{tool} {arguments}: {error}");
    }
}
