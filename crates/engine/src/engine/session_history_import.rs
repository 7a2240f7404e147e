//! Import of the session histories of other programs, and of their outputs.

use super::new_record::name_fault;
use super::outputs::OutputSource;
use super::record_import::{ImportReport, ImportWriter};
use crate::engine::Sessions;
use heirloom_formats::session_history::{
    HistoryEntry, INTERACTION_ATTR, PART_ATTR, PLAN_PART, parse,
};
use heirloom_model::record::{Attrs, check_name};
use heirloom_model::{Fault, Message, RecordId, Role, Session, Timestamp, text};
use heirloom_store::Change;
use serde_json::{Value, json};

/// File with a session's history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistorySource {
    /// Path, as it is shown.
    pub path: String,
    /// The session.
    pub session: String,
    /// Modification time in seconds since 1970, for interactions without a time.
    pub changed: i64,
    /// Content of the file.
    pub bytes: Vec<u8>,
}

impl Sessions<'_> {
    /// Imports histories and outputs of other programs as one batch, which `undo` reverts; stored entries stay
    /// unchanged. A dry run writes nothing and returns the expected counts.
    pub fn import_histories(
        &self,
        histories: &[HistorySource],
        outputs: &[OutputSource],
        source: &str,
        dry: bool,
    ) -> Result<ImportReport, Fault> {
        let mut writer = ImportWriter::new(self.engine, source)?.without_session_counts();
        if dry {
            writer = writer.into_dry_run();
        }
        let result = self.add_histories(histories, outputs, &mut writer);
        result.map_err(|fault| writer.abort(fault))?;
        writer.end()
    }

    /// Adds histories and outputs to an import.
    pub(super) fn add_histories(
        &self,
        histories: &[HistorySource],
        outputs: &[OutputSource],
        writer: &mut ImportWriter<'_>,
    ) -> Result<(), Fault> {
        for file in histories {
            self.add_history(file, writer)?;
        }
        self.engine.outputs().add_outputs(outputs, writer)
    }

    fn add_history(
        &self,
        file: &HistorySource,
        writer: &mut ImportWriter<'_>,
    ) -> Result<(), Fault> {
        let session = self
            .engine
            .redaction()
            .redact_input(file.session.trim())
            .into_owned();
        let read = check_name("session", &session)
            .map_err(|bad| name_fault(&bad).message)
            .and_then(|()| parse(&file.bytes).map_err(|problem| problem.to_string()));
        let read = match read {
            Ok(read) => read,
            Err(problem) => {
                writer.diagnose(format!("{}: {problem}; skipped", file.path));
                return Ok(());
            }
        };
        for problem in read.diagnostics {
            writer.diagnose(format!("{}: {problem}", file.path));
        }
        let Some(first) = read.interactions.first() else {
            return Ok(());
        };
        let begun = first.timestamp.unwrap_or(file.changed);
        writer.add(
            0,
            Change::ImportSession(Box::new(self.new_imported_session(&session, begun))),
        )?;
        for (n, one) in read.interactions.iter().enumerate() {
            let turns = to_turns(&session, n, one, file.changed);
            let changes = turns.into_iter().map(|message| Change::ImportMessage {
                session: session.clone(),
                message: Box::new(message),
            });
            writer.add_all(0, changes)?;
        }
        Ok(())
    }

    fn new_imported_session(&self, id: &str, begun: i64) -> Session {
        Session {
            project: self.engine.project.clone(),
            id: id.to_owned(),
            agent: None,
            task: None,
            started_at: Timestamp::from_second(begun).unwrap_or(Timestamp::UNIX_EPOCH),
            ended_at: None,
            attrs: Attrs::new(),
        }
    }
}

/// Converts an interaction into turns with stable ids.
fn to_turns(session: &str, n: usize, one: &HistoryEntry, changed: i64) -> Vec<Message> {
    let at = Timestamp::from_second(one.timestamp.unwrap_or(changed));
    let at = at.unwrap_or(Timestamp::UNIX_EPOCH);
    let (plan, is_json) = match &one.plan {
        Value::Null => (String::new(), false),
        Value::String(plan) => (plan.clone(), false),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            (one.plan.to_string(), true)
        }
    };
    let stamp = one
        .timestamp
        .map_or_else(|| n.to_string(), |at| at.to_string());
    let turn = |role, sender: Option<&str>, content: &str, attrs: Attrs| Message {
        id: RecordId::from_parts(
            at,
            &[
                "turn",
                session,
                &stamp,
                role_part(role, sender),
                &one.goal,
                &plan,
                &one.output,
            ],
        ),
        seq: 0,
        role,
        sender: sender.map(str::to_owned),
        text: content.to_owned(),
        attrs,
        tokens: u32::try_from(text::tokens(content)).unwrap_or(u32::MAX),
        at,
    };
    let mut whole = Attrs::new();
    let mut rest = serde_json::Map::new();
    if !one.metadata.is_null() {
        rest.insert("metadata".to_owned(), one.metadata.clone());
    }
    if !one.extra.is_empty() {
        rest.insert("extra".to_owned(), Value::Object(one.extra.clone()));
    }
    whole.insert(INTERACTION_ATTR.to_owned(), Value::Object(rest));
    let mut turns = vec![turn(Role::User, None, &one.goal, whole)];
    if !plan.is_empty() {
        let mut attrs = Attrs::new();
        attrs.insert(PART_ATTR.to_owned(), json!(PLAN_PART));
        if is_json {
            attrs.insert("json".to_owned(), json!(true));
        }
        turns.push(turn(Role::Assistant, Some(PLAN_PART), &plan, attrs));
    }
    if !one.output.is_empty() {
        turns.push(turn(Role::Assistant, None, &one.output, Attrs::new()));
    }
    turns
}

fn role_part(role: Role, sender: Option<&str>) -> &str {
    sender.unwrap_or(role.as_str())
}
