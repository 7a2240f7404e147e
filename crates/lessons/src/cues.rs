//! Cue phrases, weights and thresholds of `data/*.toml`.

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
use std::sync::LazyLock;

/// Data of all sources. Each file is parsed when a source needs it, because a hook reads only some events; the largest
/// one is compiled into constants.
#[derive(Debug)]
pub(crate) struct Cues {
    /// Rules by people.
    pub(crate) person_rules: PersonRuleCues,
    /// Commands.
    pub(crate) commands: LazyLock<CommandCues>,
    /// Explanations.
    pub(crate) explanations: LazyLock<ExplanationCues>,
    /// Failures and their resolutions.
    pub(crate) failures: LazyLock<FailureCues>,
    /// Compaction summaries.
    pub(crate) summaries: LazyLock<SummaryCues>,
    /// Commits and pull requests.
    pub(crate) commits: LazyLock<CommitCues>,
    /// Requests and their outcome.
    pub(crate) outcome: LazyLock<OutcomeCues>,
    /// Proposals and reports.
    pub(crate) reports: LazyLock<ReportCues>,
    /// Issues, plans and specifications.
    pub(crate) documents: LazyLock<DocumentCues>,
    /// Selection.
    pub(crate) selection: LazyLock<SelectionCues>,
}

impl Cues {
    /// Returns the built-in data.
    pub(crate) fn get() -> &'static Self {
        static CUES: Cues = Cues {
            person_rules: PersonRuleCues::BUILT_IN,
            commands: LazyLock::new(|| parse(include_str!("../data/commands.toml"))),
            explanations: LazyLock::new(|| parse(include_str!("../data/explanations.toml"))),
            failures: LazyLock::new(|| parse(include_str!("../data/failures.toml"))),
            summaries: LazyLock::new(|| parse(include_str!("../data/summaries.toml"))),
            commits: LazyLock::new(|| parse(include_str!("../data/commits.toml"))),
            outcome: LazyLock::new(|| parse(include_str!("../data/outcome.toml"))),
            reports: LazyLock::new(|| parse(include_str!("../data/reports.toml"))),
            documents: LazyLock::new(|| parse(include_str!("../data/documents.toml"))),
            selection: LazyLock::new(|| parse(include_str!("../data/selection.toml"))),
        };
        &CUES
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
