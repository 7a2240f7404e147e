//! Instructions of Heirloom to agents: how a lesson is left for later sessions, and what is worth one.

use super::envelope::{GUIDE_CHARS, wrap_guide};
use heirloom_model::{limits, text};

/// Way in which an agent can leave a lesson.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LessonChannel<'a> {
    /// A line of its own with this prefix in the agent's own text.
    Signal(&'a str),
    /// The tool `remember` of the MCP server with this name.
    McpServer(&'a str),
}

/// Longest name of a prefix or a server that the instructions mention.
const NAME_CHARS_MAX: usize = 20;
/// Length of an instruction without its tags, characters.
const BODY_CHARS_MAX: usize =
    limits::HOOK_TEACHING_TOKENS_MAX * limits::CHARS_PER_TOKEN - GUIDE_CHARS;

impl LessonChannel<'_> {
    /// Returns the words that name the way.
    fn instruction(self) -> String {
        match self {
            Self::Signal(prefix) => {
                format!("write a line of its own in your answer: `{prefix}: LEARNING the lesson`")
            }
            Self::McpServer(name) => {
                format!("call the tool `remember` of the MCP server `{name}`")
            }
        }
    }

    fn has_short_name(self) -> bool {
        let (Self::Signal(name) | Self::McpServer(name)) = self;
        text::chars(name) <= NAME_CHARS_MAX
    }
}

/// Returns the paragraph that ends the first context of a session, in its tags, of at most
/// [`limits::HOOK_TEACHING_TOKENS_MAX`] tokens. Empty if the name of the channel is too long.
pub fn teaching_paragraph(channel: LessonChannel<'_>) -> String {
    if !channel.has_short_name() {
        return String::new();
    }
    let body = format!(
        "To leave a lesson (a fix that took several tries, a person's rule, a trap) for later sessions, {}.",
        channel.instruction()
    );
    debug_assert!(text::chars(&body) <= BODY_CHARS_MAX, "{body}");
    wrap_guide(&body)
}

/// Returns the request at the end of a turn in which no lesson was left.
pub fn lesson_request(channel: LessonChannel<'_>) -> String {
    if !channel.has_short_name() {
        return String::new();
    }
    wrap_guide(&format!(
        "Did this work teach something that a later session would need: a fix that took several tries, a person's \
         rule, a trap of this project? If so, {}; at most three. If not, end the turn without comment.",
        channel.instruction()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn teaching_paragraph_has_at_most_sixty_tokens() {
        let longest = "x".repeat(NAME_CHARS_MAX);
        for channel in [
            LessonChannel::Signal("HEIRLOOM_MEMORY"),
            LessonChannel::McpServer("heirloom"),
            LessonChannel::Signal(&longest),
            LessonChannel::McpServer(&longest),
        ] {
            let paragraph = teaching_paragraph(channel);
            let tokens = text::tokens(&paragraph);
            assert!(
                tokens <= limits::HOOK_TEACHING_TOKENS_MAX,
                "{tokens}: {paragraph}"
            );
            assert!(paragraph.contains("lesson") && paragraph.contains("a person's rule"));
            assert!(!lesson_request(channel).is_empty());
        }
        let over = format!("{longest}x");
        assert_eq!(teaching_paragraph(LessonChannel::Signal(&over)), "");
        assert_eq!(lesson_request(LessonChannel::McpServer(&over)), "");
    }

    #[test]
    fn instructions_name_the_channel() {
        let signal = teaching_paragraph(LessonChannel::Signal("HEIRLOOM_MEMORY"));
        assert!(
            signal.contains("`HEIRLOOM_MEMORY: LEARNING the lesson`"),
            "{signal}"
        );
        // No line of it is a signal, even if an agent repeats it.
        assert!(
            !signal
                .lines()
                .any(|line| line.starts_with("HEIRLOOM_MEMORY"))
        );
        let tool = lesson_request(LessonChannel::McpServer("memory"));
        assert!(
            tool.contains("`remember` of the MCP server `memory`"),
            "{tool}"
        );
    }
}
