//! Unknown fields of request bodies: warnings in the answer, or a refusal if the client prefers strict handling.

use crate::Problem;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use heirloom_model::limits::{BODY_WARNINGS_MAX, NAME_BYTES_MAX, SERVER_BODY_BYTES_MAX};
use heirloom_model::text;
use serde::de::{DeserializeOwned, Error, IgnoredAny, Visitor};
use serde::{Deserializer, forward_to_deserialize_any};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::sync::{Arc, Mutex, PoisonError};

/// Length of a field's name in a warning, characters.
const SHOWN_CHARS: usize = 60;

/// Warnings about the body of one request.
#[derive(Debug, Clone, Default)]
pub(crate) struct BodyWarnings(Arc<Mutex<Vec<String>>>);

impl BodyWarnings {
    /// Adds warnings.
    pub(crate) fn extend(&self, warnings: Vec<String>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.extend(warnings);
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Middleware: adds the warnings about a request's body to its answer as the field `warnings`.
pub(crate) async fn add_warnings(mut request: Request, next: Next) -> Response {
    let warnings = BodyWarnings::default();
    request.extensions_mut().insert(warnings.clone());
    let answer = next.run(request).await;
    let warnings = warnings.take();
    if warnings.is_empty() || !answer.status().is_success() {
        return answer;
    }
    let (mut parts, body) = answer.into_parts();
    let body = match to_bytes(body, SERVER_BODY_BYTES_MAX).await {
        Ok(body) => body,
        Err(error) => {
            let problem = Problem::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string());
            return problem.into_response();
        }
    };
    parts.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(parts, Body::from(with_warnings(body, &warnings)))
}

/// Appends a field to a JSON object, whose other fields may be megabytes and are not parsed.
fn with_warnings(body: Bytes, warnings: &[String]) -> Bytes {
    let object = body
        .strip_prefix(b"{")
        .and_then(|rest| rest.strip_suffix(b"}"));
    let Some(fields) = object else {
        return body;
    };
    let separator = if fields.is_empty() { "" } else { "," };
    let added = format!("{separator}\"warnings\":{}}}", json!(warnings));
    [b"{", fields, added.as_bytes()].concat().into()
}

/// Returns true if the client prefers errors to tolerance (RFC 7240).
pub(crate) fn prefers_strict(headers: &HeaderMap) -> bool {
    let values = headers.get_all("prefer").into_iter();
    let mut preferences = values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split([',', ';']));
    preferences.any(|one| one.trim().eq_ignore_ascii_case("handling=strict"))
}

/// Returns the refusal of a body with unknown fields.
pub(crate) fn refusal(mut warnings: Vec<String>) -> Problem {
    warnings.truncate(BODY_WARNINGS_MAX);
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, warnings.join("; ")).hint(
        "/openapi.json lists the fields; without `Prefer: handling=strict` others are ignored",
    )
}

/// Describes the fields of a JSON object that are not known, each with the nearest known one.
pub(crate) fn describe_unknown_fields(body: &[u8], known: &[&str]) -> Vec<String> {
    let given: BTreeMap<String, IgnoredAny> = serde_json::from_slice(body).unwrap_or_default();
    let unknown = given.keys().filter(|name| !known.contains(&name.as_str()));
    unknown
        .take(BODY_WARNINGS_MAX)
        .map(|name| describe_unknown_field(name, known))
        .collect()
}

fn describe_unknown_field(name: &str, known: &[&str]) -> String {
    let shown = text::excerpt(name, SHOWN_CHARS);
    let lower = name.to_lowercase();
    let near = known
        .iter()
        .filter(|_| name.len() <= NAME_BYTES_MAX)
        .map(|field| (strsim::osa_distance(&lower, field), field))
        .min()
        .filter(|(edits, field)| *edits <= field.len().max(3) / 3);
    match near {
        Some((_, field)) => format!("the field `{shown}` is not known: did you mean `{field}`?"),
        None => format!("the field `{shown}` is not known and was ignored"),
    }
}

/// Returns the names and aliases of the fields of a struct, as its implementation of `Deserialize` has them; `None` for
/// a type with flattened fields, which does not list them.
pub(crate) fn field_names<T: DeserializeOwned>() -> Option<&'static [&'static str]> {
    match T::deserialize(FieldNames) {
        Err(Collected::Names(names)) => Some(names),
        Ok(_) | Err(Collected::Other) => None,
    }
}

/// Deserializer that ends with the names of the fields that a struct requests.
struct FieldNames;

/// Result of [`FieldNames`].
#[derive(Debug)]
enum Collected {
    Names(&'static [&'static str]),
    Other,
}

impl Display for Collected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("names of fields")
    }
}

impl std::error::Error for Collected {}

impl Error for Collected {
    fn custom<M: Display>(_: M) -> Self {
        Self::Other
    }
}

impl<'de> Deserializer<'de> for FieldNames {
    type Error = Collected;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Collected> {
        Err(Collected::Other)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Collected> {
        Err(Collected::Names(fields))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;
    use serde::Deserialize;

    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only its names are read")]
    struct Example {
        category: String,
        #[serde(alias = "task")]
        task_id: Option<String>,
    }

    #[test]
    fn unknown_fields_are_described_with_the_nearest_one() {
        let describe = |body: &str| {
            describe_unknown_fields(body.as_bytes(), field_names::<Example>().unwrap())
        };
        for known in [
            r#"{"category": "a", "task_id": "b"}"#,
            r#"{"task": null}"#,
            "[]",
            "x",
        ] {
            assert!(describe(known).is_empty(), "{known}");
        }
        let found = describe(r#"{"catgory": 1, "Task_Id": 2, "colour": {"category": 3}}"#);
        assert_eq!(
            found,
            [
                "the field `Task_Id` is not known: did you mean `task_id`?",
                "the field `catgory` is not known: did you mean `category`?",
                "the field `colour` is not known and was ignored",
            ]
        );
    }

    #[test]
    fn number_of_warnings_is_limited() {
        let body = |count: usize| {
            let fields = (0..count).map(|n| (n.to_string(), json!(n)));
            serde_json::Value::Object(fields.collect()).to_string()
        };
        for (fields, warnings) in [
            (BODY_WARNINGS_MAX, BODY_WARNINGS_MAX),
            (BODY_WARNINGS_MAX + 1, BODY_WARNINGS_MAX),
        ] {
            let found = describe_unknown_fields(body(fields).as_bytes(), &["known"]);
            assert_eq!(found.len(), warnings);
        }
    }

    #[test]
    fn warnings_are_appended_to_objects_only() {
        let warn = |body: &'static str| {
            let found = with_warnings(Bytes::from_static(body.as_bytes()), &["a\"b".to_owned()]);
            String::from_utf8(found.to_vec()).unwrap()
        };
        assert_eq!(warn(r#"{"id":1}"#), r#"{"id":1,"warnings":["a\"b"]}"#);
        assert_eq!(warn("{}"), r#"{"warnings":["a\"b"]}"#);
        assert_eq!(warn("[1]"), "[1]");
        assert_eq!(warn(""), "");
    }

    #[test]
    fn strict_handling_is_read_from_any_prefer_header() {
        let mut headers = HeaderMap::new();
        assert!(!prefers_strict(&headers));
        headers.append("prefer", HeaderValue::from_static("wait=5"));
        assert!(!prefers_strict(&headers));
        headers.append("prefer", HeaderValue::from_static("a, Handling=strict"));
        assert!(prefers_strict(&headers));
    }
}
