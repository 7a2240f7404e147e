//! Candidates: statements that may become records.

use heirloom_model::{Case, CaseState, Timestamp};
use serde::{Deserialize, Serialize};

/// Part of a transcript from which a candidate was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceKind {
    /// A person's turn that sets a rule or corrects the agent.
    PersonRule,
    /// A command that failed and passed after a change.
    Failure,
    /// An approach that was undone.
    Attempt,
    /// A failed command and a variant of it that succeeded.
    CommandVariant,
    /// An agent's explanation.
    Explanation,
    /// A command that succeeded repeatedly.
    Command,
    /// The program's summary of earlier turns.
    CompactionSummary,
    /// A commit or pull request.
    Commit,
    /// A plan or to-do list.
    Plan,
    /// A request of the session with what was done for it.
    Case,
    /// A proposal or report with several points in a final message.
    Report,
    /// An issue or plan text that the session read.
    Document,
}

/// Author of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// A person.
    Person,
    /// The agent.
    Agent,
    /// A program: a command's output, or what the transcript shows without anyone's words.
    Program,
    /// The author of words in the role of the user that are not known to be a person's: a pasted text, a script, a channel.
    Unknown,
}

/// Place in the transcript that supports a candidate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// Id of the event.
    pub event: String,
    /// Number of the event in the conversation, from 0.
    pub position: u64,
    /// The line, shortened.
    pub line: String,
}

/// Content of the record that a candidate becomes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LessonContent {
    /// Knowledge.
    Knowledge {
        /// Category of the knowledge: `fact`, `convention`, `preference`, `decision`, `learning` or `correction`.
        category: String,
        /// Key that makes a later value replace this one, such as `command:test`.
        key: Option<String>,
        /// The statement.
        text: String,
        /// Reason, or the text that a correction corrects.
        rationale: Option<String>,
    },
    /// An error.
    Error {
        /// The record key, the same in every session; see `heirloom_agents::failures::Failure::key`.
        key: String,
        /// The failed action with the line that names the fault.
        text: String,
        /// The change that resolved it; `None` while it is open.
        resolution: Option<String>,
    },
    /// A failed attempt: an approach that was undone.
    Attempt {
        /// The approach.
        approach: String,
        /// Lines that it changed.
        change: String,
        /// Reason why it was undone.
        reason: String,
        /// Files that it changed.
        files: Vec<String>,
    },
    /// A request and what became of it.
    Case {
        /// The fields of the record.
        case: Box<Case>,
        /// End of the request, as far as it is known.
        state: CaseState,
        /// True if files were edited, or something was committed or filed. Otherwise the case is worth keeping only if
        /// it found something out that became a record.
        has_work: bool,
        /// Position of the next request.
        until: u64,
    },
    /// Steps of the task.
    Steps(Vec<LessonStep>),
}

/// A step of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LessonStep {
    /// Text of the step.
    pub text: String,
    /// True if it is done.
    pub is_done: bool,
}

/// A statement that may become a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// Source of the statement.
    pub source: SourceKind,
    /// Author of the statement.
    pub speaker: Speaker,
    /// Content of the record.
    pub content: LessonContent,
    /// Worth for the next session, from 0 to 1.
    pub worth: f32,
    /// Places that support it, the most important one first.
    pub evidence: Vec<Evidence>,
    /// Time of the statement.
    pub at: Option<Timestamp>,
    /// Subagent in whose conversation it was found.
    pub agent: Option<String>,
}

/// Reason why a candidate does not become a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DropReason {
    /// A better candidate states the same.
    Duplicate,
    /// Other candidates are worth more and the session's maximum is reached.
    Limit,
    /// Its worth is below the threshold.
    LowWorth,
    /// A later turn withdrew or contradicted it.
    Withdrawn,
    /// The text is not readable without the session.
    NotSelfContained,
    /// Its source has its share of the session's maximum.
    SourceShare,
    /// The model judged that it is of no use later.
    Useless,
    /// The model judged that the conversation does not support it.
    Wrong,
    /// The model judged that a later candidate takes its place.
    Replaced,
}

/// Decision on a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It becomes a record.
    Kept,
    /// It does not.
    Dropped(DropReason),
}

/// A candidate with the decision on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Lesson {
    /// The candidate.
    pub candidate: Candidate,
    /// The decision.
    pub verdict: Verdict,
    /// Opinion of the model, if one judged it.
    pub opinion: Option<ModelOpinion>,
}

/// Verdict of a model on a candidate; another candidate is named by its identity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ModelVerdict {
    /// It is worth a record.
    #[serde(rename = "keep")]
    Keep,
    /// It is true, but of no use later.
    #[serde(rename = "drop")]
    Drop,
    /// It does not follow from the conversation.
    #[serde(rename = "wrong")]
    Wrong,
    /// Another candidate states the same.
    #[serde(rename = "same_as")]
    SameAs(String),
    /// Another candidate takes its place.
    #[serde(rename = "replaced_by")]
    ReplacedBy(String),
}

/// Opinion of the model on a candidate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelOpinion {
    /// The verdict.
    pub verdict: ModelVerdict,
    /// True if the decision follows it.
    pub is_followed: bool,
}

impl Candidate {
    /// Returns the words of the record in one text, as a reader sees them.
    pub fn full_text(&self) -> String {
        let parts: Vec<&str> = match &self.content {
            LessonContent::Knowledge {
                text, rationale, ..
            } => [Some(text.as_str()), rationale.as_deref()]
                .into_iter()
                .flatten()
                .collect(),
            LessonContent::Error {
                text, resolution, ..
            } => [Some(text.as_str()), resolution.as_deref()]
                .into_iter()
                .flatten()
                .collect(),
            LessonContent::Attempt {
                approach,
                change,
                reason,
                ..
            } => vec![approach, change, reason],
            LessonContent::Case { case, .. } => {
                vec![&case.asked, &case.did, &case.failed, &case.result]
            }
            LessonContent::Steps(steps) => steps.iter().map(|step| step.text.as_str()).collect(),
        };
        parts.join(" ")
    }
}
