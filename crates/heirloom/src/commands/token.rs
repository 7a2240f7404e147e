//! `heirloom token`.

use crate::acting_agent::require_person;
use crate::store_access::CliSession;
use clap::Subcommand;
use heirloom_fs::project_fs::display_name;
use heirloom_model::{AccessRole, Fault, ProjectName};
use serde_json::json;

/// Create, list and revoke the tokens that give access to this memory through a server
///
/// Only hashes are stored: a token is shown once, when it is created. A running server applies a change from its next
/// request on.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: TokenSubcommand,
}

#[derive(Debug, Subcommand)]
enum TokenSubcommand {
    /// Create a token; with --project it gives access to that project only
    Create(CreateArgs),
    /// List the tokens
    List,
    /// Revoke a token
    Revoke {
        /// Its id
        id: String,
    },
}

#[derive(Debug, clap::Args)]
struct CreateArgs {
    /// The role of its holder: agent, orchestrator, user or admin
    #[arg(long, value_name = "ROLE", value_parser = |given: &str| given.parse::<AccessRole>())]
    role: AccessRole,
    /// Name for people, such as the machine or the agent that gets it
    #[arg(long)]
    name: Option<String>,
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    let bound = session.named_project();
    // Ingesting pending files here would write this folder's files into the memory of the project named by --project.
    let engine = session.open_without_ingest()?;
    let tokens = engine.maintenance().tokens();
    match args.command {
        TokenSubcommand::Create(create) => {
            require_person(session, "create tokens")?;
            let project = bound.map(|name| ProjectName::new(&name)).transpose();
            let project = project.map_err(|bad| Fault::usage(bad.to_string()))?;
            let token =
                tokens.create_named(create.role, project.as_ref(), create.name.as_deref())?;
            if session.out.json {
                (session.out).value(&json!({"id": token.id, "token": token.secret}));
            } else {
                session.out.line(&token.secret);
                (session.out).talk(&format!(
                    "It is shown only once; its id is {}, its role {}.",
                    token.id, create.role
                ));
            }
        }
        TokenSubcommand::List => {
            let tokens = tokens.list()?;
            if session.out.json {
                let tokens: Vec<_> = (tokens.iter())
                    .map(|token| {
                        json!({
                            "id": token.id,
                            "name": token.name,
                            "role": token.role.as_str(),
                            "project": token.project.as_ref().map(ProjectName::as_str),
                            "created_at": token.created_at.to_string(),
                        })
                    })
                    .collect();
                session.out.value(&json!({ "tokens": tokens }));
                return Ok(0);
            }
            for token in tokens {
                let project = token.project.as_ref().map_or_else(
                    || "every project".to_owned(),
                    |name| display_name(name.as_str()),
                );
                let name = token.name.map(|name| format!("  {name}"));
                session.out.line(&format!(
                    "{}  {:<12}  {}  {project}{}",
                    token.id,
                    token.role.as_str(),
                    token.created_at,
                    name.unwrap_or_default()
                ));
            }
        }
        TokenSubcommand::Revoke { id } => {
            tokens.revoke(&id)?;
            if session.out.json {
                session.out.value(&json!({"id": id, "outcome": "revoked"}));
            } else {
                session.out.line(&format!("{id} is revoked"));
            }
        }
    }
    Ok(0)
}
