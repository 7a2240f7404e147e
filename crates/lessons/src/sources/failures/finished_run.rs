//! Finished runs of commands: which open failures they close.

use super::Failures;
use super::change::Change;
use super::closed_failure::{ClosedFailure, Closing, Ending};
use super::open_failure::OpenFailure;
use super::run_place::RunPlace;
use crate::command_run::CommandRun;
use crate::cues::Cues;
use crate::event_place::EventPlace;
use crate::sources::command_variant::find_variant;

/// Resolved failures that are kept.
const CLOSED_MAX: usize = 14;
/// Calls after which a success is the result of other work.
const NEAR_CALLS: u64 = 20;
/// Hours after which a success is the result of other work, such as a session that was resumed the next day.
const NEAR_HOURS: i64 = 12;

/// A run whose result is known.
pub(super) struct FinishedRun<'r> {
    pub(super) place: &'r EventPlace,
    pub(super) run: &'r CommandRun,
    pub(super) ran_at: RunPlace,
    /// Changes that its command line made itself.
    pub(super) own: &'r [Change],
}

impl Failures {
    /// Closes what a success resolves.
    pub(super) fn add_success(&mut self, ran: &FinishedRun<'_>, cues: &Cues) {
        let mut number = 0;
        while let Some(open) = self.open.get(number) {
            let is_near = self.call_count.saturating_sub(open.last_call) <= NEAR_CALLS;
            let is_same_agent = open.first.agent == ran.place.agent;
            let is_same_tree = open.ran_at.is_same_tree(&ran.ran_at);
            let is_variant = || {
                let part = open.failed_part()?;
                find_variant(&open.run, part, ran.run, &open.error, &cues.failures)
                    .or_else(|| self.typed.variant(open, ran.run))
            };
            let is_resolved = is_same_agent
                && (open.is_resolved_by(ran.run, &ran.ran_at)
                    || is_near && is_same_tree && is_variant().is_some());
            if is_resolved {
                self.close(number, ran, Ending::Success, cues);
            } else {
                number += 1;
            }
        }
        if self.open.is_empty() {
            self.remarks.clear();
        }
    }

    /// Closes an open failure, unless nothing shows that the error is gone.
    pub(super) fn close(
        &mut self,
        number: usize,
        ran: &FinishedRun<'_>,
        ending: Ending,
        cues: &Cues,
    ) {
        let Some(open) = self.open.remove(number) else {
            return;
        };
        let changes = self.changes.since(open.last);
        let changes: Vec<&Change> = changes.iter().collect();
        let is_certain = match ending {
            Ending::Success => true,
            // A run that names its failing tests shows that the others passed. Otherwise another error may have been
            // reported first.
            Ending::OtherFailure { names_tests, .. } => names_tests && open.test_name().is_some(),
        };
        let calls = self.call_count.saturating_sub(open.last_call);
        let has_passed_soon = calls <= NEAR_CALLS && hours_between(&open, ran.place) < NEAR_HOURS;
        let closing = Closing {
            open: &open,
            changes: &changes,
            remarks: self.remarks.make_contiguous(),
            run: ran.run,
            own: ran.own,
            typed: self.typed.variant(&open, ran.run),
            ending,
            is_near: has_passed_soon,
            place: ran.place,
            paths: &self.paths,
            cues: &cues.failures,
        };
        let is_unexplained = !is_certain && closing.has_no_reason();
        let Some(closed) = closing.closed_failure() else {
            if is_unexplained {
                self.open.insert(number.min(self.open.len()), open);
            }
            return;
        };
        // A failure that came back had another cause, unless it was another form of the command that worked.
        self.closed
            .retain(|known| known.key != closed.key || known.is_variant);
        // Several errors that one change resolved are told once.
        let is_told =
            |known: &ClosedFailure| known.key == closed.key || known.is_resolved_alike(&closed);
        if self.closed.iter().any(is_told) {
            return;
        }
        if self.closed.len() == CLOSED_MAX {
            let least = self
                .closed
                .iter()
                .enumerate()
                .min_by(|(_, a), (_, b)| a.worth.total_cmp(&b.worth));
            if let Some(number) = least.map(|(number, _)| number) {
                self.closed.remove(number);
            }
        }
        self.closed.push_back(closed);
    }
}

/// Returns the hours between a failure and a later event; 0 if the times are not known.
fn hours_between(open: &OpenFailure, later: &EventPlace) -> i64 {
    let seconds = |at: heirloom_model::Timestamp| at.as_second();
    match (open.last_at, later.at) {
        (Some(first), Some(last)) => (seconds(last) - seconds(first)) / 3_600,
        (None, _) | (_, None) => 0,
    }
}
