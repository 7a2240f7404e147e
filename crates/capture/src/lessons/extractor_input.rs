//! Input of the extractor: events of a conversation, shortened and redacted.

use crate::failures::shortened;
use heirloom_agents::AgentProgram;
use heirloom_agents::transcripts::{
    EventBody, FileEdit, PlanItem, ToolAction, TranscriptEvent, without_injected_text,
};
use heirloom_engine::Engine;
use heirloom_model::limits::{LESSON_SUMMARY_CHARS_MAX, LESSON_TEXT_CHARS_MAX};
use heirloom_model::text;
use std::borrow::Cow;

/// Longest id of a call and name of a tool, bytes; a longer one is hashed.
const NAME_BYTES_MAX: usize = 100;

/// Returns an event as the extractor reads it: without what Heirloom injected and what the program adds, shortened, and
/// redacted. `None` for an event that teaches nothing.
pub(crate) fn extractor_input(
    engine: &Engine,
    program: AgentProgram,
    event: &TranscriptEvent,
) -> Option<TranscriptEvent> {
    let redact = |text: &str| engine.redaction().redact_input(text).into_owned();
    let shorten = |text: &str| shortened(engine, text, LESSON_TEXT_CHARS_MAX);
    let body = match &event.body {
        EventBody::Prompt(text) => EventBody::Prompt(shorten(without_injected_text(text).trim())),
        EventBody::AbandonedPrompt(text) => {
            EventBody::AbandonedPrompt(shorten(without_injected_text(text).trim()))
        }
        EventBody::AssistantText(text) => {
            EventBody::AssistantText(shorten(without_injected_text(text).trim()))
        }
        EventBody::Summary(text) => {
            let text = without_injected_text(text);
            EventBody::Summary(shortened(engine, text.trim(), LESSON_SUMMARY_CHARS_MAX))
        }
        EventBody::Call { call, tool, action } => EventBody::Call {
            call: bounded_name(call).into_owned(),
            tool: bounded_name(tool).into_owned(),
            action: match action {
                ToolAction::Command(command) => ToolAction::Command(shorten(command)),
                ToolAction::Edit(edits) => {
                    let edit = |edit: &FileEdit| FileEdit {
                        path: redact(&edit.path),
                        removed: redact(&edit.removed),
                        added: redact(&edit.added),
                    };
                    ToolAction::Edit(edits.iter().map(edit).collect())
                }
                ToolAction::Plan(items) => {
                    let item = |item: &PlanItem| PlanItem {
                        text: redact(&item.text),
                        is_done: item.is_done,
                    };
                    ToolAction::Plan(items.iter().map(item).collect())
                }
                ToolAction::Other(input) => ToolAction::Other(redact(input)),
            },
        },
        EventBody::Result {
            call,
            outcome,
            text,
        } => {
            let text = program.clean_output(text);
            EventBody::Result {
                call: bounded_name(call).into_owned(),
                outcome: *outcome,
                text: shorten(without_injected_text(&text).trim()),
            }
        }
        EventBody::FileChanged(file) => EventBody::FileChanged(redact(file)),
        EventBody::ConversationStart(_) | EventBody::TokenUsage(_) => return None,
    };
    Some(TranscriptEvent {
        id: event.id.clone(),
        at: event.at,
        agent: event.agent.clone(),
        author: event.author,
        body,
    })
}

/// Returns a name of bounded length.
pub(crate) fn bounded_name(name: &str) -> Cow<'_, str> {
    match name.len() <= NAME_BYTES_MAX {
        true => Cow::Borrowed(name),
        false => Cow::Owned(text::hash16(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn engine() -> Engine {
        let store = std::sync::Arc::new(heirloom_store::SqliteStore::memory().unwrap());
        let name = heirloom_model::ProjectName::new("p").unwrap();
        let root = std::path::PathBuf::from("/dev/null/no-files");
        let place = heirloom_fs::project_fs::ProjectPaths {
            config: root.join("config.toml"),
            folder: root.clone(),
            root,
        };
        let settings = heirloom_model::Settings::default();
        let clock = std::sync::Arc::new(heirloom_model::FixedClock(
            heirloom_model::Timestamp::UNIX_EPOCH,
        ));
        Engine::new(store, name, place, settings, clock).unwrap()
    }

    /// Returns the length of a text of `given` characters as the extractor reads it.
    fn read_chars(given: usize, body: fn(String) -> EventBody) -> usize {
        let engine = engine();
        let event = TranscriptEvent {
            id: "1".to_owned(),
            at: None,
            agent: None,
            author: Default::default(),
            body: body("word ".repeat(given / 5)),
        };
        let read = extractor_input(&engine, AgentProgram::ClaudeCode, &event).unwrap();
        let (EventBody::AssistantText(text) | EventBody::Summary(text)) = read.body else {
            panic!("{read:?}");
        };
        text.chars().count()
    }

    #[test]
    fn long_texts_are_shortened() {
        let (text, summary) = (LESSON_TEXT_CHARS_MAX, LESSON_SUMMARY_CHARS_MAX);
        assert_eq!(read_chars(text, EventBody::AssistantText), text - 1);
        assert!(read_chars(text * 2, EventBody::AssistantText) < text + 100);
        assert_eq!(read_chars(summary, EventBody::Summary), summary - 1);
        assert!(read_chars(summary * 2, EventBody::Summary) < summary + 100);
    }
}
