//! `heirloom recall`.

use super::session::{join_words, read_standard_input};
use crate::json_output;
use crate::store_access::CliSession;
use crate::terminal_output::DIM_STYLE;
use clap::builder::styling::AnsiColor;
use heirloom_engine::{ConversationHits, MemoryOwner, RecallReport, RecallRequest, named_task};
use heirloom_model::kinds::Knowledge;
use heirloom_model::record_meaning::record_meaning_excerpt;
use heirloom_model::{Fault, Kind, KindData, Record, Scope, Timestamp, limits, text};
use heirloom_search::recall::query::is_turn_kind;
use heirloom_search::recall::{Ranked, RecallItem};
use heirloom_search::relevance::Grade;
use serde_json::json;
use std::mem::ManuallyDrop;

/// Search memory: what fits the question best, of every kind
#[derive(Debug, clap::Args)]
// The further words are hidden, so that one description is enough.
#[command(override_usage = "heirloom recall [OPTIONS] <QUERY>...")]
#[command(after_help = "In the question:
  \"two words\"                 both, next to each other
  kind:error task:42          filters; also agent plan group session
                              phase category source key before after on
  last week, on 3 May         ranks records of that time higher

  heirloom recall why does the deploy fail -k 5
  git log -1 --format=%B | heirloom recall -")]
pub(crate) struct Args {
    /// The question, in one or several words; - reads it from standard input
    #[arg(value_name = "QUERY", allow_hyphen_values = true)]
    query: String,
    /// Further words of the question
    #[arg(value_name = "WORDS", hide = true)]
    words: Vec<String>,
    /// At most this many hits; 10, or as many as fit the budget
    #[arg(
        short = 'k',
        short_alias = 'n',
        long = "limit",
        alias = "k",
        value_name = "N"
    )]
    k: Option<usize>,
    /// At most this many tokens of text
    #[arg(long, value_name = "N")]
    budget_tokens: Option<usize>,
    /// Only these kinds; message for turns of conversations
    #[arg(long, value_name = "KIND", num_args = 1.., value_delimiter = ',', value_parser = parse_kind)]
    kind: Vec<KindFilter>,
    /// Only of this task
    #[arg(long, alias = "task-id", value_name = "ID")]
    task: Option<String>,
    /// Rank records of this task higher
    #[arg(long, value_name = "ID")]
    near_task: Option<String>,
    /// Search the records that were current at this time (2026-11-21T12:00:00Z)
    #[arg(long, value_name = "TIME", value_parser = crate::shared_options::time)]
    as_of: Option<Timestamp>,
    /// Show the parts of each score
    #[arg(long)]
    explain: bool,
    /// Show weak hits too, which are probably not about the question
    #[arg(long)]
    all: bool,
    /// Show all turns of conversations that fit, instead of the best one of three conversations
    #[arg(long)]
    conversations: bool,
    /// Search only records, or only conversations
    #[arg(long, value_name = "LANE", conflicts_with = "kind")]
    only: Option<SearchedLane>,
    /// With --json: turns among the hits, as in version 1 of the contract
    #[arg(long, hide = true)]
    messages: bool,
}

/// Lane that is searched if not both are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum SearchedLane {
    Memory,
    Conversations,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KindFilter {
    Turns,
    Records(Kind),
}

fn parse_kind(argument: &str) -> Result<KindFilter, String> {
    if is_turn_kind(argument) {
        return Ok(KindFilter::Turns);
    }
    let kind = argument.parse::<Kind>();
    kind.map(KindFilter::Records)
        .map_err(|bad| format!("{bad}, message"))
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    session.set_short_lived();
    // The process ends after this read, and the system frees memory faster than the engine's destructor.
    let engine = ManuallyDrop::new(session.open_with_embedder()?);
    let (conversations, only_conversations) =
        (wanted_conversations(&args), is_only_conversations(&args));
    let question = if args.query == "-" && args.words.is_empty() {
        read_standard_input(limits::RECALL_QUERY_BYTES_MAX, "a question")?
    } else {
        join_words(args.query, &args.words)
    };
    let of_kind = |what: &KindFilter| match what {
        KindFilter::Turns => None,
        KindFilter::Records(kind) => Some(*kind),
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
        turns: args.kind.contains(&KindFilter::Turns),
        conversations,
        only_conversations,
        scope: scope(args.task),
        near: scope(args.near_task),
        as_of: args.as_of,
        min_relevance: args.all.then_some(0.0),
        ..RecallRequest::default()
    };
    let (recalled, owners) = match session.user_memory() {
        Some(user) => engine.recall().search_with(&user, &request)?,
        None => (engine.recall().search(&request)?, Vec::new()),
    };
    if session.out.json {
        let mut hits: Vec<_> = recalled
            .hits
            .iter()
            .enumerate()
            .map(|(at, hit)| {
                let mut value = json_output::hit(hit, args.explain);
                if owners.get(at) == Some(&MemoryOwner::User) {
                    value["from"] = json!("user");
                }
                value
            })
            .collect();
        let turns = recalled.conversations.iter();
        let mut turns: Vec<_> = turns
            .map(|hit| json_output::hit(hit, args.explain))
            .collect();
        if args.messages {
            hits.append(&mut turns);
        }
        let mut value = json!({
            "hits": hits,
            "conversations": turns,
            "weak": recalled.weak,
            "took_us": recalled.took_us,
        });
        if !recalled.notes.is_empty() {
            value["notes"] = json!(recalled.notes);
        }
        session.out.value(&value);
    } else {
        let is_unanswered = recalled.hits.is_empty() && recalled.conversations.is_empty();
        let is_empty = is_unanswered && engine.records().counts()?.is_empty();
        print_hits(&recalled, &owners, args.explain, is_empty, session);
    }
    Ok(0)
}

/// Returns the turns that are requested: without kinds the best ones, and all that fit on request.
fn wanted_conversations(args: &Args) -> ConversationHits {
    let is_asked = args.conversations || is_only_conversations(args);
    match (args.only, is_asked) {
        (Some(SearchedLane::Memory), _) => ConversationHits::Nothing,
        (_, true) => ConversationHits::All,
        (_, false) if args.kind.is_empty() => ConversationHits::Best,
        (_, false) => ConversationHits::Nothing,
    }
}

/// Returns true if no record is requested.
fn is_only_conversations(args: &Args) -> bool {
    args.only == Some(SearchedLane::Conversations)
}

fn print_hits(
    recalled: &RecallReport,
    owners: &[MemoryOwner],
    explain: bool,
    is_empty: bool,
    session: &mut CliSession,
) {
    for note in &recalled.notes {
        session.out.talk(&format!("heirloom: {note}"));
    }
    if recalled.hits.is_empty() && (recalled.conversations.is_empty() || recalled.weak > 0) {
        session.out.talk(&match (recalled.weak, is_empty) {
            (0, true) => "nothing is remembered here yet: heirloom remember \"TEXT\"".to_owned(),
            (0, false) => "no match".to_owned(),
            (1, _) => "1 weak hit is left out; --all shows it".to_owned(),
            (weak, _) => format!("{weak} weak hits are left out; --all shows them"),
        });
    }
    for (at, hit) in recalled.hits.iter().enumerate() {
        print_hit(hit, owners.get(at).copied(), explain, session);
    }
    if !recalled.conversations.is_empty() {
        let heading = session.out.paint(DIM_STYLE, "in conversations:");
        session.out.painted_line(&heading);
    }
    for hit in &recalled.conversations {
        print_hit(hit, None, explain, session);
    }
}

/// Prints a hit with its origin, and the parts of its score.
fn print_hit(hit: &Ranked, owner: Option<MemoryOwner>, explain: bool, session: &mut CliSession) {
    let words = match &hit.item {
        RecallItem::Record(record) => record_meaning_excerpt(record, 160),
        RecallItem::Turn { message, .. } => text::excerpt(&message.text, 160),
    };
    print_hit_line(hit, &words, session);
    let owner_label = match owner {
        Some(MemoryOwner::User) => "user · ",
        Some(MemoryOwner::Project) | None => "",
    };
    let id = session.out.id(hit.item.id());
    let origin = text::replace_control_chars(&describe_origin(hit));
    session
        .out
        .painted_line(&format!("{INDENT}{owner_label}{id} · {origin}"));
    if explain {
        session
            .out
            .line(&format!("{INDENT}{}", describe_score(hit)));
    }
}

/// Prints the relevance of a hit in the colour of its grade, and its text.
fn print_hit_line(hit: &Ranked, words: &str, session: &mut CliSession) {
    let style = match hit.grade() {
        Some(Grade::Strong) => AnsiColor::Green.on_default(),
        Some(Grade::Likely) => AnsiColor::Cyan.on_default(),
        Some(Grade::Possible | Grade::Weak) | None => DIM_STYLE,
    };
    let relevance = format!("{:8}", describe_relevance(hit));
    let relevance = session.out.paint(style, &relevance);
    let words = text::replace_control_chars(words);
    session.out.painted_line(&format!("{relevance}  {words}"));
}

/// Indentation of the lines below a hit.
const INDENT: &str = "          ";

/// Describes the relevance in a word; empty for the hits of filters alone.
fn describe_relevance(hit: &Ranked) -> &'static str {
    hit.grade().map_or("", Grade::as_str)
}

/// Describes a hit: its kind, scope, source and date.
fn describe_origin(hit: &Ranked) -> String {
    let what = match &hit.item {
        RecallItem::Record(record) => match (record.category(), record.state()) {
            (Some(category), _) => format!("{}/{category}", record.kind),
            (None, Some(state)) => format!("{}/{state}", record.kind),
            (None, None) => record.kind.to_string(),
        },
        RecallItem::Turn { session, .. } => format!("turn of {session}"),
    };
    let task = match &hit.item {
        RecallItem::Record(record) => named_task(record.scope.task.as_deref()),
        RecallItem::Turn { .. } => None,
    };
    let task = task.map_or_else(String::new, |task| format!(" · task {task}"));
    let day = day_of(hit.item.recorded_at());
    let holds = match &hit.item {
        RecallItem::Record(record) if record.kind == Kind::Knowledge => describe_validity(record),
        RecallItem::Record(_) | RecallItem::Turn { .. } => String::new(),
    };
    let folded = match hit.duplicates.len() {
        0 => String::new(),
        more => format!(" · and {more} like it"),
    };
    format!(
        "{what}{task} · {} · {day}{holds}{folded}",
        hit.item.source()
    )
}

/// Describes the valid time and a dispute, where known.
fn describe_validity(record: &Record) -> String {
    let from = (record.true_from).map(|time| format!(" · from {}", day_of(time)));
    let to = (record.true_to).map(|time| format!(" · until {}", day_of(time)));
    let disputed = Knowledge::from_record(record).is_ok_and(|knowledge| knowledge.disputed);
    let disputed = disputed.then(|| " · disputed".to_owned());
    [from, to, disputed].into_iter().flatten().collect()
}

fn day_of(time: Timestamp) -> String {
    let day = time.to_string();
    day.get(..10).unwrap_or(&day).to_owned()
}

/// Lists the parts of a score that are not zero.
fn describe_score(hit: &Ranked) -> String {
    let named = hit.breakdown.labelled();
    let some = named.iter().filter(|(_, value)| value.abs() >= 0.0005);
    let some: Vec<_> = some
        .map(|(name, value)| format!("{name} {value:.3}"))
        .collect();
    some.join(" · ")
}
