//! Conversations that agent programs have written down: bytes of their files in, what was said and done out.
//!
//! A file is read twice, line by line: a [`Survey`] finds the lines of branches that somebody went back from, a
//! [`Reader`] tells the rest. Unknown lines and fields are passed over; no input is an error.

mod aider;
mod claude;
mod codex;
mod commands;
mod gemini;
mod json;
mod lines;
mod own;
mod patch;
mod preview;
mod reader;
mod tree;

pub use commands::is_look;
pub use lines::{Line, Lines};
pub use own::without_own;
pub use preview::{call_line, preview};
pub use reader::{Head, HeadReader, Reader, Survey};

use heirloom_model::Timestamp;
use heirloom_model::stream::Usage;
use std::fmt;
use std::str::FromStr;

/// An agent program whose transcripts are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Agent {
    /// Claude Code: `projects/<folder>/<session>.jsonl`.
    Claude,
    /// Codex: `sessions/YYYY/MM/DD/rollout-*.jsonl`.
    Codex,
    /// Gemini CLI: `tmp/<project>/chats/session-*.jsonl`, `.json` of older versions.
    Gemini,
    /// Aider: `.aider.chat.history.md`.
    Aider,
}

impl Agent {
    /// Every agent.
    pub const ALL: [Self; 4] = [Self::Claude, Self::Codex, Self::Gemini, Self::Aider];

    /// Its name as the source of records and the agent of sessions.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Claude => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Aider => "aider",
        }
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A word that names no agent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no agent whose transcripts are read: expected claude-code, codex, gemini or aider"
)]
pub struct BadAgent(pub String);

impl FromStr for Agent {
    type Err = BadAgent;

    fn from_str(word: &str) -> Result<Self, BadAgent> {
        let word = if word == "claude" {
            "claude-code"
        } else {
            word
        };
        let found = Self::ALL.into_iter().find(|one| one.as_str() == word);
        found.ok_or_else(|| BadAgent(heirloom_model::text::excerpt(word, 60)))
    }
}

/// One thing that a transcript tells.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    /// What names it, the same whenever the file is read, and in a copy of the conversation where the program copies
    /// its own names.
    pub id: String,
    /// When it happened, if the line says so.
    pub at: Option<Timestamp>,
    /// The subagent that said or did it; `None` for the main one.
    pub agent: Option<String>,
    /// The conversation that begins here, where one file holds several.
    pub event: Event,
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// Another conversation begins in the same file.
    Begins(String),
    /// A person's words, or those of the agent that started a subagent.
    Prompt(String),
    /// The model's own words.
    Said(String),
    /// What a program made of the conversation before it went on with less.
    Summary(String),
    /// The model calls a tool.
    Call {
        /// What ties it to its result.
        call: String,
        /// The tool.
        tool: String,
        /// What it is to do.
        act: Act,
    },
    /// A tool answered.
    Result {
        /// What ties it to its call.
        call: String,
        /// Whether it failed, as far as the program says.
        failed: Failed,
        /// What it answered.
        text: String,
    },
    /// A file was changed without a call that is told.
    Changed(String),
    /// Tokens of one answer.
    Used(Usage),
}

/// What a tool is called for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// To run this command.
    Command(String),
    /// To change these files.
    Edit(Vec<String>),
    /// Something else, as its input says on one line.
    Other(String),
}

/// How a tool's answer is to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failed {
    /// It did what it was to do.
    No,
    /// It failed.
    Yes,
    /// It was not let do it, or was stopped: that says nothing of the command.
    Stopped,
}

/// Where the reader's answers go.
pub(crate) type Out<'o> = &'o mut dyn FnMut(Told);
