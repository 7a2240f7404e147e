//! What may stand behind Session Memory: one row a source, one function each.
//!
//! To add a source: a function of what is asked that gives its sections, a row here, and a row in
//! `heirloom_model::section::SOURCES` with its usual share.

mod codebase;
mod learned;
mod planned;
mod team;

use super::Engine;
use super::gather::ContextRequest;
use super::inject::Injected;
use heirloom_model::context::{Context, MemoryView};
use heirloom_model::section::{Offer, Origin, Section, SourceRow};
use heirloom_model::{Fault, RecordId, limits, text};
use std::collections::HashSet;

/// What a source may know of the prompt.
pub(super) struct Asking<'a> {
    /// What was asked for.
    pub(super) request: &'a ContextRequest,
    /// What its invocation injects, if it is one.
    pub(super) injected: Option<&'a Injected>,
    /// The words of the task, to ask memory with; may be empty.
    pub(super) words: String,
    /// Records that Session Memory says already.
    pub(super) said: HashSet<RecordId>,
    /// Files that the task touched.
    pub(super) files: Vec<(Option<RecordId>, String)>,
    /// What the source's share comes to, tokens.
    pub(super) room_tokens: usize,
}

/// A source: what it has for this prompt.
type Source = fn(&Engine, &Asking<'_>) -> Result<Vec<Section>, Fault>;

/// Every source by the name of its row.
const TABLE: [(&str, Source); 14] = [
    ("directives", directives),
    ("plan", |engine, asking| one(engine.plan_section(asking))),
    ("learnings", |engine, asking| one(engine.learned(asking))),
    ("output", |engine, asking| one(own_output(engine, asking))),
    ("outputs", |engine, asking| {
        one(other_outputs(engine, asking))
    }),
    ("history", |engine, asking| one(history(engine, asking))),
    ("recall", |engine, asking| {
        one(engine.recalled_for_prompt(asking))
    }),
    ("group", group),
    ("workspace", |engine, _| one(Ok(engine.workspace_section()))),
    ("team", |engine, asking| one(engine.team_section(asking))),
    ("user", |engine, _| one(user(engine))),
    ("architecture", |engine, asking| {
        one(engine.architecture_section(asking))
    }),
    ("files", |engine, asking| one(Ok(files(engine, asking)))),
    ("codebase", |engine, asking| {
        one(engine.codebase_section(asking))
    }),
];

fn one(section: Result<Section, Fault>) -> Result<Vec<Section>, Fault> {
    section.map(|section| vec![section])
}

/// What the invocation injects, and the last lines of the agent's output if it wants them.
fn directives(engine: &Engine, asking: &Asking<'_>) -> Result<Vec<Section>, Fault> {
    let Some(injected) = asking.injected else {
        return Ok(Vec::new());
    };
    let mut sections = injected.sections.clone();
    if let Some(lines) = injected.tail_lines {
        let plan = asking.request.plan();
        sections.push(engine.injected_tail(plan, &injected.agent, lines)?);
    }
    Ok(sections)
}

fn group(engine: &Engine, asking: &Asking<'_>) -> Result<Vec<Section>, Fault> {
    match &asking.request.group {
        Some(group) => engine.group_sections(group),
        None => Ok(Vec::new()),
    }
}

/// The person's own memory, if it is attached.
fn user(engine: &Engine) -> Result<Section, Fault> {
    match &engine.user {
        Some(user) => user.user_section(),
        None => Ok(Section::default()),
    }
}

fn own_output(engine: &Engine, asking: &Asking<'_>) -> Result<Section, Fault> {
    // `tail` stands in its place.
    let has_tail = asking
        .injected
        .is_some_and(|injected| injected.tail_lines.is_some());
    match &asking.request.agent {
        Some(agent) if !has_tail => engine.own_output_section(asking.request.plan(), agent),
        Some(_) | None => Ok(Section::default()),
    }
}

fn other_outputs(engine: &Engine, asking: &Asking<'_>) -> Result<Section, Fault> {
    let request = asking.request;
    match request.plan() {
        Some(plan) => engine.other_outputs_section(plan, request.agent.as_deref()),
        None => Ok(Section::default()),
    }
}

fn history(engine: &Engine, asking: &Asking<'_>) -> Result<Section, Fault> {
    match &asking.request.session {
        Some(session) => engine.history_section(session, Some(asking.room_tokens)),
        None => Ok(Section::default()),
    }
}

/// The files that the task touched and Session Memory had no room for.
fn files(_: &Engine, asking: &Asking<'_>) -> Section {
    if !asking.request.is_invocation() {
        return Section::default();
    }
    let offer = |(id, path): &(Option<RecordId>, String)| Offer {
        origin: id.map_or(Origin::Nowhere, Origin::Record),
        text: text::one_line(path),
        ..Offer::default()
    };
    Section {
        name: "files".to_owned(),
        heading: "## Files of This Task".to_owned(),
        offers: asking.files.iter().rev().map(offer).collect(),
        ..Section::default()
    }
}

impl Engine {
    /// What the sources of the settings' table have, in its order. One that fails has nothing but a note of it.
    pub(super) fn sections(
        &self,
        request: &ContextRequest,
        injected: Option<&Injected>,
        view: &MemoryView,
        memory: &Context,
    ) -> Vec<(SourceRow, Section)> {
        let mut asking = Asking::of(request, view, memory);
        asking.injected = injected;
        let left = memory.budget.chars();
        let left = left.saturating_sub(text::chars(&memory.text));
        let rows = self.settings.sources.iter();
        let asked = rows.filter(|row| row.share_percent > 0 || row.min_chars > 0);
        let mut answered = Vec::new();
        for row in asked {
            let Some((_, source)) = TABLE.iter().find(|(name, _)| *name == row.name) else {
                continue;
            };
            let percent = usize::try_from(row.share_percent).unwrap_or(100);
            let room = (left.saturating_mul(percent) / 100).max(row.min_chars.min(left));
            asking.room_tokens = room / limits::CHARS_PER_TOKEN;
            let sections = source(self, &asking).unwrap_or_else(|fault| {
                vec![Section {
                    notes: vec![fault.message],
                    ..Section::default()
                }]
            });
            answered.extend(sections.into_iter().map(|section| (row.clone(), section)));
        }
        answered
    }
}

impl<'a> Asking<'a> {
    fn of(request: &'a ContextRequest, view: &MemoryView, memory: &Context) -> Self {
        let items = memory.sections.iter().flat_map(|section| &section.items);
        let said = items
            .filter(|item| item.included())
            .filter_map(|item| item.id);
        let mut words = Vec::new();
        words.extend(request.query.as_deref());
        if let Some(task) = &view.task {
            words.extend(task.blocked_reason.as_deref());
            words.extend(task.pending.iter().map(|step| step.text.as_str()));
        }
        words.extend(view.errors.iter().rev().map(|error| error.text.as_str()));
        let mut joined = String::new();
        for word in words {
            if joined.len() + word.len() >= limits::CONTEXT_QUESTION_BYTES_MAX {
                let left = limits::CONTEXT_QUESTION_BYTES_MAX - joined.len();
                joined.push_str(text::clip(word, left / 4));
                break;
            }
            joined.push_str(word);
            joined.push('\n');
        }
        let said: HashSet<RecordId> = said.collect();
        let files = view.task.iter().flat_map(|task| &task.files);
        let unsaid = files.filter(|file| file.id.is_none_or(|id| !said.contains(&id)));
        Self {
            request,
            injected: None,
            words: joined,
            files: unsaid.map(|file| (file.id, file.text.clone())).collect(),
            said,
            room_tokens: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heirloom_model::section::SOURCES;

    #[test]
    fn every_source_has_a_row_with_its_usual_share() {
        let here: Vec<_> = TABLE.iter().map(|(name, _)| *name).collect();
        let usual: Vec<_> = SOURCES.iter().map(|(name, ..)| *name).collect();
        assert_eq!(here, usual);
    }
}
