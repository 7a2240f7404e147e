//! Error lines that every command prints, whether it succeeds or not.

use crate::bounded_text::bounded;
use crate::event_place::EventPlace;
use crate::{Candidate, LessonContent, SourceKind, Speaker};
use heirloom_agents::transcripts::{ToolAction, ToolOutcome};
use heirloom_model::text;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Calls without a result that are kept.
const CALLS_MAX: usize = 8;
/// Lines that are counted.
const LINES_MAX: usize = 6;
/// Lines at the beginning of an output that are read.
const HEAD_LINES: usize = 3;
/// Bytes of a line.
const LINE_BYTES_MAX: usize = 140;
/// Bytes of a call id.
const NAME_BYTES_MAX: usize = 80;
/// Bytes of an output that are read.
const OUTPUT_BYTES_MAX: usize = 2_000;
/// Commands that print a line before it is taken for theirs.
const REPEATS_MIN: u32 = 5;
/// Worth of the statement.
const WORTH: f32 = 0.5;

/// Words of lines that look like errors.
const ERROR_WORDS: [&str; 8] = [
    "error",
    "cannot",
    "can't",
    "not permitted",
    "denied",
    "failed",
    "warning",
    "unable",
];

/// Line that successful commands print.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct RepeatedLine {
    line: String,
    count: u32,
    successes: u32,
    place: EventPlace,
}

/// State of the detection.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct MisleadingOutput {
    /// Ids of commands without a result.
    calls: VecDeque<String>,
    commands: u32,
    lines: Vec<RepeatedLine>,
}

impl MisleadingOutput {
    /// Takes note of a call.
    pub(super) fn add_call(&mut self, call: &str, action: &ToolAction) {
        if !matches!(action, ToolAction::Command(_)) {
            return;
        }
        if self.calls.len() == CALLS_MAX {
            self.calls.pop_front();
        }
        self.calls.push_back(bounded(call, NAME_BYTES_MAX));
    }

    /// Reads the result of a call.
    pub(super) fn add_result(
        &mut self,
        place: &EventPlace,
        call: &str,
        outcome: ToolOutcome,
        output: &str,
    ) {
        let call = bounded(call, NAME_BYTES_MAX);
        let Some(number) = self.calls.iter().rposition(|known| *known == call) else {
            return;
        };
        self.calls.remove(number);
        let head = output
            .get(..output.floor_char_boundary(OUTPUT_BYTES_MAX))
            .unwrap_or_default();
        self.commands = self.commands.saturating_add(1);
        let lines = head.lines().map(str::trim).filter(|line| !line.is_empty());
        for line in lines.take(HEAD_LINES) {
            self.count_line(place, line, outcome == ToolOutcome::Succeeded);
        }
    }

    fn count_line(&mut self, place: &EventPlace, line: &str, is_success: bool) {
        let lower = line.to_lowercase();
        if line.len() > LINE_BYTES_MAX || !ERROR_WORDS.iter().any(|word| lower.contains(word)) {
            return;
        }
        let success = u32::from(is_success);
        let line = bounded(line, LINE_BYTES_MAX);
        if let Some(known) = self.lines.iter_mut().find(|known| known.line == line) {
            known.count = known.count.saturating_add(1);
            known.successes = known.successes.saturating_add(success);
            return;
        }
        if self.lines.len() == LINES_MAX {
            let least = self
                .lines
                .iter()
                .enumerate()
                .min_by_key(|(_, known)| known.count);
            if let Some(number) = least.map(|(number, _)| number) {
                self.lines.swap_remove(number);
            }
        }
        self.lines.push(RepeatedLine {
            line,
            count: 1,
            successes: success,
            place: place.clone(),
        });
    }

    /// Adds the candidates found so far.
    pub(super) fn add_candidates(&self, out: &mut Vec<Candidate>) {
        let mut repeated: Vec<&RepeatedLine> = self
            .lines
            .iter()
            .filter(|known| {
                known.successes >= REPEATS_MIN && known.count.saturating_mul(2) >= self.commands
            })
            .collect();
        repeated.sort_by_key(|known| std::cmp::Reverse(known.count));
        if let Some(known) = repeated.first() {
            let line = text::excerpt(&known.line.replace('`', "'"), LINE_BYTES_MAX);
            let text = format!(
                "Commands print `{line}` before their output in this environment; it is harmless and can be ignored: they succeed."
            );
            out.push(candidate(text, &known.place, &known.line));
        }
    }
}

fn candidate(text: String, place: &EventPlace, line: &str) -> Candidate {
    Candidate {
        source: SourceKind::Explanation,
        speaker: Speaker::Program,
        content: LessonContent::Knowledge {
            category: "learning".to_owned(),
            key: None,
            text,
            rationale: None,
        },
        worth: WORTH,
        evidence: vec![place.evidence(line)],
        at: place.at,
        agent: place.agent.clone(),
    }
}
