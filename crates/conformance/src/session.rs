//! What the fixtures remember between requests, and how they are served.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Body;
use http::{Method, Request};
use rmcp::service::SubscriptionSink;
use rmcp::transport::streamable_http_server::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use serve::front::{Answering, Front, Visit, prepare, transport};
use tokio_util::sync::CancellationToken;

use super::handler::Fixtures;

/// Rounds that may be open at the same time; the suite needs a handful.
const MAX_ROUNDS: usize = 1_000;

/// Shared by all visits of one server.
#[derive(Clone, Default)]
pub struct Session {
    sessions: Arc<LocalSessionManager>,
    memory: Arc<Mutex<Memory>>,
}

#[derive(Default)]
struct Memory {
    rounds: HashMap<String, u32>,
    listeners: HashMap<u64, SubscriptionSink>,
    last_listener: u64,
}

impl Front for Session {
    /// Serves one request at `/mcp` with the fixtures in front of the real tools. Revisions that
    /// know sessions get one, since the suite asks their clients questions.
    fn serve(
        &self,
        visit: Visit,
        request: Request<Body>,
        shutdown: CancellationToken,
    ) -> Answering {
        let limit = visit.body_limit();
        let config = transport(limit, shutdown).with_legacy_session_mode(true);
        let fixtures = Fixtures { visit, session: self.clone() };
        let sessions = Arc::clone(&self.sessions);
        Box::pin(async move {
            let service =
                StreamableHttpService::new(move || Ok(fixtures.clone()), sessions, config);
            if request.method() != Method::POST {
                return service.handle(request).await.map(Body::new);
            }
            match prepare(request, limit).await {
                Ok(request) => service.handle(request).await.map(Body::new),
                Err(refusal) => refusal,
            }
        })
    }
}

impl Session {
    /// Keeps the number of a round, and gives the handle that brings it back.
    pub(super) fn keep_round(&self, round: u32) -> String {
        let handle = uuid::Uuid::new_v4().to_string();
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        if memory.rounds.len() >= MAX_ROUNDS {
            memory.rounds.clear();
        }
        memory.rounds.insert(handle.clone(), round);
        handle
    }

    /// Gives the round behind a handle; one that was changed on its way leads nowhere.
    pub(super) fn round(&self, handle: &str) -> Option<u32> {
        let memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        memory.rounds.get(handle).copied()
    }

    /// Adds a listener and gives the number under which it leaves.
    pub(super) fn add_listener(&self, sink: SubscriptionSink) -> u64 {
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        memory.last_listener += 1;
        let number = memory.last_listener;
        memory.listeners.insert(number, sink);
        number
    }

    /// Takes a listener away.
    pub(super) fn remove_listener(&self, number: u64) {
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        memory.listeners.remove(&number);
    }

    /// Gives everyone who listens.
    pub(super) fn listeners(&self) -> Vec<SubscriptionSink> {
        let memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        memory.listeners.values().cloned().collect()
    }
}
