//! A visit with the fixtures in front of the real tools.
#![expect(deprecated, reason = "the suite still tests levels and subscriptions of old revisions")]

use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult,
    CompletionInfo, GetPromptRequestParams, GetPromptResponse, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig,
    SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, RoleServer, SubscriptionContext};
use serve::front::Visit;

use super::session::Session;
use super::{catalogue, content, notifications, prompts, questions, resources, rounds};

/// How long a client may keep what the fixtures list, in milliseconds.
const TTL_MS: u64 = 60_000;

/// A visit, and the session that all visits share.
#[derive(Clone)]
pub(super) struct Fixtures {
    pub(super) visit: Visit,
    pub(super) session: Session,
}

impl ServerHandler for Fixtures {
    fn get_info(&self) -> ServerConfig {
        let mut info = self.visit.get_info();
        info.capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_completions()
            .enable_logging()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_resources_list_changed()
            .build();
        info
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut listed = self.visit.list_tools(request, context).await?;
        listed.tools.extend(catalogue::tools());
        Ok(listed)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        catalogue::find(name).or_else(|| self.visit.get_tool(name))
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let nothing = serde_json::Map::new();
        let arguments = params.arguments.as_ref().unwrap_or(&nothing);
        if let Some(answer) = content::answer(&params.name, arguments) {
            return Ok(answer.into());
        }
        if let Some(answer) = rounds::answer(&params, &self.session, &context.meta) {
            return answer;
        }
        if let Some(answer) = notifications::answer(&params.name, &self.session, &context).await {
            return Ok(answer.into());
        }
        if let Some(answer) = questions::answer(&params.name, arguments, &context).await {
            return Ok(answer.into());
        }
        self.visit.call_tool(params, context).await
    }

    async fn complete(
        &self,
        _params: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let values = ["first", "second"].map(str::to_owned).to_vec();
        let info = CompletionInfo::with_all_values(values)
            .map_err(|message| ErrorData::internal_error(message, None))?;
        Ok(CompleteResult::new(info))
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::list())
            .with_ttl_ms(TTL_MS)
            .with_cache_scope(CacheScope::Private))
    }

    async fn get_prompt(
        &self,
        params: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        prompts::get(&params)
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(resources::list())
            .with_ttl_ms(TTL_MS)
            .with_cache_scope(CacheScope::Private))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates())
            .with_ttl_ms(TTL_MS)
            .with_cache_scope(CacheScope::Private))
    }

    async fn read_resource(
        &self,
        params: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let read = resources::read(&params.uri).ok_or_else(|| unknown_resource(&params.uri))?;
        Ok(read.with_ttl_ms(TTL_MS).with_cache_scope(CacheScope::Private).into())
    }

    async fn subscribe(
        &self,
        params: SubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        resources::read(&params.uri).map(|_| ()).ok_or_else(|| unknown_resource(&params.uri))
    }

    async fn unsubscribe(
        &self,
        params: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        resources::read(&params.uri).map(|_| ()).ok_or_else(|| unknown_resource(&params.uri))
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.supported_by(&self.get_info().capabilities))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let number = self.session.add_listener(context.sink().clone());
        context.cancelled().await;
        self.session.remove_listener(number);
        Ok(())
    }

    async fn set_level(
        &self,
        _params: SetLevelRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }
}

fn unknown_resource(uri: &str) -> ErrorData {
    let data = serde_json::json!({ "uri": uri });
    ErrorData::resource_not_found(format!("resource `{uri}` does not exist"), Some(data))
}
