//! Times as people say them: the hour of today, the day of this week, else the date.

use heirloom_model::{Timestamp, tz::TimeZone};

/// Tells times as seen from now.
#[derive(Debug, Clone)]
pub(crate) struct Times {
    now: Timestamp,
    zone: TimeZone,
}

impl Times {
    /// As seen at `now`, in this zone.
    pub(crate) fn at(now: Timestamp, zone: TimeZone) -> Self {
        Self { now, zone }
    }

    /// Now.
    pub(crate) fn now(&self) -> Timestamp {
        self.now
    }

    /// Whole days between the day of `at` and today; negative for what lies ahead.
    pub(crate) fn days_ago(&self, at: Timestamp) -> i32 {
        let day = |at: Timestamp| at.to_zoned(self.zone.clone()).date();
        day(self.now)
            .since(day(at))
            .map_or(0, |span| span.get_days())
    }

    /// The day: `today`, `Thu 13`, `22 Oct`, `22 Oct 2024`.
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

    /// The day of the week and of the month, also of today.
    pub(crate) fn weekday(&self, at: Timestamp) -> String {
        at.to_zoned(self.zone.clone())
            .strftime("%a %-d")
            .to_string()
    }

    /// The hour.
    pub(crate) fn hour(&self, at: Timestamp) -> String {
        at.to_zoned(self.zone.clone()).strftime("%H:%M").to_string()
    }

    /// In a list: the hour of today, else day and hour within a week, else the day.
    pub(crate) fn brief(&self, at: Timestamp) -> String {
        match self.days_ago(at) {
            0 => self.hour(at),
            1..7 => format!("{} {}", self.day(at), self.hour(at)),
            _ => self.day(at),
        }
    }

    /// In a sentence: `today 16:02`, `Thu 13, 11:52`, `22 Oct`.
    pub(crate) fn full(&self, at: Timestamp) -> String {
        match self.days_ago(at) {
            0 => format!("today {}", self.hour(at)),
            1..7 => format!("{}, {}", self.day(at), self.hour(at)),
            _ => self.day(at),
        }
    }

    /// Where in the last `days` days a time lies, 0 at the first midnight, 1 at the end of today.
    #[expect(clippy::cast_precision_loss, reason = "a place on a chart")]
    pub(crate) fn place(&self, at: Timestamp, days: i32) -> f64 {
        let then = at.to_zoned(self.zone.clone());
        let midnight = then.start_of_day().map_or(at, |day| day.timestamp());
        let into_day = (at.as_second() - midnight.as_second()) as f64 / 86_400.0;
        (f64::from(days - 1 - self.days_ago(at)) + into_day.clamp(0.0, 1.0)) / f64::from(days)
    }

    /// The first moment of the day that lies so many days back.
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
    fn times_are_told_as_people_do() {
        let time = |said: &str| -> Timestamp { said.parse().unwrap() };
        let times = Times::at(time("2025-11-14T16:40:00Z"), TimeZone::UTC);
        assert_eq!(times.brief(time("2025-11-14T16:02:00Z")), "16:02");
        assert_eq!(times.full(time("2025-11-14T16:02:00Z")), "today 16:02");
        assert_eq!(times.full(time("2025-11-13T11:52:00Z")), "Thu 13, 11:52");
        assert_eq!(times.day(time("2025-10-22T11:52:00Z")), "22 Oct");
        assert_eq!(times.day(time("2024-10-22T11:52:00Z")), "22 Oct 2024");
        assert_eq!(times.days_ago(time("2025-11-13T23:59:59Z")), 1);
        assert_eq!(times.midnight(6), time("2025-11-08T00:00:00Z"));
        let noon = times.place(time("2025-11-14T12:00:00Z"), 7);
        assert!((noon - 6.5 / 7.0).abs() < 1e-9, "{noon}");
    }
}
