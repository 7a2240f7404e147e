//! Cases: the requests of the session, what was done for each, what failed on the way, and what came of it.

mod case_progress;
mod case_text;
mod final_message;
mod issue_title;
mod person_verdict;
mod request_text;
mod session_title;
mod symbols;
mod work_command;

use crate::Candidate;
use crate::cues::Cues;
use crate::event_place::{EventPlace, call_name};
use crate::project_paths::ProjectPaths;
use crate::{LessonContent, SourceKind, Speaker};
use case_progress::CaseProgress;
use case_text::{CaseFacts, failures_within};
use heirloom_agents::transcripts::{EventBody, FileEdit, ToolAction, ToolOutcome, TranscriptEvent};
use issue_title::IssueTitles;
use person_verdict::PersonVerdict;
use request_text::{CaseRequest, RequestKind};
use serde::{Deserialize, Serialize};
use session_title::make_title;
use work_command::{WorkEffect, effects_of};

/// Greatest number of cases of a session.
const CASES_MAX: usize = 6;
/// Greatest number of effects of calls without a result.
const PENDING_MAX: usize = 16;
/// Edits of one call that are read.
const EDITS_MAX: usize = 6;
/// Tools that return the output of a command that runs in the background.
const OUTPUT_TOOLS: [&str; 4] = ["TaskOutput", "BashOutput", "write_stdin", "AgentOutputTool"];

/// State of this source.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Cases {
    cases: Vec<CaseProgress>,
    /// Effects of calls without a result.
    pending: Vec<(String, WorkEffect)>,
    /// Slash command of the person that may be the request of what follows.
    command: String,
    issues: IssueTitles,
    paths: ProjectPaths,
}

impl Cases {
    /// Names the project's folder.
    pub(crate) fn set_project_folder(&mut self, folder: &str) {
        self.paths.set_project(folder);
    }

    /// Reads an event. Prompts and messages of subagents are no person's; their work counts for the request.
    pub(crate) fn push(&mut self, position: u64, event: &TranscriptEvent, cues: &Cues) {
        let place = || EventPlace::of(position, event);
        match &event.body {
            EventBody::Prompt(prompt) if event.agent.is_none() => {
                self.read_prompt(prompt, &place(), cues);
            }
            EventBody::AssistantText(text) if event.agent.is_none() => {
                if let Some(case) = self.cases.last_mut() {
                    case.read_message(text, &place(), &cues.outcome);
                }
            }
            EventBody::Call { call, tool, action } => {
                if let Some(case) = self.cases.last_mut() {
                    case.calls = case.calls.saturating_add(1);
                }
                let effects = match action {
                    ToolAction::Command(line) => effects_of(line, cues),
                    ToolAction::Edit(edits) => edits
                        .iter()
                        .take(EDITS_MAX)
                        .filter_map(|edit| self.edit_effect(edit))
                        .collect(),
                    ToolAction::Other(_) if OUTPUT_TOOLS.contains(&tool.as_str()) => {
                        vec![WorkEffect::Tests]
                    }
                    ToolAction::Other(_) | ToolAction::Plan(_) => Vec::new(),
                };
                for effect in effects {
                    if self.pending.len() >= PENDING_MAX {
                        self.pending.remove(0);
                    }
                    self.pending.push((call_name(call), effect));
                }
            }
            EventBody::Result {
                call,
                outcome,
                text,
            } => self.read_result(call, *outcome, text, &place(), cues),
            EventBody::FileChanged(path) => {
                if let Some(effect) = self.edit_effect(&FileEdit::of_path(path.clone()))
                    && let Some(case) = self.case_of_work(&place(), cues)
                {
                    case.apply(&effect, ToolOutcome::Succeeded, "");
                }
            }
            EventBody::Prompt(_)
            | EventBody::AssistantText(_)
            | EventBody::ConversationStart(_)
            | EventBody::Summary(_)
            | EventBody::AbandonedPrompt(_)
            | EventBody::TokenUsage(_) => {}
        }
    }

    fn edit_effect(&mut self, edit: &FileEdit) -> Option<WorkEffect> {
        if self.paths.is_outside(&edit.path) {
            return None;
        }
        self.paths.add(&edit.path);
        Some(WorkEffect::of_edit(edit))
    }

    fn read_prompt(&mut self, prompt: &str, place: &EventPlace, cues: &Cues) {
        let request = CaseRequest::read(prompt, &cues.person_rules.turns);
        if let Some(command) = &request.command {
            self.command = command.clone();
        }
        let verdict = PersonVerdict::read(&request.text, &cues.outcome);
        let kind = request.kind(&cues.outcome);
        let Some(case) = self.cases.last_mut() else {
            // The first request counts even if it is short.
            if kind != RequestKind::Empty {
                self.begin_case(&request, place, cues);
            }
            return;
        };
        if let Some(verdict) = verdict {
            case.judge(verdict, &request.text);
        }
        let is_steering = verdict == Some(PersonVerdict::Dissent) && case.has_changes();
        match kind {
            RequestKind::Empty => {}
            RequestKind::Task if case.has_result() && !is_steering => {
                self.begin_case(&request, place, cues);
            }
            RequestKind::Task | RequestKind::FollowUp => case.add_follow_up(&request),
        }
    }

    fn begin_case(&mut self, request: &CaseRequest, place: &EventPlace, cues: &Cues) {
        if let Some(case) = self.cases.last_mut() {
            case.finish(&cues.outcome);
        }
        self.issues.add_request(&request.text);
        if self.cases.len() >= CASES_MAX {
            let least = (self.cases.iter().enumerate())
                .min_by_key(|(_, case)| case.weight())
                .map_or(0, |(at, _)| at);
            self.cases.remove(least);
        }
        // A short answer to a command's question says nothing without the command.
        let command = std::mem::take(&mut self.command);
        let request = request.with_command(&command, &cues.outcome);
        self.cases.push(CaseProgress::new(&request, place));
    }

    /// Returns the case that the work of a call belongs to; a command of the person begins one if none is there.
    fn case_of_work(&mut self, place: &EventPlace, cues: &Cues) -> Option<&mut CaseProgress> {
        if self.cases.is_empty() && !self.command.is_empty() {
            self.begin_case(&CaseRequest::default(), place, cues);
        }
        self.cases.last_mut()
    }

    fn read_result(
        &mut self,
        call: &str,
        outcome: ToolOutcome,
        output: &str,
        place: &EventPlace,
        cues: &Cues,
    ) {
        if self.pending.is_empty() {
            return;
        }
        let call = call_name(call);
        while let Some(at) = self.pending.iter().position(|(known, _)| *known == call) {
            let (_, effect) = self.pending.remove(at);
            if effect == WorkEffect::IssueView {
                self.issues.read_output(output);
            } else if let Some(case) = self.case_of_work(place, cues) {
                case.apply(&effect, outcome, output);
            }
        }
    }

    /// Returns a title of the session, of at most 80 characters.
    pub(crate) fn title(&self, cues: &Cues) -> Option<String> {
        let first = self.cases.first()?;
        let request = self.issues.name_issues(&first.request);
        make_title(&request, &cues.outcome)
    }

    /// Adds the cases; `out` has the failures of the session already, which the cases name.
    pub(crate) fn add_candidates(&self, cues: &Cues, out: &mut Vec<Candidate>) {
        let joined = join_cases(&self.cases);
        let mut found: Vec<Candidate> = Vec::new();
        for (at, case) in joined.iter().enumerate() {
            let until = joined
                .get(at + 1)
                .map_or(u64::MAX, |next| next.place.position);
            let facts = CaseFacts {
                progress: case,
                failures: failures_within(out, case.place.position, until),
                issues: &self.issues,
                paths: &self.paths,
                cues: &cues.outcome,
            };
            let Some(text) = facts.case() else {
                continue;
            };
            let worth = &cues.outcome.worth;
            let mut evidence = vec![case.place.evidence(&case.request)];
            evidence.extend(facts.message_evidence());
            found.push(Candidate {
                source: SourceKind::Case,
                speaker: Speaker::Program,
                worth: match case.has_work() {
                    true => worth.changed,
                    false => worth.answered,
                },
                content: LessonContent::Case {
                    state: case.state(),
                    has_work: case.has_work(),
                    until,
                    case: Box::new(text),
                },
                evidence,
                at: case.place.at,
                agent: None,
            });
        }
        out.append(&mut found);
    }
}

/// Joins a case with the one before it if it only steers the same work: a short request after which mostly the same
/// files were edited, or after which nothing was done.
fn join_cases(cases: &[CaseProgress]) -> Vec<CaseProgress> {
    let mut joined: Vec<CaseProgress> = Vec::new();
    for case in cases {
        match joined.last_mut() {
            Some(before) if case.steers(before) => before.join(case),
            Some(_) | None => joined.push(case.clone()),
        }
    }
    joined
}
