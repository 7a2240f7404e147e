//! The only clocks: the system's, and one that stands where it is put.

use jiff::Timestamp;
use std::fmt;

/// Tells the time. Everything that needs it takes one, so that a test can fix it.
pub trait Clock: Send + Sync + fmt::Debug {
    /// The current time, at microsecond precision (what the store keeps).
    fn now(&self) -> Timestamp;
}

/// The clock of the machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that reads the system clock"
    )]
    fn now(&self) -> Timestamp {
        truncate(Timestamp::now())
    }
}

/// A clock that always says the same time.
#[derive(Debug, Clone, Copy)]
pub struct FixedClock(pub Timestamp);

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        truncate(self.0)
    }
}

/// `time` cut to whole microseconds, so that what is stored compares equal to what was given.
pub fn truncate(time: Timestamp) -> Timestamp {
    from_micros(time.as_microsecond())
}

/// The ISO week of a time, in UTC: `2026-W18`.
pub fn iso_week(time: Timestamp) -> String {
    let date = jiff::tz::Offset::UTC.to_datetime(time).date();
    let week = date.iso_week_date();
    format!("{:04}-W{:02}", week.year(), week.week())
}

/// The time `micros` microseconds after the Unix epoch, held inside the calendar's range.
pub fn from_micros(micros: i64) -> Timestamp {
    let clamped = micros.clamp(
        Timestamp::MIN.as_microsecond(),
        Timestamp::MAX.as_microsecond(),
    );
    Timestamp::from_microsecond(clamped).unwrap_or(Timestamp::UNIX_EPOCH)
}
