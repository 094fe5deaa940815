//! `POST /v1/chat`: a question, the tool that answers it, and the answer as events.
//!
//! The tool is called as an agent would call it, so that every rule of the guard holds here too.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::Request;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use infer::{Continue, TokensUsed};
use knowledge::chat::{Choice, ChosenArguments, ToolName, ocr_payload};
use knowledge::{KnowledgeBase, Service, limits};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio_util::sync::{CancellationToken, DropGuard};
use tools::{Code, ErrorShape, ToolError};

use super::transcript::{citations, passages, plain, together};
use crate::api::body;
use crate::api::knowledge::not_served;
use crate::api::operation::{Api, Doc};
use crate::api::rest::Rest;
use crate::api::wire::ChatBody as Question;
use crate::call;
use crate::guarded::{self, CallContext, Counts, RunningCall};
use crate::http::coded;

/// The name under which chats are limited, counted and audited.
const NAME: &str = "chat";

/// Knowledge bases that one question is put to.
const MAX_ASKED_BASES: usize = 16;

/// Results of a search that says nothing about their number.
const USUAL_RESULTS: u64 = 10;

/// Events that wait for a slow reader.
const MAX_WAITING_EVENTS: usize = 64;

pub(in crate::api) fn routes() -> Api {
    let what = "Ask a question; the answer comes as events";
    let doc = Doc::media("knowledge", what, "text/event-stream")
        .with_body::<Question>()
        .with_example(json!({ "query": "How many days of leave?", "knowledge_base_id": "…" }));
    Api::default().post("/v1/chat", chat, doc)
}

async fn chat(rest: Rest, request: Request) -> Response {
    match begin(rest, request).await {
        Ok(response) => response,
        Err(refused) => coded(&refused),
    }
}

async fn begin(rest: Rest, request: Request) -> Result<Response, ToolError> {
    let question: Question = body::read_json(request, rest.app.limits.body_bytes).await?;
    let forced = check(&question)?;
    let service =
        rest.app.knowledge.clone().ok_or_else(|| {
            ToolError::new(Code::Unavailable, "knowledge bases are not served here")
        })?;
    let (call_context, gone) = rest.call_context(NAME);
    guarded::admit(&rest.app, &call_context)?;
    // Whoever may not read the knowledge base learns it from the status, before any event.
    let (base, caller) = (question.knowledge_base_id.clone(), Arc::clone(&rest.caller));
    let reader = service.clone();
    let bases = guarded::run(&rest.app, &call_context, move |_| {
        let bases = match base.as_deref() {
            Some(given) => {
                let id =
                    tools::knowledge::resolved(&reader, &caller, Some(given), "search_documents")?;
                reader.get_base(&caller, &id).map(|base| vec![base])
            }
            None => reader.list_bases(&caller),
        };
        bases.map_err(tools::knowledge::error)
    })
    .await?;
    if bases.is_empty() {
        return Err(ToolError::new(Code::NotFound, "Knowledge base not found")
            .with_hint("there is no knowledge base that you may read; ask an owner to share one"));
    }
    let (events, waiting) = channel(MAX_WAITING_EVENTS);
    let chat = Chat { rest, service, question, bases, forced, events };
    tokio::spawn(chat.run(call_context));
    Ok(Sse::new(stream(waiting, gone)).keep_alive(KeepAlive::default()).into_response())
}

fn check(question: &Question) -> Result<Option<ToolName>, ToolError> {
    let n_chars = question.query.chars().count();
    if text::is_blank(&question.query) {
        return Err(ToolError::bad_request("`query` is blank")
            .with_detail("argument", "query")
            .with_hint("ask a question in words"));
    }
    // A text to repair may be longer than a question; its own tool checks it.
    if n_chars > limits::MAX_OCR_CHARS {
        let message = format!(
            "`query` must have 1 to {} characters, received {n_chars}",
            limits::MAX_OCR_CHARS
        );
        return Err(ToolError::bad_request(message).with_detail("argument", "query"));
    }
    if let Some(threshold) = question.threshold.filter(|given| !(0.0..=1.0).contains(given)) {
        let message = format!("`threshold` must be from 0 to 1, received {threshold}");
        return Err(ToolError::bad_request(message).with_detail("argument", "threshold"));
    }
    let most = limits::MAX_RESULTS;
    if let Some(n_results) = question.max_results.filter(|given| !(1..=most).contains(given)) {
        let message = format!("`max_results` must be from 1 to {most}, received {n_results}");
        return Err(ToolError::bad_request(message).with_detail("argument", "max_results"));
    }
    let Some(name) = &question.force_tool else { return Ok(None) };
    let tool = ToolName::of(name).ok_or_else(|| {
        let allowed = ToolName::ALL.map(ToolName::as_str);
        let message = format!("`force_tool` must be one of `{}`", allowed.join("`, `"));
        ToolError::bad_request(message)
            .with_detail("argument", "force_tool")
            .with_detail("received", name.chars().take(100).collect::<String>())
    })?;
    Ok(Some(tool))
}

/// Gives events as they come; when the reader goes away, the work is cancelled.
fn stream(
    waiting: Receiver<Event>,
    gone: DropGuard,
) -> impl futures::Stream<Item = Result<Event, Infallible>> {
    futures::stream::unfold((waiting, gone), |(mut waiting, gone)| async move {
        let event = waiting.recv().await?;
        Some((Ok(event), (waiting, gone)))
    })
}

struct Chat {
    rest: Rest,
    service: Service,
    question: Question,
    /// The bases that are asked.
    bases: Vec<KnowledgeBase>,
    forced: Option<ToolName>,
    events: Sender<Event>,
}

impl Chat {
    async fn run(self, call_context: CallContext) {
        let running = RunningCall::enter(&self.rest.app);
        let ended = self.answer(&call_context).await;
        if let Err(error) = &ended {
            let shown = guarded::hide_internals(error.clone(), NAME, &call_context.id);
            self.send("error", &shown.to_json(ErrorShape::Coded)).await;
            self.send("done", &json!({ "status": "error" })).await;
        }
        let app = Arc::clone(&self.rest.app);
        let query = guarded::audited_query(&self.question.query);
        running.leave(&app, call_context, Some(query), ended.as_ref().copied());
    }

    async fn answer(&self, call_context: &CallContext) -> Result<Counts, ToolError> {
        let choice = self.choose(call_context).await?;
        let mut arguments = self.arguments(&choice);
        let mut warnings: Vec<String> =
            choice.warnings.iter().map(|warning| warning.message.clone()).collect();
        let wanted = arguments.remove("knowledge_base_id");
        let wanted = wanted.as_ref().and_then(Value::as_str);
        let asked = chosen_bases(&self.bases, choice.tool, wanted, &mut warnings);
        let bases: Vec<Value> =
            asked.iter().map(|base| json!({ "id": base.id, "name": base.name })).collect();
        let selection = json!({
            "tool_name": choice.tool.as_str(),
            "arguments": arguments,
            "knowledge_bases": bases,
            "selected_by": choice.by,
            "warnings": warnings,
        });
        self.send("tool_selection", &selection).await;
        // What is really searched for: the model may have found better words.
        let searched = arguments.get("query").or_else(|| arguments.get("text"));
        let searched = searched.cloned().unwrap_or_else(|| json!(self.question.query));
        let start = json!({
            "tool_name": choice.tool.as_str(), "query": searched, "knowledge_bases": bases,
        });
        self.send("search_start", &start).await;
        let cancelled = &call_context.cancelled;
        let result = match self.ask(choice.tool, &arguments, asked, cancelled).await {
            // The model may name a field that no document has, and knows none of them.
            Err(error) if error.code == Code::BadRequest && arguments.contains_key("filters") => {
                arguments.remove("filters");
                warnings.push(format!(
                    "the `filters` of the language model were left out: {}",
                    error.message
                ));
                self.ask(choice.tool, &arguments, asked, cancelled).await?
            }
            answered => answered?,
        };
        self.send("search_result", &result).await;
        let n_results = result["count"].as_u64().unwrap_or(1);
        let said = self.say(call_context, choice.tool, &result).await?;
        let chosen = choice.tokens_used;
        let done = json!({
            "status": "success",
            "tool_name": choice.tool.as_str(),
            "knowledge_bases": bases,
            "engine": said.engine,
            "count": n_results,
            "tokens_used": {
                "prompt": said.tokens.prompt + chosen.prompt,
                "completion": said.tokens.completion + chosen.completion,
            },
            "citations": citations(&result, said.text.as_deref()),
            "warnings": warnings.into_iter().chain(said.warnings).collect::<Vec<_>>(),
        });
        self.send("done", &done).await;
        Ok(Counts { n_results, ..Counts::default() })
    }

    async fn choose(&self, call_context: &CallContext) -> Result<Choice, ToolError> {
        let (service, forced) = (self.service.clone(), self.forced);
        let query = self.question.query.clone();
        let names: Vec<String> = self.bases.iter().map(|base| base.name.clone()).collect();
        guarded::run(&self.rest.app, call_context, move |deadline| {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            Ok(service.choose_tool(&query, &names, forced, deadline))
        })
        .await
    }

    /// The model's own arguments, where it gave some; what the caller said comes before them.
    fn arguments(&self, choice: &Choice) -> Map<String, Value> {
        let question = &self.question;
        let mut arguments = written(&choice.arguments);
        match choice.tool {
            ToolName::NormalizeOcrText => {
                let text = arguments.entry("text");
                text.or_insert_with(|| json!(ocr_payload(&question.query)));
            }
            ToolName::GetKnowledgeBaseSummary => {}
            ToolName::SearchDocuments => {
                arguments.entry("query").or_insert_with(|| json!(question.query));
                if let Some(threshold) = question.threshold {
                    arguments.insert("threshold".to_owned(), json!(threshold));
                }
                if let Some(max_results) = question.max_results {
                    arguments.insert("max_results".to_owned(), json!(max_results));
                }
            }
        }
        arguments
    }

    /// Calls the tool for each base, and puts the answers together.
    async fn ask(
        &self,
        tool: ToolName,
        arguments: &Map<String, Value>,
        bases: &[KnowledgeBase],
        cancelled: &CancellationToken,
    ) -> Result<Value, ToolError> {
        if bases.is_empty() {
            return self.call(tool, arguments.clone(), cancelled).await;
        }
        let mut answers = Vec::new();
        for base in bases {
            let mut arguments = arguments.clone();
            arguments.insert("knowledge_base_id".to_owned(), json!(base.id));
            answers.push((base, self.call(tool, arguments, cancelled).await?));
        }
        let max_results = arguments.get("max_results").and_then(Value::as_u64);
        Ok(together(tool, answers, max_results.unwrap_or(USUAL_RESULTS)))
    }

    async fn call(
        &self,
        tool: ToolName,
        arguments: Map<String, Value>,
        cancelled: &CancellationToken,
    ) -> Result<Value, ToolError> {
        let name = tool.as_str();
        let Some(tool) = self.rest.app.tools.get(name, &self.rest.caller) else {
            return Err(not_served(&self.rest, name));
        };
        let request = call::Request {
            caller: Arc::clone(&self.rest.caller),
            tool,
            arguments,
            id: self.rest.id.clone(),
            cancelled: cancelled.clone(),
            progress: Arc::new(|_| {}),
        };
        match call::call(&self.rest.app, request).await {
            Ok(done) => Ok(done.outgoing.value),
            Err(failed) => Err(failed.error),
        }
    }

    /// Says the answer: by the language model for a search, else what the tool gave.
    ///
    /// A model that fails before its first word leaves the passages, with a warning; one that
    /// fails in the middle of a sentence is an error, since half an answer is none.
    async fn say(
        &self,
        call_context: &CallContext,
        tool: ToolName,
        result: &Value,
    ) -> Result<Transcript, ToolError> {
        let passages = passages(result);
        let mut warnings = Vec::new();
        if tool == ToolName::SearchDocuments && !passages.is_empty() {
            match self.by_model(call_context, passages).await? {
                Spoken::Whole(said) => return Ok(said),
                Spoken::NoModel => {}
                Spoken::Nothing(error) => warnings
                    .push(format!("{}: these are the passages that were found", error.message)),
            }
        }
        for piece in plain(tool, result) {
            self.send("token", &json!({ "text": piece })).await;
        }
        let tokens = TokensUsed::default();
        Ok(Transcript { engine: "none".to_owned(), tokens, text: None, warnings })
    }

    async fn by_model(
        &self,
        call_context: &CallContext,
        passages: Vec<String>,
    ) -> Result<Spoken, ToolError> {
        let (service, events) = (self.service.clone(), self.events.clone());
        let query = self.question.query.clone();
        guarded::run(&self.rest.app, call_context, move |deadline| {
            let mut text = String::new();
            let mut defuser = text::Defuser::default();
            let mut on_piece = |piece: &str| {
                text.push_str(piece);
                // What a passage talked the model into is text here: no link, no picture.
                let event = event("token", &json!({ "text": defuser.push(piece) }));
                match events.blocking_send(event) {
                    Ok(()) => Continue::Yes,
                    Err(_) => Continue::No,
                }
            };
            let spoken = service
                .answer(&query, &passages, deadline, &mut on_piece)
                .map_err(tools::knowledge::error);
            match spoken {
                Ok(None) => Ok(Spoken::NoModel),
                Ok(Some(used)) if !text.trim().is_empty() => Ok(Spoken::Whole(Transcript {
                    engine: service.llm_name().unwrap_or_default().to_owned(),
                    tokens: used,
                    text: Some(text),
                    warnings: Vec::new(),
                })),
                Ok(Some(_)) => {
                    let message = "the language model returned no text";
                    Ok(Spoken::Nothing(ToolError::new(Code::LlmUpstream, message)))
                }
                Err(error) if text.is_empty() => Ok(Spoken::Nothing(error)),
                Err(error) => Err(error),
            }
        })
        .await
    }

    async fn send(&self, name: &str, data: &Value) {
        // A reader that went away cancels the work through its call_context.
        let _ = self.events.send(event(name, data)).await;
    }
}

/// Writes what a model gave a tool as the tool's arguments.
fn written(chosen: &ChosenArguments) -> Map<String, Value> {
    let ChosenArguments { query, threshold, max_results, knowledge_base, filters, text } = chosen;
    let filters = filters.as_deref().and_then(|it| serde_json::from_str::<Value>(it).ok());
    let given = [
        ("query", query.as_ref().map(|it| json!(it))),
        ("threshold", threshold.map(|it| json!(it))),
        ("max_results", max_results.map(|it| json!(it))),
        ("knowledge_base_id", knowledge_base.as_ref().map(|it| json!(it))),
        ("filters", filters),
        ("text", text.as_ref().map(|it| json!(it))),
    ];
    let given = given.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    given.collect()
}

/// Gives the bases that a question is put to: the one that the model chose, by id or by a name
/// that only one has, or else all of them up to the limit. Whatever is left out is said.
fn chosen_bases<'a>(
    bases: &'a [KnowledgeBase],
    tool: ToolName,
    wanted: Option<&str>,
    warnings: &mut Vec<String>,
) -> &'a [KnowledgeBase] {
    if tool == ToolName::NormalizeOcrText {
        return &[];
    }
    if let Some(wanted) = wanted.filter(|_| bases.len() > 1) {
        let folded = text::fold(wanted.trim());
        let fits = |base: &KnowledgeBase| base.id == wanted || text::fold(&base.name) == folded;
        let mut fitting = bases.iter().enumerate().filter(|(_, base)| fits(base));
        match (fitting.next(), fitting.next()) {
            (Some((at, base)), None) => {
                let n_left = bases.len() - 1;
                warnings.push(format!(
                    "the language model chose the knowledge base `{}`; {n_left} others were not \
                     asked: name one with `knowledge_base_id`",
                    base.name
                ));
                return bases.get(at..=at).unwrap_or_default();
            }
            (found, _) => {
                let shown: String = wanted.chars().take(80).collect();
                let problem = match found {
                    Some(_) => "several have that name",
                    None => "there is none for you",
                };
                warnings.push(format!(
                    "the language model chose the knowledge base `{shown}`, and {problem}: all \
                     were asked"
                ));
            }
        }
    }
    let (asked, left) = bases.split_at(bases.len().min(MAX_ASKED_BASES));
    if !left.is_empty() {
        let n_left = left.len();
        warnings.push(format!(
            "{n_left} knowledge bases were not asked: name one with `knowledge_base_id`"
        ));
    }
    asked
}

/// An answer that was said.
struct Transcript {
    engine: String,
    tokens: TokensUsed,
    /// The words of the language model.
    text: Option<String>,
    warnings: Vec<String>,
}

/// What came of asking the language model.
enum Spoken {
    Whole(Transcript),
    NoModel,
    Nothing(ToolError),
}

fn event(name: &str, data: &Value) -> Event {
    Event::default().event(name).data(data.to_string())
}
