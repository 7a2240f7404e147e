//! Clocks: the system clock, and a fixed one for tests.

use jiff::Timestamp;
use serde_json::Value;
use std::fmt;

/// Source of the current time. Code takes a clock as a parameter, so that tests can fix the time.
pub trait Clock: Send + Sync + fmt::Debug {
    /// Returns the current time in microsecond precision, which is the precision of the store.
    fn now(&self) -> Timestamp;
}

/// The system clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that reads the system clock"
    )]
    fn now(&self) -> Timestamp {
        truncate_to_micros(Timestamp::now())
    }
}

/// A clock that always returns the same time.
#[derive(Debug, Clone, Copy)]
pub struct FixedClock(pub Timestamp);

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        truncate_to_micros(self.0)
    }
}

/// Truncates a time to whole microseconds, so that a stored time equals the given one.
pub fn truncate_to_micros(time: Timestamp) -> Timestamp {
    from_micros(time.as_microsecond())
}

/// Returns the ISO week of a time in UTC: `2026-W18`.
pub fn iso_week(time: Timestamp) -> String {
    let date = jiff::tz::Offset::UTC.to_datetime(time).date();
    let week = date.iso_week_date();
    format!("{:04}-W{:02}", week.year(), week.week())
}

/// Converts microseconds since the Unix epoch to a time, clamped to the range of the calendar.
pub fn from_micros(micros: i64) -> Timestamp {
    let clamped = micros.clamp(
        Timestamp::MIN.as_microsecond(),
        Timestamp::MAX.as_microsecond(),
    );
    Timestamp::from_microsecond(clamped).unwrap_or(Timestamp::UNIX_EPOCH)
}

/// Parses a time as seconds since 1970 from a number, RFC 3339 text, or `{secs_since_epoch}`. Milliseconds,
/// microseconds and nanoseconds are detected by their size, so reading a written value is idempotent.
pub fn parse_seconds(value: &Value) -> Option<i64> {
    let seconds = match value {
        Value::Number(number) => match number.as_i64() {
            Some(whole) => whole,
            None => number.as_f64().and_then(truncate_to_integer)?,
        },
        Value::String(text) => {
            let text = text.trim();
            let time: Result<Timestamp, _> = text.parse();
            match time {
                Ok(time) => time.as_second(),
                Err(_) => text.parse::<i64>().ok()?,
            }
        }
        Value::Object(map) => return parse_seconds(map.get("secs_since_epoch")?),
        Value::Null | Value::Bool(_) | Value::Array(_) => return None,
    };
    // A value beyond the year 5000 is in milliseconds, microseconds or nanoseconds.
    let mut seconds = seconds;
    while seconds.unsigned_abs() > 100_000_000_000 {
        seconds /= 1_000;
    }
    Timestamp::from_second(seconds).is_ok().then_some(seconds)
}

fn truncate_to_integer(number: f64) -> Option<i64> {
    let fits = number.is_finite() && number.abs() < 1e15;
    #[expect(clippy::cast_possible_truncation, reason = "it was just checked")]
    fits.then(|| number.trunc() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn parse_seconds_accepts_all_time_forms() {
        for (text, expected) in [
            (json!(1_777_629_600), Some(1_777_629_600)),
            (json!(1_777_629_600.9), Some(1_777_629_600)),
            (json!(1_777_629_600_123_i64), Some(1_777_629_600)),
            (json!(1_777_629_600_123_456_i64), Some(1_777_629_600)),
            (json!(1_777_629_600_123_456_789_i64), Some(1_777_629_600)),
            (json!("2026-05-01T10:00:00Z"), Some(1_777_629_600)),
            (json!("1777629600"), Some(1_777_629_600)),
            (
                json!({"secs_since_epoch": 5, "nanos_since_epoch": 1}),
                Some(5),
            ),
            (json!(-5), Some(-5)),
            (json!("soon"), None),
            (json!(i64::MAX), Some(9_223_372_036)),
            (json!(1e300), None),
            (json!([1]), None),
            (json!({}), None),
        ] {
            assert_eq!(parse_seconds(&text), expected, "{text}");
        }
    }
}
