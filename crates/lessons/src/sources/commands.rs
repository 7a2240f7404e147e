//! Commands that work: build, test, lint, code generation, trackers.

mod check_cycle;
mod classification;
mod command_form;
mod folder;
mod run_outcome;
mod tracker;
mod usage;

use crate::cues::{CommandCues, Cues};
use crate::place::{EventPlace, call_name};
use crate::shell_line::{SimpleCommand, read_shell_line};
use crate::{Candidate, LessonContent, SourceKind, Speaker};
use check_cycle::CheckCycle;
use classification::classify_command;
use folder::FolderTracker;
use heirloom_agents::transcripts::{EventBody, ToolAction, ToolOutcome, TranscriptEvent};
use run_outcome::{CommandPosition, background_id, is_finished_background, run_succeeded};
use serde::{Deserialize, Serialize};
use tracker::TrackerUse;
use usage::{CommandUsage, FinishedRun, UsageTable};

/// Greatest number of calls without a result that are kept.
const PENDING_MAX: usize = 16;
/// Number of successes from which on a command works.
const SUCCESSES_MIN: u32 = 2;
/// Name of the tool whose shell keeps its folder between calls.
const SHELL_WITH_FOLDER: &str = "Bash";

/// A run of a command whose result is not known yet.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct PendingRun {
    /// Id of the call, or of the background task.
    call: String,
    /// Index of the form.
    usage: usize,
    /// True if it checks the project's quality.
    is_check: bool,
    /// True if the command was narrowed to a part.
    position: CommandPosition,
    place: EventPlace,
}

/// State of this source.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Commands {
    folders: FolderTracker,
    usages: UsageTable,
    pending: Vec<PendingRun>,
    background: Vec<PendingRun>,
    cycle: CheckCycle,
    tracker: TrackerUse,
}

impl Commands {
    /// Reads an event.
    pub(crate) fn push(&mut self, position: u64, event: &TranscriptEvent, cues: &Cues) {
        match &event.body {
            EventBody::Call { call, tool, action } => match action {
                ToolAction::Command(line) => {
                    let place = EventPlace::of(position, event);
                    self.read_command(call, tool, line, &place, &cues.commands);
                }
                ToolAction::Edit(edits) => {
                    for edit in edits {
                        if let Some((folder, _)) = edit.path.rsplit_once('/') {
                            self.folders.add_absolute(folder);
                        }
                    }
                }
                ToolAction::Plan(_) | ToolAction::Other(_) => {}
            },
            EventBody::Result {
                call,
                outcome,
                text,
            } => {
                let place = EventPlace::of(position, event);
                self.read_result(call, *outcome, text, &place);
            }
            EventBody::ConversationStart(_)
            | EventBody::Prompt(_)
            | EventBody::AssistantText(_)
            | EventBody::Summary(_)
            | EventBody::FileChanged(_)
            | EventBody::TokenUsage(_) => {}
        }
    }

    fn read_command(
        &mut self,
        call: &str,
        tool: &str,
        line: &str,
        place: &EventPlace,
        cues: &CommandCues,
    ) {
        let commands = read_shell_line(line);
        let mut folder = self.folders.current().to_owned();
        for (index, command) in commands.iter().enumerate() {
            if command.word(0) == "cd" {
                folder = FolderTracker::enter(&folder, command.word(1));
                self.folders.add_absolute(&folder);
                continue;
            }
            if is_commit(command) {
                let message = command.here_document.as_deref();
                let subject =
                    message.or_else(|| command.option_values(&["-m", "--message"]).next());
                self.tracker.add_commit(subject.unwrap_or_default());
                self.cycle.end();
                continue;
            }
            if self.tracker.add(command, place, &cues.tracker) {
                continue;
            }
            let Some(known) = classify_command(command, cues) else {
                continue;
            };
            let Some(usage) = self.usages.index_of(known.purpose, &folder, &known.form) else {
                continue;
            };
            if self.pending.len() >= PENDING_MAX {
                self.pending.remove(0);
            }
            self.pending.push(PendingRun {
                call: call_name(call),
                usage,
                is_check: cues
                    .purpose
                    .get(known.purpose)
                    .is_some_and(|purpose| purpose.is_check),
                position: CommandPosition::of(&commands, index),
                place: place.clone(),
            });
        }
        if tool == SHELL_WITH_FOLDER {
            self.folders.set_current(&folder);
        }
    }

    fn read_result(&mut self, call: &str, outcome: ToolOutcome, output: &str, place: &EventPlace) {
        if is_folder_lost(outcome, output) {
            self.folders.set_current("");
        }
        let call = call_name(call);
        if self.pending.iter().any(|run| run.call == call) {
            let (mut finished, waiting) = std::mem::take(&mut self.pending)
                .into_iter()
                .partition(|run| run.call == call);
            self.pending = waiting;
            if let Some(task) = background_id(output) {
                for run in &mut finished {
                    task.clone_into(&mut run.call);
                }
                self.background.append(&mut finished);
                let surplus = self.background.len().saturating_sub(PENDING_MAX);
                self.background.drain(..surplus);
                return;
            }
            self.finish_runs(&finished, outcome, output, place);
        } else if !self.background.is_empty() && is_finished_background(output) {
            let is_named = |run: &PendingRun| output.contains(run.call.as_str());
            let (finished, waiting) = std::mem::take(&mut self.background)
                .into_iter()
                .partition(is_named);
            self.background = waiting;
            let outcome = match output.contains("<exit_code>") && !output.contains("<exit_code>0<")
            {
                true => ToolOutcome::Failed,
                false => outcome,
            };
            self.finish_runs(&finished, outcome, output, place);
        }
    }

    fn finish_runs(
        &mut self,
        runs: &[PendingRun],
        outcome: ToolOutcome,
        output: &str,
        place: &EventPlace,
    ) {
        for run in runs {
            let has_succeeded = run_succeeded(&run.position, outcome, output);
            // The duration of a call with several commands is not the duration of one of them.
            let seconds = match (run.place.at, place.at) {
                (Some(from), Some(to))
                    if run.position.is_alone() && outcome != ToolOutcome::Rejected =>
                {
                    seconds_between(from, to)
                }
                _ => None,
            };
            let finished = FinishedRun {
                has_succeeded,
                seconds,
                output,
            };
            self.usages.add_run(run.usage, &run.place, &finished);
            if run.is_check && has_succeeded == Some(true) {
                self.cycle.add_check(run.usage);
            }
        }
    }

    /// Names the project's folder.
    pub(crate) fn set_project_folder(&mut self, folder: &str) {
        self.folders.set_project(folder);
    }

    /// Adds the candidates found so far.
    pub(crate) fn add_candidates(&self, cues: &Cues, out: &mut Vec<Candidate>) {
        let cues = &cues.commands;
        let (merged, indices) = self.usages.merged(|folder| self.folders.relative(folder));
        let mut chosen: Vec<&CommandUsage> = Vec::new();
        for usage in merged.iter().filter(|usage| usage.last_succeeded) {
            let is_same = |other: &&mut &CommandUsage| {
                other.purpose == usage.purpose && other.folder == usage.folder
            };
            match chosen.iter_mut().find(is_same) {
                Some(other) if other.succeeded < usage.succeeded => *other = usage,
                Some(_) => {}
                None => chosen.push(usage),
            }
        }
        chosen.retain(|usage| usage.succeeded >= SUCCESSES_MIN);
        let checks = self.cycle.usual_checks(&merged, &indices);
        out.extend(checks_candidate(&checks, cues));
        for usage in &chosen {
            out.extend(usage_candidate(usage, &chosen, cues));
        }
        if let Some(text) = self.tracker.text() {
            let record = CommandRecord {
                key: "command:tracker".to_owned(),
                text,
                worth: cues.worth.tracker,
            };
            out.push(record.into_candidate(&self.tracker.place));
        }
    }
}

/// Returns the record about checks before commits.
fn checks_candidate(checks: &[&CommandUsage], cues: &CommandCues) -> Option<Candidate> {
    let latest = checks.iter().max_by_key(|usage| usage.place.position)?;
    let forms: Vec<String> = checks
        .iter()
        .map(|usage| match usage.folder.as_str() {
            "" => format!("`{}`", usage.form),
            folder => format!("`{}` in `{folder}`", usage.form),
        })
        .collect();
    let (last, rest) = forms.split_last()?;
    let record = CommandRecord {
        key: "command:checks".to_owned(),
        text: format!(
            "Before its commits this session ran {} and {last}; all passed.",
            rest.join(", ")
        ),
        worth: cues.worth.checks,
    };
    Some(record.into_candidate(&latest.place))
}

/// Returns the record about a command for one purpose and folder.
fn usage_candidate(
    usage: &CommandUsage,
    chosen: &[&CommandUsage],
    cues: &CommandCues,
) -> Option<Candidate> {
    let purpose = cues.purpose.get(usage.purpose)?;
    let (place, key) = match usage.folder.as_str() {
        "" => (String::new(), format!("command:{}", purpose.name)),
        folder => (
            format!(" in `{folder}`"),
            format!("command:{}:{folder}", purpose.name),
        ),
    };
    let is_generation = purpose.name == "generate";
    let migration = chosen.iter().find(|other| {
        let follows = other.place.position > usage.place.position;
        let is_migration = cues
            .purpose
            .get(other.purpose)
            .is_some_and(|purpose| purpose.name == "migrate");
        is_generation && follows && is_migration
    });
    let then = migration.map_or(String::new(), |other| format!(", then `{}`", other.form));
    let mut text = format!(
        "{}{place}: `{}`{then} ({} times in this session, last time passed).",
        purpose.label, usage.form, usage.succeeded
    );
    let mut worth = match purpose.name.as_str() {
        "generate" | "migrate" | "deploy" => cues.worth.generation,
        _ => cues.worth.repeated,
    };
    if let Some(slow) = usage.slow_first_run() {
        text = format!("{text} {slow}");
        worth = worth.max(cues.worth.slow_first_run);
    }
    let record = CommandRecord { key, text, worth };
    Some(record.into_candidate(&usage.place))
}

/// Text of a record about commands.
struct CommandRecord {
    key: String,
    text: String,
    worth: f32,
}

impl CommandRecord {
    fn into_candidate(self, place: &EventPlace) -> Candidate {
        Candidate {
            source: SourceKind::Command,
            speaker: Speaker::Program,
            evidence: vec![place.evidence(&self.text)],
            content: LessonContent::Knowledge {
                category: "fact".to_owned(),
                key: Some(self.key),
                text: self.text,
                rationale: None,
            },
            worth: self.worth,
            at: place.at,
            agent: place.agent.clone(),
        }
    }
}

/// Returns true if a result shows that the shell is not in the folder that its commands entered.
fn is_folder_lost(outcome: ToolOutcome, output: &str) -> bool {
    let end = output.floor_char_boundary(400);
    let head = output.get(..end).unwrap_or_default();
    let start = output.ceil_char_boundary(output.len().saturating_sub(300));
    let tail = output.get(start..).unwrap_or_default();
    tail.contains("Shell cwd was reset") || (outcome == ToolOutcome::Failed && head.contains("cd:"))
}

/// Returns true for a command that makes a commit.
fn is_commit(command: &SimpleCommand) -> bool {
    let verb = command
        .words
        .iter()
        .skip(1)
        .find(|word| !word.starts_with('-'));
    matches!(command.word(0), "git" | "jj" | "hg" | "sl")
        && verb.is_some_and(|verb| verb == "commit")
}

/// Returns the number of seconds between two times.
fn seconds_between(from: heirloom_model::Timestamp, to: heirloom_model::Timestamp) -> Option<u32> {
    u32::try_from(to.as_second() - from.as_second()).ok()
}
