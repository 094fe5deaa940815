//! Nodes by pointer: exact where they fit, cut with a notice where they do not.

use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::{Value, json};

use super::{Fixture, member, soon};
use crate::{Error, Node, NodeRequest, Result};

pub(super) struct Reading {
    world: Fixture,
    table: String,
}

impl Reading {
    pub(super) fn of(text: &str) -> Self {
        let world = Fixture::new();
        let ann = member("acme", "ann");
        let project = world.project(&ann);
        let file = world.folder.path().join("raw.json");
        fs_err::write(&file, text).unwrap();
        let table = world.service.create_table(&ann, &project.id, "T", &file, &soon()).unwrap();
        Reading { world, table: table.id.to_string() }
    }

    pub(super) fn list(&self, path: &str, offset: usize, max_chars: usize) -> Result<Node> {
        let request = NodeRequest { json_path: path.to_owned(), offset, max_chars };
        self.world.service.get_members(
            &member("acme", "ann"),
            &crate::TableId::new(&self.table),
            &request,
            &soon(),
        )
    }

    pub(super) fn get(&self, path: &str, offset: usize, max_chars: usize) -> Result<Node> {
        let request = NodeRequest { json_path: path.to_owned(), offset, max_chars };
        self.world.service.get_node(
            &member("acme", "ann"),
            &crate::TableId::new(&self.table),
            &request,
            &soon(),
        )
    }
}

#[test]
fn nodes_of_every_kind() {
    let reading = Reading::of(
        r#" {"a/b": {"n": 1e400, "t": [true, null, []], "s": "x\ny"}, "": "empty key", "deep": {}} "#,
    );
    let check = |path: &str, kind: &str, text: &str| {
        let node = reading.get(path, 0, 1000).unwrap();
        assert_eq!((node.kind, node.text.as_str(), node.truncated), (kind, text, false), "{path}");
    };
    check("/a~1b", "object", r#"{"n":1e400,"t":[true,null,[]],"s":"x\ny"}"#);
    check("/a~1b/n", "number", "1e400");
    check("/a~1b/t", "array", "[true,null,[]]");
    check("/a~1b/t/0", "boolean", "true");
    check("/a~1b/t/1", "null", "null");
    check("/a~1b/t/2", "array", "[]");
    check("/a~1b/s", "string", "x\ny");
    check("/", "string", "empty key");
    check("/deep", "object", "{}");
    for missing in ["/a", "/a~1b/t/3", "/a~1b/t/00", "/a~1b/t/-", "/a~1b/n/0", "//", "/a~1b/s/0"] {
        assert!(matches!(reading.get(missing, 0, 10), Err(Error::NoNode { .. })), "{missing}");
    }
    assert!(matches!(reading.get("a", 0, 10), Err(Error::BadPointer(_))));
}

/// Paths as programs and models write them were refused.
#[test]
fn nodes_by_paths_that_are_nearly_pointers() {
    let reading = Reading::of(r#"{"services": [{"a/b": {"c.d": 1}}, {"e f": 2}], "x": {"y": 3}}"#);
    let check = |path: &str, pointer: &str| {
        let node = reading.get(path, 0, 1000).unwrap();
        assert_eq!(node.json_pointer, pointer, "{path}");
        assert_eq!(node.json_path, pointer, "{path}");
    };
    for path in [
        "services/0",
        "services[0]",
        "$.services[0]",
        "$['services'][0]",
        "#/services/0",
        "/services/0/",
        " /services/0",
    ] {
        check(path, "/services/0");
    }
    check("services[0]['a/b']['c.d']", "/services/0/a~1b/c.d");
    check("/services/1/e%20f", "/services/1/e f");
    check("x.y", "/x/y");
    check("$", "");
    for missing in ["services[7]", "//", "/services/7/"] {
        assert!(reading.get(missing, 0, 10).is_err(), "{missing}");
    }
}

/// A value was hidden with its name beside it, and shown when it was read alone.
#[test]
fn a_value_is_called_what_is_around_it() {
    let reading = Reading::of(
        r#"{"env": [{"name": "DB_PASSWORD", "value": "x"}, {"key": "colour", "value": "y"}],
            "secret": {"value": "z", "list": ["w"]}, "value": "v", "plain": {"text": "t"}}"#,
    );
    let check = |path: &str, name: Option<&str>| {
        let around = reading.get(path, 0, 10).unwrap().around("/text");
        assert_eq!(around.name.as_deref(), name, "{path}");
    };
    check("/env/0/value", Some("DB_PASSWORD"));
    check("/env/1/value", Some("env"));
    check("/secret/value", Some("secret"));
    check("/secret/list/0", Some("secret"));
    check("/plain/text", Some("text"));
    check("/value", Some(""));
}

#[test]
fn a_long_string_is_read_in_pieces() {
    let text: String = (0..3000).map(|number| format!("{number} é ")).collect();
    let reading = Reading::of(&json!({ "s": text }).to_string());
    let mut read = String::new();
    loop {
        let node = reading.get("/s", read.chars().count(), 777).unwrap();
        assert_eq!(node.total_chars, Some(text.chars().count()));
        assert!(node.truncated);
        read.push_str(&node.text);
        if node.warnings.is_empty() {
            break;
        }
    }
    assert_eq!(read, text);
    let beyond = reading.get("/s", 1_000_000, 10).unwrap();
    assert_eq!((beyond.text.as_str(), beyond.char_start), ("", text.chars().count()));
}

#[test]
fn what_does_not_fit_is_left_out_and_said() {
    let document = json!({ "list": (0..100).collect::<Vec<_>>(), "s": "x".repeat(600), "z": 1 });
    let reading = Reading::of(&document.to_string());
    let node = reading.get("", 0, 40).unwrap();
    assert_eq!(node.text, r#"{"list":[0,1,2,3,4,5,6,7,8,9,10,11,12,13,"…"]}"#);
    assert!(node.truncated && node.warnings.len() == 2, "{:?}", node.warnings);
    let node = reading.get("", 0, 10_000).unwrap();
    let value: Value = serde_json::from_str(&node.text).unwrap();
    assert!(value["s"].as_str().unwrap().ends_with("… (600 characters)"));
    assert_eq!(value["z"], 1);
    assert!(node.truncated && node.warnings[0].contains("1 strings"), "{:?}", node.warnings);
}

/// Walking `next` to the end gives every member once, at every size; one that alone is over the
/// size is cut and named.
#[test]
fn members_are_walked_to_the_end() {
    let object: serde_json::Map<String, Value> = (0..400)
        .map(|number| (format!("key {number}"), json!([number, { "n": number }])))
        .collect();
    let list: Vec<Value> = (0..500).map(|number| json!(number)).collect();
    let reading = Reading::of(&json!({ "list": list, "object": object }).to_string());
    for max_chars in [7, 40, 333, 5_000, 50_000] {
        let (mut offset, mut numbers) = (0, vec![]);
        loop {
            let node = reading.get("/list", offset, max_chars).unwrap();
            let shown: Vec<Value> = serde_json::from_str(&node.text).unwrap();
            numbers.extend(shown);
            let Some(next) = node.next else { break };
            assert!(next > offset, "{max_chars}: {next} after {offset}");
            offset = next;
        }
        assert_eq!(numbers, list, "{max_chars}");
    }
    for max_chars in [60, 333, 50_000] {
        let (mut offset, mut members) = (0, serde_json::Map::new());
        loop {
            let node = reading.get("/object", offset, max_chars).unwrap();
            let shown: serde_json::Map<String, Value> = serde_json::from_str(&node.text).unwrap();
            members.extend(shown);
            let Some(next) = node.next else { break };
            offset = next;
        }
        assert_eq!(members, object, "{max_chars}");
    }
    let node = reading.get("/object", 0, 10).unwrap();
    assert_eq!(node.next, Some(1));
    assert!(node.warnings.iter().any(|warning| warning.contains("`/object/key 0`")), "{node:?}");
    assert_eq!(reading.get("/list", 500, 100).unwrap().text, "[]");
}

/// How much a value holds, as a list of members says it.
fn size_of(value: &Value) -> Option<u64> {
    match value {
        Value::Array(elements) => Some(elements.len() as u64),
        Value::Object(members) => Some(members.len() as u64),
        Value::String(text) => Some(text.chars().count() as u64),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// A large first member hid the others, and was said to have as many elements as there was room
/// for.
#[test]
fn members_are_listed_beside_a_large_one() {
    let large: Vec<Value> =
        (0..5_000).map(|n| json!({ "id": n, "text": "x".repeat(40) })).collect();
    let document = json!({ "large": large, "": { "k": [] }, "long": "é".repeat(3_000), "n": 1 });
    let reading = Reading::of(&document.to_string());
    let node = reading.list("", 0, 2_000).unwrap();
    let shown: serde_json::Map<String, Value> = serde_json::from_str(&node.text).unwrap();
    assert_eq!(
        shown.keys().collect::<Vec<_>>(),
        document.as_object().unwrap().keys().collect::<Vec<_>>()
    );
    for (name, size) in shown.keys().zip(&node.members) {
        assert_eq!(size.size, size_of(&document[name]), "{name}");
        assert!(size.counted);
    }
    assert_eq!(node.next, None);
    assert!(node.text.chars().count() < 1_000, "{}", node.text);
    // A leaf is what it is without members.
    assert_eq!(reading.list("/n", 0, 10).unwrap(), reading.get("/n", 0, 10).unwrap());
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z\"é ]{0,300}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 60, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::btree_map("[a-d/~]{0,2}", inner, 0..8)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(Config { cases: 24, ..Config::default() })]

    /// Walking `next` to the end lists every member once, with what it holds, at every size.
    #[test]
    fn listed_members_are_those_of_the_document(document in any_json(), max_chars in 1_usize..2_000) {
        let reading = Reading::of(&document.to_string());
        let wanted: Vec<Option<u64>> = match &document {
            Value::Array(elements) => elements.iter().map(size_of).collect(),
            Value::Object(members) => members.values().map(size_of).collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => vec![],
        };
        let (mut offset, mut sizes, mut n_shown) = (0, vec![], 0);
        loop {
            let node = reading.list("", offset, max_chars).unwrap();
            let shown: Value = match node.kind {
                "array" | "object" => serde_json::from_str(&node.text).unwrap(),
                _ => break,
            };
            prop_assert_eq!(size_of(&shown), Some(node.members.len() as u64));
            n_shown += node.members.len();
            sizes.extend(node.members.iter().map(|member| member.size));
            let Some(next) = node.next else { break };
            prop_assert!(next > offset);
            prop_assert_eq!(next, n_shown);
            offset = next;
        }
        prop_assert_eq!(sizes, wanted);
    }
}

proptest! {
    #![proptest_config(Config { cases: 8, ..Config::default() })]

    #[test]
    fn the_text_is_json_whatever_the_budget(
        members in prop::collection::vec(("[a-c]{1,3}", prop::collection::vec(any::<i32>(), 0..5)), 0..6),
    ) {
        let document = Value::Object(
            members.into_iter().map(|(key, list)| (key, json!([list, { "k": "v" }]))).collect(),
        );
        let reading = Reading::of(&document.to_string());
        for max_chars in 1..document.to_string().len() + 2 {
            let node = reading.get("", 0, max_chars).unwrap();
            let value: Value = serde_json::from_str(&node.text).unwrap();
            prop_assert_eq!(value == document, !node.truncated);
        }
    }
}
