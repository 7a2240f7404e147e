//! Hooks of agent programs: handlers that add helpful memory to prompts and learn from events.

mod anchor;
mod call_log;
mod failure_closing;
mod failure_recording;
mod failure_warning;
mod lesson_teaching;
mod path_words;
mod prompt_answer;
mod relevance;
mod session_context;
mod session_state;
mod sessions;
mod transcript_signals;

pub use call_log::{HookCall, HookCallLog};
use heirloom_model::text::EscapedPath;
use lesson_teaching::LessonTeaching;
pub use relevance::RelevantHit;

use heirloom_agents::AgentProgram;
use heirloom_agents::failures::{Subject, is_failure_expected};
use heirloom_agents::hooks::{
    HookAnswer, HookEvent, HookEventKind, HookSpec, ToolUse, shorten_texts, wrap_for_hook,
};
use heirloom_engine::Engine;
use heirloom_engine::TASK_MAIN;
use heirloom_fs::project_fs;
use heirloom_model::record::check_name;
use heirloom_model::{Fault, Scope, limits, text};
use heirloom_store::Change;
use heirloom_window::Policy;
use session_state::HookSessionState;
use std::path::Path;
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
                // Some programs start no session afterwards.
                state.forget_delivered();
                Ok(HookAnswer::default())
            }
            HookEventKind::TurnEnd => {
                self.ingest_signals(request, state)?;
                self.learn_from_turn(request)?;
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
            HookEventKind::SubagentStart => self.start_subagent(),
            HookEventKind::SessionEnd => {
                self.ingest_signals(request, state)?;
                self.record_session_end(request, state)?;
                sessions::embed_session_texts(self.engine, request.deadline);
                Ok(HookAnswer::default())
            }
        }
    }

    fn before_tool(
        &self,
        request: &HookRequest<'_>,
        state: &mut HookSessionState,
    ) -> Result<HookAnswer, Fault> {
        let Some(tool) = &request.event.tool else {
            return Ok(HookAnswer::default());
        };
        let mut lines = Vec::new();
        for subject in failure_subjects(self.engine, request, tool) {
            let Some(record) = self.failure_of(&subject)? else {
                continue;
            };
            // Also if the session's context mentioned it: it is about to happen now.
            if state.mark_warned(&subject.prefix()) {
                lines.push(failure_warning::warning(&record));
                state.mark_delivered([record.id]);
            }
        }
        Ok(self.build_answer(&lines.join("\n"), limits::HOOK_TEXT_CHARS_MAX))
    }

    fn after_tool(
        &self,
        request: &HookRequest<'_>,
        tool: &ToolUse,
        state: &mut HookSessionState,
    ) -> Result<HookAnswer, Fault> {
        self.ingest_signals(request, state)?;
        let answer = self.record_tool_outcome(request, tool, state)?;
        if tool.failure.is_some() {
            return Ok(answer);
        }
        let output = match (request.shorten, &tool.response) {
            (Some(policy), Some(response)) => self.shortened_output(tool, response, policy)?,
            _ => None,
        };
        Ok(HookAnswer {
            replacement_output: output,
            ..answer
        })
    }

    /// Records the files that the session changed for the first time.
    fn record_changed_files(
        &self,
        request: &HookRequest<'_>,
        subjects: &[Subject],
        state: &mut HookSessionState,
    ) -> Result<(), Fault> {
        let files = subjects.iter().filter_map(|subject| match subject {
            Subject::Edit(file) => Some(file.as_str()),
            Subject::Command(_) => None,
        });
        let mut new_files: Vec<&str> = Vec::new();
        for file in files.filter(|file| !state.has_file(file)) {
            // Files from a transcript are recorded without a task.
            if !crate::Transcripts::new(self.engine).has_file(file, None)? {
                new_files.push(file);
            }
        }
        if new_files.is_empty() {
            return Ok(());
        }
        let source = request.host.as_str();
        let scope = Scope {
            task: Some(TASK_MAIN.to_owned()),
            ..request.scope()
        };
        let mut changes: Vec<Change> = vec![self.engine.tasks().known_task(TASK_MAIN, source)?];
        let scope = self.engine.redaction().redact_scope(scope);
        changes.extend(new_files.iter().map(|file| {
            self.engine.tasks().file_change(
                self.engine.redaction().redact_text(file).as_text(),
                scope.clone(),
                source,
            )
        }));
        self.engine.apply(&changes)?;
        for file in new_files {
            state.add_file(file);
        }
        Ok(())
    }

    /// Returns the output with previews in place of long texts, which are stored in full first.
    fn shortened_output(
        &self,
        tool: &ToolUse,
        response: &serde_json::Value,
        policy: &Policy,
    ) -> Result<Option<serde_json::Value>, Fault> {
        if policy.is_critical(&tool.name) {
            return Ok(None);
        }
        let (most, preview) = policy.lengths(&tool.name);
        let mut problem = None;
        let short = shorten_texts(response, most, &mut |whole| match self
            .engine
            .window()
            .store_output(&tool.name, whole)
        {
            Ok((id, path)) => Some(preview_of(whole, preview, &id, &path)),
            Err(fault) => {
                problem = Some(fault);
                None
            }
        });
        match problem {
            Some(fault) => Err(fault),
            None => Ok(short),
        }
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

/// Returns the actions of a tool call that may fail: a command, edits of files.
fn failure_subjects(engine: &Engine, request: &HookRequest<'_>, tool: &ToolUse) -> Vec<Subject> {
    let mut subjects = Vec::new();
    if let Some(command) = tool
        .command
        .as_deref()
        .filter(|text| !is_failure_expected(text))
    {
        subjects.push(Subject::Command(
            engine.redaction().redact_input(command).into_owned(),
        ));
    }
    let cwd = request.event.cwd.as_deref().map(Path::new);
    for file in &tool.files {
        let absolute = match cwd {
            Some(cwd) if Path::new(file).is_relative() => cwd.join(file),
            _ => file.into(),
        };
        let inside = project_fs::normalise_project_path(engine.root(), &absolute.to_string_lossy());
        if let Ok(inside) = inside {
            subjects.push(Subject::Edit(
                engine.redaction().redact_input(&inside).into_owned(),
            ));
        }
    }
    subjects
}

/// Adds a text to an answer, after a blank line.
fn add_text(answer: &mut HookAnswer, more: &str) {
    if !answer.context.is_empty() && !more.is_empty() {
        answer.context.push_str("\n\n");
    }
    answer.context.push_str(more);
}

/// Returns the beginning and end of a text, and the path of the full text.
fn preview_of(whole: &str, chars: usize, id: &str, path: &Path) -> String {
    let half = chars / 2;
    let (head, tail) = (text::clip(whole, half), text::clip_start(whole, half));
    let left_out = text::chars(whole).saturating_sub(text::chars(head) + text::chars(tail));
    format!(
        "{head}\n[… {left_out} characters are left out here; all of it: {}, or `heirloom expand {id}`]\n{tail}",
        path.to_escaped()
    )
}
