//! The nine tools of the reference server "memory" over our store, with the same names, arguments and answers.
//!
//! Users of that server change one line of their configuration. Answers have no injection envelope, because programs
//! read them.

mod graph_tools;

use super::client_session::ClientSession;
use super::handler::error_result;
use super::pagination::paginate;
use super::tool::safe_value;
use graph_tools::{ALL, CompatTool, ToolOutput, graph_output};
use heirloom_engine::Engine;
use heirloom_model::prompt_safety::neutralize_document;
use heirloom_model::{Fault, text};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    Implementation, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource,
    ResourceContents, ServerCapabilities, ServerConfig,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::Value;

/// URI of the whole graph.
const GRAPH_URI: &str = "memory://knowledge-graph";

/// Session of a client that expects the reference server.
#[derive(Clone)]
pub(super) struct Compat(pub(super) ClientSession);

impl Compat {
    async fn run_on_graph(
        &self,
        context: &RequestContext<RoleServer>,
        call: impl FnOnce(&Engine, &str) -> Result<ToolOutput, Fault> + Send + 'static,
    ) -> Result<ToolOutput, Fault> {
        let source = self.0.caller(context).source;
        let answer = self.0.run(context, move |engine| {
            call(engine, source.as_deref().unwrap_or("mcp"))
        });
        answer.await
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
        let (tools, next) = paginate(ALL.iter().map(CompatTool::tool).collect(), request.as_ref())?;
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
            let message = format!("MCP error -32602: Tool {name} not found");
            return Ok(CallToolResult::error(vec![ContentBlock::text(message)]).into());
        };
        let given = Value::Object(request.arguments.unwrap_or_default());
        let call = offered.call;
        let answered =
            self.run_on_graph(&context, move |engine, client| call(engine, client, given));
        let result = match answered.await {
            Ok(done) => {
                let mut result = CallToolResult::success(vec![ContentBlock::text(
                    neutralize_document(&done.text).into_owned(),
                )]);
                result.is_error = None;
                result.structured_content = Some(safe_value(done.value));
                result
            }
            Err(fault) => error_result(&fault),
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
        let (resources, next) = paginate(vec![graph], request.as_ref())?;
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
            let message = format!(
                "there is no resource `{}`",
                text::excerpt(&request.uri, 120)
            );
            return Err(ErrorData::resource_not_found(message, None));
        }
        let read = self
            .run_on_graph(&context, |engine, _| graph_output(&engine.graph().read()?))
            .await;
        let read = read.map_err(|fault| ErrorData::internal_error(fault.message, None))?;
        let contents =
            ResourceContents::text(read.text, GRAPH_URI).with_mime_type("application/json");
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.0.refresh_roots(&context.peer, false).await;
    }

    async fn on_roots_list_changed(&self, context: NotificationContext<RoleServer>) {
        self.0.refresh_roots(&context.peer, true).await;
    }
}
