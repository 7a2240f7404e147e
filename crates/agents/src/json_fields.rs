//! Fields of a JSON line, parsed lazily: a field of another type counts as absent, not as an error.

use heirloom_model::Timestamp;
use heirloom_model::text_decoding::repair_json;
use serde::de::{Deserialize, Deserializer, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// A raw field; `null` and absent are the same.
pub(crate) type Field<'a> = Option<&'a RawValue>;

/// Parses an object.
///
/// # Errors
///
/// The text is not a JSON object.
pub(crate) fn parse_object<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, serde_json::Error> {
    // Without this check serde would accept an array as the fields in order.
    if !text.trim_start().starts_with('{') {
        return Err(serde::de::Error::custom("expected an object"));
    }
    serde_json::from_str(text)
}

/// Returns the object in a field.
pub(crate) fn as_object<'a, T: Deserialize<'a>>(field: Field<'a>) -> Option<T> {
    parse_object(field?.get()).ok()
}

/// Returns the string in a field; lone surrogates become replacement characters.
pub(crate) fn as_string(field: Field<'_>) -> Option<String> {
    let raw = field?.get();
    if !raw.starts_with('"') {
        return None;
    }
    let read = serde_json::from_str(raw).ok();
    read.or_else(|| serde_json::from_str(&repair_json(raw)).ok())
}

/// Returns the string in a field unless it is blank.
pub(crate) fn as_nonblank_string(field: Field<'_>) -> Option<String> {
    as_string(field).filter(|content| !content.trim().is_empty())
}

/// Returns the string in a field without unescaping, for protocol keywords; empty if absent.
pub(crate) fn as_keyword(field: Field<'_>) -> &str {
    let inner = field.and_then(|raw| raw.get().strip_prefix('"')?.strip_suffix('"'));
    inner.unwrap_or_default()
}

/// Returns the time in a field.
pub(crate) fn as_time(field: Field<'_>) -> Option<Timestamp> {
    as_keyword(field).parse().ok()
}

/// Returns the count in a field; zero if absent.
pub(crate) fn as_count(field: Field<'_>) -> u64 {
    field.and_then(|raw| raw.get().parse().ok()).unwrap_or(0)
}

/// Returns the integer in a field.
pub(crate) fn as_integer(field: Field<'_>) -> Option<i64> {
    field?.get().parse().ok()
}

/// Returns true if the field is `true`.
pub(crate) fn is_true(field: Field<'_>) -> bool {
    field.is_some_and(|raw| raw.get() == "true")
}

/// Returns true if the field is an object.
pub(crate) fn is_object(field: Field<'_>) -> bool {
    field.is_some_and(|raw| raw.get().starts_with('{'))
}

/// Calls `on` with each element of the array in a field, without collecting them.
pub(crate) fn for_each_element<'a>(field: Field<'a>, on: &mut dyn FnMut(&'a RawValue)) {
    let Some(raw) = field.filter(|raw| raw.get().starts_with('[')) else {
        return;
    };
    let mut array = serde_json::Deserializer::from_str(raw.get());
    // The whole line was parsed before, so the array is well-formed.
    drop(array.deserialize_seq(ElementVisitor(on)));
}

/// Returns the text of a field: a string, or the joined `text` of blocks with one of these types.
pub(crate) fn joined_texts(field: Field<'_>, kinds: &[&str]) -> String {
    #[derive(serde::Deserialize)]
    struct Block<'a> {
        #[serde(borrow, rename = "type")]
        kind: Field<'a>,
        #[serde(borrow)]
        text: Field<'a>,
    }
    if let Some(text) = as_string(field) {
        return text;
    }
    let mut out = String::new();
    for_each_element(field, &mut |raw| {
        let Some(block) = as_object::<Block<'_>>(Some(raw)) else {
            return;
        };
        if !kinds.contains(&as_keyword(block.kind)) {
            return;
        }
        if let Some(text) = as_string(block.text) {
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(&text);
        }
    });
    out
}

struct ElementVisitor<'f, 'a>(&'f mut dyn FnMut(&'a RawValue));

impl<'a> Visitor<'a> for ElementVisitor<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'a>>(self, mut array: A) -> Result<(), A::Error> {
        while let Some(element) = array.next_element::<&'a RawValue>()? {
            (self.0)(element);
        }
        Ok(())
    }
}

/// Replaces control characters by blanks; JSON allows them nowhere.
pub(crate) fn without_controls(line: &str) -> Cow<'_, str> {
    if line.bytes().any(|byte| byte < b' ') {
        return Cow::Owned(line.replace(|c| c < ' ', " "));
    }
    Cow::Borrowed(line)
}
