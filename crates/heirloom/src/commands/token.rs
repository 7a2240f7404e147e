//! `heirloom token`.

use crate::open::Session;
use clap::Subcommand;
use heirloom_model::{AccessRole, Fault, ProjectName};
use serde_json::json;

/// Make, list and revoke the tokens that open this memory through a server
///
/// Only hashes are kept: a token is told once, when it is made. A server that runs heeds a change from its next request
/// on.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Make one; with --project it opens that project only
    Create(Create),
    /// Name those that there are
    List,
    /// Take one away
    Revoke {
        /// Its id
        id: String,
    },
}

#[derive(Debug, clap::Args)]
struct Create {
    /// What its holder is: agent, orchestrator, user or admin
    #[arg(long, value_name = "ROLE", value_parser = |given: &str| given.parse::<AccessRole>())]
    role: AccessRole,
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    let bound = session.named_project();
    let tokens = session.open()?.tokens();
    match args.command {
        Command::Create(create) => {
            let project = bound.map(|name| ProjectName::new(&name)).transpose();
            let project = project.map_err(|bad| Fault::usage(bad.to_string()))?;
            let token = tokens.create(create.role, project)?;
            if session.out.json {
                (session.out).value(&json!({"id": token.id, "token": token.secret}));
            } else {
                session.out.line(&token.secret);
                (session.out).talk(&format!(
                    "It is told this once; its id is {}, its role {}.",
                    token.id, create.role
                ));
            }
        }
        Command::List => {
            let tokens = tokens.list()?;
            if session.out.json {
                let tokens: Vec<_> = (tokens.iter())
                    .map(|token| {
                        json!({
                            "id": token.id,
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
                let project = token
                    .project
                    .as_ref()
                    .map_or("every project", ProjectName::as_str);
                session.out.line(&format!(
                    "{}  {:<12}  {}  {project}",
                    token.id, token.role, token.created_at
                ));
            }
        }
        Command::Revoke { id } => {
            tokens.revoke(&id)?;
            if session.out.json {
                session.out.value(&json!({"id": id, "outcome": "revoked"}));
            } else {
                session.out.line(&format!("{id} opens nothing any more"));
            }
        }
    }
    Ok(0)
}
