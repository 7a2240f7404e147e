//! `heirloom fleet`.

use super::token;
use crate::store_access::{CliSession, FleetStatus, fleet_status, refuse_password};
use crate::terminal_output::table;
use clap::Subcommand;
use heirloom_model::Fault;
use heirloom_model::text::counted;
use serde_json::{Value, json};

/// Prepare and examine a database server that several machines share
///
/// With `--store URL`, HEIRLOOM_STORE or `[store] url` in the user's config, all commands use the memory on that server.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: FleetSubcommand,
}

#[derive(Debug, Subcommand)]
enum FleetSubcommand {
    /// Create the tables, or migrate those of an older version; with Citus, distribute them by project
    Init(ServerArgs),
    /// Show the server, its nodes, the programs that use it, and the largest projects
    Status(ServerArgs),
    /// Create, list and revoke the tokens of servers, as `heirloom token` does
    Token(token::Args),
}

#[derive(Debug, clap::Args)]
struct ServerArgs {
    /// The database, postgres://USER@HOST:PORT/DATABASE; by default the one of the settings
    #[arg(value_name = "URL")]
    url: Option<String>,
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    match args.command {
        FleetSubcommand::Init(server) => init(&server, session),
        FleetSubcommand::Status(server) => status(&server, session),
        FleetSubcommand::Token(args) => token::run(args, session),
    }
}

fn init(args: &ServerArgs, session: &mut CliSession) -> Result<u8, Fault> {
    let status = fleet_status(checked(args)?, session, true)?;
    let is_distributed = !status.nodes.is_empty();
    if session.out.json {
        session.out.value(&json!({
            "server": status.server,
            "schema_version": status.schema_version,
            "distributed": is_distributed,
        }));
        return Ok(0);
    }
    let version = status.schema_version;
    session.out.line(&format!(
        "the tables of version {version} are in {}{}",
        status.server,
        if is_distributed {
            ", distributed by project"
        } else {
            ""
        }
    ));
    session
        .out
        .talk("next: export HEIRLOOM_STORE=postgres://USER@HOST/DATABASE on each machine");
    Ok(0)
}

fn status(args: &ServerArgs, session: &mut CliSession) -> Result<u8, Fault> {
    let status = fleet_status(checked(args)?, session, false)?;
    if session.out.json {
        session.out.value(&status_value(&status));
        return Ok(0);
    }
    session.out.line(&table(&rows(&status)));
    Ok(0)
}

fn checked(args: &ServerArgs) -> Result<Option<&str>, Fault> {
    args.url.as_deref().map_or(Ok(()), refuse_password)?;
    Ok(args.url.as_deref())
}

fn rows(status: &FleetStatus) -> Vec<Vec<String>> {
    let row = |name: &str, value: String| vec![name.to_owned(), value];
    let mut rows = vec![
        row("server", status.server.clone()),
        row("version", status.server_version.clone()),
        row(
            "schema",
            format!(
                "{} (this program: {})",
                status.schema_version, status.schema_known
            ),
        ),
        row(
            "latency",
            format!("{:.2} ms", status.latency.as_secs_f64() * 1e3),
        ),
        row("size", format!("{} MB", status.size_bytes / 1_000_000)),
        row("unmerged texts", status.unmerged_texts.to_string()),
        row("texts without vectors", status.unembedded_texts.to_string()),
    ];
    for node in &status.nodes {
        let state = match (node.is_active, node.takes_shards) {
            (false, _) => ", not active",
            (true, false) => ", takes none",
            (true, true) => "",
        };
        rows.push(row(
            "node",
            format!("{}:{}  {} shards{state}", node.host, node.port, node.shards),
        ));
    }
    for program in &status.programs {
        rows.push(row(
            "program",
            format!("{}  {} connections", program.version, program.connections),
        ));
    }
    for project in &status.projects {
        rows.push(row(
            "project",
            format!(
                "{}  {}",
                project.name,
                counted(project.texts, "text", "texts")
            ),
        ));
    }
    rows
}

fn status_value(status: &FleetStatus) -> Value {
    let nodes: Vec<_> = status
        .nodes
        .iter()
        .map(|node| {
            json!({
                "host": node.host,
                "port": node.port,
                "shards": node.shards,
                "active": node.is_active,
                "takes_shards": node.takes_shards,
            })
        })
        .collect();
    let programs: Vec<_> = status
        .programs
        .iter()
        .map(|program| json!({"version": program.version, "connections": program.connections}))
        .collect();
    let projects: Vec<_> = status
        .projects
        .iter()
        .map(|project| json!({"project": project.name.as_str(), "texts": project.texts}))
        .collect();
    json!({
        "server": status.server,
        "server_version": status.server_version,
        "schema_version": status.schema_version,
        "schema_known": status.schema_known,
        "latency_ms": status.latency.as_secs_f64() * 1e3,
        "size_bytes": status.size_bytes,
        "unmerged_texts": status.unmerged_texts,
        "unembedded_texts": status.unembedded_texts,
        "nodes": nodes,
        "programs": programs,
        "projects": projects,
    })
}
