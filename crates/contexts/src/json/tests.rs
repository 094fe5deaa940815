//! The walk against `serde_json` as the plain model, and what a hostile document meets.

use std::io::Read;

use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::limits;

/// A reader that gives a few bytes at a time, so that every token is cut somewhere.
struct Drip<'a> {
    bytes: &'a [u8],
    step: usize,
}

impl Read for Drip<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let n_bytes = self.step.min(self.bytes.len()).min(into.len());
        into[..n_bytes].copy_from_slice(&self.bytes[..n_bytes]);
        self.bytes = &self.bytes[n_bytes..];
        Ok(n_bytes)
    }
}

/// One node as the walk shows it.
#[derive(Debug, PartialEq)]
struct Seen {
    pointer: String,
    kind: Kind,
    text: String,
}

fn walked(text: &[u8], step: usize) -> Result<Vec<Seen>, JsonError> {
    let mut walk = Walk::new(Drip { bytes: text, step });
    let mut seen = vec![];
    while let Some(event) = walk.next()? {
        let (kind, text) = match event {
            Event::End(_) => continue,
            Event::Begin(kind) => (kind, String::new()),
            Event::Leaf(kind) => (kind, walk.text().to_owned()),
        };
        seen.push(Seen { pointer: walk.pointer().to_owned(), kind, text });
    }
    Ok(seen)
}

/// The same by recursion over a value in memory.
fn plain(value: &Value, pointer: &str, seen: &mut Vec<Seen>) {
    let mut leaf = |kind: Kind, text: String| {
        seen.push(Seen { pointer: pointer.to_owned(), kind, text });
    };
    match value {
        Value::Null => leaf(Kind::Null, "null".to_owned()),
        Value::Bool(truth) => leaf(Kind::Boolean, truth.to_string()),
        Value::Number(number) => leaf(Kind::Number, number.to_string()),
        Value::String(text) => leaf(Kind::String, text.clone()),
        Value::Array(elements) => {
            leaf(Kind::Array, String::new());
            for (index, element) in elements.iter().enumerate() {
                plain(element, &format!("{pointer}/{index}"), seen);
            }
        }
        Value::Object(members) => {
            leaf(Kind::Object, String::new());
            for (key, member) in members {
                let key = key.replace('~', "~0").replace('/', "~1");
                plain(member, &format!("{pointer}/{key}"), seen);
            }
        }
    }
}

fn documents() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..40)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn a_walk_sees_what_a_parser_sees(document in documents(), pretty: bool, step in 1_usize..40) {
        let text = match pretty {
            true => serde_json::to_string_pretty(&document),
            false => serde_json::to_string(&document),
        };
        let mut expected = vec![];
        plain(&document, "", &mut expected);
        prop_assert_eq!(walked(text.unwrap().as_bytes(), step).unwrap(), expected);
    }

    #[test]
    fn every_node_is_found_by_its_pointer_in_the_parser(document in documents()) {
        for seen in walked(document.to_string().as_bytes(), 1000).unwrap() {
            prop_assert!(document.pointer(&seen.pointer).is_some(), "{}", seen.pointer);
        }
    }

    #[test]
    fn bytes_are_taken_or_refused_as_a_parser_does(text in "[\\[\\]{}\",:\\\\u0-9a-f.eE+\\- tnl\n]{0,40}") {
        let ours = walked(text.as_bytes(), 7);
        let theirs: Result<Value, _> = serde_json::from_str(&text);
        match (&ours, &theirs) {
            // Ours alone refuses duplicate keys, theirs alone numbers beyond a double.
            (Err(JsonError::Invalid { problem: Problem::DuplicateKey { .. }, .. }), _) => {}
            (Ok(_), Err(error)) => prop_assert!(error.to_string().contains("number out of range"), "{error}"),
            _ => prop_assert_eq!(ours.is_ok(), theirs.is_ok(), "{:?} {:?}", ours, theirs),
        }
    }

    #[test]
    fn keys_survive_a_pointer(keys in prop::collection::vec(any::<String>(), 0..6)) {
        let mut text = String::new();
        for key in &keys {
            pointer::push_key(&mut text, key);
        }
        prop_assert_eq!(pointer::components(&text).unwrap(), keys.clone());
        prop_assert_eq!(pointer::last(&text), keys.last().cloned());
    }

    #[test]
    fn a_scope_covers_by_component(scope in "(/[ab~]{0,2}){0,3}", more in "[/ab]{0,4}") {
        let place = format!("{scope}{more}");
        let is_below = more.is_empty() || more.starts_with('/');
        prop_assert_eq!(pointer::covers(&scope, &place), is_below);
        if is_below {
            prop_assert_eq!(pointer::relative(&scope, &place), Some(more.as_str()));
        }
    }

    #[test]
    fn only_the_asked_characters_are_kept(text: String, from in 0_usize..20, len in 0_usize..20) {
        let json = serde_json::to_string(&text).unwrap();
        let mut walk = Walk::new(Drip { bytes: json.as_bytes(), step: 3 });
        walk.keep_text(from..from + len);
        walk.next().unwrap();
        let expected: String = text.chars().skip(from).take(len).collect();
        prop_assert_eq!(walk.text(), expected);
        prop_assert_eq!(walk.n_chars(), text.chars().count());
    }
}

#[track_caller]
fn refused(text: impl AsRef<[u8]>, expected: &str) {
    for step in [1, 2, 1000] {
        let error = walked(text.as_ref(), step).expect_err("it must be refused");
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn what_is_no_json_is_refused_with_its_place() {
    refused("", "the document ends where a value is expected at line 1, column 1 (byte 0)");
    refused(
        "[1,\n 2",
        "the document ends where `,` or `]` is expected at line 2, column 3 (byte 6)",
    );
    refused(
        "{\"a\":1,}",
        "found `}` where a key in quotes is expected at line 1, column 8 (byte 7)",
    );
    refused("[1,]", "found `]` where a value is expected at line 1, column 4 (byte 3)");
    refused("[01]", "found `1` where `,` or `]` is expected at line 1, column 3 (byte 2)");
    refused("[-]", "found `]` where a digit is expected at line 1, column 3 (byte 2)");
    refused("[1.]", "found `]` where a digit is expected at line 1, column 4 (byte 3)");
    refused(
        "nul",
        "the document ends where `true`, `false` or `null` is expected at line 1, column 4 (byte 3)",
    );
    refused(
        "1 2",
        "found `2` where the end of the document is expected at line 1, column 3 (byte 2)",
    );
    refused("[\"é\", 'x']", "found `\\'` where a value is expected at line 1, column 7 (byte 7)");
    refused(
        "[\"a\nb\"]",
        "the control character U+000A must be escaped in a string at line 1, column 4 (byte 3)",
    );
    refused("\"\\x\"", "`\\x` is not an escape of JSON at line 1, column 2 (byte 1)");
    refused(b"[\"\xff\"]", "the bytes are not UTF-8 at line 1, column 3 (byte 2)");
    refused(b"[\"\xe2\x82", "the bytes are not UTF-8 at line 1, column 3 (byte 2)");
}

#[test]
fn half_a_surrogate_pair_is_refused_and_a_whole_one_taken() {
    for text in [r#""\ud800""#, r#""\ud800x""#, r#""\udc00""#, r#""\ud800\n""#, r#""\ud800\ud800""#]
    {
        assert!(walked(text.as_bytes(), 1).is_err(), "{text}");
    }
    refused(
        r#"["a", "b\udc00"]"#,
        "`\\udc00` is half of a surrogate pair, which stands for no character at line 1, column 9 (byte 8)",
    );
    assert_eq!(walked(br#""\ud83d\ude00\u0000""#, 1).unwrap()[0].text, "😀\0");
}

#[test]
fn a_duplicate_key_is_refused_however_it_is_written() {
    refused(
        "{\"a\": 1,\n \"\\u0061\": 2}",
        "the key `a` occurs twice in the same object at line 2, column 2 (byte 10)",
    );
    let keys: Vec<String> = (0..100).map(|key| format!("\"k{key}\":0")).collect();
    assert!(walked(format!("{{{}}}", keys.join(",")).as_bytes(), 1000).is_ok());
    assert!(walked(format!("{{{},\"k7\":1}}", keys.join(",")).as_bytes(), 1000).is_err());
    assert!(walked(br#"{"a":{"a":[{"a":1},{"a":2}]},"b":{"a":1}}"#, 1000).is_ok());
}

#[test]
fn numbers_keep_their_digits() {
    let digits = "-123456789012345678901234567890.000000000000000000001e+4000";
    assert_eq!(walked(digits.as_bytes(), 3).unwrap()[0].text, digits);
    let long = "9".repeat(limits::MAX_NUMBER_BYTES + 1);
    assert!(matches!(
        walked(long.as_bytes(), 1000),
        Err(JsonError::Invalid { problem: Problem::NumberTooLong { .. }, .. })
    ));
}

#[test]
fn a_mark_before_the_document_is_passed_over() {
    let seen = walked("\u{feff}{\"a\":1}".as_bytes(), 5).unwrap();
    assert_eq!(seen.len(), 2);
    refused("\u{feff}x", "found `x` where a value is expected at line 1, column 1 (byte 3)");
}

#[test]
fn nesting_is_deep_before_it_is_refused() {
    let deep = format!("{}{}", "[".repeat(limits::MAX_DEPTH), "]".repeat(limits::MAX_DEPTH));
    let (summary, _) = check(|| Ok(deep.as_bytes())).unwrap();
    assert_eq!((summary.depth, summary.n_nodes), (limits::MAX_DEPTH, limits::MAX_DEPTH as u64));
    let error = check(|| Ok(Endless)).unwrap_err();
    let expected = format!(
        "the document nests deeper than `{0}` levels at line 1, column {1} (byte {0})",
        limits::MAX_DEPTH,
        limits::MAX_DEPTH + 1
    );
    assert_eq!(error.to_string(), expected);
}

/// Brackets without end.
struct Endless;

impl Read for Endless {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        into.fill(b'[');
        Ok(into.len())
    }
}

#[test]
fn a_million_keys_are_told_apart() {
    let mut text = String::from("{");
    for key in 0..1_000_000 {
        text.push_str(&format!("\"{key}\":0,"));
    }
    text.push_str("\"last\":1}");
    let (summary, marks) = check(|| Ok(text.as_bytes())).unwrap();
    assert_eq!(summary.n_nodes, 1_000_002);
    // All but those of the first stretch have a mark.
    assert!((990_000..1_000_001).contains(&marks.marks.len()), "{}", marks.marks.len());
    let twice = text.replace("\"last\"", "\"500000\"");
    let error = check(|| Ok(twice.as_bytes())).unwrap_err();
    assert!(error.to_string().starts_with("the key `500000` occurs twice"), "{error}");
}

#[test]
fn pointers_that_are_none_are_refused() {
    for text in ["a", "a/b", "#/a", "/~", "/~2", "/a~"] {
        assert!(pointer::components(text).is_err(), "{text}");
    }
    assert_eq!(pointer::components("/~01/~1~0//").unwrap(), ["~1", "/~", "", ""]);
}
