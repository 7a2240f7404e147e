//! `/api/memory/tool`: the commands of Anthropic's memory tool, on the files of the workspace.

use super::shape::Body;
use crate::{Access, App, Problem};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use heirloom_engine::MemoryCommand;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The commands.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Command {
    View,
    Create,
    StrReplace,
    Insert,
    Delete,
    Rename,
}

/// The input of a tool call, as the model gives it.
#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct Call {
    /// The project; without it the one that is served, or the token's.
    project: Option<String>,
    #[schema(inline)]
    command: Command,
    /// For all but `rename`; below `/memories`.
    path: Option<String>,
    /// For `view`: the first and the last line.
    view_range: Option<[i64; 2]>,
    /// For `create`.
    file_text: Option<String>,
    /// For `str_replace`.
    old_str: Option<String>,
    /// For `str_replace`.
    new_str: Option<String>,
    /// For `insert`: the line behind which it goes.
    insert_line: Option<usize>,
    /// For `insert`.
    insert_text: Option<String>,
    /// For `rename`.
    old_path: Option<String>,
    /// For `rename`.
    new_path: Option<String>,
}

/// The content of a tool's result.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Answer {
    content: String,
}

/// Carries out one command; an error's `detail` is what the model is to be told.
#[utoipa::path(post, path = "/tool", tag = "memory", request_body(content = Call), responses((status = 200, body = Answer)))]
pub(super) async fn call(
    State(app): State<App>,
    access: Access,
    Body(said): Body<Call>,
) -> Result<Json<Answer>, Problem> {
    let project = access.project(said.project.as_deref())?;
    let command = command(said)?;
    let content = app.ask(project, move |engine| engine.memory_tool(&command));
    Ok(Json(Answer {
        content: content.await?,
    }))
}

fn command(said: Call) -> Result<MemoryCommand, Problem> {
    let needed = |name: &str, value: Option<String>| {
        value.ok_or_else(|| {
            Problem::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                format!("the command needs `{name}`"),
            )
        })
    };
    Ok(match said.command {
        Command::View => MemoryCommand::View {
            path: needed("path", said.path)?,
            range: said.view_range.map(|[first, last]| (first, last)),
        },
        Command::Create => MemoryCommand::Create {
            path: needed("path", said.path)?,
            text: needed("file_text", said.file_text)?,
        },
        Command::StrReplace => MemoryCommand::Replace {
            path: needed("path", said.path)?,
            old: needed("old_str", said.old_str)?,
            new: said.new_str.unwrap_or_default(),
        },
        Command::Insert => MemoryCommand::Insert {
            path: needed("path", said.path)?,
            line: said.insert_line.ok_or_else(|| {
                Problem::new(
                    StatusCode::UNPROCESSABLE_ENTITY,
                    "the command needs `insert_line`",
                )
            })?,
            text: needed("insert_text", said.insert_text)?,
        },
        Command::Delete => MemoryCommand::Delete {
            path: needed("path", said.path)?,
        },
        Command::Rename => MemoryCommand::Rename {
            from: needed("old_path", said.old_path.or(said.path))?,
            to: needed("new_path", said.new_path)?,
        },
    })
}
