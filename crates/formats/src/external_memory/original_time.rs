//! Times in the notations of other programs.

use heirloom_model::{Timestamp, civil, tz};
use serde_json::Value;

/// Numbers from here on are milliseconds: as seconds they would be later than the year 5000.
const MILLISECONDS_FROM: f64 = 1e11;

/// Parses an ISO time; without an offset it is in UTC, as SQLite writes it.
pub(super) fn parse_time(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    if let Ok(at) = text.parse() {
        return Some(at);
    }
    let local: civil::DateTime = text.trim_end_matches('Z').parse().ok()?;
    Some(local.to_zoned(tz::TimeZone::UTC).ok()?.timestamp())
}

/// Converts seconds or milliseconds since 1970.
pub(super) fn time_of_number(number: f64) -> Option<Timestamp> {
    if !number.is_finite() || number <= 0.0 {
        return None;
    }
    let millis = match number >= MILLISECONDS_FROM {
        true => number,
        false => number * 1_000.0,
    };
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a cast of a floating-point number saturates, and the result is checked"
    )]
    let millis = millis.round() as i64;
    Timestamp::from_millisecond(millis).ok()
}

/// Converts a JSON value: an ISO time, or seconds or milliseconds since 1970.
pub(super) fn time_of_value(value: &Value) -> Option<Timestamp> {
    match value {
        Value::String(text) => parse_time(text),
        Value::Number(number) => time_of_number(number.as_f64()?),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn times_of_all_notations_are_equal() {
        let at: Timestamp = "2026-03-04T05:06:07Z".parse().unwrap();
        for text in [
            "2026-03-04 05:06:07",
            "2026-03-04T05:06:07",
            "2026-03-04T05:06:07.000Z",
            "2026-03-03T21:06:07-08:00",
        ] {
            assert_eq!(parse_time(text), Some(at), "{text}");
        }
        let seconds = at.as_second();
        assert_eq!(time_of_value(&json!(seconds)), Some(at));
        assert_eq!(time_of_value(&json!(seconds * 1_000)), Some(at));
        for bad in [
            json!(""),
            json!("soon"),
            json!(-1),
            json!(1e300),
            json!(null),
        ] {
            assert_eq!(time_of_value(&bad), None, "{bad}");
        }
    }
}
