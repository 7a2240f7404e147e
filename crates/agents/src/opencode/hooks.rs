//! Hooks of opencode: events that the plugin passes on, named as in opencode where it has a name.
//!
//! `tool.execute.before` is not subscribed, because its answer could only stop the tool.

use crate::hooks::HookEventKind::{
    AfterTool, BeforeCompaction, Prompt, SessionEnd, SessionStart, SubagentEnd, SubagentStart,
    ToolFailed, TurnEnd,
};
use crate::hooks::protocol::{HookProtocol, HookSpec, spec};

/// Hook events and answers. Conversations are in a database; messages arrive with events.
pub(crate) const HOOKS: HookProtocol = HookProtocol {
    replace_output: Some(|output, answer| {
        answer.set_specific("updatedToolOutput", output.clone());
    }),
    ..HookProtocol::new(SPECS)
};

const SPECS: &[HookSpec] = &[
    spec("session.created", SessionStart, true, 10),
    spec("chat.message", Prompt, true, 10),
    spec("tool.execute.after", AfterTool, true, 10),
    spec("tool.execute.error", ToolFailed, false, 10),
    spec(
        "experimental.session.compacting",
        BeforeCompaction,
        false,
        10,
    ),
    spec("session.idle", TurnEnd, false, 10),
    spec("subagent.created", SubagentStart, true, 10),
    spec("subagent.idle", SubagentEnd, false, 10),
    spec("dispose", SessionEnd, false, 10),
];
