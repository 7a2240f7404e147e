//! Output that means something else than it looks like: error lines that every command prints, and searches without a
//! match that are reported as denied.

use crate::bounded_text::bounded;
use crate::event_place::EventPlace;
use crate::{Candidate, LessonContent, SourceKind, Speaker};
use heirloom_agents::failures::CommandWords;
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
/// Bytes of a call id or program.
const NAME_BYTES_MAX: usize = 80;
/// Bytes of an output that are read.
const OUTPUT_BYTES_MAX: usize = 2_000;
/// Commands that print a line before it is taken for theirs.
const REPEATS_MIN: u32 = 5;
/// Denied searches before they are explained.
const DENIALS_MIN: u32 = 2;
/// Worth of both statements.
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

/// Programs that exit with 1 if nothing matches.
const SEARCHES: [&str; 6] = ["rg", "grep", "egrep", "fgrep", "ag", "ack"];

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
    /// Call id and program of calls without a result.
    calls: VecDeque<(String, String)>,
    commands: u32,
    lines: Vec<RepeatedLine>,
    /// Program, number and first place of denied searches.
    denied: Option<(String, u32, EventPlace)>,
}

impl MisleadingOutput {
    /// Takes note of a call.
    pub(super) fn add_call(&mut self, call: &str, action: &ToolAction) {
        let ToolAction::Command(line) = action else {
            return;
        };
        let head = line
            .get(..line.floor_char_boundary(OUTPUT_BYTES_MAX))
            .unwrap_or_default();
        let program = bounded(CommandWords::parse(head).program, NAME_BYTES_MAX);
        if self.calls.len() == CALLS_MAX {
            self.calls.pop_front();
        }
        self.calls
            .push_back((bounded(call, NAME_BYTES_MAX), program));
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
        let Some(number) = self.calls.iter().rposition(|(known, _)| *known == call) else {
            return;
        };
        let program = self
            .calls
            .remove(number)
            .map(|(_, program)| program)
            .unwrap_or_default();
        let head = output
            .get(..output.floor_char_boundary(OUTPUT_BYTES_MAX))
            .unwrap_or_default();
        self.commands = self.commands.saturating_add(1);
        if outcome == ToolOutcome::Rejected {
            self.add_denied(place, &program, head);
            return;
        }
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

    /// Counts a search that is reported as denied although it only found nothing.
    fn add_denied(&mut self, place: &EventPlace, program: &str, head: &str) {
        let errors = head.split_once("stderr: ").map_or("", |(_, errors)| errors);
        let is_known = |line: &str| {
            self.lines
                .iter()
                .any(|known| line.contains(known.line.as_str()) || known.line.contains(line))
        };
        let mut lines = errors
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty());
        let found_nothing = head.contains("exit code: 1,") && lines.all(is_known);
        if !SEARCHES.contains(&program) || !found_nothing {
            return;
        }
        match &mut self.denied {
            Some((_, count, _)) => *count = count.saturating_add(1),
            None => self.denied = Some((program.to_owned(), 1, place.clone())),
        }
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
        if let Some((program, count, place)) = &self.denied
            && *count >= DENIALS_MIN
        {
            let text = format!(
                "A search with `{program}` that finds no match exits with 1, and the sandbox reports it as \"sandbox denied exec error, exit code: 1\": that means no match, not a denied command."
            );
            out.push(candidate(
                text,
                place,
                "sandbox denied exec error, exit code: 1",
            ));
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
