//! A folder that an earlier version left, killed with an upload that was acknowledged and not taken
//! in yet: the present binary serves all of it, takes the upload in, and leaves one whole file.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::json;
use testkit::{Folder, Mcp, Server};

use crate::test_server::dowse;

/// How long the upload may take to be found.
const PATIENCE: Duration = Duration::from_secs(120);

#[test]
fn a_folder_of_an_earlier_version_is_served_as_it_was() {
    let folder = Folder::new();
    let archive = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../store/tests/fixtures/folder-1/folder.tar.gz");
    let unpacked =
        Command::new("tar").arg("-xzf").arg(&archive).arg("-C").arg(folder.path()).status();
    assert!(unpacked.unwrap().success());
    let config = folder.join("dowse.toml");
    let mut command = dowse("serve");
    command.arg("--config").arg(&config).args(["--listen", "127.0.0.1:0"]);
    let server = Server::start_command(command);
    server.wait_until_ready();
    let mcp = Mcp::new(server.http(), "/mcp");
    let call =
        |tool: &str, arguments: serde_json::Value| mcp.call(tool, &arguments).success().to_string();
    assert!(call("query_table", json!({})).contains("Lisbon"));
    assert!(
        call("search_filters", json!({ "query": "Cluj", "category": "county" }))
            .contains("Judetul Cluj")
    );
    assert!(call("search", json!({ "query": "night guard key gate" })).contains("rules"));
    assert!(call("search", json!({ "query": "lighthouse keeper storm" })).contains("ighthouse"));
    // The folder lies elsewhere now, so that its files are read again; and the upload that was
    // acknowledged before the kill is taken in.
    for (tool, query, expected) in [
        ("searchFiles", "castle above the river", "lisbon.md"),
        ("search", "forklift ledger shift", "shift"),
    ] {
        let is_found = testkit::wait_until(PATIENCE, || {
            call(tool, json!({ "query": query })).contains(expected)
        });
        assert!(is_found, "`{expected}` is not found:\n{}", server.stderr());
    }
    assert!(server.stop().success());
    let store = folder.join("data/store");
    let log = fs_err::metadata(store.join("catalogue.sqlite-wal"));
    assert!(log.is_err() || log.unwrap().len() == 0, "a clean stop leaves one whole file");
    let audit = fs_err::read_to_string(folder.join("data/audit/audit.jsonl")).unwrap();
    assert!(audit.lines().count() >= 4 + 6, "the record of calls goes on");
    let mut check = dowse("check");
    let checked = check.arg("--repair").arg("--config").arg(&config).output().unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
}
