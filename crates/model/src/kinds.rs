//! Typed attributes of records, one struct per kind.
//!
//! These structs are the stored form: their field names are the names in `attrs`, in the SQL views and in JSON.
//! Fields may be added and are never renamed. Fields of newer versions are preserved in `extra`.

mod artifact;
mod episode;
mod error_record;
mod knowledge;
mod output;
mod task;

pub use artifact::{ARTIFACT_FILE, Artifact, ArtifactType, BadArtifactType};
pub use episode::{BadEpisodeAction, Episode, EpisodeAction, result_label};
pub use error_record::ErrorRecord;
pub use knowledge::{
    CATEGORY_CONVENTION, CATEGORY_DECISION, CATEGORY_FACT, CATEGORY_LEARNING, CATEGORY_PREFERENCE,
    GRAPH_KEY_PREFIX, Knowledge, Note, Summary,
};
pub use output::Output;
pub use task::{Step, StepState, Task, TaskState};

use crate::record::Attrs;
use crate::{Kind, Record};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Typed attributes of one kind of record.
pub trait KindData: Serialize + DeserializeOwned {
    /// Kind of the record.
    const KIND: Kind;

    /// Converts to stored attributes; empty fields are omitted.
    fn to_attrs(&self) -> Attrs {
        match serde_json::to_value(self) {
            Ok(Value::Object(map)) => map,
            Ok(_) | Err(_) => Attrs::new(),
        }
    }

    /// Reads the typed attributes of a record; an error names the record and the field.
    fn from_record(record: &Record) -> Result<Self, BadAttrs> {
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

/// Error for attributes that do not match their kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the attributes of record {id} cannot be read: {problem}")]
pub struct BadAttrs {
    /// The record.
    pub id: String,
    /// Description of the mismatch.
    pub problem: String,
}

/// Joins parts to a composite key with `:`; `%` and `:` are escaped in all parts but the last.
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

/// Returns true for 0; used by serde to omit the field.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature serde asks for"
)]
fn is_zero_u32(n: &u32) -> bool {
    *n == 0
}

/// Returns true for 0; used by serde to omit the field.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature serde asks for"
)]
fn is_zero_u64(n: &u64) -> bool {
    *n == 0
}

/// Returns true for `false`; used by serde to omit the field.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature serde asks for"
)]
fn is_false(b: &bool) -> bool {
    !*b
}
