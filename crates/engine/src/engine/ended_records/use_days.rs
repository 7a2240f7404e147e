//! Days of use: the days on which a project had a session or a record.

use crate::engine::Engine;
use heirloom_model::{Fault, RecordId, Timestamp};
use heirloom_store::{AsOf, Filter};

/// Number of the newest sessions that are read; older days are those with a record.
const SESSIONS_READ_MAX: usize = 1_000;
const DAY_SECONDS: i64 = 86_400;

/// Returns the start of the earliest of the last `days` days of use (UTC); `None` if there are fewer.
pub(super) fn start_of_use_days(engine: &Engine, days: usize) -> Result<Option<Timestamp>, Fault> {
    let sessions = engine.sessions().sessions_of(None, SESSIONS_READ_MAX)?;
    let starts: Vec<Timestamp> = sessions.iter().map(|one| one.started_at).collect();
    let mut before = engine.now();
    let mut start = None;
    for _ in 0..days {
        let of_sessions = starts.iter().copied().filter(|at| *at < before).max();
        let used_at = of_sessions.max(newest_record_before(engine, before)?);
        let Some(day) = used_at.and_then(start_of_day) else {
            return Ok(None);
        };
        before = day;
        start = Some(day);
    }
    Ok(start)
}

/// Returns the time in the id of the newest record that was made before a time.
fn newest_record_before(engine: &Engine, before: Timestamp) -> Result<Option<Timestamp>, Fault> {
    let filter = Filter {
        as_of: AsOf::Ever,
        after: Some(RecordId::min_at(before)),
        ..Filter::current(&[], before).limit(1)
    };
    let newest = engine.store.find(&engine.project, &filter)?.pop();
    Ok(newest.and_then(|record| record.id.made_at()))
}

fn start_of_day(at: Timestamp) -> Option<Timestamp> {
    let second = at.as_second();
    Timestamp::from_second(second - second.rem_euclid(DAY_SECONDS)).ok()
}
