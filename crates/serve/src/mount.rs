//! A table of another program, mounted into that program's own HTTP server.
//!
//! The program brings a schema and an async function; [`table_router`] gives an [`axum::Router`]
//! that speaks MCP, with the two tools of the family, their schemas, their errors and the
//! redaction of source text. Who may call, and how often, stays with the program.
//!
//! ```
//! use serve::{MountConfig, table_router};
//! use tables::{Field, Fields, GetDataOptions, GetDataResult, Row, Schema, TableHandler};
//!
//! # async fn my_database(_: &GetDataOptions) -> Result<(Vec<Row>, u64), tables::BoxError> {
//! #     Ok((Vec::new(), 0))
//! # }
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let fields = Fields::from([
//!     ("level", Field::any_of(Field::string_literal(["success", "error"]))),
//!     ("latency", Field::range(Field::number())),
//! ]);
//! let schema = Schema::new("requests", Some("HTTP requests".into()), fields)?;
//! let handler = TableHandler::new(schema, |options: GetDataOptions| async move {
//!     let (rows, total) = my_database(&options).await?;
//!     Ok(GetDataResult { rows, total, facets: None })
//! });
//! let mcp = table_router(handler, MountConfig::default());
//! let app = axum::Router::new().nest("/api/mcp", mcp);
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
//! let server = axum::serve(listener, app);
//! # drop(server);
//! # Ok(())
//! # }
//! ```

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request as HttpRequest, State};
use axum::response::Response;
use axum::routing::any;
use guard::release;
use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorCode, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Map, Value};
use tables::TableHandler;
use text::Budget;
use tokio_util::sync::CancellationToken;
use tools::tables::{
    Page, describe_schema_spec, mounted_description, mounted_query_spec, query_request,
    query_table_page, table_error,
};
use tools::{Answer, Code, Spec, ToolError};

use crate::call::{Done, Failed, over_budget};
use crate::http::{coded, refuse_foreign};
use crate::mcp::{serve_handler, translate};

/// The largest request body of a mounted table, in bytes.
const BODY_BYTES: usize = 1024 * 1024;

/// The longest that a program's function may take for one call.
const CALL_LIMIT: Duration = Duration::from_secs(60);

/// What a mounted table allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MountConfig {
    /// `Host` headers that are accepted beside loopback.
    pub allowed_hosts: Vec<String>,
    /// Origins of pages that may call.
    pub allowed_origins: Vec<String>,
    /// Characters of an answer written as JSON; a page that is larger is refused.
    pub result_chars: usize,
    /// Tokens of the same, as a language model would count them.
    pub result_tokens: usize,
}

impl Default for MountConfig {
    fn default() -> Self {
        MountConfig {
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            result_chars: guard::LimitsConfig::default().result_chars,
            result_tokens: guard::LimitsConfig::default().result_tokens,
        }
    }
}

/// Makes a router with one MCP address, `/`, which answers `query_table` and `describe_schema`
/// from a handler. The router can be nested anywhere, and takes the program's own layers.
pub fn table_router(handler: TableHandler, config: MountConfig) -> Router {
    let schemas = [handler.schema()];
    let mounted = Mounted(Arc::new(Inside {
        query_table: mounted_query_spec(&handler),
        describe_schema: describe_schema_spec(&schemas),
        handler,
        config,
    }));
    Router::new().route("/", any(post)).with_state(mounted)
}

#[derive(Clone)]
struct Mounted(Arc<Inside>);

struct Inside {
    handler: TableHandler,
    query_table: Spec,
    describe_schema: Spec,
    config: MountConfig,
}

async fn post(State(mounted): State<Mounted>, request: HttpRequest) -> Response {
    let config = &mounted.0.config;
    let foreign = refuse_foreign(&config.allowed_hosts, &config.allowed_origins, request.headers());
    if let Some(error) = foreign {
        return coded(&error);
    }
    serve_handler(mounted, request, BODY_BYTES, CancellationToken::new()).await
}

impl Mounted {
    fn specs(&self) -> [&Spec; 2] {
        [&self.0.query_table, &self.0.describe_schema]
    }

    async fn answer(&self, spec: &Spec, arguments: &Map<String, Value>) -> Result<Done, ToolError> {
        let accepted = tools::accept(spec, arguments.clone())?;
        let arguments = Value::Object(accepted.arguments);
        let handler = &self.0.handler;
        let answer = if spec.name == self.0.query_table.name {
            let request = query_request(&arguments).map_err(|cause| table_error(&cause))?;
            let own = &handler.schema().name;
            if let Some(other) = request.table.as_ref().filter(|table| *table != own) {
                let message = format!("unknown table `{other}`: expected `{own}`");
                return Err(ToolError::new(Code::NotFound, message)
                    .with_detail("argument", "table")
                    .with_hint("leave `table` out: there is one"));
            }
            let response = tokio::time::timeout(CALL_LIMIT, handler.query(&request)).await;
            let response = response.map_err(|_| {
                let limit = CALL_LIMIT.as_secs();
                ToolError::new(
                    Code::DeadlineExceeded,
                    format!("the call took longer than {limit} s"),
                )
            })?;
            let response = response.map_err(|cause| hidden(&cause))?;
            let budget = self.caps().before_redaction();
            match query_table_page(handler.schema(), &response, &budget)? {
                Page::Whole(answer) => *answer,
                Page::TooLong(fewer) => return Err(too_many_rows(response.rows.len(), fewer)),
            }
        } else {
            Answer::new(mounted_description(handler, &arguments).map_err(|cause| hidden(&cause))?)
        };
        let source_text = answer.source_text.as_ref().unwrap_or(&spec.shape.source_text);
        let outgoing = release(answer.value, source_text, &self.caps());
        if outgoing.allowed_chars.is_some() {
            let n_rows = answer.n_results as usize;
            if n_rows > 1 && spec.name == self.0.query_table.name {
                return Err(too_many_rows(n_rows, n_rows / 2));
            }
            over_budget(&spec.name, &outgoing, &self.caps())?;
        }
        Ok(Done { outgoing, links: answer.links, images: answer.images })
    }

    fn caps(&self) -> Budget {
        let MountConfig { result_chars, result_tokens, .. } = self.0.config;
        Budget { chars: result_chars, tokens: result_tokens }
    }
}

/// A program's function knows pages and no cursor: a page that does not fit is refused whole, so
/// that no row of it is lost.
fn too_many_rows(n_rows: usize, n_fitting: usize) -> ToolError {
    let message = format!("{n_rows} rows of this table do not fit one answer");
    ToolError::new(Code::TooLarge, message)
        .with_detail("argument", "pageSize")
        .with_hint(format!("call again with `pageSize` {n_fitting} or less"))
}

/// The cause of a program's own failure goes to its log, never to the agent.
fn hidden(error: &tables::Error) -> ToolError {
    let shown = table_error(error);
    if shown.code != Code::InternalError {
        return shown;
    }
    let cause = std::error::Error::source(error).map(ToString::to_string);
    tracing::error!(%error, cause, "a mounted table failed");
    ToolError::new(Code::InternalError, "internal error")
        .with_hint("the program's log has the cause")
}

impl ServerHandler for Mounted {
    fn get_info(&self) -> ServerConfig {
        let schema = self.0.handler.schema();
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new(schema.name.clone(), env!("CARGO_PKG_VERSION")))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.specs().map(translate::tool).to_vec()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.specs().into_iter().find(|spec| spec.name == name).map(translate::tool)
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(spec) = self.specs().into_iter().find(|spec| spec.name == params.name) else {
            let shown: String = params.name.chars().take(100).collect();
            let message =
                format!("unknown tool `{shown}`: expected `query_table` or `describe_schema`");
            return Err(ErrorData::new(ErrorCode::INVALID_PARAMS, message, None));
        };
        let arguments = params.arguments.unwrap_or_default();
        let result = match self.answer(spec, &arguments).await {
            Ok(done) => translate::answer(done),
            Err(error) => translate::error(&Failed { error, shape: spec.errors }),
        };
        Ok(CallToolResponse::Complete(result))
    }
}
