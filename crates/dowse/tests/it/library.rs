//! A running binary with knowledge bases, and those who use them.

use std::cell::OnceCell;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::{Mcp, Request, Response, tokens};

use crate::test_server::TestServer;

const SECRET: &str = "a shared secret of decent length";

/// How long a job may take.
const JOB_WAIT: Duration = Duration::from_secs(60);

/// A server with its callers.
pub(crate) struct Library(pub(crate) TestServer);

impl Library {
    pub(crate) fn open() -> Self {
        Library(TestServer::start("[embedder]\nprovider = \"none\"\n"))
    }

    pub(crate) fn with_tokens() -> Self {
        let (issuer, audience) = (tokens::ISSUER, tokens::AUDIENCE);
        let config = format!(
            "[embedder]\nprovider = \"none\"\n[auth]\njwt = {{ issuer = \"{issuer}\", audience = \
             \"{audience}\", hs256_secret_env = \"TEST_SECRET\" }}\n"
        );
        Library(TestServer::start_with(&config, &[("TEST_SECRET", SECRET)]))
    }

    pub(crate) fn send(&self, token: Option<&str>, request: Request) -> Response {
        let request = match token {
            Some(token) => request.header("Authorization", &format!("Bearer {token}")),
            None => request,
        };
        self.0.http().send(&request)
    }

    pub(crate) fn post(&self, token: Option<&str>, path: &str, body: &Value) -> Response {
        self.send(token, Request::new("POST", path).json(body))
    }

    pub(crate) fn get(&self, token: Option<&str>, path: &str) -> Response {
        self.send(token, Request::new("GET", path))
    }

    pub(crate) fn mcp(&self, token: Option<&str>) -> Mcp {
        let mcp = Mcp::new(self.0.http(), "/mcp");
        match token {
            Some(token) => mcp.header("Authorization", &format!("Bearer {token}")),
            None => mcp,
        }
    }

    /// Makes a knowledge base with one collection.
    pub(crate) fn base(&self, token: Option<&str>, new: &Value) -> (String, String) {
        let made = self.post(token, "/v1/knowledge-bases", new);
        assert_eq!(made.status, 201, "{}", made.text());
        let base = id_of(&made.json());
        let path = format!("/v1/knowledge-bases/{base}/collections");
        let made = self.post(token, &path, &json!({ "name": "All" }));
        assert_eq!(made.status, 201, "{}", made.text());
        (base, id_of(&made.json()))
    }

    /// Adds a text and waits until it can be found.
    pub(crate) fn add(&self, token: Option<&str>, collection: &str, body: &Value) -> String {
        let added = self.post(token, &format!("/v1/collections/{collection}/documents"), body);
        assert_eq!(added.status, 202, "{}", added.text());
        let added = added.json();
        assert!(["queued", "running", "done"].contains(&added["job"]["status"].as_str().unwrap()));
        self.wait(token, added["job"]["id"].as_str().unwrap());
        id_of(&added)
    }

    pub(crate) fn wait(&self, token: Option<&str>, job: &str) -> Value {
        let ended = OnceCell::new();
        let is_done = testkit::wait_until(JOB_WAIT, || {
            let answer = self.get(token, &format!("/v1/jobs/{job}")).json();
            match answer["status"].as_str() {
                Some("done") => ended.set(answer).is_ok(),
                Some("queued" | "running") => false,
                // A fast machine may ask too often.
                None if answer["error"]["code"] == "RATE_LIMITED" => false,
                _ => panic!("{answer}\n{}", self.0.server.stderr()),
            }
        });
        assert!(is_done, "job {job} goes on and on\n{}", self.0.server.stderr());
        ended.into_inner().unwrap()
    }
}

pub(crate) fn id_of(value: &Value) -> String {
    value["id"].as_str().unwrap_or_else(|| panic!("no id in {value}")).to_owned()
}

/// Signs a token (HS256).
pub(crate) fn token(subject: &str, tenant: &str, more: &Value) -> String {
    let mut claims = tokens::claims();
    claims["sub"] = json!(subject);
    claims["tenant_id"] = json!(tenant);
    for (name, value) in more.as_object().into_iter().flatten() {
        claims[name] = value.clone();
    }
    tokens::hs256(&claims, SECRET.as_bytes())
}

/// Reads the server-sent events of an answer.
pub(crate) fn events_of(answer: &Response) -> Vec<(String, Value)> {
    answer
        .text()
        .split("\n\n")
        .filter_map(|event| {
            let name = event.lines().find_map(|line| line.strip_prefix("event: "))?;
            let data = event.lines().find_map(|line| line.strip_prefix("data: "))?;
            Some((name.to_owned(), serde_json::from_str(data).unwrap()))
        })
        .collect()
}
