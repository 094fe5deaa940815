//! A store that cannot be reached: 503 with the sentence of the contract, over REST, in chats, and
//! as errors of the tools; `search` goes on with the other families and says so.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use guard::LimitsConfig;
use infer::{EmbedderChoice, EmbedderSlot};
use ingest::{JobQueue, QueueConfig};
use knowledge::{JOBS, Service, ServiceConfig, ServiceSlot};
use model::Deadline;
use retrieve::Retriever;
use serde_json::json;
use serve::App;
use store::{Change, Lookup, Object, ObjectPage, Objects, Store};
use testkit::{Folder, Http, Request};
use tools::everywhere::{Fetch, Search};
use tools::knowledge::{GetKnowledgeBaseSummary, SearchDocuments};
use tools::{Registry, ResourceSet};

use crate::test_server::TestServer;

const SENTENCE: &str = "Failed to connect to api-admin service";
const ID: &str = "cf23c222-b024-4533-81aa-52e4f673281e";

/// A catalogue that nobody can reach.
struct Away;

fn refused<T>() -> store::Result<T> {
    let source = std::io::Error::other("connection refused by db.internal");
    Err(store::Error::ReadOnly { path: "db".into(), source })
}

impl Objects for Away {
    fn get_many(&self, _: &str, _: &[&str]) -> store::Result<Vec<Option<Object>>> {
        refused()
    }

    fn list(&self, _: &ObjectPage) -> store::Result<Vec<Object>> {
        refused()
    }

    fn find(&self, _: &str, _: &Lookup) -> store::Result<Vec<Object>> {
        refused()
    }

    fn apply(&self, _: &[Change]) -> store::Result<Vec<u64>> {
        refused()
    }
}

fn service(folder: &Folder) -> (Service, Arc<JobQueue>) {
    let clock = testkit::fixed_clock();
    let config = store::Config::for_one_machine();
    let store = Arc::new(Store::open(folder.path(), &config, clock.clone()).unwrap());
    let slot = ServiceSlot::default();
    let runners: HashMap<_, _> =
        JOBS.iter().map(|kind| ((*kind).to_owned(), slot.runner())).collect();
    let config = QueueConfig::for_one_machine();
    let queue = JobQueue::open(store.catalogue(), runners, config, clock.clone()).unwrap();
    let embedder = Arc::new(EmbedderSlot::new(EmbedderChoice::Off));
    let of_search = Arc::clone(&embedder);
    let soon = || Deadline::after(Duration::from_secs(5));
    let service = Service::new(ServiceConfig {
        store: store.clone(),
        catalogue: Arc::new(Away),
        queue: Arc::clone(&queue),
        retriever: Retriever::new(store.clone(), Arc::new(move || of_search.get(&soon()))),
        vectors: ingest::Vectors::new(store.clone(), embedder),
        pool: None,
        llm: None,
        uploads: folder.path().join("uploads").into(),
        settings: knowledge::KnowledgeConfig::default(),
        clock,
    });
    (service, queue)
}

#[test]
fn a_store_that_is_away_is_503_everywhere() {
    let folder = Folder::new();
    let (service, queue) = service(&folder);
    let across = across::Service::new(vec![Box::new(across::KnowledgeBases::new(service.clone()))]);
    let tools = Registry::new(vec![
        Box::new(SearchDocuments::new(service.clone())),
        Box::new(GetKnowledgeBaseSummary::new(service.clone())),
        Box::new(Search::new(across.clone(), String::new())),
        Box::new(Fetch::new(across.clone(), String::new())),
    ]);
    let test_server = TestServer::start(LimitsConfig::default(), ResourceSet::default());
    let before = test_server.another_app(LimitsConfig::default());
    test_server.shared.replace(App {
        tools,
        across,
        knowledge: Some(service),
        queue: Some(queue),
        ..before
    });

    let http = Http::new(&test_server.address);
    let chat = json!({ "query": "x", "knowledge_base_id": ID });
    let base = format!("/v1/knowledge-bases/{ID}");
    let requests = [
        Request::new("GET", "/v1/knowledge-bases"),
        Request::new("GET", &base),
        Request::new("DELETE", &base),
        Request::new("GET", &format!("{base}/summary")),
        Request::new("POST", &format!("{base}/search")).json(&json!({ "query": "x" })),
        Request::new("POST", "/v1/knowledge-bases").json(&json!({ "name": "x" })),
        Request::new("GET", &format!("/v1/documents/{ID}")),
        Request::new("GET", &format!("/v1/chunks/{ID}:0")),
        Request::new("POST", "/v1/chat").json(&chat),
    ];
    for request in requests {
        let answer = http.send(&request);
        let text = answer.text();
        assert_eq!(answer.status, 503, "{request:?} {text}");
        assert_eq!(answer.json()["error"]["message"], SENTENCE, "{text}");
        assert_eq!(answer.json()["error"]["code"], "UNAVAILABLE", "{text}");
        assert_eq!(answer.header("retry-after"), Some("5"), "{request:?} {text}");
        assert!(!text.contains("db.internal"), "{text}");
    }
    let of_base = json!({ "knowledge_base_id": ID });
    let question = json!({ "knowledge_base_id": ID, "query": "x" });
    for (tool, arguments) in
        [("get_knowledge_base_summary", of_base), ("search_documents", question)]
    {
        let error = test_server.mcp.call(tool, &arguments).error();
        assert_eq!(error["error"]["message"], SENTENCE, "{tool}");
        assert_eq!(error["error"]["code"], "UNAVAILABLE", "{tool}");
    }
    let found = test_server.mcp.call("search", &json!({ "query": "x" })).success();
    assert_eq!(found["results"], json!([]));
    assert!(found["warnings"].to_string().contains(SENTENCE), "{found}");
    // The id of a chunk, as `search` gave it while the store was there.
    let id = "a25vd2xlZGdlAGNmMjNjMjIyLWIwMjQtNDUzMy04MWFhLTUyZTRmNjczMjgxZTow";
    let error = test_server.mcp.call("fetch", &json!({ "id": id })).error();
    assert_eq!(error["error"]["message"], SENTENCE);
}
