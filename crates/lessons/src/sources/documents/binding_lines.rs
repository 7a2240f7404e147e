//! Lines of documents that bind the work: constraints, no-gos, definitions of done, requirements.

use crate::cues::DocumentCues;
use crate::event_place::EventPlace;
use crate::outline::{OutlineItem, read_outline};
use crate::sentences::capitalize;
use heirloom_model::text;
use serde::{Deserialize, Serialize};

/// Greatest number of lines that are kept.
const LINES_MAX: usize = 36;
/// Greatest number of sections that are recognised when they are read again.
const SECTIONS_MAX: usize = 64;
/// Greatest number of characters of a line.
const LINE_CHARS_MAX: usize = 220;
/// Smallest number of words of a line.
const LINE_WORDS_MIN: usize = 3;
/// Number of occurrences from which on a line is repeated.
const REPEATED_MIN: u32 = 2;

/// Kind of a line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum LineKind {
    /// Constraint or no-go.
    #[default]
    Constraint,
    /// Part of a definition of done.
    Completion,
    /// Requirement or convention.
    Requirement,
}

/// A line that binds the work.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct BindingLine {
    kind: LineKind,
    /// The line as a sentence.
    pub(super) text: String,
    /// Documents in which it was found.
    pub(super) document: String,
    /// Number of occurrences.
    uses: u32,
    /// Number of words that forbid or limit something.
    bindings: usize,
    is_task_bound: bool,
    /// Place of the first occurrence.
    pub(super) place: EventPlace,
}

/// Lines of all documents of a session.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct BindingLines {
    lines: Vec<BindingLine>,
    /// Hashes of the sections that were read, each with the section before it.
    sections: Vec<String>,
}

impl BindingLines {
    /// Adds the lines of a document.
    pub(super) fn read(
        &mut self,
        document: &str,
        content: &str,
        place: &EventPlace,
        cues: &DocumentCues,
    ) {
        let content = without_line_numbers(content);
        let outline = read_outline(&content);
        let mut before = String::new();
        for section in &outline {
            let texts: Vec<String> = section.items.iter().map(OutlineItem::full_text).collect();
            let hash = text::hash16(&texts.join("\n"));
            // The same issue may be printed again, alone or with others.
            let name = format!("{before}{hash}");
            before = hash;
            let heading = section.heading.to_lowercase();
            let sections = &cues.sections;
            let kind = if sections.completion.is_in(&heading) {
                LineKind::Completion
            } else if sections.constraints.is_in(&heading) {
                LineKind::Constraint
            } else if sections.requirements.is_in(&heading) {
                LineKind::Requirement
            } else {
                continue;
            };
            if self.sections.contains(&name) {
                continue;
            }
            if self.sections.len() < SECTIONS_MAX {
                self.sections.push(name);
            }
            for item in section.items.iter().filter(|item| item.is_listed) {
                let full = item.full_text().replace("**", "");
                let words = full.split_whitespace().count();
                // The cells of a table row are no sentence.
                let is_row = full.matches(" — ").count() > 1;
                if is_row
                    || words < LINE_WORDS_MIN
                    || full.chars().count() > LINE_CHARS_MAX
                    || full.ends_with(':')
                {
                    continue;
                }
                self.add(BindingLine {
                    kind,
                    document: document.to_owned(),
                    place: place.clone(),
                    ..binding_line(&full, cues)
                });
            }
        }
    }

    fn add(&mut self, line: BindingLine) {
        let normal = text::normalize(&line.text);
        let is_same = |known: &&mut BindingLine| {
            known.kind == line.kind && text::normalize(&known.text) == normal
        };
        if let Some(known) = self.lines.iter_mut().find(is_same) {
            known.uses = known.uses.saturating_add(1);
        } else if self.lines.len() < LINES_MAX {
            self.lines.push(line);
        }
    }

    /// Returns the lines of a kind, the most binding ones first; with `only_repeated` those that occur several times.
    pub(super) fn of_kind(&self, kind: LineKind, only_repeated: bool) -> Vec<&BindingLine> {
        let mut lines: Vec<&BindingLine> = self
            .lines
            .iter()
            .filter(|line| line.kind == kind && (!only_repeated || line.uses >= REPEATED_MIN))
            .filter(|line| !line.is_task_bound || line.uses >= REPEATED_MIN)
            .filter(|line| line.bindings > 0 || line.uses >= REPEATED_MIN)
            .collect();
        lines.sort_by_key(|line| {
            (
                std::cmp::Reverse(line.uses),
                std::cmp::Reverse(line.bindings),
            )
        });
        lines
    }
}

fn binding_line(full: &str, cues: &DocumentCues) -> BindingLine {
    let lower = full.to_lowercase();
    BindingLine {
        text: capitalize(full.trim()),
        uses: 1,
        bindings: cues.phrases.binding.count_in(&lower),
        is_task_bound: cues.phrases.task_bound.is_in(&lower),
        ..BindingLine::default()
    }
}

/// Returns a text without the line numbers that a tool put before its lines.
fn without_line_numbers(content: &str) -> std::borrow::Cow<'_, str> {
    let first = content
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default();
    let digits = first
        .trim_start()
        .trim_start_matches(|c: char| c.is_ascii_digit());
    if digits.len() == first.trim_start().len() || !digits.starts_with(['→', '\t']) {
        return std::borrow::Cow::Borrowed(content);
    }
    let strip = |line: &str| match line.find(['→', '\t']) {
        Some(at) if at < 10 => line
            .get(at..)
            .unwrap_or_default()
            .trim_start_matches(['→', '\t'])
            .to_owned(),
        _ => line.to_owned(),
    };
    std::borrow::Cow::Owned(content.lines().map(strip).collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cues::Cues;

    #[test]
    fn read_keeps_binding_lines_and_counts_repetitions() {
        let mut lines = BindingLines::default();
        let issue = |name: &str| {
            format!(
                "APP-1 · {name}\n\n## No-gos\n- No new table.\n- No {name} in this task\n\nDefinition of done:\n- Unrelated problems are filed, not fixed.\n- {name} is documented\n\n## Notes\n- never read\n"
            )
        };
        for name in ["parser", "writer", "parser"] {
            lines.read(
                "issues",
                &issue(name),
                &EventPlace::default(),
                &Cues::get().documents,
            );
        }
        let texts = |kind, repeated| -> Vec<String> {
            lines
                .of_kind(kind, repeated)
                .iter()
                .map(|line| line.text.clone())
                .collect()
        };
        assert_eq!(
            texts(LineKind::Completion, true),
            ["Unrelated problems are filed, not fixed."]
        );
        assert_eq!(
            texts(LineKind::Constraint, false)
                .first()
                .map(String::as_str),
            Some("No new table.")
        );
        assert!(texts(LineKind::Requirement, false).is_empty());
    }

    #[test]
    fn without_line_numbers_removes_numbers_of_tools() {
        assert_eq!(without_line_numbers("     1→# A\n     2→- b"), "# A\n- b");
        assert_eq!(without_line_numbers("# A\n- b"), "# A\n- b");
        assert_eq!(without_line_numbers("1. a"), "1. a");
    }
}
