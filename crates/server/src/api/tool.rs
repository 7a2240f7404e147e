//! `/api/memory/tool`: the commands of Anthropic's memory tool, on the files of the workspace.

use super::shape::Body;
use crate::{Access, App, Problem};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use heirloom_engine::MemoryCommand;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The input of a tool call, as the model gives it.
#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct Call {
    /// The project; without it the one that is served, or the token's.
    project: Option<String>,
    #[serde(flatten)]
    command: Command,
}

/// The commands; paths lie below `/memories`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(tag = "command", rename_all = "snake_case")]
pub(super) enum Command {
    /// Shows a folder, or a file.
    View {
        path: String,
        /// The first and the last line; -1 is the end.
        #[schema(min_items = 2, max_items = 2)]
        view_range: Option<Vec<i64>>,
    },
    /// Makes a file.
    Create { path: String, file_text: String },
    /// Puts one text in the place of another, which is there once.
    StrReplace {
        path: String,
        old_str: String,
        new_str: Option<String>,
    },
    /// Puts a text behind a line.
    Insert {
        path: String,
        insert_line: usize,
        insert_text: String,
    },
    /// Deletes a file or a folder.
    Delete { path: String },
    /// Gives a file or a folder another name.
    Rename { old_path: String, new_path: String },
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
    let command = command(said.command)?;
    let content = app.ask(project, move |engine| engine.memory_tool(&command));
    Ok(Json(Answer {
        content: content.await?,
    }))
}

fn command(said: Command) -> Result<MemoryCommand, Problem> {
    Ok(match said {
        Command::View { path, view_range } => {
            let range = match view_range.as_deref() {
                None => None,
                Some([first, last]) => Some((*first, *last)),
                Some(_) => {
                    return Err(Problem::new(
                        StatusCode::UNPROCESSABLE_ENTITY,
                        "`view_range` has two lines: the first and the last",
                    ));
                }
            };
            MemoryCommand::View { path, range }
        }
        Command::Create { path, file_text } => MemoryCommand::Create {
            path,
            text: file_text,
        },
        Command::StrReplace {
            path,
            old_str,
            new_str,
        } => MemoryCommand::Replace {
            path,
            old: old_str,
            new: new_str.unwrap_or_default(),
        },
        Command::Insert {
            path,
            insert_line,
            insert_text,
        } => MemoryCommand::Insert {
            path,
            line: insert_line,
            text: insert_text,
        },
        Command::Delete { path } => MemoryCommand::Delete { path },
        Command::Rename { old_path, new_path } => MemoryCommand::Rename {
            from: old_path,
            to: new_path,
        },
    })
}
