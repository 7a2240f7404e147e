//! Progress of a request: what was done for it so far, and what shows that it is done or failed.

mod effects;

use super::final_message::{has_list, is_report, result_sentences};
use super::person_verdict::PersonVerdict;
use super::request_text::CaseRequest;
use crate::Evidence;
use crate::bounded_text::bounded;
use crate::cues::OutcomeCues;
use crate::event_place::EventPlace;
use crate::sentences::{sentences, shorten_to_sentences};
use heirloom_model::{CaseState, text};
use serde::{Deserialize, Serialize};

/// Greatest number of bytes of a request that are kept.
const REQUEST_BYTES_MAX: usize = 1_000;
/// Greatest number of follow-ups.
const FOLLOW_UPS_MAX: usize = 4;
/// Greatest number of characters of a follow-up.
const FOLLOW_UP_CHARS_MAX: usize = 110;
/// Smallest number of words of a follow-up.
const FOLLOW_UP_WORDS_MIN: usize = 3;
/// Greatest number of bytes of a final message.
const MESSAGE_BYTES_MAX: usize = 4 << 10;
/// Greatest number of characters of the result.
const RESULT_CHARS_MAX: usize = 200;
/// Number of characters of a request from which on it does more than steer.
const STEERING_CHARS_MAX: usize = 200;
/// Words before the title of a pull request.
const PULL_REQUEST: &str = "pull request ";
/// Number of calls from which on a message reports on new work.
const WORK_CALLS_MIN: u32 = 3;

/// A check and its last result.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct CheckResult {
    /// The command; empty for counts of tests in another output.
    pub(super) command: String,
    /// True if it runs tests.
    is_test: bool,
    /// True if it passed.
    pub(super) has_passed: bool,
    /// Number of edits before it.
    edits: u32,
    /// The line that names the fault.
    pub(super) error: String,
}

/// A verdict of the person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct JudgedWork {
    verdict: PersonVerdict,
    words: String,
    /// Number of edits and commits before it.
    work: u32,
}

/// A message of the agent.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct Message {
    text: String,
    place: EventPlace,
    /// Number of calls before it.
    calls: u32,
}

/// A request with what was done for it so far.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct CaseProgress {
    /// The request.
    pub(super) request: String,
    /// The line that names the fault in output that the person pasted.
    pub(super) error: String,
    /// Place of the request.
    pub(super) place: EventPlace,
    /// Turns that continue it.
    pub(super) follow_ups: Vec<String>,
    /// Number of tool calls.
    pub(super) calls: u32,
    /// Number of edits of files other than prose.
    edits: u32,
    /// Number of edits and commits.
    work: u32,
    files: Vec<(String, u32)>,
    /// Names that the edits define, the newest last.
    pub(super) symbols: Vec<String>,
    /// Commits: the id if it is known, and the subject.
    pub(super) commits: Vec<(String, String)>,
    /// Number of commits.
    pub(super) commit_count: u32,
    /// Pull requests and filed issues.
    pub(super) filed: Vec<String>,
    /// Results of checks, the newest last.
    pub(super) checks: Vec<CheckResult>,
    /// Number of edits and commits before all edits were reverted.
    reverted: Option<u32>,
    verdict: Option<JudgedWork>,
    /// Last report of the agent.
    report: Option<Message>,
    /// Its last message, if it is no report.
    last: Option<Message>,
    /// Sentences about the result, after the end of the request.
    result: String,
    evidence: Option<Evidence>,
    /// True if the agent reported something before the end of the request.
    has_reported: bool,
}

impl CaseProgress {
    /// Creates the progress at the beginning of a request.
    pub(super) fn new(request: &CaseRequest, place: &EventPlace) -> Self {
        Self {
            request: bounded_lines(&request.text, REQUEST_BYTES_MAX),
            error: request.error.clone(),
            place: place.clone(),
            ..Self::default()
        }
    }

    /// Adds a turn that continues the request.
    pub(super) fn add_follow_up(&mut self, request: &CaseRequest) {
        if self.error.is_empty() {
            self.error.clone_from(&request.error);
        }
        let one_line = request.text.lines().next().unwrap_or_default();
        let mut first = shorten_to_sentences(one_line, FOLLOW_UP_CHARS_MAX);
        if first.is_empty() {
            first = text::excerpt(one_line, FOLLOW_UP_CHARS_MAX);
        }
        if first.split_whitespace().count() >= FOLLOW_UP_WORDS_MIN && !first.ends_with(':') {
            self.push_follow_up(bounded(&first, FOLLOW_UP_CHARS_MAX * 2));
        }
    }

    fn push_follow_up(&mut self, turn: String) {
        if self.follow_ups.len() >= FOLLOW_UPS_MAX {
            self.follow_ups.remove(1);
        }
        self.follow_ups.push(turn);
    }

    /// Keeps a verdict of the person on the work so far.
    pub(super) fn judge(&mut self, verdict: PersonVerdict, words: &str) {
        let first = sentences(words).next().unwrap_or(words);
        self.verdict = Some(JudgedWork {
            verdict,
            words: bounded(
                &text::excerpt(first, FOLLOW_UP_CHARS_MAX),
                FOLLOW_UP_CHARS_MAX * 2,
            ),
            work: self.work,
        });
    }

    /// Reads a message of the agent.
    pub(super) fn read_message(&mut self, message: &str, place: &EventPlace, cues: &OutcomeCues) {
        let is_report = is_report(message, cues);
        let reported = self.report.as_ref().map(|report| report.calls);
        // A short remark after a report does not replace it.
        let is_remark = reported
            .is_some_and(|calls| self.calls < calls.saturating_add(WORK_CALLS_MIN))
            && !(is_report && has_list(message));
        if is_remark {
            return;
        }
        let message = Message {
            text: bounded_lines(message, MESSAGE_BYTES_MAX),
            place: place.clone(),
            calls: self.calls,
        };
        match is_report {
            true => (self.report, self.last) = (Some(message), None),
            false => self.last = Some(message),
        }
    }

    /// Ends the request: keeps only the parts of the final message that the record needs.
    pub(super) fn finish(&mut self, cues: &OutcomeCues) {
        let (result, evidence) = self.outcome(cues);
        (self.result, self.evidence) = (result, evidence);
        (self.has_reported, self.report, self.last) = (self.has_reported(), None, None);
    }

    /// Returns the agent's sentences about the result, with their evidence. A message after which it called no tool ends
    /// the work; other messages than reports comment on it.
    pub(super) fn outcome(&self, cues: &OutcomeCues) -> (String, Option<Evidence>) {
        let last = self.last.as_ref().filter(|last| last.calls == self.calls);
        for message in last.into_iter().chain(&self.report) {
            let result = result_sentences(&message.text, cues, RESULT_CHARS_MAX);
            if !result.is_empty() {
                return (result, Some(message.place.evidence(&message.text)));
            }
        }
        (self.result.clone(), self.evidence.clone())
    }

    fn has_reported(&self) -> bool {
        self.has_reported || self.report.is_some()
    }

    /// Returns the edited files, the most edited first.
    pub(super) fn files(&self) -> Vec<&str> {
        let mut files: Vec<&(String, u32)> = self.files.iter().collect();
        files.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        files.into_iter().map(|(path, _)| path.as_str()).collect()
    }

    /// Returns true if the agent reported something or changed something.
    pub(super) fn has_result(&self) -> bool {
        self.has_reported() || self.has_work()
    }

    /// Returns true if files were edited or committed.
    pub(super) fn has_changes(&self) -> bool {
        self.work > 0
    }

    /// Returns true if the request left something behind: edits, commits, pull requests, issues.
    pub(super) fn has_work(&self) -> bool {
        self.has_changes() || !self.filed.is_empty()
    }

    /// Returns the amount of work.
    pub(super) fn weight(&self) -> u32 {
        let commits = self.commit_count.saturating_mul(10);
        self.calls
            .saturating_add(self.work.saturating_mul(3))
            .saturating_add(commits)
    }

    fn last_verdict(&self, verdict: PersonVerdict) -> Option<&str> {
        let judged = self.verdict.as_ref()?;
        let is_last = judged.work == self.work && judged.verdict == verdict;
        is_last.then_some(judged.words.as_str())
    }

    /// Returns the words with which the person said at the end that it does not work.
    pub(super) fn dissent(&self) -> Option<&str> {
        self.last_verdict(PersonVerdict::Dissent)
    }

    /// Returns true if all edits were reverted at the end.
    pub(super) fn is_reverted(&self) -> bool {
        self.reverted == Some(self.work)
    }

    /// Returns the tests that fail after the last edit.
    pub(super) fn failing_check(&self) -> Option<&CheckResult> {
        let last = self.checks.iter().rfind(|check| check.is_test)?;
        (!last.has_passed && last.edits == self.edits).then_some(last)
    }

    /// Returns the commands that passed after the last edit, the newest first.
    pub(super) fn passed_checks(&self) -> impl Iterator<Item = &CheckResult> {
        let passed = |check: &&CheckResult| check.has_passed && check.edits == self.edits;
        self.checks.iter().rev().filter(passed)
    }

    /// Returns what is known about the end.
    pub(super) fn state(&self) -> CaseState {
        if self.dissent().is_some() || self.is_reverted() {
            return CaseState::Failed;
        }
        if !self.has_work() {
            return CaseState::Unknown;
        }
        if self.last_verdict(PersonVerdict::Assent).is_some() {
            return CaseState::Done;
        }
        let has_failing = self.failing_check().is_some();
        let has_passed = self.has_changes() && self.passed_checks().next().is_some();
        match (has_failing, self.commit_count > 0) {
            (true, false) => CaseState::Failed,
            // It was committed although tests fail: perhaps others than its own.
            (true, true) => CaseState::Unknown,
            (false, true) => CaseState::Done,
            (false, false) if has_passed => CaseState::Done,
            (false, false) => CaseState::Unknown,
        }
    }

    /// Returns true if the request only steers the work of the one before it: it is short, and mostly the same files
    /// were edited, or it led only to a commit or pull request.
    pub(super) fn steers(&self, before: &Self) -> bool {
        if !before.has_changes() || self.request.chars().nth(STEERING_CHARS_MAX).is_some() {
            return false;
        }
        let is_known = |path: &str| before.files.iter().any(|(known, _)| known == path);
        let known = self.files.iter().filter(|(path, _)| is_known(path)).count();
        match self.files.len() {
            0 => {
                let is_pull_request = |filed: &String| filed.starts_with(PULL_REQUEST);
                self.commit_count > 0
                    || !self.filed.is_empty() && self.filed.iter().all(is_pull_request)
            }
            files => known * 3 >= files * 2,
        }
    }

    /// Adds the work of a request that steers this one.
    pub(super) fn join(&mut self, next: &Self) {
        let before = self.edits;
        let work = self.work;
        let calls = self.calls;
        let turn = next.request.lines().next().unwrap_or_default();
        self.push_follow_up(text::excerpt(turn, FOLLOW_UP_CHARS_MAX));
        for turn in &next.follow_ups {
            self.push_follow_up(turn.clone());
        }
        if self.error.is_empty() {
            self.error.clone_from(&next.error);
        }
        for (path, count) in &next.files {
            self.add_edits(path, *count);
        }
        // Edits that were not kept in the list count too.
        self.edits = before.saturating_add(next.edits);
        self.work = work.saturating_add(next.work);
        next.symbols
            .iter()
            .for_each(|symbol| self.add_symbol(symbol));
        for (id, subject) in &next.commits {
            self.add_commit(id.clone(), subject.clone());
        }
        self.commit_count = self.commit_count.saturating_add(next.commit_count);
        next.filed.iter().for_each(|filed| self.add_filed(filed));
        self.calls = self.calls.saturating_add(next.calls);
        for check in &next.checks {
            self.checks.retain(|known| known.command != check.command);
            self.checks.push(CheckResult {
                edits: before.saturating_add(check.edits),
                ..check.clone()
            });
        }
        self.reverted = next.reverted.map(|at| work.saturating_add(at));
        if let Some(judged) = &next.verdict {
            self.verdict = Some(JudgedWork {
                work: work.saturating_add(judged.work),
                ..judged.clone()
            });
        }
        let has_message = next.report.is_some() || next.last.is_some();
        if has_message || !next.result.is_empty() {
            self.report.clone_from(&next.report);
            // The calls of both are counted together.
            self.last = next.last.clone().map(|last| Message {
                calls: last.calls.saturating_add(calls),
                ..last
            });
            self.result.clone_from(&next.result);
            self.evidence.clone_from(&next.evidence);
        }
    }
}

/// Returns the beginning of a text, with its line breaks but without other control characters.
fn bounded_lines(text: &str, bytes_max: usize) -> String {
    let end = text.floor_char_boundary(bytes_max);
    text::replace_control_chars(text.get(..end).unwrap_or_default())
}
