//! Proves that each dialect sends what its servers expect and reads what they answer, that
//! nonsense is refused in words, and that keys never show.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use model::Deadline;
use net::Secret;
use serde_json::{Value, json};
use testkit::loopback::{Loopback, Reply, Seen};

use super::*;
use crate::{Completion, Continue, Embedder, Error, Llm, Message, Reranker, Result, TokensUsed};

fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(30))
}

fn embedder(dialect: EmbedDialect, server: &Loopback) -> Result<HttpEmbedder> {
    let config = HttpEmbedderConfig {
        dialect,
        base_url: server.url(""),
        model: "bge".to_owned(),
        api_key: Some(Secret::new("sk-hidden")),
        dimensions: None,
        query_prefix: "q: ".to_owned(),
        passage_prefix: String::new(),
        max_tokens: 512,
        timeout: Duration::from_secs(10),
    };
    HttpEmbedder::open(config, &soon())
}

/// Gives a vector that tells which text it came from.
fn vector(text: &Value) -> Value {
    let length = text.as_str().unwrap().chars().count() as f64;
    json!([3.0 * length, 4.0 * length, 0.0])
}

fn answer(seen: &Seen) -> Reply {
    let body = seen.json();
    let vectors = |texts: &Value| texts.as_array().unwrap().iter().map(vector).collect::<Vec<_>>();
    match seen.path.as_str() {
        "/v1/embeddings" => {
            // In reverse, as the standard allows.
            let mut data: Vec<Value> = vectors(&body["input"])
                .into_iter()
                .enumerate()
                .map(|(index, embedding)| json!({"index": index, "embedding": embedding}))
                .collect();
            data.reverse();
            Reply::json(&json!({"data": data, "usage": {"total_tokens": 1}}))
        }
        "/embed" => Reply::json(&json!(vectors(&body["inputs"]))),
        "/api/embed" => Reply::json(&json!({"embeddings": vectors(&body["input"])})),
        _ => Reply::status(404, "no such path"),
    }
}

#[test]
fn each_dialect_gives_vectors_of_length_one_in_order() {
    for dialect in [EmbedDialect::OpenAi, EmbedDialect::Tei, EmbedDialect::Ollama] {
        let server = Loopback::start(answer);
        let embedder = embedder(dialect, &server).unwrap();
        assert_eq!(embedder.dimensions(), 3);
        let texts: Vec<String> = (1..200).map(|length| "x".repeat(length)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let vectors = embedder.embed_passages(&texts, &soon()).unwrap();
        assert_eq!(vectors.len(), texts.len());
        assert!(vectors.iter().all(|vector| (vector[0] - 0.6).abs() < 1e-6));
        embedder.embed_query("why", &soon()).unwrap();
        let requests = server.requests();
        // The probe, batches of at most 64 (or 32, for TEI), the query.
        let n_batches = if dialect == EmbedDialect::Tei { 7 } else { 4 };
        assert_eq!(requests.len(), n_batches + 2);
        assert!(
            requests.iter().all(|seen| seen.header("authorization") == Some("Bearer sk-hidden"))
        );
        let query = requests.last().unwrap().json();
        let texts = query.get("input").or(query.get("inputs")).unwrap();
        assert_eq!(texts, &json!(["q: why"]));
        assert!(!embedder.has_token_vectors());
        assert!(matches!(
            embedder.embed_query_with_tokens("why", &soon()),
            Err(Error::NoTokenVectors { .. })
        ));
    }
}

#[test]
fn order_is_kept_between_batches() {
    let server = Loopback::start(|seen| {
        let texts = seen.json()["inputs"].clone();
        let vectors: Vec<Value> = texts
            .as_array()
            .unwrap()
            .iter()
            .map(|text| {
                let number: f64 = text.as_str().unwrap().parse().unwrap_or(0.0);
                json!([number.cos(), number.sin()])
            })
            .collect();
        Reply::json(&json!(vectors))
    });
    let embedder = embedder(EmbedDialect::Tei, &server).unwrap();
    let texts: Vec<String> = (0..300).map(|number| number.to_string()).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    for (number, vector) in embedder.embed_passages(&texts, &soon()).unwrap().iter().enumerate() {
        assert!((vector[0] - (number as f32).cos()).abs() < 1e-3, "{number}");
    }
}

#[test]
fn nonsense_is_refused_in_words() {
    let cases = [
        (EmbedDialect::Tei, json!([[1.0], [2.0]])),
        (EmbedDialect::Tei, json!([[]])),
        (EmbedDialect::Tei, json!({"vectors": 1})),
        (EmbedDialect::Ollama, json!({"embeddings": []})),
        (EmbedDialect::OpenAi, json!({"data": [{"index": 7, "embedding": [1.0]}]})),
        (EmbedDialect::OpenAi, json!({"data": [{"index": 0, "embedding": "AAAA"}]})),
        (EmbedDialect::OpenAi, json!({"data": [{"index": 0, "embedding": [1e39]}]})),
    ];
    let said: Vec<String> = cases
        .into_iter()
        .map(|(dialect, body)| {
            let server = Loopback::start(move |_| Reply::json(&body));
            let error = embedder(dialect, &server).unwrap_err();
            error.to_string()
        })
        .collect();
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn a_vector_of_another_length_is_refused() {
    let n_seen = AtomicUsize::new(0);
    let server = Loopback::start(move |_| match n_seen.fetch_add(1, Ordering::Relaxed) {
        0 => Reply::json(&json!([[1.0, 2.0]])),
        _ => Reply::json(&json!([[1.0, 2.0, 3.0]])),
    });
    let error =
        embedder(EmbedDialect::Tei, &server).unwrap().embed_query("x", &soon()).unwrap_err();
    assert!(error.to_string().contains("a vector of 3 dimensions, expected 2"), "{error}");
}

#[test]
fn no_key_shows_in_what_fails() {
    let server = Loopback::start(|seen| {
        Reply::status(401, format!("bad {}", seen.header("authorization").unwrap()))
    });
    let error = embedder(EmbedDialect::OpenAi, &server).unwrap_err();
    let shown = format!(
        "{error:?} {}",
        crate::ModelState::from_error("x", &error).warning().unwrap().message
    );
    assert!(shown.contains("[secret]") && !shown.contains("sk-hidden"), "{shown}");
}

fn reranker(dialect: RerankDialect, server: &Loopback) -> HttpReranker {
    HttpReranker::open(HttpRerankerConfig {
        dialect,
        base_url: server.url(""),
        model: "rank".to_owned(),
        api_key: None,
        timeout: Duration::from_secs(10),
    })
    .unwrap()
}

#[test]
fn each_dialect_ranks() {
    let server = Loopback::start(|seen| {
        let body = seen.json();
        match seen.path.as_str() {
            "/rerank" if body["texts"].is_array() => {
                Reply::json(&json!([{"index": 1, "score": 0.9}, {"index": 0, "score": 0.2}]))
            }
            "/v1/rerank" | "/v2/rerank" if body["documents"].is_array() => Reply::json(&json!({
                "results": [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.2}]
            })),
            _ => Reply::status(404, "no such path"),
        }
    });
    for dialect in [RerankDialect::Tei, RerankDialect::Jina, RerankDialect::Cohere] {
        let scores = reranker(dialect, &server).score("q", &["a", "b"], &soon()).unwrap();
        assert_eq!(scores, [0.2, 0.9]);
        assert!(reranker(dialect, &server).score("q", &[], &soon()).unwrap().is_empty());
    }
}

#[test]
fn logits_become_scores_and_gaps_are_refused() {
    let server = Loopback::start(|_| {
        Reply::json(&json!([{"index": 0, "score": 4.0}, {"index": 1, "score": -4.0}]))
    });
    let reranker = reranker(RerankDialect::Tei, &server);
    let scores = reranker.score("q", &["a", "b"], &soon()).unwrap();
    assert!(scores[0] > 0.9 && scores[1] < 0.1 && scores[1] > 0.0);
    let error = reranker.score("q", &["a", "b", "c"], &soon()).unwrap_err();
    assert!(error.to_string().contains("no score for passage 2 of 3"), "{error}");
    let error = reranker.score("q", &["a"], &soon()).unwrap_err();
    assert!(error.to_string().contains("a score for passage 1 of 1"), "{error}");
}

fn llm(dialect: LlmDialect, server: &Loopback) -> HttpLlm {
    HttpLlm::open(HttpLlmConfig {
        dialect,
        base_url: server.url(""),
        model: "small".to_owned(),
        api_key: Some(Secret::new("sk-hidden")),
        timeout: Duration::from_secs(10),
    })
    .unwrap()
}

fn messages() -> Vec<Message> {
    vec![Message::system("Be brief."), Message::user("Say hello.")]
}

fn hello(is_truncated: bool) -> Completion {
    let tokens_used = TokensUsed { prompt: 12, completion: 3 };
    Completion { text: "Hello there".to_owned(), tokens_used, is_truncated }
}

#[track_caller]
fn check_streamed(
    dialect: LlmDialect,
    body: &str,
    expected: &std::result::Result<Completion, &str>,
) {
    let body = body.to_owned();
    let server = Loopback::start(move |_| Reply::ok(body.clone()));
    let mut pieces = String::new();
    let received =
        llm(dialect, &server).complete_streaming(&messages(), 50, &soon(), &mut |piece| {
            pieces.push_str(piece);
            Continue::Yes
        });
    match (received, expected) {
        (Ok(received), Ok(expected)) => {
            assert_eq!(&received, expected);
            assert_eq!(pieces, expected.text);
        }
        (Err(error), Err(expected)) => assert!(error.to_string().contains(expected), "{error}"),
        (received, expected) => panic!("{received:?}, expected {expected:?}"),
    }
    assert_eq!(server.requests()[0].json()["stream"], true);
}

#[test]
fn whole_answers_are_read() {
    let server = Loopback::start(|seen| match seen.path.as_str() {
        "/v1/chat/completions" => Reply::json(&json!({
            "choices": [{"message": {"role": "assistant", "content": "Hello there"}, "finish_reason": "length"}],
            "usage": {"prompt_tokens": 12, "completion_tokens": 3}
        })),
        "/api/chat" => Reply::json(&json!({
            "message": {"role": "assistant", "content": "Hello there"}, "done": true, "done_reason": "stop",
            "prompt_eval_count": 12, "eval_count": 3
        })),
        _ => Reply::status(404, "no such path"),
    });
    let openai = llm(LlmDialect::OpenAi, &server);
    assert_eq!(openai.complete(&messages(), 50, &soon()).unwrap(), hello(true));
    let ollama = llm(LlmDialect::Ollama, &server);
    assert_eq!(ollama.complete(&messages(), 50, &soon()).unwrap(), hello(false));
    assert_eq!((openai.name(), ollama.name()), ("openai/small", "ollama/small"));
    let sent: Vec<Value> = server.requests().iter().map(Seen::json).collect();
    assert_eq!(sent[0]["max_tokens"], 50);
    assert_eq!(sent[0]["messages"][0], json!({"role": "system", "content": "Be brief."}));
    assert_eq!(sent[1]["options"]["num_predict"], 50);
}

#[test]
fn streams_are_read() {
    check_streamed(
        LlmDialect::OpenAi,
        "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\"}}]}\n\n\
         data: {\"choices\":[{\"delta\":{\"content\":\"Hello \"}}]}\n\n: ping\n\n\
         data: {\"choices\":[{\"delta\":{\"content\":\"there\"},\"finish_reason\":\"stop\"}]}\n\n\
         data: {\"choices\":[],\"usage\":{\"prompt_tokens\":12,\"completion_tokens\":3}}\n\n\
         data: [DONE]\n\n",
        &Ok(hello(false)),
    );
    check_streamed(
        LlmDialect::Ollama,
        "{\"message\":{\"content\":\"Hello \"},\"done\":false}\n\
         {\"message\":{\"content\":\"there\"},\"done\":false}\n\
         {\"message\":{\"content\":\"\"},\"done\":true,\"done_reason\":\"length\",\"prompt_eval_count\":12,\"eval_count\":3}\n",
        &Ok(hello(true)),
    );
}

#[test]
fn broken_streams_are_errors() {
    let piece = "data: {\"choices\":[{\"delta\":{\"content\":\"Hello\"}}]}\n\n";
    check_streamed(LlmDialect::OpenAi, piece, &Err("the stream ended before the text did"));
    check_streamed(LlmDialect::OpenAi, "data: garbage\n\n", &Err("not JSON"));
    check_streamed(
        LlmDialect::Ollama,
        "{\"error\":\"model `small` not found\"}\n",
        &Err("not found"),
    );
    check_streamed(
        LlmDialect::OpenAi,
        "data: {\"error\":{\"message\":\"key sk-hidden is out of money\"}}\n\n",
        &Err("key [secret] is out of money"),
    );
}

#[test]
fn a_reader_that_leaves_ends_the_stream() {
    let server = Loopback::start(|_| {
        let line = "{\"message\":{\"content\":\"x\"},\"done\":false}\n";
        Reply::ok(line.repeat(1000))
    });
    let mut n_pieces = 0;
    let completion = llm(LlmDialect::Ollama, &server)
        .complete_streaming(&messages(), 50, &soon(), &mut |_| {
            n_pieces += 1;
            if n_pieces < 3 { Continue::Yes } else { Continue::No }
        })
        .unwrap();
    assert_eq!((n_pieces, completion.text.as_str()), (3, "xxx"));
}

#[test]
fn older_and_newer_servers_are_understood() {
    let server = Loopback::start(|seen| {
        let body = seen.json();
        match seen.path.as_str() {
            "/v1/chat/completions" if body.get("max_tokens").is_some() => {
                Reply::status(400, "Unsupported parameter: use 'max_completion_tokens' instead.")
            }
            "/v1/chat/completions" => {
                Reply::json(&json!({"choices": [{"message": {"content": "new"}}]}))
            }
            "/api/generate" => Reply::json(&json!({"response": body["prompt"], "done": true})),
            _ => Reply::status(404, "404 page not found"),
        }
    });
    let new = llm(LlmDialect::OpenAi, &server).complete(&messages(), 50, &soon()).unwrap();
    assert_eq!(new.text, "new");
    let old = llm(LlmDialect::Ollama, &server).complete(&messages(), 50, &soon()).unwrap();
    assert_eq!(old.text, "Say hello.");
}

#[test]
fn an_answer_without_a_message_is_refused() {
    let server = Loopback::start(|_| Reply::json(&json!({"object": "something else"})));
    let error = llm(LlmDialect::OpenAi, &server).complete(&messages(), 5, &soon()).unwrap_err();
    assert!(error.to_string().contains("it holds no message"), "{error}");
}
