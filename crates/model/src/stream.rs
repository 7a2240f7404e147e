//! What the output of an agent program says, whatever program it is.

/// The form of an agent's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum StreamFormat {
    /// Plain text or Markdown.
    Text,
    /// Claude Code `--output-format stream-json`, one JSON value a line.
    ClaudeStream,
    /// Codex `exec --json`, one JSON value a line.
    CodexJson,
    /// Gemini CLI `--output-format stream-json`, one JSON value a line.
    GeminiStream,
    /// Decided by the first JSON line of a known program; plain text when none comes soon.
    #[default]
    Auto,
}

impl StreamFormat {
    /// Every format.
    pub const ALL: [Self; 5] = [
        Self::Text,
        Self::ClaudeStream,
        Self::CodexJson,
        Self::GeminiStream,
        Self::Auto,
    ];

    /// Its name at the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::ClaudeStream => "claude-stream",
            Self::CodexJson => "codex-json",
            Self::GeminiStream => "gemini-stream",
            Self::Auto => "auto",
        }
    }
}

/// Tokens that an agent program reports to have used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Fresh input tokens, including those written to a cache.
    pub input: u64,
    /// Input tokens that were read from a cache.
    pub cached: u64,
    /// Output tokens.
    pub output: u64,
}

/// One thing that an agent program said in its output stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StreamEvent {
    /// Text of the model for the person: one message, complete (deltas are joined before).
    Text {
        /// What the model said.
        text: String,
        /// The output line on which it arrived, from 1.
        line: u64,
    },
    /// The program named its session.
    SessionId(String),
    /// The model called a tool.
    ToolCall {
        /// The tool.
        name: String,
        /// Its input, shortened, on one line.
        input: String,
    },
    /// A tool answered. What it shows is no signal.
    ToolResult {
        /// Whether it failed.
        failed: bool,
    },
    /// A file was changed, as the program reports it.
    FileChanged(String),
    /// Tokens used so far in this process (the newest report replaces the one before).
    Usage(Usage),
    /// The program reports an error.
    Error(String),
    /// The program says that it is done. A final text that repeats the last message is not told again.
    Finished {
        /// Whether the program calls it a failure.
        failed: bool,
    },
    /// A line that could not be read.
    Unreadable {
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        message: String,
    },
}
