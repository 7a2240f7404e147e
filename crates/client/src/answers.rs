//! Answers of the API.
//!
//! Times are texts in the form of RFC 3339. Words such as a kind, a state or an action are texts too, so that a client
//! reads the words of a newer server. Unknown fields are ignored.

use serde::Deserialize;
use serde_json::{Map, Value};
use std::fmt;

macro_rules! answers {
    ($(
        $(#[$meta:meta])*
        $name:ident {
            $($(#[$field_meta:meta])* $field:ident: $type:ty,)*
        }
    )*) => {
        $(
            $(#[$meta])*
            #[derive(Debug, Clone, PartialEq, Deserialize)]
            #[non_exhaustive]
            pub struct $name {
                $($(#[$field_meta])* pub $field: $type,)*
            }
        )*
    };
}

mod conversations;
mod work;

pub use conversations::*;
pub use work::*;

answers! {
    /// Outcome of a write.
    Outcome {
        /// The record that was created, confirmed or changed.
        id: String,
        /// created, confirmed, replaced, conflict, unchanged, retired, restored, resolved, reopened or marked.
        outcome: String,
        /// The record that it replaced, or that lost a conflict to it.
        replaced: Option<String>,
        /// The winner, if this record lost a conflict.
        winner: Option<String>,
        /// Kinds of removed secrets, one for each.
        #[serde(default)]
        redacted: Vec<String>,
    }

    /// Record of any kind.
    Record {
        /// Id.
        id: String,
        /// knowledge, task, step, error, episode, artifact, output, note or summary.
        kind: String,
        /// Project.
        project: String,
        /// Text.
        text: String,
        /// Key of knowledge.
        key: Option<String>,
        /// Source.
        source: String,
        /// Confidence of the source, from 0 to 1.
        confidence: f64,
        /// Number of tokens of the text.
        tokens: u64,
        /// Time of creation.
        created_at: String,
        /// Time at which it was retired.
        retired_at: Option<String>,
        /// The record that replaced it.
        replaced_by: Option<String>,
        /// Start of validity.
        true_from: Option<String>,
        /// End of validity.
        true_to: Option<String>,
        /// Attributes of its kind.
        attrs: Map<String, Value>,
        /// Task.
        task_id: Option<String>,
        /// Agent.
        agent_id: Option<String>,
        /// Conversation.
        session_id: Option<String>,
        /// Phase of the task.
        phase: Option<String>,
        /// Plan.
        plan: Option<String>,
        /// Group.
        group: Option<String>,
        /// Iteration of the run.
        iteration: Option<u64>,
    }

    /// Answer of a recall. A loop over it yields its hits.
    RecallResponse {
        /// Records, best first. Conversations do not affect them.
        hits: Vec<Hit>,
        /// Turns of conversations, best first.
        conversations: Vec<Hit>,
        /// Number of hits that were left out because their relevance is too low.
        weak: u64,
        /// Duration in microseconds.
        took_us: u64,
        /// Remarks about the query.
        notes: Vec<String>,
    }

    /// Hit of a recall.
    Hit {
        /// Id of the record.
        id: String,
        /// Kind of the record; `message` for a turn of a conversation.
        kind: String,
        /// Text.
        text: String,
        /// Text with the fix of an error, the reason of a decision or the outcome of an episode, if it has one.
        meaning: Option<String>,
        /// Category of knowledge.
        category: Option<String>,
        /// Key of knowledge.
        key: Option<String>,
        /// Source.
        source: String,
        /// Task.
        task_id: Option<String>,
        /// Agent.
        agent_id: Option<String>,
        /// Conversation.
        session_id: Option<String>,
        /// Time of creation.
        created_at: String,
        /// Score, by which the hits are ordered.
        score: f64,
        /// Calibrated chance that it is about the query, 0 to 1; missing if the query has only filters.
        relevance: Option<f64>,
        /// Grade of the relevance: strong, likely, possible or weak.
        grade: Option<String>,
        /// Parts of its score, by name.
        parts: Option<Map<String, Value>>,
        /// Ids of near-duplicates, grouped under this hit.
        #[serde(default)]
        folded: Vec<String>,
    }

    /// Context of a prompt. Its displayed form is its text.
    Context {
        /// Text, with which a prompt begins.
        text: String,
        /// Number of characters.
        chars: u64,
        /// Number of tokens.
        tokens: u64,
        /// Sections with their items.
        sections: Vec<ContextSection>,
        /// Remarks.
        notes: Vec<String>,
        /// Id of the receipt; missing for a context without text.
        receipt: Option<String>,
    }

    /// Section of a context.
    ContextSection {
        /// Name.
        name: String,
        /// Number of characters.
        chars: u64,
        /// Items, included or not.
        items: Vec<ContextItem>,
    }

    /// Item that was included in a context or left out.
    ContextItem {
        /// Id of the record.
        id: Option<String>,
        /// File that contains it.
        file: Option<String>,
        /// Text.
        text: String,
        /// Number of characters.
        chars: u64,
        /// Number of tokens.
        tokens: u64,
        /// True if it is in the context.
        included: bool,
        /// Reason for inclusion or omission.
        reason: String,
        /// Calibrated relevance to the question, 0 to 1, if it was compared.
        relevance: Option<f64>,
        /// Score.
        score: Option<f64>,
        /// Worth in the selection, if it competed.
        worth: Option<f64>,
    }

    /// Knowledge.
    Knowledge {
        /// Id.
        id: String,
        /// Project.
        project: String,
        /// Category.
        category: String,
        /// Key.
        key: Option<String>,
        /// Value.
        value: String,
        /// Reason of a decision.
        rationale: Option<String>,
        /// Source of the value.
        source: String,
        /// Confidence of the source, from 0 to 1.
        confidence: f64,
        /// Number of confirmations.
        confirmations: u64,
        /// True for a value that an agent proposed.
        proposal: bool,
        /// True if sources disagree and the conflict is not resolved.
        disputed: bool,
        /// True if a person pinned it.
        pinned: bool,
        /// True if a person muted it.
        muted: bool,
        /// Time of creation.
        created_at: String,
        /// Time of the last write or confirmation.
        updated_at: String,
        /// Task.
        task_id: Option<String>,
        /// Agent.
        agent_id: Option<String>,
    }

    /// Key with different values and no decision.
    Conflict {
        /// Id of the winner.
        id: String,
        /// Category.
        category: String,
        /// Key.
        key: Option<String>,
        /// True if neither value is used until the conflict is resolved.
        disputed: bool,
        /// Winner.
        winner: Knowledge,
        /// Other values, newest first.
        losers: Vec<Knowledge>,
    }

    /// Change of memory in the audit trail.
    Change {
        /// Time.
        at: String,
        /// created, replaced, conflict, confirmed, retired, restored, resolved, reopened, imported, reversed, purged, marked.
        action: String,
        /// Actor.
        by: String,
        /// The record.
        id: Option<String>,
        /// The other record involved.
        other: Option<String>,
        /// The import batch.
        import: Option<String>,
        /// Details.
        detail: Option<String>,
    }

    /// Versions and events of a record.
    RecordHistory {
        /// Versions, oldest first.
        records: Vec<Record>,
        /// Events, oldest first.
        events: Vec<Change>,
    }
}

impl fmt::Display for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl IntoIterator for RecallResponse {
    type Item = Hit;
    type IntoIter = std::vec::IntoIter<Hit>;

    fn into_iter(self) -> Self::IntoIter {
        self.hits.into_iter()
    }
}

impl<'a> IntoIterator for &'a RecallResponse {
    type Item = &'a Hit;
    type IntoIter = std::slice::Iter<'a, Hit>;

    fn into_iter(self) -> Self::IntoIter {
        self.hits.iter()
    }
}
