//! Log of the newest changes, and which of them are still in place.

use super::change::Change;
use crate::sources::working_tree::{TreeStep, is_among};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Changes that are kept.
const CHANGES_MAX: usize = 12;

/// Newest changes, as they were made.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct ChangeLog {
    changes: VecDeque<Change>,
}

impl ChangeLog {
    /// Adds a change.
    pub(super) fn add(&mut self, change: Change) {
        if self.changes.len() == CHANGES_MAX {
            self.changes.pop_front();
        }
        self.changes.push_back(change);
    }

    /// Does a step of Git: what it undoes is no change any more.
    pub(super) fn apply(&mut self, step: &TreeStep, was_put_aside: bool) {
        match step {
            TreeStep::Undo(files) => self.undo(files, false),
            TreeStep::UndoCommits => self.undo(&[], true),
            TreeStep::Discard if was_put_aside => self.undo(&[], false),
            TreeStep::Commit => self
                .changes
                .iter_mut()
                .for_each(|one| one.is_committed = true),
            TreeStep::PutAside
            | TreeStep::TakeBack
            | TreeStep::Discard
            | TreeStep::CheckOut(_)
            | TreeStep::NameBranch(_) => {}
        }
    }

    /// Removes the edits of files; of all files without names.
    pub(super) fn undo(&mut self, files: &[String], has_committed: bool) {
        self.changes.retain(|one| {
            let is_kept = one.is_committed && !has_committed;
            one.path.is_empty() || is_kept || !is_among(&one.path, files)
        });
    }

    /// Returns the changes after a position that are still in place. Lines that a later edit undoes are no change;
    /// an edit of added lines continues the edit that added them: `a` to `b` and `b` to `c` is `a` to `c`.
    pub(super) fn since(&self, position: u64) -> Vec<Change> {
        let mut net: Vec<Change> = Vec::new();
        for change in &self.changes {
            let mut change = change.clone();
            let was_empty = change.has_no_lines();
            if !change.path.is_empty() {
                for earlier in &mut net {
                    if earlier.path == change.path {
                        take_back(earlier, &mut change);
                    }
                }
            }
            net.retain(|one| !one.is_reversed);
            change.is_reversed = !was_empty && change.has_no_lines();
            if !change.is_reversed {
                net.push(change);
            }
        }
        net.retain(|change| change.place.position > position);
        net
    }

    /// Forgets all changes.
    pub(super) fn clear(&mut self) {
        self.changes.clear();
    }
}

/// Removes from two edits of a file what the later one undoes.
fn take_back(earlier: &mut Change, later: &mut Change) {
    let count = |lines: &[String], line: &String| lines.iter().filter(|one| *one == line).count();
    let replaced: Vec<String> = (later.removed.iter())
        .filter(|line| count(&earlier.added, line) > 0)
        .cloned()
        .collect();
    let restored: Vec<String> = (later.added.iter())
        .filter(|line| count(&earlier.removed, line) > 0)
        .cloned()
        .collect();
    if replaced.is_empty() && restored.is_empty() {
        return;
    }
    earlier.added.retain(|line| !replaced.contains(line));
    earlier.removed.retain(|line| !restored.contains(line));
    later.removed.retain(|line| !replaced.contains(line));
    later.added.retain(|line| !restored.contains(line));
    if earlier.added.is_empty() {
        // What it removed is gone because of both.
        let removed = std::mem::take(&mut earlier.removed);
        let new = removed
            .into_iter()
            .filter(|line| !later.removed.contains(line));
        let new: Vec<String> = new.collect();
        later.removed.splice(0..0, new);
        earlier.is_reversed = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cues::Cues;
    use crate::event_place::EventPlace;
    use heirloom_agents::transcripts::{EventBody, FileEdit, TranscriptEvent};

    fn edit(position: u64, removed: &str, added: &str) -> Change {
        let event = TranscriptEvent {
            id: String::new(),
            at: None,
            agent: None,
            author: heirloom_agents::transcripts::TurnAuthor::Person,
            body: EventBody::Prompt(String::new()),
        };
        let edit = FileEdit {
            path: "/p/src/a".to_owned(),
            removed: removed.to_owned(),
            added: added.to_owned(),
        };
        let place = EventPlace::of(position, &event);
        Change::of_edit(place, &edit, &[], &Cues::get().failures)
    }

    /// Returns the changes after a position as `removed > added`.
    fn since(log: &ChangeLog, position: u64) -> Vec<String> {
        let shown = |one: Change| format!("{} > {}", one.removed.join("|"), one.added.join("|"));
        log.since(position).into_iter().map(shown).collect()
    }

    #[test]
    fn since_leaves_out_what_later_edits_take_back() {
        for (edits, position, expected) in [
            // Continued.
            (
                vec![
                    ("mode = a", "mode = auto"),
                    ("mode = auto", "mode = shared"),
                ],
                0,
                vec!["mode = a > mode = shared"],
            ),
            // Reversed, also if the last failure was in between: a revert is no change.
            (
                vec![("mode = a", "mode = auto"), ("mode = auto", "mode = a")],
                0,
                vec![],
            ),
            (
                vec![("mode = a", "mode = auto"), ("mode = auto", "mode = a")],
                1,
                vec![],
            ),
            // Reversed in part.
            (
                vec![("", "one = 1\ntwo = 2"), ("two = 2", "")],
                0,
                vec![" > one = 1"],
            ),
            // Independent.
            (
                vec![("", "one = 1"), ("", "two = 2")],
                1,
                vec![" > two = 2"],
            ),
        ] {
            let mut log = ChangeLog::default();
            for (position, (removed, added)) in (1..).zip(&edits) {
                log.add(edit(position, removed, added));
            }
            assert_eq!(since(&log, position), expected, "{edits:?}");
        }
    }

    #[test]
    fn apply_forgets_edits_that_git_undoes() {
        let undo = TreeStep::Undo(vec!["src/a".to_owned()]);
        for (steps, is_left) in [
            (vec![undo.clone()], false),
            (vec![TreeStep::Undo(vec!["src/b".to_owned()])], true),
            (vec![TreeStep::Commit, undo], true),
            (vec![TreeStep::Commit, TreeStep::UndoCommits], false),
            (vec![TreeStep::PutAside, TreeStep::TakeBack], true),
        ] {
            let mut log = ChangeLog::default();
            log.add(edit(1, "", "one = 1"));
            steps.iter().for_each(|step| log.apply(step, false));
            assert_eq!(!since(&log, 0).is_empty(), is_left, "{steps:?}");
        }
    }
}
