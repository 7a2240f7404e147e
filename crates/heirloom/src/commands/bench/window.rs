//! `heirloom bench window`: replays recorded conversations turn by turn under several policies.

mod transcript;

use crate::config::policy_file;
use crate::store_access::CliSession;
use crate::terminal_output::table;
use flate2::read::MultiGzDecoder;
use heirloom_fs::durable::regular_file::{self, LinkPolicy};
use heirloom_model::text::EscapedPath;
use heirloom_model::{ErrorKind, Fault, limits};
use heirloom_window::replay::{ReplayMode, ReplayReport, ReplayTotals, replay, total};
use heirloom_window::{Conversation, Policy, Profile};
use serde_json::{Value, json};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Replay recorded conversations turn by turn: the cost of each request, and what the model can still see
///
/// Every request before an answer of the model is built as it would have been sent. Costs are in tokens of uncached
/// input: what a request shares with the previous one is read from the cache, the rest is written to it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Conversations: JSON with messages, or a transcript of Claude Code or Codex; .gz is unpacked
    #[arg(long = "in", value_name = "FILE", required = true, num_args = 1..)]
    files: Vec<PathBuf>,
    /// The policy, TOML or JSON with the keys of `[window]`, instead of the settings
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Simulate a cache that serves only complete earlier requests
    #[arg(long)]
    exact: bool,
}

/// Tokens kept by the simplest policy, which keeps only the last messages.
const KEEP_LAST_TOKENS: usize = 40_000;

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    let policies = policies(&args, session)?;
    let mut rows: Vec<Vec<ReplayReport>> = vec![Vec::new(); policies.len()];
    let mut files = Vec::new();
    for path in &args.files {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let whole = read_conversation(path)?;
        for ((_, under), rows) in policies.iter().zip(&mut rows) {
            let row = replay(&whole, under, args.exact)
                .map_err(|refusal| Fault::usage(format!("{}: {refusal}", path.to_escaped())))?;
            rows.push(row);
        }
        if rows[0].last().is_none_or(|row| row.turns == 0) {
            session.out.talk(&format!(
                "heirloom: {name}: no message of a model; left out"
            ));
            rows.iter_mut().for_each(|rows| rows.truncate(files.len()));
            continue;
        }
        files.push(name.into_owned());
    }
    if files.is_empty() {
        return Err(Fault::not_found(
            "none of the files has a message of a model",
        ));
    }
    let names: Vec<&str> = policies.iter().map(|(name, _)| name.as_str()).collect();
    if session.out.json {
        let value = report_json(&files, &names, &rows, args.exact);
        session.out.value(&value);
    } else {
        session.out.line(&files_table(&files, &rows));
        session.out.line("");
        session.out.line(&sums_table(&names, &rows));
    }
    Ok(0)
}

/// Returns the policies to compare: no window, the configured one, and reference policies.
fn policies(args: &Args, session: &mut CliSession) -> Result<Vec<(String, ReplayMode)>, Fault> {
    let (name, policy) = match &args.policy {
        Some(path) => (path.to_escaped(), policy_file(path)?),
        None => {
            let config = match session.find_project() {
                Ok(found) => found.config,
                Err(fault) if fault.kind == ErrorKind::NotFound => {
                    session.config_without_project()?
                }
                Err(fault) => return Err(fault),
            };
            ("settings".to_owned(), config.window()?)
        }
    };
    let of = |policy| ReplayMode::Policy(Box::new(policy));
    Ok(vec![
        ("none".to_owned(), ReplayMode::FullHistory),
        (name, of(policy)),
        ("compress-every-turn".to_owned(), ReplayMode::StubsEveryTurn),
        (
            "keep-last-40k".to_owned(),
            ReplayMode::KeepLast(KEEP_LAST_TOKENS),
        ),
        ("seed".to_owned(), of(Policy::profile(Profile::Seed))),
    ])
}

/// Reads a conversation from a file.
fn read_conversation(path: &Path) -> Result<Conversation, Fault> {
    let place = path.to_escaped();
    let read_error = |error: std::io::Error| {
        let kind = if error.kind() == std::io::ErrorKind::NotFound {
            ErrorKind::NotFound
        } else {
            ErrorKind::Failed
        };
        Fault::new(kind, format!("cannot read {place}: {error}"))
    };
    let opened = regular_file::open(path, LinkPolicy::Follow);
    let file = opened
        .map_err(|problem| read_error(problem.into_io_error()))?
        .file;
    let is_gzip = path.extension().is_some_and(|extension| extension == "gz");
    let reader: Box<dyn Read> = if is_gzip {
        Box::new(MultiGzDecoder::new(file))
    } else {
        Box::new(file)
    };
    let max_bytes = limits::WINDOW_BENCH_BYTES_MAX;
    let mut bytes = Vec::new();
    (reader.take(max_bytes + 1).read_to_end(&mut bytes)).map_err(read_error)?;
    if bytes.len() as u64 > max_bytes {
        return Err(Fault::usage(format!(
            "{place} has more than {max_bytes} bytes"
        )));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Fault::usage(format!("{place} is not UTF-8 at byte {at}"))
    })?;
    let read = match transcript::extract_messages(&text) {
        Some((form, messages)) => Conversation::parse(&messages, Some(form)),
        None => Conversation::parse(&text, None),
    };
    read.map_err(|refusal| {
        Fault::usage(format!("{place}: {refusal}"))
            .hint("give JSON with `messages`, or a transcript of Claude Code or Codex")
    })
}

/// Formats a line for each conversation with its cost under the window.
fn files_table(files: &[String], rows: &[Vec<ReplayReport>]) -> String {
    let head = [
        "conversation",
        "turns",
        "input",
        "with",
        "cost",
        "with",
        "ratio",
        "+rf",
        "peak",
        "breaks",
        "goal%",
        "near%",
        "recall%",
        "fresh%",
        "old%",
        "lost",
    ];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    for (at, file) in files.iter().enumerate() {
        let (none, with) = (&rows[0][at], &rows[1][at]);
        let of = |count: usize| percent(count as f64 / with.turns as f64);
        lines.push(vec![
            file.clone(),
            with.turns.to_string(),
            format!("{:.0}", none.input),
            format!("{:.0}", with.input),
            format!("{:.0}", none.cost),
            format!("{:.0}", with.cost),
            format!("{:.3}", with.cost / none.cost),
            format!("{:.3}", with.cost_refetch / none.cost),
            with.largest_request.to_string(),
            with.prefix_breaks.to_string(),
            of(with.goal),
            of(with.goal_near),
            percent(with.recall),
            percent(with.fresh),
            percent(with.old),
            with.lost.to_string(),
        ]);
    }
    table(&lines)
}

/// Formats a line for each policy over all conversations.
fn sums_table(names: &[&str], rows: &[Vec<ReplayReport>]) -> String {
    let head = [
        "policy", "input", "cost", "cost+rf", "cost-med", "worst", "hit%", "breaks%", "peak",
        "goal%", "near%", "recall%", "fresh%", "old%", "refet%", "lost",
    ];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    for (name, of) in names.iter().zip(rows) {
        let sum = total(of, &rows[0]);
        let ratio = |n: f64| format!("{n:.3}");
        lines.push(vec![
            (*name).to_owned(),
            ratio(sum.input),
            ratio(sum.cost),
            ratio(sum.cost_refetch),
            ratio(sum.cost_median),
            ratio(sum.cost_worst),
            percent(sum.cached_input),
            percent(sum.prefix_breaks),
            sum.largest_request.to_string(),
            percent(sum.goal),
            percent(sum.goal_near),
            percent(sum.recall),
            percent(sum.fresh),
            percent(sum.old),
            percent(sum.refetches),
            sum.lost.to_string(),
        ]);
    }
    table(&lines)
}

fn percent(share: f64) -> String {
    format!("{:.1}", share * 100.0)
}

fn report_json(files: &[String], names: &[&str], rows: &[Vec<ReplayReport>], exact: bool) -> Value {
    let files: Vec<Value> = files
        .iter()
        .enumerate()
        .map(|(at, file)| {
            let of = names.iter().zip(rows);
            let policies: serde_json::Map<String, Value> = of
                .map(|(name, rows)| ((*name).to_owned(), row_json(&rows[at])))
                .collect();
            json!({"file": file, "turns": rows[0][at].turns, "policies": policies})
        })
        .collect();
    let sums: serde_json::Map<String, Value> = names
        .iter()
        .zip(rows)
        .map(|(name, of)| ((*name).to_owned(), sum_json(&total(of, &rows[0]))))
        .collect();
    json!({"exact": exact, "policy": names[1], "files": files, "sum": sums})
}

fn row_json(row: &ReplayReport) -> Value {
    let turns = row.turns as f64;
    json!({
        "input": row.input.round(), "cost": rounded(row.cost), "cost_refetch": rounded(row.cost_refetch),
        "hits": row.cached_input.round(), "peak": row.largest_request, "breaks": row.prefix_breaks,
        "goal": rounded(row.goal as f64 / turns), "near": rounded(row.goal_near as f64 / turns),
        "recall": rounded(row.recall), "fresh": rounded(row.fresh), "old": rounded(row.old),
        "refetched": row.refetches, "lost": row.lost,
    })
}

fn sum_json(sum: &ReplayTotals) -> Value {
    json!({
        "turns": sum.turns, "input": rounded(sum.input), "cost": rounded(sum.cost),
        "cost_refetch": rounded(sum.cost_refetch), "cost_median": rounded(sum.cost_median),
        "cost_worst": rounded(sum.cost_worst), "hits": rounded(sum.cached_input), "breaks": rounded(sum.prefix_breaks),
        "peak": sum.largest_request, "goal": rounded(sum.goal), "near": rounded(sum.goal_near),
        "recall": rounded(sum.recall), "fresh": rounded(sum.fresh), "old": rounded(sum.old),
        "refetched": rounded(sum.refetches), "lost": sum.lost,
    })
}

fn rounded(n: f64) -> f64 {
    (n * 10_000.0).round() / 10_000.0
}
