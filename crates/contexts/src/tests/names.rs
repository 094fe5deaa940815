//! What names elsewhere in a document say of a node: what the whole hides, every node, page and
//! chunk of it hides.

use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::{Value, json};

use super::nodes::Reading;
use super::{Fixture, member};
use crate::Node;

/// Gives what leaves of a node, as the guard writes it.
fn shown(node: &Node) -> String {
    let around = node.around("/text");
    if around.name.as_deref().is_some_and(text::is_secret_name) {
        return text::PrivateKind::Password.mark().to_owned();
    }
    let context = text::PieceContext {
        heading: around.heading.as_deref(),
        before: &around.before,
        after: &around.after,
    };
    text::redact_piece(&node.text, context).text
}

fn pointers(value: &Value, at: &str, all: &mut Vec<String>) {
    all.push(at.to_owned());
    match value {
        Value::Object(members) => members.iter().for_each(|(key, value)| {
            pointers(value, &format!("{at}/{}", model::pointer_token(key)), all);
        }),
        Value::Array(items) => items.iter().enumerate().for_each(|(idx, value)| {
            pointers(value, &format!("{at}/{idx}"), all);
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[track_caller]
fn check(document: &Value, sizes: &[usize]) {
    let reading = Reading::of(&document.to_string());
    let whole = text::redact(&document.to_string()).text;
    assert!(!whole.contains("hidden"), "{whole}");
    let mut all = vec![];
    pointers(document, "", &mut all);
    for pointer in all {
        for size in sizes {
            let mut offset = 0;
            loop {
                let node = reading.get(&pointer, offset, *size).unwrap();
                let list = reading.list(&pointer, offset, *size).unwrap();
                for seen in [shown(&node), shown(&list)] {
                    let is_hidden =
                        !["hidd", "idde", "dden"].iter().any(|part| seen.contains(part));
                    assert!(is_hidden, "{pointer} from {offset} by {size}: {seen} of {document}");
                }
                match node.next {
                    Some(next) if next > offset => offset = next,
                    _ => break,
                }
            }
        }
    }
}

/// 496 of 600 cells were shown by following `next`, and each by its own pointer.
#[test]
fn every_node_hides_what_the_whole_hides() {
    let rows = |n: usize| -> Vec<Value> {
        (0..n).map(|n| json!([format!("user{n}"), format!("hidden{n}"), n])).collect()
    };
    let mut with_names = vec![json!(["user", "password", "n"])];
    with_names.extend(rows(40));
    check(&Value::from(with_names), &[7, 90, 1_000]);
    check(&json!({ "columns": ["user", "password", "n"], "rows": rows(40) }), &[7, 90, 1_000]);
    check(&json!({ "data": rows(5), "header": ["user", "password", "n"] }), &[90]);
    check(
        &json!({ "t": { "cols": [{ "label": "user" }, { "label": "password" }],
            "rows": [{ "c": [{ "v": "ann" }, { "v": "hidden1", "f": ["hidden2"] }] }] } }),
        &[9, 1_000],
    );
    check(&json!({ "fields": ["user", "password"], "pages": { "1": [rows(3)] } }), &[9, 1_000]);
    check(&json!([["host", "x"], ["password", "hidden1"], ["port", "5"]]), &[5, 1_000]);
    check(&json!({ "set": [{ "key": "password", "value": { "now": "hidden1" } }] }), &[5, 1_000]);
    check(&json!(["user;password", "ann;hidden1", "bob;hidden2"]), &[3, 12, 1_000]);
    check(&json!({ "columns": ["user", "password"], "rows": ["ann;hidden1"] }), &[3, 1_000]);
    check(&json!({ "notes": "user,password\nann,hidden1\nbob,hidden2" }), &[3, 12, 1_000]);
    check(
        &json!({ "notes": json!([["user", "password"], ["ann", "hidden1"]]).to_string() }),
        &[3, 12, 1_000],
    );
    check(&json!({ "secrets": { "ann": "hidden1x", "bob": "hidden2x" } }), &[5, 1_000]);
    check(&json!({ "name": "password", "values": ["hidden1", "hidden2"] }), &[3, 12, 1_000]);
    check(
        &json!({ "sets": [{ "values": ["hidden1", { "x": "hidden2" }], "name": "password" }] }),
        &[12, 1_000],
    );
    check(
        &json!({ "columns": [{ "name": "user", "data": ["ann"] },
            { "name": "password", "data": ["hidden1", "hidden2"] }] }),
        &[3, 12, 1_000],
    );
}

/// A number or a list beside them showed what followed in an object that is called a secret, and
/// the names of one table the secrets of another.
#[test]
fn nodes_inside_of_others_hide_what_the_whole_hides() {
    let secrets = json!({ "n": 5, "ann": "hidden1x", "old": [null, "hidden2x"],
        "db": { "x": { "y": "hidden3x" }, "all": [{ "text": "hidden4x" }] } });
    check(&json!({ "secrets": secrets }), &[1_000]);
    check(&json!({ "a": [{ "credentials": [{ "n": 1, "text": "hidden1x" }] }] }), &[1_000]);
    let column_names = json!({ "password": { "0": "-" }, "user": { "0": "ann" } });
    for table in [
        json!([["user", "password"], ["ann", "hidden1"], ["bob", "hidden2"]]),
        json!({ "fields": ["user", "password"], "records": [{ "v": ["ann", "hidden1"] }] }),
        json!({ "data": [["ann", "hidden1"]], "header": ["user", "password"] }),
    ] {
        check(&json!({ "cols": column_names, "t": table }), &[3, 12, 1_000]);
        check(&json!({ "a": table, "cols": column_names }), &[3, 12, 1_000]);
    }
}

/// Only a list of names directly beside the rows was known.
#[test]
fn every_node_hides_what_something_beside_the_rows_describes() {
    let rows = || -> Vec<Value> {
        (0..40).map(|n| json!([format!("user{n}"), format!("hidden{n}")])).collect()
    };
    let names = json!([{ "name": "user", "type": "text" }, { "name": "password" }]);
    check(&json!({ "schema": { "fields": names }, "data": rows() }), &[7, 90, 1_000]);
    check(&json!({ "meta": { "view": { "columns": names } }, "data": rows() }), &[90, 1_000]);
    check(&json!({ "meta": names, "data": rows(), "rows": 40 }), &[90]);
    check(
        &json!({ "manifest": { "schema": { "columns": names } },
            "result": { "data_array": rows() } }),
        &[90, 1_000],
    );
    check(
        &json!({ "a": { "data": rows(), "schema": { "user": "text", "password": "text" } } }),
        &[90, 1_000],
    );
    let one: Vec<Value> = (0..9).map(|n| json!([format!("hidden{n}")])).collect();
    check(&json!({ "columns": ["password"], "rows": one }), &[5, 90]);
    check(&json!({ "notes": "user,password\nann,hiddenSecret\nbob,hiddenPW" }), &[3, 12, 1_000]);
    check(
        &json!({ "columns": ["user", "password"], "rows": [["ann", "hiddenSecret"]] }),
        &[3, 12, 1_000],
    );
}

/// Words of hidden cells were in the index, and chunks of short strings showed them.
#[test]
fn what_is_hidden_is_in_no_index() {
    let world = Fixture::new();
    let ann = member("acme", "ann");
    let project = world.project(&ann);
    let rows: Vec<Value> =
        (0..40).map(|n| json!([format!("harbour user{n}"), format!("hidden{n}")])).collect();
    for document in [
        json!({ "columns": ["user", "password"], "rows": rows }),
        json!({ "data": rows, "header": ["user", "password"] }),
        json!({ "list": [["user", "password"], ["harbour", "hidden1"]], "api_key": "hidden2" }),
        json!({ "secrets": { "harbour": "harbour pier", "ann": "hidden1x" } }),
        json!({ "schema": { "fields": [{ "name": "user" }, { "name": "password" }] },
            "data": rows }),
        json!({ "x": "harbour", "values": ["hidden1", "hidden2"], "name": "password" }),
    ] {
        let table = world.table(&ann, project.id.as_str(), &document);
        let tool = world.tool(&ann, &table.id, "", "all");
        assert!(!world.search(&ann, &tool.id, "harbour").results.is_empty());
        for query in ["harbour", "hidden1", "hidden2", "password"] {
            for result in world.search(&ann, &tool.id, query).results {
                let text = &result.chunk.chunk_text;
                assert!(!text.contains("hidden"), "{query}: {text} of {document}");
            }
        }
    }
}

/// A table of any size, at any depth, beside anything.
fn table() -> impl Strategy<Value = Value> {
    (1_usize..30, 2_usize..6, any::<usize>(), 0_usize..4, any::<bool>()).prop_map(
        |(n_rows, n_columns, seed, form, is_deep)| {
            let secret = seed % n_columns;
            let name = |at: usize| if at == secret { "api_key" } else { "note" };
            let names: Vec<Value> = (0..n_columns).map(|at| json!(name(at))).collect();
            let cell = |row: usize, at: usize| match (at == secret, row % 5) {
                (true, 4) => json!({ "x": [format!("hidden{row}")] }),
                (true, _) => json!(format!("hidden{row}")),
                (false, 3) => Value::Null,
                (false, _) => json!("open \"[,{ word"),
            };
            let row = |row: usize| -> Value { (0..n_columns).map(|at| cell(row, at)).collect() };
            let rows: Vec<Value> = (0..n_rows).map(row).collect();
            let table = match form {
                0 => json!({ "fields": names, "x": "y", "rows": rows }),
                1 => json!({ "rows": rows, "headers": names }),
                2 => json!({ "names": names, "rows": { "a": rows } }),
                _ => Value::from([vec![Value::from(names)], rows].concat()),
            };
            if is_deep { json!([{ "before": ["a", "b"], "t": table }, 5]) } else { table }
        },
    )
}

proptest! {
    #![proptest_config(Config::with_cases(8))]

    #[test]
    fn tables_of_every_form(document in table(), size in 4_usize..300) {
        check(&document, &[size]);
    }
}
