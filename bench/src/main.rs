//! Prints the figures of docs/benchmarks.md. Run it with `cargo xtask bench`.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "printing figures is what it does"
)]

mod context;
mod dice;
mod embed;
mod fts5;
mod growth;
mod hooks;
mod keeping;
mod mcp;
mod observe;
mod plot;
mod probe;
mod projects;
mod prompts;
mod quality;
mod recall;
mod redact;
mod remember;
mod server;
mod sources;
mod start;
mod stats;
#[cfg(feature = "tokens")]
mod tokens;
mod transcripts;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What can fail in a measurement.
type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// What was asked for.
#[derive(Debug, Default)]
struct Request {
    /// The `heirloom` binary whose process start is measured.
    heirloom: Option<PathBuf>,
    /// Figures whose name contains this.
    only: Option<String>,
    /// The data set of `quality`: a folder.
    data: Option<PathBuf>,
    /// The most records of `growth`, `projects` and `start`.
    to: Option<usize>,
    /// Where `growth` draws.
    plots: Option<PathBuf>,
}

/// What may be typed.
const USAGE: &str = "usage: [--heirloom BINARY] [--data FOLDER] [--to RECORDS] [--plots FOLDER] [--only context|start|remember|observe|keeping|recall|recall-million|quality|growth|projects|redact|embed|size|sources|prompts|hooks|server|mcp|transcripts|tokens]";

fn main() -> ExitCode {
    match parse(std::env::args().skip(1))
        .map_err(Into::into)
        .and_then(|request| run(&request))
    {
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
                // It is started in other folders than this one.
                let given = args.next().unwrap_or_default();
                let binary = std::fs::canonicalize(&given);
                request.heirloom =
                    Some(binary.map_err(|error| format!("--heirloom {given}: {error}"))?);
            }
            "--only" => request.only = args.next(),
            "--data" => request.data = args.next().map(PathBuf::from),
            "--plots" => request.plots = args.next().map(PathBuf::from),
            "--to" => {
                let given = args.next().unwrap_or_default();
                let count = given.replace('_', "").parse();
                request.to = Some(count.map_err(|_| format!("--to {given}? {USAGE}"))?);
            }
            other => return Err(format!("{other}? {USAGE}")),
        }
    }
    Ok(request)
}

/// What a process measures of itself and says to the one that started it.
fn measure_alone(only: &str) -> Outcome<bool> {
    match only.split_once('=').unwrap_or((only, "")) {
        ("redact-first" | "redact-first-secret", _) => redact::first_text(only),
        ("embed-first", _) => embed::first_vector(),
        ("growth-resident", root) => growth::resident(Path::new(root))?,
        _ => return Ok(false),
    }
    Ok(true)
}

fn run(request: &Request) -> Outcome<()> {
    let only = request.only.as_deref();
    let wanted = |name: &str| only.is_none_or(|only| name.contains(only));
    let heirloom = request.heirloom.as_deref();
    if let Some(only) = only
        && measure_alone(only)?
    {
        return Ok(());
    }
    if wanted("context") {
        context::measure(heirloom)?;
    }
    if wanted("start") {
        start::measure(heirloom, request.to)?;
    }
    if wanted("remember") {
        remember::measure(heirloom)?;
    }
    if wanted("observe") {
        observe::measure(heirloom)?;
    }
    if wanted("keeping") {
        keeping::measure(heirloom)?;
    }
    if wanted("recall") || only == Some("recall-million") {
        recall::measure(only)?;
    }
    if wanted("quality") {
        quality::measure(request.data.as_deref())?;
    }
    if wanted("prompts") || only == Some("prompts-features") {
        prompts::measure(request.data.as_deref(), only == Some("prompts-features"))?;
    }
    let part = only.filter(|only| only.starts_with("server-"));
    if wanted("server") || part.is_some() {
        server::measure(heirloom, request.to, part.unwrap_or("server"))?;
    }
    if wanted("hooks") {
        hooks::measure(heirloom, request.to)?;
    }
    if wanted("mcp") {
        mcp::measure(heirloom, request.to)?;
    }
    // These fill a million records, which takes minutes: only by their whole names.
    if only == Some("growth") {
        growth::measure(request.to, request.plots.as_deref())?;
    }
    if only == Some("projects") {
        projects::measure(request.to)?;
    }
    if wanted("redact") {
        redact::measure()?;
    }
    if wanted("sources") {
        sources::measure(request.heirloom.as_deref())?;
    }
    if wanted("transcripts") {
        transcripts::measure()?;
    }
    if wanted("embed") {
        embed::measure()?;
    }
    #[cfg(feature = "tokens")]
    if wanted("tokens") {
        tokens::measure(request.data.as_deref())?;
    }
    if let Some(binary) = heirloom.filter(|_| wanted("size")) {
        let mb = std::fs::metadata(binary)?.len() as f64 / 1e6;
        println!(
            "binary                                   {mb:8.1} MB   {}",
            binary.display()
        );
    }
    Ok(())
}
