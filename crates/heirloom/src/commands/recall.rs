//! `heirloom recall`.

use super::session::standard_input;
use crate::open::Session;
use crate::wire;
use heirloom_engine::recall::ask::is_turn;
use heirloom_engine::recall::{Item, Ranked};
use heirloom_engine::{RecallRequest, Recalled, Whose};
use heirloom_model::kinds::Knowledge;
use heirloom_model::{Fault, Kind, KindData, Record, Scope, Timestamp, limits, text};
use serde_json::json;
use std::mem::ManuallyDrop;

/// Ask memory: what fits the question best, whatever its kind
#[derive(Debug, clap::Args)]
#[command(after_help = "In the question:
  \"two words\"                 both, next to each other
  kind:error task:42          narrows; also agent plan group session phase category source key before after on
  last week, on 3 May         ranks what was written then higher

  heirloom recall \"why does the deploy fail\" -k 5
  git log -1 --format=%B | heirloom recall -")]
pub(crate) struct Args {
    /// The question; - reads it from standard input
    #[arg(value_name = "QUERY", allow_hyphen_values = true)]
    query: String,
    /// At most so many hits; 10, or what fits the budget
    #[arg(short = 'k', value_name = "N")]
    k: Option<usize>,
    /// At most so many tokens of text
    #[arg(long, value_name = "N")]
    budget_tokens: Option<usize>,
    /// Only these kinds; message for turns of conversations
    #[arg(long, value_name = "KIND", num_args = 1.., value_delimiter = ',', value_parser = what)]
    kind: Vec<What>,
    /// Only of this task
    #[arg(long, value_name = "ID")]
    task: Option<String>,
    /// Rank what belongs to this task higher
    #[arg(long, value_name = "ID")]
    near_task: Option<String>,
    /// What was current at this time (2026-11-21T12:00:00Z)
    #[arg(long, value_name = "TIME", value_parser = crate::options::time)]
    as_of: Option<Timestamp>,
    /// Show what each score is made of
    #[arg(long)]
    explain: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Turns,
    Records(Kind),
}

fn what(given: &str) -> Result<What, String> {
    if is_turn(given) {
        return Ok(What::Turns);
    }
    let kind = given.parse::<Kind>();
    kind.map(What::Records)
        .map_err(|bad| format!("{bad}, message"))
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    session.is_waited_for();
    // It only reads, and ends with the process: that is sooner than to close it.
    let engine = ManuallyDrop::new(session.open_with_embedder()?);
    let question = if args.query == "-" {
        standard_input(limits::RECALL_QUERY_BYTES_MAX, "a question")?
    } else {
        args.query
    };
    let of_kind = |what: &What| match what {
        What::Turns => None,
        What::Records(kind) => Some(*kind),
    };
    let scope = |task: Option<String>| Scope {
        task,
        ..Scope::default()
    };
    let request = RecallRequest {
        question,
        k: args.k,
        budget_tokens: args.budget_tokens,
        kinds: args.kind.iter().filter_map(of_kind).collect(),
        turns: args.kind.contains(&What::Turns),
        scope: scope(args.task),
        near: scope(args.near_task),
        as_of: args.as_of,
        ..RecallRequest::default()
    };
    let (recalled, whose) = match session.user_memory() {
        Some(user) => engine.recall_with(&user, &request)?,
        None => (engine.recall(&request)?, Vec::new()),
    };
    if session.out.json {
        let hits: Vec<_> = recalled
            .hits
            .iter()
            .enumerate()
            .map(|(at, hit)| {
                let mut value = wire::hit(hit, args.explain);
                if whose.get(at) == Some(&Whose::User) {
                    value["from"] = json!("user");
                }
                value
            })
            .collect();
        let mut value = json!({"hits": hits, "took_us": recalled.took_us});
        if !recalled.notes.is_empty() {
            value["notes"] = json!(recalled.notes);
        }
        session.out.value(&value);
    } else {
        let is_empty = recalled.hits.is_empty() && engine.counts()?.is_empty();
        show(&recalled, &whose, args.explain, is_empty, session);
    }
    Ok(0)
}

fn show(
    recalled: &Recalled,
    whose: &[Whose],
    explain: bool,
    is_empty: bool,
    session: &mut Session,
) {
    for note in &recalled.notes {
        session.out.talk(&format!("heirloom: {note}"));
    }
    if recalled.hits.is_empty() {
        session.out.talk(match is_empty {
            true => "nothing is remembered here yet: heirloom remember \"TEXT\"",
            false => "nothing that is remembered fits",
        });
    }
    for (at, hit) in recalled.hits.iter().enumerate() {
        let words = text::excerpt(hit.item.text(), 160);
        session
            .out
            .line(&format!("{:6.2}  {words}", hit.parts.total));
        let own = match whose.get(at) {
            Some(Whose::User) => "user · ",
            Some(Whose::Project) | None => "",
        };
        session.out.line(&format!("        {own}{}", place(hit)));
        if explain {
            session.out.line(&format!("        {}", parts(hit)));
        }
    }
}

/// What it is, where it belongs, who said it and when.
fn place(hit: &Ranked) -> String {
    let what = match &hit.item {
        Item::Record(record) => match (record.category(), record.state()) {
            (Some(category), _) => format!("{}/{category}", record.kind),
            (None, Some(state)) => format!("{}/{state}", record.kind),
            (None, None) => record.kind.to_string(),
        },
        Item::Turn { session, .. } => format!("turn of {session}"),
    };
    let task = match &hit.item {
        Item::Record(record) => record.scope.task.as_deref(),
        Item::Turn { .. } => None,
    };
    let task = task.map_or_else(String::new, |task| format!(" · task {task}"));
    let day = day_of(hit.item.recorded_at());
    let holds = match &hit.item {
        Item::Record(record) if record.kind == Kind::Knowledge => holds(record),
        Item::Record(_) | Item::Turn { .. } => String::new(),
    };
    let folded = match hit.folded.len() {
        0 => String::new(),
        more => format!(" · and {more} like it"),
    };
    format!(
        "{} · {what}{task} · {} · {day}{holds}{folded}",
        hit.item.id(),
        hit.item.source()
    )
}

/// Since when, until when and whether it holds, where that was said.
fn holds(record: &Record) -> String {
    let from = (record.true_from).map(|time| format!(" · from {}", day_of(time)));
    let to = (record.true_to).map(|time| format!(" · until {}", day_of(time)));
    let disputed = Knowledge::of(record).is_ok_and(|knowledge| knowledge.disputed);
    let disputed = disputed.then(|| " · disputed".to_owned());
    [from, to, disputed].into_iter().flatten().collect()
}

fn day_of(time: Timestamp) -> String {
    let day = time.to_string();
    day.get(..10).unwrap_or(&day).to_owned()
}

/// The parts of a score that are something.
fn parts(hit: &Ranked) -> String {
    let named = hit.parts.named();
    let some = named.iter().filter(|(_, value)| value.abs() >= 0.0005);
    let some: Vec<_> = some
        .map(|(name, value)| format!("{name} {value:.3}"))
        .collect();
    some.join(" · ")
}
