//! Long cells through the real server: whatever does not fit one answer is read on with `offset`,
//! to the last character, in every format; groups are walked beyond the limit of a page; and
//! reading in pieces shows nothing private that reading at once would hide.

use serde_json::{Value, json};
use testkit::{Folder, Mcp};

use crate::test_server::TestServer;

/// More answers than any walk here has.
const MAX_ANSWERS: usize = 1_000;

const CHARS: usize = 8_000;
const TOKENS: usize = 3_000;

/// What a row holds: short, over one piece, over many, in another script, and one of many cells
/// that are over the budget together.
fn text_of(row: usize) -> String {
    match row {
        0 => "short".to_owned(),
        1 => (0..900).map(|n| format!("word{n} ")).collect(),
        2 => (0..2_500).map(|n| char::from_u32(0x4e00 + n).unwrap()).collect(),
        3 => "z".repeat(2_000),
        _ => format!("row {row} {}", "y".repeat(row * 211)),
    }
}

const N_ROWS: usize = 30;
const ADDRESS: &str = "ann.person@example.org";

fn start() -> TestServer {
    let folder = Folder::new();
    let rows: Vec<String> = (0..N_ROWS)
        .map(|row| {
            let tags: Vec<String> = (0..row * 17).map(|n| format!("tag-{row}-{n}")).collect();
            json!({ "key": format!("k{row:02}"), "text": text_of(row), "tags": tags.join(";") })
                .to_string()
        })
        .collect();
    folder.write("rows.jsonl", rows.join("\n"));
    // One row of forty long cells.
    let names: Vec<String> = (0..40).map(|n| format!("c{n:02}")).collect();
    let cells: Vec<String> = (0..40).map(|n| format!("{n}-").repeat(300)).collect();
    folder.write("wide.csv", format!("{}\n{}\n", names.join(","), cells.join(",")));
    let groups: Vec<String> = (0..1_203).map(|n| format!("group-{n:05},{n}")).collect();
    folder.write("many.csv", format!("name,n\n{}\n", groups.join("\n")));
    // An address at every place around the end of a piece.
    let private: Vec<String> =
        (1_970..2_010).map(|n| format!("p{n},\"{} {ADDRESS} end\"", "x".repeat(n))).collect();
    folder.write("private.csv", format!("key,text\n{}\n", private.join("\n")));
    let wide: String =
        names.iter().map(|name| format!("{name} = {{ type = \"string\" }}\n")).collect();
    let string = "{ type = \"string\" }";
    let config = format!(
        "[embedder]\nprovider = \"none\"\n\
         [limits]\nresult_chars = {CHARS}\nresult_tokens = {TOKENS}\n\
         rate_per_minute = {{ default = 1000000, rest = 1000000 }}\n\
         [[tables]]\nname = \"rows\"\nsource = \"rows.jsonl\"\n[tables.fields]\nkey = {string}\n\
         text = {string}\ntags = {{ type = \"array\", items = {string}, match = \"in\", separator = \";\" }}\n\
         [[tables]]\nname = \"wide\"\nsource = \"wide.csv\"\n[tables.fields]\n{wide}\
         [[tables]]\nname = \"many\"\nsource = \"many.csv\"\n[tables.fields]\nname = {string}\n\
         n = {{ type = \"number\" }}\n\
         [[tables]]\nname = \"private\"\nsource = \"private.csv\"\n[tables.fields]\n\
         key = {string}\ntext = {string}\n"
    );
    TestServer::start_in(folder, &config)
}

#[track_caller]
fn ask(mcp: &Mcp, tool: &str, arguments: &Value) -> Value {
    let result = mcp.call(tool, arguments);
    assert!(result.text.chars().count() <= CHARS, "{tool}: {}", result.text.len());
    assert!(text::count_tokens(&result.text) <= TOKENS, "{tool}: {}", result.text);
    result.success()
}

fn without_mark(text: &str) -> &str {
    text.strip_suffix('…').unwrap_or(text)
}

#[test]
fn every_character_of_every_cell_can_be_read() {
    let server = start();
    let mcp = server.mcp();
    // Rows by `next`, and each to its end by `next_offset` with the same cursor.
    let mut arguments = json!({ "table": "rows", "pageSize": 1, "columns": ["key", "text"] });
    let mut read: Vec<String> = Vec::new();
    for _ in 0..N_ROWS {
        let (mut text, mut next) = (String::new(), None);
        arguments["offset"] = json!(0);
        for _ in 0..MAX_ANSWERS {
            let answer = ask(&mcp, "query_table", &arguments);
            let piece = answer["rows"][0]["text"].as_str().unwrap();
            assert_eq!(piece.ends_with('…'), answer.get("next_offset").is_some(), "{answer}");
            text.push_str(without_mark(piece));
            next = answer.get("next").cloned();
            let Some(offset) = answer.get("next_offset") else { break };
            let warnings = answer["warnings"].to_string();
            assert!(warnings.contains(&format!("`offset`: {offset}")), "{warnings}");
            arguments["offset"] = offset.clone();
        }
        read.push(text);
        arguments["cursor"] = next.unwrap_or_default();
    }
    assert_eq!(read, (0..N_ROWS).map(text_of).collect::<Vec<_>>());
    // Long cells take no row away, whatever the page.
    for page_size in [7, 500] {
        let mut arguments = json!({ "table": "rows", "pageSize": page_size });
        let mut keys = Vec::new();
        for _ in 0..MAX_ANSWERS {
            let answer = ask(&mcp, "query_table", &arguments);
            let rows = answer["rows"].as_array().unwrap();
            keys.extend(rows.iter().map(|row| row["key"].as_str().unwrap().to_owned()));
            match answer.get("next") {
                Some(next) => arguments["cursor"] = next.clone(),
                None => break,
            }
        }
        assert_eq!(keys, (0..N_ROWS).map(|row| format!("k{row:02}")).collect::<Vec<_>>());
    }
    // One row at a time, so that pieces can be put together, in every format.
    for format in ["json", "stats", "csv", "markdown"] {
        for row in 0..N_ROWS {
            let (mut offset, mut read) = (json!(0), String::new());
            for _ in 0..MAX_ANSWERS {
                let answer = ask(
                    &mcp,
                    "query_table",
                    &json!({
                        "table": "rows", "columns": ["text"], "format": format, "offset": offset,
                        "facets": "key", "filters": { "key": format!("k{row:02}") },
                    }),
                );
                let piece = match format {
                    "csv" => answer["csv"].as_str().unwrap().lines().nth(1).unwrap_or_default(),
                    "markdown" => {
                        let line = answer["markdown"].as_str().unwrap().lines().nth(2).unwrap();
                        line.strip_prefix("| ").unwrap().strip_suffix(" |").unwrap()
                    }
                    _ => answer["rows"][0]["text"].as_str().unwrap(),
                };
                read.push_str(without_mark(piece.trim_matches('"')));
                match answer.get("next_offset") {
                    Some(next) => offset = next.clone(),
                    None => break,
                }
            }
            let squeezed = |text: &str| text.replace(' ', "");
            assert_eq!(squeezed(&read), squeezed(&text_of(row)), "{format} {row}");
        }
    }
}

#[test]
fn lists_and_rows_of_many_cells_are_read_to_their_ends() {
    let server = start();
    let mcp = server.mcp();
    for row in [1, 11, N_ROWS - 1] {
        let (mut offset, mut read, mut is_open) = (json!(0), Vec::<String>::new(), false);
        for _ in 0..MAX_ANSWERS {
            let filters = json!({ "key": format!("k{row:02}") });
            let arguments = json!({
                "table": "rows", "columns": "tags", "offset": offset, "filters": filters,
            });
            let answer = ask(&mcp, "query_table", &arguments);
            for tag in answer["rows"][0]["tags"].as_array().unwrap() {
                let tag = tag.as_str().unwrap();
                if is_open {
                    read.last_mut().unwrap().push_str(without_mark(tag));
                } else {
                    read.push(without_mark(tag).to_owned());
                }
                is_open = tag.ends_with('…');
            }
            match answer.get("next_offset") {
                Some(next) => offset = next.clone(),
                None => break,
            }
        }
        let expected: Vec<String> = (0..row * 17).map(|n| format!("tag-{row}-{n}")).collect();
        assert_eq!(read, expected);
    }
    let (mut offset, mut read) = (json!(0), vec![String::new(); 40]);
    for _ in 0..MAX_ANSWERS {
        let answer = ask(&mcp, "query_table", &json!({ "table": "wide", "offset": offset }));
        for (n, read) in read.iter_mut().enumerate() {
            let piece = answer["rows"][0][format!("c{n:02}")].as_str().unwrap();
            read.push_str(without_mark(piece));
        }
        match answer.get("next_offset") {
            Some(next) => offset = next.clone(),
            None => break,
        }
    }
    for (n, read) in read.iter().enumerate() {
        assert_eq!(*read, format!("{n}-").repeat(300), "{n}");
    }
}

#[test]
fn groups_are_walked_beyond_the_limit_of_a_page_and_long_ones_are_read_on() {
    let server = start();
    let mcp = server.mcp();
    let expected: Vec<String> = (0..1_203).map(|n| format!("group-{n:05}")).collect();
    for limit in [37, 500] {
        let mut arguments = json!({
            "table": "many", "group_by": "name", "measures": ["count"], "limit": limit,
        });
        let mut seen = Vec::new();
        for n in 0..MAX_ANSWERS {
            if n == 1 && limit == 500 {
                // A group that comes before those that were given moves them all.
                let path = server.folder.join("many.csv");
                let rows = fs_err::read_to_string(&path).unwrap();
                fs_err::write(&path, format!("{rows}group-00000-new,1\n")).unwrap();
                let counted = json!({ "table": "many", "measures": ["count"] });
                server.wait_until(|| {
                    mcp.call("aggregate_table", &counted).success()["rows"][0]["count"] == 1_204
                });
            }
            let answer = ask(&mcp, "aggregate_table", &arguments);
            let rows = answer["rows"].as_array().unwrap();
            assert!(rows.len() <= limit);
            seen.extend(rows.iter().map(|row| row["name"].as_str().unwrap().to_owned()));
            match answer.get("next") {
                Some(next) => arguments["cursor"] = next.clone(),
                None => break,
            }
        }
        assert_eq!(seen, expected, "{limit}");
    }
    let (mut offset, mut read) = (json!(0), String::new());
    for _ in 0..MAX_ANSWERS {
        let arguments = json!({
            "table": "rows", "group_by": "text", "filters": { "key": "k02" }, "offset": offset,
        });
        let answer = ask(&mcp, "aggregate_table", &arguments);
        read.push_str(without_mark(answer["rows"][0]["text"].as_str().unwrap()));
        match answer.get("next_offset") {
            Some(next) => offset = next.clone(),
            None => break,
        }
    }
    assert_eq!(read, text_of(2));
    let wrong = mcp.call("aggregate_table", &json!({ "table": "many", "cursor": "x" })).error();
    assert_eq!(wrong["error"]["code"], "BAD_REQUEST", "{wrong}");
}

/// The end of a piece once cut an address in two, and neither half looked like one.
#[test]
fn pieces_show_nothing_private() {
    let server = start();
    let mcp = server.mcp();
    for key in 1_970..2_010 {
        let mut shown = String::new();
        for offset in [0, 1_990, 2_000] {
            let arguments = json!({
                "table": "private", "filters": { "key": format!("p{key}") }, "columns": ["text"],
                "offset": offset,
            });
            let answer = ask(&mcp, "query_table", &arguments);
            shown.push_str(answer["rows"][0]["text"].as_str().unwrap());
        }
        for part in ["person", "ann", "example"] {
            assert!(!shown.contains(part), "{key}: {shown}");
        }
        assert!(shown.contains("[email]"), "{key}: {shown}");
    }
}
