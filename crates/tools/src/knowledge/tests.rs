//! The descriptions and errors of this family, over real knowledge bases.

use std::sync::Arc;

use model::Caller;
use serde_json::{Value, json};
use testkit::callers;

use super::{GetKnowledgeBaseSummary, ListKnowledgeBases, NormalizeOcrText, SearchDocuments};
use crate::Tool;
use crate::contract::{Away, Fixture, page};

const NOBODYS: &str = "cf23c222-b024-4533-81aa-52e4f673281e";

/// Writes the page of a tool for somebody who has one knowledge base; a colleague and a
/// stranger have one each.
fn page_of(
    make: impl Fn(knowledge::Service) -> Box<dyn Tool>,
    wrong: impl Fn(&str) -> Vec<Value>,
) -> String {
    let fixture = Fixture::new();
    let caller = callers::member("acme", &[]);
    let colleague = Caller { subject: "colleague".to_owned(), ..caller.clone() };
    let own = fixture.base_of(&caller);
    let denied = fixture.base_of(&colleague);
    let foreign = fixture.base_of(&callers::stranger());
    let mut wrong = wrong(&own);
    for base in [NOBODYS, &foreign, &denied] {
        wrong.push(json!({ "knowledge_base_id": base, "query": "leave" }));
    }
    let tool = make(fixture.knowledge.clone());
    let takes_query = tool.spec(&caller).unwrap().input["properties"].get("query").is_some();
    if !takes_query {
        wrong.iter_mut().rev().take(3).for_each(|wrong| {
            wrong.as_object_mut().unwrap().remove("query");
        });
    }
    let page = page(&*tool, &caller, &wrong);
    page.replace(&own, "[own]").replace(&denied, "[denied]").replace(&foreign, "[foreign]")
}

#[test]
fn search_documents_schema_and_errors() {
    let wrong = |base: &str| {
        vec![
            json!({}),
            json!({ "query": 5, "knowledge_base_id": base }),
            json!({ "query": "", "knowledge_base_id": base }),
            json!({ "query": "x".repeat(2_001), "knowledge_base_id": base }),
            json!({ "query": "leave", "knowledge_base_id": "hand book" }),
            json!({ "query": "leave", "knowledge_base_id": 7 }),
            json!({ "query": "leave", "knowledge_base_id": base, "threshold": -0.1 }),
            json!({ "query": "leave", "knowledge_base_id": base, "threshold": 1.1 }),
            json!({ "query": "leave", "knowledge_base_id": base, "threshold": "high" }),
            json!({ "query": "leave", "knowledge_base_id": base, "max_results": 0 }),
            json!({ "query": "leave", "knowledge_base_id": base, "max_results": 51 }),
            json!({ "query": "leave", "knowledge_base_id": base, "max_results": 2.5 }),
            json!({ "query": "leave", "knowledge_base_id": base, "explain": 1 }),
            json!({ "query": "leave", "knowledge_base_id": base, "max_result": 5 }),
        ]
    };
    insta::assert_snapshot!(page_of(|service| Box::new(SearchDocuments::new(service)), wrong));
}

#[test]
fn list_knowledge_bases_schema_and_errors() {
    let fixture = Fixture::new();
    let caller = callers::member("acme", &[]);
    fixture.base_of(&caller);
    let tool = ListKnowledgeBases::new(fixture.knowledge.clone());
    let wrong = [json!({ "after": "x" }), json!({ "cursor": null })];
    insta::assert_snapshot!(page(&tool, &caller, &wrong));
}

#[test]
fn get_knowledge_base_summary_schema_and_errors() {
    let wrong = |base: &str| {
        vec![
            json!({ "knowledge_base_id": null }),
            json!({ "knowledge_base_id": "hand book" }),
            json!({ "knowledge_base": base }),
        ]
    };
    let make = |service| -> Box<dyn Tool> { Box::new(GetKnowledgeBaseSummary::new(service)) };
    insta::assert_snapshot!(page_of(make, wrong));
}

#[test]
fn normalize_ocr_text_schema_and_errors() {
    let fixture = Fixture::with_model(Some(Arc::new(Away)));
    let wrong = [
        json!({}),
        json!({ "text": 5 }),
        json!({ "txt": "a" }),
        json!({ "text": "長".repeat(10_001) }),
        json!({ "text": "ユ-ザ-" }),
    ];
    let tool = NormalizeOcrText::new(fixture.knowledge.clone());
    insta::assert_snapshot!(page(&tool, &Caller::local_admin(), &wrong));
}

/// Which bases there are was known only after a call that listed them.
#[test]
fn few_bases_are_named_where_one_is_asked_for() {
    let fixture = Fixture::new();
    let caller = callers::member("acme", &[]);
    fixture.base_of(&callers::stranger());
    let tool = SearchDocuments::new(fixture.knowledge.clone());
    let shown = |caller: &Caller| {
        let spec = tool.spec(caller).unwrap();
        let shown = spec.shown_input.as_ref()?;
        Some(shown["properties"]["knowledge_base_id"]["description"].as_str().unwrap().to_owned())
    };
    let made = |name: &str| {
        let new = knowledge::NewBase { name: name.to_owned(), ..Default::default() };
        fixture.knowledge.create_base(&caller, &new).unwrap();
    };
    made("Handbook");
    assert_eq!(shown(&caller), None, "one needs no name");
    made("Räume und Geräte");
    assert_eq!(shown(&caller).unwrap(), "name or id: `Handbook`, `Räume und Geräte`");
    (0..9).for_each(|number| made(&format!("Base {number}")));
    assert_eq!(shown(&caller), None, "many are listed by a tool");
}
