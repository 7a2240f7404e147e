//! Claude Code.
//!
//! One answer is several lines with one `message.id`; answers of tools are lines of the user.

use super::json::{
    Field, count, each, filled, is_true, object, object_of, string, texts, time, word,
};
use super::reader::Head;
use super::tree::{Part, Tree};
use super::{Act, Event, Failed, Out, Told, call_line};
use heirloom_model::Timestamp;
use heirloom_model::stream::Usage;
use serde::Deserialize;

/// The model of messages that the program writes itself, such as `API Error: 400`.
const NO_MODEL: &str = "<synthetic>";

/// How texts begin that stand in a person's place and are none of theirs.
const INJECTED: [&str; 8] = [
    "<command-",
    "<local-command-",
    "<system-reminder>",
    "<task-notification>",
    "Caveat:",
    "[Request interrupted",
    "<bash-",
    "<user-memory-input>",
];

/// How the answer of a tool begins that was not let do what it was called for.
const STOPPED: [&str; 4] = [
    "The user doesn't want to proceed",
    "[Request interrupted",
    "<tool_use_error>",
    "Permission to use",
];

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    uuid: Field<'a>,
    #[serde(borrow, rename = "parentUuid")]
    parent: Field<'a>,
    #[serde(borrow, rename = "logicalParentUuid")]
    logical_parent: Field<'a>,
    #[serde(borrow, rename = "sessionId")]
    session: Field<'a>,
    #[serde(borrow, rename = "agentId")]
    agent: Field<'a>,
    #[serde(borrow, rename = "isSidechain")]
    aside: Field<'a>,
    #[serde(borrow, rename = "isMeta")]
    meta: Field<'a>,
    #[serde(borrow, rename = "isCompactSummary")]
    summary: Field<'a>,
    #[serde(borrow, rename = "isApiErrorMessage")]
    api_error: Field<'a>,
    #[serde(borrow)]
    cwd: Field<'a>,
    #[serde(borrow)]
    timestamp: Field<'a>,
    #[serde(borrow)]
    message: Field<'a>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    model: Field<'a>,
    #[serde(borrow)]
    content: Field<'a>,
    #[serde(borrow)]
    usage: Field<'a>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    text: Field<'a>,
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    name: Field<'a>,
    #[serde(borrow)]
    input: Field<'a>,
    #[serde(borrow)]
    tool_use_id: Field<'a>,
    #[serde(borrow)]
    content: Field<'a>,
    #[serde(borrow)]
    is_error: Field<'a>,
}

#[derive(Deserialize)]
struct Input<'a> {
    #[serde(borrow)]
    command: Field<'a>,
    #[serde(borrow)]
    file_path: Field<'a>,
    #[serde(borrow)]
    notebook_path: Field<'a>,
}

#[derive(Deserialize)]
struct Tokens<'a> {
    #[serde(borrow)]
    input_tokens: Field<'a>,
    #[serde(borrow)]
    cache_creation_input_tokens: Field<'a>,
    #[serde(borrow)]
    cache_read_input_tokens: Field<'a>,
    #[serde(borrow)]
    output_tokens: Field<'a>,
}

/// What a line says of its conversation; whether that is all there is to know.
pub(super) fn head(text: &str, head: &mut Head) -> bool {
    let Some(line) = object_of::<Line<'_>>(text) else {
        return false;
    };
    let is_talk = matches!(word(line.kind), "user" | "assistant" | "system");
    if !is_talk || line.session.is_none() {
        return false;
    }
    head.session = head.session.take().or_else(|| filled(line.session));
    head.folder = head.folder.take().or_else(|| filled(line.cwd));
    head.agent = head.agent.take().or_else(|| filled(line.agent));
    head.began = head.began.or_else(|| time(line.timestamp));
    head.folder.is_some() && head.began.is_some()
}

/// Finds the branches that somebody went back from.
#[derive(Debug, Default)]
pub(super) struct Survey {
    tree: Tree,
}

impl Survey {
    pub(super) fn line(&mut self, at: u64, text: &str) {
        let Some(line) = object_of::<Line<'_>>(text) else {
            return;
        };
        let name = word(line.uuid);
        if name.is_empty() {
            return;
        }
        let part = match word(line.kind) {
            "assistant" => Part::Talk,
            "user" if line.message.is_some_and(has_result) => Part::Result,
            "user" => Part::Talk,
            _ => Part::Aside,
        };
        let answer = match word(line.kind) {
            "assistant" => object::<Message<'_>>(line.message).map_or("", |m| word(m.id)),
            _ => "",
        };
        let parent = line.parent.or(line.logical_parent);
        let parent = Some(word(parent)).filter(|parent| !parent.is_empty());
        self.tree.add(at, name, parent, answer, part);
    }

    pub(super) fn dead(&self) -> Vec<u64> {
        self.tree.dead()
    }
}

fn has_result(message: &serde_json::value::RawValue) -> bool {
    memchr::memmem::find(message.get().as_bytes(), b"\"tool_result\"").is_some()
}

/// An answer whose next line may belong to it.
#[derive(Debug)]
struct Answer {
    message: String,
    id: String,
    at: Option<Timestamp>,
    agent: Option<String>,
    text: String,
}

/// Tells what the lines say.
#[derive(Debug, Default)]
pub(super) struct Claude {
    answer: Option<Answer>,
    /// The newest usage of the answer whose lines come.
    usage: Option<(String, Usage)>,
}

/// Where a line stands.
struct Place {
    id: String,
    at: Option<Timestamp>,
    agent: Option<String>,
}

impl Place {
    fn told(&self, id: String, event: Event) -> Told {
        Told {
            id,
            at: self.at,
            agent: self.agent.clone(),
            event,
        }
    }
}

impl Claude {
    pub(super) fn line(&mut self, at: u64, text: &str, out: Out<'_>) -> Option<()> {
        let line: Line<'_> = object_of(text)?;
        let is_answer = match word(line.kind) {
            "assistant" => true,
            "user" => false,
            _ => return Some(()),
        };
        let Some(message) = object::<Message<'_>>(line.message) else {
            return Some(());
        };
        let inline = is_true(line.aside).then(|| "subagent".to_owned());
        let place = Place {
            id: filled(line.uuid).unwrap_or_else(|| at.to_string()),
            at: time(line.timestamp),
            agent: filled(line.agent).or(inline),
        };
        if is_answer {
            if word(message.model) != NO_MODEL && !is_true(line.api_error) {
                self.answer(&place, &message, out);
            }
            return Some(());
        }
        self.flush(out);
        if is_true(line.summary) {
            let said = texts(message.content, &["text"]);
            out(place.told(place.id.clone(), Event::Summary(said)));
        } else if !is_true(line.meta) {
            user(&place, &message, out);
        }
        Some(())
    }

    fn answer(&mut self, place: &Place, message: &Message<'_>, out: Out<'_>) {
        let id = word(message.id);
        if self.answer.as_ref().is_some_and(|held| held.message != id) {
            self.flush(out);
        }
        if let Some(used) = tokens(message.usage) {
            match &mut self.usage {
                Some((known, usage)) if known == id => *usage = used,
                _ => {
                    self.tell_usage(out);
                    self.usage = Some((id.to_owned(), used));
                }
            }
        }
        if let Some(text) = string(message.content) {
            self.say(place, id, &text);
        }
        each(message.content, &mut |raw| {
            let Some(block) = object::<Block<'_>>(Some(raw)) else {
                return;
            };
            match word(block.kind) {
                "text" => {
                    if let Some(text) = string(block.text) {
                        self.say(place, id, &text);
                    }
                }
                "tool_use" => {
                    self.flush_text(out);
                    let call = filled(block.id).unwrap_or_else(|| place.id.clone());
                    let tool = string(block.name).unwrap_or_default();
                    let act = act(&tool, block.input);
                    let name = format!("call {call}");
                    out(place.told(name, Event::Call { call, tool, act }));
                }
                _ => {}
            }
        });
    }

    fn say(&mut self, place: &Place, message: &str, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        match &mut self.answer {
            Some(answer) => {
                answer.text.push('\n');
                answer.text.push_str(text);
            }
            None => {
                self.answer = Some(Answer {
                    message: message.to_owned(),
                    id: place.id.clone(),
                    at: place.at,
                    agent: place.agent.clone(),
                    text: text.to_owned(),
                });
            }
        }
    }

    fn flush_text(&mut self, out: Out<'_>) {
        if let Some(answer) = self.answer.take() {
            out(Told {
                id: answer.id,
                at: answer.at,
                agent: answer.agent,
                event: Event::Said(answer.text),
            });
        }
    }

    fn tell_usage(&mut self, out: Out<'_>) {
        if let Some((message, usage)) = self.usage.take() {
            let event = Event::Used(usage);
            out(super::reader::told(format!("usage {message}"), None, event));
        }
    }

    /// Ends the answer whose lines came.
    pub(super) fn flush(&mut self, out: Out<'_>) {
        self.flush_text(out);
        self.tell_usage(out);
    }
}

fn user(place: &Place, message: &Message<'_>, out: Out<'_>) {
    let mut said = String::new();
    let mut add = |text: &str| {
        if !is_injected(text) {
            if !said.is_empty() {
                said.push('\n');
            }
            said.push_str(text);
        }
    };
    if let Some(text) = string(message.content) {
        add(&text);
    }
    let mut answers = false;
    each(message.content, &mut |raw| {
        let Some(block) = object::<Block<'_>>(Some(raw)) else {
            return;
        };
        match word(block.kind) {
            "text" => {
                if let Some(text) = string(block.text) {
                    add(&text);
                }
            }
            "tool_result" => {
                answers = true;
                let call = string(block.tool_use_id).unwrap_or_default();
                let text = texts(block.content, &["text"]);
                let is_stopped = STOPPED.iter().any(|start| text.starts_with(start));
                let failed = match (is_true(block.is_error), is_stopped) {
                    (_, true) => Failed::Stopped,
                    (true, false) => Failed::Yes,
                    (false, false) => Failed::No,
                };
                let id = format!("result {call}");
                out(place.told(id, Event::Result { call, failed, text }));
            }
            _ => {}
        }
    });
    // Beside answers of tools a person says nothing.
    if !answers && !said.trim().is_empty() {
        out(place.told(place.id.clone(), Event::Prompt(said)));
    }
}

fn is_injected(text: &str) -> bool {
    let text = text.trim_start();
    INJECTED.iter().any(|start| text.starts_with(start))
}

fn act(tool: &str, input: Field<'_>) -> Act {
    let raw = input.map_or("", |raw| raw.get());
    let Some(read) = object::<Input<'_>>(input) else {
        return Act::Other(call_line(raw));
    };
    match tool {
        "Bash" => filled(read.command).map(Act::Command),
        "Edit" | "MultiEdit" | "Write" | "NotebookEdit" => filled(read.file_path)
            .or_else(|| filled(read.notebook_path))
            .map(|path| Act::Edit(vec![path])),
        _ => None,
    }
    .unwrap_or_else(|| Act::Other(call_line(raw)))
}

fn tokens(usage: Field<'_>) -> Option<Usage> {
    let tokens: Tokens<'_> = object(usage)?;
    Some(Usage {
        input: count(tokens.input_tokens) + count(tokens.cache_creation_input_tokens),
        cached: count(tokens.cache_read_input_tokens),
        output: count(tokens.output_tokens),
    })
}
