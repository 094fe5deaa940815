//! Chats of the real binary with a language model on loopback: one that behaves, and ones that
//! do not. Its key is in no answer, no log and no audit.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use testkit::loopback::{Loopback, Reply, Seen};

use crate::library::{Library, events_of};
use crate::test_server::TestServer;

const KEY: &str = "sk-test-0123456789abcdef0123456789";

/// What the model does with a request for an answer.
type Answers = fn(&Seen) -> Reply;

struct Talk {
    library: Library,
    base: String,
    /// Another base, which is empty.
    other: String,
    _model: Loopback,
    n_asked: Arc<AtomicUsize>,
}

impl Talk {
    /// A server whose model chooses to search and then answers in its own way.
    fn with(answers: Answers) -> Self {
        Talk::choosing(r#"{"tool_name": "search_documents", "arguments": {}}"#, answers)
    }

    /// A server whose model chooses so, and then answers in its own way.
    fn choosing(choice: &'static str, answers: Answers) -> Self {
        let n_asked = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&n_asked);
        let model = Loopback::start(move |seen| {
            counted.fetch_add(1, Ordering::Relaxed);
            let asked = seen.json();
            match (asked["stream"] == true, asked.to_string().contains("You choose the tool")) {
                (true, _) => answers(seen),
                (false, true) => says(choice),
                (false, false) => says("A summary."),
            }
        });
        let config = format!(
            "[embedder]\nprovider = \"none\"\n[llm]\nprovider = \"openai\"\nbase_url = \"{}\"\n\
             model = \"test\"\napi_key_env = \"TEST_LLM_KEY\"\n[limits]\ncall_seconds = 5\n",
            model.url("")
        );
        let library = Library(TestServer::start_with(&config, &[("TEST_LLM_KEY", KEY)]));
        let (other, _) = library.base(None, &json!({ "name": "Other" }));
        let (base, collection) = library.base(None, &json!({ "name": "Rules" }));
        let text = "Remote work is allowed on three days. Write to hr@example.org.";
        library.add(None, &collection, &json!({ "title": "Work", "text": text }));
        Talk { library, base, other, _model: model, n_asked }
    }

    fn ask(&self) -> Vec<(String, Value)> {
        let body = json!({
            "query": "Is remote work allowed?", "knowledge_base_id": self.base, "threshold": 0.0,
        });
        let answer = self.library.post(None, "/v1/chat", &body);
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert!(!answer.text().contains(KEY));
        events_of(&answer)
    }

    fn assert_key_is_nowhere(&self) {
        assert!(self.n_asked.load(Ordering::Relaxed) > 0, "the model was never asked");
        let log = self.library.0.server.stderr();
        assert!(!log.contains(KEY), "{log}");
        let audit = self.library.0.folder.read("data/audit/audit.jsonl");
        assert!(!audit.contains(KEY), "{audit}");
    }
}

fn says(text: &str) -> Reply {
    let message = json!({ "message": { "content": text }, "finish_reason": "stop" });
    Reply::json(&json!({ "choices": [message] }))
}

fn streams(pieces: &[&str], end: &str) -> Reply {
    let mut body = String::new();
    for piece in pieces {
        let piece = json!({ "choices": [{ "delta": { "content": piece } }] });
        body.push_str(&format!("data: {piece}\n\n"));
    }
    body.push_str(end);
    Reply::ok(body).with_header("content-type", "text/event-stream")
}

fn text_of(events: &[(String, Value)]) -> String {
    let tokens = events.iter().filter(|(name, _)| name == "token");
    tokens.filter_map(|(_, data)| data["text"].as_str()).collect()
}

fn last(events: &[(String, Value)]) -> &Value {
    let (name, data) = events.last().unwrap();
    assert_eq!(name, "done");
    data
}

#[test]
fn the_model_chooses_and_answers_with_citations() {
    let talk = Talk::with(|seen| {
        let asked = seen.json().to_string();
        assert!(asked.contains("Remote work") && !asked.contains("hr@example.org"));
        let usage = r#"data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4}}"#;
        streams(&["Yes, three ", "days [1]."], &format!("{usage}\n\ndata: [DONE]\n\n"))
    });
    let events = talk.ask();
    let names: Vec<&str> = events.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        ["tool_selection", "search_start", "search_result", "token", "token", "done"]
    );
    assert_eq!(events[0].1["selected_by"], "openai/test");
    assert_eq!(text_of(&events), "Yes, three days [1].");
    let done = last(&events);
    assert_eq!(done["engine"], "openai/test");
    assert_eq!(done["tokens_used"], json!({ "prompt": 9, "completion": 4 }));
    assert_eq!(done["citations"][0]["number"], 1);
    assert_eq!(done["citations"][0]["title"], "Work");
    talk.assert_key_is_nowhere();
}

#[test]
fn a_model_that_fails_leaves_the_passages() {
    let failures: [(&str, Answers); 4] = [
        ("garbage", |seen| Reply::ok(format!("{:?}", seen.headers))),
        ("too many", |_| Reply::status(429, KEY).with_header("retry-after", "0")),
        ("broken", |_| Reply::status(500, KEY).with_header("retry-after", "0")),
        ("silent", |_| streams(&[], "data: [DONE]\n\n")),
    ];
    for (name, answers) in failures {
        let talk = Talk::with(answers);
        let events = talk.ask();
        assert!(text_of(&events).starts_with("[1] Remote work"), "{name}: {events:?}");
        let done = last(&events);
        assert_eq!(done["status"], "success", "{name}");
        assert_eq!(done["engine"], "none", "{name}");
        assert_eq!(done["warnings"].as_array().unwrap().len(), 1, "{name}: {done}");
        assert_eq!(done["citations"].as_array().unwrap().len(), 1, "{name}");
        talk.assert_key_is_nowhere();
    }
}

#[test]
fn half_an_answer_and_an_endless_wait_are_errors() {
    let talk = Talk::with(|_| streams(&["Yes, "], ""));
    let events = talk.ask();
    let (_, error) = events.iter().find(|(name, _)| name == "error").unwrap();
    assert_eq!(error["error"]["message"], "LLM service unavailable");
    assert_eq!(error["error"]["code"], "LLM_UPSTREAM");
    assert_eq!(last(&events)["status"], "error");
    talk.assert_key_is_nowhere();

    let talk = Talk::with(|_| Reply::Hang);
    let events = talk.ask();
    let done = last(&events);
    let is_told = done["status"] == "error" || !done["warnings"].as_array().unwrap().is_empty();
    assert!(is_told, "{events:?}");
    talk.assert_key_is_nowhere();
}

/// A passage talked the model into a picture whose address would carry the answer away.
#[test]
fn what_the_model_writes_is_never_live() {
    let talk = Talk::with(|_| {
        let pieces = [
            "See !",
            "[x",
            "]",
            "(htt",
            "p:/",
            "/evil.example/?q=1) <",
            "img src=x> [1",
            "]: w",
            "ww",
            ".",
            "e",
        ];
        streams(&pieces, "data: [DONE]\n\n")
    });
    let events = talk.ask();
    let said = text_of(&events);
    assert_eq!(testkit::markdown::live_parts(&said), Vec::<String>::new(), "{said}");
    assert!(said.starts_with("See ![x] (http:/ /evil.example/"), "{said}");
    // Without a model the passages themselves are said.
    let library = Library::open();
    let (base, collection) = library.base(None, &json!({ "name": "Hostile" }));
    let text =
        "Remote work ![x](http://evil.example/a.png) <img src=x> and <http://evil.example/>.";
    library.add(None, &collection, &json!({ "title": "Work", "text": text }));
    for force in ["search_documents", "get_knowledge_base_summary"] {
        let body = json!({
            "query": "remote work", "knowledge_base_id": base, "threshold": 0.0, "force_tool": force,
        });
        let said = text_of(&events_of(&library.post(None, "/v1/chat", &body)));
        assert!(said.contains("evil.example"), "{said}");
        assert_eq!(testkit::markdown::live_parts(&said), Vec::<String>::new(), "{said}");
    }
}

/// The choice of a base by the model was dropped, and nothing said which base was asked.
#[test]
fn bases_are_taken_by_name_and_said() {
    let choice = r#"{"tool_name": "search_documents",
        "arguments": {"query": "remote days", "knowledge_base_id": "rules"}}"#;
    let talk = Talk::choosing(choice, |_| streams(&["Yes [1]."], "data: [DONE]\n\n"));
    let other = &talk.other;
    let ask = |base: Option<&str>| {
        let mut body = json!({ "query": "Is remote work allowed?", "threshold": 0.0 });
        if let Some(base) = base {
            body["knowledge_base_id"] = json!(base);
        }
        let answer = talk.library.post(None, "/v1/chat", &body);
        assert_eq!(answer.status, 200, "{}", answer.text());
        events_of(&answer)
    };
    let of = |events: &[(String, Value)], name: &str| {
        events.iter().find(|(known, _)| known == name).unwrap().1.clone()
    };
    let events = ask(None);
    let (selection, start, done) =
        (of(&events, "tool_selection"), of(&events, "search_start"), of(&events, "done"));
    assert_eq!(start["query"], "remote days", "what is searched is the model's query");
    for told in [&selection, &start, &done] {
        assert_eq!(
            told["knowledge_bases"],
            json!([{ "id": talk.base, "name": "Rules" }]),
            "{told}"
        );
    }
    let warned = selection["warnings"].to_string();
    assert!(warned.contains("`Rules`") && warned.contains("not asked"), "{warned}");
    assert!(done["warnings"].to_string().contains("not asked"), "{done}");
    // The caller's own choice wins, by name as well.
    let events = ask(Some("OTHER"));
    assert_eq!(of(&events, "done")["knowledge_bases"], json!([{ "id": other, "name": "Other" }]));
    assert_eq!(of(&events, "tool_selection")["warnings"], json!([]));
    let refused = talk.library.post(
        None,
        "/v1/chat",
        &json!({ "query": "x", "knowledge_base_id": "nowhere" }),
    );
    assert_eq!(refused.status, 404);
    assert!(refused.text().contains("nowhere") && refused.text().contains("hint"));
    // A blank question is refused in a sentence that is true.
    let refused = talk.library.post(None, "/v1/chat", &json!({ "query": " \u{200b}" }));
    assert_eq!(refused.status, 400);
    assert_eq!(refused.json()["error"]["message"], "`query` is blank");
}

/// Conditions that the model gave were left out although the tool takes them.
#[test]
fn filters_of_the_model_hold_or_are_said_to_be_left_out() {
    let answers: Answers = |_| streams(&["Yes [1]."], "data: [DONE]\n\n");
    let of = |events: &[(String, Value)], name: &str| {
        events.iter().find(|(known, _)| known == name).unwrap().1.clone()
    };
    let asked = |choice: &'static str| {
        let talk = Talk::choosing(choice, answers);
        let path = format!("/v1/knowledge-bases/{}/collections", talk.base);
        let made = talk.library.post(None, &path, &json!({ "name": "dated" })).json();
        let collection = made["id"].as_str().unwrap();
        for year in [2023, 2024] {
            let text = format!("Remote work in the rules of {year}.");
            let document = json!({ "title": "Dated", "text": text, "metadata": { "year": year } });
            talk.library.add(None, collection, &document);
        }
        talk.ask()
    };
    let choice = r#"{"tool_name": "search_documents", "arguments": {"filters": {"year": 2024}}}"#;
    let events = asked(choice);
    assert_eq!(of(&events, "tool_selection")["arguments"]["filters"], json!({ "year": 2024 }));
    let found = of(&events, "search_result");
    assert_eq!(found["count"], 1, "{found}");
    assert!(found.to_string().contains("rules of 2024"), "{found}");
    assert!(!of(&events, "done")["warnings"].to_string().contains("filters"), "{events:?}");

    let choice = r#"{"tool_name": "search_documents", "arguments": {"filters": {"nobody": 1}}}"#;
    let events = asked(choice);
    let done = of(&events, "done");
    assert_eq!(done["status"], "success", "{done}");
    assert!(done["warnings"].to_string().contains("`filters` of the language model"), "{done}");
    assert_eq!(of(&events, "search_result")["count"], 3);
}
