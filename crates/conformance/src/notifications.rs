//! Tools that send something before they answer: log messages, progress, notifications.
#![expect(deprecated, reason = "the suite still tests the logging of the older revisions")]

use std::time::Duration;

use rmcp::model::{
    CallToolResult, ContentBlock, LoggingLevel, LoggingMessageNotificationParam,
    ProgressNotificationParam,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::json;

use super::session::Session;

/// Between two messages, so that a client sees them arrive one by one.
const PAUSE: Duration = Duration::from_millis(50);

/// How long the client has to lose its connection and come back.
const RECONNECTION: Duration = Duration::from_millis(100);

/// Answers, if this is one of these tools.
pub(super) async fn answer(
    name: &str,
    session: &Session,
    context: &RequestContext<RoleServer>,
) -> Option<CallToolResult> {
    match name {
        "test_tool_with_logging" => {
            for message in
                ["Tool execution started", "Tool processing data", "Tool execution completed"]
            {
                log(context, LoggingLevel::Info, message).await;
                tokio::time::sleep(PAUSE).await;
            }
        }
        "test_logging_tool" => {
            if let Some(level) = context.meta.log_level() {
                log(context, level, "a level was asked for").await;
            }
        }
        "test_tool_with_progress" => report(context).await,
        "test_reconnection" => tokio::time::sleep(RECONNECTION).await,
        "test_trigger_tool_change" => {
            for listener in session.listeners() {
                // A listener that left in the meantime misses nothing.
                let _ = listener.notify_tool_list_changed().await;
            }
        }
        "test_trigger_prompt_change" => {
            for listener in session.listeners() {
                let _ = listener.notify_prompt_list_changed().await;
            }
        }
        _ => return None,
    }
    Some(CallToolResult::success(vec![ContentBlock::text("done")]))
}

async fn log(context: &RequestContext<RoleServer>, level: LoggingLevel, message: &str) {
    let message = LoggingMessageNotificationParam::new(level, json!(message));
    // A client that went away needs no log.
    let _ = context.peer.notify_logging_message(message).await;
}

async fn report(context: &RequestContext<RoleServer>) {
    let Some(token) = context.meta.get_progress_token() else { return };
    for done in [0.0, 50.0, 100.0] {
        let progress = ProgressNotificationParam::new(token.clone(), done).with_total(100.0);
        if context.peer.notify_progress(progress).await.is_err() {
            return;
        }
        tokio::time::sleep(PAUSE).await;
    }
}
