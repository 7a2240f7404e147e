//! Times of `memory.json`: RFC 3339 in UTC, with the zero time of Go for a missing one.

use heirloom_model::Timestamp;

/// Zero time of Go, which writers without a time use.
pub(super) const ZERO_TIME: &str = "0001-01-01T00:00:00Z";

/// Returns a time in the format of the file.
pub fn format_time(time: Timestamp) -> String {
    time.to_string()
}

/// Parses a time of the file; `None` if it is empty or has another format.
pub fn parse_time(text: &str) -> Option<Timestamp> {
    text.parse().ok()
}

/// Writes a time, or the zero time for an empty text.
pub(super) fn write_time<S: serde::Serializer>(
    time: &str,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(if time.is_empty() { ZERO_TIME } else { time })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_equal_after_writing_and_parsing() {
        for text in ["2026-05-01T10:20:30Z", "2026-05-01T10:20:30.123456Z"] {
            let time = parse_time(text).unwrap();
            assert_eq!(format_time(time), text);
        }
        assert_eq!(parse_time(""), None);
        assert_eq!(parse_time("yesterday"), None);
    }
}
