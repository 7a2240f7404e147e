//! Closed failures: what resolved them.

use super::change::Change;
use super::fix_worth::{extra_worth, is_intended, worth_of_changes};
use super::open_failure::{FailureStage, OpenFailure};
use super::plausibility::{is_check_switched_off, is_test_removed};
use super::remark::{Facts, Remark};
use super::resolution::{Resolution, describe_changes};
use crate::bounded_text::bounded;
use crate::command_run::CommandRun;
use crate::cues::FailureCues;
use crate::event_place::EventPlace;
use crate::project_paths::ProjectPaths;
use crate::sources::command_variant::{CommandVariant, VariantKind, find_variant};
use crate::{Candidate, LessonContent, SourceKind, Speaker};
use heirloom_agents::failures::is_guessed_path;
use heirloom_model::text;
use serde::{Deserialize, Serialize};

/// Characters of a record.
const RECORD_CHARS_MAX: usize = 400;
/// Bytes of a resolution.
const RESOLUTION_BYTES_MAX: usize = 420;
/// Bytes of a line of evidence.
const LINE_BYTES_MAX: usize = 120;

/// Way in which a failure ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// The command succeeded.
    Success,
    /// The command failed for another reason.
    OtherFailure {
        /// True if the output names failing tests.
        names_tests: bool,
        /// True if the program began its work.
        has_started: bool,
    },
}

/// A failure and what resolved it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ClosedFailure {
    /// Record key.
    pub(super) key: String,
    text: String,
    resolution: String,
    /// Worth of the record.
    pub(super) worth: f32,
    /// True if the command went on to fail for another reason.
    pub(super) is_by_progress: bool,
    /// True if another form of the command resolved it.
    pub(super) is_variant: bool,
    /// Number of failures.
    pub(super) attempts: u32,
    evidence: Vec<(EventPlace, String)>,
}

impl ClosedFailure {
    /// Returns true if the same change resolved both at the same time.
    pub(super) fn is_resolved_alike(&self, other: &Self) -> bool {
        let at = |closed: &Self| closed.evidence.last().map(|(place, _)| place.position);
        at(self) == at(other) && self.resolution == other.resolution
    }

    /// Returns the candidate.
    pub(super) fn candidate(&self) -> Candidate {
        let place = self.evidence.first().map(|(place, _)| place);
        Candidate {
            source: match self.is_variant {
                true => SourceKind::CommandVariant,
                false => SourceKind::Failure,
            },
            speaker: Speaker::Program,
            content: LessonContent::Error {
                key: self.key.clone(),
                text: self.text.clone(),
                resolution: Some(self.resolution.clone()),
            },
            worth: self.worth,
            evidence: self
                .evidence
                .iter()
                .map(|(place, line)| place.evidence(line))
                .collect(),
            at: place.and_then(|place| place.at),
            agent: place.and_then(|place| place.agent.clone()),
        }
    }
}

/// Facts that are known when a failure is closed.
pub(super) struct Closing<'c> {
    /// The failure.
    pub(super) open: &'c OpenFailure,
    /// Changes since it last occurred.
    pub(super) changes: &'c [&'c Change],
    /// Remarks of the agent.
    pub(super) remarks: &'c [Remark],
    /// The run that shows that the error is gone.
    pub(super) run: &'c CommandRun,
    /// Changes that the command line of this run made itself.
    pub(super) own: &'c [Change],
    /// The form that the person typed, if the run has it.
    pub(super) typed: Option<CommandVariant>,
    /// End of the failure.
    pub(super) ending: Ending,
    /// True if it ended after a few calls.
    pub(super) is_near: bool,
    /// Place of the run that closes it.
    pub(super) place: &'c EventPlace,
    /// Paths of the project.
    pub(super) paths: &'c ProjectPaths,
    /// Data.
    pub(super) cues: &'c FailureCues,
}

impl Closing<'_> {
    /// Returns the closed failure, or `None` if no change is known to have resolved it. That it passed after changes to
    /// some files tells a later session nothing.
    pub(super) fn closed_failure(&self) -> Option<ClosedFailure> {
        if self.open.is_expected
            || self.open.error.is_empty()
            || is_intended(self.open, self.changes, self.cues)
        {
            return None;
        }
        let described = self.described(self.changes);
        let variant = self.variant().filter(|variant| {
            described.named.is_empty()
                || variant.is_named_by(&self.open.error, self.open.stage == FailureStage::Start)
        });
        let mut closed = match variant {
            Some(variant) => self.by_variant(&variant),
            None if is_guessed_path(self.failed_text(), &self.open.error) => return None,
            // Both the command line and the code differ, and nothing shows which of them mattered.
            None if self.variant().is_some() && !described.touches_error => return None,
            None if described.text.is_empty() => self.by_own_changes()?,
            None => self.by_changes(&described),
        };
        let rounded = (closed.worth * 100.0).round() / 100.0;
        closed.worth = rounded.clamp(0.0, self.cues.worth.most);
        Some(closed)
    }

    /// Returns true if nothing differs from the failed run.
    pub(super) fn has_no_reason(&self) -> bool {
        self.changes.is_empty() && self.variant().is_none()
    }

    /// Describes changes that may be the fix. An edit that switches the check off fixes nothing.
    fn described<'d>(&self, changes: &[&'d Change]) -> Resolution<'d> {
        let described = describe_changes(self.open, changes, self.is_near, self.paths, self.cues);
        let is_off = |change: &&Change| is_check_switched_off(change, self.open, self.cues);
        match changes
            .iter()
            .any(|change| is_test_removed(change, self.open))
            || described.named.iter().any(is_off)
        {
            true => Resolution::default(),
            false => described,
        }
    }

    fn failed_text(&self) -> &str {
        self.open
            .failed_part()
            .map_or("", |part| part.text.as_str())
    }

    fn variant(&self) -> Option<CommandVariant> {
        let part = self.open.failed_part()?;
        let (failed, error) = (&self.open.run, &self.open.error);
        let found = find_variant(failed, part, self.run, error, self.cues);
        match self.ending {
            Ending::Success => found.or_else(|| self.typed.clone()),
            // `python3 -m pip` in place of `pip` that is missing too is no fix.
            Ending::OtherFailure { has_started, .. } => found.filter(|_| has_started),
        }
    }

    fn by_variant(&self, variant: &CommandVariant) -> ClosedFailure {
        let command = variant.text.replace('`', "'");
        let works = match self.ending {
            Ending::Success => "works",
            Ending::OtherFailure { .. } => "runs",
        };
        let what = match &variant.kind {
            VariantKind::Folder(folder) => format!("run it inside `{folder}`: `{command}` {works}"),
            VariantKind::Quotes => format!("quote the argument: `{command}` {works}"),
            VariantKind::Variables(_) => match self.ending {
                Ending::Success => format!("set the variable: `{command}` works"),
                Ending::OtherFailure { .. } => format!("set the variable: `{command}`"),
            },
            VariantKind::Options | VariantKind::Program | VariantKind::Subcommand => {
                format!("`{command}` {works}")
            }
        };
        let remark = self.remark(
            &[],
            &format!("{} {command}", self.open.text(self.paths, RECORD_CHARS_MAX)),
        );
        ClosedFailure {
            worth: self.cues.worth.variant + self.extra_worth(remark),
            is_variant: true,
            ..self.closed(&what, remark, None)
        }
    }

    /// Describes the other commands on the line that succeeded.
    fn by_own_changes(&self) -> Option<ClosedFailure> {
        let failed = self.failed_text();
        let own: Vec<&Change> = self
            .own
            .iter()
            .filter(|change| change.command != failed && !change.is_build)
            .collect();
        // What was done before may be the fix as well.
        let is_only = self.changes.is_empty() && self.ending == Ending::Success;
        let described = self.described(&own);
        (is_only && !described.text.is_empty()).then(|| self.by_changes(&described))
    }

    fn by_changes(&self, described: &Resolution<'_>) -> ClosedFailure {
        let remark = self.remark(
            &described.named,
            &self.open.text(self.paths, RECORD_CHARS_MAX),
        );
        let worth = worth_of_changes(self.open, described, self.cues) + self.extra_worth(remark);
        ClosedFailure {
            worth,
            is_by_progress: self.ending != Ending::Success,
            ..self.closed(&described.text, remark, described.named.first().copied())
        }
    }

    fn closed(
        &self,
        what: &str,
        remark: Option<&Remark>,
        change: Option<&Change>,
    ) -> ClosedFailure {
        let mut resolution = finish_sentence(what);
        let text = self.open.text(
            self.paths,
            RECORD_CHARS_MAX.saturating_sub(text::chars(&resolution) + 1),
        );
        if let Some(remark) = remark {
            let longer = format!("{resolution} {}", remark.text);
            if text::chars(&text) + 1 + text::chars(&longer) <= RECORD_CHARS_MAX {
                resolution = longer;
            }
        }
        let mut evidence = vec![(
            self.open.first.clone(),
            bounded(&self.open.error, LINE_BYTES_MAX),
        )];
        evidence.extend(change.map(|change| {
            let line = change
                .added
                .first()
                .or(change.removed.first())
                .unwrap_or(&change.command);
            (change.place.clone(), bounded(line, LINE_BYTES_MAX))
        }));
        evidence.push((
            self.place.clone(),
            bounded(
                self.open.failed_part().map_or("", |part| &part.text),
                LINE_BYTES_MAX,
            ),
        ));
        ClosedFailure {
            key: self.open.key.clone(),
            text: bounded(&text, RESOLUTION_BYTES_MAX),
            resolution: bounded(&resolution, RESOLUTION_BYTES_MAX),
            attempts: self.open.attempts,
            evidence,
            ..ClosedFailure::default()
        }
    }

    fn extra_worth(&self, remark: Option<&Remark>) -> f32 {
        extra_worth(self.open, self.place.position, remark.is_some(), self.cues)
    }

    /// Returns the last remark since the failure that agrees with the change.
    fn remark(&self, changes: &[&Change], failed: &str) -> Option<&Remark> {
        let facts = match changes {
            [] => Facts::of_command(failed),
            changes => Facts::new(changes, failed),
        };
        let last_change = changes
            .iter()
            .map(|change| change.place.position)
            .max()
            .unwrap_or(u64::MAX);
        let since = |remark: &&Remark| {
            remark.place.position > self.open.last && remark.place.position <= last_change
        };
        self.remarks
            .iter()
            .filter(since)
            .rfind(|remark| facts.agree_with(&remark.text, self.cues))
    }
}

/// Returns the text as a sentence.
fn finish_sentence(text: &str) -> String {
    let text = text.trim();
    match text.ends_with(['.', '!', '…']) {
        true => text.to_owned(),
        false => format!("{text}."),
    }
}
