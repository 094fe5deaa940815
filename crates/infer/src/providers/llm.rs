//! Language models over HTTP: OpenAI-compatible chat completions, and Ollama.

use std::time::Duration;

use model::Deadline;
use net::Secret;
use serde_json::{Value, json};

use super::endpoint::Endpoint;
use super::thoughts::{Thoughts, without_thoughts};
use crate::{Completion, Continue, Error, Llm, Message, Result};

/// The longest text that a completion may have.
const MAX_COMPLETION_BYTES: usize = 4 * 1024 * 1024;

/// What language a provider speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LlmDialect {
    /// `POST /chat/completions`, as OpenAI and those compatible with it.
    OpenAi,
    /// `POST /api/chat`, and `POST /api/generate` where a server has no chat, as Ollama.
    Ollama,
}

/// Where text comes from.
#[derive(Debug, Clone)]
pub struct HttpLlmConfig {
    /// The provider's language.
    pub dialect: LlmDialect,
    /// The address before the path of the call.
    pub base_url: String,
    /// The model's name at the provider.
    pub model: String,
    /// The key, where one is needed.
    pub api_key: Option<Secret>,
    /// How long one request may take.
    pub timeout: Duration,
}

/// A language model at the other end of HTTP.
#[derive(Debug)]
pub struct HttpLlm {
    endpoint: Endpoint,
    config: HttpLlmConfig,
}

impl HttpLlm {
    /// Prepares a language model; nothing is sent yet.
    ///
    /// Fails when the address cannot be used.
    pub fn open(config: HttpLlmConfig) -> Result<Self> {
        let provider = match config.dialect {
            LlmDialect::OpenAi => "openai",
            LlmDialect::Ollama => "ollama",
        };
        let name = format!("{provider}/{}", config.model);
        let endpoint =
            Endpoint::new(name, &config.base_url, config.api_key.clone(), config.timeout)?;
        let endpoint = match config.dialect {
            LlmDialect::OpenAi => endpoint.with_version("v1"),
            LlmDialect::Ollama => endpoint,
        };
        Ok(HttpLlm { endpoint, config })
    }

    /// Sends a call and hands the answer to `read`, in the form the server understands.
    fn call<T>(
        &self,
        messages: &[Message],
        max_tokens: u32,
        is_streamed: Streamed,
        mut send: impl FnMut(&str, &Value) -> Result<T>,
    ) -> Result<T> {
        match self.config.dialect {
            LlmDialect::OpenAi => {
                let mut body = self.openai_body(messages, is_streamed);
                body["max_tokens"] = max_tokens.into();
                match send("/chat/completions", &body) {
                    // Newer models of OpenAI know the limit only by its new name.
                    Err(error) if says(&error, 400, "max_completion_tokens") => {
                        body.as_object_mut().expect("made above").remove("max_tokens");
                        body["max_completion_tokens"] = max_tokens.into();
                        send("/chat/completions", &body)
                    }
                    other => other,
                }
            }
            LlmDialect::Ollama => {
                match send("/api/chat", &self.ollama_body(messages, max_tokens, is_streamed)) {
                    Err(error) if says(&error, 404, "page not found") => {
                        let body = self.generate_body(messages, max_tokens, is_streamed);
                        send("/api/generate", &body)
                    }
                    other => other,
                }
            }
        }
    }

    fn openai_body(&self, messages: &[Message], is_streamed: Streamed) -> Value {
        let mut body = json!({
            "model": self.config.model,
            "messages": turns(messages),
            "temperature": 0,
            "stream": is_streamed == Streamed::Yes,
        });
        if is_streamed == Streamed::Yes {
            body["stream_options"] = json!({"include_usage": true});
        }
        body
    }

    fn ollama_body(&self, messages: &[Message], max_tokens: u32, is_streamed: Streamed) -> Value {
        json!({
            "model": self.config.model,
            "messages": turns(messages),
            "stream": is_streamed == Streamed::Yes,
            "options": {"num_predict": max_tokens, "temperature": 0},
        })
    }

    fn generate_body(&self, messages: &[Message], max_tokens: u32, is_streamed: Streamed) -> Value {
        let of_role = |is_system: bool| {
            let texts = messages
                .iter()
                .filter(|message| (message.role == crate::Role::System) == is_system)
                .map(|message| message.text.as_str());
            texts.collect::<Vec<_>>().join("\n\n")
        };
        json!({
            "model": self.config.model,
            "system": of_role(true),
            "prompt": of_role(false),
            "stream": is_streamed == Streamed::Yes,
            "options": {"num_predict": max_tokens, "temperature": 0},
        })
    }

    /// Adds what one answer, or one piece of a streamed one, says. Gives the new text.
    fn take(&self, piece: &Value, completion: &mut Completion) -> Result<String> {
        if let Some(error) = piece.get("error").filter(|error| !error.is_null()) {
            let message = error["message"].as_str().or(error.as_str()).unwrap_or("no further word");
            let message: String = message.chars().take(300).collect();
            let message = match &self.config.api_key {
                Some(key) => key.blank_out(&message),
                None => message,
            };
            return Err(self.endpoint.bad_answer(message));
        }
        let choice = &piece["choices"][0];
        let text = [
            &choice["delta"]["content"],
            &choice["message"]["content"],
            &piece["message"]["content"],
            &piece["response"],
        ]
        .into_iter()
        .find_map(Value::as_str)
        .unwrap_or_default();
        let reason = choice["finish_reason"].as_str().or(piece["done_reason"].as_str());
        completion.is_truncated |= reason == Some("length");
        let count = |usage: &str, plain: &str| {
            piece["usage"][usage].as_u64().or_else(|| piece[plain].as_u64())
        };
        if let Some(n_tokens) = count("prompt_tokens", "prompt_eval_count") {
            completion.tokens_used.prompt = n_tokens;
        }
        if let Some(n_tokens) = count("completion_tokens", "eval_count") {
            completion.tokens_used.completion = n_tokens;
        }
        if completion.text.len() + text.len() > MAX_COMPLETION_BYTES {
            return Err(self
                .endpoint
                .bad_answer(format!("a text of more than {MAX_COMPLETION_BYTES} bytes")));
        }
        completion.text.push_str(text);
        Ok(text.to_owned())
    }

    /// Reads a streamed answer piece by piece.
    fn read_stream(
        &self,
        pieces: impl Iterator<Item = net::Result<String>>,
        on_piece: &mut dyn FnMut(&str) -> Continue,
    ) -> Result<Completion> {
        let mut completion = Completion::default();
        let (mut thoughts, mut answer) = (Thoughts::default(), String::new());
        let mut is_finished = false;
        for line in pieces {
            let line = line.map_err(|source| self.endpoint.failed(source))?;
            let line = line.trim();
            if line.is_empty() {
                continue;
            }
            if line == "[DONE]" {
                is_finished = true;
                break;
            }
            let piece: Value = serde_json::from_str(line)
                .map_err(|_| self.endpoint.bad_answer("a piece of the stream is not JSON"))?;
            let text = thoughts.answer_in(&self.take(&piece, &mut completion)?);
            answer.push_str(&text);
            if !text.is_empty() && on_piece(&text) == Continue::No {
                return Ok(Completion { text: answer, ..completion });
            }
            // Usage follows the last text in one dialect, and ends the stream in the other.
            is_finished |= piece["choices"][0]["finish_reason"].is_string();
            if piece["done"].as_bool() == Some(true) {
                is_finished = true;
                break;
            }
        }
        if !is_finished {
            return Err(self.endpoint.bad_answer("the stream ended before the text did"));
        }
        let rest = thoughts.rest();
        answer.push_str(&rest);
        if !rest.is_empty() {
            // Nothing follows, whether it is wanted or not.
            let _ = on_piece(&rest);
        }
        Ok(Completion { text: answer, ..completion })
    }
}

impl Llm for HttpLlm {
    fn name(&self) -> &str {
        &self.endpoint.name
    }

    fn complete(
        &self,
        messages: &[Message],
        max_tokens: u32,
        deadline: &Deadline,
    ) -> Result<Completion> {
        let answer: Value = self.call(messages, max_tokens, Streamed::No, |path, body| {
            self.endpoint.ask(path, body, deadline)
        })?;
        let mut completion = Completion::default();
        self.take(&answer, &mut completion)?;
        let has_text = answer["choices"][0]["message"].is_object()
            || answer["message"].is_object()
            || answer["response"].is_string();
        if !has_text {
            return Err(self.endpoint.bad_answer("it holds no message"));
        }
        completion.text = without_thoughts(&completion.text);
        Ok(completion)
    }

    fn complete_streaming(
        &self,
        messages: &[Message],
        max_tokens: u32,
        deadline: &Deadline,
        on_piece: &mut dyn FnMut(&str) -> Continue,
    ) -> Result<Completion> {
        let stream = self.call(messages, max_tokens, Streamed::Yes, |path, body| {
            self.endpoint.stream(path, body, deadline)
        })?;
        match self.config.dialect {
            LlmDialect::OpenAi => {
                let data = stream.events().map(|event| event.map(|event| event.data));
                self.read_stream(data, on_piece)
            }
            LlmDialect::Ollama => self.read_stream(stream.lines(), on_piece),
        }
    }
}

/// Whether an answer is asked for in pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Streamed {
    Yes,
    No,
}

fn turns(messages: &[Message]) -> Vec<Value> {
    messages
        .iter()
        .map(|message| json!({"role": message.role.as_str(), "content": message.text}))
        .collect()
}

/// Tells whether a provider refused with this status and these words.
fn says(error: &Error, expected_status: u16, words: &str) -> bool {
    matches!(
        error,
        Error::Provider { source: net::Error::Status { status, excerpt, .. }, .. }
            if *status == expected_status && excerpt.contains(words)
    )
}
