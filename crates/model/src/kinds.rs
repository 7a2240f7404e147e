//! The typed form of a record's attributes, one struct a kind.
//!
//! These structs are the stored form: their field names are the names in `attrs`, in the SQL views and
//! in JSON. Fields may be added, never renamed. What a newer version wrote survives in `extra`.

mod knowledge;
mod products;
mod work;

pub use knowledge::{
    CATEGORY_CONVENTION, CATEGORY_DECISION, CATEGORY_FACT, CATEGORY_LEARNING, Knowledge, Note,
    Summary,
};
pub use products::{ARTIFACT_FILE, Artifact, ArtifactType, BadArtifactType, Output};
pub use work::{BadAction, Episode, EpisodeAction, Mistake, Step, StepState, Task, TaskState};

use crate::record::Attrs;
use crate::{Kind, Record};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A struct that is the attributes of one kind of record.
pub trait KindData: Serialize + DeserializeOwned {
    /// The kind that it belongs to.
    const KIND: Kind;

    /// The attributes as they are stored; empty fields are left out.
    fn to_attrs(&self) -> Attrs {
        match serde_json::to_value(self) {
            Ok(Value::Object(map)) => map,
            Ok(_) | Err(_) => Attrs::new(),
        }
    }

    /// The typed attributes of `record`; an error names the record and the field.
    fn of(record: &Record) -> Result<Self, BadAttrs> {
        if record.kind != Self::KIND {
            let problem = format!("it is a {}, not a {}", record.kind, Self::KIND);
            return Err(BadAttrs {
                id: record.id.to_string(),
                problem,
            });
        }
        serde_json::from_value(Value::Object(record.attrs.clone())).map_err(|error| BadAttrs {
            id: record.id.to_string(),
            problem: error.to_string(),
        })
    }
}

/// Attributes that do not fit their kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the attributes of record {id} cannot be read: {problem}")]
pub struct BadAttrs {
    /// The record.
    pub id: String,
    /// What is wrong.
    pub problem: String,
}

/// A composite key: parts joined by `:`, with `%` and `:` escaped in all but the last part.
pub fn join_key(parts: &[&str]) -> String {
    let last = parts.len().saturating_sub(1);
    let mut out = String::new();
    for (i, part) in parts.iter().enumerate() {
        if i < last {
            out.push_str(&part.replace('%', "%25").replace(':', "%3A"));
            out.push(':');
        } else {
            out.push_str(part);
        }
    }
    out
}

/// For serde: leave a zero out.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature serde asks for"
)]
fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// For serde: leave a zero out.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature serde asks for"
)]
fn is_nought(n: &u64) -> bool {
    *n == 0
}

/// For serde: leave `false` out.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature serde asks for"
)]
fn is_false(b: &bool) -> bool {
    !*b
}
