//! JSON bodies of requests: content type, depth, structure and checked fields.

use super::field_checks::check_field;
use super::openapi::NAMES;
use super::scope_fields::ScopeFields;
use crate::Problem;
use crate::unknown_fields::{
    BodyWarnings, describe_unknown_fields, field_names, prefers_strict, refusal,
};
use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::{StatusCode, header};
use heirloom_model::limits::SERVER_JSON_DEPTH_MAX;
use heirloom_model::text_decoding::{decode_text, repair_json};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;

/// Larger bodies, in bytes, are not checked for names here.
const CHECKED_BYTES_MAX: usize = 64 << 10;

/// Number of fields of a body that are tried in another form.
const LENIENT_FIELDS_MAX: usize = 40;

/// JSON body. Errors: 415 for another content type, 400 for invalid JSON, 422 for JSON of another structure.
pub(super) struct JsonBody<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for JsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let known = field_names::<T>().map(<[_]>::to_vec);
        read_body(request, state, known).await.map(Self)
    }
}

/// JSON body with the fields of a scope, as [`JsonBody`].
pub(super) struct ScopedBody<T>(pub(super) T);

/// Body with the fields of a scope.
pub(super) trait HasScope {
    /// Names and aliases of the other fields: serde does not list those of a type with flattened fields.
    const OTHER_FIELDS: &'static [&'static str];
}

impl<S: Send + Sync, T: DeserializeOwned + HasScope> FromRequest<S> for ScopedBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let scope = field_names::<ScopeFields>().unwrap_or_default();
        let known = [scope, T::OTHER_FIELDS].concat();
        read_body(request, state, Some(known)).await.map(Self)
    }
}

/// Reads a body, and warns of the fields that are not known.
async fn read_body<S: Send + Sync, T: DeserializeOwned>(
    request: Request,
    state: &S,
    known: Option<Vec<&'static str>>,
) -> Result<T, Problem> {
    let sort = request.headers().get(header::CONTENT_TYPE);
    let sort = sort.and_then(|sort| sort.to_str().ok()).unwrap_or("");
    let sort = sort.split(';').next().unwrap_or("").trim();
    if !sort.eq_ignore_ascii_case("application/json") && !sort.ends_with("+json") {
        return Err(
            Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "the body must be JSON")
                .hint("send the header `Content-Type: application/json`"),
        );
    }
    let warnings = request.extensions().get::<BodyWarnings>().cloned();
    let is_strict = prefers_strict(request.headers());
    let bytes = Bytes::from_request(request, state)
        .await
        .map_err(|rejected| Problem::new(rejected.status(), rejected.body_text()))?;
    let text = decode_text(&bytes);
    let text = repair_json(&text);
    let value = parse_json(text.as_bytes())?;
    let unknown = known.map(|known| describe_unknown_fields(text.as_bytes(), &known));
    let unknown = unknown.filter(|unknown| !unknown.is_empty());
    match (unknown, warnings) {
        (Some(unknown), _) if is_strict => Err(refusal(unknown)),
        (Some(unknown), Some(warnings)) => {
            warnings.extend(unknown);
            Ok(value)
        }
        (Some(_) | None, _) => Ok(value),
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
        if let Some(value) = read_leniently(value) {
            check_fields(bytes)?;
            return Ok(value);
        }
    }
    Err(body_error(&error))
}

/// Reads a body with texts where numbers, lists or nothing belong: each such field is tried in its other form.
fn read_leniently<T: DeserializeOwned>(mut value: Value) -> Option<T> {
    let mut problem = match serde_json::from_value(value.clone()) {
        Ok(read) => return Some(read),
        Err(error) => error.to_string(),
    };
    let fields = value.as_object()?.keys().take(LENIENT_FIELDS_MAX);
    let mut names: Vec<String> = fields.cloned().collect();
    // The fields are read in some order, and a field that is repaired reveals the problem of the next one.
    while !names.is_empty() {
        let mut repaired_name = None;
        for name in &names {
            let Some(other) = value.get(name).and_then(other_form) else {
                continue;
            };
            let mut repaired = value.clone();
            let mark = problem_mark(name, &other);
            if other.is_null() {
                drop(repaired.as_object_mut()?.remove(name));
            } else {
                drop(repaired.as_object_mut()?.insert(name.clone(), other));
            }
            match serde_json::from_value(repaired.clone()) {
                Ok(read) => return Some(read),
                // Another problem may be that the field had the right form before.
                Err(error)
                    if error.to_string() != problem && !error.to_string().contains(&mark) =>
                {
                    problem = error.to_string();
                    value = repaired;
                    repaired_name = Some(name.clone());
                    break;
                }
                Err(_) => {}
            }
        }
        let repaired_name = repaired_name?;
        names.retain(|name| *name != repaired_name);
    }
    None
}

/// Returns how an error names the field `name` with this value.
fn problem_mark(name: &str, value: &Value) -> String {
    match value {
        Value::Null => format!("missing field `{name}`"),
        Value::String(text) => format!("{text:?}"),
        Value::Number(number) => format!("`{number}`"),
        Value::Bool(value) => format!("`{value}`"),
        Value::Array(_) => "sequence".to_owned(),
        Value::Object(_) => "map".to_owned(),
    }
}

/// Returns the other form of a value: that of JSON in a text, nothing for an empty one, and the text of a number.
fn other_form(value: &Value) -> Option<Value> {
    match value {
        Value::String(text) if text.trim().is_empty() => Some(Value::Null),
        Value::String(text) => serde_json::from_str::<Value>(text.trim())
            .ok()
            .filter(|other| !other.is_string()),
        Value::Number(number) => Some(Value::String(number.to_string())),
        Value::Bool(_) | Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize, PartialEq)]
    struct Body {
        text: String,
        confidence: Option<f64>,
        k: Option<u32>,
        kinds: Option<Vec<String>>,
    }

    #[test]
    fn fields_in_another_form_are_read() {
        let read = |text: &str| parse_json::<Body>(text.as_bytes());
        let body = |text: &str, confidence, k, kinds: Option<&[&str]>| Body {
            text: text.to_owned(),
            confidence,
            k,
            kinds: kinds.map(|kinds| kinds.iter().map(|kind| (*kind).to_owned()).collect()),
        };
        for (text, expected) in [
            (r#"{"text":"a","k":""}"#, body("a", None, None, None)),
            (
                r#"{"text":"a","k":"3","confidence":"0.5"}"#,
                body("a", Some(0.5), Some(3), None),
            ),
            (r#"{"text":7,"k":3.0}"#, body("7", None, Some(3), None)),
            (
                r#"{"text":"7","kinds":"[\"x\"]","confidence":" "}"#,
                body("7", None, None, Some(&["x"])),
            ),
        ] {
            assert_eq!(read(text).ok(), Some(expected), "{text}");
        }
        for wrong in [r#"{"text":{}}"#, r#"{"text":"a","k":"x"}"#, r#"{"k":1}"#] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

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
