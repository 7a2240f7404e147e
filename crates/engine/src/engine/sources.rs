//! What may stand behind Session Memory: one row a source, one function each.
//!
//! To add a source: a function `Asking -> Result<Section, Fault>`, a row here, and a row in
//! `heirloom_model::section::SOURCES` with its usual share.

mod learned;

use super::Engine;
use super::gather::ContextRequest;
use heirloom_model::context::{Context, MemoryView};
use heirloom_model::section::{Section, SourceRow};
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
    pub(super) files: Vec<String>,
}

/// A source: what it has for this prompt.
type Source = fn(&Engine, &Asking<'_>) -> Result<Section, Fault>;

/// Every source by the name of its row.
const TABLE: [(&str, Source); 14] = [
    ("directives", nothing),
    ("plan", nothing),
    ("learnings", Engine::learned),
    ("output", nothing),
    ("outputs", nothing),
    ("history", nothing),
    ("recall", Engine::recalled_for_prompt),
    ("group", nothing),
    ("workspace", nothing),
    ("team", nothing),
    ("user", nothing),
    ("architecture", nothing),
    ("files", nothing),
    ("codebase", nothing),
];

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
        let asking = Asking::of(request, view, memory);
        let rows = self.settings.sources.iter();
        let asked = rows.filter(|row| row.share_percent > 0 || row.min_chars > 0);
        let answered = asked.filter_map(|row| {
            let (_, source) = TABLE.iter().find(|(name, _)| *name == row.name)?;
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
        let files = view.task.iter().flat_map(|task| &task.files);
        Self {
            request,
            words: joined,
            said: said.collect(),
            files: files.map(|file| file.text.clone()).collect(),
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
