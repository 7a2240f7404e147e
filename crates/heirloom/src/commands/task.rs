//! `heirloom task`.

use crate::json_output;
use crate::store_access::CliSession;
use heirloom_engine::{Engine, TaskChange};
use heirloom_model::kinds::TaskState;
use heirloom_model::{Fault, Record};
use serde_json::json;

/// Set, show and list tasks
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: TaskSubcommand,
}

#[derive(Debug, clap::Subcommand)]
enum TaskSubcommand {
    /// Set properties of a task; others stay unchanged
    Set {
        /// The task
        id: String,
        /// issue, pr, or any other word
        #[arg(long = "type", value_name = "TYPE")]
        task_type: Option<String>,
        /// The title; an empty text removes it
        #[arg(long, value_name = "TEXT")]
        title: Option<String>,
        /// The phase it is in
        #[arg(long, value_name = "NAME")]
        phase: Option<String>,
        /// The branch it is worked on
        #[arg(long, value_name = "NAME")]
        branch: Option<String>,
        /// The pull request
        #[arg(long, value_name = "N")]
        pr: Option<u64>,
        /// The reason why it is blocked; an empty text unblocks it
        #[arg(long, value_name = "WHY")]
        blocked: Option<String>,
    },
    /// Show a task with its steps, files and open errors
    Show {
        /// The task
        id: String,
    },
    /// List the tasks, newest first
    List,
    /// Mark a task as finished
    Done(EndArgs),
    /// Mark a task as given up
    Fail(EndArgs),
}

#[derive(Debug, clap::Args)]
struct EndArgs {
    /// The task
    id: String,
    /// The agent that worked on it
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
    /// The approach
    #[arg(long, value_name = "TEXT")]
    approach: Option<String>,
    /// The outcome
    #[arg(long, value_name = "TEXT")]
    outcome: Option<String>,
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    let engine = session.open()?;
    match args.action {
        TaskSubcommand::Set {
            id,
            task_type,
            title,
            phase,
            branch,
            pr,
            blocked,
        } => {
            let change = TaskChange {
                task_type,
                title,
                phase,
                branch,
                pr_number: pr,
                blocked_reason: blocked,
                ..TaskChange::default()
            };
            let applied = engine.tasks().set(&id, &change, "user")?;
            if session.out.json {
                session.out.value(&json_output::applied(&applied));
            } else {
                session
                    .out
                    .line(&format!("task {id}: {}", applied.verdict.as_str()));
            }
        }
        TaskSubcommand::Show { id } => show(&engine, &id, session)?,
        TaskSubcommand::List => {
            let tasks = engine.tasks().list()?;
            if session.out.json {
                session.out.value(&json_output::list("tasks", &tasks));
            } else if tasks.is_empty() {
                session
                    .out
                    .talk("no task yet: heirloom task set ID --type issue");
            } else {
                session
                    .out
                    .table(&tasks.iter().map(row).collect::<Vec<_>>(), &[]);
            }
        }
        TaskSubcommand::Done(end) => finish(&engine, end, TaskState::Done, session)?,
        TaskSubcommand::Fail(end) => finish(&engine, end, TaskState::Failed, session)?,
    }
    Ok(0)
}

fn finish(
    engine: &Engine,
    end: EndArgs,
    state: TaskState,
    session: &mut CliSession,
) -> Result<(), Fault> {
    let episode =
        engine
            .tasks()
            .finish_task(&end.id, state, end.agent, end.approach, end.outcome)?;
    if session.out.json {
        session
            .out
            .value(&json!({"id": end.id, "state": state.as_str(), "episode": episode.to_string()}));
    } else {
        session
            .out
            .line(&format!("task {}: {}", end.id, state.as_str()));
    }
    Ok(())
}

fn row(task: &Record) -> Vec<String> {
    let attr = |name| task.attr_str(name).unwrap_or_default().to_owned();
    let blocked = attr("blocked_reason");
    vec![
        task.key.clone().unwrap_or_default(),
        task.attr_str("title").unwrap_or(&task.text).to_owned(),
        task.scope.phase.clone().unwrap_or_default(),
        attr("branch"),
        if blocked.is_empty() {
            attr("state")
        } else {
            format!("blocked: {blocked}")
        },
    ]
}

fn show(engine: &Engine, id: &str, session: &mut CliSession) -> Result<(), Fault> {
    let details = engine.tasks().get(id)?;
    if session.out.json {
        let mut value = json_output::record(&details.task);
        for (name, records) in [
            ("completed_steps", &details.completed),
            ("pending_steps", &details.pending),
            ("files", &details.files),
            ("open_errors", &details.open_errors),
        ] {
            value[name] = json_output::list("records", records)["records"].take();
        }
        session.out.value(&value);
        return Ok(());
    }
    session.out.table(&[row(&details.task)], &[]);
    for (title, records) in [
        ("Completed", &details.completed),
        ("Pending", &details.pending),
        ("Files modified", &details.files),
        ("Open errors", &details.open_errors),
    ] {
        if !records.is_empty() {
            session.out.line(&format!("\n{title}"));
            let rows: Vec<_> = records
                .iter()
                .map(|r| vec![String::new(), r.id.to_string(), r.text.clone()])
                .collect();
            session.out.table(&rows, &[1]);
        }
    }
    Ok(())
}
