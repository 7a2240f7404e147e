//! Table of commands that failed and passed after a change, and the resolution that the extractor finds for each. Tests
//! and the benchmark use it.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::wildcard_enum_match_arm,
    reason = "the table is valid, and a failure is an error"
)]

use heirloom_agents::transcripts::{EventBody, FileEdit, ToolAction, ToolOutcome, TranscriptEvent};
use heirloom_lessons::{Candidate, LessonContent, LessonExtractor, SourceKind};
use serde::Deserialize;

/// Worth from which on a record is kept.
pub(crate) const KEPT: f32 = 0.45;

#[derive(Debug, Deserialize)]
struct Table {
    pair: Vec<Pair>,
}

/// A command that failed, the change, and the command that passed.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Pair {
    pub(crate) name: String,
    pub(crate) command: String,
    pub(crate) output: String,
    /// True if the exit status is hidden by a filter.
    pub(crate) failed: bool,
    pub(crate) says: String,
    pub(crate) ran: Vec<String>,
    pub(crate) also: Vec<Edit>,
    pub(crate) path: String,
    pub(crate) removed: String,
    pub(crate) added: String,
    pub(crate) passes: String,
    pub(crate) cause: String,
    pub(crate) names: Vec<String>,
    pub(crate) not: Vec<String>,
    pub(crate) dropped: bool,
    pub(crate) dropped_ok: bool,
}

/// Edit of a file.
#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Edit {
    pub(crate) path: String,
    pub(crate) removed: String,
    pub(crate) added: String,
}

/// Judgement of the records of a pair.
#[derive(Debug)]
pub(crate) enum PairVerdict {
    /// The resolution names the change, or the pair is nothing to keep and is not kept.
    Right,
    /// A record names what the edit contradicts, or the pair is nothing to keep and is kept.
    FalseClaim,
    /// No resolution names the change.
    Unnamed,
}

/// A pair with the records that the extractor found.
pub(crate) struct CheckedPair {
    /// Name of the pair.
    pub(crate) name: String,
    /// True if the pair has a change to name.
    pub(crate) is_lesson: bool,
    /// Texts of the records.
    pub(crate) texts: Vec<String>,
    /// The judgement.
    pub(crate) verdict: PairVerdict,
}

/// Returns the pairs of the table.
pub(crate) fn pairs() -> Vec<Pair> {
    let table: Table =
        toml::from_str(include_str!("../data/fail_edit_pass.toml")).expect("a valid table");
    table.pair
}

/// Conversation that is written step by step.
#[derive(Default)]
pub(crate) struct Session {
    pub(crate) extractor: LessonExtractor,
    events: u64,
}

impl Session {
    /// Appends an event.
    pub(crate) fn push(&mut self, body: EventBody) {
        self.extractor.push(&TranscriptEvent {
            id: self.events.to_string(),
            at: None,
            agent: None,
            author: heirloom_agents::transcripts::TurnAuthor::Person,
            body,
        });
        self.events += 1;
    }

    /// Appends a command with its result.
    pub(crate) fn run(&mut self, command: &str, outcome: ToolOutcome, output: &str) {
        let call = format!("call {}", self.events);
        self.push(EventBody::Call {
            call: call.clone(),
            tool: "Bash".to_owned(),
            action: ToolAction::Command(command.to_owned()),
        });
        self.push(EventBody::Result {
            call,
            outcome,
            text: output.to_owned(),
        });
    }

    /// Appends an edit with its result.
    pub(crate) fn edit(&mut self, edit: &Edit) {
        let call = format!("call {}", self.events);
        self.push(EventBody::Call {
            call: call.clone(),
            tool: "Edit".to_owned(),
            action: ToolAction::Edit(vec![FileEdit {
                path: edit.path.clone(),
                removed: edit.removed.clone(),
                added: edit.added.clone(),
            }]),
        });
        self.push(EventBody::Result {
            call,
            outcome: ToolOutcome::Succeeded,
            text: String::new(),
        });
    }

    /// Appends a text of the agent.
    pub(crate) fn say(&mut self, text: &str) {
        if !text.is_empty() {
            self.push(EventBody::AssistantText(text.to_owned()));
        }
    }

    /// Returns the errors found so far.
    pub(crate) fn errors(&self) -> Vec<Candidate> {
        let mut found = self.extractor.candidates();
        found.retain(|one| matches!(one.source, SourceKind::Failure | SourceKind::CommandVariant));
        found
    }
}

/// Appends the events of a pair to a conversation.
pub(crate) fn play_into(session: &mut Session, pair: &Pair) {
    session.say("Let me run it.");
    let outcome = match pair.failed {
        true => ToolOutcome::Succeeded,
        false => ToolOutcome::Failed,
    };
    session.run(&pair.command, outcome, &pair.output);
    session.say(&pair.says);
    for edit in &pair.also {
        session.edit(edit);
    }
    for command in &pair.ran {
        session.run(command, ToolOutcome::Succeeded, "");
    }
    if !pair.path.is_empty() {
        session.edit(&Edit {
            path: pair.path.clone(),
            removed: pair.removed.clone(),
            added: pair.added.clone(),
        });
    }
    let passes = match pair.passes.as_str() {
        "" => &pair.command,
        passes => passes,
    };
    session.run(passes, ToolOutcome::Succeeded, "");
}

/// Returns the errors of a conversation that consists of a pair.
pub(crate) fn play(pair: &Pair) -> Vec<Candidate> {
    let mut session = Session::default();
    play_into(&mut session, pair);
    session.errors()
}

/// Returns key, text and resolution of an error.
pub(crate) fn error_of(candidate: &Candidate) -> (&str, &str, &str) {
    match &candidate.content {
        LessonContent::Error {
            key,
            text,
            resolution,
        } => (key, text, resolution.as_deref().unwrap_or_default()),
        other => panic!("{other:?}"),
    }
}

/// Checks the records of every pair.
pub(crate) fn check_pairs() -> Vec<CheckedPair> {
    pairs().iter().map(check_pair).collect()
}

fn check_pair(pair: &Pair) -> CheckedPair {
    let found = play(pair);
    let kept: Vec<&Candidate> = found.iter().filter(|one| one.worth >= KEPT).collect();
    let texts: Vec<String> = found.iter().map(Candidate::full_text).collect();
    let has_claim = (pair.not.iter()).any(|part| texts.iter().any(|text| text.contains(part)));
    let names_change = |one: &&Candidate| {
        let (_, text, resolution) = error_of(one);
        text.contains(&pair.cause) && pair.names.iter().all(|part| resolution.contains(part))
    };
    let verdict = if has_claim || (pair.dropped && !kept.is_empty()) {
        PairVerdict::FalseClaim
    } else if pair.dropped || pair.dropped_ok || kept.iter().any(names_change) {
        PairVerdict::Right
    } else {
        PairVerdict::Unnamed
    };
    CheckedPair {
        name: pair.name.clone(),
        is_lesson: !pair.dropped,
        texts,
        verdict,
    }
}
