//! Answers of the commands for a database that many machines share.

use crate::schema_files::AnswerSchema;
use schemars::JsonSchema;
use std::collections::BTreeMap;

pub(super) fn schemas() -> Vec<AnswerSchema> {
    vec![
        AnswerSchema::value::<FleetInit>("fleet-init.json", &["fleet init"]),
        AnswerSchema::value::<FleetStatus>("fleet-status.json", &["fleet status"]),
        AnswerSchema::value::<Transfer>("transfer.json", &["transfer"]),
    ]
}

#[derive(JsonSchema)]
struct FleetInit {
    /// Hosts, ports and the name of the database.
    server: String,
    schema_version: u32,
    /// True if Citus distributes the tables by project.
    distributed: bool,
}

#[derive(JsonSchema)]
struct FleetStatus {
    /// Hosts, ports and the name of the database.
    server: String,
    server_version: String,
    /// Version of the tables.
    schema_version: u32,
    /// Newest version that this program supports.
    schema_known: u32,
    /// Time of one round trip.
    latency_ms: f64,
    size_bytes: u64,
    /// Texts that are not merged into blocks of the index yet.
    unmerged_texts: u64,
    /// Texts whose vectors are missing.
    unembedded_texts: u64,
    /// Nodes of Citus; empty without it.
    nodes: Vec<Node>,
    /// Versions of Heirloom that are connected.
    programs: Vec<Program>,
    /// The largest projects.
    projects: Vec<Project>,
}

#[derive(JsonSchema)]
struct Node {
    host: String,
    port: u16,
    shards: u64,
    active: bool,
    /// False for a coordinator on which Citus places no shards.
    takes_shards: bool,
}

#[derive(JsonSchema)]
struct Program {
    version: String,
    connections: u64,
}

#[derive(JsonSchema)]
struct Project {
    project: String,
    texts: u64,
}

#[derive(JsonSchema)]
struct Transfer {
    projects: Vec<ProjectTransfer>,
}

#[derive(JsonSchema)]
struct ProjectTransfer {
    project: String,
    /// False if the target had all of it already.
    copied: bool,
    /// Number of rows by table.
    rows: BTreeMap<String, u64>,
    /// Checksum of all rows.
    checksum: String,
}
