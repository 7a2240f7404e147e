//! Requests of the API: texts that become a request, and settings with the same names as the parameters.

use serde::Serialize;
use serde_json::Value;

/// Defines requests with a method for each optional field. Fields that are not set are not sent.
macro_rules! requests {
    ($(
        $(#[$meta:meta])*
        $name:ident($($(#[$required_meta:meta])* $required:ident: $required_type:ident),*) {
            $($(#[$doc:meta])* $setter:ident => $field:ident: $type:ident,)*
        }
    )*) => {
        $(
            $(#[$meta])*
            #[derive(Debug, Clone, PartialEq, Serialize)]
            #[cfg_attr(test, derive(serde::Deserialize))]
            pub struct $name {
                $($(#[$required_meta])* pub(crate) $required: $required_type,)*
                $(
                    #[serde(skip_serializing_if = "Option::is_none")]
                    pub(crate) $field: Option<$type>,
                )*
            }

            impl $name {
                /// Creates the request with what it needs at least.
                #[must_use]
                pub fn new($($required: argument!($required_type)),*) -> Self {
                    Self {
                        $($required: $required.into(),)*
                        $($field: None,)*
                    }
                }

                $(
                    $(#[$doc])*
                    #[must_use]
                    pub fn $setter(mut self, $setter: argument!($type)) -> Self {
                        self.$field = Some($setter.into());
                        self
                    }
                )*
            }
        )*
    };
}

/// Type of an argument: texts are taken in any form.
macro_rules! argument {
    (String) => { impl Into<String> };
    ($type:ident) => { $type };
}

/// Defines words of a request.
macro_rules! words {
    ($(
        $(#[$meta:meta])*
        $vis:vis enum $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)* }
    )*) => {
        $(
            $(#[$meta])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
            #[cfg_attr(test, derive(serde::Deserialize))]
            #[non_exhaustive]
            $vis enum $name {
                $($(#[$doc])* #[serde(rename = $word)] $variant,)*
            }

            impl $name {
                /// All words, for the comparison with the API description.
                #[cfg(test)]
                pub(crate) const WORDS: &[&str] = &[$($word),*];
            }
        )*
    };
}

words! {
    /// Action of an episode.
    pub enum EpisodeAction {
        /// An attempt without a result yet.
        Attempted = "attempted",
        /// An attempt that succeeded.
        Completed = "completed",
        /// An attempt that failed.
        Failed = "failed",
        /// A repeated attempt.
        Retried = "retried",
    }

    /// Verdict on a record that does not change it.
    pub enum Mark {
        /// It is in each context.
        Pinned = "pinned",
        /// It is pinned no more.
        NotPinned = "not pinned",
        /// It is in no context and no recall.
        Muted = "muted",
        /// It is muted no more.
        NotMuted = "not muted",
        /// It helped.
        Useful = "useful",
        /// It did not help.
        NotUseful = "not useful",
    }

    /// Role of a speaker.
    pub enum MessageRole {
        /// A person.
        User = "user",
        /// The model.
        Assistant = "assistant",
        /// The system prompt.
        System = "system",
        /// A tool.
        Tool = "tool",
        /// The model's call of a tool.
        ToolCall = "tool_call",
        /// The tool's result.
        ToolResult = "tool_result",
    }

    /// Type of an entry, which selects the workspace file.
    pub enum EntryType {
        /// Facts.
        Fact = "fact",
        /// Learnings.
        Learning = "learning",
        /// Errors with their solutions.
        Error = "error",
        /// The notes of the day.
        Daily = "daily",
        /// Requested features.
        Feature = "feature",
    }

    /// Wire format of messages.
    pub enum MessageFormat {
        /// OpenAI's chat completions.
        OpenAi = "openai",
        /// Anthropic's messages.
        Anthropic = "anthropic",
        /// OpenAI's responses.
        Responses = "responses",
        /// Detected.
        Auto = "auto",
    }

    /// State of a task.
    pub enum TaskState {
        /// Open.
        Open = "open",
        /// Done.
        Done = "done",
        /// Failed.
        Failed = "failed",
    }

    /// State of a step.
    pub(crate) enum StepState {
        /// Pending.
        Pending = "pending",
        /// Done.
        Done = "done",
    }
}

requests! {
    /// Knowledge to store: a text, with what is known about it.
    ///
    /// A later value for a category and key replaces the earlier one.
    NewKnowledge(value: String) {
        /// Sets the category: convention, architecture, decision, fact (the default), or any other word.
        category => category: String,
        /// Sets the key; derived from the text by default.
        key => key: String,
        /// Sets the reason of a decision.
        rationale => rationale: String,
        /// Sets the confidence from 0 to 1; 0.8 for agents, otherwise 1.0 by default.
        confidence => confidence: f64,
        /// Sets the source; the token's role by default.
        source => source: String,
        /// Sets the task.
        task => task_id: String,
        /// Sets the agent.
        agent => agent_id: String,
        /// Sets the conversation.
        session => session_id: String,
        /// Sets the phase of the task.
        phase => phase: String,
        /// Sets the plan.
        plan => plan: String,
        /// Sets the group.
        group => group: String,
        /// Sets the iteration of the run, from 1.
        iteration => iteration: u32,
        /// Sets the start of validity, in the form of RFC 3339.
        true_from => true_from: String,
        /// Sets the end of validity, in the form of RFC 3339.
        true_to => true_to: String,
        /// Sets the project; by default that of the client.
        project => project: String,
    }

    /// Search in memory: a question, which may have filters (`kind:error task:42 "two words"`).
    RecallQuery(query: String) {
        /// Sets the maximum number of hits; 10 by default, or as many as fit the budget.
        k => k: u32,
        /// Restricts it to kinds, separated by commas: `knowledge,error`; `message` for turns of conversations.
        kinds => kinds: String,
        /// Sets the maximum number of tokens of text.
        budget_tokens => budget_tokens: u32,
        /// Restricts it to a task.
        task => task_id: String,
        /// Ranks records of this task higher.
        near_task => near_task: String,
        /// Restricts it to an agent.
        agent => agent_id: String,
        /// Restricts it to a conversation.
        session => session_id: String,
        /// Searches memory as of this time, in the form of RFC 3339.
        as_of => as_of: String,
        /// Sets the relevance from which a hit is returned, 0 to 1; 0 returns weak hits too.
        min_relevance => min_relevance: f64,
        /// Includes the parts of each score.
        explain => explain: bool,
        /// Selects the turns of conversations in the answer: `best`, `all` or `none`.
        conversations => conversations: String,
        /// Lists turns among the hits.
        messages => messages: bool,
        /// Sets the project; by default that of the client.
        project => project: String,
    }

    /// Parameters of a context.
    ContextQuery() {
        /// Sets the current task.
        task => task_id: String,
        /// Adds search words.
        query => query: String,
        /// Sets the agent that gets the context.
        agent => agent_id: String,
        /// Sets the current phase.
        phase => phase: String,
        /// Sets the conversation that is continued.
        session => session_id: String,
        /// Sets the agent's group.
        group => group: String,
        /// Sets the agent's plan: PLAN or STAGE/PLAN.
        plan => plan: String,
        /// Sets the agent with directives: `coder[input:a.md][tail:50]`.
        invocation => invocation: String,
        /// Sets the maximum number of tokens.
        budget_tokens => budget_tokens: u32,
        /// Sets the maximum number of characters.
        budget_chars => budget_chars: u32,
        /// Sets the project; by default that of the client.
        project => project: String,
    }

    /// Attempt at a task to log.
    NewEpisode(task_id: String, action: EpisodeAction) {
        /// Sets the approach.
        approach => approach: String,
        /// Sets the outcome.
        outcome => outcome: String,
        /// Sets the agent that made the attempt.
        agent => agent_id: String,
        /// Sets the source; the agent by default.
        source => source: String,
        /// Sets the phase of the task.
        phase => phase: String,
        /// Sets the plan.
        plan => plan: String,
        /// Sets the conversation.
        session => session_id: String,
        /// Sets the iteration of the run, from 1.
        iteration => iteration: u32,
        /// Sets the duration in milliseconds.
        duration_ms => duration_ms: u64,
        /// Sets the number of tokens that were read.
        tokens_in => tokens_in: u64,
        /// Sets the number of tokens that were written.
        tokens_out => tokens_out: u64,
        /// Sets the project; by default that of the client.
        project => project: String,
    }

    /// Error to log.
    NewError(text: String) {
        /// Sets the task.
        task => task_id: String,
        /// Sets the phase of the task.
        phase => phase: String,
        /// Sets the agent.
        agent => agent_id: String,
        /// Sets the iteration of the run, from 1.
        iteration => iteration: u32,
        /// Sets the project; by default that of the client.
        project => project: String,
    }

    /// Note to add.
    NewNote(text: String) {
        /// Sets the section; `Notes` by default.
        category => category: String,
        /// Sets the group.
        group => group: String,
        /// Sets the task.
        task => task_id: String,
        /// Sets the agent.
        agent => agent_id: String,
        /// Sets the source; the token's role by default.
        source => source: String,
        /// Sets the project; by default that of the client.
        project => project: String,
    }

    /// Turn of a conversation to append.
    NewMessage(role: MessageRole, text: String) {
        /// Sets the name of the sender, if the role is not enough.
        sender => sender: String,
        /// Sets the task of the conversation, if it is new.
        task => task_id: String,
        /// Sets the agent of the conversation, if it is new.
        agent => agent_id: String,
        /// Sets the project; by default that of the client.
        project => project: String,
    }

    /// Conversation to reduce to the size of a window: an array of messages, or a whole request body, in the format of its provider.
    CompactRequest(messages: Value) {
        /// Sets the size of the window in tokens; configured by default.
        target_tokens => target_tokens: u32,
        /// Sets the conversation; omitted messages are archived under it.
        session => session_id: String,
        /// Sets the agent.
        agent => agent_id: String,
        /// Sets the group of the conversation; requires a session.
        group => group: String,
        /// Sets the model.
        model => model: String,
        /// Sets the format of the messages; detected by default.
        format => format: MessageFormat,
        /// Sets the project; by default that of the client.
        project => project: String,
    }

    /// Entry of a workspace file to add.
    NewEntry(#[serde(rename = "type")] entry_type: EntryType, text: String) {
        /// Sets the solution of an error.
        solution => solution: String,
        /// Sets the source; the token's role by default.
        agent => agent_id: String,
        /// Sets the project; by default that of the client.
        project => project: String,
    }

    /// Filter of a list of records.
    RecordFilter() {
        /// Restricts it to a kind: knowledge, error, episode, ….
        kind => kind: String,
        /// Restricts it to a category.
        category => category: String,
        /// Restricts it to a state.
        state => state: String,
        /// Restricts it to a task.
        task => task_id: String,
        /// Restricts it to an agent.
        agent => agent_id: String,
        /// Restricts it to a source.
        source => source: String,
        /// Includes retired records.
        all => all: bool,
        /// Sets the project; by default that of the client.
        project => project: String,
    }
}

/// Makes a request of the text that it needs at least.
macro_rules! from_text {
    ($($name:ident),*) => {
        $(
            impl<T: Into<String>> From<T> for $name {
                fn from(text: T) -> Self {
                    Self::new(text)
                }
            }
        )*
    };
}

from_text!(NewKnowledge, RecallQuery, NewError, NewNote);

impl Default for ContextQuery {
    fn default() -> Self {
        Self::new()
    }
}

impl Default for RecordFilter {
    fn default() -> Self {
        Self::new()
    }
}
