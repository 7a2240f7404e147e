//! An import that only says what would come.

use super::Taking;
use heirloom_model::{Fault, Kind};
use heirloom_store::{Change, Filter, StoreError};
use std::slice;

impl Taking<'_> {
    /// Counts what of `changes` is new, as the store would: what an earlier one brought is not.
    pub(super) fn look(&mut self, changes: &[Change]) -> Result<(), Fault> {
        for change in changes {
            let Some(name) = name_of(change) else {
                continue;
            };
            let is_frame = matches!(change, Change::TakeSession(_)) && !self.sessions_count;
            if is_frame {
                continue;
            }
            let here = self.is_here(change)?;
            let seen = self.dry.as_mut().is_some_and(|seen| !seen.insert(name));
            if here || seen {
                self.report.known += 1;
            } else {
                let has_secret = self.has_secret(change);
                self.report.bring(has_secret);
            }
        }
        Ok(())
    }

    fn is_here(&self, change: &Change) -> Result<bool, Fault> {
        let engine = self.engine;
        let (store, project) = (&engine.store, &engine.project);
        let found = |answer: Result<(), StoreError>| match answer {
            Ok(()) => Ok(true),
            Err(StoreError::NotFound { .. }) => Ok(false),
            Err(error) => Err(Fault::from(error)),
        };
        match change {
            Change::Put { record, .. } => {
                let here = store.get(project, record.id);
                if here.as_ref().is_ok_and(|here| here.retired_at.is_none()) {
                    return Ok(true);
                }
                found(here.map(drop))?;
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
            Change::TakeSession(session) => found(store.session(project, &session.id).map(drop)),
            Change::TakeMessage { message, .. } => Ok(!store
                .turns(project, slice::from_ref(&message.id))?
                .is_empty()),
            Change::Revise { .. }
            | Change::Retire { .. }
            | Change::Restore { .. }
            | Change::Settle { .. }
            | Change::Unsettle { .. }
            | Change::Mark { .. }
            | Change::Begin(_)
            | Change::Keep(_)
            | Change::TakeLapse { .. }
            | Change::Reverse { .. } => Ok(false),
        }
    }
}

/// What two changes that bring the same thing have in common.
fn name_of(change: &Change) -> Option<String> {
    match change {
        Change::Put { record, .. } => Some(match &record.key {
            Some(key) => format!(
                "{} {} {key}",
                record.kind,
                record.category().unwrap_or_default()
            ),
            None => record.id.to_string(),
        }),
        Change::TakeSession(session) => Some(format!("session {}", session.id)),
        Change::TakeMessage { message, .. } => Some(message.id.to_string()),
        Change::Revise { .. }
        | Change::Retire { .. }
        | Change::Restore { .. }
        | Change::Settle { .. }
        | Change::Unsettle { .. }
        | Change::Mark { .. }
        | Change::Begin(_)
        | Change::Keep(_)
        | Change::TakeLapse { .. }
        | Change::Reverse { .. } => None,
    }
}
