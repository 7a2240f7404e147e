//! Batch writer of the observer, with handling of refused changes and uncertain commits.

use super::{Observer, Pending, SignalOutcome, refusal_message};
use heirloom_engine::Redacted;
use heirloom_model::{ErrorKind, Fault, limits};
use heirloom_store::{AppliedChange, Change, Filter, StoreError, Verdict};

impl Observer<'_> {
    /// Writes pending signals in batches, one transaction each. Those that the store did not take stay pending with
    /// the following ones, so that nothing is lost.
    pub(super) fn flush(&mut self) -> Result<(), Fault> {
        self.resolve_uncertain_commit()?;
        let mut pending = std::mem::take(&mut self.pending).into_iter().peekable();
        while pending.peek().is_some() {
            let batch: Vec<_> = pending.by_ref().take(limits::BATCH_RECORDS).collect();
            if let Err((left, error)) = self.write(batch) {
                self.pending = left;
                self.pending.extend(pending);
                return Err(error.into());
            }
        }
        Ok(())
    }

    /// Writes a batch in one transaction; if the store refuses it, signal by signal, so that an invalid signal does
    /// not affect others. Returns the unwritten signals if the store fails.
    fn write(&mut self, batch: Vec<Pending>) -> Result<(), (Vec<Pending>, StoreError)> {
        let all: Vec<_> = batch
            .iter()
            .flat_map(|(_, changes)| changes.iter().cloned())
            .collect();
        match self.store(all) {
            Ok(applied) => {
                let mut answers = applied.into_iter();
                for (place, changes) in &batch {
                    let last = answers.by_ref().take(changes.len()).last();
                    self.set_outcome(*place, last);
                }
                return Ok(());
            }
            Err(error) if !is_refusal(&error) => {
                self.uncertain = batch.len();
                return Err((batch, error));
            }
            Err(_) => {}
        }
        let mut batch = batch.into_iter();
        while let Some((place, changes)) = batch.next() {
            match self.store(changes.clone()) {
                Ok(applied) => self.set_outcome(place, applied.last().copied()),
                Err(error) if is_refusal(&error) => {
                    let signal = self.observation.signals[place].signal.clone();
                    self.report_refusal(signal.line, refusal_message(&signal, &error.into()));
                }
                Err(error) => {
                    self.uncertain = 1;
                    let left = std::iter::once((place, changes)).chain(batch).collect();
                    return Err((left, error));
                }
            }
        }
        Ok(())
    }

    /// Determines if the last failed transaction was committed all the same, as after a failed sync: transactions are
    /// atomic, so one of its records proves it.
    fn resolve_uncertain_commit(&mut self) -> Result<(), Fault> {
        let uncertain = &self.pending[..self.uncertain];
        let mut written = false;
        for change in uncertain.iter().flat_map(|(_, changes)| changes) {
            written = written || self.is_written(change)?;
        }
        if written {
            let answers = uncertain
                .iter()
                .map(|(place, changes)| {
                    Ok((
                        *place,
                        self.reconstruct_answer(changes.last().map(|last| &**last))?,
                    ))
                })
                .collect::<Result<Vec<_>, Fault>>()?;
            self.pending.drain(..self.uncertain);
            for (place, answer) in answers {
                self.set_outcome(place, answer);
            }
        }
        self.uncertain = 0;
        Ok(())
    }

    fn is_written(&self, change: &Change) -> Result<bool, Fault> {
        let (Change::Put { record, .. } | Change::Revise { record, .. }) = change else {
            return Ok(false);
        };
        match self.engine.records().get(record.id) {
            Ok(_) => Ok(true),
            Err(fault) if fault.kind == ErrorKind::NotFound => Ok(false),
            Err(fault) => Err(fault),
        }
    }

    /// Reconstructs the store's answer to a change that was committed.
    fn reconstruct_answer(&self, change: Option<&Change>) -> Result<Option<AppliedChange>, Fault> {
        let Some(change) = change else {
            return Ok(None);
        };
        let (id, verdict) = match change {
            Change::Put { record, .. } if !self.is_written(change)? => {
                let same = Filter::current(&[record.kind], self.engine.now());
                let same = same.key(record.key.as_deref().unwrap_or_default()).limit(1);
                let holder = self.engine.records().find(&same)?.pop();
                (
                    holder.map_or(record.id, |holder| holder.id),
                    Verdict::Confirmed,
                )
            }
            Change::Put { record, .. } => (record.id, Verdict::Created),
            Change::Revise { record, .. } => (record.id, Verdict::Replaced),
            Change::Retire { id, .. } => (*id, Verdict::Retired),
            Change::Restore { id, .. } => (*id, Verdict::Restored),
            Change::Mark { id, .. } => (*id, Verdict::Marked),
            Change::BeginBatch(_)
            | Change::ImportSession(_)
            | Change::StoreReceipt(_)
            | Change::ImportValidityGap { .. }
            | Change::ImportMessage { .. }
            | Change::ResolveConflict { .. }
            | Change::ReopenConflict { .. }
            | Change::ToggleBatch { .. } => return Ok(None),
        };
        Ok(Some(AppliedChange {
            id,
            verdict,
            other: None,
        }))
    }

    fn store(&self, changes: Vec<Redacted<Change>>) -> Result<Vec<AppliedChange>, StoreError> {
        self.engine.records().store_redacted(changes)
    }

    fn set_outcome(&mut self, place: usize, answer: Option<AppliedChange>) {
        if let (Some(observed), Some(applied)) = (self.observation.signals.get_mut(place), answer) {
            observed.outcome = SignalOutcome::Stored {
                id: applied.id,
                verdict: applied.verdict,
            };
        }
    }
}

/// Returns true if the store refused the changes, rather than failed.
fn is_refusal(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::Invalid(_) | StoreError::Stale { .. } | StoreError::NotFound { .. }
    )
}
