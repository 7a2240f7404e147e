//! Claude Code `--output-format stream-json`.

use super::dialect::{Dialect, Out, SessionName, Spoken, sum, tool_call};
use super::json::{Field, count, each, is_true, object, object_of, string, word};
use heirloom_model::stream::{StreamEvent, Usage};
use serde::Deserialize;
use std::collections::VecDeque;

/// Messages whose usage may still be reported again: lines of parallel subagents alternate.
const MESSAGES_OPEN_MAX: usize = 64;

/// The model of messages that the program writes itself, such as `API Error: 400`.
const NO_MODEL: &str = "<synthetic>";

/// The state of one stream.
#[derive(Debug, Default)]
pub(super) struct Claude {
    session: SessionName,
    spoken: Spoken,
    /// The newest usage of each message that may still come again.
    open: VecDeque<(String, Usage)>,
    /// The usage of the messages before those.
    closed: Usage,
    told: Usage,
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    subtype: Field<'a>,
    #[serde(borrow)]
    session_id: Field<'a>,
    #[serde(borrow)]
    message: Field<'a>,
    #[serde(borrow)]
    parent_tool_use_id: Field<'a>,
    #[serde(borrow)]
    result: Field<'a>,
    #[serde(borrow)]
    is_error: Field<'a>,
    #[serde(borrow)]
    errors: Field<'a>,
    #[serde(borrow)]
    usage: Field<'a>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    model: Field<'a>,
    #[serde(borrow)]
    id: Field<'a>,
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
    name: Field<'a>,
    #[serde(borrow)]
    input: Field<'a>,
    #[serde(borrow)]
    is_error: Field<'a>,
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

impl Dialect for Claude {
    fn line(&mut self, text: &str, number: u64, out: Out<'_>) -> Result<(), serde_json::Error> {
        let line: Line<'_> = object_of(text)?;
        match word(line.kind) {
            "system" => self.session.tell(line.session_id, out),
            "assistant" => {
                self.session.tell(line.session_id, out);
                self.assistant(&line, number, out);
            }
            "user" => {
                self.session.tell(line.session_id, out);
                let message = object::<Message<'_>>(line.message);
                each(message.and_then(|message| message.content), &mut |raw| {
                    if let Some(block) = object::<Block<'_>>(Some(raw))
                        && word(block.kind) == "tool_result"
                    {
                        let failed = is_true(block.is_error);
                        out(StreamEvent::ToolResult { failed });
                    }
                });
            }
            "result" => {
                self.session.tell(line.session_id, out);
                self.result(&line, number, out);
            }
            _ => {}
        }
        Ok(())
    }
}

impl Claude {
    fn assistant(&mut self, line: &Line<'_>, number: u64, out: Out<'_>) {
        let Some(message) = object::<Message<'_>>(line.message) else {
            return;
        };
        if word(message.model) == NO_MODEL {
            return;
        }
        let id = string(message.id).unwrap_or_default();
        let is_subagent = line.parent_tool_use_id.is_some();
        let spoken = &mut self.spoken;
        let mut say = |text: String, out: Out<'_>| {
            // The final text is the main agent's.
            if !is_subagent {
                spoken.said(&id, &text);
            }
            out(StreamEvent::Text { text, line: number });
        };
        if let Some(text) = string(message.content) {
            say(text, out);
        }
        each(message.content, &mut |raw| {
            let Some(block) = object::<Block<'_>>(Some(raw)) else {
                return;
            };
            match word(block.kind) {
                "text" => string(block.text)
                    .into_iter()
                    .for_each(|text| say(text, out)),
                "tool_use" => {
                    let input = block.input.map_or("", |raw| raw.get());
                    out(tool_call(string(block.name).unwrap_or_default(), input));
                }
                _ => {}
            }
        });
        if let Some(usage) = tokens(message.usage) {
            self.count(id, usage, out);
        }
    }

    /// Counts a message's usage: each of its lines repeats it, with the newest numbers.
    fn count(&mut self, id: String, usage: Usage, out: Out<'_>) {
        match self
            .open
            .iter_mut()
            .find(|(known, _)| !id.is_empty() && *known == id)
        {
            Some((_, known)) => *known = usage,
            None => self.open.push_back((id, usage)),
        }
        if self.open.len() > MESSAGES_OPEN_MAX
            && let Some((_, oldest)) = self.open.pop_front()
        {
            self.closed = sum(self.closed, oldest);
        }
        let total = self
            .open
            .iter()
            .fold(self.closed, |total, (_, usage)| sum(total, *usage));
        if total != self.told {
            self.told = total;
            out(StreamEvent::Usage(total));
        }
    }

    fn result(&mut self, line: &Line<'_>, number: u64, out: Out<'_>) {
        // The program's own sum wins over ours, and later messages come on top of it. It is all zero
        // when an answer that broke off was asked for again: then ours is the better one.
        if let Some(usage) = tokens(line.usage).filter(|usage| *usage != Usage::default()) {
            self.open.clear();
            (self.closed, self.told) = (usage, usage);
            out(StreamEvent::Usage(usage));
        }
        let failed = is_true(line.is_error) || word(line.subtype).starts_with("error");
        let text = string(line.result).filter(|text| !text.trim().is_empty());
        if !failed {
            let text = text.and_then(|text| self.spoken.unless_repeated(text));
            if let Some(text) = text {
                out(StreamEvent::Text { text, line: number });
            }
            return out(StreamEvent::Finished { failed });
        }
        // What a failure says is the program's, not the model's.
        text.into_iter()
            .for_each(|text| out(StreamEvent::Error(text)));
        each(line.errors, &mut |raw| {
            let error = string(Some(raw));
            error
                .into_iter()
                .for_each(|error| out(StreamEvent::Error(error)));
        });
        out(StreamEvent::Finished { failed });
    }
}

fn tokens(usage: Field<'_>) -> Option<Usage> {
    let tokens: Tokens<'_> = object(usage)?;
    Some(Usage {
        input: count(tokens.input_tokens).saturating_add(count(tokens.cache_creation_input_tokens)),
        cached: count(tokens.cache_read_input_tokens),
        output: count(tokens.output_tokens),
    })
}
