//! Transcript of a session as a Markdown file.

use crate::App;
use crate::page::session_title::session_title;
use crate::page::{PageError, RequestContext};
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use heirloom_engine::Engine;
use heirloom_model::{Fault, Message, Permission, Role, text};

/// Maximum number of turns in a file.
const TURNS: usize = 5_000;

/// Answers the transcript as a file to save.
pub(super) async fn download(
    State(app): State<App>,
    context: RequestContext,
    Path(id): Path<String>,
) -> Result<Response, PageError> {
    let project = context.resolve_project(Permission::Read)?;
    let name = format!("attachment; filename=\"{}\"", file_name(&id));
    let text = app.with_engine(project, move |engine| transcript(engine, &id));
    let headers = [
        (
            header::CONTENT_TYPE,
            "text/markdown; charset=utf-8".to_owned(),
        ),
        (header::CONTENT_DISPOSITION, name),
    ];
    Ok((headers, text.await?).into_response())
}

/// Returns the file name of a transcript, with safe characters only.
fn file_name(session: &str) -> String {
    let safe = session.chars().take(64);
    let safe: String = safe
        .map(|c| match c.is_ascii_alphanumeric() {
            true => c,
            false => '-',
        })
        .collect();
    format!("session-{safe}.md")
}

fn transcript(engine: &Engine, id: &str) -> Result<String, Fault> {
    let (session, turns) = engine.sessions().session_page(id, 0, TURNS)?;
    let mut out = format!("# {}\n\n", session_title(engine, &session)?);
    let mut fact = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            out.push_str(&format!(
                "- {name}: {}\n",
                text::replace_control_chars(&value)
            ));
        }
    };
    fact("Session", Some(session.id));
    fact("Agent", session.agent);
    fact("Task", session.task);
    fact("Began", Some(session.started_at.to_string()));
    fact("Ended", session.ended_at.map(|at| at.to_string()));
    for turn in &turns {
        push_turn(turn, &mut out);
    }
    if turns.len() == TURNS {
        out.push_str(&format!(
            "\nThe first {TURNS} turns. `GET /api/sessions/ID/messages` has all of them.\n"
        ));
    }
    Ok(out)
}

fn push_turn(turn: &Message, out: &mut String) {
    let who = turn.sender.as_deref().unwrap_or(turn.role.as_str());
    let who = text::replace_control_chars(who);
    out.push_str(&format!("\n## {}. {who}, {}\n\n", turn.seq + 1, turn.at));
    let lines: Vec<_> = turn.text.lines().map(text::replace_control_chars).collect();
    let words = lines.join("\n");
    match turn.role {
        Role::ToolCall | Role::ToolResult => {
            let fence = "`".repeat(longest_backticks(&words).max(2) + 1);
            out.push_str(&format!("{fence}\n{words}\n{fence}\n"));
        }
        Role::User | Role::Assistant | Role::System => {
            out.push_str(&words);
            out.push('\n');
        }
    }
}

/// Returns the length of the longest run of backticks, so that a fence around the text is longer.
fn longest_backticks(text: &str) -> usize {
    let runs = text.split(|c| c != '`');
    runs.map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_name_and_fence_are_safe() {
        assert_eq!(file_name("a/../b\"\r\nx"), "session-a----b---x.md");
        assert_eq!(longest_backticks("a ``` b ` c"), 3);
        assert_eq!(longest_backticks("none"), 0);
    }
}
