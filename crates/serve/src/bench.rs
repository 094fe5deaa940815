//! A bare MCP server to measure against: the same protocol library, one tool, and nothing of the
//! guard. What a call costs here is what it costs anywhere.

use std::sync::Arc;

use axum::Router;
use axum::serve::ListenerExt;
use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ServerCapabilities,
    ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::transport::streamable_http_server::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::mcp::transport;

/// The body limit, as in the default configuration.
const BODY_BYTES: usize = 4 * 1024 * 1024;

/// Serves one tool that repeats its `text`, whatever its name, until `shutdown`.
pub async fn bare_server(
    listener: TcpListener,
    shutdown: CancellationToken,
) -> std::io::Result<()> {
    let service = StreamableHttpService::new(
        || Ok(Bare),
        Arc::new(NeverSessionManager::default()),
        transport(BODY_BYTES, shutdown.clone()),
    );
    let router = Router::new().nest_service("/mcp", service);
    let listener = listener.tap_io(|stream| {
        // A stream that keeps its delay is only slower.
        let _ = stream.set_nodelay(true);
    });
    axum::serve(listener, router)
        .with_graceful_shutdown(async move { shutdown.cancelled().await })
        .await
}

struct Bare;

impl ServerHandler for Bare {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = params.arguments.unwrap_or_default();
        let text = arguments.get("text").and_then(|text| text.as_str()).unwrap_or_default();
        let value = json!({ "original_text": text, "normalized_text": text, "status": "success" });
        let mut result = CallToolResult::success(vec![ContentBlock::text(value.to_string())]);
        result.structured_content = Some(value);
        Ok(result.into())
    }
}
