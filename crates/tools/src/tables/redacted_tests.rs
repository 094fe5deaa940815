//! Proves that: two tables that differ in redacted values alone, in the same order, cannot be told
//! apart by any call: rows, tokens of pages, groups, measures, conditions on them, ranges, series,
//! facets and suggestions.

use std::time::Duration;

use model::{Caller, Deadline};
use proptest::prelude::*;
use serde_json::{Value, json};
use tables::ExportFormat;
use testkit::Folder;
use text::Budget;

use super::arguments::query_request;
use super::redaction::changed;
use super::{AggregateTable, DescribeSchema, QueryTable};
use crate::{Call, Tool};

/// Rows with these cards, passwords and addresses.
fn service(folder: &Folder, private: &[(String, String)]) -> tables::Service {
    let rows: String = private
        .iter()
        .enumerate()
        .map(|(at, (mail, card))| {
            // Passwords have the order of the cards, so that sorted pages are the same.
            format!(
                "{at},{mail},{card},{},2024-0{}-01,{},{},{}\n",
                &card[..12],
                at % 9 + 1,
                word_of(mail),
                day_of(at, card),
                private[0].1.ends_with(['0', '2', '4', '6', '8'])
            )
        })
        .collect();
    let names = "id,mail,card,password,at,Root Password,api_key,token";
    folder.write("people.csv", format!("{names}\n{rows}"));
    let words: String = private
        .iter()
        .enumerate()
        .map(|(at, (mail, _))| format!("{at},{}\n", word_of(mail)))
        .collect();
    folder.write("words.csv", format!("id,secret\n{words}"));
    let table = json!([
        { "name": "people", "source": "people.csv", "fields": {
            "id": { "type": "number" }, "mail": { "type": "string" }, "card": { "type": "number" },
            "password": { "type": "number" }, "at": { "type": "timestamp" },
            "phrase": { "type": "string", "column": "Root Password" },
            "kind": { "type": "stringLiteral", "values": ["none"], "column": "Root Password" },
            "since": { "type": "timestamp", "column": "api_key" },
            "api_key": { "type": "timestamp" },
            "is_on": { "type": "boolean", "column": "token" },
        }, "relations": [
            { "table": "words", "on": "id", "key": "id", "fields": { "remark": "line" } },
        ] },
        { "name": "words", "source": "words.csv", "fields": {
            "id": { "type": "number" }, "line": { "type": "string", "column": "secret" },
        } },
    ]);
    tables::Service::open(tables::ServiceConfig {
        tables: serde_json::from_value(table).unwrap(),
        base_folder: folder.path().to_owned(),
        cache_folder: folder.path().join("cache"),
        export_link_minutes: tables::EXPORT_LINK_MINUTES,
    })
    .unwrap()
}

/// A word that no rule knows, in the order of the addresses and another for each: how often a
/// secret occurs is no secret.
fn word_of(mail: &str) -> String {
    let (name, _) = mail.split_once('@').expect("an address");
    format!("{name}harbour")
}

/// A day in the order of the rows.
fn day_of(at: usize, card: &str) -> String {
    format!("20{at}{}-01-0{}", &card[4..5], at + 1)
}

/// Fields that are secret by the name of a column, or by their own, whatever their type.
const SECRETS: [&str; 6] = ["phrase", "kind", "since", "api_key", "is_on", "remark"];

/// Calls that try to read a card, a password or an address.
fn probes(number: i64, letters: &str) -> Vec<(&'static str, Value)> {
    let mut probes = vec![
        ("query", json!({ "format": "stats" })),
        ("query", json!({ "filters": { "mail": { "eq": letters } } })),
        ("query", json!({ "filters": { "mail": { "starts_with": letters } } })),
        ("describe", json!({ "detail": true })),
    ];
    for field in SECRETS {
        for guess in [json!(letters), json!("2010-01-01"), json!(true), json!(null)] {
            for operator in ["eq", "not", "contains", "starts_with", "min", "max", "in"] {
                let filters = json!({ field: { operator: guess } });
                probes.push(("query", json!({ "filters": filters, "facets": [field] })));
            }
        }
        let groups = [json!(field), json!({ "field": field, "bucket": "year" })];
        for group in groups {
            probes.push(("aggregate", json!({ "group_by": [group] })));
        }
        for op in ["min", "max", "median", "count_distinct"] {
            let measures = json!([{ "op": op, "field": field, "as": "figure" }]);
            let having = json!({ "figure": { "min": letters } });
            probes.push(("aggregate", json!({ "measures": measures })));
            probes.push(("aggregate", json!({ "group_by": ["id"], "measures": measures })));
            probes.push(("aggregate", json!({ "measures": measures, "having": having })));
        }
        probes.push(("query", json!({ "series": { "field": field } })));
    }
    for field in ["card", "password"] {
        let sum = json!({ "op": "sum", "field": field });
        probes.extend([
            ("query", json!({ "filters": { field: { "min": number } } })),
            ("query", json!({ "series": { "field": "at", "sum": field } })),
            ("query", json!({ "filters": { field: number } })),
            ("aggregate", json!({ "group_by": [{ "field": field, "width": 10 }] })),
            ("aggregate", json!({ "group_by": [field] })),
        ]);
        for op in ["sum", "avg", "min", "max", "median", "p95", "count_distinct"] {
            let measures = json!([{ "op": op, "field": field, "as": "figure" }]);
            probes.push(("aggregate", json!({ "measures": measures })));
            if op != "count_distinct" {
                let having = json!({ "figure": { "min": number } });
                probes.push((
                    "aggregate",
                    json!({ "group_by": ["id"], "measures": measures, "having": having }),
                ));
            }
        }
        probes.push((
            "aggregate",
            json!({ "filters": { "id": { "max": 1 } }, "group_by": ["at"], "measures": [sum] }),
        ));
    }
    probes
}

fn ask(tool: &dyn Tool, arguments: &Value) -> Value {
    let mut arguments = arguments.clone();
    arguments["table"] = "people".into();
    let caller = Caller::local_admin();
    let spec = tool.spec(&caller).unwrap();
    let accepted = crate::accept(&spec, arguments.as_object().unwrap().clone()).unwrap();
    let answer = tool.call(&Call {
        caller: &caller,
        arguments: &accepted.arguments,
        deadline: &Deadline::after(Duration::from_secs(60)),
        budget: Budget { chars: 100_000, tokens: 100_000 },
        progress: &|_| {},
    });
    match answer {
        Ok(answer) => answer.value,
        Err(error) => json!({ "error": error.message, "details": format!("{:?}", error.details) }),
    }
}

fn answers(service: &tables::Service, number: i64, letters: &str) -> Vec<String> {
    let query = QueryTable::new(service.clone());
    let aggregate = AggregateTable::new(service.clone());
    let describe = DescribeSchema::brief(service.clone());
    let asked = probes(number, letters).into_iter().map(|(tool, arguments)| {
        let tool: &dyn Tool = match tool {
            "query" => &query,
            "aggregate" => &aggregate,
            _ => &describe,
        };
        format!("{arguments}: {}", ask(tool, &arguments))
    });
    let mut all: Vec<String> = asked.collect();
    // Pages in the order of what is private: the rows are the same, and the tokens are unreadable.
    for field in ["mail", "card", "password"].into_iter().chain(SECRETS) {
        let sort = json!({ "id": field, "desc": false });
        let mut arguments = json!({ "sort": sort, "pageSize": 1, "columns": ["id", field] });
        loop {
            let mut page = ask(&query, &arguments);
            let next = page.as_object_mut().unwrap().remove("next");
            all.push(format!("{field}: {page}"));
            let Some(next) = next else { break };
            arguments["cursor"] = next;
        }
    }
    let exported = ExportFormat::ALL.into_iter().map(|format| {
        let request = query_request(&json!({ "table": "people" })).unwrap();
        let (caller, deadline) = (Caller::local_admin(), Deadline::after(Duration::from_secs(60)));
        let mut out = Vec::new();
        service.export(&caller, &request, format, &changed, &mut out, &deadline).unwrap();
        format!("{}: {}", format.as_str(), String::from_utf8_lossy(&out))
    });
    all.extend(exported);
    let caller = Caller::local_admin();
    let soon = Deadline::after(Duration::from_secs(60));
    let words = ["harbour".to_owned(), letters.to_owned()];
    all.push(format!(
        "{:?}",
        service.find_text(&caller, "people", &words, &soon).unwrap().n_rows_with
    ));
    for field in SECRETS {
        let named = service.values_with(&caller, "people", field, &[], 9, &soon).unwrap();
        all.push(format!("{named:?}"));
    }
    let rows = service.some_rows(&caller, "people", 0..9, &soon).unwrap();
    let places: Vec<usize> = rows
        .columns
        .iter()
        .enumerate()
        .filter(|(_, name)| SECRETS.contains(&name.as_str()))
        .map(|(at, _)| at)
        .collect();
    for row in &rows.rows {
        all.extend(places.iter().map(|at| format!("{:?}", row[*at])));
    }
    all
}

/// A card of an issuer, with its check digit.
fn card(middle: u64) -> String {
    let digits = format!("4{middle:014}");
    let sum: u32 = digits
        .bytes()
        .rev()
        .enumerate()
        .map(|(at, digit)| {
            let digit = u32::from(digit - b'0') * if at % 2 == 0 { 2 } else { 1 };
            digit / 10 + digit % 10
        })
        .sum();
    format!("{digits}{}", (10 - sum % 10) % 10)
}

fn people(mut middles: Vec<u64>, mut names: Vec<String>) -> Vec<(String, String)> {
    middles.sort_unstable();
    names.sort_unstable();
    let cards = middles.into_iter().map(card);
    names.into_iter().map(|name| format!("{name}@example.org")).zip(cards).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    /// What redaction hides changes no answer.
    #[test]
    fn redacted_values_change_no_answer(
        one in prop::collection::hash_set(10_000_000_000_000_u64..99_000_000_000_000, 4),
        other in prop::collection::hash_set(10_000_000_000_000_u64..99_000_000_000_000, 4),
        names in prop::collection::hash_set("[a-z]{5}", 4),
        others in prop::collection::hash_set("[a-z]{5}", 4),
        guessed in 0_usize..4,
    ) {
        let list = |middles: std::collections::HashSet<u64>, names: std::collections::HashSet<String>| {
            people(middles.into_iter().collect(), names.into_iter().collect())
        };
        let (one, other) = (list(one, names), list(other, others));
        // The guess is right in one of the tables.
        let (mail, card) = one[guessed].clone();
        let number = card.parse::<i64>().unwrap();
        let (first, second) = (Folder::new(), Folder::new());
        let before = answers(&service(&first, &one), number, &mail[..4]);
        let after = answers(&service(&second, &other), number, &mail[..4]);
        prop_assert_eq!(before, after);
    }
}

/// The order would tell them, and so would the values in the token of the next page.
#[test]
fn rows_are_not_sorted_by_what_is_redacted() {
    let folder = Folder::new();
    let rows =
        people(vec![11_111_111_111_111, 22_222_222_222_222], vec!["ana".into(), "bob".into()]);
    let query = QueryTable::new(service(&folder, &rows));
    for field in ["mail", "card", "password"].into_iter().chain(SECRETS) {
        let sort = json!({ "id": field, "desc": false });
        let answer = ask(&query, &json!({ "sort": sort, "pageSize": 1, "columns": ["id"] }));
        let said = answer.to_string();
        assert!(answer.get("rows").is_none() && said.contains("are redacted"), "{field}: {said}");
        assert!(!said.contains("ana@") && !said.contains("1111"), "{field}: {said}");
    }
}
