//! Extractors of request bodies and queries.

use super::openapi::NAMES;
use crate::Problem;
use axum::body::Bytes;
use axum::extract::rejection::QueryRejection;
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use heirloom_model::limits::SERVER_JSON_DEPTH_MAX;
use heirloom_model::record::check_name;
use heirloom_model::{RecordId, Scope, Timestamp};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::collections::BTreeMap;
use utoipa::{IntoParams, ToSchema};

/// Larger bodies, in bytes, are not checked for names here.
const CHECKED_BYTES_MAX: usize = 64 << 10;

/// JSON body. Errors: 415 for another content type, 400 for invalid JSON, 422 for JSON of another structure.
pub(super) struct JsonBody<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for JsonBody<T> {
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
        parse_json(&bytes).map(Self)
    }
}

fn parse_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    if json_depth(bytes) > SERVER_JSON_DEPTH_MAX {
        return Err(Problem::new(
            StatusCode::BAD_REQUEST,
            format!("the JSON is nested deeper than {SERVER_JSON_DEPTH_MAX} levels"),
        ));
    }
    let error = match serde_json::from_slice(bytes) {
        Ok(value) => {
            check_fields(bytes)?;
            return Ok(value);
        }
        Err(error) => error,
    };
    if error.is_data()
        && let Ok(mut value) = serde_json::from_slice::<Value>(bytes)
    {
        // JSON does not distinguish integers from floats: 3.0 is an integer.
        integral_floats_to_ints(&mut value);
        if let Ok(value) = serde_json::from_value(value) {
            check_fields(bytes)?;
            return Ok(value);
        }
    }
    Err(body_error(&error))
}

/// Checks names in a body, also those that the route ignores. Errors: 400.
fn check_fields(bytes: &[u8]) -> Result<(), Problem> {
    // The size of larger bodies comes from texts, which the engine checks.
    let small = Some(bytes).filter(|bytes| bytes.len() <= CHECKED_BYTES_MAX);
    let fields =
        small.and_then(|bytes| serde_json::from_slice::<BTreeMap<String, Value>>(bytes).ok());
    for (name, value) in fields.into_iter().flatten() {
        let name = name.as_str();
        let is_checked = NAMES.contains(&name) || ["query", "kinds"].contains(&name);
        if let (true, Some(given)) = (is_checked, value.as_str()) {
            check_field(name, given)?;
        }
    }
    Ok(())
}

fn integral_floats_to_ints(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(integral_floats_to_ints),
        Value::Object(map) => map.values_mut().for_each(integral_floats_to_ints),
        Value::Number(number) => {
            let float = number.as_f64().filter(|float| float.fract() == 0.0);
            // Above 2^53 a float does not represent every integer.
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

fn body_error(error: &serde_json::Error) -> Problem {
    let status = match error.classify() {
        serde_json::error::Category::Data => StatusCode::UNPROCESSABLE_ENTITY,
        serde_json::error::Category::Io
        | serde_json::error::Category::Syntax
        | serde_json::error::Category::Eof => StatusCode::BAD_REQUEST,
    };
    Problem::new(status, format!("the body is not valid: {error}"))
        .hint("/openapi.json describes the accepted values")
}

/// Returns the nesting depth of arrays and objects, also for invalid JSON.
fn json_depth(bytes: &[u8]) -> usize {
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

/// Query parameters, with checked names.
pub(super) struct QueryParams<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for QueryParams<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let pairs = Query::<Vec<(String, String)>>::from_request_parts(parts, state).await;
        for (name, value) in pairs.map_or_else(|_| Vec::new(), |pairs| pairs.0) {
            check_field(&name, &value)?;
        }
        let Query(params) = Query::<T>::from_request_parts(parts, state).await.map_err(
            |rejected: QueryRejection| {
                Problem::new(StatusCode::BAD_REQUEST, rejected.body_text())
                    .hint("/openapi.json describes the accepted values")
            },
        )?;
        Ok(Self(params))
    }
}

/// Checks a name, text or count. Errors: 400.
fn check_field(name: &str, value: &str) -> Result<(), Problem> {
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

/// Query with only a project.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct ProjectQuery {
    /// The project; by default the token's project or the served one.
    pub(super) project: Option<String>,
}

/// Query for the newest items.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct NewestQuery {
    /// The project; by default the token's project or the served one.
    pub(super) project: Option<String>,
    /// Maximum number of items.
    #[param(minimum = 1, maximum = 1000, default = 50)]
    pub(super) limit: Option<usize>,
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

/// Scope of a record in a request body.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[schema(as = Places)]
pub(super) struct ScopeFields {
    /// The task.
    #[serde(alias = "task")]
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
    #[serde(default, deserialize_with = "deserialize_small_count")]
    pub(super) iteration: Option<u32>,
}

impl ScopeFields {
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
    fn json_over_depth_limit_is_refused() {
        assert_eq!(json_depth(b"{\"a\": [1, {\"b\": \"[[[\\\"[[\"}]}"), 3);
        assert_eq!(json_depth(b"]]]]["), 1);
        let nested = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
        let most = nested(SERVER_JSON_DEPTH_MAX);
        assert!(parse_json::<Value>(most.as_bytes()).is_ok());
        let over = nested(SERVER_JSON_DEPTH_MAX + 1);
        let problem = parse_json::<Value>(over.as_bytes()).unwrap_err();
        assert_eq!(problem.status, StatusCode::BAD_REQUEST);
    }
}
