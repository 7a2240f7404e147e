//! Warnings before commands and edits that failed earlier: the choice of the failure, and the text.

use crate::Hooks;
use crate::failures::failures_with_prefix;
use heirloom_agents::failures::Subject;
use heirloom_engine::Engine;
use heirloom_model::kinds::ErrorRecord;
use heirloom_model::record_meaning::{
    PASSED_LATER, has_passed_without_change, has_resolution_details, known_resolution,
};
use heirloom_model::{Fault, Record, mark, text};
use serde_json::Value;

impl Hooks<'_> {
    /// Returns the current failure of a subject that is not muted: the newest open one, otherwise the newest whose fix is known.
    /// One that passed later for an unknown reason warns of nothing.
    pub(super) fn failure_of(&self, subject: &Subject) -> Result<Option<Record>, Fault> {
        let mut found = self.failures_of(subject)?;
        found.retain(|record| {
            !mark::is_muted(&record.attrs)
                && (is_open(record) || helpful_resolution(record).is_some())
        });
        let mut told = Vec::new();
        for record in found {
            let fix = helpful_resolution(&record);
            if !is_replaced(self.engine, fix.as_deref())? {
                told.push(record);
            }
        }
        let open = told.iter().position(is_open);
        Ok(told.into_iter().nth(open.unwrap_or(0)))
    }

    /// Returns the current failures of a subject, newest first.
    pub(super) fn failures_of(&self, subject: &Subject) -> Result<Vec<Record>, Fault> {
        failures_with_prefix(self.engine, subject.prefix())
    }
}

/// Returns what helped with a failure, now or at an earlier occurrence.
pub(super) fn helpful_resolution(record: &Record) -> Option<String> {
    let known = known_resolution(record).map(str::to_owned);
    known.or_else(|| {
        let helped = record.attr_str(ErrorRecord::HELPED)?;
        has_resolution_details(helped).then(|| helped.to_owned())
    })
}

/// Returns true for a fix that a rule of a person replaced.
pub(super) fn is_replaced(engine: &Engine, fix: Option<&str>) -> Result<bool, Fault> {
    fix.map_or(Ok(false), |fix| engine.errors().is_replaced_fix(fix))
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
    let state = if is_open(record) {
        "and is not known to work since".to_owned()
    } else if has_passed_without_change(record) {
        format!("and {PASSED_LATER}")
    } else {
        "and worked again later".to_owned()
    };
    let text = text::one_line(&record.text);
    let mut line = format!("- Before you do this: on {day}{times} {text} ({state})");
    if let Some(helped) = helpful_resolution(record) {
        line.push_str(&format!("\n  What helped: {}", text::one_line(&helped)));
    }
    line
}

/// Returns true if an error is open.
pub(super) fn is_open(record: &Record) -> bool {
    record.state() == Some(ErrorRecord::OPEN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use heirloom_model::Kind;

    fn error(attrs: &[(&str, &str)]) -> Record {
        let mut record = crate::hooks::prompt_records::tests::record("`make` failed: no rule");
        record.kind = Kind::Error;
        for (name, value) in attrs {
            record.attrs.insert((*name).to_owned(), (*value).into());
        }
        record
    }

    #[test]
    fn helpful_resolution_without_details_is_none() {
        for (how, is_known) in [
            ("run configure first", true),
            ("edited `a`, then it passed", true),
            ("succeeded in iteration 2", false),
            (
                "it worked the next time, with nothing done in between",
                false,
            ),
            ("it worked later", false),
            (" ", false),
        ] {
            let resolved = error(&[("state", "resolved"), ("resolution", how)]);
            assert_eq!(helpful_resolution(&resolved).is_some(), is_known, "{how}");
            let reopened = error(&[("state", "open"), (ErrorRecord::HELPED, how)]);
            assert_eq!(helpful_resolution(&reopened).is_some(), is_known, "{how}");
        }
    }

    #[test]
    fn warning_tells_how_a_failure_ended() {
        for (attrs, end) in [
            (vec![("state", "open")], "(and is not known to work since)"),
            (
                vec![("state", "resolved"), ("closed_by", "passed")],
                "(and passed later; it is not known what helped)",
            ),
            (
                vec![("state", "resolved"), ("resolution", "it worked later")],
                "(and passed later; it is not known what helped)",
            ),
            (
                vec![
                    ("state", "resolved"),
                    ("resolution", "edited `a`, then it passed"),
                ],
                "(and worked again later)\n  What helped: edited `a`, then it passed",
            ),
        ] {
            let warning = warning(&error(&attrs));
            assert!(warning.ends_with(end), "{warning}");
            assert!(warning.contains("`make` failed: no rule"), "{warning}");
        }
    }
}
