//! Lessons of sessions: constructed tables, time, and recorded sessions if a folder with them is named.

mod recorded_sessions;
mod tables;
mod timing;

pub(crate) use timing::read_events;
mod transcript;

pub(crate) use timing::first_use;

use crate::Outcome;
use std::path::Path;

/// Measures the tables and the time, and the recorded sessions of the data folder.
pub(crate) fn measure(data: Option<&Path>) -> Outcome<()> {
    tables::measure();
    timing::measure()?;
    match data {
        Some(data) => recorded_sessions::measure(data),
        None => {
            println!(
                "lessons: recorded sessions skipped, no --data FOLDER and no HEIRLOOM_BENCH_DATA"
            );
            Ok(())
        }
    }
}
