//! Cue phrases, weights and thresholds of `data/*.toml`.

mod commands;
mod explanations;
mod failures;
mod knowledge;
mod person_rules;

pub(crate) use commands::{CommandCues, CommandPurpose, TrackerCues};
pub(crate) use explanations::{DiagnosisCues, ExplanationCues};
pub(crate) use failures::{AttemptCues, FailureCues};
pub(crate) use knowledge::{
    CommitCues, DocumentCues, OutcomeCues, PastedTextCues, ReportCues, SelectionCues, SummaryCues,
};

pub(crate) use person_rules::{
    PersonRuleCues, RuleCategory, TurnWords, contains_phrase, ends_with_word, normalize,
    starts_with_word,
};

use serde::de::DeserializeOwned;
use std::sync::LazyLock;

/// Returns a data file as JSON, to which `build.rs` converts it.
macro_rules! data_file {
    ($name:literal) => {
        include_str!(concat!(env!("OUT_DIR"), "/", $name, ".json"))
    };
}

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
    /// Text of others in turns.
    pub(crate) pasted_text: LazyLock<PastedTextCues>,
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
            commands: LazyLock::new(|| parse(data_file!("commands"))),
            explanations: LazyLock::new(|| parse(data_file!("explanations"))),
            failures: LazyLock::new(|| parse(data_file!("failures"))),
            summaries: LazyLock::new(|| parse(data_file!("summaries"))),
            commits: LazyLock::new(|| parse(data_file!("commits"))),
            outcome: LazyLock::new(|| parse(data_file!("outcome"))),
            pasted_text: LazyLock::new(|| parse(data_file!("pasted_text"))),
            reports: LazyLock::new(|| parse(data_file!("reports"))),
            documents: LazyLock::new(|| parse(data_file!("documents"))),
            selection: LazyLock::new(|| parse(data_file!("selection"))),
        };
        &CUES
    }
}

/// Parses a data file. A test parses all of them, so that the default never applies.
fn parse<T: DeserializeOwned + Default>(text: &str) -> T {
    serde_json::from_str(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: DeserializeOwned>(text: &str) {
        if let Err(error) = serde_json::from_str::<T>(text) {
            panic!("{error}");
        }
    }

    #[test]
    fn knowledge_data_files_parse() {
        check::<CommandCues>(data_file!("commands"));
        check::<ExplanationCues>(data_file!("explanations"));
        check::<FailureCues>(data_file!("failures"));
        check::<SummaryCues>(data_file!("summaries"));
        check::<CommitCues>(data_file!("commits"));
        check::<OutcomeCues>(data_file!("outcome"));
        check::<PastedTextCues>(data_file!("pasted_text"));
        check::<ReportCues>(data_file!("reports"));
        check::<DocumentCues>(data_file!("documents"));
        check::<SelectionCues>(data_file!("selection"));
    }
}
