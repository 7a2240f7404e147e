//! Publishing of a conversation's summary: as a record, in the day's log, and in the group's summary.

use super::WindowRequest;
use crate::engine::Windows;
use heirloom_formats::group;
use heirloom_model::kinds::Summary;
use heirloom_model::{ErrorKind, Fault, Kind, KindData, MergeRule, Scope, text};
use heirloom_store::{Change, Filter};
use heirloom_window::CompactedWindow;

/// Source of summary records.
const SOURCE: &str = "heirloom";
/// Maximum characters of a summary in the daily log.
const LOG_CHARS: usize = 1_500;
/// Maximum characters, and lines, of one section of it.
const LOG_PART_CHARS: usize = 900;
const LOG_PART_LINES: usize = 4;

impl Windows<'_> {
    /// Publishes the summary of a session's window: as the session's `summary` record, in today's log, and in the
    /// group's summary. A repeated call writes nothing.
    ///
    /// A refused write becomes a note and does not fail the compaction.
    pub(super) fn publish_summary(
        &self,
        made: &CompactedWindow,
        request: &WindowRequest<'_>,
        session: &str,
    ) -> Result<Vec<String>, Fault> {
        let Some(summary) = made.summary() else {
            return Ok(Vec::new());
        };
        let summary = self.engine.redaction().redact_input(summary).into_owned();
        self.put_summary(&summary, request, session)?;
        let mut notes = Vec::new();
        let log = log_entry(session, &summary);
        let logged = self
            .engine
            .workspace()
            .append_daily_log(super::super::Workspace::Project, &log);
        notes.extend(refusal(logged.map(drop), "today's log")?);
        if let Some(group) = request.group {
            let done = self.update_group_summary(group, session, &summary);
            notes.extend(refusal(done, "that of the group")?);
        }
        Ok(notes)
    }

    fn put_summary(
        &self,
        summary: &str,
        request: &WindowRequest<'_>,
        session: &str,
    ) -> Result<(), Fault> {
        let scope = self.engine.redaction().redact_scope(Scope {
            session: Some(session.to_owned()),
            agent: request.agent.map(str::to_owned),
            group: request.group.map(str::to_owned),
            ..Scope::default()
        });
        let scope = scope.into_inner();
        super::super::new_record::check_scope(&scope)?;
        let key = format!("window/{session}");
        let filter = Filter::current(&[Kind::Summary], self.engine.now()).key(&key);
        if (self.engine.records().find(&filter)?.iter()).any(|record| record.text == summary) {
            return Ok(());
        }
        let mut record = self
            .engine
            .records()
            .draft(Kind::Summary, summary, scope, SOURCE);
        record.key = Some(key);
        record.attrs = Summary::default().to_attrs();
        let record = Box::new(record);
        let merge = MergeRule::Replace;
        self.engine
            .records()
            .apply_one(Change::Put { record, merge })
            .map(drop)
    }

    fn update_group_summary(&self, group: &str, session: &str, summary: &str) -> Result<(), Fault> {
        let group = self
            .engine
            .redaction()
            .redact_input(group.trim())
            .into_owned();
        group::check_group_name(&group).map_err(Fault::refused)?;
        self.engine
            .groups()
            .change_summary(&group, |page| group::upsert_summary(page, session, summary))
    }
}

/// Converts a refusal into a note. Other errors are returned, because a later call can succeed.
fn refusal(done: Result<(), Fault>, place: &str) -> Result<Option<String>, Fault> {
    match done {
        Ok(()) => Ok(None),
        Err(fault) if matches!(fault.kind, ErrorKind::Refused | ErrorKind::Usage) => {
            let why = fault.message;
            Ok(Some(format!("the summary is not in {place}: {why}")))
        }
        Err(fault) => Err(fault),
    }
}

/// Shortens a summary for a log: outcome and task state.
fn log_entry(session: &str, summary: &str) -> String {
    let mut out = format!("Conversation {} was summed up.", text::excerpt(session, 80));
    let headings = [
        "## Earlier summary",
        "## Decisions and findings, newest first",
        "## Task state",
    ];
    for heading in headings {
        let lines = section(summary, heading)
            .lines()
            .filter(|line| !line.starts_with("--- ") && !line.trim().is_empty());
        for line in lines.take(LOG_PART_LINES) {
            let line = text::excerpt(line.trim_start_matches("- "), LOG_PART_CHARS / 2);
            if text::chars(&out) + text::chars(&line) > LOG_CHARS {
                break;
            }
            out.push('\n');
            out.push_str(&line);
        }
    }
    out
}

/// Returns the text under the last occurrence of a heading.
fn section<'t>(summary: &'t str, heading: &str) -> &'t str {
    let Some(at) = summary.rfind(&format!("\n{heading}\n")) else {
        return "";
    };
    let body = &summary[at + heading.len() + 2..];
    let end = body.find("\n## ").unwrap_or(body.len());
    let body = &body[..end];
    body.split("\nCurrent goal: ").next().unwrap_or(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_entry_contains_findings_and_task_state() {
        let summary = "9 messages in short.\n## Earlier user messages, newest first\n--- 3 characters:\nyes\n\
            ## Decisions and findings, newest first\n- one\n- two\n## Task state\n- Goal: mend it\nTool calls: 4\n\
            Current goal: \"mend it\"\nTool calls so far: 4";
        assert_eq!(
            log_entry("s", summary),
            "Conversation s was summed up.\none\ntwo\nGoal: mend it\nTool calls: 4"
        );
        assert_eq!(log_entry("s", "words"), "Conversation s was summed up.");
        let long = format!("x\n## Task state\n{}", "- word word\n".repeat(900));
        assert!(text::chars(&log_entry("s", &long)) <= LOG_CHARS);
    }
}
