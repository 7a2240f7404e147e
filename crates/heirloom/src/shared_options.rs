//! Options shared by several commands.

use clap::Args;
use heirloom_model::Timestamp;
use std::path::PathBuf;

/// Options of every command.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Options of every command")]
pub(crate) struct GlobalOptions {
    /// Folder of the project; by default it is searched upwards from the current folder
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) project_dir: Option<PathBuf>,
    /// Name of the project whose memory is used
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) project: Option<String>,
    /// Database server that several machines share, postgres://USER@HOST/DATABASE
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) store: Option<String>,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Set a config key for this call
    #[arg(long, global = true, value_name = "SECTION.KEY=VALUE")]
    pub(crate) set: Vec<String>,
}

/// Scope of a record, as options.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Where it belongs")]
pub(crate) struct ScopeArgs {
    /// The task
    #[arg(long, alias = "task-id", value_name = "ID")]
    pub(crate) task: Option<String>,
    /// The agent
    #[arg(long, alias = "agent-id", value_name = "ID")]
    pub(crate) agent: Option<String>,
    /// The plan, PLAN or STAGE/PLAN: the last part names it
    #[arg(long, value_name = "ID")]
    pub(crate) plan: Option<String>,
    /// The group of agents
    #[arg(long, value_name = "NAME")]
    pub(crate) group: Option<String>,
    /// The session
    #[arg(long, alias = "session-id", value_name = "ID")]
    pub(crate) session: Option<String>,
    /// The phase of the task
    #[arg(long, value_name = "NAME")]
    pub(crate) phase: Option<String>,
    /// The iteration of the run, from 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) iteration: Option<u32>,
}

impl ScopeArgs {
    /// Returns the scope that the options describe.
    pub(crate) fn scope(self) -> heirloom_model::Scope {
        heirloom_model::Scope {
            plan: self.plan,
            group: self.group,
            session: self.session,
            task: self.task,
            agent: self.agent,
            phase: self.phase,
            iteration: self.iteration,
        }
    }
}

/// Parses a time in RFC 3339.
pub(crate) fn time(given: &str) -> Result<Timestamp, String> {
    (given.parse()).map_err(|_| "not an RFC 3339 time, such as 2026-05-01T12:00:00Z".to_owned())
}
