//! Drives one program through sessions of two days and checks the memory: a dead end before the true fix, and rules that a
//! person replaces.

mod changed_rule;
mod dead_end;
mod session;
mod told_lines;
mod work_tools;

use std::path::Path;
use std::time::{Duration, Instant};

use super::iterations::Stage;
use super::program::Program;
use session::{MemoryProject, TurnQueue};

/// Findings about the memory of one program. `None` was not reached.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MemoryFindings {
    /// The next session is told the true fix of each failure, at its start or with the prompt, and after the failure.
    pub(crate) fix_told_true: Option<bool>,
    /// The next session is told the dead end, the revert or the fix of the other failure as a fix.
    pub(crate) dead_end_told: Option<bool>,
    /// `heirloom tried` finds the dead end.
    pub(crate) dead_end_found: Option<bool>,
    /// The next session is told a rule that a person replaced.
    pub(crate) old_rule_told: Option<bool>,
    /// The next session is told each new rule.
    pub(crate) new_rule_told: Option<bool>,
}

impl MemoryFindings {
    /// The findings with their names and the right values.
    pub(crate) fn named(&self) -> [(&'static str, Option<bool>, bool); 5] {
        [
            ("fix_told_true", self.fix_told_true, true),
            ("dead_end_told", self.dead_end_told, false),
            ("dead_end_found", self.dead_end_found, true),
            ("old_rule_told", self.old_rule_told, false),
            ("new_rule_told", self.new_rule_told, true),
        ]
    }

    /// Fails with the names of the findings that are wrong.
    fn check(&self) -> Result<(), String> {
        let named = self.named();
        let wrong = named
            .iter()
            .filter(|(_, found, right)| *found != Some(*right));
        let wrong: Vec<String> = wrong
            .map(|(name, found, _)| match found {
                Some(found) => format!("{name} is {found}"),
                None => format!("{name} is not known"),
            })
            .collect();
        match wrong.is_empty() {
            true => Ok(()),
            false => Err(wrong.join(", ")),
        }
    }
}

/// Result of driving one program.
#[derive(Debug)]
pub(crate) struct MemoryRun {
    /// The program.
    pub(crate) program: &'static Program,
    /// The findings.
    pub(crate) findings: MemoryFindings,
    /// Total time.
    pub(crate) elapsed: Duration,
    /// The first failed check.
    pub(crate) outcome: Result<(), String>,
}

/// Drives the program through both scenarios, each in a project of its own.
pub(crate) fn drive(program: &'static Program, heirloom: &Path) -> MemoryRun {
    let started = Instant::now();
    let mut findings = MemoryFindings::default();
    let rules = scenario(program, heirloom, |project| {
        changed_rule::drive(project, &mut findings)
    });
    let dead_end = scenario(program, heirloom, |project| {
        dead_end::drive(project, &mut findings)
    });
    MemoryRun {
        program,
        findings,
        elapsed: started.elapsed(),
        outcome: match (dead_end, rules) {
            (Err(dead_end), Err(rules)) => Err(format!("{dead_end}; {rules}")),
            (dead_end, rules) => dead_end.and(rules).and_then(|()| findings.check()),
        },
    }
}

/// Runs a scenario in a fresh project; one that fails or finds something wrong keeps it.
fn scenario(
    program: &'static Program,
    heirloom: &Path,
    act: impl FnOnce(&MemoryProject<'_>) -> Result<Vec<String>, String>,
) -> Result<(), String> {
    let turns = TurnQueue::default();
    let stage = Stage::set(program, turns.script())?;
    let outcome = MemoryProject::create(&stage, heirloom, &turns).and_then(|project| act(&project));
    match outcome {
        Ok(wrong) if wrong.is_empty() => Ok(()),
        Ok(wrong) => Err(format!("{} ({})", wrong.join("; "), stage.keep())),
        Err(error) => Err(format!("{error} ({})", stage.keep())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_fail_when_one_is_wrong_or_missing() {
        let right = MemoryFindings {
            fix_told_true: Some(true),
            dead_end_told: Some(false),
            dead_end_found: Some(true),
            old_rule_told: Some(false),
            new_rule_told: Some(true),
        };
        assert_eq!(right.check(), Ok(()));
        let wrong = MemoryFindings {
            dead_end_told: Some(true),
            new_rule_told: None,
            ..right
        };
        let error = wrong.check().unwrap_err();
        assert_eq!(error, "dead_end_told is true, new_rule_told is not known");
    }
}
