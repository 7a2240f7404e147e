//! What we put into a window, and how it is known again when it comes back.

use crate::message::{Own, Role};

/// How every anchor begins.
pub const ANCHOR_MARK: &str = "[TASK ANCHOR — Reminder] ";
/// How every summary begins.
pub const SUMMARY_MARK: &str = "[CONVERSATION SUMMARY — Heirloom]";
/// How every stale output begins.
pub const STALE_MARK: &str = "[Stale output from ";
/// How the last line of every shortened output begins.
pub const OVERFLOW_MARK: &str = "\n[full output: overflow/";

/// What a message of that role is, if it is ours: a tool's output never is, whatever it says.
pub(crate) fn message(role: Role, text: &str) -> Option<Own> {
    match role {
        Role::System | Role::User if text.starts_with(ANCHOR_MARK) => Some(Own::Anchor),
        Role::System | Role::User if text.starts_with(SUMMARY_MARK) => Some(Own::Summary),
        Role::System | Role::User | Role::Assistant | Role::Tool => None,
    }
}

/// Whether a tool's output is one that we shortened at entry.
pub(crate) fn is_overflow(text: &str) -> bool {
    text.ends_with(']')
        && text
            .rfind(OVERFLOW_MARK)
            .is_some_and(|at| !text[at + 1..].contains('\n'))
}

/// Whether a tool's output is one that we made stale.
pub(crate) fn is_stale(text: &str) -> bool {
    text.starts_with(STALE_MARK)
}

/// How texts begin that programs put in a person's place.
const INJECTED: [&str; 11] = [
    "<system-reminder",
    "<command-",
    "<local-command-",
    "<task-notification",
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "Caveat:",
    "[Request interrupted",
    "This session is being continued",
    "[TASK ANCHOR",
];

/// Whether a program, not a person, wrote a user message.
pub(crate) fn is_injected(text: &str) -> bool {
    let text = text.trim_start();
    INJECTED.iter().any(|prefix| text.starts_with(prefix)) || text.starts_with(SUMMARY_MARK)
}
