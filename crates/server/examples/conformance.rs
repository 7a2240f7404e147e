//! MCP server with the fixed tools, resources and prompts that the official conformance suite expects.
//!
//! Transport, sessions and checks are those of `heirloom mcp --http`. Used only by `cargo xtask mcp`.
#![expect(clippy::print_stdout, reason = "prints its address for the caller")]
#![expect(
    deprecated,
    reason = "the suite tests revisions in which these were not deprecated"
)]

use heirloom_server::{Listener, mcp, serve};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
    ContentBlock, CreateMessageRequestParams, ElicitRequest, ElicitRequestParams, ErrorData,
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, LoggingLevel,
    LoggingMessageNotificationParam, PaginatedRequestParams, ProgressNotificationParam,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, SamplingMessage,
    ServerCapabilities, ServerConfig, ServerRequest, SetLevelRequestParams, SubscribeRequestParams,
    UnsubscribeRequestParams,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::time::Duration;

/// PNG of one red pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/// WAV without samples.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";

fn main() -> Result<(), String> {
    let port = std::env::args().nth(1).and_then(|port| port.parse().ok());
    let listening = Listener::bind("127.0.0.1", port.unwrap_or(0), None);
    let listening = listening.map_err(|fault| fault.message)?;
    println!("listening on http://{}/mcp", listening.address());
    let router = mcp::mount(&[], || Fixtures);
    serve(listening, None, router, || false).map_err(|fault| fault.message)
}

#[derive(Clone)]
struct Fixtures;

type Answer<T> = Result<T, ErrorData>;

fn read<T: DeserializeOwned>(value: Value) -> Answer<T> {
    serde_json::from_value(value)
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

fn embedded(uri: &str, mime: &str, text: &str) -> Value {
    json!({"type": "resource", "resource": {"uri": uri, "mimeType": mime, "text": text}})
}

fn image() -> Value {
    json!({"type": "image", "data": PNG, "mimeType": "image/png"})
}

fn tools() -> Value {
    let plain = [
        "test_simple_text",
        "test_image_content",
        "test_audio_content",
        "test_embedded_resource",
        "test_multiple_content_types",
        "test_tool_with_logging",
        "test_error_handling",
        "test_tool_with_progress",
        "test_elicitation_sep1034_defaults",
        "test_elicitation_sep1330_enums",
    ];
    let mut tools: Vec<_> = plain
        .iter()
        .map(|name| {
            let schema = json!({"type": "object", "properties": {}});
            json!({"name": name, "description": "A fixture", "inputSchema": schema})
        })
        .collect();
    for (name, argument) in [("test_sampling", "prompt"), ("test_elicitation", "message")] {
        let properties = json!({argument: {"type": "string"}});
        let schema = json!({"type": "object", "properties": properties, "required": [argument]});
        tools.push(json!({"name": name, "description": "A fixture", "inputSchema": schema}));
    }
    tools.push(json!({
        "name": "json_schema_2020_12_tool",
        "description": "Tool with JSON Schema 2020-12 features",
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {"address": {"type": "object", "properties": {
                "street": {"type": "string"}, "city": {"type": "string"},
            }}},
            "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
            "additionalProperties": false,
        },
    }));
    Value::Array(tools)
}

/// Returns the content of a tool without side effects.
fn shown(name: &str) -> Option<Value> {
    Some(match name {
        "test_simple_text" => {
            json!([{"type": "text", "text": "This is a simple text response for testing."}])
        }
        "test_image_content" => json!([image()]),
        "test_audio_content" => {
            json!([{"type": "audio", "data": WAV, "mimeType": "audio/wav"}])
        }
        "test_embedded_resource" => json!([embedded(
            "test://embedded-resource",
            "text/plain",
            "This is an embedded resource content."
        )]),
        "test_multiple_content_types" => json!([
            {"type": "text", "text": "Multiple content types test:"},
            image(),
            embedded(
                "test://mixed-content-resource",
                "application/json",
                r#"{"test":"data","value":123}"#
            ),
        ]),
        _ => return None,
    })
}

/// Returns the schema that an eliciting tool requests.
fn form(name: &str) -> Option<Value> {
    let titled = |words: [(&str, &str); 3]| -> Value {
        words
            .iter()
            .map(|(value, title)| json!({"const": value, "title": title}))
            .collect()
    };
    let values = [
        ("value1", "First Option"),
        ("value2", "Second Option"),
        ("value3", "Third Option"),
    ];
    let choices = [
        ("value1", "First Choice"),
        ("value2", "Second Choice"),
        ("value3", "Third Choice"),
    ];
    let options = json!(["option1", "option2", "option3"]);
    let properties = match name {
        "test_elicitation" => json!({
            "username": {"type": "string", "description": "User's response"},
            "email": {"type": "string", "description": "User's email address"},
        }),
        "test_elicitation_sep1034_defaults" => json!({
            "name": {"type": "string", "default": "John Doe"},
            "age": {"type": "integer", "default": 30},
            "score": {"type": "number", "default": 95.5},
            "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
            "verified": {"type": "boolean", "default": true},
        }),
        "test_elicitation_sep1330_enums" => json!({
            "untitledSingle": {"type": "string", "enum": options},
            "titledSingle": {"type": "string", "oneOf": titled(values)},
            "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"]},
            "untitledMulti": {"type": "array", "items": {"type": "string", "enum": options}},
            "titledMulti": {"type": "array", "items": {"anyOf": titled(choices)}},
        }),
        _ => return None,
    };
    let required = if name == "test_elicitation" {
        json!(["username", "email"])
    } else {
        json!([])
    };
    Some(json!({"type": "object", "properties": properties, "required": required}))
}

async fn pause() {
    tokio::time::sleep(Duration::from_millis(50)).await;
}

fn text_response(text: impl Into<String>) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(text)]).into()
}

async fn log(context: &RequestContext<RoleServer>) {
    for text in [
        "Tool execution started",
        "Tool processing data",
        "Tool execution completed",
    ] {
        let note = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(text));
        drop(context.peer.notify_logging_message(note).await);
        pause().await;
    }
}

async fn progress(context: &RequestContext<RoleServer>) {
    for done in [0.0, 50.0, 100.0] {
        if let Some(token) = context.meta.get_progress_token() {
            let note = ProgressNotificationParam::new(token, done).with_total(100.0);
            drop(context.peer.notify_progress(note).await);
        }
        pause().await;
    }
}

async fn sample(context: &RequestContext<RoleServer>, prompt: &str) -> CallToolResponse {
    let messages = vec![SamplingMessage::user_text(prompt)];
    let params = CreateMessageRequestParams::new(messages, 100);
    match context.peer.create_message(params).await {
        Ok(answer) => {
            let answer = serde_json::to_value(&answer).unwrap_or_default();
            let text = answer["content"]["text"].as_str().unwrap_or_default();
            text_response(format!("LLM response: {text}"))
        }
        Err(error) => CallToolResult::error(vec![ContentBlock::text(error.to_string())]).into(),
    }
}

async fn elicit(
    context: &RequestContext<RoleServer>,
    message: &str,
    form: Value,
) -> Answer<CallToolResponse> {
    let params: ElicitRequestParams =
        read(json!({"mode": "form", "message": message, "requestedSchema": form}))?;
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(params));
    let answer = context.peer.send_request(request).await;
    let answer = answer.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    let answer = serde_json::to_value(&answer).unwrap_or_default();
    let action = answer["action"].as_str().unwrap_or_default().to_owned();
    Ok(text_response(format!(
        "Elicitation completed: action={action}, content={}",
        answer["content"]
    )))
}

impl ServerHandler for Fixtures {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_prompts()
            .enable_completions()
            .enable_logging()
            .build();
        ServerConfig::new(capabilities)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Answer<ListToolsResult> {
        Ok(ListToolsResult::with_all_items(read(tools())?))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Answer<CallToolResponse> {
        let name = &*request.name;
        let arguments = request.arguments.unwrap_or_default();
        let argument = |name: &str| {
            arguments
                .get(name)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        if let Some(content) = shown(name) {
            return Ok(CallToolResult::success(read(content)?).into());
        }
        if let Some(form) = form(name) {
            return elicit(&context, argument("message"), form).await;
        }
        match name {
            "test_tool_with_logging" => log(&context).await,
            "test_tool_with_progress" => progress(&context).await,
            "test_sampling" => return Ok(sample(&context, argument("prompt")).await),
            "test_error_handling" => {
                let text = "This tool intentionally returns an error for testing";
                return Ok(CallToolResult::error(vec![ContentBlock::text(text)]).into());
            }
            _ => {}
        }
        Ok(text_response("done"))
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Answer<ListResourcesResult> {
        let resource = |name: &str, mime: &str| json!({"uri": format!("test://{name}"), "name": name, "description": "A fixture", "mimeType": mime});
        let all = json!([
            resource("static-text", "text/plain"),
            resource("static-binary", "image/png"),
            resource("watched-resource", "text/plain"),
        ]);
        Ok(ListResourcesResult::with_all_items(read(all)?))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Answer<ListResourceTemplatesResult> {
        let all = json!([{"uriTemplate": "test://template/{id}/data", "name": "template", "mimeType": "application/json"}]);
        Ok(ListResourceTemplatesResult::with_all_items(read(all)?))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Answer<ReadResourceResponse> {
        let uri = &request.uri;
        let id = uri
            .strip_prefix("test://template/")
            .and_then(|rest| rest.strip_suffix("/data"));
        let content = match (uri.as_str(), id) {
            ("test://static-binary", _) => {
                json!({"uri": uri, "mimeType": "image/png", "blob": PNG})
            }
            (_, Some(id)) => {
                let text =
                    json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
                json!({"uri": uri, "mimeType": "application/json", "text": text.to_string()})
            }
            ("test://static-text", None) => {
                let text = "This is the content of the static text resource.";
                json!({"uri": uri, "mimeType": "text/plain", "text": text})
            }
            _ => {
                return Err(ErrorData::resource_not_found(
                    "there is no such fixture",
                    None,
                ));
            }
        };
        Ok(ReadResourceResult::new(vec![read(content)?]).into())
    }

    async fn subscribe(
        &self,
        _request: SubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Answer<()> {
        Ok(())
    }

    async fn unsubscribe(
        &self,
        _request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Answer<()> {
        Ok(())
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Answer<ListPromptsResult> {
        let prompt = |name: &str, arguments: &[&str]| {
            let argument =
                |name: &&str| json!({"name": name, "description": "An argument", "required": true});
            let arguments: Vec<_> = arguments.iter().map(argument).collect();
            json!({"name": name, "description": "A fixture", "arguments": arguments})
        };
        let all = json!([
            prompt("test_simple_prompt", &[]),
            prompt("test_prompt_with_arguments", &["arg1", "arg2"]),
            prompt("test_prompt_with_embedded_resource", &["resourceUri"]),
            prompt("test_prompt_with_image", &[]),
        ]);
        Ok(ListPromptsResult::with_all_items(read(all)?))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Answer<GetPromptResponse> {
        let arguments = request.arguments.unwrap_or_default();
        let argument = |name: &str| {
            arguments
                .get(name)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let user = |content: Value| json!({"role": "user", "content": content});
        let text = |text: String| json!({"type": "text", "text": text});
        let messages = match request.name.as_str() {
            "test_prompt_with_arguments" => {
                let (one, two) = (argument("arg1"), argument("arg2"));
                let words = format!("Prompt with arguments: arg1='{one}', arg2='{two}'");
                json!([user(text(words))])
            }
            "test_prompt_with_embedded_resource" => {
                let words = "Embedded resource content for testing.";
                let resource = embedded(argument("resourceUri"), "text/plain", words);
                let more = "Please process the embedded resource above.".to_owned();
                json!([user(resource), user(text(more))])
            }
            "test_prompt_with_image" => {
                let more = "Please analyze the image above.".to_owned();
                json!([user(image()), user(text(more))])
            }
            _ => json!([user(text(
                "This is a simple prompt for testing.".to_owned()
            ))]),
        };
        Ok(GetPromptResult::new(read(messages)?).into())
    }

    async fn complete(
        &self,
        _request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Answer<CompleteResult> {
        Ok(CompleteResult::default())
    }

    async fn set_level(
        &self,
        _request: SetLevelRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Answer<()> {
        Ok(())
    }
}
