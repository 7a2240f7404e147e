//! Result of a command line: which of its parts failed or succeeded, from the status that the agent program reports and
//! from the output.
//!
//! The status is that of the whole line. In `make | tail` it is that of `tail`, `make || true` always succeeds, in
//! `cd a && make` one of two parts failed. A part whose status is not reported is unknown, unless the output shows it.

mod blame;
mod flow_node;
mod output_evidence;
mod parse_limits;
mod part_description;
mod part_role;
mod result_reader;
mod shape_reader;
mod simple_command_reader;
mod status_flow;

pub use part_role::PartRole;

use flow_node::FlowNode;
use heirloom_model::limits::COMMAND_PART_CHARS_MAX;
use output_evidence::OutputEvidence;
use result_reader::ResultReader;
use serde::{Deserialize, Serialize};

/// Status of a command line, as the agent program reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportedStatus {
    /// Exit status 0.
    Success,
    /// Another exit status, if it is known.
    Failure(Option<i64>),
    /// The call was denied or interrupted.
    Rejected,
    /// The program reports only the output.
    Unreported,
}

/// Known state of a command line or of one of its parts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CommandState {
    /// It did its work, or gave an answer such as "no match".
    Succeeded,
    /// It failed.
    Failed,
    /// Nothing shows it.
    #[default]
    Unknown,
}

/// Evidence for the state of a command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultReason {
    /// The exit status is that of the parts that count.
    Status,
    /// The output shows it.
    Output,
    /// A lookup found nothing, or a comparison found a difference.
    Answer,
    /// The exit status is that of another part, and the output does not show it.
    Masked,
    /// A limit on the time ended the command.
    TimedOut,
    /// The call was denied or interrupted, or the command was ended by a signal.
    Stopped,
    /// The line cannot be parsed, or nothing is reported.
    Unreadable,
}

/// Result of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandResult {
    /// State of the line.
    pub state: CommandState,
    /// Number of the part that is the reason of a failure.
    pub blamed: Option<usize>,
    /// Evidence for the state.
    pub reason: ResultReason,
    /// State of each part.
    pub parts: Vec<CommandState>,
}

/// A simple command of a line.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ShapePart {
    /// The command with its redirections.
    pub text: String,
    /// Names under which its errors are reported: the program, and wrappers such as `uv`.
    pub names: Vec<String>,
    /// Purpose.
    pub role: PartRole,
    /// Text that it certainly prints if it runs, as in `echo done`.
    pub(crate) marker: Option<String>,
    /// Text before and after the exit status that it prints, as in `echo "exit: $?"`.
    pub(crate) printed_status: Option<(String, String)>,
    /// True if its errors are not in the output.
    pub(crate) is_silenced: bool,
    /// True if what it prints is content, such as a file, and no report about itself.
    pub(crate) shows_content: bool,
    /// True if it only looks something up, so that a failure is no fault of the project.
    pub is_lookup: bool,
    /// True if only another command's arguments need it, as in `make $(…)`.
    pub(crate) is_substituted: bool,
    /// True if its input is the output of the command before it.
    pub(crate) is_piped: bool,
    /// Lines after which `head` cuts its output.
    pub(crate) lines_shown: Option<usize>,
}

/// Structure of a command line, as far as the result depends on it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CommandShape {
    /// Simple commands, in the order of the line.
    pub parts: Vec<ShapePart>,
    root: FlowNode,
    /// True for a line with operators that cannot be parsed; it is its only part.
    is_opaque: bool,
}

impl ShapePart {
    /// Returns true if the end of a long command may be missing.
    pub fn is_cut(&self) -> bool {
        self.text.len() >= COMMAND_PART_CHARS_MAX
    }

    /// Returns true for work whose output goes to a file.
    fn writes_file(&self) -> bool {
        let kept = self.text.replace("2>&1", "").replace(">&2", "");
        self.role == PartRole::Work && kept.contains('>')
    }

    /// Returns true if the part is what the line is for: no preparation, message or filter of another's output.
    pub fn is_essential(&self) -> bool {
        match self.role {
            PartRole::Work => !self.is_substituted,
            PartRole::Lookup | PartRole::Reader => !self.is_substituted && !self.is_piped,
            PartRole::Setup | PartRole::Message | PartRole::Constant(_) | PartRole::Filter => false,
        }
    }
}

impl CommandShape {
    /// Returns true if no part does work that can fail.
    pub fn is_lookup(&self) -> bool {
        self.parts.iter().all(|part| part.is_lookup)
    }

    /// Returns true if the output has only selected lines of a command's own: `make | tail`, `make > log; tail log`.
    pub fn shows_part_of_output(&self) -> bool {
        let has_log = self.parts.iter().any(ShapePart::writes_file);
        self.parts.iter().any(|part| {
            let program = part.names.first().map_or("", String::as_str);
            !part.is_substituted && SELECTORS.contains(&program) && (part.is_piped || has_log)
        })
    }

    /// Returns true if a part is the only one of importance.
    pub fn is_only_work(&self, number: usize) -> bool {
        let mut work = self.parts.iter().enumerate().filter(|(other, part)| {
            *other != number && part.role == PartRole::Work && !part.is_substituted
        });
        work.next().is_none()
    }

    /// Parses a command line.
    pub fn parse(line: &str) -> Self {
        shape_reader::read_shape(line.trim())
    }

    /// Returns the result of the line from its reported status and its output.
    pub fn read_result(&self, reported: ReportedStatus, output: &str) -> CommandResult {
        let has_code = matches!(reported, ReportedStatus::Failure(_));
        let evidence = OutputEvidence::read(output, has_code);
        let reported = match reported {
            ReportedStatus::Failure(None) => ReportedStatus::Failure(evidence.exit_code),
            ReportedStatus::Success
            | ReportedStatus::Failure(Some(_))
            | ReportedStatus::Rejected
            | ReportedStatus::Unreported => reported,
        };
        let nothing = |reason| CommandResult {
            state: CommandState::Unknown,
            blamed: None,
            reason,
            parts: vec![CommandState::Unknown; self.parts.len()],
        };
        let succeeded = match reported {
            ReportedStatus::Rejected => return nothing(ResultReason::Stopped),
            ReportedStatus::Failure(Some(code)) if SIGNAL_CODES.contains(&code) => {
                return nothing(ResultReason::Stopped);
            }
            ReportedStatus::Success => Some(true),
            ReportedStatus::Failure(_) => Some(false),
            ReportedStatus::Unreported => None,
        };
        let is_simple = || {
            let is_joined =
                |part: &ShapePart| part.text.contains(['|', ';', '\n']) || part.text.contains("&&");
            !self.parts.iter().any(is_joined)
        };
        if self.is_opaque
            && succeeded == Some(false)
            && (is_simple() || evidence.has_syntax_error())
        {
            return CommandResult {
                state: CommandState::Failed,
                blamed: Some(0),
                reason: ResultReason::Output,
                parts: vec![CommandState::Failed],
            };
        }
        if self.is_opaque || self.parts.is_empty() {
            return nothing(ResultReason::Unreadable);
        }
        let code = match reported {
            ReportedStatus::Failure(code) => code,
            ReportedStatus::Success | ReportedStatus::Rejected | ReportedStatus::Unreported => None,
        };
        let mut reader = ResultReader::new(self, evidence, code);
        reader.read(succeeded);
        reader.result()
    }
}

/// Programs that show some lines of an output or of a log.
const SELECTORS: [&str; 11] = [
    "tail", "head", "grep", "egrep", "rg", "ag", "sed", "awk", "less", "more", "wc",
];

/// Exit codes of commands that were ended from outside: SIGINT, SIGTERM.
const SIGNAL_CODES: [i64; 2] = [130, 143];
