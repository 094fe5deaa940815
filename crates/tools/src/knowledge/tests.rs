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
