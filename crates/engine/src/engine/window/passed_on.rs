//! Where the summary of a conversation goes besides its window: records, today's log, the group's summary.

use super::super::Engine;
use super::WindowRequest;
use crate::group;
use heirloom_model::kinds::Summary;
use heirloom_model::{ErrorKind, Fault, Kind, KindData, Merge, Scope, text};
use heirloom_store::{Change, Filter};
use heirloom_window::Compacted;

/// Who says what a window summed up.
const SOURCE: &str = "heirloom";
/// Characters of it in the log of a day.
const LOG_CHARS: usize = 1_500;
/// Characters of one part of it there, and lines.
const LOG_PART_CHARS: usize = 900;
const LOG_PART_LINES: usize = 4;

impl Engine {
    /// Puts the summary of a session's window where others find it: as the session's one `summary` record, into the log
    /// of today, and into the summary of the group. The same one once more writes nothing.
    ///
    /// What cannot be written there however often it is tried is a note: the window has its own work.
    pub(super) fn pass_on(
        &self,
        made: &Compacted,
        request: &WindowRequest<'_>,
        session: &str,
    ) -> Result<Vec<String>, Fault> {
        let Some(said) = made.summary() else {
            return Ok(Vec::new());
        };
        let said = self.clean(said).into_owned();
        self.put_summary(&said, request, session)?;
        let mut notes = Vec::new();
        let log = short(session, &said);
        let logged = self.workspace_daily_log(super::super::Workspace::Project, &log);
        notes.extend(refusal(logged.map(drop), "today's log")?);
        if let Some(group) = request.group {
            let told = self.sum_up_group(group, session, &said);
            notes.extend(refusal(told, "that of the group")?);
        }
        Ok(notes)
    }

    fn put_summary(
        &self,
        said: &str,
        request: &WindowRequest<'_>,
        session: &str,
    ) -> Result<(), Fault> {
        let scope = self.clean_scope(Scope {
            session: Some(session.to_owned()),
            agent: request.agent.map(str::to_owned),
            group: request.group.map(str::to_owned),
            ..Scope::default()
        });
        super::super::new_record::check_scope(&scope)?;
        let key = format!("window/{session}");
        let filter = Filter::current(&[Kind::Summary], self.now()).key(&key);
        if (self.find(&filter)?.iter()).any(|record| record.text == said) {
            return Ok(());
        }
        let mut record = self.draft(Kind::Summary, said, scope, SOURCE);
        record.key = Some(key);
        record.attrs = Summary::default().to_attrs();
        let record = Box::new(record);
        let merge = Merge::Replace;
        self.apply_one(Change::Put { record, merge }).map(drop)
    }

    fn sum_up_group(&self, group: &str, session: &str, said: &str) -> Result<(), Fault> {
        let group = self.clean(group.trim()).into_owned();
        group::check_group(&group).map_err(Fault::refused)?;
        self.change_group_summary(&group, |page| group::with_summary(page, session, said))
    }
}

/// What is told of something that was refused. Anything else fails, so that the next call makes it good.
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

/// What of a summary stands in a log: what came of it, and the state of the task.
fn short(session: &str, said: &str) -> String {
    let mut out = format!("Conversation {} was summed up.", text::excerpt(session, 80));
    let headings = [
        "## Earlier summary",
        "## Decisions and findings, newest first",
        "## Task state",
    ];
    for heading in headings {
        let lines = section(said, heading)
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

/// What stands under the last such heading.
fn section<'t>(said: &'t str, heading: &str) -> &'t str {
    let Some(at) = said.rfind(&format!("\n{heading}\n")) else {
        return "";
    };
    let body = &said[at + heading.len() + 2..];
    let end = body.find("\n## ").unwrap_or(body.len());
    let body = &body[..end];
    body.split("\nCurrent goal: ").next().unwrap_or(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_says_what_came_of_it() {
        let said = "9 messages in short.\n## Earlier user messages, newest first\n--- 3 characters:\nyes\n\
            ## Decisions and findings, newest first\n- one\n- two\n## Task state\n- Goal: mend it\nTool calls: 4\n\
            Current goal: \"mend it\"\nTool calls so far: 4";
        assert_eq!(
            short("s", said),
            "Conversation s was summed up.\none\ntwo\nGoal: mend it\nTool calls: 4"
        );
        assert_eq!(short("s", "words"), "Conversation s was summed up.");
        let long = format!("x\n## Task state\n{}", "- word word\n".repeat(900));
        assert!(text::chars(&short("s", &long)) <= LOG_CHARS);
    }
}
