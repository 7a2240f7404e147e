//! Answers about files: workspace, groups, custom commands, secrets.

use crate::schema_files::AnswerSchema;
use schemars::JsonSchema;

pub(super) fn schemas() -> Vec<AnswerSchema> {
    vec![
        AnswerSchema::value::<WorkspaceEntry>(
            "workspace-entry.json",
            &[
                "workspace daily",
                "workspace error",
                "workspace fact",
                "workspace feature",
                "workspace learning",
            ],
        ),
        AnswerSchema::value::<WorkspaceText>("workspace-show.json", &["workspace show"]),
        AnswerSchema::value::<WorkspaceSync>("workspace-sync.json", &["workspace sync"]),
        AnswerSchema::value::<GroupNote>("group-note.json", &["group note"]),
        AnswerSchema::value::<GroupContent>("group-show.json", &["group show"]),
        AnswerSchema::value::<Groups>("groups.json", &["group list"]),
        AnswerSchema::value::<CommandList>("cmd-list.json", &["cmd list"]),
        AnswerSchema::value::<CommandDetails>("cmd-show.json", &["cmd show"]),
        AnswerSchema::value::<CommandRun>("cmd-run.json", &["cmd run"]),
        AnswerSchema::value::<CommandTrust>("cmd-trust.json", &["cmd trust"]),
        AnswerSchema::value::<Trust>("trust.json", &["trust"]),
        AnswerSchema::value::<NewCommand>("cmd-new.json", &["cmd new"]),
        AnswerSchema::value::<RedactAnswer>("redact.json", &["redact"]),
    ]
}

/// Parts of a project that are not from the person, with the decisions about them.
#[derive(JsonSchema)]
struct Trust {
    items: Vec<TrustedItem>,
}

#[derive(JsonSchema)]
struct TrustedItem {
    /// `memory`, the path of a file, or `command:NAME`.
    name: String,
    kind: TrustedKind,
    state: TrustState,
    summary: String,
    /// True if this call decided about it.
    decided: bool,
}

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
enum TrustedKind {
    Memory,
    File,
    Command,
}

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
enum TrustState {
    Used,
    Undecided,
    #[serde(rename = "not used")]
    NotUsed,
}

#[derive(JsonSchema)]
struct WorkspaceEntry {
    path: String,
    outcome: EntryOutcome,
    /// The file to which the oldest entries were moved.
    archived: Option<String>,
    /// The kinds of secrets that were left out, one for each secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    redacted: Option<Vec<String>>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
enum EntryOutcome {
    Added,
    Unchanged,
}

/// The part of the workspace files that prompts get.
#[derive(JsonSchema)]
struct WorkspaceText {
    text: String,
    notes: Vec<String>,
}

#[derive(JsonSchema)]
struct WorkspaceSync {
    created: u64,
    replaced: u64,
    retired: u64,
    notes: Vec<String>,
}

#[derive(JsonSchema)]
struct GroupNote {
    id: String,
    outcome: NoteOutcome,
    group: String,
    file: String,
    /// The number of earlier notes that the file lacked and has again.
    #[serde(skip_serializing_if = "Option::is_none")]
    mended: Option<u64>,
    /// The kinds of secrets that were left out, one for each secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    redacted: Option<Vec<String>>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
enum NoteOutcome {
    Created,
}

#[derive(JsonSchema)]
struct GroupContent {
    group: String,
    sections: Vec<GroupSection>,
}

#[derive(JsonSchema)]
struct GroupSection {
    name: String,
    heading: String,
    items: Vec<GroupItem>,
    notes: Vec<String>,
}

#[derive(JsonSchema)]
struct GroupItem {
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
}

#[derive(JsonSchema)]
struct Groups {
    groups: Vec<Group>,
}

#[derive(JsonSchema)]
struct Group {
    name: String,
    files: Vec<String>,
}

#[derive(JsonSchema)]
struct CommandList {
    /// By name; of one name the command that is used comes first.
    commands: Vec<CustomCommand>,
    /// Files and folders that were left out, with the reason.
    left_out: Vec<String>,
}

#[derive(JsonSchema)]
struct CustomCommand {
    name: String,
    description: String,
    source: CommandSource,
    file: String,
    sha256: String,
    /// The highest `{{argN}}`.
    arguments: u64,
    argument_names: Vec<String>,
    /// True for a template with `{{args}}`.
    takes_all: bool,
    runs_programs: bool,
    timeout_s: u64,
    trusted: bool,
    allowed: bool,
    /// True if another command of this name is used.
    hidden: bool,
    problems: Vec<String>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
enum CommandSource {
    Project,
    Radium,
    User,
    #[serde(rename = "user-radium")]
    UserRadium,
}

#[derive(JsonSchema)]
struct CommandDetails {
    #[serde(flatten)]
    command: CustomCommand,
    /// Its file.
    text: String,
}

#[derive(JsonSchema)]
struct CommandRun {
    name: String,
    /// The prompt.
    text: String,
    programs: Vec<ProgramRun>,
    notes: Vec<String>,
}

#[derive(JsonSchema)]
struct ProgramRun {
    script: String,
    exit_code: i64,
    duration_ms: u64,
}

#[derive(JsonSchema)]
struct CommandTrust {
    name: String,
    file: String,
    sha256: String,
    trusted: bool,
    outcome: TrustOutcome,
}

#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
enum TrustOutcome {
    Trusted,
    Distrusted,
    Unchanged,
}

#[derive(JsonSchema)]
struct NewCommand {
    name: String,
    file: String,
}

/// The text without its secrets; with `--check` the secrets that were found.
#[derive(JsonSchema)]
#[serde(untagged)]
enum RedactAnswer {
    Text(RedactedText),
    Findings(SecretFindings),
}

#[derive(JsonSchema)]
struct RedactedText {
    text: String,
    /// The kinds of secrets that were left out, one for each secret.
    redacted: Vec<String>,
}

#[derive(JsonSchema)]
struct SecretFindings {
    findings: Vec<SecretFinding>,
    /// The number of files that were read.
    files: u64,
    bytes: u64,
    /// The number of findings beyond 10,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    unlisted: Option<u64>,
}

#[derive(JsonSchema)]
struct SecretFinding {
    path: String,
    /// From 1.
    line: u64,
    /// From 1, in characters.
    column: u64,
    kind: String,
    /// In bytes.
    length: u64,
}
