//! `heirloom error`.

use crate::open::Session;
use crate::wire;
use heirloom_model::{Fault, Scope};

/// Log an error, or say how one was resolved
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Log an error; the same one again is counted, not doubled
    Log {
        /// What went wrong
        text: String,
        /// The task
        #[arg(long, value_name = "ID")]
        task: Option<String>,
        /// The phase
        #[arg(long, value_name = "NAME")]
        phase: Option<String>,
        /// The iteration, from 1
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        iteration: Option<u32>,
        /// The agent
        #[arg(long, value_name = "ID")]
        agent: Option<String>,
    },
    /// Say how an open error was resolved
    Resolve {
        /// Its id, or a text that it contains
        error: String,
        /// How it was resolved
        #[arg(long = "with", value_name = "RESOLUTION")]
        resolution: String,
        /// Who says so
        #[arg(long, value_name = "ID")]
        agent: Option<String>,
    },
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    let engine = session.open()?;
    match args.action {
        Action::Log {
            text,
            task,
            phase,
            iteration,
            agent,
        } => {
            let source = agent.clone().unwrap_or_else(|| "user".to_owned());
            let scope = Scope {
                task,
                phase,
                iteration,
                agent,
                ..Scope::default()
            };
            let logged = engine.log_error(&text, scope, &source)?;
            if session.out.json {
                let mut value = wire::applied(&logged.applied);
                if let Some(before) = &logged.resolved_before {
                    value["resolved_before"] = serde_json::json!({
                        "id": before.id.to_string(),
                        "resolution": before.resolution,
                    });
                }
                session.out.value(&value);
            } else {
                session.out.line(&format!(
                    "{} {}",
                    logged.applied.id,
                    logged.applied.verdict.as_str()
                ));
                if let Some(before) = &logged.resolved_before {
                    session.out.line(&format!(
                        "the same error was resolved before: {} ({})",
                        before.resolution, before.id
                    ));
                }
            }
        }
        Action::Resolve {
            error,
            resolution,
            agent,
        } => {
            let applied =
                engine.resolve_error(&error, &resolution, agent.as_deref().unwrap_or("user"))?;
            if session.out.json {
                session.out.value(
                    &serde_json::json!({"id": applied.id.to_string(), "outcome": "resolved"}),
                );
            } else {
                session.out.line(&format!("{} resolved", applied.id));
            }
        }
    }
    Ok(0)
}
