//! Lines that an agent prints to write memory, and what a reader says about what it could not read.

/// What a signal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verb {
    /// A fact about the project.
    KeyFact,
    /// A decision, with its reason after ` BECAUSE ` or ` -- `.
    Decision,
    /// A step that is finished.
    StepDone,
    /// A step that is still to do.
    StepPending,
    /// A file that was changed.
    FileModified,
    /// Something that went wrong.
    Error,
    /// How an open error was mended.
    ErrorResolved,
    /// A lesson.
    Learning,
    /// The task cannot go on.
    Blocked,
    /// The task can go on again.
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

impl Verb {
    /// Every verb.
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

    /// Its spelling in a signal line and in JSON.
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

    /// Whether the verb means something without a text.
    pub fn text_is_optional(self) -> bool {
        matches!(self, Self::Unblocked)
    }
}

/// One signal, as it stood in the output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signal {
    /// What it asks for.
    pub verb: Verb,
    /// Its text, trimmed, never with a line break.
    pub text: String,
    /// The line of the output in which it stood, from 1.
    pub line: u64,
}

/// What a reader has to say about its input; never a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The line that it is about, from 1.
    pub line: u64,
    /// What is wrong and what to do.
    pub message: String,
}

/// What a signal parser found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// A signal.
    Signal(Signal),
    /// Something that looks like one and is not, with the reason.
    Diagnostic(Diagnostic),
}
