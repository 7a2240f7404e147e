//! `heirloom bench window`: recorded conversations replayed turn by turn under policies.

mod transcript;

use crate::config::policy_file;
use crate::open::Session;
use crate::output::table;
use flate2::read::MultiGzDecoder;
use heirloom_model::{ErrorKind, Fault, limits};
use heirloom_window::replay::{Row, Sum, Under, replay, sum};
use heirloom_window::{Conversation, Policy, Profile};
use serde_json::{Value, json};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Replay recorded conversations turn by turn: what each request costs, and what the model can still see
///
/// Every request before an answer of the model is built as it would have been sent. Costs are in tokens of uncached
/// input: what a request shares with the one before is read from the cache, the rest is written to it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Conversations: JSON with messages, or a transcript of Claude Code or Codex; .gz is unpacked
    #[arg(long = "in", value_name = "FILE", required = true, num_args = 1..)]
    files: Vec<PathBuf>,
    /// The policy, TOML or JSON with the keys of `[window]`, instead of the settings
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// A cache that serves only whole earlier requests
    #[arg(long)]
    exact: bool,
}

/// Tokens that the simplest of all windows keeps.
const LAST_TOKENS: usize = 40_000;

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    let policies = policies(&args, session)?;
    let mut rows: Vec<Vec<Row>> = vec![Vec::new(); policies.len()];
    let mut files = Vec::new();
    for path in &args.files {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let whole = read(path)?;
        for ((_, under), rows) in policies.iter().zip(&mut rows) {
            let row = replay(&whole, under, args.exact)
                .map_err(|refusal| Fault::usage(format!("{}: {refusal}", path.display())))?;
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
        let value = as_json(&files, &names, &rows, args.exact);
        session.out.value(&value);
    } else {
        session.out.line(&files_table(&files, &rows));
        session.out.line("");
        session.out.line(&sums_table(&names, &rows));
    }
    Ok(0)
}

/// Without a window, with this one, and with those that it is held against.
fn policies(args: &Args, session: &mut Session) -> Result<Vec<(String, Under)>, Fault> {
    let (name, policy) = match &args.policy {
        Some(path) => (path.display().to_string(), policy_file(path)?),
        None => {
            let config = match session.find() {
                Ok(found) => found.config,
                Err(fault) if fault.kind == ErrorKind::NotFound => session.bare_config()?,
                Err(fault) => return Err(fault),
            };
            ("settings".to_owned(), config.window()?)
        }
    };
    let of = |policy| Under::Policy(Box::new(policy));
    Ok(vec![
        ("none".to_owned(), Under::Nothing),
        (name, of(policy)),
        ("compress-every-turn".to_owned(), Under::EveryTurn),
        ("keep-last-40k".to_owned(), Under::KeepLast(LAST_TOKENS)),
        ("seed".to_owned(), of(Policy::profile(Profile::Seed))),
    ])
}

/// A conversation out of a file.
fn read(path: &Path) -> Result<Conversation, Fault> {
    let place = path.display();
    let cannot = |error: std::io::Error| {
        let kind = if error.kind() == std::io::ErrorKind::NotFound {
            ErrorKind::NotFound
        } else {
            ErrorKind::Failed
        };
        Fault::new(kind, format!("cannot read {place}: {error}"))
    };
    let file = File::open(path).map_err(cannot)?;
    let packed = path.extension().is_some_and(|extension| extension == "gz");
    let reader: Box<dyn Read> = if packed {
        Box::new(MultiGzDecoder::new(file))
    } else {
        Box::new(file)
    };
    let most = limits::WINDOW_BENCH_BYTES_MAX;
    let mut bytes = Vec::new();
    (reader.take(most + 1).read_to_end(&mut bytes)).map_err(cannot)?;
    if bytes.len() as u64 > most {
        return Err(Fault::usage(format!("{place} has more than {most} bytes")));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Fault::usage(format!("{place} is not UTF-8 at byte {at}"))
    })?;
    let read = match transcript::messages(&text) {
        Some((form, messages)) => Conversation::parse(&messages, Some(form)),
        None => Conversation::parse(&text, None),
    };
    read.map_err(|refusal| {
        Fault::usage(format!("{place}: {refusal}"))
            .hint("give JSON with `messages`, or a transcript of Claude Code or Codex")
    })
}

/// A line for each conversation: what it costs with the window.
fn files_table(files: &[String], rows: &[Vec<Row>]) -> String {
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
            with.peak.to_string(),
            with.breaks.to_string(),
            of(with.goal),
            of(with.near),
            percent(with.recall),
            percent(with.fresh),
            percent(with.old),
            with.lost.to_string(),
        ]);
    }
    table(&lines)
}

/// A line for each policy, over all conversations.
fn sums_table(names: &[&str], rows: &[Vec<Row>]) -> String {
    let head = [
        "policy", "input", "cost", "cost+rf", "cost-med", "worst", "hit%", "breaks%", "peak",
        "goal%", "near%", "recall%", "fresh%", "old%", "refet%", "lost",
    ];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    for (name, of) in names.iter().zip(rows) {
        let sum = sum(of, &rows[0]);
        let ratio = |n: f64| format!("{n:.3}");
        lines.push(vec![
            (*name).to_owned(),
            ratio(sum.input),
            ratio(sum.cost),
            ratio(sum.cost_refetch),
            ratio(sum.cost_median),
            ratio(sum.cost_worst),
            percent(sum.hits),
            percent(sum.breaks),
            sum.peak.to_string(),
            percent(sum.goal),
            percent(sum.near),
            percent(sum.recall),
            percent(sum.fresh),
            percent(sum.old),
            percent(sum.refetched),
            sum.lost.to_string(),
        ]);
    }
    table(&lines)
}

fn percent(share: f64) -> String {
    format!("{:.1}", share * 100.0)
}

fn as_json(files: &[String], names: &[&str], rows: &[Vec<Row>], exact: bool) -> Value {
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
        .map(|(name, of)| ((*name).to_owned(), sum_json(&sum(of, &rows[0]))))
        .collect();
    json!({"exact": exact, "policy": names[1], "files": files, "sum": sums})
}

fn row_json(row: &Row) -> Value {
    let turns = row.turns as f64;
    json!({
        "input": row.input.round(), "cost": rounded(row.cost), "cost_refetch": rounded(row.cost_refetch),
        "hits": row.hits.round(), "peak": row.peak, "breaks": row.breaks,
        "goal": rounded(row.goal as f64 / turns), "near": rounded(row.near as f64 / turns),
        "recall": rounded(row.recall), "fresh": rounded(row.fresh), "old": rounded(row.old),
        "refetched": row.refetched, "lost": row.lost,
    })
}

fn sum_json(sum: &Sum) -> Value {
    json!({
        "turns": sum.turns, "input": rounded(sum.input), "cost": rounded(sum.cost),
        "cost_refetch": rounded(sum.cost_refetch), "cost_median": rounded(sum.cost_median),
        "cost_worst": rounded(sum.cost_worst), "hits": rounded(sum.hits), "breaks": rounded(sum.breaks),
        "peak": sum.peak, "goal": rounded(sum.goal), "near": rounded(sum.near),
        "recall": rounded(sum.recall), "fresh": rounded(sum.fresh), "old": rounded(sum.old),
        "refetched": rounded(sum.refetched), "lost": sum.lost,
    })
}

fn rounded(n: f64) -> f64 {
    (n * 10_000.0).round() / 10_000.0
}
