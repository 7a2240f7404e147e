//! Failed runs of tests, which link the error that an agent reports to the command that showed it.

use super::pass_evidence::{COMMAND, FOLDER};
use super::passed_tests::PassedTests;
use heirloom_agents::failures::Subject;
use heirloom_model::Record;

/// Number of newest runs that are remembered.
const RUNS_MAX: usize = 5;

/// A run that named failing tests.
#[derive(Debug)]
struct FailedRun {
    /// Common prefix of the keys of the command's failures.
    prefix: String,
    folder: Option<String>,
    tests: PassedTests,
}

/// Newest failed runs of an iteration, oldest first.
#[derive(Debug, Default)]
pub(crate) struct FailedRuns(Vec<FailedRun>);

impl FailedRuns {
    /// Adds a failed command if its output names failing tests; an earlier run of it is replaced.
    pub(crate) fn add(&mut self, command: &str, folder: Option<&str>, output: &str) {
        let tests = PassedTests::of_failed_run(output);
        if tests.is_empty() {
            return;
        }
        let prefix = Subject::Command(command.to_owned()).prefix();
        self.0.retain(|run| run.prefix != prefix);
        self.0.push(FailedRun {
            prefix,
            folder: folder.map(str::to_owned),
            tests,
        });
        if self.0.len() > RUNS_MAX {
            self.0.drain(..self.0.len() - RUNS_MAX);
        }
    }

    /// Notes at a reported error the newest command that named its tests.
    pub(crate) fn mark_error(&self, error: &mut Record) {
        let mut runs = self.0.iter().rev();
        let Some(run) = runs.find(|run| run.tests.cover(&error.text)) else {
            return;
        };
        let folder = run.folder.as_ref().map(|folder| (FOLDER, folder));
        for (name, value) in [(COMMAND, &run.prefix)].into_iter().chain(folder) {
            (error.attrs).insert(name.to_owned(), value.as_str().into());
        }
    }
}
