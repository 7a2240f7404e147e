//! Prints the figures of docs/benchmarks.md. Run it with `cargo xtask bench`.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "printing figures is what it does"
)]

mod context;
mod embed;
mod keeping;
mod observe;
mod probe;
mod recall;
mod redact;
mod remember;
mod stats;

use std::path::PathBuf;
use std::process::ExitCode;

/// What can fail in a measurement.
type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// What was asked for.
struct Request {
    /// The `heirloom` binary whose process start is measured.
    heirloom: Option<PathBuf>,
    /// Figures whose name contains this.
    only: Option<String>,
}

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
    let mut request = Request {
        heirloom: None,
        only: None,
    };
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--heirloom" => request.heirloom = args.next().map(PathBuf::from),
            "--only" => request.only = args.next(),
            other => {
                return Err(format!(
                    "{other}? usage: [--heirloom BINARY] [--only context|remember|observe|keeping|recall|recall-million|redact|embed|size]"
                ));
            }
        }
    }
    Ok(request)
}

fn run(request: &Request) -> Outcome<()> {
    let wanted = |name: &str| {
        request
            .only
            .as_ref()
            .is_none_or(|only| name.contains(only.as_str()))
    };
    let heirloom = request.heirloom.as_deref();
    if let Some(only) = request
        .only
        .as_deref()
        .filter(|only| only.starts_with("redact-first"))
    {
        redact::first_text(only);
        return Ok(());
    }
    if request.only.as_deref() == Some("embed-first") {
        embed::first_vector();
        return Ok(());
    }
    if wanted("context") {
        context::measure(heirloom)?;
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
    if wanted("recall") || request.only.as_deref() == Some("recall-million") {
        recall::measure(request.only.as_deref())?;
    }
    if wanted("redact") {
        redact::measure()?;
    }
    if wanted("embed") {
        embed::measure()?;
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
