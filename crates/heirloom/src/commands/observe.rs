//! `heirloom observe`.

use crate::open::Session;
use crate::options::ScopeArgs;
use crate::output;
use heirloom_engine::Observation;
use heirloom_model::stream::StreamFormat;
use heirloom_model::{Fault, limits};
use serde_json::json;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Read an agent's output from standard input and record its signals
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: my-agent | tee /dev/tty | heirloom observe --task 42 --phase TEST"
)]
pub(crate) struct Args {
    /// The form of the output
    #[arg(long, value_name = "FORMAT", default_value = "auto")]
    format: Format,
    /// Say what was found; record nothing
    #[arg(long)]
    dry_run: bool,
    /// The context that the agent was given: what it says of that again is an echo, and changes nothing
    ///
    /// Inside of a `heirloom run` this is $HEIRLOOM_CONTEXT_FILE if nothing else is said.
    #[arg(long, value_name = "FILE")]
    context: Option<PathBuf>,
    #[command(flatten)]
    scope: ScopeArgs,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Format {
    Text,
    ClaudeStream,
    CodexJson,
    GeminiStream,
    Auto,
}

impl From<Format> for StreamFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::Text => Self::Text,
            Format::ClaudeStream => Self::ClaudeStream,
            Format::CodexJson => Self::CodexJson,
            Format::GeminiStream => Self::GeminiStream,
            Format::Auto => Self::Auto,
        }
    }
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    let engine = session.open()?;
    let mut observer = engine.observer(args.scope.scope(), args.format.into(), args.dry_run)?;
    match (&args.context, session.env.get("HEIRLOOM_CONTEXT_FILE")) {
        (Some(file), _) => observer.told(&read_context(file)?),
        // Whoever observes inside of a run did not ask for it: a file that is gone is not their fault.
        (None, Some(file)) => observer.told(&read_context(Path::new(file)).unwrap_or_default()),
        (None, None) => {}
    }
    let mut input = std::io::stdin().lock();
    let mut chunk = vec![0; 256 << 10];
    // A store that fails does not end the reading: what it did not take is tried again, and whoever writes
    // to this process goes on.
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
    report(&observer.into_observation(), session);
    failed.map(|()| 0)
}

fn read_context(file: &Path) -> Result<String, Fault> {
    let shown = file.display();
    let opened = File::open(file).map_err(|error| {
        let message = format!("cannot read the context {shown}: {error}");
        if error.kind() == std::io::ErrorKind::NotFound {
            Fault::not_found(message)
        } else {
            Fault::failed(message)
        }
    })?;
    let most = limits::PROMPT_FILE_BYTES_MAX;
    let mut bytes = Vec::new();
    let read = opened.take(most as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| Fault::failed(format!("cannot read the context {shown}: {error}")))?;
    if bytes.len() > most {
        return Err(Fault::usage(format!(
            "the context {shown} has more than {most} bytes"
        )));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn report(observation: &Observation, session: &mut Session) {
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
        session.out.line(&output::table(&rows));
    }
    for diagnostic in &observation.diagnostics {
        session
            .out
            .talk(&format!("line {}: {}", diagnostic.line, diagnostic.message));
    }
}
