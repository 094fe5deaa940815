//! The one way of a call: rate, arguments, slot, deadline, the tool itself on a thread that may
//! block, redaction and caps, audit and metrics. MCP, REST and the console all come through here.

use std::sync::Arc;

use guard::{LeavingAnswer, Outgoing, release};
use model::{Caller, Deadline, Timestamp};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};
use text::Budget;
use tokio_util::sync::CancellationToken;
use tools::{Accepted, Call, Effect, ErrorShape, Image, Link, Listed, Progress, ToolError};

use crate::App;
use crate::guarded::{self, CallContext, Counts, RunningCall, Via};

/// Arguments that hold what was asked for, in the order in which the audit looks for them.
const QUERY_ARGUMENTS: [&str; 3] = ["query", "text", "title"];

/// A call as it arrives.
pub struct Request {
    /// Who calls.
    pub caller: Arc<Caller>,
    /// The tool as this caller sees it.
    pub tool: Listed,
    /// The arguments, unchecked.
    pub arguments: Map<String, Value>,
    /// The request's id, for log and audit.
    pub id: String,
    /// Cancelled when the client goes away.
    pub cancelled: CancellationToken,
    /// Where progress goes.
    pub progress: Arc<dyn Fn(Progress) + Send + Sync>,
}

/// A successful call.
pub struct Done {
    /// What may leave.
    pub outgoing: Outgoing,
    /// Resources to open next.
    pub links: Vec<Link>,
    /// Pictures to look at.
    pub images: Vec<Image>,
}

/// A failed call.
pub struct Failed {
    /// Why.
    pub error: ToolError,
    /// The form in which the tool's family writes errors.
    pub shape: ErrorShape,
}

/// Makes a call, and writes down how it ended.
pub async fn call(app: &Arc<App>, request: Request) -> Result<Done, Failed> {
    call_via(app, request, Via::Api).await
}

/// Makes a call that came in on something else than MCP or REST.
pub(crate) async fn call_via(app: &Arc<App>, request: Request, via: Via) -> Result<Done, Failed> {
    let running = RunningCall::enter(app);
    let shape = request.tool.spec.errors;
    // Written down before the tool takes them, so that they need not be copied.
    let query = audited(&request.arguments).map(guarded::audited_query);
    let is_kept = via == Via::Api && app.answers.is_keeping();
    let kept_arguments = is_kept.then(|| to_raw_value(&request.arguments).ok()).flatten();
    let call_context = CallContext {
        caller: request.caller,
        name: request.tool.spec.name.clone(),
        id: request.id,
        cancelled: request.cancelled,
        via,
    };
    let served = Arc::clone(&request.tool.served);
    let result =
        answer(app, &call_context, request.tool, request.arguments, request.progress).await;
    // Whoever has a part of the tools is not advised to call the others.
    let result = result.map_err(|error| served.error(error));
    let (result, ended) = match result {
        Ok((done, n_results)) => {
            if let Some(arguments) = &kept_arguments {
                keep(app, &call_context, running.at(), arguments, &done.outgoing);
            }
            let counts = Counts {
                n_results,
                n_redacted: done.outgoing.n_redacted,
                n_tokens: Some(text::count_tokens(&done.outgoing.text) as u64),
                best_score: best_score(&done.outgoing.value),
            };
            (Ok(done), Ok(counts))
        }
        Err(error) => {
            let shown =
                guarded::hide_internals(error.clone(), &call_context.name, &call_context.id);
            (Err(Failed { error: shown, shape }), Err(error))
        }
    };
    running.leave(app, call_context, query, ended.as_ref().copied());
    result
}

/// Keeps what left, so that a person can see later what the agent saw.
fn keep(
    app: &App,
    call_context: &CallContext,
    at: Timestamp,
    arguments: &RawValue,
    outgoing: &Outgoing,
) {
    // The text is the JSON of the answer, so that it is not written a second time.
    let Ok(answer) = serde_json::from_str::<&RawValue>(&outgoing.text) else { return };
    let hash = ring::digest::digest(&ring::digest::SHA256, outgoing.text.as_bytes());
    app.answers.keep(&LeavingAnswer {
        at,
        request: &call_context.id,
        tool: &call_context.name,
        tenant: call_context.caller.tenant.as_str(),
        caller: &call_context.caller.subject,
        rights: Some(guard::CallRights::of(&call_context.caller)),
        arguments,
        ids: guard::ids_of(&outgoing.value),
        answer,
        hash: &model::hex(hash),
        generation: (app.console.generation)(),
    });
}

/// Gives the highest score among the results of an answer, where they have scores.
fn best_score(answer: &Value) -> Option<f64> {
    let lists = ["results", "items"].iter().filter_map(|name| answer[*name].as_array());
    lists.flatten().filter_map(|result| result["score"].as_f64()).max_by(f64::total_cmp)
}

async fn answer(
    app: &Arc<App>,
    call_context: &CallContext,
    tool: Listed,
    arguments: Map<String, Value>,
    progress: Arc<dyn Fn(Progress) + Send + Sync>,
) -> Result<(Done, u64), ToolError> {
    let spec = Arc::clone(&tool.spec);
    guarded::admit(app, call_context)?;
    let Accepted { arguments, notes } = tools::accept(&spec, arguments)?;
    let is_instant = tool.tool.is_instant(&arguments);
    let arguments = Arc::new(arguments);
    let mut budget = app.caps().before_redaction();
    let mut n_rounds = 0;
    loop {
        let work = {
            let caller = Arc::clone(&call_context.caller);
            let (tool, arguments) = (Arc::clone(&tool.tool), Arc::clone(&arguments));
            let progress = Arc::clone(&progress);
            move |deadline: &Deadline| {
                tool.call(&Call {
                    caller: &caller,
                    arguments: &arguments,
                    deadline,
                    budget,
                    progress: &*progress,
                })
            }
        };
        let answer = if is_instant {
            guarded::run_here(app, call_context, work).await?
        } else {
            guarded::run(app, call_context, work).await?
        };
        n_rounds += 1;
        let mut answer = answer.with_notes(notes.clone());
        tool.served.warnings(&mut answer.value);
        spec.check_output(&answer.value)?;
        guard::redact_around(&mut answer.value, &answer.around);
        let source_text = answer.source_text.as_ref().unwrap_or(&spec.shape.source_text);
        let outgoing = release(answer.value, source_text, &app.caps());
        if outgoing.allowed_chars.is_some() {
            // Marks in the place of what was taken out may be longer than what they replace:
            // whoever makes the cursor is asked again with less room.
            if n_rounds < MAX_ROUNDS && spec.effect == Effect::ReadOnly {
                budget = Budget { chars: budget.chars / 2, tokens: budget.tokens / 2 };
                continue;
            }
            over_budget(&spec.name, &outgoing, &app.caps())?;
        }
        let links = answer.links.into_iter().map(redacted_link).collect();
        return Ok((Done { outgoing, links, images: answer.images }, answer.n_results));
    }
}

/// A link is named by the title of what it opens, which is text of a source.
fn redacted_link(link: Link) -> Link {
    Link { name: text::redact(&link.name).text, ..link }
}

/// How often a tool is asked for less when its answer is over the budget.
const MAX_ROUNDS: usize = 3;

/// Reports an answer that is over the budget, which is a mistake of whoever made it: it leaves
/// whole, since cutting it here would lose what the cursor skips.
///
/// Fails in debug builds and tests, as an answer that breaks its schema does.
pub(crate) fn over_budget(
    name: &str,
    outgoing: &Outgoing,
    budget: &Budget,
) -> Result<(), ToolError> {
    let n_chars = outgoing.text.chars().count();
    let n_tokens = text::count_tokens(&outgoing.text);
    tracing::error!(tool = name, n_chars, n_tokens, ?budget, "an answer is over its budget");
    if cfg!(debug_assertions) {
        return Err(ToolError::internal(format!(
            "the answer of `{name}` has {n_chars} characters and {n_tokens} tokens, over {budget:?}"
        )));
    }
    Ok(())
}

fn audited(arguments: &Map<String, Value>) -> Option<&str> {
    QUERY_ARGUMENTS.iter().find_map(|name| arguments.get(*name)?.as_str())
}
