//! `heirloom artifact`.

use crate::json_output;
use crate::store_access::CliSession;
use heirloom_engine::{
    ArtifactFilter, ArtifactStatus, Engine, NewArtifact, Remover, VerifiedArtifact,
};
use heirloom_model::kinds::ArtifactType;
use heirloom_model::{Fault, Record, Scope, text};
use serde_json::{Value, json};

/// Register files that a task produced, and check whether they have changed
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: ArtifactSubcommand,
}

#[derive(Debug, clap::Subcommand)]
enum ArtifactSubcommand {
    /// Register a file with its size and checksum
    Add {
        /// The file, relative to the project's root
        path: String,
        /// The task
        #[arg(long, value_name = "ID")]
        task: String,
        /// The agent that made it
        #[arg(long, value_name = "ID")]
        agent: Option<String>,
        /// file, patch, test, document or config
        #[arg(long = "type", value_name = "TYPE", default_value = "file")]
        artifact_type: ArtifactType,
        /// A description
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,
    },
    /// List artifacts, newest first
    List(FilterArgs),
    /// Show for each artifact whether its file is unchanged, changed or missing
    Verify {
        #[command(flatten)]
        filter: FilterArgs,
        /// End with exit code 1 if a file is changed or missing
        #[arg(long)]
        strict: bool,
    },
    /// Remove an artifact from the register; the file stays
    Remove {
        /// Its id, or the beginning of it
        id: String,
        /// user or orchestrator
        #[arg(long = "as", value_name = "ROLE")]
        role: Option<Role>,
        /// The agent that registered it
        #[arg(long, value_name = "ID", conflicts_with = "role")]
        agent: Option<String>,
    },
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Role {
    User,
    Orchestrator,
}

#[derive(Debug, clap::Args)]
struct FilterArgs {
    /// Only of this task
    #[arg(long, value_name = "ID")]
    task: Option<String>,
    /// Only of this type
    #[arg(long = "type", value_name = "TYPE")]
    artifact_type: Option<ArtifactType>,
}

impl FilterArgs {
    fn filter(self) -> ArtifactFilter {
        ArtifactFilter {
            task: self.task,
            artifact_type: self.artifact_type,
        }
    }
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    let engine = session.open()?;
    match args.action {
        ArtifactSubcommand::Add {
            path,
            task,
            agent,
            artifact_type,
            description,
        } => {
            let applied = engine.artifacts().add(&NewArtifact {
                path,
                scope: Scope {
                    agent,
                    ..Scope::of_task(&task)
                },
                artifact_type,
                description,
                digest: None,
            })?;
            print_outcome(&json_output::applied(&applied), session);
        }
        ArtifactSubcommand::List(filter) => {
            list(&engine.artifacts().list(&filter.filter())?, session)
        }
        ArtifactSubcommand::Verify { filter, strict } => {
            return verify(&engine, filter, strict, session);
        }
        ArtifactSubcommand::Remove { id, role, agent } => {
            let by = match (agent, role) {
                (Some(agent), _) => Remover::Agent(agent),
                (None, Some(Role::Orchestrator)) => Remover::Orchestrator,
                (None, Some(Role::User) | None) => Remover::User,
            };
            let id = engine
                .artifacts()
                .remove(engine.records().resolve_id(&id)?, &by)?;
            print_outcome(
                &json!({"id": id.to_string(), "outcome": "retired"}),
                session,
            );
        }
    }
    Ok(0)
}

fn print_outcome(outcome_value: &Value, session: &mut CliSession) {
    if session.out.json {
        return session.out.value(outcome_value);
    }
    let word = |name: &str| outcome_value[name].as_str().unwrap_or_default().to_owned();
    let line = format!("{} {}", word("id"), word("outcome"));
    session.out.line(&line);
}

fn list(artifacts: &[Record], session: &mut CliSession) {
    if session.out.json {
        session
            .out
            .value(&json_output::list("artifacts", artifacts));
    } else if artifacts.is_empty() {
        session
            .out
            .talk("no artifact yet: heirloom artifact add PATH --task ID");
    } else {
        let rows: Vec<_> = artifacts.iter().map(row).collect();
        session.out.table(&rows, &[0]);
    }
}

fn row(artifact: &Record) -> Vec<String> {
    let attr = |name| artifact.attr_str(name).unwrap_or_default().to_owned();
    vec![
        artifact.id.to_string(),
        attr("type"),
        artifact.scope.task.clone().unwrap_or_default(),
        artifact.text.clone(),
        text::excerpt(&attr("description"), 60),
    ]
}

fn verify(
    engine: &Engine,
    filter: FilterArgs,
    strict: bool,
    session: &mut CliSession,
) -> Result<u8, Fault> {
    let verified = engine.artifacts().verify_all(&filter.filter())?;
    if session.out.json {
        let all: Vec<_> = verified.iter().map(value).collect();
        session.out.value(&json!({ "artifacts": all }));
    } else if verified.is_empty() {
        session.out.talk("no artifact to verify");
    } else {
        let line = |one: &VerifiedArtifact| {
            let mut cells = row(&one.record);
            cells.insert(1, one.status.as_str().to_owned());
            cells.push(one.problem.clone().unwrap_or_default());
            cells
        };
        let rows: Vec<_> = verified.iter().map(line).collect();
        session.out.table(&rows, &[0]);
    }
    let is_stale = |one: &VerifiedArtifact| {
        matches!(
            one.status,
            ArtifactStatus::Changed | ArtifactStatus::Missing
        )
    };
    Ok(u8::from(strict && verified.iter().any(is_stale)))
}

fn value(one: &VerifiedArtifact) -> Value {
    let mut value = json_output::record(&one.record);
    value["status"] = one.status.as_str().into();
    value["problem"] = one.problem.clone().into();
    value
}
