//! One REST call: who calls, the rate, a slot, a deadline, redaction and caps, the record.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::response::{IntoResponse, Response};
use guard::release;
use http::StatusCode;
use http::request::Parts;
use model::{Around, Caller, Deadline};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tools::ToolError;

use super::erasure::{self, Deleted};
use crate::App;
use crate::call::over_budget;
use crate::guarded::{self, CallContext, Counts, RunningCall, Via};
use crate::http::{HttpState, RequestId, coded, identify};

/// The name under which the rate of REST calls is configured.
pub(crate) const REST_RATE: &str = "rest";

/// A REST call whose caller is known.
#[derive(Clone)]
pub(crate) struct Rest {
    pub(crate) app: Arc<App>,
    pub(crate) caller: Arc<Caller>,
    pub(crate) id: String,
    pub(crate) via: Via,
}

/// The caller of a request that the console makes for a person whom it has identified, and what the
/// request came in on.
#[derive(Clone)]
pub(crate) struct FromConsole(pub(crate) Arc<Caller>, pub(crate) Via);

/// What a REST call gives.
pub(crate) struct Reply {
    status: StatusCode,
    value: Value,
    n_results: u64,
    source_text: &'static [&'static str],
    around: Vec<Around>,
    deleted: Option<Deleted>,
}

impl Reply {
    pub(crate) fn ok(value: Value) -> Self {
        let (status, n_results) = (StatusCode::OK, 1);
        Reply { status, value, n_results, source_text: &[], around: Vec::new(), deleted: None }
    }

    /// Something was made.
    pub(crate) fn created(value: Value) -> Self {
        Reply { status: StatusCode::CREATED, ..Reply::ok(value) }
    }

    /// A job will do it.
    pub(crate) fn accepted(value: Value) -> Self {
        Reply { status: StatusCode::ACCEPTED, ..Reply::ok(value) }
    }

    /// Counts the elements of a page, for the record.
    pub(crate) fn with_n_results(mut self, n_results: usize) -> Self {
        self.n_results = n_results as u64;
        self
    }

    /// Says how many elements the whole list has.
    pub(crate) fn with_total(mut self, total: usize) -> Self {
        self.value["total"] = total.into();
        self
    }

    /// Gives what would leave, for tests of lists.
    #[cfg(test)]
    pub(crate) fn into_value(self) -> Value {
        self.value
    }

    /// Says what is in the source around a piece of it.
    pub(crate) fn with_around(mut self, around: Around) -> Self {
        self.around.push(around);
        self
    }

    /// Says what was deleted, so that kept answers that hold nothing of it stay; where that is not
    /// known, all of the tenant go.
    pub(crate) fn with_deleted(mut self, deleted: Option<Deleted>) -> Self {
        self.deleted = deleted;
        self
    }

    /// Names the places that hold text from sources.
    pub(crate) fn with_source_text(mut self, paths: &'static [&'static str]) -> Self {
        self.source_text = paths;
        self
    }
}

impl FromRequestParts<HttpState> for Rest {
    type Rejection = Response;

    async fn from_request_parts(
        parts: &mut Parts,
        http_state: &HttpState,
    ) -> Result<Self, Response> {
        let app = http_state.shared.load();
        let (caller, via) = match parts.extensions.get::<FromConsole>() {
            Some(FromConsole(caller, via)) => (Arc::clone(caller), via.clone()),
            None => (identify(&app, &parts.headers).await?, Via::Api),
        };
        let id = parts.extensions.get::<RequestId>().map(|id| id.0.clone()).unwrap_or_default();
        Ok(Rest { app, caller, id, via })
    }
}

impl Rest {
    /// Does the work behind the guard, and writes down how it ended.
    pub(crate) async fn answer(
        self,
        name: &'static str,
        work: impl FnOnce(&Caller, &Deadline) -> Result<Reply, ToolError> + Send + 'static,
    ) -> Response {
        let running = RunningCall::enter(&self.app);
        let (mut call_context, _gone) = self.call_context(REST_RATE);
        let result = match guarded::admit(&self.app, &call_context) {
            Err(refused) => Err(refused),
            Ok(()) => {
                let caller = Arc::clone(&self.caller);
                guarded::run(&self.app, &call_context, move |deadline| work(&caller, deadline))
                    .await
            }
        };
        if let Ok(reply) = &result
            && deletes_text(name)
        {
            erasure::erase(&self.app, &self.caller, reply.deleted.clone()).await;
        }
        name.clone_into(&mut call_context.name);
        let (response, ended) = match result {
            Ok(mut reply) => {
                guard::redact_around(&mut reply.value, &reply.around);
                let outgoing = release(reply.value, reply.source_text, &self.app.caps());
                // One object has limits of its own; a page of several is within the budget.
                let is_over = outgoing.allowed_chars.is_some() && reply.n_results > 1;
                let held = match is_over {
                    true => over_budget(name, &outgoing, &self.app.caps()),
                    false => Ok(()),
                };
                let counts = Counts {
                    n_results: reply.n_results,
                    n_redacted: outgoing.n_redacted,
                    ..Counts::default()
                };
                match held {
                    Ok(()) => {
                        ((reply.status, axum::Json(outgoing.value)).into_response(), Ok(counts))
                    }
                    Err(error) => (coded(&error), Err(error)),
                }
            }
            Err(error) => {
                let shown = guarded::hide_internals(error.clone(), name, &self.id);
                (coded(&shown), Err(error))
            }
        };
        running.leave(&self.app, call_context, None, ended.as_ref().copied());
        response
    }

    /// Makes the call_context of a call that ends with its client: when the guard is dropped.
    pub(crate) fn call_context(&self, name: &str) -> (CallContext, tokio_util::sync::DropGuard) {
        let cancelled = CancellationToken::new();
        let call_context = CallContext {
            caller: Arc::clone(&self.caller),
            name: name.to_owned(),
            id: self.id.clone(),
            cancelled: cancelled.clone(),
            via: self.via.clone(),
        };
        (call_context, cancelled.drop_guard())
    }
}

/// Tells whether an operation takes away text that answers may have held.
fn deletes_text(name: &str) -> bool {
    let holds_text =
        ["/knowledge-bases", "/collections", "/documents", "/projects", "/tables", "/charts"];
    name.starts_with("DELETE ") && holds_text.iter().any(|part| name.contains(part))
}
