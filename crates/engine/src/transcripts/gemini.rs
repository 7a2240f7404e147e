//! Gemini CLI: a line is a message, an update of one, or a change of what is known of the conversation. Older versions
//! wrote one object with all messages, which comes here as one line.

use super::json::{Field, each, filled, object, object_of, string, time, word};
use super::reader::{Head, told};
use super::{Act, Event, Failed, Out, Told, call_line};
use heirloom_model::Timestamp;
use heirloom_model::stream::Usage;
use serde::Deserialize;
use std::collections::HashMap;

/// How texts begin that stand in a person's place and are none of theirs.
const INJECTED: [&str; 4] = ["/", "?", "<session_context>", "<hook_context>"];

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, rename = "sessionId")]
    session: Field<'a>,
    #[serde(borrow, rename = "projectHash")]
    project: Field<'a>,
    #[serde(borrow, rename = "startTime")]
    started: Field<'a>,
    #[serde(borrow)]
    kind: Field<'a>,
    #[serde(borrow)]
    messages: Field<'a>,
    #[serde(borrow, rename = "$set")]
    set: Field<'a>,
    #[serde(borrow, rename = "$rewindTo")]
    rewind: Field<'a>,
    #[serde(borrow)]
    id: Field<'a>,
}

#[derive(Deserialize)]
struct Set<'a> {
    #[serde(borrow)]
    messages: Field<'a>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    timestamp: Field<'a>,
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    content: Field<'a>,
    #[serde(borrow, rename = "toolCalls")]
    calls: Field<'a>,
    #[serde(borrow)]
    tokens: Field<'a>,
}

#[derive(Deserialize)]
struct Part<'a> {
    #[serde(borrow)]
    text: Field<'a>,
    #[serde(borrow, rename = "functionResponse")]
    response: Field<'a>,
}

#[derive(Deserialize)]
struct Call<'a> {
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    name: Field<'a>,
    #[serde(borrow)]
    args: Field<'a>,
    #[serde(borrow)]
    result: Field<'a>,
    #[serde(borrow)]
    status: Field<'a>,
    #[serde(borrow)]
    timestamp: Field<'a>,
}

#[derive(Deserialize)]
struct Arguments<'a> {
    #[serde(borrow)]
    command: Field<'a>,
    #[serde(borrow)]
    file_path: Field<'a>,
}

#[derive(Deserialize)]
struct Response<'a> {
    #[serde(borrow)]
    response: Field<'a>,
    #[serde(borrow)]
    output: Field<'a>,
    #[serde(borrow)]
    error: Field<'a>,
}

#[derive(Deserialize)]
struct Tokens<'a> {
    #[serde(borrow)]
    input: Field<'a>,
    #[serde(borrow)]
    cached: Field<'a>,
    #[serde(borrow)]
    output: Field<'a>,
}

/// What a line says of its conversation; whether that is all there is to know.
pub(super) fn head(text: &str, head: &mut Head) -> bool {
    let Some(line) = object_of::<Line<'_>>(text) else {
        return false;
    };
    let (Some(session), Some(project)) = (filled(line.session), filled(line.project)) else {
        return false;
    };
    head.agent = Some(session.clone()).filter(|_| word(line.kind) == "subagent");
    head.session = Some(session);
    head.folder_hash = Some(project);
    head.began = time(line.started);
    true
}

/// Finds messages that were told once more, taken back, or replaced.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// The messages that hold, in order, and where each is told.
    order: Vec<(String, u64)>,
    at: HashMap<String, usize>,
    dead: Vec<u64>,
}

impl Survey {
    pub(super) fn line(&mut self, at: u64, text: &str) {
        let Some(line) = object_of::<Line<'_>>(text) else {
            return;
        };
        if let Some(to) = string(line.rewind) {
            let from = self.at.get(&to).copied().unwrap_or(0);
            self.forget(from);
        } else if let Some(id) = filled(line.id) {
            match self.at.get(&id) {
                Some(&index) => {
                    let before = std::mem::replace(&mut self.order[index].1, at);
                    self.dead.push(before);
                }
                None => {
                    self.at.insert(id.clone(), self.order.len());
                    self.order.push((id, at));
                }
            }
        } else if object::<Set<'_>>(line.set).is_some_and(|set| set.messages.is_some()) {
            self.forget(0);
        }
    }

    fn forget(&mut self, from: usize) {
        for (id, at) in self.order.drain(from.min(self.order.len())..) {
            self.at.remove(&id);
            self.dead.push(at);
        }
    }

    pub(super) fn dead(mut self) -> Vec<u64> {
        self.dead.sort_unstable();
        self.dead
    }
}

/// Tells what a line says.
pub(super) fn line(at: u64, text: &str, out: Out<'_>) -> Option<()> {
    let line: Line<'_> = object_of(text)?;
    if line.id.is_some() {
        if let Some(one) = object_of::<Message<'_>>(text) {
            message(at, &one, out);
        }
        return Some(());
    }
    let several = object::<Set<'_>>(line.set).and_then(|set| set.messages);
    each(several.or(line.messages), &mut |raw| {
        if let Some(one) = object::<Message<'_>>(Some(raw)) {
            message(at, &one, out);
        }
    });
    Some(())
}

fn message(at: u64, message: &Message<'_>, out: Out<'_>) {
    let id = filled(message.id).unwrap_or_else(|| at.to_string());
    let when = time(message.timestamp);
    let said = parts(message.content);
    let is_said = !said.trim().is_empty();
    match word(message.kind) {
        "user" if is_said => {
            let text = said.trim_start();
            if !INJECTED.iter().any(|start| text.starts_with(start)) {
                out(told(id, when, Event::Prompt(said)));
            }
        }
        "gemini" => {
            if is_said {
                out(told(id.clone(), when, Event::Said(said)));
            }
            each(message.calls, &mut |raw| {
                if let Some(one) = object::<Call<'_>>(Some(raw)) {
                    call(&id, when, &one, out);
                }
            });
            if let Some(tokens) = object::<Tokens<'_>>(message.tokens) {
                let cached = super::json::count(tokens.cached);
                let used = Usage {
                    input: super::json::count(tokens.input).saturating_sub(cached),
                    cached,
                    output: super::json::count(tokens.output),
                };
                out(told(format!("usage {id}"), when, Event::Used(used)));
            }
        }
        _ => {}
    }
}

fn call(message: &str, at: Option<Timestamp>, one: &Call<'_>, out: Out<'_>) {
    let tool = string(one.name).unwrap_or_default();
    let name = filled(one.id).unwrap_or_else(|| format!("{message} {tool}"));
    let at = time(one.timestamp).or(at);
    let raw = one.args.map_or("", |raw| raw.get());
    let read = object::<Arguments<'_>>(one.args);
    let act = read.and_then(|read| match tool.as_str() {
        "run_shell_command" => filled(read.command).map(Act::Command),
        "write_file" | "replace" | "edit" => {
            filled(read.file_path).map(|path| Act::Edit(vec![path]))
        }
        _ => None,
    });
    let act = act.unwrap_or_else(|| Act::Other(call_line(raw)));
    let is_command = matches!(act, Act::Command(_));
    let event = Event::Call {
        call: name.clone(),
        tool,
        act,
    };
    out(told(format!("call {name}"), at, event));
    let text = parts(one.result);
    let failed = match word(one.status) {
        "cancelled" => Failed::Stopped,
        "error" => Failed::Yes,
        "success" if is_command && exit_code(&text).is_some_and(|code| code != 0) => Failed::Yes,
        "success" => Failed::No,
        // It had not ended when this was written.
        _ => return,
    };
    let event = Event::Result {
        call: name.clone(),
        failed,
        text,
    };
    out(Told {
        id: format!("result {name}"),
        at,
        agent: None,
        event,
    });
}

/// The exit code that one of the last lines of a shell's answer says.
fn exit_code(text: &str) -> Option<i64> {
    let mut last = text.lines().rev().take(8);
    last.find_map(|line| line.strip_prefix("Exit Code: ")?.trim().parse().ok())
}

/// The texts of a content: a string, or parts of which each has a text or what a tool answered.
fn parts(field: Field<'_>) -> String {
    if let Some(text) = string(field) {
        return text;
    }
    let mut out = String::new();
    let mut add = |raw| {
        let Some(part) = object::<Part<'_>>(Some(raw)) else {
            return;
        };
        let answer = object::<Response<'_>>(part.response);
        let answer = answer.and_then(|one| object::<Response<'_>>(one.response));
        let said = string(part.text).or_else(|| {
            let answer = answer?;
            string(answer.output).or_else(|| string(answer.error))
        });
        if let Some(said) = said {
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(&said);
        }
    };
    match field {
        Some(raw) if raw.get().starts_with('{') => add(raw),
        Some(_) | None => each(field, &mut add),
    }
    out
}
