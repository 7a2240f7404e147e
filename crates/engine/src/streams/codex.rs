//! Codex `exec --json`.

use super::dialect::{Dialect, Out, SessionName, sum, tool_call};
use super::json::{Field, count, each, integer, object, object_of, string, word};
use heirloom_model::stream::{StreamEvent, Usage};
use serde::Deserialize;

/// The state of one stream.
#[derive(Debug, Default)]
pub(super) struct Codex {
    session: SessionName,
    used: Usage,
    /// The error told last: a failed turn repeats it.
    error: Option<String>,
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    thread_id: Field<'a>,
    #[serde(borrow)]
    item: Field<'a>,
    #[serde(borrow)]
    usage: Field<'a>,
    #[serde(borrow)]
    error: Field<'a>,
    #[serde(borrow)]
    message: Field<'a>,
}

#[derive(Deserialize)]
struct Item<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    text: Field<'a>,
    #[serde(borrow)]
    command: Field<'a>,
    #[serde(borrow)]
    exit_code: Field<'a>,
    #[serde(borrow)]
    status: Field<'a>,
    #[serde(borrow)]
    changes: Field<'a>,
    #[serde(borrow)]
    server: Field<'a>,
    #[serde(borrow)]
    tool: Field<'a>,
    #[serde(borrow)]
    arguments: Field<'a>,
    #[serde(borrow)]
    query: Field<'a>,
    #[serde(borrow)]
    message: Field<'a>,
}

#[derive(Deserialize)]
struct Change<'a> {
    #[serde(borrow)]
    path: Field<'a>,
}

#[derive(Deserialize)]
struct Failure<'a> {
    #[serde(borrow)]
    message: Field<'a>,
}

#[derive(Deserialize)]
struct Tokens<'a> {
    #[serde(borrow)]
    input_tokens: Field<'a>,
    #[serde(borrow)]
    cached_input_tokens: Field<'a>,
    #[serde(borrow)]
    output_tokens: Field<'a>,
}

impl Dialect for Codex {
    fn line(&mut self, text: &str, number: u64, out: Out<'_>) -> Result<(), serde_json::Error> {
        let line: Line<'_> = object_of(text)?;
        match word(line.kind) {
            "thread.started" => self.session.tell(line.thread_id, out),
            "item.completed" => {
                if let Some(item) = object::<Item<'_>>(line.item) {
                    self.item(&item, number, out);
                }
            }
            "turn.completed" => {
                if let Some(usage) = tokens(line.usage) {
                    self.used = sum(self.used, usage);
                    out(StreamEvent::Usage(self.used));
                }
                out(StreamEvent::Finished { failed: false });
            }
            "turn.failed" => {
                let failure = object::<Failure<'_>>(line.error);
                self.fail(failure.and_then(|failure| string(failure.message)), out);
                out(StreamEvent::Finished { failed: true });
            }
            "error" => self.fail(string(line.message), out),
            _ => {}
        }
        Ok(())
    }
}

impl Codex {
    fn item(&mut self, item: &Item<'_>, number: u64, out: Out<'_>) {
        let status = word(item.status);
        match word(item.kind) {
            "agent_message" => {
                let text = string(item.text);
                text.into_iter()
                    .for_each(|text| out(StreamEvent::Text { text, line: number }));
            }
            kind @ "command_execution" => {
                let command = string(item.command).unwrap_or_default();
                out(tool_call(kind.to_owned(), &command));
                let code = integer(item.exit_code);
                let failed = code.map_or(status != "completed", |code| code != 0);
                out(StreamEvent::ToolResult { failed });
            }
            "mcp_tool_call" => {
                let name = |field| string(field).unwrap_or_default();
                let arguments = item.arguments.map_or("", |raw| raw.get());
                let name = format!("{}.{}", name(item.server), name(item.tool));
                out(tool_call(name, arguments));
                out(StreamEvent::ToolResult {
                    failed: status == "failed",
                });
            }
            kind @ "web_search" => {
                let query = string(item.query).unwrap_or_default();
                out(tool_call(kind.to_owned(), &query));
            }
            "file_change" if status != "failed" => each(item.changes, &mut |raw| {
                let change = object::<Change<'_>>(Some(raw));
                let path = change.and_then(|change| string(change.path));
                path.into_iter()
                    .for_each(|path| out(StreamEvent::FileChanged(path)));
            }),
            "error" => self.fail(string(item.message), out),
            _ => {}
        }
    }

    fn fail(&mut self, message: Option<String>, out: Out<'_>) {
        if message.is_some() && message != self.error {
            self.error.clone_from(&message);
            message
                .into_iter()
                .for_each(|message| out(StreamEvent::Error(message)));
        }
    }
}

/// Its input tokens include the cached ones; ours do not.
fn tokens(usage: Field<'_>) -> Option<Usage> {
    let tokens: Tokens<'_> = object(usage)?;
    let cached = count(tokens.cached_input_tokens);
    Some(Usage {
        input: count(tokens.input_tokens).saturating_sub(cached),
        cached,
        output: count(tokens.output_tokens),
    })
}
