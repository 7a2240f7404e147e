//! Signals: lines that an agent prints to write memory; and diagnostics of their parser.

/// Verb of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SignalVerb {
    /// A fact about the project.
    KeyFact,
    /// A decision, with its reason after ` BECAUSE ` or ` -- `.
    Decision,
    /// A completed step.
    StepDone,
    /// A pending step.
    StepPending,
    /// A modified file.
    FileModified,
    /// An error.
    Error,
    /// The resolution of an open error.
    ErrorResolved,
    /// A lesson.
    Learning,
    /// The task is blocked.
    Blocked,
    /// The task is no longer blocked.
    Unblocked,
    /// A rule of the project: `key = text`.
    Convention,
    /// Retire a record of the same agent, by id.
    Forget,
    /// A note: the answer to an evaluation.
    EvalFeedback,
    /// A note: the result of a phase.
    PhaseResult,
    /// A note: the answer to feedback.
    FeedbackResponse,
    /// The iteration's status: `COMPLETE`, `PARTIAL`, `BLOCKED`, `FAILED`, with a message.
    Status,
}

impl SignalVerb {
    /// All verbs.
    pub const ALL: [Self; 16] = [
        Self::KeyFact,
        Self::Decision,
        Self::StepDone,
        Self::StepPending,
        Self::FileModified,
        Self::Error,
        Self::ErrorResolved,
        Self::Learning,
        Self::Blocked,
        Self::Unblocked,
        Self::Convention,
        Self::Forget,
        Self::EvalFeedback,
        Self::PhaseResult,
        Self::FeedbackResponse,
        Self::Status,
    ];

    /// Returns the spelling in a signal line and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::KeyFact => "KEY_FACT",
            Self::Decision => "DECISION",
            Self::StepDone => "STEP_DONE",
            Self::StepPending => "STEP_PENDING",
            Self::FileModified => "FILE_MODIFIED",
            Self::Error => "ERROR",
            Self::ErrorResolved => "ERROR_RESOLVED",
            Self::Learning => "LEARNING",
            Self::Blocked => "BLOCKED",
            Self::Unblocked => "UNBLOCKED",
            Self::Convention => "CONVENTION",
            Self::Forget => "FORGET",
            Self::EvalFeedback => "EVAL_FEEDBACK",
            Self::PhaseResult => "PHASE_RESULT",
            Self::FeedbackResponse => "FEEDBACK_RESPONSE",
            Self::Status => "STATUS",
        }
    }

    /// Returns true if the verb needs no text.
    pub fn is_text_optional(self) -> bool {
        matches!(self, Self::Unblocked)
    }
}

/// One signal found in the output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signal {
    /// Verb of the signal.
    pub verb: SignalVerb,
    /// Trimmed text without line breaks.
    pub text: String,
    /// Line number in the output, from 1.
    pub line: u64,
}

/// A diagnostic of a parser about its input; never a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Line number, from 1.
    pub line: u64,
    /// The problem and what to do about it.
    pub message: String,
}

/// Output of the signal parser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParserEvent {
    /// A signal.
    Signal(Signal),
    /// A line that resembles a signal but is invalid, with the reason.
    Diagnostic(Diagnostic),
}
