//! What may stand behind Session Memory: one row a source, one function each.
//!
//! To add a source: a function `Asking -> Result<Section, Fault>`, a row here, and a row in
//! `heirloom_model::section::SOURCES` with its usual share.

mod codebase;
mod learned;
mod planned;

use super::Engine;
use super::gather::ContextRequest;
use heirloom_model::context::{Context, MemoryView};
use heirloom_model::section::{Offer, Origin, Section, SourceRow};
use heirloom_model::{Fault, RecordId, limits, text};
use std::collections::HashSet;

/// What a source may know of the prompt.
pub(super) struct Asking<'a> {
    /// What was asked for.
    pub(super) request: &'a ContextRequest,
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
type Source = fn(&Engine, &Asking<'_>) -> Result<Section, Fault>;

/// Every source by the name of its row.
const TABLE: [(&str, Source); 14] = [
    ("directives", nothing),
    ("plan", Engine::plan_section),
    ("learnings", Engine::learned),
    ("output", own_output),
    ("outputs", other_outputs),
    ("history", history),
    ("recall", Engine::recalled_for_prompt),
    ("group", nothing),
    ("workspace", nothing),
    ("team", nothing),
    ("user", nothing),
    ("architecture", Engine::architecture_section),
    ("files", files),
    ("codebase", Engine::codebase_section),
];

fn own_output(engine: &Engine, asking: &Asking<'_>) -> Result<Section, Fault> {
    match &asking.request.agent {
        Some(agent) => engine.own_output_section(asking.request.plan(), agent),
        None => Ok(Section::default()),
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
fn files(_: &Engine, asking: &Asking<'_>) -> Result<Section, Fault> {
    if !asking.request.is_invocation() {
        return Ok(Section::default());
    }
    let offer = |(id, path): &(Option<RecordId>, String)| Offer {
        origin: id.map_or(Origin::Nowhere, Origin::Record),
        text: text::one_line(path),
        score: None,
    };
    Ok(Section {
        name: "files".to_owned(),
        heading: "## Files of This Task".to_owned(),
        offers: asking.files.iter().rev().map(offer).collect(),
        notes: Vec::new(),
    })
}

fn nothing(_: &Engine, _: &Asking<'_>) -> Result<Section, Fault> {
    Ok(Section::default())
}

impl Engine {
    /// What the sources of the settings' table have, in its order. One that fails has nothing but a note of it.
    pub(super) fn sections(
        &self,
        request: &ContextRequest,
        view: &MemoryView,
        memory: &Context,
    ) -> Vec<(SourceRow, Section)> {
        let mut asking = Asking::of(request, view, memory);
        let left = memory.budget.chars();
        let left = left.saturating_sub(text::chars(&memory.text));
        let rows = self.settings.sources.iter();
        let asked = rows.filter(|row| row.share_percent > 0 || row.min_chars > 0);
        let answered = asked.filter_map(|row| {
            let (_, source) = TABLE.iter().find(|(name, _)| *name == row.name)?;
            let percent = usize::try_from(row.share_percent).unwrap_or(100);
            let room = (left.saturating_mul(percent) / 100).max(row.min_chars.min(left));
            asking.room_tokens = room / limits::CHARS_PER_TOKEN;
            let section = source(self, &asking).unwrap_or_else(|fault| Section {
                notes: vec![fault.message],
                ..Section::default()
            });
            Some((row.clone(), section))
        });
        answered.collect()
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
