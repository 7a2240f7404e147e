//! `heirloom list`.

use crate::open::Session;
use crate::{output, wire};
use heirloom_engine::{Filter, When};
use heirloom_model::kinds::Knowledge;
use heirloom_model::{Fault, Kind, KindData, Record, Scope, Timestamp, limits, text};

/// List records, newest first
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only these kinds
    #[arg(long, value_name = "KIND", num_args = 1.., value_delimiter = ',')]
    kind: Vec<Kind>,
    /// Only this category
    #[arg(long, value_name = "NAME")]
    category: Option<String>,
    /// Only keys that begin with this
    #[arg(long, value_name = "P")]
    key_prefix: Option<String>,
    /// Only what this source said: user, orchestrator, an agent's id
    #[arg(long, value_name = "WHO")]
    source: Option<String>,
    /// What lost a conflict that nobody has decided; `heirloom conflicts` shows against what
    #[arg(long, conflicts_with_all = ["all", "as_of"])]
    conflicts: bool,
    /// Only of this task
    #[arg(long, value_name = "ID")]
    task: Option<String>,
    /// Only by this agent
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
    /// Of your own memory, which holds in every project
    #[arg(long)]
    user: bool,
    /// The past too: what was replaced, forgotten or pruned
    #[arg(long)]
    all: bool,
    /// What was recorded and current at this time, whenever it holds (2026-11-21T12:00:00Z)
    #[arg(long, value_name = "TIME", conflicts_with = "all", value_parser = crate::options::time)]
    as_of: Option<Timestamp>,
    /// At most this many; 100, with --json all
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    if args.user && !session.has_user_memory() {
        return nothing_own(session);
    }
    let engine = session.open_of(args.user)?;
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
        when: match (args.all || args.conflicts, args.as_of) {
            (true, _) => When::Ever,
            (false, Some(time)) => When::AsOf(time),
            (false, None) => When::Current(engine.now()),
        },
        limit: args.limit.unwrap_or(if session.out.json {
            limits::FIND_MAX
        } else {
            100
        }),
        ..Filter::current(&[], engine.now())
    };
    let records = engine.find(&filter)?;
    if args.as_of.is_some_and(|then| then > engine.now()) {
        session
            .out
            .talk("the time that is asked for lies in the future: this is what is known now");
    }
    if session.out.json {
        session.out.value(&wire::list("records", &records));
        return Ok(0);
    }
    if records.is_empty() {
        session.out.talk(match engine.counts()?.is_empty() {
            true => "nothing is remembered here yet: heirloom remember \"TEXT\"",
            false => "no record fits",
        });
        return Ok(0);
    }
    session
        .out
        .line(&output::table(&records.iter().map(row).collect::<Vec<_>>()));
    if args.limit.is_none() && records.len() == 100 {
        session.out.talk("the newest 100; more with -n N");
    }
    Ok(0)
}

/// Nobody has kept anything of their own yet: no store is made to find that out.
fn nothing_own(session: &mut Session) -> Result<u8, Fault> {
    if session.out.json {
        session.out.value(&wire::list("records", &[]));
    } else {
        session
            .out
            .talk("nothing of your own is remembered yet: heirloom remember --user \"TEXT\"");
    }
    Ok(0)
}

/// What is to be said of a record besides its words.
fn marks(record: &Record) -> Vec<&'static str> {
    let mut marks = Vec::new();
    if let Ok(knowledge) = Knowledge::of(record) {
        let is = [
            (knowledge.proposal, "proposal"),
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

/// One record as cells of a table.
pub(super) fn row(record: &Record) -> Vec<String> {
    let what = match (record.category(), record.state()) {
        (Some(category), _) => format!("{}/{category}", record.kind),
        (None, Some(state)) => format!("{}/{state}", record.kind),
        (None, None) => record.kind.to_string(),
    };
    let mut words = text::excerpt(&record.text, 90);
    for mark in marks(record) {
        words = format!("({mark}) {words}");
    }
    vec![
        record.id.to_string(),
        what,
        record.scope.task.clone().unwrap_or_default(),
        words,
    ]
}
