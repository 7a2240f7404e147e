//! Fields of a line of JSON, read where they stand: a field of another shape is absent, not an error.

use heirloom_model::Timestamp;
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// A field as it is written; `null` and absent are the same.
pub(super) type Field<'a> = Option<&'a RawValue>;

/// The object that a text is; `None` if it is none.
pub(super) fn object_of<'a, T: Deserialize<'a>>(text: &'a str) -> Option<T> {
    // Without this an array would be taken for the fields in order.
    if !text.trim_start().starts_with('{') {
        return None;
    }
    serde_json::from_str(text).ok()
}

/// The object in a field.
pub(super) fn object<'a, T: Deserialize<'a>>(field: Field<'a>) -> Option<T> {
    object_of(field?.get())
}

/// The string in a field; what is no character in it becomes a replacement character.
pub(super) fn string(field: Field<'_>) -> Option<String> {
    let raw = field?.get();
    if !raw.starts_with('"') {
        return None;
    }
    serde_json::from_str::<Lossy>(raw).ok().map(|read| read.0)
}

/// A string that is not empty.
pub(super) fn filled(field: Field<'_>) -> Option<String> {
    string(field).filter(|said| !said.trim().is_empty())
}

/// A string of the program's own words, which never need escapes; empty if there is none.
pub(super) fn word(field: Field<'_>) -> &str {
    let inner = field.and_then(|raw| raw.get().strip_prefix('"')?.strip_suffix('"'));
    inner.unwrap_or_default()
}

/// The time in a field.
pub(super) fn time(field: Field<'_>) -> Option<Timestamp> {
    word(field).parse().ok()
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

/// Hands each element of the array in a field to `on`, without keeping the array.
pub(super) fn each<'a>(field: Field<'a>, on: &mut dyn FnMut(&'a RawValue)) {
    let Some(raw) = field.filter(|raw| raw.get().starts_with('[')) else {
        return;
    };
    let mut array = serde_json::Deserializer::from_str(raw.get());
    // The line was read before, so the array is well formed: it cannot fail in the middle.
    drop(array.deserialize_seq(Elements(on)));
}

/// The texts of a field: a string, or the `text` of blocks of one of these types.
pub(super) fn texts(field: Field<'_>, kinds: &[&str]) -> String {
    #[derive(serde::Deserialize)]
    struct Block<'a> {
        #[serde(borrow, rename = "type")]
        kind: Field<'a>,
        #[serde(borrow)]
        text: Field<'a>,
    }
    if let Some(text) = string(field) {
        return text;
    }
    let mut out = String::new();
    each(field, &mut |raw| {
        let Some(block) = object::<Block<'_>>(Some(raw)) else {
            return;
        };
        if !kinds.contains(&word(block.kind)) {
            return;
        }
        if let Some(text) = string(block.text) {
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(&text);
        }
    });
    out
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

/// A string in which halves of characters may stand: programs cut texts anywhere.
struct Lossy(String);

impl<'de> Deserialize<'de> for Lossy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(LossyVisitor)
    }
}

struct LossyVisitor;

impl Visitor<'_> for LossyVisitor {
    type Value = Lossy;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Lossy, E> {
        Ok(Lossy(match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => String::from_utf8_lossy(bytes).into_owned(),
        }))
    }
}
