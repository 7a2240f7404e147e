//! The agent programs whose hooks are known, and how each spells its events.

/// An agent program with hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Host {
    /// Claude Code.
    ClaudeCode,
    /// Codex CLI.
    Codex,
    /// Gemini CLI.
    Gemini,
}

/// What happens in a session, whatever the program calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Moment {
    /// A session begins, goes on, or begins anew behind a compaction.
    SessionStarts,
    /// A prompt was sent.
    Prompt,
    /// A tool is about to be used.
    BeforeTool,
    /// A tool was used.
    AfterTool,
    /// A tool was used and failed.
    ToolFailed,
    /// The conversation is about to be compacted.
    BeforeCompaction,
    /// A turn ends.
    TurnEnds,
    /// A subagent begins.
    SubagentStarts,
    /// A subagent ends.
    SubagentEnds,
    /// The session ends.
    SessionEnds,
}

/// One event that an installation asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// Its name, as the program spells it.
    pub event: &'static str,
    /// What it is.
    pub moment: Moment,
    /// Whether an answer may put text before the model.
    pub hears: bool,
    /// The tools that it is asked for; none = all.
    pub matcher: Option<&'static str>,
    /// After which time the program gives up, in its own unit.
    pub timeout: u32,
}

const fn wanted(event: &'static str, moment: Moment, hears: bool, timeout: u32) -> Wanted {
    Wanted {
        event,
        moment,
        hears,
        matcher: None,
        timeout,
    }
}

const fn for_tools(wanted: Wanted, matcher: &'static str) -> Wanted {
    Wanted {
        matcher: Some(matcher),
        ..wanted
    }
}

/// What changes files or runs commands in Claude Code.
const CLAUDE_TOOLS: &str = "Bash|Edit|MultiEdit|Write|NotebookEdit";
/// The same in Codex, where `Edit` and `Write` stand for `apply_patch`.
const CODEX_TOOLS: &str = "Bash|apply_patch";

use Moment::{
    AfterTool, BeforeCompaction, BeforeTool, Prompt, SessionEnds, SessionStarts, SubagentEnds,
    SubagentStarts, ToolFailed, TurnEnds,
};

const CLAUDE: &[Wanted] = &[
    wanted("SessionStart", SessionStarts, true, 10),
    wanted("UserPromptSubmit", Prompt, true, 10),
    for_tools(wanted("PreToolUse", BeforeTool, true, 10), CLAUDE_TOOLS),
    wanted("PostToolUse", AfterTool, true, 10),
    wanted("PostToolUseFailure", ToolFailed, true, 10),
    wanted("PreCompact", BeforeCompaction, false, 10),
    wanted("Stop", TurnEnds, false, 10),
    wanted("SubagentStart", SubagentStarts, true, 10),
    wanted("SubagentStop", SubagentEnds, false, 10),
    wanted("SessionEnd", SessionEnds, false, 10),
];

const CODEX: &[Wanted] = &[
    wanted("SessionStart", SessionStarts, true, 10),
    wanted("UserPromptSubmit", Prompt, true, 10),
    for_tools(wanted("PreToolUse", BeforeTool, true, 10), CODEX_TOOLS),
    wanted("PostToolUse", AfterTool, true, 10),
    wanted("PreCompact", BeforeCompaction, false, 10),
    wanted("Stop", TurnEnds, false, 10),
    wanted("SubagentStart", SubagentStarts, true, 10),
    wanted("SubagentStop", SubagentEnds, false, 10),
    wanted("SessionEnd", SessionEnds, false, 3),
];

const GEMINI: &[Wanted] = &[
    wanted("SessionStart", SessionStarts, true, 10_000),
    wanted("BeforeAgent", Prompt, true, 10_000),
    wanted("AfterTool", AfterTool, true, 10_000),
    wanted("PreCompress", BeforeCompaction, false, 10_000),
    wanted("AfterAgent", TurnEnds, false, 10_000),
    wanted("SessionEnd", SessionEnds, false, 10_000),
];

impl Host {
    /// Every program.
    pub const ALL: [Self; 3] = [Self::ClaudeCode, Self::Codex, Self::Gemini];

    /// The program of this name, as `heirloom install` takes it.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|host| host.as_str() == name)
    }

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
        }
    }

    /// The events that an installation asks for. The rest is not worth a process.
    pub fn wanted(self) -> &'static [Wanted] {
        match self {
            Self::ClaudeCode => CLAUDE,
            Self::Codex => CODEX,
            Self::Gemini => GEMINI,
        }
    }

    /// What is known of the event of this name; `None` if it is not asked for.
    pub fn event(self, name: &str) -> Option<&'static Wanted> {
        self.wanted().iter().find(|wanted| wanted.event == name)
    }

    /// The command that an installation writes. Programs trust it by its text: it never changes.
    pub fn command(self, event: &str) -> String {
        format!("heirloom hook {} {event}", self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_stable_and_events_are_known_by_their_own_names() {
        assert_eq!(
            Host::ClaudeCode.command("SessionStart"),
            "heirloom hook claude-code SessionStart"
        );
        for host in Host::ALL {
            assert_eq!(Host::named(host.as_str()), Some(host));
            for wanted in host.wanted() {
                assert_eq!(host.event(wanted.event), Some(wanted));
            }
        }
        assert_eq!(Host::Gemini.event("Stop"), None);
        assert_eq!(Host::named("cursor"), None);
    }

    #[test]
    fn nothing_is_said_when_a_turn_ends() {
        for host in Host::ALL {
            for wanted in host.wanted() {
                if matches!(
                    wanted.moment,
                    TurnEnds | SubagentEnds | BeforeCompaction | SessionEnds
                ) {
                    assert!(!wanted.hears, "{wanted:?}");
                }
            }
        }
    }
}
