//! Recording of tool failures and of what fixed them.

use super::session_state::HookSessionState;
use super::{HookRequest, ToolUse};
use crate::{Hooks, failures};
use heirloom_agents::failures::{Failure, Subject, failure_text};
use heirloom_agents::hooks::HookAnswer;
use heirloom_model::kinds::ErrorRecord;
use heirloom_model::record_meaning::has_resolution_details;
use heirloom_model::{Fault, Kind, KindData, MergeRule, Record, limits, mark, text};
use heirloom_store::{Change, Filter};
use serde_json::Value;

/// Attribute with the resolution of an earlier failure.
const HELPED: &str = "helped_before";

impl Hooks<'_> {
    /// Returns the current failure of a subject that is not muted: the newest open one, otherwise the newest.
    pub(super) fn failure_of(&self, subject: &Subject) -> Result<Option<Record>, Fault> {
        let mut found = self.failures_of(subject)?;
        found.retain(|record| !mark::is_muted(&record.attrs));
        let open = found.iter().position(is_open);
        Ok(found.into_iter().nth(open.unwrap_or(0)))
    }

    /// Returns the current failures of a subject, newest first.
    fn failures_of(&self, subject: &Subject) -> Result<Vec<Record>, Fault> {
        let filter = Filter {
            key_prefix: Some(subject.prefix()),
            ..Filter::current(&[Kind::Error], self.engine.now())
        };
        self.engine
            .records()
            .find(&filter.limit(limits::HOOK_SESSION_ITEMS_MAX))
    }

    /// Records a failure, and answers with the resolution of an earlier one.
    pub(super) fn record_tool_failure(
        &self,
        request: &HookRequest<'_>,
        tool: &ToolUse,
        subjects: &[Subject],
        text: &str,
        state: &mut HookSessionState,
    ) -> Result<HookAnswer, Fault> {
        let Some(subject) = subjects.first().filter(|_| !tool.is_interrupted) else {
            return Ok(HookAnswer::default());
        };
        let failure =
            failures::describe_failure(subject, &failures::shortened_output(self.engine, text));
        let helped = self.earlier_resolution(request, subject, &failure)?;
        let applied = self.engine.apply_decided(|| {
            let change = self.failure_change(request, subject, &failure, helped.as_deref())?;
            Ok(vec![change])
        })?;
        // The failure is in the agent's conversation already.
        state.mark_delivered(applied.iter().map(|one| one.id));
        state.add_failure(&subject.prefix());
        let Some(helped) = helped else {
            return Ok(HookAnswer::default());
        };
        let line = format!(
            "- {} failed before. What helped: {helped}",
            subject.display_text()
        );
        Ok(self.build_answer(&line, limits::HOOK_TEXT_CHARS_MAX))
    }

    /// Returns the resolution of an earlier failure of the subject, or of another one with the same text.
    fn earlier_resolution(
        &self,
        request: &HookRequest<'_>,
        subject: &Subject,
        failure: &Failure,
    ) -> Result<Option<String>, Fault> {
        let current = failures::current_failure(self.engine, failure)?;
        let unmuted = current.filter(|record| !mark::is_muted(&record.attrs));
        if let Some(helped) = unmuted.as_ref().and_then(known_resolution) {
            return Ok(Some(helped));
        }
        if let Some(helped) = self
            .failure_of(subject)?
            .as_ref()
            .and_then(known_resolution)
        {
            return Ok(Some(helped));
        }
        let scope = request.scope();
        for text in [&failure_text(failure), &failure.error] {
            let before = self.engine.errors().resolved_before(text, &scope)?;
            if let Some(before) = before.filter(|one| has_resolution_details(&one.resolution)) {
                return Ok(Some(before.resolution));
            }
        }
        Ok(None)
    }

    /// Returns the change that opens or counts a failure. If a subject has too many open failures, the oldest is
    /// replaced.
    fn failure_change(
        &self,
        request: &HookRequest<'_>,
        subject: &Subject,
        failure: &Failure,
        helped: Option<&str>,
    ) -> Result<Change, Fault> {
        let (text, source) = (failure_text(failure), request.host.as_str());
        let mut record = self
            .engine
            .records()
            .draft(Kind::Error, &text, request.scope(), source);
        record.key = Some(failure.key());
        let mut typed = ErrorRecord::open();
        if let Some(helped) = helped {
            typed
                .extra
                .insert(HELPED.to_owned(), Value::String(helped.to_owned()));
        }
        let mut open = self.failures_of(subject)?;
        open.retain(is_open);
        let is_known = open.iter().any(|known| known.key == record.key)
            || failures::current_failure(self.engine, failure)?.is_some();
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
                merge: MergeRule::Error,
            },
        })
    }

    /// Resolves open failures of subjects that worked now.
    pub(super) fn record_tool_success(
        &self,
        request: &HookRequest<'_>,
        subjects: &[Subject],
        state: &mut HookSessionState,
    ) -> Result<(), Fault> {
        for subject in subjects {
            let since = state.resolve_failure(&subject.prefix());
            if self.failures_of(subject)?.iter().any(is_open) {
                let how = resolution(since.as_deref());
                let applied = self.engine.apply_decided(|| {
                    let open = self.failures_of(subject)?.into_iter().filter(is_open);
                    Ok(open
                        .map(|now| {
                            self.engine
                                .errors()
                                .resolve_change(&now, &how, request.host.as_str())
                        })
                        .collect())
                })?;
                state.mark_delivered(applied.iter().map(|one| one.id));
            }
            state.add_step(&match subject {
                Subject::Command(_) => format!("ran {}", subject.display_text()),
                Subject::Edit(file) => format!("edited `{file}`"),
            });
        }
        Ok(())
    }
}

fn is_open(record: &Record) -> bool {
    record.state() == Some(ErrorRecord::OPEN)
}

/// Describes the resolution by the steps since the failure.
fn resolution(since: Option<&[String]>) -> String {
    match since {
        Some([]) => "it worked the next time, with nothing done in between".to_owned(),
        Some(steps) => format!("it worked after: {}", steps.join("; ")),
        None => "it worked later".to_owned(),
    }
}

/// Returns the known resolution of a failure; `None` if it has no details.
fn known_resolution(record: &Record) -> Option<String> {
    let text = record
        .attr_str("resolution")
        .or_else(|| record.attr_str(HELPED))?;
    has_resolution_details(text).then(|| text.to_owned())
}

/// Formats the warning before a command or edit that failed earlier.
pub(super) fn warning(record: &Record) -> String {
    let times = record.attrs.get("repeats").and_then(Value::as_u64);
    let times = times.map_or(1, |repeats| repeats + 1);
    let times = if times > 1 {
        format!(", {times} times")
    } else {
        String::new()
    };
    let day = record.recorded_at.strftime("%Y-%m-%d");
    let state = if record.state() == Some(ErrorRecord::OPEN) {
        "and is not known to work since"
    } else {
        "and worked again later"
    };
    let text = text::one_line(&record.text);
    let mut line = format!("- Before you do this: on {day}{times} {text} ({state})");
    if let Some(helped) = known_resolution(record) {
        line.push_str(&format!("\n  What helped: {}", text::one_line(&helped)));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_resolution_without_details_is_none() {
        let mut record = crate::hooks::relevance::tests::record("make failed");
        for (how, is_known) in [
            ("run configure first", true),
            ("succeeded in iteration 2", false),
            (" ", false),
        ] {
            record.attrs.insert("resolution".to_owned(), how.into());
            assert_eq!(known_resolution(&record).is_some(), is_known, "{how}");
        }
    }

    #[test]
    fn resolution_lists_steps_since_failure() {
        assert!(resolution(None).contains("later"));
        assert!(resolution(Some(&[])).contains("nothing done"));
        let steps = ["edited `a`".to_owned(), "ran `b`".to_owned()];
        assert_eq!(
            resolution(Some(&steps)),
            "it worked after: edited `a`; ran `b`"
        );
    }
}
