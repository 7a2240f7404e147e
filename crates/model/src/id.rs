//! Ids of records: UUIDv7, made by the client, ascending within a process.

use jiff::Timestamp;
use std::fmt;
use std::str::FromStr;
use std::sync::Mutex;
use uuid::{ContextV7, Uuid};

/// Id of a record or a message: a UUIDv7, so that ids sort by the time they were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordId(Uuid);

impl RecordId {
    /// The 16 bytes, in sort order.
    pub fn as_bytes(&self) -> &[u8; 16] {
        self.0.as_bytes()
    }

    /// The id with these bytes.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(Uuid::from_bytes(bytes))
    }

    /// An id that comes before every one that was made at this time or later.
    pub fn before(at: Timestamp) -> Self {
        let ms = u64::try_from(at.as_millisecond()).unwrap_or(0);
        Self::from_bytes((u128::from(ms) << 80).to_be_bytes())
    }

    /// The smallest id: before every real one.
    pub const MIN: Self = Self(Uuid::nil());
}

impl fmt::Display for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

/// A text that is no id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an id: expected a UUID such as 01890a5d-ac96-774b-bcce-b302099a8057")]
pub struct BadId(pub String);

impl FromStr for RecordId {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        Uuid::try_parse(text.trim())
            .map(Self)
            .map_err(|_| BadId(crate::text::excerpt(text, 60)))
    }
}

/// Makes ids that ascend even when the clock stands still or goes back.
#[derive(Debug, Default)]
pub struct IdSource {
    state: Mutex<Last>,
}

#[derive(Debug)]
struct Last {
    context: ContextV7,
    millis: u64,
}

impl Default for Last {
    fn default() -> Self {
        Self {
            context: ContextV7::new(),
            millis: 0,
        }
    }
}

impl IdSource {
    /// A fresh id for the time `now`; greater than every id this source gave before.
    pub fn next(&self, now: Timestamp) -> RecordId {
        let mut last = match self.state.lock() {
            Ok(guard) => guard,
            Err(poisoned) => poisoned.into_inner(),
        };
        let millis = u64::try_from(now.as_millisecond())
            .unwrap_or(0)
            .max(last.millis);
        last.millis = millis;
        let nanos = u32::try_from(millis % 1_000).unwrap_or(0) * 1_000_000;
        let stamp = uuid::Timestamp::from_unix(&last.context, millis / 1_000, nanos);
        RecordId(Uuid::new_v7(stamp))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn ids_ascend_with_a_clock_that_stands_or_goes_back() {
        let ids = IdSource::default();
        let now: Timestamp = "2026-05-01T10:00:00Z".parse().unwrap();
        let earlier: Timestamp = "2026-04-30T10:00:00Z".parse().unwrap();
        let made: Vec<_> = (0..5_000)
            .map(|i| ids.next(if i % 2 == 0 { now } else { earlier }))
            .collect();
        assert!(made.is_sorted());
        assert_eq!(made.iter().collect::<BTreeSet<_>>().len(), made.len());
    }

    #[test]
    fn an_id_round_trips_through_text() {
        let id = IdSource::default().next(Timestamp::UNIX_EPOCH);
        assert_eq!(id.to_string().parse::<RecordId>(), Ok(id));
        assert!("not-an-id".parse::<RecordId>().is_err());
    }
}
