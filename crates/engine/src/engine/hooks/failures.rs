//! What failed, and what helped.

use super::state::State;
use super::{HookRequest, Subject, ToolUse};
use crate::engine::Engine;
use crate::hooks::{Answer, without_fences};
use heirloom_model::kinds::Mistake;
use heirloom_model::{Fault, Kind, KindData, Merge, Record, limits, mark, text};
use heirloom_store::{Change, Filter};
use serde_json::Value;

/// The attribute that says what helped the last time.
const HELPED: &str = "helped_before";

impl Engine {
    /// The current record of what failed with this, if it was not muted.
    pub(super) fn failure_of(&self, subject: &Subject) -> Result<Option<Record>, Fault> {
        let filter = Filter::current(&[Kind::Error], self.now())
            .key(&subject.key())
            .limit(1);
        let found = self.find(&filter)?.pop();
        Ok(found.filter(|record| !mark::is_muted(&record.attrs)))
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
        let clean = self.clean(said);
        let said = both_ends(&without_fences(&clean));
        let whole = format!("{} failed: {said}", subject.shown());
        let known = self.failure_of(subject)?;
        let helped = match known.as_ref().and_then(helped) {
            Some(helped) => Some(helped),
            None => {
                let scope = request.scope();
                let before = match self.resolved_before(&whole, &scope)? {
                    Some(before) => Some(before),
                    None => self.resolved_before(&said, &scope)?,
                };
                before.map(|before| before.resolution)
            }
        };
        let applied = self.apply_decided(|| {
            Ok(vec![self.failure_change(
                request,
                subject,
                &whole,
                helped.as_deref(),
            )?])
        })?;
        // The agent has just seen it.
        state.told(applied.iter().map(|one| one.id));
        state.failed(&subject.key());
        let Some(helped) = helped else {
            return Ok(Answer::default());
        };
        let line = format!("- {} failed before. What helped: {helped}", subject.shown());
        Ok(self.say(&line, limits::HOOK_TEXT_CHARS_MAX))
    }

    /// The change that opens a failure, counts it, or says what it says now.
    fn failure_change(
        &self,
        request: &HookRequest<'_>,
        subject: &Subject,
        whole: &str,
        helped: Option<&str>,
    ) -> Result<Change, Fault> {
        let source = request.host.as_str();
        let mut record = self.draft(Kind::Error, whole, request.scope(), source);
        record.key = Some(subject.key());
        let mut typed = Mistake::open();
        if let Some(helped) = helped {
            typed
                .extra
                .insert(HELPED.to_owned(), Value::String(helped.to_owned()));
        }
        let known = self.failure_of(subject)?;
        let known = known.filter(|known| {
            known.state() == Some(Mistake::OPEN)
                && text::signature(&known.text) != text::signature(whole)
        });
        let Some(known) = known else {
            record.attrs = typed.to_attrs();
            return Ok(Change::Put {
                record: Box::new(record),
                merge: Merge::Mistake,
            });
        };
        let before = Mistake::of(&known).unwrap_or_else(|_| Mistake::open());
        typed.repeats = before.repeats.saturating_add(1);
        typed.repeated_at = Some(record.recorded_at);
        record.attrs = typed.to_attrs();
        Ok(Change::Revise {
            id: known.id,
            record: Box::new(record),
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
            let since = state.mended(&subject.key());
            let open = self
                .failure_of(subject)?
                .filter(|record| record.state() == Some(Mistake::OPEN));
            if let Some(open) = open {
                let how = resolution(since.as_deref());
                let applied = self.apply_decided(|| {
                    let current = self.failure_of(subject)?;
                    let current = current.filter(|now| now.id == open.id);
                    Ok(current
                        .map(|now| self.resolve_change(&now, &how, request.host.as_str()))
                        .into_iter()
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

/// A failure's beginning and its end: programs say what is wrong in either.
fn both_ends(said: &str) -> String {
    let said = text::one_line(&text::strip_ansi(said.trim()));
    let most = limits::HOOK_ERROR_CHARS_MAX;
    if text::chars(&said) <= most {
        return said;
    }
    let half = most / 2 - 2;
    format!(
        "{} … {}",
        text::clip(&said, half),
        text::clip_start(&said, half)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_failure_both_ends_are_kept() {
        let most = limits::HOOK_ERROR_CHARS_MAX;
        let fits = "x".repeat(most);
        assert_eq!(both_ends(&fits), fits);
        let long = both_ends(&format!("a{}b", "x".repeat(most)));
        assert!(long.starts_with('a') && long.ends_with('b') && long.contains(" … "));
        assert!(text::chars(&long) <= most);
    }

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
