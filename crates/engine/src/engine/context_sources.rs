//! Context sources: one row and one function each.
//!
//! To add a source: write a function that returns its sections, add a row here, and a row in
//! `heirloom_model::section::SOURCES` with its default share.

mod codebase;
mod lessons;
mod plan;
mod team;

use super::Engine;
use super::context::{ContextRequest, Echoes};
use super::directive_injection::InjectionReport;
use crate::engine::{Contexts, EndedRecords};
use heirloom_model::context::{Context, MemoryView};
use heirloom_model::section::{Offer, Origin, Section, SourceRow};
use heirloom_model::{Fault, RecordId, limits, text};
pub(super) use lessons::{lesson, recall_offer};
use std::collections::HashSet;

/// Inputs of a source.
pub(super) struct SourceInput<'a> {
    /// The context request.
    pub(super) request: &'a ContextRequest,
    /// Content that the invocation injects.
    pub(super) injected: Option<&'a InjectionReport>,
    /// Question and prompt, which no text repeats.
    pub(super) echoes: Echoes,
    /// Words of the task for queries; may be empty.
    pub(super) words: String,
    /// Records that Session Memory contains already.
    pub(super) shown: HashSet<RecordId>,
    /// Files that the task changed.
    pub(super) files: Vec<(Option<RecordId>, String)>,
    /// Tokens of the source's share; `None` if shares are no limits.
    pub(super) budget_tokens: Option<usize>,
    /// Records that are not offered any more.
    pub(super) ended: &'a EndedRecords<'a>,
}

/// Function of a source: returns its sections for a prompt.
type Source = fn(&Engine, &SourceInput<'_>) -> Result<Vec<Section>, Fault>;

/// Sources by the name of their row.
const TABLE: [(&str, Source); 13] = [
    ("plan", |engine, input| {
        as_list(engine.contexts().plan_section(input))
    }),
    ("learnings", |engine, input| {
        as_list(engine.contexts().learned_section(input))
    }),
    ("output", |engine, input| as_list(own_output(engine, input))),
    ("outputs", |engine, input| {
        as_list(other_outputs(engine, input))
    }),
    ("history", |engine, input| as_list(history(engine, input))),
    ("recall", |engine, input| {
        as_list(engine.contexts().recalled_for_prompt(input))
    }),
    ("group", group),
    ("workspace", |engine, _| {
        as_list(Ok(engine.workspace().section()))
    }),
    ("team", |engine, input| {
        as_list(engine.contexts().team_section(input))
    }),
    ("user", |engine, _| as_list(user(engine))),
    ("architecture", |engine, input| {
        as_list(engine.contexts().architecture_section(input))
    }),
    ("files", |engine, input| as_list(Ok(files(engine, input)))),
    ("codebase", |engine, input| {
        as_list(engine.contexts().codebase_section(input))
    }),
];

/// Returns the sections of a source by its name; none for an unknown one.
pub(super) fn sections_of(
    engine: &Engine,
    name: &str,
    input: &SourceInput<'_>,
) -> Result<Vec<Section>, Fault> {
    match TABLE.iter().find(|(known, _)| *known == name) {
        Some((_, source)) => source(engine, input),
        None => Ok(Vec::new()),
    }
}

fn as_list(section: Result<Section, Fault>) -> Result<Vec<Section>, Fault> {
    section.map(|section| vec![section])
}

fn group(engine: &Engine, input: &SourceInput<'_>) -> Result<Vec<Section>, Fault> {
    match &input.request.group {
        Some(group) => engine.groups().sections(group),
        None => Ok(Vec::new()),
    }
}

/// Returns the section of the person's memory, if it is attached.
fn user(engine: &Engine) -> Result<Section, Fault> {
    match &engine.user {
        Some(user) => user.contexts().user_section(),
        None => Ok(Section::default()),
    }
}

fn own_output(engine: &Engine, input: &SourceInput<'_>) -> Result<Section, Fault> {
    // The directive `tail` replaces it.
    let has_tail = input
        .injected
        .is_some_and(|injected| injected.tail_lines.is_some());
    match &input.request.agent {
        Some(agent) if !has_tail => engine
            .outputs()
            .own_output_section(input.request.plan(), agent)
            .map(|section| input.echoes.remove_from(section)),
        Some(_) | None => Ok(Section::default()),
    }
}

fn other_outputs(engine: &Engine, input: &SourceInput<'_>) -> Result<Section, Fault> {
    let request = input.request;
    match request.plan() {
        Some(plan) => engine
            .outputs()
            .other_outputs_section(plan, request.agent.as_deref())
            .map(|section| input.echoes.remove_from(section)),
        None => Ok(Section::default()),
    }
}

fn history(engine: &Engine, input: &SourceInput<'_>) -> Result<Section, Fault> {
    match &input.request.session {
        Some(session) => {
            engine
                .sessions()
                .history_without(&input.echoes, session, input.budget_tokens)
        }
        None => Ok(Section::default()),
    }
}

/// Returns the files of the task that did not fit into Session Memory.
fn files(_: &Engine, input: &SourceInput<'_>) -> Section {
    if !input.request.is_invocation() {
        return Section::default();
    }
    let offer = |(id, path): &(Option<RecordId>, String)| Offer {
        origin: id.map_or(Origin::Unspecified, Origin::Record),
        text: text::one_line(path),
        ..Offer::default()
    };
    Section {
        name: "files".to_owned(),
        heading: "## Files of This Task".to_owned(),
        offers: input.files.iter().rev().map(offer).collect(),
        ..Section::default()
    }
}

impl Contexts<'_> {
    /// Returns what the invocation injects, and the last lines of the agent's output if requested. An output that
    /// cannot be read becomes a note.
    pub(super) fn directive_sections(
        &self,
        request: &ContextRequest,
        injected: Option<&InjectionReport>,
    ) -> Vec<(SourceRow, Section)> {
        let Some(injected) = injected else {
            return Vec::new();
        };
        let tail = injected.tail_lines.map(|lines| {
            self.injected_tail(request.plan(), &injected.agent, lines)
                .unwrap_or_else(|fault| Section {
                    notes: vec![fault.message],
                    ..Section::default()
                })
        });
        let sections = injected.sections.iter().cloned().chain(tail);
        sections
            .map(|section| (SourceRow::of_directives(), section))
            .collect()
    }

    /// Collects the sections of the configured sources in order. A source that fails contributes only a note.
    pub(super) fn sections(
        &self,
        request: &ContextRequest,
        injected: Option<&InjectionReport>,
        view: &MemoryView,
        memory: &Context,
        ended: &EndedRecords<'_>,
    ) -> Vec<(SourceRow, Section)> {
        let mut input = SourceInput::new(request, view, memory, ended);
        input.injected = injected;
        let left = memory.budget.chars();
        let left = left.saturating_sub(text::chars(&memory.text));
        let rows = self.engine.settings.sources.iter();
        let enabled = rows.filter(|row| row.share_percent > 0 || row.min_chars > 0);
        let mut answered = Vec::new();
        for row in enabled {
            let Some((_, source)) = TABLE.iter().find(|(name, _)| *name == row.name) else {
                continue;
            };
            let percent = usize::try_from(row.share_percent).unwrap_or(100);
            let room = (left.saturating_mul(percent) / 100).max(row.min_chars.min(left));
            input.budget_tokens = Some(room / limits::CHARS_PER_TOKEN);
            let sections = source(self.engine, &input).unwrap_or_else(|fault| {
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

impl<'a> SourceInput<'a> {
    fn new(
        request: &'a ContextRequest,
        view: &MemoryView,
        memory: &Context,
        ended: &'a EndedRecords<'a>,
    ) -> Self {
        let items = memory.sections.iter().flat_map(|section| &section.items);
        let shown = items
            .filter(|item| item.is_included())
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
        let shown: HashSet<RecordId> = shown.collect();
        let files = view.task.iter().flat_map(|task| &task.files);
        let remaining = files.filter(|file| file.id.is_none_or(|id| !shown.contains(&id)));
        Self {
            request,
            echoes: Echoes::of_request(request),
            injected: None,
            words: joined,
            files: remaining.map(|file| (file.id, file.text.clone())).collect(),
            shown,
            budget_tokens: None,
            ended,
        }
    }

    /// Returns the input for a context by worth: the files of the task that its list does not have, and the records
    /// that Session Memory considers.
    pub(super) fn for_worth(
        request: &'a ContextRequest,
        injected: Option<&'a InjectionReport>,
        view: &MemoryView,
        considered: &HashSet<RecordId>,
        ended: &'a EndedRecords<'a>,
    ) -> Self {
        let files = view.task.iter().flat_map(|task| {
            let listed = task.files.len().saturating_sub(limits::CONTEXT_TASK_RECENT);
            task.files.iter().take(listed)
        });
        Self {
            request,
            echoes: Echoes::of_request(request),
            injected,
            words: String::new(),
            files: files.map(|file| (file.id, file.text.clone())).collect(),
            shown: considered.clone(),
            budget_tokens: None,
            ended,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heirloom_model::section::SOURCES;

    #[test]
    fn source_table_matches_default_shares() {
        let here: Vec<_> = TABLE.iter().map(|(name, _)| *name).collect();
        let usual: Vec<_> = SOURCES.iter().map(|(name, ..)| *name).collect();
        assert_eq!(here, usual);
    }
}
