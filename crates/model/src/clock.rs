//! The only clocks: the system's, and one that stands where it is put.

use jiff::Timestamp;
use serde_json::Value;
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

/// A time in seconds since 1970: a number, RFC 3339, or `{secs_since_epoch}`. Milliseconds are told by their size.
pub fn seconds(value: &Value) -> Option<i64> {
    let seconds = match value {
        Value::Number(number) => match number.as_i64() {
            Some(whole) => whole,
            None => number.as_f64().and_then(whole)?,
        },
        Value::String(said) => {
            let said = said.trim();
            let time: Result<Timestamp, _> = said.parse();
            match time {
                Ok(time) => time.as_second(),
                Err(_) => said.parse::<i64>().ok()?,
            }
        }
        Value::Object(map) => return seconds(map.get("secs_since_epoch")?),
        Value::Null | Value::Bool(_) | Value::Array(_) => return None,
    };
    // Nobody means the year 5000: it is milliseconds.
    let seconds = if seconds.unsigned_abs() > 100_000_000_000 {
        seconds / 1_000
    } else {
        seconds
    };
    Timestamp::from_second(seconds).is_ok().then_some(seconds)
}

fn whole(number: f64) -> Option<i64> {
    let fits = number.is_finite() && number.abs() < 1e15;
    #[expect(clippy::cast_possible_truncation, reason = "it was just checked")]
    fits.then(|| number.trunc() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn times_have_several_forms() {
        for (said, expected) in [
            (json!(1_777_629_600), Some(1_777_629_600)),
            (json!(1_777_629_600.9), Some(1_777_629_600)),
            (json!(1_777_629_600_123_i64), Some(1_777_629_600)),
            (json!("2026-05-01T10:00:00Z"), Some(1_777_629_600)),
            (json!("1777629600"), Some(1_777_629_600)),
            (
                json!({"secs_since_epoch": 5, "nanos_since_epoch": 1}),
                Some(5),
            ),
            (json!(-5), Some(-5)),
            (json!("soon"), None),
            (json!(i64::MAX), None),
            (json!(1e300), None),
            (json!([1]), None),
            (json!({}), None),
        ] {
            assert_eq!(seconds(&said), expected, "{said}");
        }
    }
}
