//! One visit of a client: which tools it sees, and what it may ask.

use std::sync::Arc;

use model::{Caller, Identity};
use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CompleteRequestMethod,
    CompleteRequestParams, CompleteResult, CompletionInfo, CustomRequest, CustomResult, ErrorCode,
    Implementation, ListPromptsRequestMethod, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams,
    ReadResourceResponse, Reference, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use tools::Registry;

use super::progress::Reporting;
use super::{reading, translate};
use crate::App;
use crate::call::{Request, call};
use crate::read;

/// How long a client may keep `tools/list`, in milliseconds. Short, since a changed
/// configuration changes the list, and private, since callers see different tools.
const LIST_TTL_MS: u64 = 60_000;

/// Resources among which a completion looks for the one it is about.
const MAX_COMPLETED_FROM: usize = 1_000;

/// The methods that are answered here.
const METHODS: [&str; 9] = [
    "initialize",
    "ping",
    "server/discover",
    "tools/list",
    "tools/call",
    "completion/complete",
    "resources/list",
    "resources/templates/list",
    "resources/read",
];

/// A client with its caller and the tools at the address it came to.
#[derive(Clone)]
pub struct Visit {
    pub(crate) app: Arc<App>,
    pub(crate) registry: Registry,
    pub(crate) caller: Arc<Caller>,
    pub(crate) request_id: String,
}

impl Visit {
    /// The most bytes that the body of a request may have.
    pub fn body_limit(&self) -> usize {
        self.app.limits.body_bytes
    }
}

impl ServerHandler for Visit {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_completions()
            .enable_resources()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(
                Implementation::new("dowse", env!("CARGO_PKG_VERSION")).with_title("Dowse"),
            )
            .with_instructions(tools::instructions(
                &self.app.instructions,
                &self.registry,
                &self.caller,
            ))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let visit = self.clone();
        let tools = off_executor(move || {
            let listed = visit.registry.list(&visit.caller);
            listed.iter().map(|listed| translate::tool(&listed.spec)).collect()
        });
        let tools = tools.await?;
        // Who binds a tool to an endpoint sees it there at once.
        let is_endpoint = self.caller.identity == Identity::Endpoint;
        let ttl_ms = if is_endpoint { 0 } else { LIST_TTL_MS };
        Ok(ListToolsResult::with_all_items(tools)
            .with_ttl_ms(ttl_ms)
            .with_cache_scope(CacheScope::Private))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.registry.get(name, &self.caller).map(|listed| translate::tool(&listed.spec))
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = self.registry.get(&params.name, &self.caller) else {
            return Err(unknown_tool(&params.name, &self.registry, &self.caller));
        };
        let reporting = Reporting::start(&context);
        let request = Request {
            caller: Arc::clone(&self.caller),
            tool,
            arguments: params.arguments.unwrap_or_default(),
            id: self.request_id.clone(),
            cancelled: context.ct.clone(),
            progress: reporting.reporter(),
        };
        let result = match call(&self.app, request).await {
            Ok(done) => translate::answer(done),
            Err(failed) => translate::error(&failed),
        };
        reporting.finish().await;
        Ok(CallToolResponse::Complete(result))
    }

    async fn complete(
        &self,
        params: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        // The protocol completes arguments of prompts and resources; a tool is named the same
        // way by clients that offer completion for tools.
        let name = match &params.r#ref {
            Reference::Prompt(prompt) => prompt.name.as_str(),
            Reference::Resource(resource) => resource.uri.as_str(),
            _ => return Err(ErrorData::method_not_found::<CompleteRequestMethod>()),
        };
        let Some(listed) = self.registry.get(name, &self.caller) else {
            return match &params.r#ref {
                Reference::Resource(_) => {
                    let (visit, template) = (self.clone(), name.to_owned());
                    off_executor(move || visit.complete_resource(&template)).await?
                }
                Reference::Prompt(_) | _ => Err(unknown_prompt(name, &self.registry, &self.caller)),
            };
        };
        let typed = params.argument.value.as_str();
        let mut values = enum_values(&listed.spec, &params.argument.name, typed);
        if values.is_empty() {
            values = listed.tool.complete(&self.caller, &params.argument.name, typed);
        }
        let info = CompletionInfo::with_all_values(values)
            .map_err(|message| ErrorData::internal_error(message, None))?;
        Ok(CompleteResult::new(info))
    }

    /// The library brings requests here that it does not know, and those of known methods whose
    /// `params` it cannot read.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method;
        if METHODS.contains(&method.as_str()) {
            let message = format!("the `params` do not fit `{method}`");
            return Err(ErrorData::invalid_params(message, None));
        }
        let shown: String = method.chars().take(100).collect();
        let message = format!("unknown method `{shown}`");
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None))
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(ErrorData::method_not_found::<ListPromptsRequestMethod>())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let visit = self.clone();
        let cursor = request.and_then(|request| request.cursor);
        off_executor(move || reading::list(&visit, cursor.as_deref())).await
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let visit = self.clone();
        off_executor(move || reading::templates(&visit)).await
    }

    async fn read_resource(
        &self,
        params: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = params.uri;
        let request = read::Request {
            caller: Arc::clone(&self.caller),
            uri: uri.clone(),
            id: self.request_id.clone(),
            cancelled: context.ct.clone(),
        };
        match read::read(&self.app, request).await {
            Ok(read) => Ok(reading::contents(uri, read).into()),
            Err(error) => Err(reading::refusal(&uri, &error)),
        }
    }
}

/// Does what may read from the store, which may be slow or away, where waiting is fine.
async fn off_executor<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ErrorData> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|_| ErrorData::internal_error("internal error", None))
}

impl Visit {
    /// The templates of this server are filled in from answers of its tools: there is nothing to
    /// suggest while somebody types, and a template that is not ours is named as such.
    fn complete_resource(&self, template: &str) -> Result<CompleteResult, ErrorData> {
        let patterns = self.app.resources.patterns(&self.caller);
        let is_resource = || {
            // An address of a list has nothing to fill in.
            let (listed, _) = self.app.resources.page(&self.caller, None, MAX_COMPLETED_FROM);
            listed.iter().any(|entry| entry.uri == template)
        };
        if patterns.iter().any(|known| known.pattern == template) || is_resource() {
            let nothing = CompletionInfo::with_all_values(Vec::new())
                .map_err(|message| ErrorData::internal_error(message, None))?;
            return Ok(CompleteResult::new(nothing));
        }
        let known: Vec<&str> = patterns.iter().map(|known| known.pattern.as_str()).collect();
        let shown: String = template.chars().take(100).collect();
        let message = format!(
            "unknown resource or template `{shown}`: `resources/list` and \
             `resources/templates/list` name those that there are"
        );
        let data = serde_json::json!({ "templates": known });
        Err(ErrorData::new(ErrorCode::INVALID_PARAMS, message, Some(data)))
    }
}

/// Says that there is no such prompt. Clients that complete arguments of tools name a tool in its
/// place, so those are named.
fn unknown_prompt(name: &str, registry: &Registry, caller: &Caller) -> ErrorData {
    let listed = registry.list(caller);
    let names: Vec<&str> = listed.iter().map(|listed| listed.spec.name.as_str()).collect();
    let shown: String = name.chars().take(100).collect();
    let message = format!(
        "unknown prompt `{shown}`: this server has no prompts; to complete an argument of a tool, \
         pass the name of the tool"
    );
    let data = serde_json::json!({ "prompts": [], "tools": names });
    ErrorData::new(ErrorCode::INVALID_PARAMS, message, Some(data))
}

fn unknown_tool(name: &str, registry: &Registry, caller: &Caller) -> ErrorData {
    let (message, names) = tools::unknown_tool(name, registry, caller);
    let data = serde_json::json!({ "tools": names });
    ErrorData::new(ErrorCode::INVALID_PARAMS, message, Some(data))
}

fn enum_values(spec: &tools::Spec, argument: &str, typed: &str) -> Vec<String> {
    let property = &spec.input["properties"][argument];
    let allowed = property.get("enum").or_else(|| property.get("items")?.get("enum"));
    let Some(serde_json::Value::Array(allowed)) = allowed else { return Vec::new() };
    allowed
        .iter()
        .filter_map(|value| value.as_str())
        .filter(|value| value.starts_with(typed))
        .map(str::to_owned)
        .collect()
}
