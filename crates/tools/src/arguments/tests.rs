//! Refusals as one page, and what is taken although it is written differently.

use serde_json::{Value, json};

use super::accept;
use crate::Spec;

fn spec() -> Spec {
    let mut spec = Spec::read_only("sample", "Sample", "A sample.").with_input(json!({
        "type": "object",
        "properties": {
            "query": { "type": "string", "minLength": 1, "maxLength": 10 },
            "k": { "type": "integer", "minimum": 1, "maximum": 100 },
            "threshold": { "type": "number", "minimum": 0.0, "maximum": 1.0 },
            "format": { "type": "string", "enum": ["json", "stats", "markdown", "csv"] },
            "exts": { "type": "array", "items": { "type": "string" }, "maxItems": 2 },
            "id": { "type": "string", "format": "uuid" },
            "year": { "type": "string", "pattern": "^[0-9]{4}(-[0-9]{4})?$" },
            "nested": {
                "type": "object",
                "properties": { "depth": { "type": "boolean" } },
                "additionalProperties": false,
            },
        },
        "required": ["query"],
    }));
    spec.sentences = vec![
        ("threshold.minimum", "threshold out of range (0.0-1.0)"),
        ("threshold.maximum", "threshold out of range (0.0-1.0)"),
    ];
    spec
}

fn message(arguments: &Value) -> String {
    match accept(&spec(), arguments.as_object().unwrap().clone()) {
        Ok(accepted) => {
            format!("takes {} {:?}", Value::Object(accepted.arguments), accepted.notes)
        }
        Err(error) => serde_json::to_string(&error.to_json(crate::ErrorShape::Coded)).unwrap(),
    }
}

#[test]
fn every_refusal_says_what_to_do() {
    let cases = [
        json!({ "query": "x", "k": 3.0, "nested": { "depth": true }, "exts": [".a"] }),
        json!({}),
        json!({ "query": 5 }),
        json!({ "query": "" }),
        json!({ "query": "12345678901" }),
        json!({ "query": "x", "kk": 5 }),
        json!({ "query": "x", "k": 500 }),
        json!({ "query": "x", "k": 1.5 }),
        json!({ "query": "x", "threshold": 1.5 }),
        json!({ "query": "x", "format": "jsn" }),
        json!({ "query": "x", "exts": ["a", 5] }),
        json!({ "query": "x", "exts": ["a", "b", "c"] }),
        json!({ "query": "x", "id": "no" }),
        json!({ "query": "x", "nested": { "deep": true } }),
        json!({ "query": "x", "nested": [] }),
        json!({ "query": "x", "id": "123e4567-e89b-12d3-a456-426614174000" }),
        json!({ "query": " \t " }),
        json!({ "query": "x", "k": null, "threshold": "", "exts": null, "nested": null, "id": " " }),
        json!({ "query": "x", "k": "2", "threshold": "0.5", "nested": { "depth": "true" } }),
        json!({ "query": "x", "k": "2.0" }),
        json!({ "query": "x", "k": "2.5" }),
        json!({ "query": "x", "k": "two" }),
        json!({ "query": "x", "exts": "md" }),
        json!({ "query": "x", "exts": 2021 }),
        json!({ "query": "x", "exts": 2021.0, "year": " 2019–2021 " }),
        json!({ "query": "x", "exts": "[\"md\", 5]", "nested": "{\"depth\": false}" }),
        json!({ "query": "x", "exts": "[md" }),
        json!({ "query": null }),
        json!({ "query": ["x"] }),
    ];
    let lines: Vec<String> =
        cases.iter().map(|case| format!("{case}\n    {}", message(case))).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

/// What is right stays as it is: forgiving changes nothing that the schema already takes.
#[test]
fn right_arguments_are_not_touched() {
    let right = json!({
        "query": "x", "k": 2, "threshold": 0.25, "format": "csv", "exts": ["5", "true", "[a]"],
        "nested": { "depth": false },
    });
    let accepted = accept(&spec(), right.as_object().unwrap().clone());
    // Three elements are one too many; two of them are taken as they are.
    assert!(accepted.is_err());
    let mut right = right;
    right["exts"].as_array_mut().unwrap().pop();
    let accepted = accept(&spec(), right.as_object().unwrap().clone()).unwrap();
    assert_eq!(Value::Object(accepted.arguments), right);
    assert!(accepted.notes.is_empty());
}

/// A value of one of several forms is read as the form it has, or else as the first it can have.
#[test]
fn forms_are_chosen_by_the_type_of_the_value() {
    let spec = Spec::read_only("sample", "Sample", "A sample.").with_input(json!({
        "type": "object",
        "properties": {
            "latency": { "anyOf": [
                { "type": "array", "items": { "type": "number" } },
                { "type": "object", "properties": { "min": { "type": "number" } }, "additionalProperties": false },
            ] },
            "exact": { "type": "string", "minLength": 0 },
        },
    }));
    let take = |arguments: Value| {
        accept(&spec, arguments.as_object().unwrap().clone())
            .map(|accepted| Value::Object(accepted.arguments))
            .map_err(|error| error.message)
    };
    assert_eq!(take(json!({ "latency": "5" })), Ok(json!({ "latency": [5] })));
    assert_eq!(take(json!({ "latency": [1, "2.5"] })), Ok(json!({ "latency": [1, 2.5] })));
    assert_eq!(take(json!({ "latency": { "min": "3" } })), Ok(json!({ "latency": { "min": 3 } })));
    // JSON in a text says itself which form it has.
    assert_eq!(take(json!({ "latency": "{\"min\": 3}" })), Ok(json!({ "latency": { "min": 3 } })));
    assert_eq!(take(json!({ "latency": "[3, 4]" })), Ok(json!({ "latency": [3, 4] })));
    assert_eq!(take(json!({ "exact": "" })), Ok(json!({ "exact": "" })));
    let error = take(json!({ "latency": { "mni": 3 } })).unwrap_err();
    assert!(error.contains("did you mean `min`"), "{error}");
    let error = take(json!({ "latency": "fast" })).unwrap_err();
    assert!(error.contains("`latency"), "{error}");
    let error = take(json!({ "latency": true })).unwrap_err();
    assert!(error.contains("`latency"), "{error}");
}

/// For `mean` the error named `median`, which is something else.
#[test]
fn another_word_for_a_name_is_taken() {
    let spec = Spec::read_only("sample", "Sample", "A sample.").with_input(json!({
        "type": "object",
        "properties": { "op": { "type": "string", "enum": ["avg", "median"] } },
    }));
    for (said, name) in [("mean", "avg"), ("Average", "avg"), ("median", "median")] {
        let arguments = json!({ "op": said });
        let taken = accept(&spec, arguments.as_object().unwrap().clone()).unwrap();
        assert_eq!(taken.arguments["op"], name);
    }
    // A list that has no such name refuses the word.
    let arguments = json!({ "query": "x", "format": "mean" });
    assert!(accept(&self::spec(), arguments.as_object().unwrap().clone()).is_err());
}

/// Names in other case were refused, though they can mean one thing; words for yes and no are not
/// the values that a schema names, and stay refused.
#[test]
fn names_in_other_case_are_taken_and_words_for_booleans_are_not() {
    let take = |arguments: Value| {
        accept(&spec(), arguments.as_object().unwrap().clone())
            .map(|accepted| Value::Object(accepted.arguments))
            .map_err(|error| error.message)
    };
    for said in ["JSON", " json ", "Json"] {
        let plain = json!({ "query": "x", "format": "json" });
        assert_eq!(take(json!({ "query": "x", "format": said })), Ok(plain), "{said}");
    }
    let depth = |said: Value| take(json!({ "query": "x", "nested": { "depth": said } }));
    for (said, is_so) in [(json!("TRUE"), true), (json!("false"), false)] {
        let plain = json!({ "query": "x", "nested": { "depth": is_so } });
        assert_eq!(depth(said.clone()), Ok(plain), "{said}");
    }
    for said in [json!(2), json!("yes"), json!("maybe"), json!(0.5), json!([true, true])] {
        assert!(depth(said.clone()).is_err(), "{said}");
    }
    assert!(take(json!({ "query": "x", "format": "yaml" })).is_err());
}

/// 0 and 1 are false and true, and a text is the object that needs nothing but that text.
#[test]
fn numbers_are_booleans_and_a_text_is_the_object_that_needs_it() {
    let spec = Spec::read_only("sample", "Sample", "A sample.").with_input(json!({
        "type": "object",
        "properties": {
            "explain": { "type": "boolean" },
            "sort": {
                "type": "object",
                "properties": { "id": { "type": "string" }, "desc": { "type": "boolean" } },
                "required": ["id"],
                "additionalProperties": false,
            },
        },
    }));
    let take = |arguments: Value| {
        let accepted = accept(&spec, arguments.as_object().unwrap().clone());
        accepted.map(|accepted| Value::Object(accepted.arguments)).ok()
    };
    assert_eq!(take(json!({ "explain": 1 })), Some(json!({ "explain": true })));
    assert_eq!(take(json!({ "explain": "0" })), Some(json!({ "explain": false })));
    assert_eq!(take(json!({ "explain": 2 })), None);
    assert_eq!(take(json!({ "sort": "name" })), Some(json!({ "sort": { "id": "name" } })));
    assert_eq!(take(json!({ "sort": 5 })), None);
}

/// Years with commas between them were refused, and so was a list with a null in it.
#[test]
fn lists_are_read_as_they_are_written() {
    let spec = Spec::read_only("sample", "Sample", "A sample.").with_input(json!({
        "type": "object",
        "properties": {
            "years": { "type": "array", "items": { "type": "string", "pattern": "^[0-9]{4}(-[0-9]{4})?$" } },
            "levels": { "type": "array", "items": { "type": "string", "enum": ["info", "error"] } },
            "paths": { "type": "array", "items": { "type": "string" } },
            "measures": { "type": "array", "items": { "anyOf": [
                { "type": "string", "enum": ["count"] },
                { "type": "object", "properties": { "op": { "type": "string" } }, "required": ["op"] },
            ] } },
            "filters": { "type": "object", "properties": {
                "level": { "type": "array", "items": { "type": ["string", "null"] } },
            } },
        },
    }));
    let take = |arguments: Value| {
        accept(&spec, arguments.as_object().unwrap().clone())
            .map(|accepted| Value::Object(accepted.arguments))
            .map_err(|error| error.message)
    };
    for years in [json!("2019, 2021-2023"), json!(["2019", null, "2021-2023"])] {
        let expected = json!({ "years": ["2019", "2021-2023"] });
        assert_eq!(take(json!({ "years": years })), Ok(expected));
    }
    assert_eq!(take(json!({ "levels": "Info,error" })), Ok(json!({ "levels": ["info", "error"] })));
    // A path may have a comma, and a null may be looked for.
    for same in [json!({ "paths": ["a, b"] }), json!({ "filters": { "level": [null] } })] {
        assert_eq!(take(same.clone()), Ok(same));
    }
    assert_eq!(take(json!({ "paths": "a, b" })), Ok(json!({ "paths": ["a, b"] })));
    assert!(take(json!({ "years": "2019, soon" })).is_err());
    let error = take(json!({ "measures": ["avg(latency)"] })).unwrap_err();
    assert!(error.contains("`count`") && error.contains("an object with `op`"), "{error}");
}

/// A list of one where a value is expected, an empty text in a list and an order in another form were
/// refused, though they can mean one thing.
#[test]
fn what_can_mean_one_thing_is_taken() {
    let order = json!({
        "type": "object",
        "properties": {
            "id": { "type": "string", "enum": ["latency", "date"] },
            "desc": { "type": "boolean" },
        },
        "required": ["id"],
        "additionalProperties": false,
    });
    let spec = Spec::read_only("sample", "Sample", "A sample.").with_input(json!({
        "type": "object",
        "properties": {
            "query": { "type": "string", "minLength": 1 },
            "k": { "type": "integer" },
            "explain": { "type": "boolean" },
            "format": { "type": "string", "enum": ["json", "csv"] },
            "exts": { "type": "array", "items": { "type": "string" } },
            "queries": { "type": "array", "items": { "type": "string", "minLength": 1 } },
            "sort": { "anyOf": [order, { "type": "array", "items": order }] },
            "orders": { "type": "array", "items": order },
        },
        "required": ["query"],
    }));
    let take = |arguments: Value| {
        let mut all = json!({ "query": "x" });
        all.as_object_mut().unwrap().extend(arguments.as_object().unwrap().clone());
        let taken = accept(&spec, all.as_object().unwrap().clone());
        taken.map(|taken| Value::Object(taken.arguments)).map_err(|error| error.message)
    };
    let down = json!({ "id": "latency", "desc": true });
    for (said, meant) in [
        (json!({ "query": ["x"] }), json!({})),
        (json!({ "k": [2] }), json!({ "k": 2 })),
        (json!({ "k": ["2"] }), json!({ "k": 2 })),
        (json!({ "k": [] }), json!({})),
        (json!({ "explain": [true] }), json!({ "explain": true })),
        (json!({ "format": ["JSON"] }), json!({ "format": "json" })),
        (json!({ "exts": [""] }), json!({})),
        (json!({ "exts": ["", null, " "] }), json!({})),
        (json!({ "exts": ["md", ""] }), json!({ "exts": ["md"] })),
        (json!({ "exts": [] }), json!({ "exts": [] })),
        (json!({ "sort": "-latency" }), json!({ "sort": down })),
        (json!({ "sort": "latency desc" }), json!({ "sort": down })),
        (json!({ "sort": ["-latency"] }), json!({ "sort": [down] })),
        (json!({ "sort": { "latency": "desc" } }), json!({ "sort": down })),
        (json!({ "sort": "latency desc, date" }), json!({ "sort": [down, { "id": "date" }] })),
        (json!({ "orders": "-latency" }), json!({ "orders": [down] })),
        (
            json!({ "orders": ["latency desc", "date"] }),
            json!({ "orders": [down, { "id": "date" }] }),
        ),
    ] {
        let mut expected = json!({ "query": "x" });
        expected.as_object_mut().unwrap().extend(meant.as_object().unwrap().clone());
        assert_eq!(take(said.clone()), Ok(expected), "{said}");
    }
    for refused in [
        json!({ "k": [1, 2] }),
        json!({ "query": [] }),
        json!({ "queries": [""] }),
        json!({ "sort": "-nothing" }),
        json!({ "sort": "latency sideways" }),
    ] {
        assert!(take(refused.clone()).is_err(), "{refused}");
    }
}

/// `{}` for an optional object that has to hold something was refused for what it lacks.
#[test]
fn an_object_of_nothing_is_absent_where_it_has_to_hold_something() {
    let order = json!({
        "type": "object",
        "properties": { "id": { "type": "string" } },
        "required": ["id"],
    });
    let one_or_more = json!({ "anyOf": [order, { "type": "array", "items": order }] });
    let spec = Spec::read_only("sample", "Sample", "A sample.").with_input(json!({
        "type": "object",
        "properties": {
            "order": order,
            "sort": one_or_more,
            "filters": { "type": "object" },
        },
    }));
    let taken = |arguments: Value| {
        let accepted = accept(&spec, arguments.as_object().unwrap().clone());
        accepted.map(|accepted| Value::Object(accepted.arguments)).ok()
    };
    assert_eq!(taken(json!({ "order": {} })), Some(json!({})));
    assert_eq!(taken(json!({ "sort": {} })), Some(json!({})));
    assert_eq!(taken(json!({ "filters": {} })), Some(json!({ "filters": {} })));
    assert_eq!(taken(json!({ "order": { "it": "a" } })), None);
}
