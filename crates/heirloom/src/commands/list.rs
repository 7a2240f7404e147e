//! `heirloom list`.

use crate::json_output;
use crate::store_access::CliSession;
use crate::terminal_output::without_empty_columns;
use heirloom_engine::{AsOf, Filter, named_task};
use heirloom_model::kinds::Knowledge;
use heirloom_model::{Fault, Kind, KindData, Record, Scope, Timestamp, limits};

/// List records, newest first
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only these kinds
    #[arg(long, value_name = "KIND", num_args = 1.., value_delimiter = ',')]
    kind: Vec<Kind>,
    /// Only this category
    #[arg(long, value_name = "NAME")]
    category: Option<String>,
    /// Only keys with this prefix
    #[arg(long, value_name = "P")]
    key_prefix: Option<String>,
    /// Only records of this source: user, orchestrator, an agent's id
    #[arg(long, alias = "by", value_name = "WHO")]
    source: Option<String>,
    /// Only losers of undecided conflicts; `heirloom conflicts` shows the winners
    #[arg(long, conflicts_with_all = ["all", "as_of"])]
    conflicts: bool,
    /// Only of this task
    #[arg(long, alias = "task-id", value_name = "ID")]
    task: Option<String>,
    /// Only by this agent
    #[arg(long, alias = "agent-id", value_name = "ID")]
    agent: Option<String>,
    /// In your own memory, which is used in every project
    #[arg(long)]
    user: bool,
    /// Include past records: replaced, forgotten or pruned
    #[arg(long)]
    all: bool,
    /// Only records that were current at this recording time, whatever their valid time (2026-11-21T12:00:00Z)
    #[arg(long, value_name = "TIME", conflicts_with = "all", value_parser = crate::shared_options::time)]
    as_of: Option<Timestamp>,
    /// At most this many; 100, with --json all
    #[arg(short = 'n', short_alias = 'k', long, alias = "k", value_name = "N")]
    limit: Option<usize>,
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    if args.user && !session.has_user_memory() {
        return report_empty_user_memory(session);
    }
    let engine = session.open_memory(args.user)?;
    let filter = Filter {
        kinds: args.kind,
        category: args.category,
        key_prefix: args.key_prefix,
        source: args.source,
        open_conflict: args.conflicts,
        scope: Scope {
            task: args.task,
            agent: args.agent,
            ..Scope::default()
        },
        as_of: match (args.all || args.conflicts, args.as_of) {
            (true, _) => AsOf::Ever,
            (false, Some(time)) => AsOf::Past(time),
            (false, None) => AsOf::Current(engine.now()),
        },
        limit: args.limit.unwrap_or(if session.out.json {
            limits::FIND_MAX
        } else {
            100
        }),
        ..Filter::current(&[], engine.now())
    };
    let records = engine.records().find(&filter)?;
    if args.as_of.is_some_and(|then| then > engine.now()) {
        session
            .out
            .talk("the given time is in the future: these are the current records");
    }
    if session.out.json {
        session.out.value(&json_output::list("records", &records));
        return Ok(0);
    }
    if records.is_empty() {
        session
            .out
            .talk(match engine.records().counts()?.is_empty() {
                true => "nothing is remembered here yet: heirloom remember \"TEXT\"",
                false => "no record matches",
            });
        return Ok(0);
    }
    let rows = without_empty_columns(records.iter().map(row).collect());
    session.out.table(&rows, &[0]);
    if args.limit.is_none() && records.len() == 100 {
        session.out.talk("the newest 100; more with -n N");
    }
    Ok(0)
}

/// Reports an empty user memory without creating a store.
fn report_empty_user_memory(session: &mut CliSession) -> Result<u8, Fault> {
    if session.out.json {
        session.out.value(&json_output::list("records", &[]));
    } else {
        session
            .out
            .talk("your own memory is empty: heirloom remember --user \"TEXT\"");
    }
    Ok(0)
}

/// Returns labels for the state of a record, such as `retired`.
fn record_labels(record: &Record) -> Vec<&'static str> {
    let mut marks = Vec::new();
    if let Ok(knowledge) = Knowledge::from_record(record) {
        let is = [
            (record.is_proposal(), "proposal"),
            (knowledge.disputed, "disputed"),
            (knowledge.is_open_conflict(), "conflict"),
        ];
        marks.extend(is.iter().filter(|(is, _)| *is).map(|(_, mark)| *mark));
    }
    if record.retired_at.is_some() {
        marks.push("retired");
    }
    marks
}

/// Formats a record as cells of a table: id, category or kind, key, task, text.
fn row(record: &Record) -> Vec<String> {
    let what = match (record.category(), record.state()) {
        (Some(category), _) => category.to_owned(),
        (None, Some(state)) => format!("{}/{state}", record.kind),
        (None, None) => record.kind.to_string(),
    };
    let given = record
        .key
        .as_deref()
        .filter(|_| record.kind == Kind::Knowledge);
    let key = given.filter(|key| !Knowledge::is_derived_key(key));
    let mut words = record.text.clone();
    for mark in record_labels(record) {
        words = format!("({mark}) {words}");
    }
    vec![
        record.id.to_string(),
        what,
        key.unwrap_or_default().to_owned(),
        named_task(record.scope.task.as_deref())
            .unwrap_or_default()
            .to_owned(),
        words,
    ]
}
