//! Answers of commands that start or open a server.

use crate::schema_files::{AnswerSchema, Time};
use schemars::JsonSchema;

pub(super) fn schemas() -> Vec<AnswerSchema> {
    vec![
        AnswerSchema::value::<Listening>("listening.json", &["mcp", "serve"]),
        AnswerSchema::lines::<UiAnswer>("ui.json", &["ui"]),
        AnswerSchema::value::<NewToken>("token.json", &["token create", "fleet token create"]),
        AnswerSchema::value::<Tokens>("tokens.json", &["token list", "fleet token list"]),
        AnswerSchema::value::<RevokedToken>(
            "token-revoke.json",
            &["token revoke", "fleet token revoke"],
        ),
        AnswerSchema::lines::<WatchLine>("watch.json", &["watch"]),
    ]
}

/// The address of a server that was started.
#[derive(JsonSchema)]
pub(super) struct Listening {
    listening: String,
    /// A token of the role orchestrator, on the first start of `heirloom serve` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<String>,
}

/// A link that logs a browser in, once, within two minutes.
#[derive(JsonSchema)]
pub(super) struct Link {
    link: String,
}

/// The link; where no server was running, the address of the new one before it.
#[derive(JsonSchema)]
#[serde(untagged)]
enum UiAnswer {
    Link(Link),
    Listening(Listening),
}

#[derive(JsonSchema)]
struct NewToken {
    id: String,
    /// The secret, which is shown only once.
    token: String,
}

#[derive(JsonSchema)]
struct Tokens {
    tokens: Vec<TokenRow>,
}

#[derive(JsonSchema)]
struct TokenRow {
    id: String,
    /// Name for people; `null` if it has none.
    name: Option<String>,
    role: Role,
    /// `null` for every project.
    project: Option<String>,
    created_at: Time,
}

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Role {
    Agent,
    Orchestrator,
    User,
    Admin,
}

#[derive(JsonSchema)]
struct RevokedToken {
    id: String,
    outcome: Revoked,
}

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Revoked {
    Revoked,
}

/// A file of the inbox, or a change of workspace files.
#[derive(JsonSchema)]
#[serde(untagged)]
enum WatchLine {
    Inbox(InboxFile),
    Workspace(WorkspaceLine),
}

#[derive(JsonSchema)]
struct InboxFile {
    file: String,
    outcome: InboxOutcome,
    /// The reason why it was set aside.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
enum InboxOutcome {
    Done,
    Failed,
}

#[derive(JsonSchema)]
struct WorkspaceLine {
    workspace: WorkspaceCounts,
}

#[derive(JsonSchema)]
struct WorkspaceCounts {
    created: u64,
    replaced: u64,
    retired: u64,
}
