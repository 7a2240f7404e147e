//! Question that a context answers.

use super::WorthBuilder;
use crate::engine::context::ContextRequest;
use heirloom_model::context::MemoryView;
use heirloom_model::{ErrorKind, Fault, Role, limits, text};

/// Question of a context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ContextQuestion {
    /// Its text.
    pub(super) text: String,
    /// True for the question of the request; false for one that is derived from the task or the session.
    pub(super) is_explicit: bool,
}

impl WorthBuilder<'_> {
    /// Returns the question of a context: the query, otherwise the task's pending steps and open errors, otherwise
    /// the last message of the user in the session. `None` without any of them.
    pub(super) fn question(
        &self,
        request: &ContextRequest,
        view: &MemoryView,
    ) -> Result<Option<ContextQuestion>, Fault> {
        if let Some(query) = request.query.as_deref().filter(|query| has_words(query)) {
            return Ok(Some(ContextQuestion {
                text: beginning(query).to_owned(),
                is_explicit: true,
            }));
        }
        let of_task = task_words(view);
        let words = match has_words(&of_task) {
            true => Some(of_task),
            false => self.last_user_message(request)?,
        };
        Ok(words
            .filter(|words| has_words(words))
            .map(|words| ContextQuestion {
                text: beginning(&words).to_owned(),
                is_explicit: false,
            }))
    }

    fn last_user_message(&self, request: &ContextRequest) -> Result<Option<String>, Fault> {
        let Some(session) = &request.session else {
            return Ok(None);
        };
        let turns = match self.engine.sessions().recent_turns(session) {
            Err(fault) if fault.kind == ErrorKind::NotFound => return Ok(None),
            turns => turns?,
        };
        let last = turns.into_iter().rev().find(|turn| turn.role == Role::User);
        Ok(last.map(|turn| turn.text))
    }
}

/// Returns the pending steps, the reason of a blockage and the open errors of the task, one line each. A title such as
/// `Issue #7` has no words of its own.
fn task_words(view: &MemoryView) -> String {
    let mut words: Vec<&str> = Vec::new();
    if let Some(task) = &view.task {
        words.extend(task.blocked_reason.as_deref());
        words.extend(task.pending.iter().map(|step| step.text.as_str()));
        words.extend(view.errors.iter().rev().map(|error| error.text.as_str()));
    }
    let mut joined = String::new();
    for word in words {
        let left = limits::CONTEXT_QUESTION_BYTES_MAX.saturating_sub(joined.len());
        if left <= word.len() {
            joined.push_str(text::clip(word, left / 4));
            break;
        }
        joined.push_str(word);
        joined.push('\n');
    }
    joined
}

/// Returns the beginning of a text: it has the question, pasted text follows.
fn beginning(words: &str) -> &str {
    let mut end = words.len().min(limits::HOOK_QUESTION_BYTES_MAX);
    while !words.is_char_boundary(end) {
        end -= 1;
    }
    words.get(..end).unwrap_or_default()
}

fn has_words(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}
