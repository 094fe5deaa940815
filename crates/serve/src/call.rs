//! The one way of a call: rate, slot, arguments, deadline, the tool itself on a thread that may
//! block, redaction and caps, audit and metrics. MCP, REST and the console all come through here.

use std::sync::Arc;
use std::time::{Duration, Instant};

use guard::{Entry, Outcome, Outgoing, release};
use model::{Caller, Deadline};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use tools::{Call, Code, ErrorShape, Link, Listed, Progress, ToolError};

use crate::App;

/// How long a call waits for a free slot before it is turned away.
const SLOT_WAIT: Duration = Duration::from_secs(5);

/// Queries are written to the audit up to this many characters.
const AUDITED_QUERY_CHARS: usize = 500;

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
    let begun = Instant::now();
    let at = app.clock.now();
    let tool_name = request.tool.spec.name.clone();
    let caller = Arc::clone(&request.caller);
    let request_id = request.id.clone();
    let shape = request.tool.spec.errors;
    let query = if app.audit_config.omit_queries { None } else { audited(&request.arguments) };

    app.metrics.begin();
    let result = admitted(app, request).await;
    app.metrics.end();

    let took = begun.elapsed();
    let (outcome, code, n_results, n_redacted) = match &result {
        Ok((done, n_results)) => (Outcome::Ok, None, *n_results, done.outgoing.n_redacted),
        Err(error) => (outcome_of(error.code), Some(error.code.as_str().to_owned()), 0, 0),
    };
    app.metrics.called(&tool_name, outcome, took, n_redacted);
    app.audit.record(&Entry {
        at,
        request: request_id.clone(),
        tool: tool_name.clone(),
        tenant: caller.tenant.to_string(),
        caller: caller.subject.clone(),
        outcome,
        code,
        results: n_results,
        redacted: n_redacted as u64,
        latency_ms: took.as_secs_f64() * 1000.0,
        query,
    });
    result.map(|(done, _)| done).map_err(|error| {
        let error = hide_internals(error, &tool_name, &request_id);
        Failed { error, shape }
    })
}

async fn admitted(app: &Arc<App>, request: Request) -> Result<(Done, u64), ToolError> {
    let spec = Arc::clone(&request.tool.spec);
    if let Err(refused) = app.limiter.admit(&request.caller.client_key(), &spec.name) {
        app.metrics.rate_limited(&spec.name);
        let seconds = refused.retry_after.as_secs_f64().ceil().max(1.0) as u64;
        return Err(ToolError::new(Code::RateLimited, refused.to_string())
            .with_detail("retry_after_seconds", seconds)
            .with_detail("limit_per_minute", refused.per_minute)
            .with_hint(format!("call `{}` again in {seconds} s", spec.name)));
    }
    tools::check(&spec, &request.arguments)?;
    let slot = tokio::time::timeout(SLOT_WAIT, Arc::clone(&app.slots).acquire_owned());
    let slot = match slot.await {
        Ok(Ok(slot)) => slot,
        Ok(Err(_)) | Err(_) => {
            return Err(ToolError::new(Code::Unavailable, "the server is busy")
                .with_hint("call again in a few seconds"));
        }
    };

    let deadline = Deadline::after(Duration::from_secs(app.limits.call_seconds));
    let work = {
        let deadline = deadline.clone();
        let Request { caller, tool, arguments, progress, .. } = request;
        let span = tracing::Span::current();
        tokio::task::spawn_blocking(move || {
            let _entered = span.enter();
            // The slot is held until the work ends, even when nobody waits for it any more.
            let _slot = slot;
            tool.tool.call(&Call {
                caller: &caller,
                arguments: &arguments,
                deadline: &deadline,
                progress: &*progress,
            })
        })
    };
    let answer = tokio::select! {
        biased;
        joined = work => joined.map_err(|error| {
            ToolError::internal(format!("the tool `{}` stopped unexpectedly: {error}", spec.name))
        })??,
        () = request.cancelled.cancelled() => {
            deadline.cancel();
            return Err(ToolError::new(Code::DeadlineExceeded, "the caller went away"));
        }
        () = tokio::time::sleep(deadline.remaining()) => {
            deadline.cancel();
            let limit = app.limits.call_seconds;
            return Err(ToolError::new(
                Code::DeadlineExceeded,
                format!("the call took longer than {limit} s"),
            )
            .with_hint("ask for less at once, or raise `limits.call_seconds`"));
        }
    };
    let n_results = answer.n_results;
    check_output(&spec, &answer.value)?;
    let outgoing =
        release(answer.value, &spec.shape.source_text, spec.shape.list.as_deref(), &app.caps());
    Ok((Done { outgoing, links: answer.links }, n_results))
}

/// Holds every answer to the tool's output schema, in debug builds and tests.
fn check_output(spec: &tools::Spec, value: &Value) -> Result<(), ToolError> {
    if !cfg!(debug_assertions) {
        return Ok(());
    }
    let schema = Value::Object(spec.output.clone());
    let validator = jsonschema::validator_for(&schema).map_err(|error| {
        ToolError::internal(format!("the output schema of `{}` is wrong: {error}", spec.name))
    })?;
    match validator.iter_errors(value).next() {
        None => Ok(()),
        Some(error) => Err(ToolError::internal(format!(
            "the answer of `{}` breaks its output schema at `{}`: {error}",
            spec.name,
            error.instance_path()
        ))),
    }
}

fn outcome_of(code: Code) -> Outcome {
    match code {
        Code::BadRequest
        | Code::Unauthorized
        | Code::Forbidden
        | Code::NotFound
        | Code::Conflict
        | Code::TooLarge
        | Code::RateLimited => Outcome::Refused,
        Code::DeadlineExceeded => Outcome::Cancelled,
        Code::InternalError | Code::LlmUpstream | Code::Unavailable => Outcome::Failed,
    }
}

/// The cause of a mistake of ours goes to the log; the caller gets the id that finds it there.
fn hide_internals(error: ToolError, tool: &str, request_id: &str) -> ToolError {
    if error.code != Code::InternalError {
        return error;
    }
    tracing::error!(tool, request_id, cause = %error.message, "a call failed");
    ToolError::new(Code::InternalError, "internal error")
        .with_detail("id", request_id)
        .with_hint("the server's log has the cause under this id")
}

fn audited(arguments: &Map<String, Value>) -> Option<String> {
    let asked = QUERY_ARGUMENTS.iter().find_map(|name| arguments.get(*name)?.as_str())?;
    Some(asked.chars().take(AUDITED_QUERY_CHARS).collect())
}
