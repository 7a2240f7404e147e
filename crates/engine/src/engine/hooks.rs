//! What the hooks of agent programs do with the memory: tell what helps, and learn from what happens.

mod calls;
mod failures;
mod hearing;
mod relevance;
mod sessions;
mod state;

pub use calls::{HookCall, HookCalls};
pub use relevance::Relevant;
pub(super) use state::forget_all;

use super::Engine;
use super::gather::ContextRequest;
use super::tasks::TASK_MAIN;
use crate::failures::{Subject, asks_only};
use crate::hooks::{
    Answer, FENCE_CHARS, HookEvent, Host, Moment, ToolUse, Wanted, fence, fenced, shortened,
    without_fences,
};
use crate::places;
use crate::signals;
use heirloom_model::context::Context;
use heirloom_model::record::check_name;
use heirloom_model::{Budget, Fault, Scope, limits, text};
use heirloom_store::Change;
use heirloom_window::Policy;
use state::State;
use std::path::Path;
use std::time::Instant;

/// An event that an agent program's hook was called for.
#[derive(Debug, Clone, Copy)]
pub struct HookRequest<'a> {
    /// The program.
    pub host: Host,
    /// What is known of the event.
    pub wanted: &'a Wanted,
    /// What it says.
    pub event: &'a HookEvent,
    /// How outputs that are too long are shortened, if they are.
    pub shorten: Option<&'a Policy>,
    /// When whoever called the hook wants it to end: a conversation is read no longer than that.
    pub until: Instant,
}

impl HookRequest<'_> {
    /// Where what is learned from it belongs. A name that cannot be one is left out.
    fn scope(&self) -> Scope {
        let main = self.main_scope();
        let agent = usable("agent", self.event.agent_id.as_deref());
        Scope {
            agent: agent.or(main.agent),
            ..main
        }
    }

    /// The same of what the main agent says and does.
    fn main_scope(&self) -> Scope {
        Scope {
            session: usable("session", self.event.session.as_deref()),
            agent: Some(self.host.as_str().to_owned()),
            ..Scope::default()
        }
    }
}

fn usable(what: &'static str, name: Option<&str>) -> Option<String> {
    let name = name.filter(|name| check_name(what, name).is_ok());
    name.map(str::to_owned)
}

impl Engine {
    /// What memory answers to an event of an agent program, and what it learns from it. What it learned is durable when
    /// this returns; what a session was told already may be lost with the power.
    ///
    /// Nothing for events that cannot put text before the model, and when memory is off. Errors are the store's.
    pub fn hook(&self, request: &HookRequest<'_>) -> Result<Answer, Fault> {
        if !self.settings.enabled {
            return Ok(Answer::default());
        }
        let session = request.event.session.as_deref();
        let (mut state, lock) = State::taken(&self.folder, request.host, session);
        let before = state.clone();
        let answer = self.answered(request, &mut state)?;
        if state != before {
            state.keep();
        }
        drop(lock);
        Ok(answer)
    }

    fn answered(&self, request: &HookRequest<'_>, state: &mut State) -> Result<Answer, Fault> {
        let event = request.event;
        match request.wanted.moment {
            Moment::SessionStarts => self.session_starts(request, state),
            Moment::Prompt => self.prompted(request, state),
            Moment::BeforeTool => self.before_tool(request, state),
            Moment::AfterTool | Moment::ToolFailed => match &event.tool {
                Some(tool) => self.after_tool(request, tool, state),
                None => Ok(Answer::default()),
            },
            Moment::BeforeCompaction | Moment::TurnEnds => {
                self.hear(request, state)?;
                Ok(Answer::default())
            }
            Moment::SubagentEnds => {
                self.hear(request, state)?;
                let id = usable("agent", event.agent_id.as_deref());
                if let (Some(id), Some(path)) = (id, &event.agent_transcript) {
                    state.subagent(&id, event.agent_type.as_deref(), path);
                }
                Ok(Answer::default())
            }
            Moment::SubagentStarts => {
                let context = self.hook_context(limits::HOOK_SUBAGENT_CHARS_MAX)?;
                Ok(self.say(&context.text, limits::HOOK_SUBAGENT_CHARS_MAX))
            }
            Moment::SessionEnds => {
                self.hear(request, state)?;
                self.session_ends(request, state)?;
                Ok(Answer::default())
            }
        }
    }

    /// The context, for those who have nothing of it before them: after a compaction with what the session was at.
    fn session_starts(
        &self,
        request: &HookRequest<'_>,
        state: &mut State,
    ) -> Result<Answer, Fault> {
        let source = request.event.source.as_deref();
        let goes_on = matches!(source, Some("resume" | "fork"));
        state.begin(request.event.transcript.as_deref(), source);
        let context = self.hook_context(limits::HOOK_TEXT_CHARS_MAX)?;
        let mut body = match source {
            Some("compact") => self.tamed(&state.anchor()),
            _ => String::new(),
        };
        body.push_str(&context.text);
        let made = text::hash16(&body);
        // A conversation that goes on has it before it already.
        if goes_on && state.context.as_deref() == Some(made.as_str()) {
            return Ok(Answer::default());
        }
        let answer = self.say(&body, limits::HOOK_TEXT_CHARS_MAX);
        if answer.context.is_empty() {
            return Ok(answer);
        }
        let items = context.sections.iter().flat_map(|section| &section.items);
        state.told(
            items
                .filter(|item| item.included())
                .filter_map(|item| item.id),
        );
        state.echo(&answer.context);
        state.context = Some(made);
        let asked = ContextRequest {
            session: request.scope().session,
            ..ContextRequest::default()
        };
        // Without its receipt a context is worth as much.
        drop(self.keep_receipt(&asked, &context, None));
        Ok(answer)
    }

    /// The context that fits into so many characters with its fence.
    fn hook_context(&self, chars_max: usize) -> Result<Context, Fault> {
        let room = chars_max.saturating_sub(FENCE_CHARS);
        let budget = self.settings.context_budget.chars().min(room);
        self.context(&ContextRequest {
            budget: Some(Budget::Chars(budget)),
            ..ContextRequest::default()
        })
    }

    /// What memory has for a prompt that the session was not told yet.
    fn prompted(&self, request: &HookRequest<'_>, state: &mut State) -> Result<Answer, Fault> {
        let Some(prompt) = request.event.prompt.as_deref() else {
            return Ok(Answer::default());
        };
        let by_person = matches!(request.event.source.as_deref(), None | Some("user" | "sdk"));
        let prompt = without_fences(prompt);
        if !by_person || prompt.trim().is_empty() {
            return Ok(Answer::default());
        }
        let clean = self.clean(&prompt);
        state.asked(&clean);
        let mut near = self.nearest(&clean)?;
        near.retain(|one| !state.knows(one.record.id));
        let places = Relevant::told(&near, limits::HOOK_HITS_MAX);
        let found: Vec<_> = places.iter().filter_map(|n| near.get(*n)).collect();
        let lines: Vec<_> = (found.iter())
            .map(|one| relevance::line(&one.record))
            .collect();
        if lines.is_empty() {
            return Ok(Answer::default());
        }
        let answer = self.say(&lines.join("\n"), limits::HOOK_TEXT_CHARS_MAX);
        state.told(found.iter().map(|one| one.record.id));
        state.echo(&answer.context);
        Ok(answer)
    }

    fn before_tool(&self, request: &HookRequest<'_>, state: &mut State) -> Result<Answer, Fault> {
        let Some(tool) = &request.event.tool else {
            return Ok(Answer::default());
        };
        let mut lines = Vec::new();
        for subject in self.subjects(request, tool) {
            let Some(record) = self.failure_of(&subject)? else {
                continue;
            };
            if !state.knows(record.id) {
                lines.push(failures::warning(&record));
                state.told([record.id]);
            }
        }
        Ok(self.say(&lines.join("\n"), limits::HOOK_TEXT_CHARS_MAX))
    }

    fn after_tool(
        &self,
        request: &HookRequest<'_>,
        tool: &ToolUse,
        state: &mut State,
    ) -> Result<Answer, Fault> {
        self.hear(request, state)?;
        let subjects = self.subjects(request, tool);
        if let Some(said) = &tool.failure {
            return self.tool_failed(request, tool, &subjects, said, state);
        }
        if tool.is_told {
            self.tool_worked(request, &subjects, state)?;
            self.files_changed(request, &subjects, state)?;
        }
        let output = match (request.shorten, &tool.response) {
            (Some(policy), Some(response)) => self.shortened_output(tool, response, policy)?,
            _ => None,
        };
        Ok(Answer {
            output,
            ..Answer::default()
        })
    }

    /// What a tool does that may fail: a command, the edit of files.
    fn subjects(&self, request: &HookRequest<'_>, tool: &ToolUse) -> Vec<Subject> {
        let mut subjects = Vec::new();
        if let Some(command) = tool.command.as_deref().filter(|said| !asks_only(said)) {
            subjects.push(Subject::Command(self.clean(command).into_owned()));
        }
        let cwd = request.event.cwd.as_deref().map(Path::new);
        for file in &tool.files {
            let absolute = match cwd {
                Some(cwd) if Path::new(file).is_relative() => cwd.join(file),
                _ => file.into(),
            };
            let inside = places::normalise_inside(&self.root, &absolute.to_string_lossy());
            if let Ok(inside) = inside {
                subjects.push(Subject::Edit(self.clean(&inside).into_owned()));
            }
        }
        subjects
    }

    /// Puts down the files that the session had not changed before.
    fn files_changed(
        &self,
        request: &HookRequest<'_>,
        subjects: &[Subject],
        state: &mut State,
    ) -> Result<(), Fault> {
        let files = subjects.iter().filter_map(|subject| match subject {
            Subject::Edit(file) => Some(file.as_str()),
            Subject::Command(_) => None,
        });
        let mut fresh: Vec<&str> = Vec::new();
        for file in files.filter(|file| !state.has_file(file)) {
            // What a transcript told of is remembered without a task.
            if !self.has_file(file, None)? {
                fresh.push(file);
            }
        }
        if fresh.is_empty() {
            return Ok(());
        }
        let source = request.host.as_str();
        let scope = Scope {
            task: Some(TASK_MAIN.to_owned()),
            ..request.scope()
        };
        let mut changes: Vec<Change> = vec![self.known_task(TASK_MAIN, source)?];
        changes.extend(
            fresh
                .iter()
                .map(|file| self.file_change(file, scope.clone(), source)),
        );
        self.apply(&changes)?;
        for file in fresh {
            state.changed(file);
        }
        Ok(())
    }

    /// The output with previews in the place of long texts, which are kept whole first.
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
        let short = shortened(
            response,
            most,
            &mut |whole| match self.keep_output(&tool.name, whole) {
                Ok((id, path)) => Some(preview_of(whole, preview, &id, &path)),
                Err(fault) => {
                    problem = Some(fault);
                    None
                }
            },
        );
        match problem {
            Some(fault) => Err(fault),
            None => Ok(short),
        }
    }

    /// Text for the model, between fences.
    fn say(&self, body: &str, chars_max: usize) -> Answer {
        Answer {
            context: fenced(self.project.as_str(), &self.tamed(body), chars_max),
            output: None,
        }
    }

    /// What memory says to a model that asked for it: whole, between fences that say what it is and from where. Empty for
    /// nothing.
    pub fn told(&self, body: &str) -> String {
        fence(self.project.as_str(), &self.tamed(body), usize::MAX)
    }

    /// A text that is no signal when an agent repeats it, and steers no terminal.
    fn tamed(&self, body: &str) -> String {
        let plain = text::printable(body);
        match self.signal_rules() {
            Ok(rules) => signals::defuse(&plain, &rules),
            Err(_) => plain,
        }
    }
}

/// The beginning and the end of a text, and where all of it is.
fn preview_of(whole: &str, chars: usize, id: &str, path: &Path) -> String {
    let half = chars / 2;
    let (head, tail) = (text::clip(whole, half), text::clip_start(whole, half));
    let left_out = text::chars(whole).saturating_sub(text::chars(head) + text::chars(tail));
    format!(
        "{head}\n[… {left_out} characters are left out here; all of it: {}, or `heirloom expand {id}`]\n{tail}",
        path.display()
    )
}
