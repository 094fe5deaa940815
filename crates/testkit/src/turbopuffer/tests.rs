//! The rules that the documentation names, each met by a request that breaks it.

use serde_json::{Value, json};

use super::TurbopufferServer;
use crate::{Http, Request, Response};

struct Client {
    server: TurbopufferServer,
    http: Http,
}

impl Client {
    fn open() -> Self {
        let server = TurbopufferServer::start();
        let http = Http::new(&server.url());
        Client { server, http }
    }

    fn send(&self, path: &str, body: &Value) -> Response {
        let key = format!("Bearer {}", self.server.key());
        let request = Request::new("POST", path).header("Authorization", &key).json(body);
        self.http.send(&request)
    }

    #[track_caller]
    fn write(&self, body: &Value) -> Value {
        let answer = self.send("/v2/namespaces/n", body);
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()
    }

    #[track_caller]
    fn refused(&self, path: &str, body: &Value, expected: &str) {
        let answer = self.send(path, body);
        assert!([400, 422].contains(&answer.status), "{body}: {}", answer.text());
        let error = answer.json();
        assert_eq!(error["status"], "error");
        let sentence = error["error"].as_str().unwrap_or_default();
        assert!(sentence.contains(expected), "{body}: {sentence}");
    }

    /// Gives the ids of what a query finds, in order.
    #[track_caller]
    fn found(&self, body: &Value) -> Value {
        let answer = self.send("/v2/namespaces/n/query", body);
        assert_eq!(answer.status, 200, "{body}: {}", answer.text());
        let rows = answer.json()["rows"].clone();
        rows.as_array().into_iter().flatten().map(|row| row["id"].clone()).collect()
    }
}

const WRITE: &str = "/v2/namespaces/n";
const QUERY: &str = "/v2/namespaces/n/query";

#[test]
fn writes_that_break_a_rule_are_refused_whole() {
    let desk = Client::open();
    let row = |row: Value| json!({"upsert_rows": [row]});
    desk.refused("/v2/namespaces/a%20b", &row(json!({"id": 1})), "namespace names");
    desk.refused(WRITE, &row(json!({"id": "x".repeat(65)})), "65 bytes");
    desk.refused(WRITE, &row(json!({"id": -1})), "document id");
    desk.refused(WRITE, &row(json!({"id": 1, "$a": 1})), "attribute name");
    desk.refused(WRITE, &row(json!({"id": 1, "a": 1.5})), "inferred");
    desk.refused(WRITE, &row(json!({"id": 1, "a": "x".repeat(4_097)})), "4097 bytes");
    desk.refused(WRITE, &row(json!({"id": 1, "vector": [1.0]})), "distance_metric");
    desk.refused(WRITE, &json!({"create_namespace": true}), "unknown field");
    let tuned = |k1: f64, b: f64| {
        let text = json!({"type": "string", "full_text_search": {"k1": k1, "b": b}});
        json!({"schema": {"t": text}})
    };
    desk.refused(WRITE, &tuned(0.0, 0.5), "greater than 0");
    desk.refused(WRITE, &tuned(1.0, 1.5), "from 0 to 1");
    let parts: Vec<String> = (0..3_000).map(|_| "x".repeat(4_000)).collect();
    desk.refused(WRITE, &row(json!({"id": 1, "a": parts})), "12000000 bytes");

    let vector = json!({"id": 1, "vector": [1.0, 0.0], "a": 1});
    desk.write(&json!({"upsert_rows": [vector], "distance_metric": "cosine_distance"}));
    desk.refused(WRITE, &row(json!({"id": "one", "vector": [1.0, 0.0]})), "type uint");
    desk.refused(WRITE, &row(json!({"id": 2})), "no `vector`");
    desk.refused(WRITE, &row(json!({"id": 2, "vector": [1.0]})), "dimensions");
    desk.refused(WRITE, &row(json!({"id": 2, "vector": [1.0, 0.0], "a": "text"})), "type int");
    let more = json!({"schema": {"other": {"type": "[3]f32", "ann": true}}});
    desk.refused(WRITE, &more, "fixed");
    desk.refused(WRITE, &json!({"patch_rows": [{"id": 1, "vector": [0.0, 1.0]}]}), "patched");
    let answer = desk.write(&json!({"patch_rows": [{"id": 9, "a": 1}], "deletes": [7]}));
    assert_eq!((&answer["rows_patched"], &answer["rows_deleted"]), (&json!(0), &json!(0)));
    assert_eq!(answer.get("rows_upserted"), None);
}

#[test]
fn queries_that_break_a_rule_are_refused() {
    let desk = Client::open();
    let schema = json!({
        "text": {"type": "string", "full_text_search": true},
        "path": {"type": "string", "glob": true},
    });
    let row =
        json!({"id": 1, "vector": [1.0], "text": "a walrus", "path": "a/b", "n": 1, "l": ["x"]});
    desk.write(
        &json!({"upsert_rows": [row], "distance_metric": "cosine_distance", "schema": schema}),
    );
    let by_id = |more: Value| {
        let mut query = json!({"rank_by": ["id", "asc"]});
        query.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        query
    };
    let refused = |body: Value, expected: &str| desk.refused(QUERY, &body, expected);
    refused(by_id(json!({})), "limit is required");
    refused(by_id(json!({"limit": 10_001})), "between 1 and 10000");
    refused(by_id(json!({"limit": 1, "offset": 1})), "unknown field `offset`");
    refused(by_id(json!({"limit": 1, "include_attributes": ["none"]})), "not found");
    refused(by_id(json!({"limit": 1, "filters": ["text", "Eq", "a"]})), "not filterable");
    refused(by_id(json!({"limit": 1, "filters": ["path", "Eq", "a"]})), "not filterable");
    refused(by_id(json!({"limit": 1, "filters": ["n", "Eq", "a"]})), "type int");
    refused(by_id(json!({"limit": 1, "filters": ["l", "Contains", 1]})), "type string");
    refused(json!({"rank_by": ["l", "asc"], "limit": 1}), "no order");
    refused(json!({"rank_by": ["vector", "kNN", [1.0]], "limit": 1}), "requires filters");
    let long = "x".repeat(8_193);
    refused(json!({"rank_by": ["text", "BM25", long], "limit": 1}), "8192 characters");
    let negative = json!(["Product", -1, ["text", "BM25", "walrus"]]);
    refused(json!({"rank_by": negative, "limit": 1}), "negative");
    refused(
        json!({"aggregate_by": {"n": ["Count"]}, "include_attributes": true}),
        "cannot be set together",
    );
    let many = vec![by_id(json!({"limit": 1})); 17];
    refused(json!({"queries": many}), "1 to 16");
    let inside = by_id(json!({"limit": 1, "consistency": {"level": "strong"}}));
    refused(json!({"queries": [inside]}), "unknown field `consistency`");
    refused(by_id(json!({"limit": 1, "consistency": {"level": "weak"}})), "expected `strong`");

    let allowed = by_id(json!({"limit": 1, "exclude_attributes": ["none"]}));
    assert_eq!(desk.found(&allowed), json!([1]));
    let by_glob = by_id(json!({"limit": 1, "filters": ["path", "Glob", "a/*"]}));
    assert_eq!(desk.found(&by_glob), json!([1]));
}

#[test]
fn a_row_without_a_value_stands_before_all_others() {
    let desk = Client::open();
    desk.write(&json!({"upsert_rows": [{"id": 1, "n": 5}, {"id": 2}, {"id": 3, "n": 1}]}));
    let found = |rank_by: Value, filters: Value| {
        desk.found(&json!({"rank_by": rank_by, "filters": filters, "limit": 10}))
    };
    let any = json!(["id", "Gte", 0]);
    assert_eq!(found(json!(["n", "asc"]), any.clone()), json!([2, 3, 1]));
    assert_eq!(found(json!(["n", "desc"]), any), json!([1, 3, 2]));
    let by_id = json!(["id", "asc"]);
    assert_eq!(found(by_id.clone(), json!(["n", "Lt", 5])), json!([2, 3]));
    assert_eq!(found(by_id.clone(), json!(["n", "Lte", 5])), json!([1, 2, 3]));
    assert_eq!(found(by_id.clone(), json!(["n", "Gte", 1])), json!([1, 3]));
    assert_eq!(found(by_id.clone(), json!(["n", "Eq", null])), json!([2]));
    assert_eq!(found(by_id, json!(["n", "NotEq", null])), json!([1, 3]));
}
