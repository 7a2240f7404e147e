//! Hooks of agent programs: handlers that add helpful memory to prompts and learn from events.

mod anchor;
mod call_log;
mod failure_closing;
mod failure_recording;
mod failure_warning;
mod lesson_teaching;
mod path_words;
mod prompt_answer;
mod prompt_records;
mod prompt_rules;
mod session_context;
mod session_end;
mod session_state;
mod sessions;
mod tool_answer;
mod transcript_import;
mod transcript_signals;
mod unfinished_sessions;

pub use call_log::{HookCall, HookCallLog};
use lesson_teaching::LessonTeaching;
pub use prompt_records::RelevantHit;

use heirloom_agents::AgentProgram;
use heirloom_agents::hooks::{
    HookAnswer, HookEvent, HookEventKind, HookSpec, ToolUse, without_envelopes, wrap_for_hook,
};
use heirloom_agents::transcripts::TurnAuthor;
use heirloom_engine::{Engine, LessonSource};
use heirloom_model::record::check_name;
use heirloom_model::{Fault, Record, Scope, limits};
use heirloom_window::Policy;
use session_end::embed_texts;
use session_state::HookSessionState;
use std::borrow::Cow;
use std::time::Instant;

/// Event for which a hook was called.
#[derive(Debug, Clone, Copy)]
pub struct HookRequest<'a> {
    /// The agent program.
    pub host: AgentProgram,
    /// Specification of the event.
    pub spec: &'a HookSpec,
    /// Content of the event.
    pub event: &'a HookEvent,
    /// Policy for shortening long outputs; `None` leaves them as they are.
    pub shorten: Option<&'a Policy>,
    /// Number of tool calls between two reminders of the goal; 0 = none.
    pub anchor_every: u32,
    /// True if the first context of a session ends with how a lesson is left.
    pub teach: bool,
    /// True if the end of a turn requests, once, a lesson of work that left none.
    pub ask: bool,
    /// Deadline of the hook; transcripts are read no longer than that.
    pub deadline: Instant,
}

impl HookRequest<'_> {
    /// Returns the scope of what is learned from the event. Invalid names are left out.
    fn scope(&self) -> Scope {
        let main = self.main_scope();
        let agent = valid_name("agent", self.event.agent_id.as_deref());
        Scope {
            agent: agent.or(main.agent),
            ..main
        }
    }

    /// Returns what a person typed; `None` for prompts of programs and for text that Heirloom injected.
    fn prompt_of_person(&self) -> Option<Cow<'_, str>> {
        let prompt = self.event.prompt.as_deref()?;
        let by_person = matches!(self.event.source.as_deref(), None | Some("user" | "sdk"));
        let prompt = without_envelopes(prompt);
        (by_person && !prompt.trim().is_empty()).then_some(prompt)
    }

    /// Returns the author of the prompt: a script starts the program through its SDK or without a terminal.
    fn prompt_author(&self) -> TurnAuthor {
        let is_of_script = self.event.is_of_script || self.event.source.as_deref() == Some("sdk");
        match is_of_script {
            true => TurnAuthor::Other,
            false => TurnAuthor::Person,
        }
    }

    /// Returns true if the program adds the text of the answer to its context.
    fn can_inject(&self) -> bool {
        self.spec.can_inject && !self.event.drops_answer
    }

    /// Returns the scope of what the main agent writes.
    fn main_scope(&self) -> Scope {
        Scope {
            session: valid_name("session", self.event.session.as_deref()),
            agent: Some(self.host.as_str().to_owned()),
            ..Scope::default()
        }
    }
}

fn valid_name(what: &'static str, name: Option<&str>) -> Option<String> {
    let name = name.filter(|name| check_name(what, name).is_ok());
    name.map(str::to_owned)
}

/// Answers to the hook events of agent programs.
#[derive(Clone, Copy)]
pub struct Hooks<'e> {
    pub(crate) engine: &'e Engine,
}

impl<'e> Hooks<'e> {
    /// Creates the service for an engine.
    #[must_use]
    pub fn new(engine: &'e Engine) -> Self {
        Self { engine }
    }
}

impl Hooks<'_> {
    /// Handles a hook event: returns the text to inject, and records what was learned. Records are durable when this
    /// returns; the list of delivered ids may be lost in a power failure.
    ///
    /// The answer is empty for events without injection and when memory is off. Errors are the store's.
    pub fn handle(&self, request: &HookRequest<'_>) -> Result<HookAnswer, Fault> {
        if !self.engine.settings().enabled {
            return Ok(HookAnswer::default());
        }
        let session = request.event.session.as_deref();
        let (mut state, lock) = HookSessionState::load(self.engine.folder(), request.host, session);
        let before = state.clone();
        state.note_activity(request.host, request.event.transcript.as_deref());
        let answer = self.answer_event(request, &mut state)?;
        if state != before {
            state.save();
        }
        drop(lock);
        Ok(answer)
    }

    fn answer_event(
        &self,
        request: &HookRequest<'_>,
        state: &mut HookSessionState,
    ) -> Result<HookAnswer, Fault> {
        let event = request.event;
        match request.spec.kind {
            HookEventKind::SessionStart => self.start_session(request, state),
            HookEventKind::Prompt => self.answer_prompt(request, state),
            HookEventKind::BeforeTool => self.before_tool(request, state),
            HookEventKind::AfterTool | HookEventKind::ToolFailed => match &event.tool {
                Some(tool) => {
                    let mut answer = self.after_tool(request, tool, state)?;
                    add_text(&mut answer, &self.anchor_after_call(request, state)?);
                    Ok(answer)
                }
                None => Ok(HookAnswer::default()),
            },
            HookEventKind::BeforeCompaction => {
                self.ingest_signals(request, state)?;
                self.learn_from_turn(request)?;
                embed_texts(self.engine, request.deadline, limits::SENTENCE_TURN_MS);
                // Some programs start no session afterwards.
                state.forget_delivered();
                Ok(HookAnswer::default())
            }
            HookEventKind::TurnEnd => {
                self.ingest_signals(request, state)?;
                self.learn_from_turn(request)?;
                embed_texts(self.engine, request.deadline, limits::SENTENCE_TURN_MS);
                if request.ask {
                    // Some programs report no failure to their hooks.
                    self.count_failures(request.scope().session.as_deref(), state)?;
                }
                Ok(LessonTeaching::new(self.engine).request_lesson(request, state))
            }
            HookEventKind::SubagentEnd => {
                self.ingest_signals(request, state)?;
                let id = valid_name("agent", event.agent_id.as_deref());
                if let (Some(id), Some(path)) = (id, &event.agent_transcript) {
                    state.add_subagent(&id, event.agent_type.as_deref(), path);
                }
                self.learn_from_turn(request)?;
                Ok(HookAnswer::default())
            }
            HookEventKind::SubagentStart => self.start_subagent(request),
            HookEventKind::SessionEnd => {
                self.ingest_signals(request, state)?;
                self.record_session_end(request, state)?;
                embed_texts(self.engine, request.deadline, limits::SENTENCE_SESSION_MS);
                Ok(HookAnswer::default())
            }
        }
    }

    /// Returns true for a record that the session of the event taught itself, so that it is in its conversation.
    pub(crate) fn is_own(&self, record: &Record, request: &HookRequest<'_>) -> bool {
        let source = LessonSource::of_record(record);
        let sessions = [
            record.scope.session.as_deref(),
            source.as_ref().map(|source| source.session.as_str()),
        ];
        let mut sessions = sessions.into_iter().flatten();
        sessions.any(|session| self.is_session_of(request, session))
    }

    /// Returns true if a stored session is the one of the event. Stored names are redacted.
    fn is_session_of(&self, request: &HookRequest<'_>, stored: &str) -> bool {
        let id = request.event.session.as_deref();
        id.is_some_and(|id| id == stored || self.engine.redaction().redact_input(id) == stored)
    }

    /// Wraps text for the model in an injection envelope.
    fn build_answer(&self, body: &str, chars_max: usize) -> HookAnswer {
        HookAnswer {
            context: wrap_for_hook(
                &self.engine.display_name(),
                &self.engine.contexts().neutralize_text(body),
                chars_max,
            ),
            ..HookAnswer::default()
        }
    }
}

/// Adds a text to an answer, after a blank line.
fn add_text(answer: &mut HookAnswer, more: &str) {
    if !answer.context.is_empty() && !more.is_empty() {
        answer.context.push_str("\n\n");
    }
    answer.context.push_str(more);
}
