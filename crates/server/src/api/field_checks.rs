//! Checks of single fields of bodies and queries: names, numbers, ids, times.

use super::openapi::NAMES;
use crate::Problem;
use axum::http::StatusCode;
use heirloom_model::record::check_name;
use heirloom_model::{RecordId, Timestamp};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// Checks a name, text or count. Errors: 400.
pub(super) fn check_field(name: &str, value: &str) -> Result<(), Problem> {
    let bad = |detail: String| Err(Problem::new(StatusCode::BAD_REQUEST, detail));
    if NAMES.contains(&name) {
        return check_name(name, value).or_else(|wrong| bad(wrong.to_string()));
    }
    let is_text = ["query", "approach", "text", "kinds", "kind"].contains(&name);
    if is_text && value.trim().is_empty() {
        return bad(format!("`{name}` is empty"));
    }
    let is_count = ["k", "budget_chars", "budget_tokens"].contains(&name);
    if is_count && value.parse() == Ok(0) {
        return bad(format!("`{name}` must be at least 1"));
    }
    Ok(())
}

/// Deserialises a number up to `i64::MAX`, the largest integer of the store.
pub(super) fn deserialize_count<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<u64>, D::Error> {
    let given = Option::<u64>::deserialize(from)?;
    match given.is_some_and(|given| i64::try_from(given).is_err()) {
        true => Err(D::Error::custom("the number is too large")),
        false => Ok(given),
    }
}

/// Deserialises a number from 1 to `i32::MAX`.
pub(super) fn deserialize_small_count<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<u32>, D::Error> {
    let given = Option::<u32>::deserialize(from)?;
    match given.map(|given| (given, i32::try_from(given))) {
        Some((0, _)) => Err(D::Error::custom("the number must be at least 1")),
        Some((_, Err(_))) => Err(D::Error::custom("the number is too large")),
        Some((_, Ok(_))) | None => Ok(given),
    }
}

/// Deserialises a number from 1.
pub(super) fn deserialize_size<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<usize>, D::Error> {
    let given = Option::<usize>::deserialize(from)?;
    match given {
        Some(0) => Err(D::Error::custom("the number must be at least 1")),
        Some(_) | None => Ok(given),
    }
}

/// Deserialises words that are separated by commas, or a list of them.
pub(super) fn deserialize_words<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a string or a list of strings")]
    enum Words {
        Joined(String),
        List(Vec<String>),
    }
    Ok(match Option::<Words>::deserialize(from)? {
        None => None,
        Some(Words::Joined(words)) => Some(words),
        Some(Words::List(words)) => Some(words.join(",")),
    })
}

/// Parses the id of a record in a path. Errors: 404.
pub(super) fn parse_id(given: &str) -> Result<RecordId, Problem> {
    given.parse().map_err(|_| {
        Problem::new(
            StatusCode::NOT_FOUND,
            "no record has this id: an id has 36 characters",
        )
    })
}

/// Parses a time in RFC 3339. Errors: 400.
pub(super) fn parse_time(name: &str, given: Option<&str>) -> Result<Option<Timestamp>, Problem> {
    let parsed = given.map(str::parse::<Timestamp>).transpose();
    parsed.map_err(|error| {
        Problem::new(
            StatusCode::BAD_REQUEST,
            format!("`{name}` is not a time in RFC 3339: {error}"),
        )
    })
}
