//! Checks that a session ran before its commits.

use super::usage::CommandUsage;
use serde::{Deserialize, Serialize};

/// Greatest number of checks between two commits.
const CHECKS_MAX: usize = 12;
/// Greatest number of checks in a record.
const SHOWN_MAX: usize = 4;

/// Checks since the last commit, and how many commits each one preceded.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct CheckCycle {
    /// Checks that succeeded since the last commit, by index.
    current: Vec<usize>,
    /// Checks with the number of commits that they preceded, in the order of their first run.
    preceding: Vec<(usize, u32)>,
    /// Number of commits with a check before them.
    commits: u32,
}

impl CheckCycle {
    /// Adds a check that succeeded.
    pub(super) fn add_check(&mut self, index: usize) {
        if self.current.len() < CHECKS_MAX && !self.current.contains(&index) {
            self.current.push(index);
        }
    }

    /// Ends the cycle at a commit.
    pub(super) fn end(&mut self) {
        if self.current.is_empty() {
            return;
        }
        self.commits += 1;
        for index in std::mem::take(&mut self.current) {
            if let Some((_, count)) = self.preceding.iter_mut().find(|(known, _)| *known == index) {
                *count += 1;
            } else if self.preceding.len() < CHECKS_MAX * 2 {
                self.preceding.push((index, 1));
            }
        }
    }

    /// Returns the checks that usually precede a commit, if there are at least two. `indices` has the index in `merged`
    /// of each stored form.
    pub(super) fn usual_checks<'u>(
        &self,
        merged: &'u [CommandUsage],
        indices: &[usize],
    ) -> Vec<&'u CommandUsage> {
        if self.commits < 2 {
            return Vec::new();
        }
        let mut counts: Vec<(usize, u32)> = Vec::new();
        for (stored, count) in &self.preceding {
            let Some(index) = indices.get(*stored) else {
                continue;
            };
            match counts.iter_mut().find(|(known, _)| known == index) {
                Some((_, sum)) => *sum += count,
                None => counts.push((*index, *count)),
            }
        }
        let mut usual: Vec<&CommandUsage> = counts
            .into_iter()
            .filter(|(_, count)| *count >= 2 && count * 2 >= self.commits)
            .filter_map(|(index, _)| merged.get(index))
            .filter(|usage| usage.last_succeeded)
            .collect();
        // A form that only adds options to another one is the same check.
        let forms: Vec<String> = usual.iter().map(|usage| usage.form.clone()).collect();
        usual.retain(|usage| {
            let is_longer =
                |form: &String| usage.form != *form && usage.form.starts_with(&format!("{form} "));
            !forms.iter().any(is_longer)
        });
        usual.truncate(SHOWN_MAX);
        match usual.len() {
            0 | 1 => Vec::new(),
            _ => usual,
        }
    }
}
