//! Reads one result: the status, markers, errors and reports, each as far as the ones before leave it open.

use super::flow_node::FlowNode;
use super::output_evidence::OutputEvidence;
use super::part_role::PartRole;
use super::status_flow::Flow;
use super::{CommandResult, CommandShape, CommandState, ResultReason, ShapePart};

/// Exit code of `timeout`.
const TIMEOUT_CODE: i64 = 124;
/// Exit codes of `grep`, `diff` and `test`, and of `xargs grep`, that are answers.
const ANSWER_CODES: [i64; 2] = [1, 123];

/// Reader of one result.
pub(super) struct ResultReader<'s> {
    shape: &'s CommandShape,
    flow: Flow,
    evidence: OutputEvidence,
    code: Option<i64>,
    /// Parts whose failure is an answer.
    answered: Vec<bool>,
    /// True if the output decided about a part.
    is_by_output: bool,
}

impl<'s> ResultReader<'s> {
    pub(super) fn new(
        shape: &'s CommandShape,
        evidence: OutputEvidence,
        code: Option<i64>,
    ) -> Self {
        Self {
            shape,
            flow: Flow::new(shape.parts.len()),
            evidence,
            code,
            answered: vec![false; shape.parts.len()],
            is_by_output: false,
        }
    }

    pub(super) fn read(&mut self, succeeded: Option<bool>) {
        self.flow.has_succeeded = succeeded == Some(true);
        self.flow.fix_constants(&self.shape.parts);
        self.read_markers();
        self.flow.narrow(&self.shape.root, succeeded);
        self.add_named_failures();
        self.flow.narrow(&self.shape.root, succeeded);
        if succeeded == Some(false) && !self.has_failed_part() {
            self.blame_candidate();
            self.flow.narrow(&self.shape.root, succeeded);
        }
        self.add_reports();
        self.flow.narrow(&self.shape.root, succeeded);
        self.mark_answers();
    }

    /// Uses what `echo` printed: its text shows that it ran, `$?` the status of the command before it.
    fn read_markers(&mut self) {
        for (number, part) in self.shape.parts.iter().enumerate() {
            let Some(marker) = &part.marker else {
                continue;
            };
            let ran = self.evidence.has_line_with(marker);
            let is_same = |other: &&ShapePart| other.marker.as_ref() == Some(marker);
            // Two commands that print the same: one of them ran.
            if !ran || self.shape.parts.iter().filter(is_same).count() == 1 {
                self.flow.set_begun(number, ran);
            }
        }
        for status in self.shape.root.printed_statuses() {
            let Some(part) = self.shape.parts.get(status.printer) else {
                continue;
            };
            let printed = part.printed_status.as_ref();
            if let Some(code) = printed.and_then(|printed| self.evidence.printed_code(printed)) {
                let mut node = status.node;
                if let FlowNode::Pipe { stages, .. } = node
                    && part.text.contains("PIPESTATUS[0]")
                    && let Some(first) = stages.first()
                {
                    node = first;
                }
                self.is_by_output = true;
                self.flow.narrow(node, Some(code == 0));
                if code != 0 && self.code.is_none() {
                    self.code = Some(code);
                }
            }
        }
    }

    /// Adds the failures of parts that an error line names.
    fn add_named_failures(&mut self) {
        let parts = &self.shape.parts;
        let open: Vec<usize> = (0..parts.len())
            .filter(|number| self.flow.is_open(*number) && !self.flow.is_inverted(*number))
            .collect();
        for number in self.evidence.named_failures(parts, &open) {
            self.flow.set_shown(number, false);
            self.is_by_output = true;
        }
    }

    /// Blames one of the parts that can be the reason of the failure.
    fn blame_candidate(&mut self) {
        let candidates = self.flow.failure_candidates(&self.shape.root);
        let parts = &self.shape.parts;
        let role = |number: &usize| parts.get(*number).map_or(PartRole::Work, |part| part.role);
        // Programs such as `cat` name themselves in their errors.
        let silent = |number: &usize| matches!(role(number), PartRole::Setup | PartRole::Reader);
        let quiet = |number: &usize| parts.get(*number).is_some_and(|part| part.is_silenced);
        let likely: Vec<usize> = candidates
            .iter()
            .copied()
            .filter(|number| !silent(number) || quiet(number))
            .collect();
        let likely = if likely.is_empty() {
            candidates
        } else {
            likely
        };
        let named = self.evidence.last_reporter(parts, &likely);
        let lookup = || {
            let lookups = likely
                .iter()
                .rev()
                .find(|number| role(number) == PartRole::Lookup);
            lookups.filter(|_| self.evidence.is_empty()).copied()
        };
        if let Some(number) = named.or_else(lookup).or_else(|| likely.last().copied()) {
            self.is_by_output |= named.is_some();
            self.flow.set_shown(number, false);
        }
    }

    /// Adds what the reports of test programs, compilers and linters show about parts with an unknown status.
    fn add_reports(&mut self) {
        let parts = &self.shape.parts;
        let open: Vec<usize> = (0..parts.len())
            .filter(|number| self.flow.is_open(*number) && !self.flow.is_inverted(*number))
            .filter(|number| {
                let Some(part) = parts.get(*number) else {
                    return false;
                };
                part.role == PartRole::Work && !part.shows_content
            })
            .collect();
        if open.is_empty() {
            return;
        }
        // `… | grep error` selects lines that need not be a report.
        let selects_errors = |part: &ShapePart| {
            let lower = part.text.to_lowercase();
            part.is_piped
                && part.role == PartRole::Lookup
                && (lower.contains("err") || lower.contains("fail"))
        };
        let has_content = parts
            .iter()
            .any(|part| part.shows_content && !part.is_substituted || selects_errors(part));
        let found = self.evidence.report(parts, &open, has_content);
        let Some((number, has_passed)) = found else {
            return;
        };
        self.flow.set_shown(number, has_passed);
        self.is_by_output = true;
    }

    /// Marks failures that are answers: a lookup with status 1 and no error.
    fn mark_answers(&mut self) {
        for (number, part) in self.shape.parts.iter().enumerate() {
            let is_answer = part.role == PartRole::Lookup
                && self.flow.outcome(number) == Some(false)
                && (part.text.starts_with("systemctl")
                    || self.code.is_none_or(|code| ANSWER_CODES.contains(&code)))
                && !self.evidence.names_failure_of(part);
            if let Some(answered) = self.answered.get_mut(number).filter(|_| is_answer) {
                *answered = true;
            }
        }
    }

    fn has_failed_part(&self) -> bool {
        (0..self.shape.parts.len()).any(|number| self.flow.outcome(number) == Some(false))
    }

    /// Returns the state of each part, of the line, and the blamed part.
    pub(super) fn result(&self) -> CommandResult {
        let parts: Vec<CommandState> = (0..self.shape.parts.len())
            .map(|number| match self.flow.outcome(number) {
                Some(true) => CommandState::Succeeded,
                Some(false) if self.answered.get(number) == Some(&true) => CommandState::Succeeded,
                Some(false) => CommandState::Failed,
                None => CommandState::Unknown,
            })
            .collect();
        let handled = self.flow.handled_parts(&self.shape.root, &self.shape.parts);
        let is_failed = |number: &usize| {
            parts.get(*number) == Some(&CommandState::Failed) && !handled.contains(number)
        };
        let failed: Vec<usize> = (0..parts.len()).filter(is_failed).collect();
        let blamed = self.blamed_part(&failed);
        let is_answered = self.answered.contains(&true);
        let state = match blamed {
            Some(_) => CommandState::Failed,
            None if self.is_proven(&parts) => CommandState::Succeeded,
            None => CommandState::Unknown,
        };
        let is_timeout = self.code == Some(TIMEOUT_CODE)
            && blamed.is_some_and(|number| {
                let part = self.shape.parts.get(number);
                part.is_some_and(|part| part.text.contains("timeout"))
            });
        let reason = match state {
            CommandState::Failed if is_timeout => ResultReason::TimedOut,
            CommandState::Unknown => ResultReason::Masked,
            CommandState::Succeeded if is_answered => ResultReason::Answer,
            CommandState::Succeeded | CommandState::Failed if self.is_by_output => {
                ResultReason::Output
            }
            CommandState::Succeeded | CommandState::Failed => ResultReason::Status,
        };
        CommandResult {
            state,
            blamed,
            reason,
            parts,
        }
    }

    /// Returns the failed part that is the reason: a folder that was not entered, then the last one.
    fn blamed_part(&self, failed: &[usize]) -> Option<usize> {
        let is_entry = |number: &&usize| {
            let part = self.shape.parts.get(**number);
            part.is_some_and(|part| part.role == PartRole::Setup)
        };
        if let Some(entry) = failed.iter().find(is_entry) {
            return Some(*entry);
        }
        // The later commands of a pipe fail because of the first one.
        let mut blamed = failed.last().copied()?;
        while let Some(before) = blamed.checked_sub(1)
            && failed.contains(&before)
            && (self.shape.parts.get(blamed)).is_some_and(|part| part.is_piped)
        {
            blamed = before;
        }
        Some(self.reason_of_exit(blamed).unwrap_or(blamed))
    }

    /// Returns the part whose failure leads to `exit 1`, as in `make || { tail log; exit 1; }`.
    fn reason_of_exit(&self, exit: usize) -> Option<usize> {
        let part = |number: usize| self.shape.parts.get(number);
        if part(exit)?.role != PartRole::Constant(false) {
            return None;
        }
        (0..exit).rev().find(|number| {
            self.flow.outcome(*number) == Some(false)
                && part(*number).is_some_and(|part| part.role == PartRole::Work)
        })
    }

    /// Returns true if every part that counts succeeded, gave an answer, or was not reached.
    fn is_proven(&self, parts: &[CommandState]) -> bool {
        let excused = self.flow.excused_parts(&self.shape.root, &self.shape.parts);
        let counts = |number: usize, part: &ShapePart| match part.role {
            PartRole::Work => {
                !part.is_substituted && !self.flow.is_skipped(number) && !excused.contains(&number)
            }
            PartRole::Setup
            | PartRole::Message
            | PartRole::Constant(_)
            | PartRole::Filter
            | PartRole::Reader
            | PartRole::Lookup => false,
        };
        let all = self.shape.parts.iter().enumerate();
        let counted: Vec<usize> = all
            .filter(|(number, part)| counts(*number, part))
            .map(|(number, _)| number)
            .collect();
        let is_open = |number: &usize| parts.get(*number) == Some(&CommandState::Unknown);
        match counted.is_empty() {
            true => self.flow.has_succeeded || self.answered.contains(&true),
            false => !counted.iter().any(is_open),
        }
    }
}
