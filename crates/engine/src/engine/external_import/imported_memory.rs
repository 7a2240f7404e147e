//! Entries and conversations of other programs' memories as records, sessions and turns.

use super::SOURCE;
use crate::engine::Imports;
use crate::engine::record_import::ImportWriter;
use heirloom_formats::external_memory::{ImportedConversation, ImportedEntry, ImportedMemory};
use heirloom_formats::knowledge_graph::{Fact, Relation};
use heirloom_model::kinds::{CATEGORY_FACT, Knowledge};
use heirloom_model::record::{Attrs, check_name};
use heirloom_model::text::counted;
use heirloom_model::{
    Confidence, Fault, Kind, KindData, MergeRule, Message, Record, RecordId, Scope, Session,
    Timestamp, limits, text,
};
use heirloom_store::Change;
use serde_json::Value;

/// Attribute with what the other program recorded besides the text.
pub(super) const ORIGIN_ATTR: &str = "origin";

impl Imports<'_> {
    /// Adds the content of a program's memory; `format` is the name of the program.
    pub(super) fn add_memory(
        &self,
        format: &str,
        memory: &ImportedMemory,
        writer: &mut ImportWriter<'_>,
    ) -> Result<(), Fault> {
        for problem in &memory.problems {
            writer.diagnose(format!("{problem}; skipped"));
        }
        for (reason, count) in memory.omissions.iter() {
            writer.omit(reason, count);
        }
        let turns = memory.conversations.iter().map(|one| one.turns.len() + 1);
        writer.expect(memory.entries.len() + turns.sum::<usize>());
        for conversation in &memory.conversations {
            self.add_conversation(format, conversation, writer)?;
        }
        for entry in &memory.entries {
            let size = entry.text.len();
            if size > limits::RECORD_TEXT_BYTES_MAX {
                let id = text::excerpt(&entry.id, 60);
                writer.diagnose(format!("`{id}`: {size} bytes are too many; skipped"));
                continue;
            }
            let record = Box::new(self.memory_record(format, entry));
            let merge = MergeRule::Keep;
            writer.add(0, Change::Put { record, merge })?;
        }
        Ok(())
    }

    /// Converts an entry into knowledge. Its key is that which the same text would get if a user had entered it; its id
    /// is derived from the program's, so that a repeated import does not restore what was forgotten.
    fn memory_record(&self, format: &str, entry: &ImportedEntry) -> Record {
        let clean = |text: &str| self.engine.redaction().redact_input(text).into_owned();
        // Redact before keys are derived from the text.
        let words = clean(&entry.text);
        let scope = Scope {
            session: entry.session.as_deref().and_then(valid_name),
            agent: entry.agent.as_deref().and_then(valid_name),
            ..Scope::default()
        };
        let mut record = self
            .engine
            .records()
            .draft(Kind::Knowledge, &words, scope, format);
        let category = match entry.category.is_empty() {
            true => CATEGORY_FACT.to_owned(),
            false => clean(&entry.category),
        };
        record.attrs = Knowledge::with_category(&category).to_attrs();
        record.key = Some(Knowledge::derive_key(&words));
        if let Some(fact) = entry.relation.as_ref().map(to_fact) {
            let fact = self.engine.graph().redact_fact(&fact);
            record.key = Some(fact.key());
            let graph = heirloom_formats::knowledge_graph::GRAPH_ATTR;
            record.attrs.insert(graph.to_owned(), fact.to_value());
        }
        if !entry.origin.is_empty() {
            let origin = Value::Object(entry.origin.clone());
            record.attrs.insert(ORIGIN_ATTR.to_owned(), origin);
        }
        let confidence = entry.confidence.and_then(Confidence::new);
        let most = Confidence::of_source(SOURCE);
        record.confidence = match confidence {
            // An import has at most the confidence of an agent.
            Some(own) if own.get() < most.get() => own,
            Some(_) | None => most,
        };
        if let Some(at) = entry.at.map(|at| at.min(self.engine.now())) {
            record.recorded_at = at;
            record.id = RecordId::from_parts(at, &["import", format, &clean(&entry.id), &words]);
        }
        record
    }

    /// Adds a conversation: its session, and each turn with a stable id.
    fn add_conversation(
        &self,
        format: &str,
        conversation: &ImportedConversation,
        writer: &mut ImportWriter<'_>,
    ) -> Result<(), Fault> {
        let clean = |text: &str| self.engine.redaction().redact_input(text).into_owned();
        let id = clean(&text::one_line(&conversation.id));
        if let Err(bad) = check_name("session", &id) {
            writer.diagnose(format!(
                "{bad}; {} skipped",
                counted(conversation.turns.len(), "turn", "turns")
            ));
            return Ok(());
        }
        let now = self.engine.now();
        let first = conversation.turns.iter().find_map(|turn| turn.at);
        let started_at = conversation.started_at.or(first);
        let started_at = started_at.unwrap_or(Timestamp::UNIX_EPOCH).min(now);
        let session = Session {
            project: self.engine.project.clone(),
            id: id.clone(),
            agent: valid_name(&conversation.agent),
            task: None,
            started_at,
            ended_at: conversation.ended_at.map(|at| at.min(now)),
            attrs: conversation.attrs.clone(),
        };
        writer.add(0, Change::ImportSession(Box::new(session)))?;
        let mut last = started_at;
        for turn in &conversation.turns {
            last = turn.at.map_or(last, |at| at.min(now));
            let message = Message {
                // The time of the session, not of the turn: a program may change the latter.
                id: RecordId::from_parts(started_at, &["turn", format, &id, &clean(&turn.id)]),
                seq: 0,
                role: turn.role,
                sender: turn.sender.as_deref().and_then(valid_name),
                tokens: u32::try_from(text::tokens(&turn.text)).unwrap_or(u32::MAX),
                text: turn.text.clone(),
                attrs: Attrs::new(),
                at: last,
            };
            let (session, message) = (id.clone(), Box::new(message));
            writer.add(0, Change::ImportMessage { session, message })?;
        }
        Ok(())
    }
}

/// Returns a name on one line; `None` if it is not a valid one.
fn valid_name(name: &str) -> Option<String> {
    let name = text::one_line(name.trim());
    check_name("name", &name).is_ok().then_some(name)
}

fn to_fact([from, relation, to]: &[String; 3]) -> Fact {
    Fact::Relation(Relation {
        from: from.clone(),
        to: to.clone(),
        relation_type: relation.clone(),
    })
}
