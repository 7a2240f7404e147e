//! `heirloom error`.

use super::session::text_or_input;
use crate::json_output;
use crate::store_access::CliSession;
use heirloom_model::{Fault, Scope};

/// Log an error, or record how one was resolved
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: ErrorSubcommand,
}

#[derive(Debug, clap::Subcommand)]
enum ErrorSubcommand {
    /// Log an error; a repeated error is counted, not duplicated
    Log {
        /// The error; - reads it from standard input
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
    /// Record how an open error was resolved
    Resolve {
        /// Its id, or a text that it contains
        error: String,
        /// The resolution; - reads it from standard input
        #[arg(long = "with", value_name = "RESOLUTION")]
        resolution: String,
        /// The agent that reports it
        #[arg(long, value_name = "ID")]
        agent: Option<String>,
    },
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    let engine = session.open()?;
    match args.action {
        ErrorSubcommand::Log {
            text,
            task,
            phase,
            iteration,
            agent,
        } => {
            let text = text_or_input(text, "an error")?;
            let source = agent.clone().unwrap_or_else(|| "user".to_owned());
            let scope = Scope {
                task,
                phase,
                iteration,
                agent,
                ..Scope::default()
            };
            let logged = engine.errors().log(&text, scope, &source)?;
            if session.out.json {
                let mut value = json_output::applied(&logged.applied);
                if let Some(earlier) = &logged.resolved_before {
                    value["resolved_before"] = serde_json::json!({
                        "id": earlier.id.to_string(),
                        "resolution": earlier.resolution,
                    });
                }
                session.out.value(&value);
            } else {
                let id = session.out.id(logged.applied.id);
                let line = format!("{id} {}", logged.applied.verdict.as_str());
                session.out.painted_line(&line);
                if let Some(earlier) = &logged.resolved_before {
                    session.out.line(&format!(
                        "the same error was resolved before: {} ({})",
                        earlier.resolution, earlier.id
                    ));
                }
            }
        }
        ErrorSubcommand::Resolve {
            error,
            resolution,
            agent,
        } => {
            let resolution = text_or_input(resolution, "a resolution")?;
            let applied =
                engine
                    .errors()
                    .resolve(&error, &resolution, agent.as_deref().unwrap_or("user"))?;
            if session.out.json {
                session.out.value(
                    &serde_json::json!({"id": applied.id.to_string(), "outcome": "resolved"}),
                );
            } else {
                let id = session.out.id(applied.id);
                session.out.painted_line(&format!("{id} resolved"));
            }
        }
    }
    Ok(0)
}
