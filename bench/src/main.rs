//! Prints the figures of docs/benchmarks.md. Run it with `cargo xtask bench`.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark prints figures"
)]

mod alarms;
mod anchors;
mod background_embedding;
mod commit_memory;
mod context;
mod developer_prompts;
mod embed;
mod fixture;
mod fts5;
mod growth;
mod hooks;
mod lessons;
mod maintenance;
mod mcp;
mod memory_lane;
mod neighbouring_words;
mod observe;
mod plot;
mod process_start;
mod projects;
mod prompt_hook;
mod prompts;
mod quality;
mod recall;
mod redact;
mod relevance_features;
mod remember;
mod results;
mod rule_features;
mod rules;
mod scorers;
mod sentences;
mod server;
mod sources;
mod stats;
#[cfg(feature = "tokens")]
mod tokens;
mod transcripts;
mod window;
mod zipf;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Result of a measurement, with any error.
type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// Parsed command line.
#[derive(Debug, Default)]
struct Request {
    /// The `heirloom` binary whose process start is measured.
    heirloom: Option<PathBuf>,
    /// Measure only this group.
    only: Option<String>,
    /// Folder with the data set of `quality`.
    data: Option<PathBuf>,
    /// Largest number of records of `growth`, `projects` and `start`, and of turns of `memory-lane` and `prompt-hook`.
    to: Option<usize>,
    /// Folder for the plots of `growth`.
    plots: Option<PathBuf>,
    /// File for the results as JSON.
    json: Option<PathBuf>,
    /// File for the features of `relevance-features` and `rule-features`.
    out: Option<PathBuf>,
    /// Folder with the recorded sessions of `real`.
    real_sessions: Option<PathBuf>,
    /// Commit of the sources, for the results.
    commit: Option<String>,
}

/// Options of the command line, without the groups.
const USAGE: &str = "usage: [--heirloom BINARY] [--data FOLDER] [--real-sessions FOLDER] [--to RECORDS] [--plots FOLDER] [--json FILE] [--out FILE] [--commit HASH] [--only GROUP]";

/// Groups of `--only`; `server-` is followed by a part of the group `server`.
const GROUPS: &[&str] = &[
    "context",
    "start",
    "remember",
    "observe",
    "maintenance",
    "recall",
    "recall-million",
    "quality",
    "growth",
    "projects",
    "redact",
    "reembed",
    "alarms",
    "embed",
    "size",
    "sources",
    "prompts",
    "prompts-program",
    "real",
    "relevance-features",
    "relevance-features-cases",
    "relevance-features-sentences",
    "hooks",
    "anchors",
    "lessons",
    "rule-features",
    "rules",
    "replay",
    "sentences",
    "server",
    "mcp",
    "prompt-hook",
    "memory-lane",
    "neighbouring-words",
    "transcripts",
    "window",
    "tokens",
];

/// Returns an error that lists the groups if `only` is not a group.
fn check_group(only: &str) -> Result<(), String> {
    match GROUPS.contains(&only) || only.starts_with("server-") {
        true => Ok(()),
        false => Err(format!("no group `{only}`; groups: {}", GROUPS.join(", "))),
    }
}

fn main() -> ExitCode {
    match parse(std::env::args().skip(1))
        .map_err(Into::into)
        .and_then(|request| {
            run(&request)?;
            write_results(&request)
        }) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn parse(mut args: impl Iterator<Item = String>) -> Result<Request, String> {
    #[expect(clippy::disallowed_methods, reason = "a benchmark has no config")]
    let data = std::env::var_os("HEIRLOOM_BENCH_DATA").map(PathBuf::from);
    let mut request = Request {
        data,
        ..Request::default()
    };
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--heirloom" => {
                // The binary is started in other folders than this one.
                let argument = args.next().unwrap_or_default();
                let binary = std::fs::canonicalize(&argument);
                request.heirloom =
                    Some(binary.map_err(|error| format!("--heirloom {argument}: {error}"))?);
            }
            "--only" => request.only = args.next(),
            "--data" => request.data = args.next().map(PathBuf::from),
            "--real-sessions" => request.real_sessions = args.next().map(PathBuf::from),
            "--out" => request.out = args.next().map(PathBuf::from),
            "--json" => request.json = args.next().map(PathBuf::from),
            "--commit" => request.commit = args.next(),
            "--plots" => request.plots = args.next().map(PathBuf::from),
            "--to" => {
                let argument = args.next().unwrap_or_default();
                let count = argument.replace('_', "").parse();
                request.to = Some(count.map_err(|_| format!("--to {argument}? {USAGE}"))?);
            }
            other => return Err(format!("{other}? {USAGE}")),
        }
    }
    Ok(request)
}

/// Runs a measurement that a process makes of itself for its parent; returns false for any other name.
fn measure_own_process(only: &str) -> Outcome<bool> {
    match only.split_once('=').unwrap_or((only, "")) {
        ("redact-first" | "redact-first-secret", _) => redact::first_text(only),
        ("embed-first", _) => embed::first_vector(),
        ("lessons-first", _) => lessons::first_use(),
        ("growth-resident", root) => growth::print_resident(Path::new(root))?,
        _ => return Ok(false),
    }
    Ok(true)
}

/// Writes the results if a file for them is named.
fn write_results(request: &Request) -> Outcome<()> {
    let group = request.only.as_deref().unwrap_or("all");
    match &request.json {
        Some(file) => results::write(file, group, request.commit.as_deref()),
        None => Ok(()),
    }
}

fn run(request: &Request) -> Outcome<()> {
    let only = request.only.as_deref();
    let is_selected = |name: &str| only.is_none_or(|only| name == only);
    let heirloom = request.heirloom.as_deref();
    if let Some(only) = only
        && measure_own_process(only)?
    {
        return Ok(());
    }
    only.map_or(Ok(()), check_group)?;
    if is_selected("context") {
        context::measure(heirloom, request.data.as_deref())?;
    }
    if is_selected("start") {
        process_start::measure(heirloom, request.to)?;
    }
    if is_selected("remember") {
        remember::measure(heirloom)?;
    }
    if is_selected("observe") {
        observe::measure(heirloom)?;
    }
    if is_selected("maintenance") {
        maintenance::measure(heirloom)?;
    }
    if is_selected("recall") || only == Some("recall-million") {
        recall::measure(only)?;
    }
    if is_selected("quality") {
        quality::measure(request.data.as_deref())?;
    }
    if is_selected("prompts") {
        prompts::measure(request.data.as_deref())?;
    }
    if is_selected("sentences") {
        sentences::measure(heirloom)?;
    }
    if is_selected("reembed") {
        background_embedding::measure(heirloom, request.to)?;
    }
    only.map_or(Ok(()), |only| relevance_features::write(only, request))?;
    measure_hooks_and_servers(request)?;
    // These play for minutes or fill a million records, so they need their whole names.
    only.map_or(Ok(()), |only| scorers::measure(only, request))?;
    if only == Some("growth") {
        growth::measure(request.to, request.plots.as_deref())?;
    }
    if only == Some("projects") {
        projects::measure(request.to)?;
    }
    if is_selected("redact") {
        redact::measure()?;
    }
    if is_selected("sources") {
        sources::measure(request.heirloom.as_deref())?;
    }
    if is_selected("transcripts") {
        transcripts::measure()?;
    }
    if is_selected("embed") {
        embed::measure()?;
    }
    if is_selected("window") {
        window::measure(heirloom, request.data.as_deref())?;
    }
    if is_selected("anchors") {
        anchors::measure(request.data.as_deref())?;
    }
    if is_selected("lessons") {
        lessons::measure(request.data.as_deref())?;
    }
    if is_selected("rules") {
        rules::measure(request.data.as_deref())?;
    }
    if only == Some("rule-features") {
        rule_features::write(request)?;
    }
    if is_selected("alarms") {
        alarms::measure(heirloom, request.data.as_deref())?;
    }
    #[cfg(feature = "tokens")]
    if is_selected("tokens") {
        tokens::measure(request.data.as_deref())?;
    }
    if let Some(binary) = heirloom.filter(|_| is_selected("size")) {
        let mb = std::fs::metadata(binary)?.len() as f64 / 1e6;
        results::value("size.binary", "binary, with the server", "MB", mb);
    }
    Ok(())
}

/// Runs the groups of hooks and servers, and of recall next to conversations.
fn measure_hooks_and_servers(request: &Request) -> Outcome<()> {
    let only = request.only.as_deref();
    let is_selected = |name: &str| only.is_none_or(|only| name == only);
    let heirloom = request.heirloom.as_deref();
    let part = only.filter(|only| only.starts_with("server-"));
    if is_selected("server") || part.is_some() {
        server::measure(heirloom, request.to, part.unwrap_or("server"))?;
    }
    if is_selected("hooks") {
        hooks::measure(heirloom, request.to)?;
    }
    if is_selected("mcp") {
        mcp::measure(heirloom, request.to)?;
    }
    if is_selected("prompt-hook") {
        prompt_hook::measure(heirloom, request.to)?;
    }
    if is_selected("neighbouring-words") {
        neighbouring_words::measure(heirloom)?;
    }
    if only == Some("memory-lane") {
        memory_lane::measure(request.to)?;
    }
    Ok(())
}
