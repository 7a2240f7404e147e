//! What failed, and what helped.

use super::state::State;
use super::{HookRequest, ToolUse};
use crate::engine::Engine;
use crate::engine::transcripts::shortened_output;
use crate::failures::{Failure, Subject, failure_text};
use crate::hooks::Answer;
use crate::transcripts::without_own;
use heirloom_model::kinds::Mistake;
use heirloom_model::{Fault, Kind, KindData, Merge, Record, limits, mark, text};
use heirloom_store::{Change, Filter};
use serde_json::Value;

/// The attribute that says what helped the last time.
const HELPED: &str = "helped_before";

impl Engine {
    /// The current record of what failed with this, if it was not muted: the newest open one, else the newest.
    pub(super) fn failure_of(&self, subject: &Subject) -> Result<Option<Record>, Fault> {
        let mut found = self.failures_of(subject)?;
        found.retain(|record| !mark::is_muted(&record.attrs));
        let open = found.iter().position(is_open);
        Ok(found.into_iter().nth(open.unwrap_or(0)))
    }

    /// The current records of what failed with this, newest first.
    fn failures_of(&self, subject: &Subject) -> Result<Vec<Record>, Fault> {
        let filter = Filter {
            key_prefix: Some(subject.prefix()),
            ..Filter::current(&[Kind::Error], self.now())
        };
        self.find(&filter.limit(limits::HOOK_SESSION_ITEMS_MAX))
    }

    /// What failed with a subject, as everybody who sees it names it.
    pub(in crate::engine) fn failure_seen(&self, subject: &Subject, said: &str) -> Failure {
        let said = without_own(said);
        match subject {
            Subject::Command(command) => Failure::new(command, &said),
            Subject::Edit(file) => Failure::of_edit(file, &said),
        }
    }

    /// The current record of this very failure.
    pub(in crate::engine) fn failure_here(
        &self,
        failure: &Failure,
    ) -> Result<Option<Record>, Fault> {
        let filter = Filter::current(&[Kind::Error], self.now())
            .key(&failure.key())
            .limit(1);
        Ok(self.find(&filter)?.pop())
    }

    /// Remembers that something failed; says what helped when it failed before.
    pub(super) fn tool_failed(
        &self,
        request: &HookRequest<'_>,
        tool: &ToolUse,
        subjects: &[Subject],
        said: &str,
        state: &mut State,
    ) -> Result<Answer, Fault> {
        let Some(subject) = subjects.first().filter(|_| !tool.is_interrupted) else {
            return Ok(Answer::default());
        };
        let failure = self.failure_seen(subject, &shortened_output(self, said));
        let helped = self.helped_before(request, subject, &failure)?;
        let applied = self.apply_decided(|| {
            let change = self.failure_change(request, subject, &failure, helped.as_deref())?;
            Ok(vec![change])
        })?;
        // The agent has just seen it.
        state.told(applied.iter().map(|one| one.id));
        state.failed(&subject.prefix());
        let Some(helped) = helped else {
            return Ok(Answer::default());
        };
        let line = format!("- {} failed before. What helped: {helped}", subject.shown());
        Ok(self.say(&line, limits::HOOK_TEXT_CHARS_MAX))
    }

    /// What helped when this failed before, or something else with the same words.
    fn helped_before(
        &self,
        request: &HookRequest<'_>,
        subject: &Subject,
        failure: &Failure,
    ) -> Result<Option<String>, Fault> {
        let here = self.failure_here(failure)?;
        let unmuted = here.filter(|record| !mark::is_muted(&record.attrs));
        if let Some(helped) = unmuted.as_ref().and_then(helped) {
            return Ok(Some(helped));
        }
        if let Some(helped) = self.failure_of(subject)?.as_ref().and_then(helped) {
            return Ok(Some(helped));
        }
        let scope = request.scope();
        for said in [&failure_text(failure), &failure.error] {
            if let Some(before) = self.resolved_before(said, &scope)? {
                return Ok(Some(before.resolution));
            }
        }
        Ok(None)
    }

    /// The change that opens a failure or counts it. Where too many of one subject are open, the oldest gives way.
    fn failure_change(
        &self,
        request: &HookRequest<'_>,
        subject: &Subject,
        failure: &Failure,
        helped: Option<&str>,
    ) -> Result<Change, Fault> {
        let (said, source) = (failure_text(failure), request.host.as_str());
        let mut record = self.draft(Kind::Error, &said, request.scope(), source);
        record.key = Some(failure.key());
        let mut typed = Mistake::open();
        if let Some(helped) = helped {
            typed
                .extra
                .insert(HELPED.to_owned(), Value::String(helped.to_owned()));
        }
        let mut open = self.failures_of(subject)?;
        open.retain(is_open);
        let is_known = open.iter().any(|known| known.key == record.key)
            || self.failure_here(failure)?.is_some();
        let oldest = open
            .pop()
            .filter(|_| !is_known && open.len() + 1 >= limits::HOOK_FAILURES_OPEN_MAX);
        record.attrs = typed.to_attrs();
        let record = Box::new(record);
        Ok(match oldest {
            Some(oldest) => Change::Revise {
                id: oldest.id,
                record,
            },
            None => Change::Put {
                record,
                merge: Merge::Mistake,
            },
        })
    }

    /// Remembers what helped, if this failed before.
    pub(super) fn tool_worked(
        &self,
        request: &HookRequest<'_>,
        subjects: &[Subject],
        state: &mut State,
    ) -> Result<(), Fault> {
        for subject in subjects {
            let since = state.mended(&subject.prefix());
            if self.failures_of(subject)?.iter().any(is_open) {
                let how = resolution(since.as_deref());
                let applied = self.apply_decided(|| {
                    let open = self.failures_of(subject)?.into_iter().filter(is_open);
                    Ok(open
                        .map(|now| self.resolve_change(&now, &how, request.host.as_str()))
                        .collect())
                })?;
                state.told(applied.iter().map(|one| one.id));
            }
            state.did(&match subject {
                Subject::Command(_) => format!("ran {}", subject.shown()),
                Subject::Edit(file) => format!("edited `{file}`"),
            });
        }
        Ok(())
    }
}

fn is_open(record: &Record) -> bool {
    record.state() == Some(Mistake::OPEN)
}

/// What helped, by what was done since.
fn resolution(since: Option<&[String]>) -> String {
    match since {
        Some([]) => "it worked the next time, with nothing done in between".to_owned(),
        Some(steps) => format!("it worked after: {}", steps.join("; ")),
        None => "it worked later".to_owned(),
    }
}

/// What is known to have helped.
fn helped(record: &Record) -> Option<String> {
    let said = record
        .attr_str("resolution")
        .or_else(|| record.attr_str(HELPED))?;
    Some(said.to_owned()).filter(|said| !said.trim().is_empty())
}

/// What is said before the same is done again.
pub(super) fn warning(record: &Record) -> String {
    let times = record.attrs.get("repeats").and_then(Value::as_u64);
    let times = times.map_or(1, |repeats| repeats + 1);
    let times = if times > 1 {
        format!(", {times} times")
    } else {
        String::new()
    };
    let day = record.recorded_at.strftime("%Y-%m-%d");
    let state = if record.state() == Some(Mistake::OPEN) {
        "and is not known to work since"
    } else {
        "and worked again later"
    };
    let said = text::one_line(&record.text);
    let mut line = format!("- Before you do this: on {day}{times} {said} ({state})");
    if let Some(helped) = helped(record) {
        line.push_str(&format!("\n  What helped: {}", text::one_line(&helped)));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_helped() {
        assert!(resolution(None).contains("later"));
        assert!(resolution(Some(&[])).contains("nothing done"));
        let steps = ["edited `a`".to_owned(), "ran `b`".to_owned()];
        assert_eq!(
            resolution(Some(&steps)),
            "it worked after: edited `a`; ran `b`"
        );
    }
}
