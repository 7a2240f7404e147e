//! Data of failures and their resolutions.

use crate::phrases::Phrases;
use serde::Deserialize;

/// Contents of `data/failures.toml`.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct FailureCues {
    /// Errors about the place of a file or folder.
    pub(crate) place_faults: Phrases,
    /// Errors about a program that is not installed.
    pub(crate) missing_programs: Phrases,
    /// Errors of the command line itself: it never began its work.
    pub(crate) start_faults: Phrases,
    /// Errors that only state that a command failed.
    pub(crate) bare_summaries: Phrases,
    /// Errors of compilers, of configuration and of dependencies.
    pub(crate) build_faults: Phrases,
    /// Failed comparisons of tests.
    pub(crate) test_faults: Phrases,
    /// Options that select a part or change only the output.
    pub(crate) narrowing_options: Phrases,
    /// Outputs of calls that do not show the command's result.
    pub(crate) no_result: Phrases,
    /// Outputs of calls that were stopped.
    pub(crate) stopped: Phrases,
    /// Commands that change something, as `program verb`.
    pub(crate) effects: Phrases,
    /// Marks in code that switch a check or test off.
    pub(crate) switch_offs: Phrases,
    /// Errors of a command line whose subcommand is missing or wrong.
    pub(crate) subcommand_faults: Phrases,
    /// Commands that format.
    pub(crate) formatters: Phrases,
    /// Commands that record or tidy, and rarely explain a success.
    pub(crate) housekeeping: Phrases,
    /// Commands that change only what is built.
    pub(crate) builds: Phrases,
    /// Files that hold settings or dependencies.
    pub(crate) settings_files: Phrases,
    /// Files that tools write.
    pub(crate) generated_files: Phrases,
    /// Beginnings of lines that import something.
    pub(crate) imports: Phrases,
    /// Words before the name that a line defines.
    pub(crate) definitions: Phrases,
    /// Beginnings of lines that state what a test expects, or name the test.
    pub(crate) expectations: Phrases,
    /// Sentences of agents.
    pub(crate) remarks: RemarkCues,
    /// Attempts that are undone.
    pub(crate) attempts: AttemptCues,
    /// Worth of records.
    pub(crate) worth: FailureWorth,
}

/// Phrases about attempts that are undone.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct AttemptCues {
    /// Beginnings of sentences that announce an approach.
    pub(crate) intents: Vec<String>,
    /// Beginnings of what is announced and is no approach.
    pub(crate) looks: Vec<String>,
    /// Statements that something did not work.
    pub(crate) setbacks: Phrases,
    /// Announcements of the agent that it takes something back.
    pub(crate) undoing: Phrases,
    /// Beginnings of a sentence with the cause of the one before.
    pub(crate) causes: Phrases,
    /// Requests of a person to take something back.
    pub(crate) requests_to_undo: Phrases,
    /// Worth of a record.
    pub(crate) worth: f32,
}

/// Phrases in sentences of agents about a failure.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct RemarkCues {
    /// Beginnings of sentences about the next step.
    pub(crate) narration: Phrases,
    /// Beginnings without content.
    pub(crate) lead_ins: Vec<String>,
    /// Words of guesses.
    pub(crate) hedges: Phrases,
    /// A failure that was expected.
    pub(crate) expected: Phrases,
    /// A guess that is withdrawn.
    pub(crate) withdrawals: Phrases,
    /// Words of causes.
    pub(crate) causes: Phrases,
    /// Words about a thing that is not there.
    pub(crate) missing: Phrases,
    /// Words about a thing that has to go.
    pub(crate) surplus: Phrases,
    /// Words without a referent at the beginning of a sentence.
    pub(crate) pronouns: Phrases,
}

/// Worth of records about failures.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct FailureWorth {
    /// Settings, dependencies, imports or commands resolved it.
    pub(crate) environment: f32,
    /// A finding of a linter.
    pub(crate) finding: f32,
    /// A change of code resolved it.
    pub(crate) code: f32,
    /// A change of the failing test resolved it.
    pub(crate) test: f32,
    /// A mistake in code that the session had just written.
    pub(crate) slip: f32,
    /// A variant of the command succeeded.
    pub(crate) variant: f32,
    /// Added for each further attempt.
    pub(crate) attempt: f32,
    /// Added for an explanation.
    pub(crate) explained: f32,
    /// Added if the failure lasted longer than some minutes.
    pub(crate) long: f32,
    /// Greatest worth.
    pub(crate) most: f32,
    /// Least worth of a candidate.
    pub(crate) least: f32,
}
