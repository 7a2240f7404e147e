//! Cue phrases, weights and thresholds, read once from `data/*.toml`.

mod commands;
mod explanations;
mod failures;
mod knowledge;
mod person_rules;

pub(crate) use commands::{CommandCues, CommandPurpose, TrackerCues};
pub(crate) use explanations::{DiagnosisCues, ExplanationCues};
pub(crate) use failures::FailureCues;
pub(crate) use knowledge::{
    CommitCues, DocumentCues, OutcomeCues, ReportCues, SelectionCues, SummaryCues,
};

pub(crate) use person_rules::{
    PersonRuleCues, RuleCategory, SentenceScore, TurnWords, ends_with_word, normalize,
    starts_with_word,
};

use serde::de::DeserializeOwned;
use std::sync::OnceLock;

/// Data of all sources.
#[derive(Debug, Default)]
pub(crate) struct Cues {
    /// Rules by people.
    pub(crate) person_rules: PersonRuleCues,
    /// Commands.
    pub(crate) commands: CommandCues,
    /// Explanations.
    pub(crate) explanations: ExplanationCues,
    /// Failures and their resolutions.
    pub(crate) failures: FailureCues,
    /// Compaction summaries.
    pub(crate) summaries: SummaryCues,
    /// Commits and pull requests.
    pub(crate) commits: CommitCues,
    /// Requests and their outcome.
    pub(crate) outcome: OutcomeCues,
    /// Proposals and reports.
    pub(crate) reports: ReportCues,
    /// Issues, plans and specifications.
    pub(crate) documents: DocumentCues,
    /// Selection.
    pub(crate) selection: SelectionCues,
}

impl Cues {
    /// Returns the built-in data.
    pub(crate) fn get() -> &'static Self {
        static CUES: OnceLock<Cues> = OnceLock::new();
        CUES.get_or_init(|| Self {
            person_rules: PersonRuleCues::parse(),
            commands: parse(include_str!("../data/commands.toml")),
            explanations: parse(include_str!("../data/explanations.toml")),
            failures: parse(include_str!("../data/failures.toml")),
            summaries: parse(include_str!("../data/summaries.toml")),
            commits: parse(include_str!("../data/commits.toml")),
            outcome: parse(include_str!("../data/outcome.toml")),
            reports: parse(include_str!("../data/reports.toml")),
            documents: parse(include_str!("../data/documents.toml")),
            selection: parse(include_str!("../data/selection.toml")),
        })
    }
}

/// Parses a data file. A test parses all of them, so that the default never applies.
fn parse<T: DeserializeOwned + Default>(text: &str) -> T {
    toml::from_str(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: DeserializeOwned>(text: &str) {
        if let Err(error) = toml::from_str::<T>(text) {
            panic!("{error}");
        }
    }

    #[test]
    fn knowledge_data_files_parse() {
        check::<CommandCues>(include_str!("../data/commands.toml"));
        check::<ExplanationCues>(include_str!("../data/explanations.toml"));
        check::<FailureCues>(include_str!("../data/failures.toml"));
        check::<SummaryCues>(include_str!("../data/summaries.toml"));
        check::<CommitCues>(include_str!("../data/commits.toml"));
        check::<OutcomeCues>(include_str!("../data/outcome.toml"));
        check::<ReportCues>(include_str!("../data/reports.toml"));
        check::<DocumentCues>(include_str!("../data/documents.toml"));
        check::<SelectionCues>(include_str!("../data/selection.toml"));
    }
}
