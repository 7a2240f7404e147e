//! Requests of the session and what became of each: changes, commits, tests, pushes, final message.

mod episode;
mod final_message;
mod issue_title;
mod request_text;
mod session_title;

use super::commits::read_commit;
use crate::cues::Cues;
use crate::event_place::{EventPlace, call_name};
use crate::shell_line::{SimpleCommand, read_shell_line};
use crate::test_counts::read_test_counts;
use crate::{Candidate, LessonContent, SourceKind, Speaker};
use episode::{EpisodeState, PushState};
use heirloom_agents::failures::{has_side_effects, is_probe};
use heirloom_agents::transcripts::{EventBody, ToolAction, ToolOutcome, TranscriptEvent};
use issue_title::{IssueTitles, created_issue};
use request_text::{RequestKind, classify_request, clean_request};
use serde::{Deserialize, Serialize};
use session_title::make_title;

/// Greatest number of episodes that are kept.
const EPISODES_MAX: usize = 5;
/// Greatest number of calls without a result that are kept.
const PENDING_MAX: usize = 24;
/// Tools that return the output of a command that runs in the background.
const OUTPUT_TOOLS: [&str; 4] = ["TaskOutput", "BashOutput", "write_stdin", "AgentOutputTool"];

/// Tools that start a subagent.
const SUBAGENT_TOOLS: [&str; 5] = ["Task", "Agent", "spawn_agent", "delegate_to_agent", "task"];
/// Subcommands of Git that change files or commits.
const CHANGING_VERBS: [&str; 12] = [
    "am",
    "apply",
    "cherry-pick",
    "checkout",
    "merge",
    "mv",
    "pull",
    "rebase",
    "reset",
    "revert",
    "rm",
    "stash",
];

/// Effect that a call has if it succeeds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum CallEffect {
    /// It changes a file.
    Change,
    /// It makes a commit with this subject.
    Commit(String),
    /// It opens a pull request with this title.
    PullRequest(String),
    /// It pushes to this remote branch.
    Push(String),
    /// It files an issue with this title.
    Filing(String),
    /// Its output may have counts of tests.
    Tests,
    /// Its output may have titles of issues.
    IssueView,
}

/// State of this source.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Outcome {
    episodes: Vec<EpisodeState>,
    /// Effects of calls without a result.
    pending: Vec<(String, CallEffect)>,
    issues: IssueTitles,
}

impl Outcome {
    /// Reads an event.
    pub(crate) fn push(&mut self, position: u64, event: &TranscriptEvent, cues: &Cues) {
        match &event.body {
            EventBody::Prompt(prompt) if event.agent.is_none() => {
                self.read_prompt(prompt, &EventPlace::of(position, event), cues);
            }
            EventBody::AssistantText(text) if event.agent.is_none() => {
                if let Some(episode) = self.episodes.last_mut() {
                    episode.read_message(text, &EventPlace::of(position, event), &cues.outcome);
                }
            }
            EventBody::Call { call, tool, action } => {
                if let Some(episode) = self.episodes.last_mut() {
                    episode.calls = episode.calls.saturating_add(1);
                }
                match action {
                    ToolAction::Command(line) => self.read_command(call, line, cues),
                    ToolAction::Edit(_) => self.add_effect(call, CallEffect::Change),
                    ToolAction::Other(_) if OUTPUT_TOOLS.contains(&tool.as_str()) => {
                        self.add_effect(call, CallEffect::Tests);
                    }
                    ToolAction::Other(_) | ToolAction::Plan(_) => {}
                }
                let is_subagent = event.agent.is_some() || SUBAGENT_TOOLS.contains(&tool.as_str());
                if let Some(episode) = self.episodes.last_mut().filter(|_| is_subagent) {
                    episode.is_delegated = true;
                }
            }
            EventBody::Result {
                call,
                outcome,
                text,
            } => self.read_result(call, *outcome, text),
            EventBody::FileChanged(_) => {
                if let Some(episode) = self.episodes.last_mut() {
                    episode.changes = episode.changes.saturating_add(1);
                }
            }
            EventBody::Prompt(_)
            | EventBody::AssistantText(_)
            | EventBody::ConversationStart(_)
            | EventBody::Summary(_)
            | EventBody::TokenUsage(_) => {}
        }
    }

    fn read_prompt(&mut self, prompt: &str, place: &EventPlace, cues: &Cues) {
        let request = clean_request(prompt, &cues.person_rules.turns);
        let last = self.episodes.last_mut();
        match (classify_request(&request, &cues.outcome), last) {
            (RequestKind::Empty, _) => {}
            (RequestKind::FollowUp, Some(episode)) => episode.add_follow_up(&request),
            // The first request counts even if it is short.
            (RequestKind::FollowUp | RequestKind::Task, None) => {
                self.begin_episode(&request, place, cues)
            }
            (RequestKind::Task, Some(episode)) => {
                if episode.has_result() {
                    self.begin_episode(&request, place, cues);
                } else {
                    episode.add_follow_up(&request);
                }
            }
        }
    }

    fn begin_episode(&mut self, request: &str, place: &EventPlace, cues: &Cues) {
        if let Some(episode) = self.episodes.last_mut() {
            episode.finish(&cues.outcome);
        }
        self.issues.add_request(request);
        if self.episodes.len() >= EPISODES_MAX {
            // The first request of a session is its subject.
            let least = self
                .episodes
                .iter()
                .enumerate()
                .skip(1)
                .min_by_key(|(_, episode)| episode.weight());
            let at = least.map_or(1, |(at, _)| at);
            if at < self.episodes.len() {
                self.episodes.remove(at);
            }
        }
        self.episodes.push(EpisodeState::new(request, place));
    }

    fn read_command(&mut self, call: &str, line: &str, cues: &Cues) {
        let mut is_tracker = false;
        for command in read_shell_line(line) {
            if let Some(message) = read_commit(&command, &cues.commits) {
                let effect = match message.is_pull_request {
                    true => CallEffect::PullRequest(message.subject),
                    false => CallEffect::Commit(message.subject),
                };
                self.add_effect(call, effect);
            } else if let Some(branch) = pushed_branch(&command) {
                self.add_effect(call, CallEffect::Push(branch));
            } else if let Some(title) = created_issue(&command, &cues.commands.tracker) {
                self.add_effect(call, CallEffect::Filing(title));
                is_tracker = true;
            } else if issue_title::is_tracker(&command, &cues.commands.tracker) {
                is_tracker = true;
            } else if command.word(0) == "git" && CHANGING_VERBS.contains(&command.word(1)) {
                self.add_effect(call, CallEffect::Change);
            }
        }
        if is_tracker {
            self.add_effect(call, CallEffect::IssueView);
        } else if has_side_effects(line) {
            self.add_effect(call, CallEffect::Change);
        }
        if !is_tracker && !is_probe(line) {
            self.add_effect(call, CallEffect::Tests);
        }
    }

    fn add_effect(&mut self, call: &str, effect: CallEffect) {
        if self.pending.len() >= PENDING_MAX {
            self.pending.remove(0);
        }
        self.pending.push((call_name(call), effect));
    }

    fn read_result(&mut self, call: &str, outcome: ToolOutcome, output: &str) {
        if self.pending.is_empty() {
            return;
        }
        let call = call_name(call);
        while let Some(at) = self.pending.iter().position(|(known, _)| *known == call) {
            let (_, effect) = self.pending.remove(at);
            let has_succeeded = outcome == ToolOutcome::Succeeded;
            if effect == CallEffect::IssueView {
                self.issues.read_output(output);
                continue;
            }
            let Some(episode) = self.episodes.last_mut() else {
                continue;
            };
            match effect {
                CallEffect::Tests => {
                    if let Some(counts) = read_test_counts(output) {
                        episode.set_tests(counts);
                    }
                }
                _ if !has_succeeded => {}
                CallEffect::Change => episode.changes = episode.changes.saturating_add(1),
                CallEffect::Commit(subject) => episode.add_commit(&subject),
                CallEffect::PullRequest(title) => episode.add_pull_request(&title, output),
                CallEffect::Push(branch) => episode.pushed = PushState::Pushed(branch),
                CallEffect::Filing(title) => episode.add_filed(&title, output),
                CallEffect::IssueView => {}
            }
        }
    }

    /// Returns a title of the session, of at most 80 characters.
    pub(crate) fn title(&self, cues: &Cues) -> Option<String> {
        let first = self.episodes.first()?;
        let request = self.issues.name_issues(&first.request);
        make_title(&request, &cues.outcome)
    }

    /// Adds the candidates found so far.
    pub(crate) fn add_candidates(&self, cues: &Cues, out: &mut Vec<Candidate>) {
        let mut order: Vec<usize> = (0..self.episodes.len()).collect();
        let weight = |at: &usize| self.episodes.get(*at).map_or(0, EpisodeState::weight);
        // The episode with the most work comes first, then the others in turn.
        order.sort_by_key(|at| (std::cmp::Reverse(weight(at)), *at));
        for (rank, at) in order.into_iter().enumerate() {
            let Some(episode) = self.episodes.get(at) else {
                continue;
            };
            let Some((text, message)) = episode.text(&self.issues, &cues.outcome) else {
                continue;
            };
            // A further request that left nothing is no outcome.
            if rank > 0 && text.result.is_empty() && !episode.has_changes() {
                continue;
            }
            let worth = &cues.outcome.worth;
            let base = match (episode.has_changes(), episode.has_report()) {
                _ if episode.is_unclear(&cues.outcome) => worth.little,
                (true, true) => worth.changed,
                (true, false) if episode.has_commits() => worth.changed,
                (false, true) => worth.answered,
                _ => worth.little,
            };
            let mut evidence = vec![episode.place.evidence(&episode.request)];
            evidence.extend(message);
            out.push(Candidate {
                source: SourceKind::Outcome,
                speaker: Speaker::Program,
                content: LessonContent::Episode {
                    request: text.request,
                    done: text.done,
                    result: text.result,
                },
                worth: base * worth.further.powi(i32::try_from(rank).unwrap_or(i32::MAX)),
                evidence,
                at: episode.place.at,
                agent: None,
            });
        }
    }
}

/// Returns the branch that a command pushes, empty if it is not named.
fn pushed_branch(command: &SimpleCommand) -> Option<String> {
    let mut words = command
        .words
        .iter()
        .map(String::as_str)
        .filter(|word| !word.starts_with('-'));
    let program = words.next()?;
    let is_push = match program {
        "git" => words.next()? == "push",
        "jj" => words.next()? == "git" && words.next()? == "push",
        _ => false,
    };
    let is_dry = command
        .words
        .iter()
        .any(|word| word == "--dry-run" || word == "-n" || word == "--delete");
    let remote = words.next().unwrap_or_default();
    let branch = words.next().unwrap_or_default();
    let branch = branch.rsplit(':').next().unwrap_or(branch);
    let is_plain = |word: &str| {
        word.len() <= 80
            && word
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c))
    };
    (is_push && !is_dry).then(|| {
        match is_plain(remote) && is_plain(branch) && !branch.is_empty() && branch != "HEAD" {
            true => format!("{remote}/{branch}"),
            false => String::new(),
        }
    })
}
