//! From changes to records: batches, and what to do where the store takes one only in part, or says nothing.

use super::{Observer, Pending, SignalOutcome, complaint};
use heirloom_model::{ErrorKind, Fault, limits};
use heirloom_store::{Applied, Change, Filter, StoreError, Verdict};

impl Observer<'_> {
    /// Writes what is pending, one step a batch. What the store does not take stays pending, with what came
    /// behind it, so that nothing is lost when it takes it later.
    pub(super) fn flush(&mut self) -> Result<(), Fault> {
        self.clear_doubt()?;
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

    /// Writes a batch as one step; if the store refuses something of it, signal by signal, so that one bad
    /// signal takes no other with it. Returns what was not written when the store fails.
    fn write(&mut self, batch: Vec<Pending>) -> Result<(), (Vec<Pending>, StoreError)> {
        let all: Vec<_> = batch
            .iter()
            .flat_map(|(_, changes)| changes.iter().cloned())
            .collect();
        match self.store(&all) {
            Ok(applied) => {
                let mut answers = applied.into_iter();
                for (place, changes) in &batch {
                    let last = answers.by_ref().take(changes.len()).last();
                    self.settle(*place, last);
                }
                return Ok(());
            }
            Err(error) if !is_about_changes(&error) => {
                self.doubtful = batch.len();
                return Err((batch, error));
            }
            Err(_) => {}
        }
        let mut batch = batch.into_iter();
        while let Some((place, changes)) = batch.next() {
            match self.store(&changes) {
                Ok(applied) => self.settle(place, applied.last().copied()),
                Err(error) if is_about_changes(&error) => {
                    let signal = self.observation.signals[place].signal.clone();
                    self.complain(signal.line, complaint(&signal, &error.into()));
                }
                Err(error) => {
                    self.doubtful = 1;
                    let left = std::iter::once((place, changes)).chain(batch).collect();
                    return Err((left, error));
                }
            }
        }
        Ok(())
    }

    /// Finds out whether the step that failed last was written all the same, as a disk may do that fails
    /// behind the write: one of its records is there, then all of it is.
    fn clear_doubt(&mut self) -> Result<(), Fault> {
        let doubtful = &self.pending[..self.doubtful];
        let mut written = false;
        for change in doubtful.iter().flat_map(|(_, changes)| changes) {
            written = written || self.is_written(change)?;
        }
        if written {
            let answers = doubtful
                .iter()
                .map(|(place, changes)| Ok((*place, self.answer_of(changes.last())?)))
                .collect::<Result<Vec<_>, Fault>>()?;
            self.pending.drain(..self.doubtful);
            for (place, answer) in answers {
                self.settle(place, answer);
            }
        }
        self.doubtful = 0;
        Ok(())
    }

    fn is_written(&self, change: &Change) -> Result<bool, Fault> {
        let (Change::Put { record, .. } | Change::Revise { record, .. }) = change else {
            return Ok(false);
        };
        match self.engine.get(record.id) {
            Ok(_) => Ok(true),
            Err(fault) if fault.kind == ErrorKind::NotFound => Ok(false),
            Err(fault) => Err(fault),
        }
    }

    /// What the store would have said to a change that it carried out.
    fn answer_of(&self, change: Option<&Change>) -> Result<Option<Applied>, Fault> {
        let Some(change) = change else {
            return Ok(None);
        };
        let (id, verdict) = match change {
            Change::Put { record, .. } if !self.is_written(change)? => {
                let same = Filter::current(&[record.kind], self.engine.now());
                let same = same.key(record.key.as_deref().unwrap_or_default()).limit(1);
                let holder = self.engine.find(&same)?.pop();
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
            Change::Begin(_)
            | Change::TakeSession(_)
            | Change::Keep(_)
            | Change::TakeLapse { .. }
            | Change::TakeMessage { .. }
            | Change::Settle { .. }
            | Change::Unsettle { .. }
            | Change::Reverse { .. } => return Ok(None),
        };
        Ok(Some(Applied {
            id,
            verdict,
            other: None,
        }))
    }

    fn store(&self, changes: &[Change]) -> Result<Vec<Applied>, StoreError> {
        self.engine.store.apply(&self.engine.project, changes)
    }

    fn settle(&mut self, place: usize, answer: Option<Applied>) {
        if let (Some(observed), Some(applied)) = (self.observation.signals.get_mut(place), answer) {
            observed.outcome = SignalOutcome::Stored {
                id: applied.id,
                verdict: applied.verdict,
            };
        }
    }
}

/// Whether a store refused what it was given, rather than failed.
fn is_about_changes(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::Invalid(_) | StoreError::Stale { .. } | StoreError::NotFound { .. }
    )
}
