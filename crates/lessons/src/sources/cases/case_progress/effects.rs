//! Effects of the agent's calls on the progress of a request: edits, checks, commits, what was filed, and reverts.

use super::{CaseProgress, CheckResult, PULL_REQUEST};
use crate::bounded_text::bounded;
use crate::sources::cases::issue_title::created_id;
use crate::sources::cases::work_command::{WorkEffect, is_prose};
use heirloom_agents::failures::error_lines;
use heirloom_agents::failures::read_test_counts;
use heirloom_agents::transcripts::ToolOutcome;

/// Greatest number of commits, pull requests and filed issues that are kept.
const WORK_MAX: usize = 5;
/// Greatest number of files.
const FILES_MAX: usize = 12;
/// Greatest number of symbols.
const SYMBOLS_MAX: usize = 12;
/// Greatest number of checks.
const CHECKS_MAX: usize = 4;
/// Greatest number of bytes of an error.
const ERROR_BYTES_MAX: usize = 160;

impl CaseProgress {
    /// Applies the effect of a call with this result.
    pub(in crate::sources::cases) fn apply(
        &mut self,
        effect: &WorkEffect,
        outcome: ToolOutcome,
        output: &str,
    ) {
        let has_succeeded = outcome == ToolOutcome::Succeeded;
        match effect {
            WorkEffect::Check(check) => {
                if let Some(has_passed) = check.has_passed(outcome, output) {
                    self.add_check(&check.command, check.is_test, has_passed, output);
                }
            }
            WorkEffect::Tests => {
                if let Some(counts) = read_test_counts(output) {
                    self.add_check("", true, counts.failed == 0, output);
                }
            }
            _ if !has_succeeded => {}
            WorkEffect::Edit { path, symbols } => {
                self.add_edits(path, 1);
                symbols.iter().for_each(|symbol| self.add_symbol(symbol));
            }
            WorkEffect::Commit(subject) => {
                self.work = self.work.saturating_add(1);
                self.commit_count = self.commit_count.saturating_add(1);
                self.add_commit(commit_id(output), subject.clone());
            }
            WorkEffect::PullRequest(title) => self.add_filed(&format!("{PULL_REQUEST}\"{title}\"")),
            WorkEffect::Filing(title) => self.add_filed(&match created_id(output) {
                Some(id) => format!("issue {id} \"{title}\""),
                None => format!("issue \"{title}\""),
            }),
            WorkEffect::Revert(files) => self.revert(files),
            WorkEffect::IssueView => {}
        }
    }

    pub(super) fn add_edits(&mut self, path: &str, count: u32) {
        self.work = self.work.saturating_add(count);
        if !is_prose(path) {
            self.edits = self.edits.saturating_add(count);
        }
        if let Some((_, known)) = self.files.iter_mut().find(|(known, _)| known == path) {
            *known = known.saturating_add(count);
            return;
        }
        if self.files.len() >= FILES_MAX {
            let least = (self.files.iter().enumerate())
                .min_by_key(|(_, (_, count))| *count)
                .map_or(0, |(at, _)| at);
            self.files.remove(least);
        }
        self.files.push((path.to_owned(), count));
    }

    pub(super) fn add_symbol(&mut self, symbol: &str) {
        self.symbols.retain(|known| known != symbol);
        if self.symbols.len() >= SYMBOLS_MAX {
            self.symbols.remove(0);
        }
        self.symbols.push(symbol.to_owned());
    }

    pub(super) fn add_commit(&mut self, id: String, subject: String) {
        // An amended commit replaces the one before it.
        self.commits.retain(|(_, known)| *known != subject);
        if self.commits.len() >= WORK_MAX {
            self.commits.remove(0);
        }
        self.commits.push((id, subject));
    }

    pub(super) fn add_filed(&mut self, text: &str) {
        let text = bounded(text, 160);
        if self.filed.len() < WORK_MAX && !self.filed.contains(&text) {
            self.filed.push(text);
        }
    }

    fn add_check(&mut self, command: &str, is_test: bool, has_passed: bool, output: &str) {
        self.checks.retain(|known| known.command != command);
        if self.checks.len() >= CHECKS_MAX {
            self.checks.remove(0);
        }
        let error = match has_passed {
            true => String::new(),
            false => error_lines(output, 1).pop().unwrap_or_default(),
        };
        let error = error.trim_start_matches(['^', '|', ' ', '~']);
        self.checks.push(CheckResult {
            command: command.to_owned(),
            is_test,
            has_passed,
            edits: self.edits,
            error: bounded(error, ERROR_BYTES_MAX),
        });
    }

    fn revert(&mut self, files: &[String]) {
        if files.is_empty() {
            self.reverted = (!self.files.is_empty()).then_some(self.work);
            return;
        }
        let is_meant = |path: &str| {
            files.iter().any(|file| {
                path.ends_with(file.as_str())
                    || path.contains(&format!("{}/", file.trim_end_matches('/')))
            })
        };
        let is_last = self.files.iter().all(|(path, _)| is_meant(path));
        if is_last && !self.files.is_empty() {
            self.reverted = Some(self.work);
        } else {
            self.files.retain(|(path, _)| !is_meant(path));
        }
    }
}

/// Returns the id that Git prints for a commit, such as `abc1234` in `[main abc1234] Fix it`.
fn commit_id(output: &str) -> String {
    let line = output.lines().take(40).find(|line| line.starts_with('['));
    let id = line
        .and_then(|line| line.split_once(']'))
        .and_then(|(head, _)| head.rsplit(' ').next())
        .unwrap_or_default();
    let is_id = (6..=12).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_hexdigit());
    if is_id { id.to_owned() } else { String::new() }
}
