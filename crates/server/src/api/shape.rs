//! The forms of requests and lists: bodies, queries, pages.

use super::describe::NAMES;
use crate::Problem;
use axum::body::Bytes;
use axum::extract::rejection::QueryRejection;
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use heirloom_engine::Page;
use heirloom_model::limits::{API_PAGE_DEFAULT, API_PAGE_MAX, SERVER_JSON_DEPTH_MAX};
use heirloom_model::record::check_name;
use heirloom_model::{Record, RecordId, Scope, Timestamp};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use utoipa::{IntoParams, ToSchema};

/// Numbers that are 1 at least.
const COUNTS: [&str; 5] = [
    "k",
    "iteration",
    "budget_chars",
    "budget_tokens",
    "target_tokens",
];
/// Bodies up to this many bytes are looked through for names.
const NAMED_BYTES_MAX: usize = 64 << 10;

/// A body of JSON. Errors: 415 for another sort, 400 for what is no JSON, 422 for JSON of another form.
pub(super) struct Body<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let sort = request.headers().get(header::CONTENT_TYPE);
        let sort = sort.and_then(|sort| sort.to_str().ok()).unwrap_or("");
        let sort = sort.split(';').next().unwrap_or("").trim();
        if !sort.eq_ignore_ascii_case("application/json") && !sort.ends_with("+json") {
            return Err(
                Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "the body must be JSON")
                    .hint("send the header `Content-Type: application/json`"),
            );
        }
        let bytes = Bytes::from_request(request, state)
            .await
            .map_err(|rejected| Problem::new(rejected.status(), rejected.body_text()))?;
        parsed(&bytes).map(Self)
    }
}

fn parsed<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    if depth(bytes) > SERVER_JSON_DEPTH_MAX {
        return Err(Problem::new(
            StatusCode::BAD_REQUEST,
            format!("the JSON is nested deeper than {SERVER_JSON_DEPTH_MAX} levels"),
        ));
    }
    let error = match serde_json::from_slice(bytes) {
        Ok(value) => {
            names_fit(bytes)?;
            return Ok(value);
        }
        Err(error) => error,
    };
    if error.is_data()
        && let Ok(mut value) = serde_json::from_slice::<Value>(bytes)
    {
        // JSON knows one sort of number: 3.0 is a whole one.
        whole_numbers(&mut value);
        if let Ok(value) = serde_json::from_value(value) {
            names_fit(bytes)?;
            return Ok(value);
        }
    }
    Err(unfit(&error))
}

/// Refuses names that nobody can have, wherever the route would pass over them.
fn names_fit(bytes: &[u8]) -> Result<(), Problem> {
    // What is larger has its size from a text, and is looked at by the engine.
    let small = Some(bytes).filter(|bytes| bytes.len() <= NAMED_BYTES_MAX);
    let fields =
        small.and_then(|bytes| serde_json::from_slice::<BTreeMap<&str, Value>>(bytes).ok());
    for (name, value) in fields.into_iter().flatten() {
        let is_looked_at = NAMES.contains(&name) || ["query", "kinds"].contains(&name);
        if let (true, Some(given)) = (is_looked_at, value.as_str()) {
            fits(name, given)?;
        }
        let is_count = COUNTS.contains(&name);
        if is_count && value.as_f64() == Some(0.0) {
            return Err(Problem::new(
                StatusCode::BAD_REQUEST,
                format!("`{name}` is 1 at least"),
            ));
        }
    }
    Ok(())
}

fn whole_numbers(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(whole_numbers),
        Value::Object(map) => map.values_mut().for_each(whole_numbers),
        Value::Number(number) => {
            let float = number.as_f64().filter(|float| float.fract() == 0.0);
            // Beyond 2^53 a float is no exact number any more.
            if let Some(float) = float.filter(|float| float.abs() <= 9e15) {
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "it is whole, and in the range"
                )]
                let whole = float as i64;
                *number = whole.into();
            }
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

fn unfit(error: &serde_json::Error) -> Problem {
    let status = match error.classify() {
        serde_json::error::Category::Data => StatusCode::UNPROCESSABLE_ENTITY,
        serde_json::error::Category::Io
        | serde_json::error::Category::Syntax
        | serde_json::error::Category::Eof => StatusCode::BAD_REQUEST,
    };
    Problem::new(status, format!("the body does not fit: {error}"))
        .hint("/openapi.json says what is taken")
}

/// How deep arrays and objects are nested, whether the rest is JSON or not.
fn depth(bytes: &[u8]) -> usize {
    let (mut now, mut most) = (0_usize, 0);
    let (mut in_text, mut is_escaped) = (false, false);
    for byte in bytes {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_text => is_escaped = true,
            b'"' => in_text = !in_text,
            b'[' | b'{' if !in_text => {
                now += 1;
                most = most.max(now);
            }
            b']' | b'}' if !in_text => now = now.saturating_sub(1),
            _ => {}
        }
    }
    most
}

/// What stands behind the `?`.
pub(super) struct Asked<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Asked<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let pairs = Query::<Vec<(String, String)>>::from_request_parts(parts, state).await;
        for (name, value) in pairs.map_or_else(|_| Vec::new(), |pairs| pairs.0) {
            fits(&name, &value)?;
        }
        let Query(asked) = Query::<T>::from_request_parts(parts, state).await.map_err(
            |rejected: QueryRejection| {
                Problem::new(StatusCode::BAD_REQUEST, rejected.body_text())
                    .hint("/openapi.json says what is taken")
            },
        )?;
        Ok(Self(asked))
    }
}

/// Refuses a name that nobody can have, and a text without words.
fn fits(name: &str, value: &str) -> Result<(), Problem> {
    let bad = |said: String| Err(Problem::new(StatusCode::BAD_REQUEST, said));
    if NAMES.contains(&name) {
        return check_name(name, value).or_else(|wrong| bad(wrong.to_string()));
    }
    let is_text = ["query", "approach", "text", "kinds", "kind"].contains(&name);
    if is_text && value.trim().is_empty() {
        return bad(format!("`{name}` is empty"));
    }
    let is_count = ["k", "budget_chars", "budget_tokens"].contains(&name);
    if is_count && value.parse() == Ok(0) {
        return bad(format!("`{name}` is 1 at least"));
    }
    Ok(())
}

/// A list in parts.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct List<T> {
    /// What is in this part.
    pub(super) items: Vec<T>,
    /// The `cursor` of the next part; `null` if this was the last one.
    pub(super) next: Option<String>,
}

impl<T> List<T> {
    pub(super) fn whole(items: Vec<T>) -> Self {
        Self { items, next: None }
    }

    pub(super) fn of(page: &Page, item: impl Fn(&Record) -> T) -> Self {
        Self {
            items: page.records.iter().map(item).collect(),
            next: page.next.map(|id| id.to_string()),
        }
    }
}

/// Only which project is meant.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Where {
    /// The project; without it the one that is served, or the token's.
    pub(super) project: Option<String>,
}

/// How many of the newest are wanted.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Newest {
    /// The project; without it the one that is served, or the token's.
    pub(super) project: Option<String>,
    /// At most so many items.
    #[param(minimum = 1, maximum = 1000, default = 50)]
    pub(super) limit: Option<usize>,
}

/// How many items a part has. Errors: 400 beyond [`API_PAGE_MAX`].
pub(super) fn limit(asked: Option<usize>) -> Result<usize, Problem> {
    match asked {
        None => Ok(API_PAGE_DEFAULT),
        Some(limit) if (1..=API_PAGE_MAX).contains(&limit) => Ok(limit),
        Some(_) => Err(Problem::new(
            StatusCode::BAD_REQUEST,
            format!("`limit` is from 1 to {API_PAGE_MAX}"),
        )),
    }
}

/// The record behind which a part begins.
pub(super) fn cursor(asked: Option<&str>) -> Result<Option<RecordId>, Problem> {
    let parsed = asked.map(str::parse::<RecordId>).transpose();
    let bad = || {
        Problem::new(StatusCode::BAD_REQUEST, "`cursor` is no cursor")
            .hint("take `next` of the part before, as it is")
    };
    let parsed = parsed.map_err(|_| bad())?;
    match parsed.map(|id| id.to_string()).as_deref() == asked {
        true => Ok(parsed),
        false => Err(bad()),
    }
}

/// A number that the store's whole numbers hold. Errors: beyond them.
pub(super) fn count<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    let given = Option::<u64>::deserialize(from)?;
    match given.is_some_and(|given| i64::try_from(given).is_err()) {
        true => Err(D::Error::custom("the number is too large")),
        false => Ok(given),
    }
}

/// A number that counts something small. Errors: beyond what fits.
pub(super) fn small<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    let given = Option::<u32>::deserialize(from)?;
    match given.is_some_and(|given| i32::try_from(given).is_err()) {
        true => Err(D::Error::custom("the number is too large")),
        false => Ok(given),
    }
}

/// The id of a record in a path.
pub(super) fn id(given: &str) -> Result<RecordId, Problem> {
    given.parse().map_err(|_| {
        Problem::new(
            StatusCode::NOT_FOUND,
            "there is no record of this id: an id has 36 characters",
        )
    })
}

/// A time in RFC 3339.
pub(super) fn time(name: &str, given: Option<&str>) -> Result<Option<Timestamp>, Problem> {
    let parsed = given.map(str::parse::<Timestamp>).transpose();
    parsed.map_err(|error| {
        Problem::new(
            StatusCode::BAD_REQUEST,
            format!("`{name}` is no time in RFC 3339: {error}"),
        )
    })
}

/// Coordinates of a record, in a body.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
pub(super) struct Places {
    /// The task.
    pub(super) task_id: Option<String>,
    /// The agent.
    pub(super) agent_id: Option<String>,
    /// The plan.
    pub(super) plan: Option<String>,
    /// The group.
    pub(super) group: Option<String>,
    /// The session.
    pub(super) session_id: Option<String>,
    /// The phase of the task.
    pub(super) phase: Option<String>,
    /// The iteration of the run, from 1.
    #[schema(minimum = 1)]
    #[serde(default, deserialize_with = "small")]
    pub(super) iteration: Option<u32>,
}

impl Places {
    pub(super) fn scope(&self) -> Scope {
        Scope {
            plan: self.plan.clone(),
            group: self.group.clone(),
            session: self.session_id.clone(),
            task: self.task_id.clone(),
            agent: self.agent_id.clone(),
            phase: self.phase.clone(),
            iteration: self.iteration,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_json_is_told_by_its_depth() {
        assert_eq!(depth(b"{\"a\": [1, {\"b\": \"[[[\\\"[[\"}]}"), 3);
        assert_eq!(depth(b"]]]]["), 1);
        let nested = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
        let most = nested(SERVER_JSON_DEPTH_MAX);
        assert!(parsed::<Value>(most.as_bytes()).is_ok());
        let over = nested(SERVER_JSON_DEPTH_MAX + 1);
        let problem = parsed::<Value>(over.as_bytes()).unwrap_err();
        assert_eq!(problem.status, StatusCode::BAD_REQUEST);
    }

    #[test]
    fn a_part_of_a_list_has_a_length() {
        assert_eq!(limit(None), Ok(API_PAGE_DEFAULT));
        assert_eq!(limit(Some(API_PAGE_MAX)), Ok(API_PAGE_MAX));
        assert!(limit(Some(API_PAGE_MAX + 1)).is_err());
        assert!(limit(Some(0)).is_err());
    }
}
