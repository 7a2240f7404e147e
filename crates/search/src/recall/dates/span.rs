//! Time span.

use heirloom_model::civil::Date;
use heirloom_model::{Timestamp, ToSpan, tz};

/// A half-open time span: includes its start, excludes its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeSpan {
    /// Start, included.
    pub from: Timestamp,
    /// End, excluded.
    pub to: Timestamp,
}

impl TimeSpan {
    /// Returns true if `time` is in the span.
    pub fn contains(&self, time: Timestamp) -> bool {
        self.from <= time && time < self.to
    }

    pub(super) fn days(first: Date, beyond: Date) -> Option<Self> {
        let start = |date: Date| Some(date.to_zoned(tz::TimeZone::UTC).ok()?.timestamp());
        Some(Self {
            from: start(first)?,
            to: start(beyond)?,
        })
    }

    pub(super) fn day(date: Date) -> Option<Self> {
        Self::days(date, date.checked_add(1.day()).ok()?)
    }

    pub(super) fn month(year: i16, month: i8) -> Option<Self> {
        let first = Date::new(year, month, 1).ok()?;
        Self::days(first, first.checked_add(1.month()).ok()?)
    }

    pub(super) fn year(year: i16) -> Option<Self> {
        let first = Date::new(year, 1, 1).ok()?;
        Self::days(first, first.checked_add(1.year()).ok()?)
    }

    /// Returns the seven days from the Monday of the week of `date`.
    pub(super) fn week(date: Date) -> Option<Self> {
        let monday = date
            .checked_sub(i64::from(date.weekday().to_monday_zero_offset()).days())
            .ok()?;
        Self::days(monday, monday.checked_add(7.days()).ok()?)
    }
}
