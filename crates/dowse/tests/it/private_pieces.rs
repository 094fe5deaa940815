//! Reading in pieces reveals nothing: nodes and files, six characters at a time.

use serde_json::{Value, json};
use testkit::Request;

use crate::test_server::TestServer;

const TEXT: &str = "Contact ana.popescu@example.org or pay with 4111 1111 1111 1111 today.\n\
    export PGPASSWORD=tiger-of-the-hills\nuser,password\nann,leopard-of-the-plains\n";

const SECRETS: [&str; 6] = ["popesc", "example.org", "4111 11", "tiger", "leopar", "plains"];

fn assert_hidden(seen: &str) {
    for secret in SECRETS {
        assert!(!seen.contains(secret), "`{secret}` in {seen}");
    }
    assert!(seen.contains("Contact") && seen.contains("today"), "{seen}");
}

#[test]
fn a_node_read_in_pieces() {
    let test_server = TestServer::start("[embedder]\nprovider = \"none\"\n");
    let made = test_server.http().post_json("/v1/projects", &json!({ "name": "p" })).json();
    let path = format!("/v1/projects/{}/tables?name=t", made["id"].as_str().unwrap());
    let document = json!({ "notes": TEXT, "admin_password": "lynx", "other": { "x": 1 } });
    let table = test_server.http().send(&Request::new("POST", &path).json(&document));
    assert_eq!(table.status, 201, "{}", table.text());
    let table = table.json()["id"].as_str().unwrap().to_owned();
    let read = |pointer: &str, offset: usize, max_chars: usize| -> Value {
        let path = format!(
            "/v1/tables/{table}/node?pointer={pointer}&offset={offset}&max_chars={max_chars}"
        );
        test_server.http().get(&path).json()
    };
    for n_chars in [1, 6, 13, 64] {
        let seen: String = (0..TEXT.chars().count())
            .step_by(n_chars)
            .map(|offset| read("/notes", offset, n_chars)["text"].as_str().unwrap().to_owned())
            .collect();
        assert_hidden(&seen.replace("[email]", "").replace("[card]", "").replace("[password]", ""));
    }
    let whole = read("/notes", 0, 10_000);
    assert_eq!(whole["redacted"], 4, "{whole}");
    assert_eq!(read("/admin_password", 0, 100)["text"], "[password]");
}

/// Sentences of a length such that edges of chunks fall at every place of what is private.
fn text_with_secrets_at_edges() -> String {
    let mut text = String::new();
    for n in 0..40 {
        let words = "word ".repeat(83 + n % 17);
        text.push_str(&format!("{words}mail-{n} ana.popescu.of.the.hills.{n}@example.org "));
    }
    text
}

fn assert_no_address(seen: &str) {
    assert!(!seen.contains("popesc") && !seen.contains("example.org"), "{seen}");
    assert!(!seen.contains("the.hills"), "{seen}");
}

#[test]
fn chunks_and_their_search_show_nothing_that_the_whole_does_not() {
    let test_server = TestServer::start("[embedder]\nprovider = \"none\"\n");
    let http = test_server.http();
    let base = http.post_json("/v1/knowledge-bases", &json!({ "name": "b" })).json();
    let base = base["id"].as_str().unwrap();
    let path = format!("/v1/knowledge-bases/{base}/collections");
    let collection = http.post_json(&path, &json!({ "name": "c" })).json();
    let path = format!("/v1/collections/{}/documents", collection["id"].as_str().unwrap());
    let text = text_with_secrets_at_edges();
    let added = http.post_json(&path, &json!({ "title": "t", "text": text })).json();
    let id = added["id"].as_str().unwrap();
    let document = || http.get(&format!("/v1/documents/{id}")).json();
    test_server.wait_until(|| document()["status"] == "ready");
    let n_chunks = document()["chunk_count"].as_u64().unwrap();
    assert!(n_chunks > 30, "{n_chunks}");
    for idx in 0..n_chunks {
        let chunk = http.get(&format!("/v1/chunks/{id}:{idx}")).json();
        assert_no_address(chunk["content"].as_str().unwrap());
    }
    let arguments = json!({
        "knowledge_base_id": base, "query": "word mail", "threshold": 0.0, "max_results": 50,
    });
    let found = test_server.mcp().call("search_documents", &arguments).success();
    let results = found["results"].as_array().unwrap();
    assert!(results.len() > 20, "{}", results.len());
    for result in results {
        assert_no_address(result["content"].as_str().unwrap());
    }
    let found = test_server.mcp().call("search", &json!({ "query": "word mail" })).success();
    let hit = &found["results"][0];
    assert_no_address(hit["text"].as_str().unwrap());
    for offset in (0..400).step_by(7) {
        let arguments = json!({ "id": hit["id"], "offset": offset.to_string() });
        let part = test_server.mcp().call("fetch", &arguments).success();
        assert_no_address(part["text"].as_str().unwrap());
    }
}

#[test]
fn a_file_opened_in_pieces() {
    let folder = testkit::Folder::new();
    let filler = "Plain words of a report that goes on.\n".repeat(30);
    folder.write("documents/notes.txt", format!("{filler}{TEXT}{filler}"));
    folder.write(
        "dowse.toml",
        "data_dir = \"data\"\n[embedder]\nprovider = \"none\"\n[files]\nroots = [\"documents\"]\n",
    );
    let server =
        testkit::Server::start_with_config(env!("CARGO_BIN_EXE_dowse"), &folder.join("dowse.toml"));
    let test_server = TestServer { server, folder };
    let mcp = test_server.mcp();
    let found = || mcp.call("searchFiles", &json!({ "query": "Contact pay today" })).success();
    test_server.wait_until(|| found()["items"].as_array().is_some_and(|items| !items.is_empty()));
    let hit = found()["items"][0].clone();
    assert_hidden(&hit["snippet"].as_str().unwrap().replace("[email]", ""));
    // As a resource, beginning inside of what is private: only the rest of it was looked at.
    let start = filler.chars().count();
    for secret in ["popescu@example.org", "11 1111 1111", "of-the-hills", "leopard-of"] {
        let at = start + TEXT.find(secret).unwrap();
        let uri = format!(
            "dowse://files{}?pointer=char%20{at}",
            hit["path"].as_str().unwrap().replace(' ', "%20")
        );
        let read = mcp.request("resources/read", &json!({ "uri": uri }))["contents"][0].clone();
        let text = read["text"].as_str().unwrap();
        for part in ["popescu", "example", "11 1111", "hills", "leopard", "plains"] {
            assert!(!text.contains(part), "`{part}` from character {at} on: {text}");
        }
        assert!(text.contains("a report that goes on"), "{text}");
    }
    for (before, after) in [(0, 0), (0, 6), (7, 3), (40, 60), (100, 200)] {
        let arguments = json!({
            "path": hit["path"], "pointer": hit["pointer"], "before": before, "after": after,
        });
        let preview = mcp.call("openFile", &arguments);
        let text = preview.text_json()["preview"].as_str().unwrap_or_default().to_owned();
        for secret in SECRETS {
            assert!(!text.contains(secret), "`{secret}` in {text}");
        }
    }
}

/// Rows of a table far longer than what is looked at around a piece of it. Every password is
/// `hiddenN`; some rows have no group.
const N_ROWS: usize = 1_500;

fn rows() -> impl Iterator<Item = [String; 3]> {
    let cell = |word: &str, n: usize| format!("{word}{n}");
    (0..N_ROWS).map(move |n| {
        let group = if n % 3 == 0 { String::new() } else { cell("team", n) };
        [cell("user", n), cell("hidden", n), group]
    })
}

/// The same as a text with separators; some cells hold line breaks and the separator.
fn long_table(separator: &str) -> String {
    let row = |[login, password, group]: [String; 3]| {
        let note = match login.len() {
            5 => format!("\"two\nlines{separator} or so\""),
            6 => "\"a \"\"word\"\"\"".to_owned(),
            _ => String::new(),
        };
        [login, note, password, group].join(separator)
    };
    let rows: Vec<String> = rows().map(row).collect();
    format!("{}\n{}\n", ["login", "note", "password", "group"].join(separator), rows.join("\n"))
}

/// The same as rows of JSON, below names that are the first row or beside them.
fn json_rows(is_beside: bool) -> String {
    let cells: Vec<Vec<String>> = rows().map(|row| row.to_vec()).collect();
    let names = json!(["login", "password", "group"]);
    match is_beside {
        true => json!({ "columns": names, "rows": cells }).to_string(),
        false => {
            let rows = std::iter::once(names).chain(cells.into_iter().map(|row| json!(row)));
            Value::from_iter(rows).to_string()
        }
    }
}

fn yaml_rows() -> String {
    let rows: String = rows()
        .map(|[login, password, group]| format!("  - [{login}, {password}, \"{group}\"]\n"))
        .collect();
    format!("columns: [login, password, group]\nrows:\n{rows}")
}

fn markdown_table() -> String {
    let rows: String = rows()
        .map(|[login, password, group]| format!("| {login} | {password} | {group} |\n"))
        .collect();
    format!("# Accounts\n\n| login | password | group |\n|---|---|---|\n{rows}\nThe end.\n")
}

fn html_table() -> String {
    let rows: String =
        rows().map(|cells| format!("<tr><td>{}</td></tr>\n", cells.join("</td><td>"))).collect();
    format!("<table><tr><th>login</th><th>password</th><th>group</th></tr>{rows}</table>")
}

/// A workbook with two sheets: the first has an index column without a heading, as data frames
/// write it, the second no passwords.
fn workbook() -> Vec<u8> {
    use std::io::Write as _;
    let cell =
        |at: &str, text: &str| format!("<c r=\"{at}\" t=\"inlineStr\"><is><t>{text}</t></is></c>");
    let sheet = |rows: String| {
        format!(
            "<worksheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\">\
             <sheetData>{rows}</sheetData></worksheet>"
        )
    };
    let heading = ["B1", "C1", "D1"].iter().zip(["login", "password", "group"]);
    let heading: String = heading.map(|(at, text)| cell(at, text)).collect();
    let users: String = rows()
        .enumerate()
        .map(|(n, [login, password, group])| {
            let row = n + 2;
            let index = if n % 5 == 0 { String::new() } else { cell(&format!("A{row}"), "7") };
            let cells = [
                cell(&format!("B{row}"), &login),
                cell(&format!("C{row}"), &password),
                if group.is_empty() { String::new() } else { cell(&format!("D{row}"), &group) },
            ];
            format!("<row r=\"{row}\">{index}{}</row>", cells.concat())
        })
        .collect();
    let users = sheet(format!("<row r=\"1\">{heading}</row>{users}"));
    let orders: String = (1..400)
        .map(|row| {
            let cells = ["A", "B", "C", "D"].map(|column| cell(&format!("{column}{row}"), "Oslo"));
            format!("<row r=\"{row}\">{}</row>", cells.concat())
        })
        .collect();
    let relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let types = "http://schemas.openxmlformats.org/package/2006/content-types";
    let spreadsheet = "application/vnd.openxmlformats-officedocument.spreadsheetml";
    let parts = [
        (
            "[Content_Types].xml",
            format!(
                "<Types xmlns=\"{types}\"><Default Extension=\"xml\" \
                 ContentType=\"application/xml\"/><Override PartName=\"/xl/workbook.xml\" \
                 ContentType=\"{spreadsheet}.sheet.main+xml\"/></Types>"
            ),
        ),
        (
            "xl/workbook.xml",
            format!(
                "<workbook xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\" \
                 xmlns:r=\"{relations}\"><sheets><sheet name=\"Users\" sheetId=\"1\" r:id=\"r1\"/>\
                 <sheet name=\"Orders\" sheetId=\"2\" r:id=\"r2\"/></sheets></workbook>"
            ),
        ),
        (
            "xl/_rels/workbook.xml.rels",
            format!(
                "<Relationships \
                 xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">\
                 <Relationship Id=\"r1\" Type=\"{relations}/worksheet\" \
                 Target=\"worksheets/sheet1.xml\"/><Relationship Id=\"r2\" \
                 Type=\"{relations}/worksheet\" Target=\"worksheets/sheet2.xml\"/></Relationships>"
            ),
        ),
        ("xl/worksheets/sheet1.xml", users),
        ("xl/worksheets/sheet2.xml", sheet(orders)),
    ];
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in parts {
        zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(content.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

#[track_caller]
fn assert_no_password(seen: &Value) {
    let text = seen.to_string();
    let at = text.find("hidden").map(|at| &text[at.saturating_sub(80)..(at + 20).min(text.len())]);
    assert!(at.is_none(), "a password is shown: {at:?}");
}

/// Headings were looked for a few thousand characters around a piece: in a long table every
/// password below was shown. So was every one in a row without its last cells.
#[test]
fn cells_far_below_their_headings() {
    let folder = testkit::Folder::new();
    folder.write("documents/comma.csv", long_table(","));
    folder.write("documents/semicolon.csv", long_table(";"));
    folder.write("documents/tabs.tsv", long_table("\t"));
    folder.write("documents/table.md", markdown_table());
    folder.write("documents/table.html", html_table());
    folder.write("documents/book.xlsx", workbook());
    folder.write("documents/first.json", json_rows(false));
    folder.write("documents/beside.json", json_rows(true));
    folder.write("documents/rows.yaml", yaml_rows());
    folder.write("documents/raw.txt", format!("Some notes: {}\n", json_rows(true)));
    folder.write("documents/notes.txt", format!("Some notes.\n\n{}", long_table(";")));
    let files = [
        "comma.csv",
        "semicolon.csv",
        "tabs.tsv",
        "table.md",
        "table.html",
        "book.xlsx",
        "first.json",
        "beside.json",
        "rows.yaml",
        "raw.txt",
        "notes.txt",
    ];
    folder.write(
        "dowse.toml",
        "data_dir = \"data\"\n[embedder]\nprovider = \"none\"\n[files]\nroots = [\"documents\"]\n\
         [limits]\nrate_per_minute = { default = 9999, searchFiles = 9999, openFile = 9999 }\n",
    );
    let server =
        testkit::Server::start_with_config(env!("CARGO_BIN_EXE_dowse"), &folder.join("dowse.toml"));
    let test_server = TestServer { server, folder };
    let (mcp, http) = (test_server.mcp(), test_server.http());

    let base = http.post_json("/v1/knowledge-bases", &json!({ "name": "b" })).json();
    let base = base["id"].as_str().unwrap();
    let path = format!("/v1/knowledge-bases/{base}/collections");
    let collection = http.post_json(&path, &json!({ "name": "c" })).json();
    let path = format!("/v1/collections/{}/documents", collection["id"].as_str().unwrap());
    let added = http.post_json(&path, &json!({ "title": "t", "text": long_table("\t") })).json();
    let document = added["id"].as_str().unwrap();
    let made = http.post_json("/v1/projects", &json!({ "name": "p" })).json();
    let project = made["id"].as_str().unwrap();
    let path = format!("/v1/projects/{project}/tables?name=t");
    let notes = json!({ "notes": long_table(",") });
    let table = http.send(&Request::new("POST", &path).json(&notes)).json();
    let table = table["id"].as_str().unwrap();

    test_server
        .wait_until(|| http.get(&format!("/v1/documents/{document}")).json()["status"] == "ready");
    let open = |file: &str, offset: usize| {
        let path = test_server.folder.join("documents").join(file);
        let arguments = json!({ "path": path, "offset": offset.to_string() });
        mcp.call("openFile", &arguments).text_json()
    };
    test_server.wait_until(|| {
        files
            .iter()
            .all(|file| open(file, 0)["preview"].as_str().is_some_and(|text| !text.is_empty()))
    });
    for file in files {
        let mut n_hidden = 0;
        for offset in (0..N_ROWS * 20).step_by(1_607) {
            let opened = open(file, offset);
            assert_no_password(&opened);
            n_hidden += opened["redacted"].as_u64().unwrap_or(0);
        }
        assert!(n_hidden > 50, "{file}: {n_hidden}");
    }
    let path = test_server.folder.join("documents/book.xlsx");
    let orders =
        mcp.call("openFile", &json!({ "path": path, "pointer": "sheet 'Orders'" })).success();
    assert!(orders["preview"].as_str().unwrap().contains("Oslo | Oslo | Oslo"), "{orders}");

    let find = |n: usize| json!({ "query": format!("user{n}") });
    for n in [10, 501, 1_234, 1_498] {
        let found = mcp.call("searchFiles", &find(n)).success();
        assert!(found["items"].as_array().is_some_and(|items| items.len() > 3), "{found}");
        assert_no_password(&found);
        for item in found["items"].as_array().unwrap() {
            let arguments = json!({ "path": item["path"], "pointer": item["pointer"] });
            assert_no_password(&mcp.call("openFile", &arguments).success());
        }
        let everywhere = mcp.call("search", &find(n)).success();
        assert_no_password(&everywhere);
        for hit in everywhere["results"].as_array().unwrap() {
            assert_no_password(&mcp.call("fetch", &json!({ "id": hit["id"] })).success());
            let arguments = json!({ "id": hit["id"], "offset": (n * 21).to_string() });
            assert_no_password(&mcp.call("fetch", &arguments).text_json());
        }
        let arguments = json!({ "query": format!("user{n}"), "threshold": 0.0 });
        assert_no_password(&mcp.call("search_documents", &arguments).success());
        let offset = n * 21;
        let path = format!("/v1/tables/{table}/node?pointer=/notes&offset={offset}&max_chars=300");
        assert_no_password(&http.get(&path).json());
    }
    let n_chunks = http.get(&format!("/v1/documents/{document}")).json()["chunk_count"].as_u64();
    for idx in 0..n_chunks.unwrap() {
        assert_no_password(&http.get(&format!("/v1/chunks/{document}:{idx}")).json());
    }
    assert_no_password(&http.get(&format!("/v1/knowledge-bases/{base}/summary")).json());
}
