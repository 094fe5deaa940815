//! The OpenAPI document against the real server: schemathesis calls every operation with values
//! made from its schemas, right and wrong ones, and holds the answers against it.

use std::process::Command;

use serde_json::json;
use testkit::{Folder, bed};

use crate::library::Library;
use crate::test_server::TestServer;

/// What is checked everywhere. `positive_data_acceptance` is not: a schema cannot say which cursor
/// exists or which table a tool may be made over.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,\
    response_headers_conformance,response_schema_conformance,unsupported_method,\
    allow_header_conformance";

/// Calls of tools take more than their schemas say: what language models send without harm.
const CALLS: &str = "^/v1/call/|/search$";

const CONFIG: &str = r#"
[embedder]
provider = "none"
[limits]
rate_per_minute = { default = 1000000, searchFiles = 1000000, openFile = 1000000, summarizeResults = 1000000, rest = 1000000, chat = 1000000 }
[files]
roots = ["docs"]
watch = false
[[tables]]
name = "rows"
source = "rows.csv"
[tables.fields]
name = { type = "string" }
[[dimensions]]
category = "place"
source = "places.csv"
value = "id"
filter_key = "uat_ids"
name = "name"
[charts]
source = "facts.csv"
columns = { period = "month", account = "account", amount = "amount", uat = "unit" }
"#;

#[test]
fn schemathesis_finds_no_difference_between_document_and_server() {
    let Some(python) = bed::python() else {
        eprintln!("skipped: no Python; `cargo xtask testbed` installs it");
        return;
    };
    let program = python.with_file_name("schemathesis");
    assert!(program.exists(), "no schemathesis beside Python: run `cargo xtask testbed`");
    let folder = Folder::new();
    folder.write("docs/a.txt", "a lighthouse");
    folder.write("rows.csv", "name\nfirst\nsecond\n");
    folder.write("places.csv", "id,name\n1,Place\n");
    folder.write("facts.csv", "month,account,amount,unit\n2024-01,ch,7,1\n");
    let server = Library(TestServer::start_in(folder, CONFIG));
    let (_, collection) = server.base(None, &json!({ "name": "Library" }));
    server.add(None, &collection, &json!({ "title": "one", "text": "the harbour opens" }));
    let document = server.0.server.url("/v1/openapi.json");
    let run = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command.args(["run", &document, "--max-examples", "2", "--continue-on-failure"]);
        command.args(["--phases", "examples,coverage,fuzzing", "--max-time", "60"]);
        command.args(["--suppress-health-check", "all", "--warnings", "off", "--seed", "1"]);
        command.args(arguments).current_dir(server.0.folder.path());
        let output = command.output().unwrap();
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{told}{}", String::from_utf8_lossy(&output.stderr));
    };
    let strict = format!("{CHECKS},negative_data_rejection");
    run(&["--checks", &strict, "--exclude-path-regex", CALLS]);
    run(&["--checks", CHECKS, "--include-path-regex", CALLS]);
    server.0.assert_alive();
}
