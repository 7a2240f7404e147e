//! Reversals of lessons by a person.

use crate::engine::Engine;
use heirloom_model::{Action, Authority, Fault, Record, limits};

/// Returns true if a person reverted a lesson: retired its record, or undid the batch that created it. A record that
/// expired, or that a later session or a limit retired, is not reverted.
pub(super) fn is_reverted(engine: &Engine, record: &Record) -> Result<bool, Fault> {
    let Some(retired_at) = record.retired_at.filter(|_| record.replaced_by.is_none()) else {
        return Ok(false);
    };
    let events = (engine.records()).events(Some(record.id), limits::LESSON_RECORDS_MAX)?;
    let retirement = events
        .iter()
        .find(|event| event.action == Action::Retired && event.at == retired_at);
    // The undo of a batch adds one event for the batch and none for its records.
    Ok(retirement.is_none_or(|event| Authority::of_source(&event.by) > Authority::Agent))
}
