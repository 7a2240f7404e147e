//! `heirloom episode`.

use crate::json_output;
use crate::store_access::CliSession;
use heirloom_engine::{EpisodeFilter, NewEpisode};
use heirloom_model::kinds::EpisodeAction;
use heirloom_model::{Fault, Record, Scope, Timestamp, text};

/// Log attempts at a task and their outcome, or list them
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: EpisodeSubcommand,
}

#[derive(Debug, clap::Subcommand)]
enum EpisodeSubcommand {
    /// Log an attempt; an unknown task is created
    Log(Box<LogArgs>),
    /// List attempts, newest first
    List {
        /// Only of this task
        #[arg(long, value_name = "ID")]
        task: Option<String>,
        /// Only by this agent
        #[arg(long, value_name = "ID")]
        agent: Option<String>,
        /// Only attempted, completed, failed or retried ones
        #[arg(long, value_name = "ACTION")]
        action: Option<EpisodeAction>,
        /// Only from this time on (2026-11-21T12:00:00Z)
        #[arg(long, value_name = "TIME", value_parser = crate::shared_options::time)]
        since: Option<Timestamp>,
        /// Only up to this time
        #[arg(long, value_name = "TIME", value_parser = crate::shared_options::time)]
        until: Option<Timestamp>,
        /// At most this many; 100, with --json all
        #[arg(short = 'n', long, value_name = "N")]
        limit: Option<usize>,
    },
}

#[derive(Debug, clap::Args)]
struct LogArgs {
    /// The task
    #[arg(long, value_name = "ID")]
    task: String,
    /// The agent
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
    /// attempted, completed, failed or retried
    #[arg(long, value_name = "ACTION")]
    action: EpisodeAction,
    /// The approach
    #[arg(long, value_name = "TEXT")]
    approach: Option<String>,
    /// The outcome
    #[arg(long, value_name = "TEXT")]
    outcome: Option<String>,
    /// Duration in milliseconds
    #[arg(long, value_name = "N")]
    duration_ms: Option<u64>,
    /// Tokens read
    #[arg(long, value_name = "N")]
    tokens_in: Option<u64>,
    /// Tokens written
    #[arg(long, value_name = "N")]
    tokens_out: Option<u64>,
    /// The phase of the task
    #[arg(long, value_name = "NAME")]
    phase: Option<String>,
    /// The session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

/// Attempts that are listed by default in text output.
const LIST_LIMIT_DEFAULT: usize = 100;

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    match args.action {
        EpisodeSubcommand::Log(log) => run_log(*log, session)?,
        EpisodeSubcommand::List {
            task,
            agent,
            action,
            since,
            until,
            limit,
        } => {
            let default_limit = (!session.out.json).then_some(LIST_LIMIT_DEFAULT);
            let filter = EpisodeFilter {
                task,
                agent,
                action,
                since,
                until,
                limit: limit.or(default_limit),
            };
            list(&filter, limit.is_none(), session)?;
        }
    }
    Ok(0)
}

fn run_log(log: LogArgs, session: &mut CliSession) -> Result<(), Fault> {
    let engine = session.open()?;
    let applied = engine.tasks().log_episode(NewEpisode {
        scope: Scope {
            agent: log.agent,
            phase: log.phase,
            session: log.session,
            ..Scope::of_task(&log.task)
        },
        source: None,
        action: log.action,
        approach: log.approach,
        outcome: log.outcome,
        duration_ms: log.duration_ms,
        tokens_in: log.tokens_in,
        tokens_out: log.tokens_out,
    })?;
    if session.out.json {
        session.out.value(&json_output::applied(&applied));
    } else {
        let id = session.out.id(applied.id);
        let line = format!("{id} {}", applied.verdict.as_str());
        session.out.painted_line(&line);
    }
    Ok(())
}

fn list(
    filter: &EpisodeFilter,
    is_limited_by_default: bool,
    session: &mut CliSession,
) -> Result<(), Fault> {
    let episodes = session.open()?.tasks().episodes(filter)?;
    if session.out.json {
        session.out.value(&json_output::list("episodes", &episodes));
        return Ok(());
    }
    if episodes.is_empty() {
        session.out.talk(
            "no matching episode: heirloom episode log --task ID --action failed --approach TEXT",
        );
        return Ok(());
    }
    let rows: Vec<_> = episodes.iter().map(row).collect();
    session.out.table(&rows, &[0]);
    if is_limited_by_default && episodes.len() == LIST_LIMIT_DEFAULT {
        session.out.talk("the newest 100; more with -n N");
    }
    Ok(())
}

fn row(episode: &Record) -> Vec<String> {
    vec![
        episode.id.to_string(),
        episode.scope.task.clone().unwrap_or_default(),
        (episode.scope.agent.clone()).unwrap_or_else(|| episode.source.clone()),
        episode.attr_str("action").unwrap_or_default().to_owned(),
        text::excerpt(&episode.text, 90),
    ]
}
