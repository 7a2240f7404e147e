//! Handlers of MCP requests.
#![expect(
    deprecated,
    reason = "clients of the revisions before 2026-07-28 set a level and subscribe"
)]

use super::client_session::ClientSession;
use super::model_instructions::INSTRUCTIONS;
use super::pagination::paginate;
use super::schema::Args;
use super::tool::{Tool, ToolAnswer, ToolCall, safe_value};
use super::uri::ResourceAddress;
use super::{prompts, resources, subscriptions, tool_list};
use heirloom_model::prompt_safety::neutralize_markup;
use heirloom_model::{ErrorKind, Fault, limits, text};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
    CompletionInfo, ContentBlock, ErrorData, GetPromptRequestParams, GetPromptResponse,
    Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, Reference, ServerCapabilities, ServerConfig, SetLevelRequestParams,
    SubscribeRequestParams, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{RoleServer, ServerHandler};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Converts an error to a tool result with a hint, which the model reads.
pub(super) fn error_result(fault: &Fault) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(error_text(fault))])
}

/// Converts an answer to a tool result. The text is sent once: a structured answer would repeat it, and some clients
/// would give the model both.
fn tool_result(answer: ToolAnswer, is_structured: bool) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(answer.text)]);
    result.structured_content = is_structured.then(|| safe_value(answer.value));
    result
}

/// Converts an error of a request other than a tool call.
fn protocol_error(fault: &Fault) -> ErrorData {
    let message = error_text(fault);
    match fault.kind {
        ErrorKind::NotFound => ErrorData::resource_not_found(message, None),
        ErrorKind::Usage | ErrorKind::Refused => ErrorData::invalid_params(message, None),
        ErrorKind::Failed | ErrorKind::Interrupted => ErrorData::internal_error(message, None),
    }
}

fn error_text(fault: &Fault) -> String {
    let message = match &fault.hint {
        Some(hint) => format!("{}\nhint: {hint}", fault.message),
        None => fault.message.clone(),
    };
    neutralize_markup(&message).into_owned()
}

/// Returns an empty list without a memory: clients request lists before the memory exists.
fn or_empty<T>(found: Result<Vec<T>, Fault>) -> Result<Vec<T>, ErrorData> {
    match found {
        Err(fault) if fault.kind == ErrorKind::NotFound => Ok(Vec::new()),
        found => found.map_err(|fault| protocol_error(&fault)),
    }
}

/// Sets its flag when it is dropped, at the end or the cancellation of a request.
struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl ClientSession {
    async fn call(
        &self,
        tool: &'static Tool,
        args: Args,
        context: &RequestContext<RoleServer>,
    ) -> Result<ToolAnswer, Fault> {
        let caller = self.caller(context);
        let answer = self.run(context, move |engine| {
            (tool.call)(&ToolCall {
                engine,
                args,
                client: caller.source.as_deref().unwrap_or("mcp"),
                decides: caller.decides,
                holder: caller.holder.as_deref(),
                project: caller.project.as_deref(),
            })
        });
        answer.await
    }
}

impl ServerHandler for ClientSession {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_resources_list_changed()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_completions()
            .enable_logging()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(
                Implementation::new("heirloom", self.version()).with_title("Heirloom"),
            )
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let is_structured = self.is_structured();
        let tools = tool_list::ALL.iter();
        let tools = tools.map(|tool| tool.listing(is_structured)).collect();
        let (tools, next) = paginate(tools, request.as_ref())?;
        let mut result = ListToolsResult::with_all_items(tools);
        result.next_cursor = next;
        Ok(result)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = &*request.name;
        let mut arguments = request.arguments;
        let Some(tool) = tool_list::find_tool(name, &mut arguments) else {
            let message = format!("there is no tool `{}`", text::excerpt(name, 60));
            return Err(ErrorData::invalid_params(message, None));
        };
        let answered = match Args::parse(tool.fields, arguments) {
            Ok(args) => self.call(tool, args, &context).await,
            Err(fault) => Err(fault),
        };
        Ok(answered
            .map_or_else(
                |fault| error_result(&fault),
                |answer| tool_result(answer, self.is_structured()),
            )
            .into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let found = self.run(&context, resources::list).await;
        let found = or_empty(found)?;
        let (found, next) = paginate(found, request.as_ref())?;
        let mut result = ListResourcesResult::with_all_items(found);
        result.next_cursor = next;
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let (templates, next) = paginate(resources::templates(), request.as_ref())?;
        let mut result = ListResourceTemplatesResult::with_all_items(templates);
        result.next_cursor = next;
        Ok(result)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let address = parse_address(&request.uri)?;
        let read = self
            .run(&context, move |engine| resources::read(engine, &address))
            .await;
        let read = read.map_err(|fault| protocol_error(&fault))?;
        Ok(ReadResourceResult::new(vec![read]).into())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let uri = request.uri;
        drop(parse_address(&uri)?);
        let pages = self
            .run(&context, |engine| Ok(subscriptions::pages(engine)))
            .await;
        let pages = pages.map_err(|fault| protocol_error(&fault))?;
        match self
            .subscriptions()
            .add(&uri, subscriptions::file_stat(&uri, &pages))
        {
            None => {
                let most = limits::MCP_SUBSCRIPTIONS_MAX;
                let message = format!("at most {most} resources can be subscribed by one client");
                return Err(ErrorData::invalid_params(message, None));
            }
            Some(true) => self.poll_subscriptions(context),
            Some(false) => {}
        }
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscriptions().remove(&request.uri);
        Ok(())
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let found = match self.commands() {
            None => Vec::new(),
            Some(commands) => {
                let found = self.run(&context, move |engine| prompts::list(engine, &*commands));
                or_empty(found.await)?
            }
        };
        let (found, next) = paginate(found, request.as_ref())?;
        let mut result = ListPromptsResult::with_all_items(found);
        result.next_cursor = next;
        Ok(result)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let Some(commands) = self.commands() else {
            return Err(ErrorData::invalid_params("there are no prompts", None));
        };
        let stop = Arc::new(AtomicBool::new(false));
        let flag = CancelOnDrop(Arc::clone(&stop));
        let result = self.run(&context, move |engine| {
            prompts::get(engine, &*commands, &request.name, request.arguments, &stop)
        });
        let result = result.await;
        drop(flag);
        match result {
            Ok(prompt) => Ok(prompt.into()),
            Err(fault) if fault.kind == ErrorKind::Failed => Err(protocol_error(&fault)),
            Err(fault) => Err(ErrorData::invalid_params(error_text(&fault), None)),
        }
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let (reference, argument) = (request.r#ref, request.argument);
        let commands = self.commands();
        let found = self.run(&context, move |engine| {
            let prefix = &argument.value;
            match (reference, commands) {
                (Reference::Resource(template), _) => {
                    resources::complete(engine, &template.uri, prefix)
                }
                (Reference::Prompt(prompt), Some(commands)) => {
                    prompts::complete(engine, &*commands, &prompt.name, &argument.name, prefix)
                }
                (_, _) => Ok(Vec::new()),
            }
        });
        let mut found = or_empty(found.await)?;
        let total = u32::try_from(found.len()).unwrap_or(u32::MAX);
        let has_more = found.len() > CompletionInfo::MAX_VALUES;
        found.truncate(CompletionInfo::MAX_VALUES);
        let info = CompletionInfo::with_pagination(found, Some(total), has_more);
        let info = info.map_err(|problem| ErrorData::internal_error(problem, None))?;
        Ok(CompleteResult::new(info))
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.log_threshold().set(&request);
        Ok(())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.refresh_roots(&context.peer, false).await;
    }

    async fn on_roots_list_changed(&self, context: NotificationContext<RoleServer>) {
        self.refresh_roots(&context.peer, true).await;
        // Another project has other resources and prompts.
        drop(context.peer.notify_resource_list_changed().await);
        drop(context.peer.notify_prompt_list_changed().await);
    }
}

fn parse_address(uri: &str) -> Result<ResourceAddress, ErrorData> {
    ResourceAddress::parse(uri).ok_or_else(|| {
        let uri = text::excerpt(uri, 120);
        ErrorData::resource_not_found(format!("there is no resource `{uri}`"), None)
    })
}
