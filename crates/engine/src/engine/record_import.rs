//! Import of records from another store or an export.

mod dry_run;
mod import_progress;
mod import_writer;

pub use import_progress::{ImportProgress, ImportProgressSink};
pub use import_writer::ImportWriter;

use super::Engine;
use heirloom_model::signal::Diagnostic;
use heirloom_model::text::counted;
use heirloom_model::{Fault, MergeRule, Message, Record, RecordId, Session, ValidityGap, limits};
use heirloom_store::{AsOf, Change, Filter, Order, StoreError};
use std::collections::{BTreeMap, HashSet};

/// Report of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportReport {
    /// The import batch, which `undo` reverts as a unit; `None` if nothing was new.
    pub batch: Option<RecordId>,
    /// Records, sessions and messages that are new.
    pub created: u64,
    /// Entries that were stored already.
    pub known: u64,
    /// New entries that contained a secret; `None` if that is not counted.
    pub redacted: Option<u64>,
    /// Reason and number of entries that were left out on purpose.
    pub omissions: Vec<(String, u64)>,
    /// Entries that could not be imported.
    pub diagnostics: Vec<Diagnostic>,
}

/// Content of an export: records with their line numbers, sessions and messages.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ImportBundle {
    /// Records.
    pub records: Vec<(u64, Record)>,
    /// Sessions.
    pub sessions: Vec<Session>,
    /// Messages in order, by session id.
    pub messages: BTreeMap<String, Vec<Message>>,
    /// Validity gaps, by record.
    pub validity_gaps: BTreeMap<RecordId, Vec<ValidityGap>>,
}

/// Import of records, mirrors, shared contexts and the files of other tools.
#[derive(Clone, Copy)]
pub struct Imports<'e> {
    pub(super) engine: &'e Engine,
}

impl Imports<'_> {
    /// Imports a bundle as one batch. Entries that are stored already stay unchanged, so a repeated import changes
    /// nothing. Messages of an unknown session, and records that cannot be stored, get a diagnostic.
    ///
    /// `source` names the origin. Each part is a transaction; if one fails, the earlier ones are reverted and the
    /// error reports it.
    pub fn import_bundle(
        &self,
        mut bundle: ImportBundle,
        source: &str,
    ) -> Result<ImportReport, Fault> {
        let mut writer = ImportWriter::new(self.engine, source)?;
        let messages: usize = bundle.messages.values().map(Vec::len).sum();
        writer.expect(bundle.records.len() + bundle.sessions.len() + messages);
        for (line, mut record) in bundle.records {
            record.project = self.engine.project.clone();
            let (id, record) = (record.id, Box::new(record));
            let merge = MergeRule::Keep;
            let put = Change::Put { record, merge };
            // In one transaction with its record: a gap is accepted only from the import that creates the record.
            let gaps = bundle.validity_gaps.remove(&id).unwrap_or_default();
            let gaps = gaps.into_iter();
            let gaps = gaps.map(|gap| Change::ImportValidityGap { id, gap });
            writer.add_all(line, std::iter::once(put).chain(gaps))?;
        }
        for (id, gaps) in bundle.validity_gaps {
            let count = gaps.len();
            writer.diagnose(format!("{count} validity gaps of the unknown record {id}"));
        }
        let mut sessions = HashSet::new();
        for mut session in bundle.sessions {
            session.project = self.engine.project.clone();
            sessions.insert(session.id.clone());
            writer.add(0, Change::ImportSession(Box::new(session)))?;
        }
        for (session, messages) in bundle.messages {
            if !sessions.contains(&session) && !self.has_session(&session)? {
                writer.diagnose(format!(
                    "{} of the unknown session `{session}`",
                    counted(messages.len(), "message", "messages")
                ));
                continue;
            }
            for message in messages {
                writer.add(
                    0,
                    Change::ImportMessage {
                        session: session.clone(),
                        message: Box::new(message),
                    },
                )?;
            }
        }
        writer.end()
    }

    /// Imports everything of `from`, including history, conversations and working memories, as one batch.
    ///
    /// `from` is unchanged. Errors: as for [`Imports::import_bundle`].
    pub fn import_project(&self, from: &Engine) -> Result<ImportReport, Fault> {
        let mut bundle = ImportBundle::default();
        from.imports().export_records(true, &mut |record, gaps| {
            bundle.records.push((0, record.clone()));
            if !gaps.is_empty() {
                bundle.validity_gaps.insert(record.id, gaps.to_vec());
            }
        })?;
        from.imports().export_sessions(&mut |session, messages| {
            if messages.first().is_none_or(|message| message.seq == 0) {
                bundle.sessions.push(session.clone());
            }
            let known = bundle.messages.entry(session.id.clone()).or_default();
            known.extend_from_slice(messages);
        })?;
        let report = self.import_bundle(bundle, &format!("project {}", from.display_name()))?;
        self.engine.sessions().import_working_memories(from)?;
        Ok(report)
    }

    fn has_session(&self, id: &str) -> Result<bool, Fault> {
        match self.engine.store.session(&self.engine.project, id) {
            Ok(_) => Ok(true),
            Err(StoreError::NotFound { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Calls `each` with every session and its messages in order, oldest session first. A long session comes in
    /// several pieces, the first of which begins at message 0.
    pub fn export_sessions(&self, each: &mut dyn FnMut(&Session, &[Message])) -> Result<(), Fault> {
        const PAGE: usize = 1_000;
        let mut sessions =
            self.engine
                .store
                .sessions(&self.engine.project, None, limits::FIND_MAX)?;
        sessions.reverse();
        for session in sessions {
            let mut from = 0;
            loop {
                let page =
                    self.engine
                        .store
                        .messages(&self.engine.project, &session.id, from, PAGE)?;
                if from == 0 || !page.is_empty() {
                    each(&session, &page);
                }
                if page.len() < PAGE {
                    break;
                }
                from += PAGE as u64;
            }
        }
        Ok(())
    }

    /// Calls `each` with every record, oldest first: only current ones, or with `past` all of them and their validity
    /// gaps.
    pub fn export_records(
        &self,
        past: bool,
        each: &mut dyn FnMut(&Record, &[ValidityGap]),
    ) -> Result<u64, Fault> {
        let when = if past {
            AsOf::Ever
        } else {
            AsOf::Current(self.engine.now())
        };
        let mut filter = Filter {
            as_of: when,
            order: Order::Oldest,
            limit: 1_000,
            ..Filter::current(&[], self.engine.now())
        };
        let mut count = 0;
        loop {
            let page = self.engine.records().find(&filter)?;
            let mut gaps: BTreeMap<RecordId, Vec<ValidityGap>> = BTreeMap::new();
            if past {
                let ids: Vec<_> = page.iter().map(|record| record.id).collect();
                for (id, gap) in self
                    .engine
                    .store
                    .validity_gaps(&self.engine.project, &ids)?
                {
                    gaps.entry(id).or_default().push(gap);
                }
            }
            // The person's workspace is not part of the project.
            for record in page
                .iter()
                .filter(|record| !self.engine.workspace().is_of_person(record))
            {
                each(record, gaps.get(&record.id).map_or(&[], Vec::as_slice));
            }
            count += page.len() as u64;
            match page.last() {
                Some(last) if page.len() == filter.limit => filter.after = Some(last.id),
                Some(_) | None => return Ok(count),
            }
        }
    }
}
