//! `heirloom observe`.

use crate::shared_options::ScopeArgs;
use crate::store_access::CliSession;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use heirloom_agents::StreamFormat;
use heirloom_capture::Observation;
use heirloom_capture::Runs;
use heirloom_fs::project_fs::{DigestProblem, read_bounded_following_links};
use heirloom_model::text::EscapedPath;
use heirloom_model::{Fault, limits};
use serde_json::json;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Read an agent's output from standard input and record its signals
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: my-agent | tee /dev/tty | heirloom observe --task 42 --phase TEST"
)]
pub(crate) struct Args {
    /// The format of the output
    #[arg(long, value_name = "FORMAT", default_value = "auto", value_parser = format_parser())]
    format: StreamFormat,
    /// Show what was found; record nothing
    #[arg(long)]
    dry_run: bool,
    /// The context that the agent was given: repetitions of it are echoes, and change nothing
    ///
    /// Inside a `heirloom run` the default is $HEIRLOOM_CONTEXT_FILE.
    #[arg(long, value_name = "FILE")]
    context: Option<PathBuf>,
    #[command(flatten)]
    scope: ScopeArgs,
}

/// Returns the parser of a format: the table of programs has the names.
fn format_parser() -> impl TypedValueParser<Value = StreamFormat> {
    let names = StreamFormat::all().into_iter().map(StreamFormat::as_str);
    PossibleValuesParser::new(names).map(|name| {
        let mut formats = StreamFormat::all().into_iter();
        let found = formats.find(|format| format.as_str() == name);
        found.unwrap_or_default()
    })
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    let engine = session.open()?;
    let mut observer =
        Runs::new(&engine).observer(args.scope.scope(), args.format, args.dry_run)?;
    match (&args.context, session.env.get("HEIRLOOM_CONTEXT_FILE")) {
        (Some(file), _) => observer.add_injected_text(&read_context(file)?),
        // The variable is set by `heirloom run`, not by the caller: a missing file is not the caller's fault.
        (None, Some(file)) => {
            observer.add_injected_text(&read_context(Path::new(file)).unwrap_or_default())
        }
        (None, None) => {}
    }
    let mut input = std::io::stdin().lock();
    let mut chunk = vec![0; 256 << 10];
    // A store failure does not end the reading: failed writes are retried, and the writing process is not blocked.
    let mut failed = Ok(());
    loop {
        match input.read(&mut chunk) {
            Ok(0) => break,
            Ok(n) => failed = failed.and(observer.push(&chunk[..n], &mut |_| {})),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => {
                return Err(Fault::failed(format!(
                    "cannot read standard input: {error}"
                )));
            }
        }
    }
    failed = failed.and(observer.finish(&mut |_| {}));
    print_observation(&observer.into_observation(), session);
    failed.map(|()| 0)
}

fn read_context(file: &Path) -> Result<String, Fault> {
    let display_path = file.to_escaped();
    let most = limits::PROMPT_FILE_BYTES_MAX;
    let bytes = read_bounded_following_links(file, most as u64).map_err(|problem| {
        let message = format!("cannot read the context {display_path}: {problem}");
        match problem {
            DigestProblem::Missing => Fault::not_found(message),
            DigestProblem::TooLarge(_) => Fault::usage(format!(
                "the context {display_path} has more than {most} bytes"
            )),
            DigestProblem::NotRegularFile | DigestProblem::Unreadable(_) => Fault::failed(message),
        }
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn print_observation(observation: &Observation, session: &mut CliSession) {
    if session.out.json {
        let signals: Vec<_> = observation
            .signals
            .iter()
            .map(|one| {
                json!({
                    "verb": one.signal.verb.as_str(),
                    "text": one.signal.text,
                    "line": one.signal.line,
                    "outcome": one.outcome.as_str(),
                })
            })
            .collect();
        let diagnostics: Vec<_> = observation
            .diagnostics
            .iter()
            .map(|d| json!({"line": d.line, "message": d.message}))
            .collect();
        session
            .out
            .value(&json!({"signals": signals, "diagnostics": diagnostics}));
        return;
    }
    let rows: Vec<_> = observation
        .signals
        .iter()
        .map(|one| {
            vec![
                format!("line {}", one.signal.line),
                one.signal.verb.as_str().to_owned(),
                one.outcome.as_str().to_owned(),
                heirloom_model::text::excerpt(&one.signal.text, 90),
            ]
        })
        .collect();
    if rows.is_empty() {
        session.out.talk("no signals");
    } else {
        session.out.table(&rows, &[]);
    }
    for diagnostic in &observation.diagnostics {
        session
            .out
            .talk(&format!("line {}: {}", diagnostic.line, diagnostic.message));
    }
}
