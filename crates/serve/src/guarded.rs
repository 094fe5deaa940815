//! What is around every call, whatever is called: the rate, a slot, a deadline, a thread that
//! may block, and the record of how it ended.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use guard::{Entry, Metrics, Outcome};
use model::{Caller, Deadline, Identity, Timestamp};
use tokio_util::sync::CancellationToken;
use tools::{Code, ToolError};

use crate::App;
use crate::slots::{NoSlot, Slot};

/// How long a call waits for a free slot before it is turned away.
const SLOT_WAIT: Duration = Duration::from_secs(5);

/// Queries are written to the audit up to this many characters.
const AUDITED_QUERY_CHARS: usize = 500;

/// What a call came in on: it decides which rate holds, and is marked in audit and metrics.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Via {
    /// MCP or REST.
    #[default]
    Api,
    /// A person at the console, whose pages make several calls each.
    Console,
    /// This administrator at the console, while they look as the caller: the record names them.
    ViewingAs(Arc<Caller>),
}

/// The name under which the rate of the console is configured, and its mark in the audit.
const CONSOLE: &str = "console";

/// A call as the guard sees it.
pub(crate) struct CallContext {
    /// Who calls.
    pub(crate) caller: Arc<Caller>,
    /// What is called, for rates, audit and metrics.
    pub(crate) name: String,
    /// The request's id.
    pub(crate) id: String,
    /// Cancelled when the client goes away.
    pub(crate) cancelled: CancellationToken,
    /// What it came in on.
    pub(crate) via: Via,
}

/// What an answer held, for the record.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) n_results: u64,
    pub(crate) n_redacted: usize,
    /// Tokens of a tool's answer.
    pub(crate) n_tokens: Option<u64>,
    pub(crate) best_score: Option<f64>,
}

/// A call in progress. It counts as such until it is dropped, also when nobody waits any more.
pub(crate) struct RunningCall {
    metrics: Arc<Metrics>,
    begun: Instant,
    at: Timestamp,
}

impl RunningCall {
    /// Begins a call.
    pub(crate) fn enter(app: &App) -> Self {
        app.metrics.begin();
        let metrics = Arc::clone(&app.metrics);
        RunningCall { metrics, begun: Instant::now(), at: app.clock.now() }
    }

    /// When the call arrived, as the record has it.
    pub(crate) fn at(&self) -> Timestamp {
        self.at
    }

    /// Writes down how the call ended.
    pub(crate) fn leave(
        self,
        app: &App,
        call_context: CallContext,
        query: Option<String>,
        ended: Result<Counts, &ToolError>,
    ) {
        let took = self.begun.elapsed();
        let (outcome, code, counts) = match ended {
            Ok(counts) => (Outcome::Ok, None, counts),
            Err(error) => {
                (outcome_of(error.code), Some(error.code.as_str().to_owned()), Counts::default())
            }
        };
        let via = match call_context.via {
            Via::Api => None,
            Via::Console | Via::ViewingAs(_) => Some(CONSOLE.to_owned()),
        };
        let name = metrics_name(&call_context);
        match &via {
            None => self.metrics.called(name, outcome, took, counts.n_redacted),
            // People who look around must not hide how fast agents are served.
            Some(via) => {
                let name = format!("{via}:{name}");
                self.metrics.called(&name, outcome, took, counts.n_redacted);
            }
        }
        let query = query.filter(|_| !app.audit_config.omit_queries);
        let seen = &call_context.caller;
        let (caller, viewing_as) = match &call_context.via {
            Via::Api | Via::Console => (seen, None),
            Via::ViewingAs(signed_in) => {
                (signed_in, Some(format!("{}/{}", seen.tenant, seen.subject)))
            }
        };
        app.audit.record(&Entry {
            at: self.at,
            request: call_context.id,
            tool: call_context.name,
            tenant: caller.tenant.to_string(),
            caller: caller.subject.clone(),
            outcome,
            code,
            results: counts.n_results,
            redacted: counts.n_redacted as u64,
            latency_ms: took.as_secs_f64() * 1000.0,
            tokens: counts.n_tokens,
            best_score: counts.best_score,
            query,
            via,
            viewing_as,
        });
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        self.metrics.end();
    }
}

/// Refuses a caller who calls too often. Calls that a page of the console makes were admitted with
/// the request for the page.
pub(crate) fn admit(app: &App, call_context: &CallContext) -> Result<(), ToolError> {
    match call_context.via {
        Via::Api => {}
        Via::Console | Via::ViewingAs(_) => return Ok(()),
    }
    let (caller, name) = (&call_context.caller, &call_context.name);
    let Err(refused) = app.limiter.admit(&caller.client_key(), name) else {
        return Ok(());
    };
    app.metrics.rate_limited(metrics_name(call_context));
    Err(too_often(&refused, &format!("call `{name}` again")))
}

/// Refuses a person who asks for pages of the console too often, whatever the page.
pub(crate) fn admit_to_console(app: &App, caller: &Caller) -> Result<(), ToolError> {
    let Err(refused) = app.limiter.admit(&caller.client_key(), CONSOLE) else {
        return Ok(());
    };
    app.metrics.rate_limited(CONSOLE);
    Err(too_often(&refused, "load the page again"))
}

fn too_often(refused: &guard::TooMany, what: &str) -> ToolError {
    let seconds = refused.retry_after.as_secs_f64().ceil().max(1.0) as u64;
    ToolError::new(Code::RateLimited, refused.to_string())
        .with_detail("retry_after_seconds", seconds)
        .with_detail("limit_per_minute", refused.per_minute)
        .with_hint(format!("{what} in {seconds} s"))
}

/// Stops work that nobody waits for any more, since whoever waited was dropped.
struct StopWhenDropped(Deadline);

impl Drop for StopWhenDropped {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Does the work in a slot, on a thread that may block, until its deadline is over or the client
/// goes away. The work is told through its deadline; its slot is free when it has really ended.
pub(crate) async fn run<T: Send + 'static>(
    app: &App,
    call_context: &CallContext,
    work: impl FnOnce(&Deadline) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let slot = slot(app, call_context).await?;
    let deadline = Deadline::after(Duration::from_secs(app.limits.call_seconds));
    let _stop = StopWhenDropped(deadline.clone());
    let work = {
        let deadline = deadline.clone();
        let span = tracing::Span::current();
        tokio::task::spawn_blocking(move || {
            let _entered = span.enter();
            // Work that waits for other work lends its slot meanwhile.
            model::with_lender(slot.lender(), || work(&deadline))
        })
    };
    tokio::select! {
        biased;
        joined = work => joined.map_err(|error| {
            ToolError::internal(format!("`{}` stopped unexpectedly: {error}", call_context.name))
        })?,
        () = call_context.cancelled.cancelled() => {
            deadline.cancel();
            Err(ToolError::new(Code::DeadlineExceeded, "the caller went away"))
        }
        () = tokio::time::sleep(deadline.remaining()) => {
            deadline.cancel();
            let limit = app.limits.call_seconds;
            let message = format!("the call took longer than {limit} s");
            Err(ToolError::new(Code::DeadlineExceeded, message)
                .with_hint("ask for less at once, or raise `limits.call_seconds`"))
        }
    }
}

/// Does work that is over before a thread for it would have woken up, right here in its slot.
pub(crate) async fn run_here<T>(
    app: &App,
    call_context: &CallContext,
    work: impl FnOnce(&Deadline) -> Result<T, ToolError>,
) -> Result<T, ToolError> {
    let _slot = slot(app, call_context).await?;
    let deadline = Deadline::after(Duration::from_secs(app.limits.call_seconds));
    std::panic::catch_unwind(AssertUnwindSafe(|| work(&deadline)))
        .unwrap_or_else(|_| Err(ToolError::internal(format!("`{}` panicked", call_context.name))))
}

/// The cause of a mistake of ours goes to the log; the caller gets the id that finds it there.
pub(crate) fn hide_internals(error: ToolError, name: &str, id: &str) -> ToolError {
    if error.code != Code::InternalError {
        return error;
    }
    tracing::error!(tool = name, request_id = id, cause = %error.message, "a call failed");
    ToolError::new(Code::InternalError, "internal error")
        .with_detail("id", id)
        .with_hint("the server's log has the cause under this id")
}

/// Waits for a slot.
pub(crate) async fn slot(app: &App, call_context: &CallContext) -> Result<Slot, ToolError> {
    app.slots.acquire(&call_context.caller, SLOT_WAIT).await.map_err(|refused| match refused {
        NoSlot::Busy => ToolError::new(Code::Unavailable, "the server is busy")
            .with_hint("call again in a few seconds"),
        NoSlot::TooManyWaiting { allowed } => {
            let message = format!("{allowed} of your calls are waiting already on this server");
            ToolError::new(Code::RateLimited, message)
                .with_detail("retry_after_seconds", SLOT_WAIT.as_secs())
                .with_hint("wait for their answers before you call again")
        }
    })
}

/// Cuts a query to what one line of the audit holds.
pub(crate) fn audited_query(query: &str) -> String {
    query.chars().take(AUDITED_QUERY_CHARS).collect()
}

/// Names of tools that users made are theirs: they do not become labels.
fn metrics_name(call_context: &CallContext) -> &str {
    match call_context.caller.identity {
        Identity::Endpoint => "endpoint tool",
        Identity::Local | Identity::Key | Identity::Token => &call_context.name,
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

/// Does a piece of work with everything that is around a call: rate, slot, deadline, record.
pub(crate) async fn perform<T: Send + 'static>(
    app: &App,
    call_context: CallContext,
    query: Option<&str>,
    work: impl FnOnce(&Deadline) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let running = RunningCall::enter(app);
    let result = match admit(app, &call_context) {
        Ok(()) => run(app, &call_context, work).await,
        Err(refused) => Err(refused),
    };
    let ended = match &result {
        Ok(_) => Ok(Counts { n_results: 1, ..Counts::default() }),
        Err(error) => Err(error),
    };
    let (name, id) = (call_context.name.clone(), call_context.id.clone());
    running.leave(app, call_context, query.map(audited_query), ended);
    result.map_err(|error| hide_internals(error, &name, &id))
}
