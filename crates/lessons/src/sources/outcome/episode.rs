//! A request of the session with what became of it.

use super::final_message::{answer_parts, has_list, is_report, result_sentences};
use super::issue_title::{IssueTitles, created_id};
use crate::Evidence;
use crate::bounded_text::bounded;
use crate::cues::OutcomeCues;
use crate::event_place::EventPlace;
use crate::sentences::shorten_to_sentences;
use crate::sources::commits::plain_subject;
use crate::test_counts::TestCounts;
use heirloom_model::text;
use serde::{Deserialize, Serialize};

/// Greatest number of characters of a part of an episode's record.
const PART_CHARS_MAX: usize = 390;
/// Greatest number of bytes of a request that are kept.
const REQUEST_BYTES_MAX: usize = 1_200;
/// Greatest number of follow-ups.
const FOLLOW_UPS_MAX: usize = 4;
/// Greatest number of characters of a follow-up.
const FOLLOW_UP_CHARS_MAX: usize = 110;
/// Smallest number of words of a follow-up.
const FOLLOW_UP_WORDS_MIN: usize = 2;
/// Greatest number of commits, pull requests and filed issues that are kept.
const WORK_MAX: usize = 8;
/// Greatest number of bytes of one of them.
const WORK_BYTES_MAX: usize = 160;
/// Number of characters of a list of commits besides their subjects.
const COMMITS_RESERVED: usize = 32;
/// Greatest number of bytes of a final message.
const MESSAGE_BYTES_MAX: usize = 4 << 10;
/// Number of words from which on a request can be understood without the session.
const CLEAR_WORDS_MIN: usize = 4;
/// Number of calls from which on a message reports on new work.
const WORK_CALLS_MIN: u32 = 3;
/// Number of calls from which on a session looked things up.
const LOOKUPS_MIN: u32 = 3;

/// State of the commits with regard to the remote repository.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum PushState {
    /// Nothing was pushed.
    #[default]
    Unpushed,
    /// Everything was pushed, to this branch if it is known.
    Pushed(String),
    /// A commit was made after the last push.
    CommitAfterPush,
}

/// Counts of the last test run that was not narrower than the ones before.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct TestState {
    total: u64,
    line: String,
}

/// A request with what became of it so far.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct EpisodeState {
    /// The request.
    pub(super) request: String,
    /// Place of the request.
    pub(super) place: EventPlace,
    follow_ups: Vec<String>,
    /// Number of tool calls.
    pub(super) calls: u32,
    /// Number of changes to files.
    pub(super) changes: u32,
    /// True if subagents worked on the request.
    pub(super) is_delegated: bool,
    commits: Vec<String>,
    commit_count: u32,
    pull_requests: Vec<String>,
    filed: Vec<String>,
    /// State of the commits.
    pub(super) pushed: PushState,
    tests: Option<TestState>,
    has_report: bool,
    /// Number of calls before the report.
    report_calls: u32,
    /// Last report of the agent, or its last message.
    message: Option<Message>,
    /// Parts of the message after the end of the request.
    finished: Option<MessageParts>,
}

/// Message of the agent that may be the final one.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct Message {
    text: String,
    place: EventPlace,
}

/// Parts of the final message that the record needs.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct MessageParts {
    /// Sentences about the result.
    result: String,
    /// Headings of the answer.
    answer: Option<String>,
    /// True if the answer proposes work.
    is_proposal: bool,
    evidence: Option<Evidence>,
}

/// Texts of an episode's record.
pub(super) struct EpisodeText {
    /// The request.
    pub(super) request: String,
    /// Work that was done.
    pub(super) done: String,
    /// Result and what is left.
    pub(super) result: String,
}

impl EpisodeState {
    /// Creates the state at the beginning of a request.
    pub(super) fn new(request: &str, place: &EventPlace) -> Self {
        Self {
            request: bounded_lines(request, REQUEST_BYTES_MAX),
            place: place.clone(),
            ..Self::default()
        }
    }

    /// Adds a turn that continues the request.
    pub(super) fn add_follow_up(&mut self, request: &str) {
        let one_line = request.lines().next().unwrap_or_default();
        let first = shorten_to_sentences(one_line, FOLLOW_UP_CHARS_MAX);
        if first.split_whitespace().count() < FOLLOW_UP_WORDS_MIN || first.ends_with(':') {
            return;
        }
        if self.follow_ups.len() >= FOLLOW_UPS_MAX {
            self.follow_ups.remove(1);
        }
        self.follow_ups
            .push(bounded(&first, FOLLOW_UP_CHARS_MAX * 2));
    }

    /// Reads a message of the agent.
    pub(super) fn read_message(&mut self, message: &str, place: &EventPlace, cues: &OutcomeCues) {
        let is_report = is_report(message, cues);
        // A short remark after a report does not replace it.
        let is_without_work =
            self.calls < self.report_calls.saturating_add(WORK_CALLS_MIN) && !has_list(message);
        if self.has_report && (!is_report || is_without_work) {
            return;
        }
        if is_report {
            self.report_calls = self.calls;
        }
        self.has_report |= is_report;
        self.message = Some(Message {
            text: bounded_lines(message, MESSAGE_BYTES_MAX),
            place: place.clone(),
        });
    }

    /// Ends the request: keeps only the parts of the final message that the record needs.
    pub(super) fn finish(&mut self, cues: &OutcomeCues) {
        self.finished = Some(self.message_parts(cues));
        self.message = None;
    }

    fn message_parts(&self, cues: &OutcomeCues) -> MessageParts {
        if let Some(finished) = &self.finished {
            return finished.clone();
        }
        let Some(message) = &self.message else {
            return MessageParts::default();
        };
        let answer = answer_parts(&message.text);
        let subject =
            format!("{} {}", self.request, answer.as_deref().unwrap_or_default()).to_lowercase();
        let is_proposal = answer.is_some() && cues.phrases.proposal.is_in(&subject);
        MessageParts {
            is_proposal,
            result: match is_proposal && self.changes == 0 {
                true => String::new(),
                false => result_sentences(&message.text, cues, PART_CHARS_MAX),
            },
            answer,
            evidence: Some(message.place.evidence(&message.text)),
        }
    }

    /// Adds a commit.
    pub(super) fn add_commit(&mut self, subject: &str) {
        self.commit_count = self.commit_count.saturating_add(1);
        self.changes = self.changes.saturating_add(1);
        push_bounded(&mut self.commits, subject);
        if self.pushed != PushState::Unpushed {
            self.pushed = PushState::CommitAfterPush;
        }
    }

    /// Adds a pull request.
    pub(super) fn add_pull_request(&mut self, title: &str, output: &str) {
        let url = output
            .split_whitespace()
            .find(|word| word.starts_with("https://") && word.len() <= 120);
        let text = match url {
            Some(url) => format!("{title} ({url})"),
            None => title.to_owned(),
        };
        push_bounded(&mut self.pull_requests, &text);
    }

    /// Adds a filed issue.
    pub(super) fn add_filed(&mut self, title: &str, output: &str) {
        let text = match created_id(output) {
            Some(id) => format!("`{id}` ({title})"),
            None => format!("\"{title}\""),
        };
        push_bounded(&mut self.filed, &text);
    }

    /// Stores the counts of a test run, unless it ran much less than an earlier one and passed.
    pub(super) fn set_tests(&mut self, counts: TestCounts) {
        let total = counts.passed + counts.failed;
        let known = self.tests.as_ref().map_or(0, |tests| tests.total);
        if total * 2 >= known {
            self.tests = Some(TestState {
                total,
                line: counts.line,
            });
        }
    }

    /// Returns true if the agent reported something or changed a file.
    pub(super) fn has_result(&self) -> bool {
        self.has_report || self.changes > 0
    }

    /// Returns true if a file was changed.
    pub(super) fn has_changes(&self) -> bool {
        self.changes > 0
    }

    /// Returns true if the request cannot be understood without the session.
    pub(super) fn is_unclear(&self, cues: &OutcomeCues) -> bool {
        let is_short = self.request.split_whitespace().count() < CLEAR_WORDS_MIN
            && !self.request.contains(['-', '#', '/', '`', '_']);
        let lower = self.request.to_lowercase();
        // A pasted terminal is no request.
        let is_pasted = self.request.contains('❯') || self.request.starts_with("$ ");
        is_short || is_pasted || cues.phrases.continuations.begins(&lower)
    }

    /// Returns true if a commit was made.
    pub(super) fn has_commits(&self) -> bool {
        self.commit_count > 0
    }

    /// Returns true if the agent reported something.
    pub(super) fn has_report(&self) -> bool {
        self.has_report
    }

    /// Returns the amount of work.
    pub(super) fn weight(&self) -> u32 {
        self.calls
            .saturating_add(self.changes.saturating_mul(3))
            .saturating_add(self.commit_count.saturating_mul(10))
    }

    /// Returns the texts of the record, with the evidence of the result; `None` if the request had no answer.
    pub(super) fn text(
        &self,
        issues: &IssueTitles,
        cues: &OutcomeCues,
    ) -> Option<(EpisodeText, Option<Evidence>)> {
        let parts = self.message_parts(cues);
        if parts.evidence.is_none() && self.changes == 0 {
            return None;
        }
        let text = EpisodeText {
            request: self.request_part(issues),
            done: self.done_part(parts.answer.as_deref()),
            result: self.result_part(
                &parts.result,
                parts.is_proposal && self.changes == 0 && !self.is_delegated,
            ),
        };
        Some((text, parts.evidence))
    }

    fn request_part(&self, issues: &IssueTitles) -> String {
        let named = issues.name_issues(&self.request);
        let follow: Vec<String> = self
            .follow_ups
            .iter()
            .map(|turn| format!("\"{turn}\""))
            .collect();
        let follow = match follow.is_empty() {
            true => String::new(),
            false => format!(" Later: {}.", follow.join(", ")),
        };
        let budget = PART_CHARS_MAX.saturating_sub(follow.chars().count());
        let one_line = named
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .collect::<Vec<_>>()
            .join(" ");
        let mut request = shorten_to_sentences(&one_line, budget);
        if request.is_empty() {
            request = text::excerpt(&one_line, budget);
        }
        if !follow.is_empty() && !request.ends_with(['.', '!', '?', ':', '…']) {
            request.push('.');
        }
        format!("{request}{follow}")
    }

    fn done_part(&self, answer: Option<&str>) -> String {
        let mut parts: Vec<String> = Vec::new();
        if !self.commits.is_empty() {
            parts.push(self.commits_text());
        } else if self.changes > 0 {
            let edits = if self.changes == 1 { "edit" } else { "edits" };
            parts.push(format!(
                "Files were changed ({} {edits}), nothing was committed.",
                self.changes
            ));
        } else if self.is_delegated {
            parts.push("Subagents did the work.".to_owned());
        } else if self.calls >= LOOKUPS_MIN {
            parts.push(format!(
                "Only look-ups ({} calls); no code was written and no file was changed.",
                self.calls
            ));
        } else {
            parts.push("No code was written and no file was changed.".to_owned());
        }
        if let Some(answer) = answer.filter(|_| self.changes == 0) {
            parts.push(format!("The answer has the parts: {answer}."));
        }
        if !self.pull_requests.is_empty() {
            parts.push(format!("Pull requests: {}.", self.pull_requests.join("; ")));
        }
        fit(&parts)
    }

    /// Returns the subjects of the last commits that fit.
    fn commits_text(&self) -> String {
        let mut shown: Vec<&str> = Vec::new();
        let mut used = COMMITS_RESERVED;
        for subject in self.commits.iter().rev() {
            let subject = plain_subject(subject);
            used += subject.chars().count() + 2;
            if used > PART_CHARS_MAX && !shown.is_empty() {
                break;
            }
            shown.push(subject);
        }
        shown.reverse();
        let hidden = usize::try_from(self.commit_count)
            .unwrap_or(usize::MAX)
            .saturating_sub(shown.len());
        let more = match hidden {
            0 => String::new(),
            hidden => format!("{hidden} earlier ones; "),
        };
        format!("Commits: {more}{}.", shown.join("; "))
    }

    fn result_part(&self, message: &str, is_proposal: bool) -> String {
        let mut state: Vec<String> = Vec::new();
        if is_proposal {
            state.push("Nothing of it was implemented in this session.".to_owned());
        }
        if let Some(tests) = &self.tests {
            state.push(format!(
                "Last test run: {}.",
                tests.line.trim_end_matches('.')
            ));
        }
        match &self.pushed {
            PushState::Pushed(branch) if branch.is_empty() => {
                state.push("Everything was pushed.".to_owned())
            }
            PushState::Pushed(branch) => state.push(format!("Pushed to {branch}.")),
            PushState::CommitAfterPush => state.push("The last commit was not pushed.".to_owned()),
            PushState::Unpushed if self.commit_count > 0 => {
                state.push("Nothing was pushed.".to_owned())
            }
            PushState::Unpushed => {}
        }
        if !self.filed.is_empty() {
            state.push(format!("Filed and left: {}.", self.filed.join(", ")));
        }
        let used: usize = state.iter().map(|part| part.chars().count() + 1).sum();
        let budget = PART_CHARS_MAX.saturating_sub(used);
        let mut parts = vec![shorten_to_sentences(message, budget)];
        parts.append(&mut state);
        parts.retain(|part| !part.is_empty());
        fit(&parts)
    }
}

/// Returns the beginning of a text, with its line breaks but without other control characters.
fn bounded_lines(text: &str, bytes_max: usize) -> String {
    let end = text.floor_char_boundary(bytes_max);
    text::replace_control_chars(text.get(..end).unwrap_or_default())
}

fn push_bounded(list: &mut Vec<String>, text: &str) {
    if list.iter().any(|known| known == text) {
        return;
    }
    if list.len() >= WORK_MAX {
        list.remove(0);
    }
    list.push(bounded(text, WORK_BYTES_MAX));
}

/// Joins the parts that fit.
fn fit(parts: &[String]) -> String {
    let mut out = String::new();
    for part in parts {
        let gap = usize::from(!out.is_empty());
        if out.chars().count() + gap + part.chars().count() > PART_CHARS_MAX {
            if out.is_empty() {
                out = text::excerpt(part, PART_CHARS_MAX);
            }
            continue;
        }
        if gap == 1 {
            out.push(' ');
        }
        out.push_str(part);
    }
    out
}
