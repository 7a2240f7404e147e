//! `/api/memory/tool`: commands of Anthropic's memory tool on workspace files.

use super::json_body::JsonBody;
use crate::{Access, App, Problem};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use heirloom_engine::{ChangeAuthor, MemoryToolCommand};
use heirloom_model::{ErrorKind, Fault, TransientCause};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// Input of a tool call, as the model writes it.
#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct ToolCall {
    /// The project; by default the token's project or the served one.
    project: Option<String>,
    /// Calling agent; the token's role by default.
    #[serde(alias = "agent")]
    agent_id: Option<String>,
    #[serde(flatten, deserialize_with = "deserialize_command")]
    command: ToolCommand,
}

/// Deserialises a command by its name: serde alone would also accept its index.
fn deserialize_command<'de, D: Deserializer<'de>>(from: D) -> Result<ToolCommand, D::Error> {
    let fields = Map::deserialize(from)?;
    if fields.get("command").is_some_and(|name| !name.is_string()) {
        return Err(D::Error::custom("`command` must be a string"));
    }
    ToolCommand::deserialize(Value::Object(fields)).map_err(D::Error::custom)
}

/// Commands; paths are below `/memories`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(tag = "command", rename_all = "snake_case")]
pub(super) enum ToolCommand {
    /// Shows a folder or a file.
    View {
        path: String,
        /// First and last line; -1 is the end.
        #[schema(min_items = 2, max_items = 2)]
        view_range: Option<Vec<i64>>,
    },
    /// Creates a file.
    Create { path: String, file_text: String },
    /// Replaces a text that occurs exactly once.
    StrReplace {
        path: String,
        old_str: String,
        new_str: Option<String>,
    },
    /// Inserts a text after a line.
    Insert {
        path: String,
        insert_line: usize,
        insert_text: String,
    },
    /// Deletes a file or a folder.
    Delete { path: String },
    /// Renames a file or a folder.
    Rename { old_path: String, new_path: String },
}

/// Result of a tool call.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ToolResult {
    /// Text for the model.
    content: String,
    /// True if the command failed; `content` then contains the reason.
    is_error: bool,
    /// Id of the file change for `undo`.
    #[serde(skip_serializing_if = "Option::is_none")]
    undo: Option<String>,
}

/// Runs one command. A failure of the command itself is also an answer for the model, with `is_error`.
#[utoipa::path(post, path = "/tool", operation_id = "call_memory_tool", tag = "memory-tool", request_body(content = ToolCall), responses((status = 200, body = ToolResult)))]
pub(super) async fn call(
    State(app): State<App>,
    access: Access,
    JsonBody(body): JsonBody<ToolCall>,
) -> Result<Json<ToolResult>, Problem> {
    let project = access.resolve_project(body.project.as_deref())?;
    let command = convert_command(body.command)?;
    let by = access.resolve_source(body.agent_id.as_deref())?;
    let answer = app.with_engine(project, move |engine| {
        engine.require_files()?;
        if !matches!(command, MemoryToolCommand::View { .. }) {
            engine.require_memory()?;
        }
        let holder = Some(&*access.holder);
        let author = ChangeAuthor {
            source: &by,
            holder,
        };
        match engine.memory_tool().run_as(&command, author) {
            Ok(done) => Ok(ToolResult {
                content: done.text,
                is_error: false,
                undo: done.change.map(|id| id.to_string()),
            }),
            Err(fault) if is_command_error(&fault) => Ok(ToolResult {
                content: with_hint(fault),
                is_error: true,
                undo: None,
            }),
            Err(fault) => Err(fault),
        }
    });
    Ok(Json(answer.await?))
}

/// Returns the message of a refusal with its hint about an alternative; of other errors only
/// the message, whose wording models know.
fn with_hint(fault: Fault) -> String {
    match fault.hint {
        Some(hint) if fault.kind == ErrorKind::Refused && fault.transient_cause.is_none() => {
            format!("{}. {hint}", fault.message)
        }
        Some(_) | None => fault.message,
    }
}

/// Returns true for errors of the command itself, not of the server.
fn is_command_error(fault: &Fault) -> bool {
    let from_command = [ErrorKind::Usage, ErrorKind::NotFound, ErrorKind::Refused];
    let of_server = [
        Some(TransientCause::DiskFull),
        Some(TransientCause::Busy),
        Some(TransientCause::Unavailable),
    ];
    from_command.contains(&fault.kind) && !of_server.contains(&fault.transient_cause)
}

fn convert_command(command: ToolCommand) -> Result<MemoryToolCommand, Problem> {
    Ok(match command {
        ToolCommand::View { path, view_range } => {
            let range = match view_range.as_deref() {
                None => None,
                Some([first, last]) => Some((*first, *last)),
                Some(_) => {
                    return Err(Problem::new(
                        StatusCode::UNPROCESSABLE_ENTITY,
                        "`view_range` must have two numbers: the first and the last line",
                    ));
                }
            };
            MemoryToolCommand::View { path, range }
        }
        ToolCommand::Create { path, file_text } => MemoryToolCommand::Create {
            path,
            text: file_text,
        },
        ToolCommand::StrReplace {
            path,
            old_str,
            new_str,
        } => MemoryToolCommand::Replace {
            path,
            old: old_str,
            new: new_str.unwrap_or_default(),
        },
        ToolCommand::Insert {
            path,
            insert_line,
            insert_text,
        } => MemoryToolCommand::Insert {
            path,
            line: insert_line,
            text: insert_text,
        },
        ToolCommand::Delete { path } => MemoryToolCommand::Delete { path },
        ToolCommand::Rename { old_path, new_path } => MemoryToolCommand::Rename {
            from: old_path,
            to: new_path,
        },
    })
}
