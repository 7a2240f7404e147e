//! First pass over a transcript of Claude Code.

use super::conversation_tree::{ConversationTree, LineRole};
use super::line_fields::{ClaudeLine, ClaudeMessage, ContentBlock};
use super::queued_prompts::PromptQueue;
use super::task_list::TaskChanges;
use super::{Claude, attached_prompt};
use crate::json_fields::{
    Field, as_keyword, as_object, for_each_element, joined_texts, parse_object,
};
use crate::transcripts::transcript_format::{EventReader, LineScan};

/// Scan for abandoned branches, queued prompts and the task list.
#[derive(Debug, Default)]
pub(super) struct ClaudeLineScan {
    tree: ConversationTree,
    queue: PromptQueue,
    tasks: TaskChanges,
    /// True if a line changes the queue or the task list, whose state earlier lines determine.
    continues_state: bool,
}

impl LineScan for ClaudeLineScan {
    fn read_line_before(&mut self, at: u64, text: &str) {
        if let Ok(line) = parse_object::<ClaudeLine<'_>>(text) {
            let name = as_keyword(line.uuid);
            if !name.is_empty() {
                // Its own parent is an earlier line too: a second one means that a person went back.
                let parent = Some("").filter(|_| line.parent.is_some());
                self.tree.add(at, name, parent, "", LineRole::Other);
            }
        }
    }

    fn read_line(&mut self, at: u64, text: &str) {
        let Ok(line) = parse_object::<ClaudeLine<'_>>(text) else {
            return;
        };
        let kind = as_keyword(line.kind);
        match kind {
            "queue-operation" => {
                self.continues_state = true;
                self.queue.read_line(at, text);
            }
            "attachment" => {
                if let Some((prompt, _)) = attached_prompt(line.attachment) {
                    self.continues_state = true;
                    self.queue.add_prompt(at, &prompt);
                }
            }
            _ => {}
        }
        let name = as_keyword(line.uuid);
        if name.is_empty() {
            return;
        }
        let part = match kind {
            "assistant" => LineRole::Message,
            "user" if line.message.is_some_and(has_result) => LineRole::Result,
            "user" => LineRole::Message,
            _ => LineRole::Other,
        };
        let answer = match kind {
            "assistant" => {
                self.read_task_calls(line.message);
                as_object::<ClaudeMessage<'_>>(line.message).map_or("", |m| as_keyword(m.id))
            }
            _ => "",
        };
        match (kind, part) {
            ("user", LineRole::Result) => self.read_task_results(line.message),
            ("user", _) if self.queue.is_used() => {
                let message = as_object::<ClaudeMessage<'_>>(line.message);
                let text = message.map(|message| joined_texts(message.content, &["text"]));
                self.queue.add_prompt(at, &text.unwrap_or_default());
            }
            _ => {}
        }
        let parent = line.parent.or(line.logical_parent);
        let parent = Some(as_keyword(parent)).filter(|parent| !parent.is_empty());
        self.tree.add(at, name, parent, answer, part);
    }

    fn needs_earlier_lines(&self) -> bool {
        self.continues_state || self.tree.orphans() > 1
    }

    fn finish(self: Box<Self>) -> (Vec<u64>, Box<dyn EventReader>) {
        let reader = Claude {
            queued: self.queue.into_delivered(),
            tasks: self.tasks.into_list(),
            ..Claude::default()
        };
        (self.tree.superseded_lines(), Box::new(reader))
    }
}

impl ClaudeLineScan {
    /// Collects the calls that change the task list.
    fn read_task_calls(&mut self, message: Field<'_>) {
        if !message.is_some_and(|raw| TaskChanges::may_call(raw.get())) {
            return;
        }
        self.continues_state = true;
        each_block(message, &mut |block| {
            let tool = as_keyword(block.name);
            if as_keyword(block.kind) == "tool_use" && TaskChanges::has_tool(tool) {
                self.tasks.add_call(as_keyword(block.id), tool, block.input);
            }
        });
    }

    /// Collects the numbers of new tasks.
    fn read_task_results(&mut self, message: Field<'_>) {
        if !message.is_some_and(|raw| self.tasks.may_number(raw.get())) {
            return;
        }
        each_block(message, &mut |block| {
            if as_keyword(block.kind) == "tool_result" {
                let text = joined_texts(block.content, &["text"]);
                self.tasks.add_result(as_keyword(block.tool_use_id), &text);
            }
        });
    }
}

/// Calls `on` with each block of a message.
fn each_block<'a>(message: Field<'a>, on: &mut dyn FnMut(ContentBlock<'a>)) {
    let content = as_object::<ClaudeMessage<'_>>(message).and_then(|message| message.content);
    for_each_element(content, &mut |raw| {
        if let Some(block) = as_object::<ContentBlock<'_>>(Some(raw)) {
            on(block);
        }
    });
}

fn has_result(message: &serde_json::value::RawValue) -> bool {
    memchr::memmem::find(message.get().as_bytes(), b"\"tool_result\"").is_some()
}
