//! Codex: rollouts, a line `{timestamp, type, payload}`.

use super::json::{
    Field, count, each, filled, integer, object, object_of, string, texts, time, word,
};
use super::reader::{Head, told};
use super::{Act, Event, Failed, Out, call_line, commands, patch};
use heirloom_model::Timestamp;
use heirloom_model::stream::Usage;
use serde::Deserialize;

/// How user items begin that are none of a person's.
const INJECTED: [&str; 6] = [
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<turn_aborted>",
    "<skill>",
    "<user_shell_command>",
];

/// Behind this line editors put the words of the person.
const REQUEST: &str = "## My request for Codex:";

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    timestamp: Field<'a>,
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    payload: Field<'a>,
}

#[derive(Deserialize)]
struct Payload<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    cwd: Field<'a>,
    #[serde(borrow)]
    source: Field<'a>,
    #[serde(borrow)]
    timestamp: Field<'a>,
    #[serde(borrow)]
    role: Field<'a>,
    #[serde(borrow)]
    content: Field<'a>,
    #[serde(borrow)]
    message: Field<'a>,
    #[serde(borrow)]
    name: Field<'a>,
    #[serde(borrow)]
    arguments: Field<'a>,
    #[serde(borrow)]
    input: Field<'a>,
    #[serde(borrow)]
    action: Field<'a>,
    #[serde(borrow)]
    call_id: Field<'a>,
    #[serde(borrow)]
    output: Field<'a>,
    #[serde(borrow)]
    info: Field<'a>,
    #[serde(borrow)]
    num_turns: Field<'a>,
}

#[derive(Deserialize)]
struct Arguments<'a> {
    #[serde(borrow)]
    command: Field<'a>,
    #[serde(borrow)]
    cmd: Field<'a>,
    #[serde(borrow)]
    input: Field<'a>,
}

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    output: Field<'a>,
    #[serde(borrow)]
    content: Field<'a>,
    #[serde(borrow)]
    success: Field<'a>,
    #[serde(borrow)]
    metadata: Field<'a>,
}

#[derive(Deserialize)]
struct Metadata<'a> {
    #[serde(borrow)]
    exit_code: Field<'a>,
}

#[derive(Deserialize)]
struct Info<'a> {
    #[serde(borrow)]
    last_token_usage: Field<'a>,
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

/// What a line says of its conversation; whether that is all there is to know.
pub(super) fn head(text: &str, head: &mut Head) -> bool {
    let Some(line) = object_of::<Line<'_>>(text).filter(|line| word(line.kind) == "session_meta")
    else {
        return false;
    };
    let Some(meta) = object::<Payload<'_>>(line.payload) else {
        return false;
    };
    head.session = filled(meta.id);
    head.folder = filled(meta.cwd);
    head.began = time(meta.timestamp).or_else(|| time(line.timestamp));
    let is_subagent = (meta.source).is_some_and(|raw| raw.get().starts_with("{\"subagent\""));
    head.agent = head.session.clone().filter(|_| is_subagent);
    true
}

/// Finds turns that were rolled back, and whether prompts are told as such.
#[derive(Debug, Default)]
pub(super) struct Survey {
    prompts: Vec<u64>,
    lines: Vec<u64>,
    dead: Vec<u64>,
}

impl Survey {
    pub(super) fn line(&mut self, at: u64, text: &str) {
        self.lines.push(at);
        // Most lines are neither: they are not taken apart for this.
        let has = |word: &str| memchr::memmem::find(text.as_bytes(), word.as_bytes()).is_some();
        if !has("\"event_msg\"") || !(has("\"user_message\"") || has("\"thread_rolled_back\"")) {
            return;
        }
        let Some(line) = object_of::<Line<'_>>(text) else {
            return;
        };
        if word(line.kind) != "event_msg" {
            return;
        }
        let Some(event) = object::<Payload<'_>>(line.payload) else {
            return;
        };
        match word(event.kind) {
            "user_message" => self.prompts.push(at),
            "thread_rolled_back" => {
                let turns = usize::try_from(count(event.num_turns)).unwrap_or(usize::MAX);
                let left = self.prompts.len().saturating_sub(turns);
                if let Some(&from) = self.prompts.get(left) {
                    let first = self.lines.partition_point(|at| *at < from);
                    self.dead.extend(self.lines.drain(first..));
                    self.prompts.truncate(left);
                }
            }
            _ => {}
        }
    }

    pub(super) fn has_prompts(&self) -> bool {
        !self.prompts.is_empty()
    }

    pub(super) fn dead(self) -> Vec<u64> {
        let mut dead = self.dead;
        dead.sort_unstable();
        dead
    }
}

/// Tells what the lines say.
#[derive(Debug)]
pub(super) struct Codex {
    /// Prompts are told by events; else by items, among which injected ones are.
    has_prompts: bool,
}

impl Codex {
    pub(super) fn new(has_prompts: bool) -> Self {
        Self { has_prompts }
    }

    pub(super) fn line(&mut self, at: u64, text: &str, out: Out<'_>) -> Option<()> {
        let line: Line<'_> = object_of(text)?;
        let when = time(line.timestamp);
        let kind = word(line.kind);
        if !matches!(kind, "response_item" | "event_msg" | "compacted") {
            return Some(());
        }
        let Some(payload) = object::<Payload<'_>>(line.payload) else {
            return Some(());
        };
        let id = at.to_string();
        match kind {
            "compacted" => {
                if let Some(said) = filled(payload.message) {
                    out(told(id, when, Event::Summary(said)));
                }
            }
            "event_msg" => self.event(id, when, &payload, out),
            _ => self.item(id, when, &payload, out),
        }
        Some(())
    }

    fn event(&self, id: String, at: Option<Timestamp>, event: &Payload<'_>, out: Out<'_>) {
        match word(event.kind) {
            "user_message" => {
                if let Some(said) = string(event.message) {
                    prompt(id, at, &said, out);
                }
            }
            "token_count" => {
                let info = object::<Info<'_>>(event.info);
                if let Some(used) = info.and_then(|info| tokens(info.last_token_usage)) {
                    out(told(id, at, Event::Used(used)));
                }
            }
            _ => {}
        }
    }

    fn item(&self, id: String, at: Option<Timestamp>, item: &Payload<'_>, out: Out<'_>) {
        let call = || filled(item.call_id).unwrap_or_else(|| id.clone());
        match word(item.kind) {
            "message" => match word(item.role) {
                "assistant" => {
                    let said = texts(item.content, &["output_text", "text"]);
                    if !said.trim().is_empty() {
                        out(told(id, at, Event::Said(said)));
                    }
                }
                "user" if !self.has_prompts => {
                    let said = texts(item.content, &["input_text", "text"]);
                    if !INJECTED.iter().any(|start| said.starts_with(start)) {
                        prompt(id, at, &said, out);
                    }
                }
                _ => {}
            },
            "function_call" | "custom_tool_call" | "local_shell_call" => {
                let (tool, act) = called(item);
                let call = call();
                out(told(id, at, Event::Call { call, tool, act }));
            }
            "function_call_output" | "custom_tool_call_output" | "local_shell_call_output" => {
                let (failed, text) = answered(item.output);
                let call = call();
                out(told(id, at, Event::Result { call, failed, text }));
            }
            _ => {}
        }
    }
}

fn prompt(id: String, at: Option<Timestamp>, said: &str, out: Out<'_>) {
    let said = said
        .split_once(REQUEST)
        .map_or(said, |(_, request)| request);
    let said = said.trim();
    if !said.is_empty() {
        out(told(id, at, Event::Prompt(said.to_owned())));
    }
}

/// The tool that an item calls, and what for.
fn called(item: &Payload<'_>) -> (String, Act) {
    if word(item.kind) == "local_shell_call" {
        let action = object::<Arguments<'_>>(item.action);
        let command = action.and_then(|action| command_of(action.command));
        let act = command.map_or_else(|| Act::Other(String::new()), in_shell);
        return ("shell".to_owned(), act);
    }
    let tool = string(item.name).unwrap_or_default();
    if let Some(input) = string(item.input) {
        let act = match patch::files(&input) {
            files if files.is_empty() => Act::Other(call_line(&input)),
            files => Act::Edit(files),
        };
        return (tool, act);
    }
    let arguments = string(item.arguments).unwrap_or_default();
    let read = object_of::<Arguments<'_>>(&arguments);
    let command = read.as_ref().and_then(|read| {
        command_of(read.command)
            .or_else(|| filled(read.cmd))
            .or_else(|| filled(read.input).filter(|_| tool == "apply_patch"))
    });
    let act = match command {
        Some(command) => in_shell(command),
        None => Act::Other(call_line(&arguments)),
    };
    (tool, act)
}

/// A command, or the patch that it applies.
fn in_shell(command: String) -> Act {
    if command.contains("*** Begin Patch") {
        let files = patch::files(&command);
        if !files.is_empty() {
            return Act::Edit(files);
        }
    }
    Act::Command(command)
}

/// A command: one string, or its words.
fn command_of(field: Field<'_>) -> Option<String> {
    if let Some(command) = filled(field) {
        return Some(command);
    }
    let mut words = Vec::new();
    each(field, &mut |raw| words.extend(string(Some(raw))));
    commands::of_words(&words)
}

/// Whether a call failed, and what it printed.
fn answered(output: Field<'_>) -> (Failed, String) {
    let text = match string(output) {
        Some(text) => text,
        None => match object::<Answer<'_>>(output) {
            Some(answer) => return by_object(&answer),
            None => texts(output, &["input_text", "output_text", "text"]),
        },
    };
    if let Some(answer) = object_of::<Answer<'_>>(&text)
        && (answer.output.is_some() || answer.metadata.is_some())
    {
        return by_object(&answer);
    }
    // What the sandbox did not let it do is asked again, and says nothing of the command.
    let stopped = ["aborted", "exec command rejected", "failed in sandbox"];
    let failed = match exit_code(&text) {
        Some(code) if code != 0 => Failed::Yes,
        _ if stopped.iter().any(|start| text.starts_with(start)) => Failed::Stopped,
        _ if text.starts_with("failed") || text.starts_with("execution error") => Failed::Yes,
        Some(_) | None => Failed::No,
    };
    // Newer versions put a few lines before the output.
    let said = match text.split_once("\nOutput:\n") {
        Some((lead, said)) if lead.len() < 400 => said.to_owned(),
        _ => text,
    };
    (failed, said)
}

fn by_object(answer: &Answer<'_>) -> (Failed, String) {
    let metadata = object::<Metadata<'_>>(answer.metadata);
    let code = metadata.and_then(|metadata| integer(metadata.exit_code));
    let says_no = answer.success.is_some_and(|raw| raw.get() == "false");
    let failed = match says_no || code.is_some_and(|code| code != 0) {
        true => Failed::Yes,
        false => Failed::No,
    };
    let kinds = ["input_text", "output_text", "text"];
    let said = [answer.output, answer.content]
        .into_iter()
        .find(Option::is_some);
    (failed, texts(said.flatten(), &kinds))
}

/// The exit code that one of the first lines says.
fn exit_code(text: &str) -> Option<i64> {
    let marks = ["Exit code: ", "Process exited with code "];
    text.lines().take(6).find_map(|line| {
        let code = marks.iter().find_map(|mark| line.strip_prefix(mark))?;
        code.trim().parse().ok()
    })
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
