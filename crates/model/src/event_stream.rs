//! Event streams of agent programs in a common form.

/// Token usage as an agent program reports it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Fresh input tokens, including those written to a cache.
    pub input: u64,
    /// Input tokens that were read from a cache.
    pub cached: u64,
    /// Output tokens.
    pub output: u64,
}

/// Action of a tool that has ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolAction {
    /// The command that the tool ran.
    pub command: Option<String>,
    /// True if the command goes on in the background, so that its end is unknown.
    pub is_background: bool,
    /// Beginning and end of the output, without what the program adds to it.
    pub output: String,
    /// The files that the tool changed.
    pub files: Vec<String>,
}

/// One event in the output stream of an agent program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StreamEvent {
    /// A complete message of the model for the person (deltas are joined).
    Text {
        /// Text of the message.
        text: String,
        /// Line number in the output, from 1.
        line: u64,
    },
    /// Id of the program's session.
    SessionId(String),
    /// The model called a tool.
    ToolCall {
        /// The tool.
        name: String,
        /// Its input, shortened, on one line.
        input: String,
    },
    /// Result of a tool. Its content is never parsed for signals.
    ToolResult {
        /// True if the tool failed.
        failed: bool,
        /// Action of the tool; `None` if it neither ran a command nor changed a file.
        action: Option<Box<ToolAction>>,
    },
    /// A changed file, as the program reports it.
    FileChanged(String),
    /// Tokens used so far in this process; each report replaces the previous one.
    Usage(Usage),
    /// An error reported by the program.
    Error(String),
    /// The program has finished. A final text that repeats the last message is not reported again.
    Finished {
        /// True if the program reports a failure.
        failed: bool,
    },
    /// A line that could not be parsed.
    Unreadable {
        /// Line number, from 1.
        line: u64,
        /// Description of the problem.
        message: String,
    },
}
