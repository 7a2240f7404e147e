//! Dry run of an import.

use super::ImportWriter;
use heirloom_model::{Fault, Kind};
use heirloom_store::{Change, Filter, StoreError};
use std::slice;

impl ImportWriter<'_> {
    /// Counts the new entries of `changes` as the store would; entries of earlier changes of the import are known.
    pub(super) fn count_dry_run(&mut self, changes: &[Change]) -> Result<(), Fault> {
        for change in changes {
            let Some(name) = identity_of(change) else {
                continue;
            };
            let is_frame = matches!(change, Change::ImportSession(_)) && !self.sessions_count;
            if is_frame {
                continue;
            }
            let stored = self.is_stored(change)?;
            let seen = self
                .dry_run_identities
                .as_mut()
                .is_some_and(|seen| !seen.insert(name));
            if stored || seen {
                self.report.known += 1;
            } else {
                let has_secret = self.has_secret(change);
                self.report.count_created(has_secret);
            }
        }
        Ok(())
    }

    fn is_stored(&self, change: &Change) -> Result<bool, Fault> {
        let engine = self.engine;
        let (store, project) = (&engine.store, &engine.project);
        let found = |answer: Result<(), StoreError>| match answer {
            Ok(()) => Ok(true),
            Err(StoreError::NotFound { .. }) => Ok(false),
            Err(error) => Err(Fault::from(error)),
        };
        match change {
            Change::Put { record, .. } => {
                let stored = store.get(project, record.id);
                if stored
                    .as_ref()
                    .is_ok_and(|stored| stored.retired_at.is_none())
                {
                    return Ok(true);
                }
                found(stored.map(drop))?;
                let Some(key) = &record.key else {
                    return Ok(false);
                };
                let mut filter = Filter::current(&[record.kind], engine.now())
                    .key(key)
                    .limit(1);
                if matches!(record.kind, Kind::Knowledge) {
                    filter.category = record.category().map(str::to_owned);
                }
                Ok(!store.find(project, &filter)?.is_empty())
            }
            Change::ImportSession(session) => found(store.session(project, &session.id).map(drop)),
            Change::ImportMessage { message, .. } => Ok(!store
                .turns(project, slice::from_ref(&message.id))?
                .is_empty()),
            Change::Revise { .. }
            | Change::Retire { .. }
            | Change::Restore { .. }
            | Change::ResolveConflict { .. }
            | Change::ReopenConflict { .. }
            | Change::Mark { .. }
            | Change::BeginBatch(_)
            | Change::StoreReceipt(_)
            | Change::ImportValidityGap { .. }
            | Change::ToggleBatch { .. } => Ok(false),
        }
    }
}

/// Returns the identity of an entry; changes to the same entry have the same one.
fn identity_of(change: &Change) -> Option<String> {
    match change {
        Change::Put { record, .. } => Some(match &record.key {
            Some(key) => format!(
                "{} {} {key}",
                record.kind,
                record.category().unwrap_or_default()
            ),
            None => record.id.to_string(),
        }),
        Change::ImportSession(session) => Some(format!("session {}", session.id)),
        Change::ImportMessage { message, .. } => Some(message.id.to_string()),
        Change::Revise { .. }
        | Change::Retire { .. }
        | Change::Restore { .. }
        | Change::ResolveConflict { .. }
        | Change::ReopenConflict { .. }
        | Change::Mark { .. }
        | Change::BeginBatch(_)
        | Change::StoreReceipt(_)
        | Change::ImportValidityGap { .. }
        | Change::ToggleBatch { .. } => None,
    }
}
