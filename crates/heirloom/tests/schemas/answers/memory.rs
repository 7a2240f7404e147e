//! Answers of commands that write, decide about and remove records.

use super::record::{Record, Records};
use crate::schema_files::{AnswerSchema, Ref, Time, True};
use schemars::JsonSchema;

pub(super) fn schemas() -> Vec<AnswerSchema> {
    vec![
        AnswerSchema::lines::<RememberLine>("remember.json", &["remember"]),
        AnswerSchema::value::<Outcome>(
            "outcome.json",
            &[
                "accept",
                "artifact add",
                "artifact remove",
                "episode log",
                "error resolve",
                "forget",
                "output put",
                "reject",
                "step",
                "task set",
            ],
        ),
        AnswerSchema::value::<ProposeAnswer>("propose.json", &["propose"]),
        AnswerSchema::value::<UndoAnswer>("undo.json", &["undo"]),
        AnswerSchema::value::<MarkAnswer>("mark.json", &["mute", "pin", "useful"]),
        AnswerSchema::value::<PurgeAnswer>("purge.json", &["purge"]),
        AnswerSchema::value::<ConflictsAnswer>("conflicts.json", &["conflicts"]),
        AnswerSchema::value::<ResolveAnswer>("resolve.json", &["resolve"]),
        AnswerSchema::value::<ReviewAnswer>("review.json", &["review"]),
        AnswerSchema::value::<PruneAnswer>("prune.json", &["prune"]),
        AnswerSchema::value::<ShareAnswer>("share.json", &["share", "unshare"]),
    ]
}

/// The result of a write.
#[derive(JsonSchema)]
pub(super) struct Outcome {
    id: String,
    outcome: WriteOutcome,
    /// The winner, if this record lost a conflict.
    #[serde(skip_serializing_if = "Option::is_none")]
    winner: Option<String>,
    /// The record that lost its place to this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    replaced: Option<String>,
    /// The other record involved.
    #[serde(skip_serializing_if = "Option::is_none")]
    other: Option<String>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
enum WriteOutcome {
    Created,
    Confirmed,
    Replaced,
    Conflict,
    Unchanged,
    Retired,
    Restored,
    Resolved,
    Reopened,
    Marked,
    Rejected,
}

/// One value; with `--stdin` one for each line of input, printed when the record is durable.
#[derive(JsonSchema)]
#[serde(untagged)]
enum RememberLine {
    Stored(Remembered),
    Refused(LineError),
}

#[derive(JsonSchema)]
struct Remembered {
    id: String,
    outcome: RememberOutcome,
    /// The current value, if this one lost a conflict.
    #[serde(skip_serializing_if = "Option::is_none")]
    winner: Option<String>,
    /// The value that lost its place to this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    replaced: Option<String>,
    /// The same value, which was there already.
    #[serde(skip_serializing_if = "Option::is_none")]
    other: Option<String>,
    /// The kinds of secrets that were left out, one for each secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    redacted: Option<Vec<String>>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
enum RememberOutcome {
    Created,
    Confirmed,
    Replaced,
    Conflict,
    /// A record of another kind than knowledge that is there already.
    Unchanged,
}

/// With `--stdin`: a line that was not taken.
#[derive(JsonSchema)]
struct LineError {
    error: String,
}

/// With a text its outcome; without one, what waits for a decision.
#[derive(JsonSchema)]
#[serde(untagged)]
enum ProposeAnswer {
    Proposed(Outcome),
    Pending(Records),
}

#[derive(JsonSchema)]
#[serde(untagged)]
enum UndoAnswer {
    Record(UndoneRecord),
    Mark(UndoneMark),
    Import(UndoneImport),
}

#[derive(JsonSchema)]
struct UndoneRecord {
    id: String,
    /// `reopened` where a decision about a conflict was reverted, `resolved` where it applies again.
    outcome: UndoOutcome,
    /// The record that lost its place.
    retired: Option<String>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
enum UndoOutcome {
    Restored,
    Retired,
    Reopened,
    Resolved,
}

#[derive(JsonSchema)]
struct UndoneMark {
    id: String,
    outcome: Marked,
    mark: Mark,
}

#[derive(JsonSchema)]
struct UndoneImport {
    /// The id of the import.
    id: String,
    outcome: UndoneImportOutcome,
    import: True,
}

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
enum UndoneImportOutcome {
    Retired,
    Restored,
}

#[derive(JsonSchema)]
struct MarkAnswer {
    id: String,
    outcome: MarkOutcome,
    /// The state from now on.
    mark: Mark,
}

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Marked {
    Marked,
}

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
enum MarkOutcome {
    Marked,
    Unchanged,
}

#[derive(JsonSchema)]
enum Mark {
    #[serde(rename = "pinned")]
    Pinned,
    #[serde(rename = "not pinned")]
    NotPinned,
    #[serde(rename = "muted")]
    Muted,
    #[serde(rename = "not muted")]
    NotMuted,
    #[serde(rename = "useful")]
    Useful,
    #[serde(rename = "not useful")]
    NotUseful,
}

#[derive(JsonSchema)]
struct PurgeAnswer {
    /// False if nothing was deleted: `--dry-run`, or no confirmation.
    purged: bool,
    records: u64,
    sessions: u64,
    messages: u64,
    mirror_rewritten: bool,
    /// Stored working memories.
    working: u64,
    /// Copies of the database that were removed.
    copies_removed: Vec<String>,
    /// Copies of the database that are left.
    copies: Vec<String>,
    /// True if deleted text may still be in the database file.
    residue: bool,
}

/// Conflicts that are open.
#[derive(JsonSchema)]
struct ConflictsAnswer {
    conflicts: Vec<Conflict>,
}

#[derive(JsonSchema)]
struct Conflict {
    /// The id of the winner.
    id: String,
    category: Option<String>,
    key: Option<String>,
    disputed: bool,
    winner: ConflictSide,
    /// Newest first.
    losers: Vec<ConflictSide>,
}

#[derive(JsonSchema)]
struct ConflictSide {
    id: String,
    text: String,
    confidence: f64,
    source: String,
    recorded_at: Time,
}

#[derive(JsonSchema)]
struct ResolveAnswer {
    /// The record that is kept.
    id: String,
    outcome: Resolved,
    /// The record that was current before.
    retired: Option<String>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Resolved {
    Resolved,
}

#[derive(JsonSchema)]
struct ReviewAnswer {
    duplicates: Vec<Duplicates>,
    /// Pairs of ids.
    contradictions: Vec<Vec<String>>,
    /// Ids of newly learned proposals, newest first.
    learned: Vec<String>,
    /// Records whose files are gone.
    stale: Vec<Stale>,
    unused: Vec<String>,
    /// Records that `--apply` retired.
    retired: Vec<String>,
}

#[derive(JsonSchema)]
struct Duplicates {
    id: String,
    duplicates: Vec<String>,
    /// True for the same words.
    exact: bool,
}

#[derive(JsonSchema)]
struct Stale {
    id: String,
    paths: Vec<String>,
}

/// Numbers of records that were retired, or would be.
#[derive(JsonSchema)]
struct PruneAnswer {
    applied: bool,
    episodes: u64,
    artifacts: u64,
    ids: Vec<String>,
}

#[derive(JsonSchema)]
struct ShareAnswer {
    entries: Vec<Shared>,
}

#[derive(JsonSchema)]
struct Shared {
    id: String,
    /// The Markdown file, relative to the project.
    file: String,
    outcome: ShareOutcome,
}

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ShareOutcome {
    Shared,
    Unshared,
    Unchanged,
}

/// Records under another plural name.
pub(super) type RecordList = Vec<Ref<Record>>;
