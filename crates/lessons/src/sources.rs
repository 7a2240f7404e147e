//! Sources of lessons, one file each.

mod attempts;
mod cases;
mod command_variant;
mod commands;
mod commits;
mod compaction_summary;
mod diagnoses;
mod documents;
mod explanations;
mod failures;
mod person_rules;
mod plans;
mod reports;
mod working_tree;

pub use working_tree::{LineSteps, WorkingTree};

pub(crate) use commands::is_static_check;
pub use person_rules::{SessionSentences, SpokenSentence, TurnSentence, turn_sentences};
pub(crate) use person_rules::{own_sentences, rule_category};

use crate::Candidate;
use crate::cues::Cues;
use crate::wishes::Wish;
use heirloom_agents::transcripts::TranscriptEvent;
use serde::{Deserialize, Serialize};

/// State of all sources.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Sources {
    person_rules: person_rules::PersonRules,
    failures: failures::Failures,
    attempts: attempts::Attempts,
    explanations: explanations::Explanations,
    summaries: compaction_summary::CompactionSummary,
    commands: commands::Commands,
    commits: commits::Commits,
    plans: plans::Plans,
    cases: cases::Cases,
    reports: reports::Reports,
    documents: documents::Documents,
    diagnoses: diagnoses::Diagnoses,
}

impl Sources {
    /// Names the project's folder for the sources that show paths.
    pub(crate) fn set_project_folder(&mut self, folder: &str) {
        self.failures.set_project_folder(folder);
        self.attempts.set_project_folder(folder);
        self.commands.set_project_folder(folder);
        self.diagnoses.set_project_folder(folder);
        self.cases.set_project_folder(folder);
    }

    /// Passes an event to every source.
    pub(crate) fn push(&mut self, position: u64, event: &TranscriptEvent, cues: &Cues) {
        self.person_rules.push(position, event, cues);
        self.failures.push(position, event, cues);
        self.attempts.push(position, event, cues);
        self.explanations.push(position, event, cues);
        self.summaries.push(position, event, cues);
        self.commands.push(position, event, cues);
        self.commits.push(position, event, cues);
        self.plans.push(position, event);
        self.cases.push(position, event, cues);
        self.reports.push(position, event, cues);
        self.documents.push(position, event, cues);
        self.diagnoses.push(position, event, cues);
    }

    /// Returns the wishes of the person.
    pub(crate) fn wishes(&self) -> &[Wish] {
        self.person_rules.wishes()
    }

    /// Returns the candidates of all sources.
    pub(crate) fn candidates(&self, cues: &Cues) -> Vec<Candidate> {
        let mut all = Vec::new();
        self.person_rules.add_candidates(cues, &mut all);
        self.failures.add_candidates(cues, &mut all);
        self.attempts.add_candidates(cues, &mut all);
        self.diagnoses.add_candidates(cues, &mut all);
        self.explanations.add_candidates(cues, &mut all);
        self.summaries.add_candidates(cues, &mut all);
        self.commands.add_candidates(cues, &mut all);
        self.commits.add_candidates(cues, &mut all);
        self.plans.add_candidates(&mut all);
        self.reports.add_candidates(cues, &mut all);
        self.documents.add_candidates(cues, &mut all);
        // A case names the failures on its way.
        self.cases.add_candidates(cues, &mut all);
        all
    }

    /// Returns a title of the session.
    pub(crate) fn title(&self, cues: &Cues) -> Option<String> {
        self.cases.title(cues)
    }
}
