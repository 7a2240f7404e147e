//! Fields of a JSON line, read where they stand: a field of another shape is absent, not an error.

use serde::de::{Deserialize, Deserializer, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// A field as it is written; `null` and absent are the same.
pub(super) type Field<'a> = Option<&'a RawValue>;

/// Reads an object of a line.
///
/// # Errors
/// What makes the text no JSON object.
pub(super) fn object_of<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, serde_json::Error> {
    // Without this an array would be taken for the fields in order.
    if !text.trim_start().starts_with('{') {
        return Err(serde::de::Error::custom("expected an object"));
    }
    serde_json::from_str(text)
}

/// The object in a field.
pub(super) fn object<'a, T: Deserialize<'a>>(field: Field<'a>) -> Option<T> {
    object_of(field?.get()).ok()
}

/// The string in a field; lone surrogates become replacement characters.
pub(super) fn string(field: Field<'_>) -> Option<String> {
    let raw = field?.get();
    if !raw.starts_with('"') {
        return None;
    }
    let read = serde_json::from_str(raw).ok();
    read.or_else(|| serde_json::from_str(&without_lone_surrogates(raw)).ok())
}

/// A string of the protocol's own words, which never need escapes; empty if there is none.
pub(super) fn word(field: Field<'_>) -> &str {
    let inner = field.and_then(|raw| raw.get().strip_prefix('"')?.strip_suffix('"'));
    inner.unwrap_or_default()
}

/// The count in a field; none is zero.
pub(super) fn count(field: Field<'_>) -> u64 {
    field.and_then(|raw| raw.get().parse().ok()).unwrap_or(0)
}

/// The whole number in a field.
pub(super) fn integer(field: Field<'_>) -> Option<i64> {
    field?.get().parse().ok()
}

/// Whether the field says `true`.
pub(super) fn is_true(field: Field<'_>) -> bool {
    field.is_some_and(|raw| raw.get() == "true")
}

/// Whether the field holds an object.
pub(super) fn is_object(field: Field<'_>) -> bool {
    field.is_some_and(|raw| raw.get().starts_with('{'))
}

/// Hands each element of the array in a field to `on`, without keeping the array.
pub(super) fn each<'a>(field: Field<'a>, on: &mut dyn FnMut(&'a RawValue)) {
    let Some(raw) = field.filter(|raw| raw.get().starts_with('[')) else {
        return;
    };
    let mut array = serde_json::Deserializer::from_str(raw.get());
    // The line was read before, so the array is well formed: it cannot fail in the middle.
    drop(array.deserialize_seq(Elements(on)));
}

struct Elements<'f, 'a>(&'f mut dyn FnMut(&'a RawValue));

impl<'a> Visitor<'a> for Elements<'_, 'a> {
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

/// The line with blanks for control characters, which JSON allows nowhere.
pub(super) fn without_controls(line: &str) -> Cow<'_, str> {
    if line.bytes().any(|byte| byte < b' ') {
        return Cow::Owned(line.replace(|c| c < ' ', " "));
    }
    Cow::Borrowed(line)
}

/// The JSON string with `\ufffd` for each surrogate escape that is not half of a pair.
fn without_lone_surrogates(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let taken = match (unit(rest), rest.get(6..).and_then(unit)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => {
                out.push_str("\\ufffd");
                rest = &rest[6..];
                continue;
            }
            (Some(_), _) => 6,
            (None, _) => rest.chars().take(2).map(char::len_utf8).sum(),
        };
        out.push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    out.push_str(rest);
    out
}

/// The code unit of the escape with which the text begins.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}
