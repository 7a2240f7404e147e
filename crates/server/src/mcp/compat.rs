//! The nine tools of the reference server "memory" over our store: the same names, arguments and answers.
//!
//! Whoever used that server changes one line. What these tools answer is not fenced: programs read it.

mod offered;

use super::handler::refusal;
use super::pages::page;
use super::server::Server;
use heirloom_engine::Engine;
use heirloom_model::{Fault, text};
use offered::{ALL, Done, Offered, shown};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    Implementation, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource,
    ResourceContents, ServerCapabilities, ServerConfig,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::Value;

/// The address of the whole graph.
const GRAPH_URI: &str = "memory://knowledge-graph";

/// A session of a client that expects the other server.
#[derive(Clone)]
pub(super) struct Compat(pub(super) Server);

impl Compat {
    async fn graph(
        &self,
        context: &RequestContext<RoleServer>,
        call: impl FnOnce(&Engine, &str) -> Result<Done, Fault> + Send + 'static,
    ) -> Result<Done, Fault> {
        let source = self.0.caller(context).source;
        let asked = self.0.ask(context, move |engine| {
            call(engine, source.as_deref().unwrap_or("mcp"))
        });
        asked.await
    }
}

impl ServerHandler for Compat {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources();
        ServerConfig::new(capabilities.build()).with_server_info(
            Implementation::new("heirloom", self.0.version()).with_title("Heirloom"),
        )
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let (tools, next) = page(ALL.iter().map(Offered::tool).collect(), request.as_ref())?;
        let mut result = ListToolsResult::with_all_items(tools);
        result.next_cursor = next;
        Ok(result)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(offered) = ALL.iter().find(|offered| offered.name == request.name) else {
            let name = text::excerpt(&request.name, 60);
            let said = format!("MCP error -32602: Tool {name} not found");
            return Ok(CallToolResult::error(vec![ContentBlock::text(said)]).into());
        };
        let given = Value::Object(request.arguments.unwrap_or_default());
        let call = offered.call;
        let answered = self.graph(&context, move |engine, client| call(engine, client, given));
        let result = match answered.await {
            Ok(done) => {
                let mut result = CallToolResult::success(vec![ContentBlock::text(done.text)]);
                result.is_error = None;
                result.structured_content = Some(done.value);
                result
            }
            Err(fault) => refusal(&fault),
        };
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let graph = Resource::new(GRAPH_URI, "knowledge-graph")
            .with_title("Knowledge Graph")
            .with_description("The full knowledge graph with all entities and relations")
            .with_mime_type("application/json");
        let (resources, next) = page(vec![graph], request.as_ref())?;
        let mut result = ListResourcesResult::with_all_items(resources);
        result.next_cursor = next;
        Ok(result)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if request.uri != GRAPH_URI {
            let said = format!(
                "there is no resource `{}`",
                text::excerpt(&request.uri, 120)
            );
            return Err(ErrorData::resource_not_found(said, None));
        }
        let read = self
            .graph(&context, |engine, _| Ok(shown(&engine.graph()?)))
            .await;
        let read = read.map_err(|fault| ErrorData::internal_error(fault.message, None))?;
        let contents =
            ResourceContents::text(read.text, GRAPH_URI).with_mime_type("application/json");
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.0.look_for_roots(&context.peer, false).await;
    }

    async fn on_roots_list_changed(&self, context: NotificationContext<RoleServer>) {
        self.0.look_for_roots(&context.peer, true).await;
    }
}
