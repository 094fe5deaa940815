//! The calls of a client: mostly searches, some of everything else.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::{Http, Request, Response};

use super::trace::Seen;
use crate::chaos::Random;

/// Documents that are there at the same time: an upload beyond it deletes the oldest, so that
/// what the server holds stays the same and only what it forgets to give back grows.
const MAX_DOCUMENTS: usize = 500;

/// Different words in questions and documents.
const N_WORDS: usize = 200;

/// Words of questions to folders: some that many documents hold, some that few do.
const WORDS: [&str; 12] = [
    "tram", "castle", "report", "table", "document", "page", "section", "value", "figure",
    "chapter", "sample", "budget",
];

/// A client of a server; threads share it.
pub(crate) struct Client {
    http: Http,
    collection: String,
    /// What `searchFiles` has to answer to every question.
    files: Files,
    documents: Mutex<VecDeque<String>>,
}

/// Whose folder is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Files {
    /// Of our own making: every question has an answer, and an empty one is an error.
    Ours,
    /// Somebody else's.
    Others,
}

/// How long documents may take to be indexed once nobody asks any more.
const SETTLE: Duration = Duration::from_secs(120);

impl Client {
    pub(crate) fn new(http: &Http, collection: &str, files: Files) -> Client {
        let documents = Mutex::new(VecDeque::new());
        Client { http: http.clone(), collection: collection.to_owned(), files, documents }
    }

    /// Waits until every document that was acknowledged and not deleted is indexed; fails where one
    /// is gone or could not be indexed.
    pub(crate) fn settle(&self) -> anyhow::Result<usize> {
        let documents = self.documents.lock().map_err(|_| anyhow::anyhow!("a client panicked"))?;
        let begun = Instant::now();
        for id in documents.iter() {
            loop {
                let document = self.http.get(&format!("/v1/documents/{id}"));
                let state = document.json()["status"].as_str().unwrap_or_default().to_owned();
                if state == "ready" {
                    break;
                }
                let may_wait = matches!(state.as_str(), "pending" | "replacing");
                anyhow::ensure!(
                    may_wait && begun.elapsed() < SETTLE,
                    "document `{id}` is not ready: {}",
                    document.text()
                );
                std::thread::sleep(Duration::from_millis(50));
            }
        }
        Ok(documents.len())
    }

    /// Makes one call, whichever comes, and writes down how it went.
    pub(crate) fn call(&self, random: &mut Random, seen: &Mutex<Seen>) {
        let n = random.below(N_WORDS);
        let begun = Instant::now();
        let (name, result) = match random.below(20) {
            0..=7 => {
                let [one, other] = [0, 1].map(|_| WORDS[random.below(WORDS.len())]);
                let query = format!("{one} {other} number{n}");
                ("searchFiles", self.search_files(&json!({ "query": query })))
            }
            8..=10 => ("search", self.tool("search", &json!({ "query": format!("report {n}") }))),
            11 | 12 => {
                let query = json!({ "query": format!("soak{n}") });
                ("search_documents", self.tool("search_documents", &query))
            }
            13 => {
                let query = json!({ "filters": { "zone": { "eq": n % 7 } } });
                ("query_table", self.tool("query_table", &query))
            }
            14 => ("listRoots", self.tool("listRoots", &json!({}))),
            15 => {
                let listed = self.rpc("tools/list", &json!({}));
                ("tools/list", listed.and_then(|listed| expect(&listed, 200)))
            }
            16 | 17 => ("upload", self.upload(n)),
            18 => {
                let ready = self.send(&Request::new("GET", "/readyz"));
                ("readyz", ready.and_then(|ready| expect(&ready, 200)))
            }
            _ => {
                let text = json!({ "text": "キャリ-" });
                ("normalize_ocr_text", self.tool("normalize_ocr_text", &text))
            }
        };
        let took = begun.elapsed();
        if let Ok(mut seen) = seen.lock() {
            seen.add(name, took, result);
        }
    }

    fn rpc(&self, method: &str, params: &Value) -> Result<Response, String> {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        self.send(&Request::new("POST", "/mcp").header("Accept", "*/*").json(&message))
    }

    /// Sends a request. One that is not answered in time is an error of the run, and does not end
    /// it: what the others see still counts.
    fn send(&self, request: &Request) -> Result<Response, String> {
        let bytes = request.bytes(self.http.authority());
        let raw = self.http.exchange(&bytes).map_err(|error| format!("no answer: {error}"))?;
        testkit::parse_response(&raw).ok_or_else(|| "no HTTP answer".to_owned())
    }

    fn search_files(&self, arguments: &Value) -> Result<(), String> {
        let found = self.answer("searchFiles", arguments)?;
        let is_empty = found["items"].as_array().is_none_or(Vec::is_empty);
        match self.files {
            Files::Ours if is_empty => Err(format!("nothing found for {arguments}: {found}")),
            Files::Ours | Files::Others => Ok(()),
        }
    }

    fn tool(&self, name: &str, arguments: &Value) -> Result<(), String> {
        self.answer(name, arguments).map(|_| ())
    }

    fn answer(&self, name: &str, arguments: &Value) -> Result<Value, String> {
        let params = json!({ "name": name, "arguments": arguments });
        let response = self.rpc("tools/call", &params)?;
        let mut value: Value = serde_json::from_slice(&response.body).map_err(|e| e.to_string())?;
        let is_error = value["result"]["isError"] == true || value.get("error").is_some();
        if is_error || response.status != 200 {
            return Err(format!("{name}: {value}"));
        }
        Ok(value["result"]["structuredContent"].take())
    }

    /// Adds a document, and deletes the oldest when there are enough.
    fn upload(&self, n: usize) -> Result<(), String> {
        let body = json!({ "title": "soak", "text": format!("Soak document of word soak{n}.") });
        let path = format!("/v1/collections/{}/documents", self.collection);
        let added = self.send(&Request::new("POST", &path).json(&body))?;
        expect(&added, 202)?;
        let id = added.json()["id"].as_str().ok_or("an upload has no id")?.to_owned();
        let oldest = {
            let mut documents = self.documents.lock().map_err(|_| "a client panicked")?;
            documents.push_back(id);
            if documents.len() > MAX_DOCUMENTS { documents.pop_front() } else { None }
        };
        match oldest {
            None => Ok(()),
            Some(id) => {
                let path = format!("/v1/documents/{id}");
                let deleted = self.send(&Request::new("DELETE", &path))?;
                let is_done = (200..300).contains(&deleted.status);
                if is_done { Ok(()) } else { Err(format!("delete: {}", deleted.text())) }
            }
        }
    }
}

fn expect(response: &Response, status: u16) -> Result<(), String> {
    if response.status == status { Ok(()) } else { Err(response.text()) }
}
