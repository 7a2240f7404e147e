//! Time formatter: the hour for today, the weekday for this week, otherwise the date.

use heirloom_model::{Timestamp, tz::TimeZone};

/// Formats times relative to now.
#[derive(Debug, Clone)]
pub(crate) struct Times {
    now: Timestamp,
    zone: TimeZone,
}

impl Times {
    /// Creates a formatter for `now` and a time zone.
    pub(crate) fn new(now: Timestamp, zone: TimeZone) -> Self {
        Self { now, zone }
    }

    /// Returns the present time.
    pub(crate) fn now(&self) -> Timestamp {
        self.now
    }

    /// Returns the number of days from the date of `at` to today; negative for the future.
    pub(crate) fn days_ago(&self, at: Timestamp) -> i32 {
        let day = |at: Timestamp| at.to_zoned(self.zone.clone()).date();
        day(self.now)
            .since(day(at))
            .map_or(0, |span| span.get_days())
    }

    /// Formats a day: `today`, `Thu 13`, `22 Oct`, `22 Oct 2024`.
    pub(crate) fn day(&self, at: Timestamp) -> String {
        let then = at.to_zoned(self.zone.clone());
        match self.days_ago(at) {
            0 => "today".to_owned(),
            1..7 => then.strftime("%a %-d").to_string(),
            _ if then.year() == self.now.to_zoned(self.zone.clone()).year() => {
                then.strftime("%-d %b").to_string()
            }
            _ => then.strftime("%-d %b %Y").to_string(),
        }
    }

    /// Formats day and month.
    pub(crate) fn date(&self, at: Timestamp) -> String {
        at.to_zoned(self.zone.clone())
            .strftime("%-d %b")
            .to_string()
    }

    /// Formats weekday and day of month, also for today.
    pub(crate) fn weekday(&self, at: Timestamp) -> String {
        at.to_zoned(self.zone.clone())
            .strftime("%a %-d")
            .to_string()
    }

    /// Formats the time of day.
    pub(crate) fn hour(&self, at: Timestamp) -> String {
        at.to_zoned(self.zone.clone()).strftime("%H:%M").to_string()
    }

    /// Formats a time for a list: the hour for today, day and hour within a week, otherwise the day.
    pub(crate) fn brief(&self, at: Timestamp) -> String {
        match self.days_ago(at) {
            0 => self.hour(at),
            1..7 => format!("{} {}", self.day(at), self.hour(at)),
            _ => self.day(at),
        }
    }

    /// Formats a time for a sentence: `today 16:02`, `Thu 13, 11:52`, `22 Oct`.
    pub(crate) fn full(&self, at: Timestamp) -> String {
        match self.days_ago(at) {
            0 => format!("today {}", self.hour(at)),
            1..7 => format!("{}, {}", self.day(at), self.hour(at)),
            _ => self.day(at),
        }
    }

    /// Returns the position of a time within the last `days` days, from 0 (first midnight) to 1 (end of today).
    #[expect(clippy::cast_precision_loss, reason = "a place on a chart")]
    pub(crate) fn position(&self, at: Timestamp, days: i32) -> f64 {
        let then = at.to_zoned(self.zone.clone());
        let midnight = then.start_of_day().map_or(at, |day| day.timestamp());
        let into_day = (at.as_second() - midnight.as_second()) as f64 / 86_400.0;
        (f64::from(days - 1 - self.days_ago(at)) + into_day.clamp(0.0, 1.0)) / f64::from(days)
    }

    /// Returns the midnight at which the day `days_back` days ago began.
    pub(crate) fn midnight(&self, days_back: i32) -> Timestamp {
        let today = self.now.to_zoned(self.zone.clone());
        let day = today
            .date()
            .saturating_sub(heirloom_model::ToSpan::days(days_back));
        let start = day.to_zoned(self.zone.clone());
        start.map_or(self.now, |day| day.timestamp())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_formatted_relative_to_now() {
        let time = |text: &str| -> Timestamp { text.parse().unwrap() };
        let times = Times::new(time("2025-11-14T16:40:00Z"), TimeZone::UTC);
        assert_eq!(times.brief(time("2025-11-14T16:02:00Z")), "16:02");
        assert_eq!(times.full(time("2025-11-14T16:02:00Z")), "today 16:02");
        assert_eq!(times.full(time("2025-11-13T11:52:00Z")), "Thu 13, 11:52");
        assert_eq!(times.day(time("2025-10-22T11:52:00Z")), "22 Oct");
        assert_eq!(times.day(time("2024-10-22T11:52:00Z")), "22 Oct 2024");
        assert_eq!(times.days_ago(time("2025-11-13T23:59:59Z")), 1);
        assert_eq!(times.midnight(6), time("2025-11-08T00:00:00Z"));
        let noon = times.position(time("2025-11-14T12:00:00Z"), 7);
        assert!((noon - 6.5 / 7.0).abs() < 1e-9, "{noon}");
    }
}
