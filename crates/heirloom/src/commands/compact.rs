//! `heirloom compact`.

use crate::config::{Config, policy_file};
use crate::openai_tokens;
use crate::store_access::{self, CliSession};
use heirloom_engine::{CompactionResult, Engine, WindowRequest};
use heirloom_model::{ErrorKind, Fault, limits};
use heirloom_window::{Policy, WireFormat};
use std::io::Read;
use std::path::PathBuf;

/// Make a conversation from standard input fit a model's window
///
/// Reads an array of messages or a whole request body and prints the same shape. Content that is shortened or left
/// out is saved to the disk before anything is printed: `heirloom expand ID` returns it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The session of the conversation: its turns are stored, and expanded content stays complete
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// The model that it is for: selects the prices of its cache; the default is `model` of a request body
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// The agent of the conversation: archives are named after it
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
    /// The agent's group: its summary file gets the summary of the conversation
    #[arg(long, value_name = "NAME", requires = "session")]
    group: Option<String>,
    /// The window policy: TOML or JSON with the keys of `[window]`, instead of the settings
    #[arg(long, value_name = "FILE", conflicts_with = "target_tokens")]
    policy: Option<PathBuf>,
    /// Target size of the whole window in tokens
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    target_tokens: Option<u32>,
    /// The format of the messages
    #[arg(long, value_name = "FORM", default_value = "auto")]
    format: MessageFormat,
    /// The file for the report, JSON
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum MessageFormat {
    Openai,
    Anthropic,
    Responses,
    Auto,
}

impl MessageFormat {
    fn form(self) -> Option<WireFormat> {
        match self {
            Self::Openai => Some(WireFormat::Openai),
            Self::Anthropic => Some(WireFormat::Anthropic),
            Self::Responses => Some(WireFormat::Responses),
            Self::Auto => None,
        }
    }
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    let history = read_history()?;
    let (engine, config) = open_memory(session)?;
    let engine = session.with_summariser(engine, &config);
    let policy = load_policy(&args, &config)?;
    let mut compacted = engine.window().compact(&WindowRequest {
        history: &history,
        form: args.format.form(),
        model: args.model.as_deref(),
        policy: &policy,
        session: args.session.as_deref(),
        agent: args.agent.as_deref(),
        group: args.group.as_deref(),
    })?;
    if let Some(path) = &args.report {
        openai_tokens::count_tokens(&mut compacted, &history, args.model.as_deref());
        store_access::write_file(path, format!("{}\n", compacted.report.to_json()).as_bytes())?;
    }
    session.out.data(&compacted.json);
    if !compacted.json.ends_with('\n') {
        session.out.data("\n");
    }
    session.out.talk(&summary_line(&compacted));
    for note in &compacted.notes {
        session.out.talk(&format!("heirloom: {note}"));
    }
    Ok(0)
}

/// Opens the project's memory; without a project the user's own, so that nothing is lost.
fn open_memory(session: &mut CliSession) -> Result<(Engine, Config), Fault> {
    match session.find_project() {
        Ok(found) => {
            let engine = session.engine(&found)?;
            session.ingest_pending(&engine);
            Ok((engine, found.config))
        }
        Err(fault) if fault.kind == ErrorKind::NotFound => {
            Ok((session.user_engine()?, session.config_without_project()?))
        }
        Err(fault) => Err(fault),
    }
}

fn load_policy(args: &Args, config: &Config) -> Result<Policy, Fault> {
    if let Some(path) = &args.policy {
        return policy_file(path);
    }
    let policy = config.window()?;
    Ok(match args.target_tokens {
        Some(tokens) => policy.with_target(usize::try_from(tokens).unwrap_or(usize::MAX)),
        None => policy,
    })
}

/// Reads standard input, which has to be UTF-8.
fn read_history() -> Result<String, Fault> {
    let most = limits::WINDOW_INPUT_BYTES_MAX;
    let mut input = Vec::new();
    let read = std::io::stdin()
        .lock()
        .take(most as u64 + 1)
        .read_to_end(&mut input);
    read.map_err(|error| Fault::failed(format!("cannot read standard input: {error}")))?;
    if input.len() > most {
        return Err(Fault::usage(format!(
            "standard input has more than {most} bytes for a conversation"
        )));
    }
    String::from_utf8(input).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Fault::usage(format!("standard input is not UTF-8 at byte {at}"))
    })
}

/// Formats the result of a compaction on one line.
fn summary_line(compacted: &CompactionResult) -> String {
    let report = &compacted.report;
    let mut line = format!(
        "heirloom: {} → {} tokens ({})",
        report.tokens_before,
        report.tokens_after,
        compacted.form.as_str()
    );
    let actions: Vec<&str> = report
        .actions
        .iter()
        .map(|action| action.as_str())
        .collect();
    if !actions.is_empty() {
        line.push_str(&format!(": {}", actions.join(", ")));
    }
    if let Some(why) = &report.over_budget_reason {
        line.push_str(&format!("; over the target: {why}"));
    }
    line
}
