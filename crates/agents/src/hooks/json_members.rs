//! Members of JSON objects in hook events, also of truncated ones.

use serde::Deserializer;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::fmt;

/// Members of a JSON object, unparsed.
pub(crate) type JsonMembers<'a> = HashMap<String, &'a RawValue>;

/// Returns the members of an object, and the parser's error.
pub(super) fn parse_members(text: &str) -> (JsonMembers<'_>, Option<String>) {
    let mut fields = JsonMembers::new();
    let mut reader = serde_json::Deserializer::from_str(text);
    let read = reader.deserialize_map(MembersVisitor(&mut fields));
    let parse_error = read.err().map(|error| error.to_string());
    (fields, parse_error)
}

/// Returns a string; `None` for any other value.
pub(crate) fn as_string(raw: &RawValue) -> Option<String> {
    raw.get()
        .starts_with('"')
        .then(|| serde_json::from_str(raw.get()).ok())
        .flatten()
}

/// Returns the members of a nested object; none for any other value.
pub(crate) fn object_members(raw: &RawValue) -> JsonMembers<'_> {
    parse_members(raw.get()).0
}

/// Gives members their usual names; a member that has one already stays.
pub(crate) fn rename_members(members: &mut JsonMembers<'_>, names: &[(&str, &str)]) {
    for (own, usual) in names {
        if let Some(raw) = members.get(*own).copied() {
            members.entry((*usual).to_owned()).or_insert(raw);
        }
    }
}

/// Visitor that stores each member as it is parsed, so that members before an error remain.
struct MembersVisitor<'f, 'a>(&'f mut JsonMembers<'a>);

impl<'a> Visitor<'a> for MembersVisitor<'_, 'a> {
    type Value = ();

    fn expecting(&self, form: &mut fmt::Formatter<'_>) -> fmt::Result {
        form.write_str("an event, which is an object")
    }

    fn visit_map<M: MapAccess<'a>>(self, mut map: M) -> Result<(), M::Error> {
        const MEMBERS_MAX: usize = 1_000;
        while let Some(name) = map.next_key::<String>()? {
            if self.0.len() < MEMBERS_MAX {
                let value: &'a RawValue = map.next_value()?;
                self.0.insert(name, value);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}
