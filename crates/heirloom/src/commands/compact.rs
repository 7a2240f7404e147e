//! `heirloom compact`.

use crate::config::{Config, policy_file};
use crate::exact;
use crate::open::{self, Session};
use heirloom_engine::{Engine, WindowRequest, Windowed};
use heirloom_model::{ErrorKind, Fault, limits};
use heirloom_window::{Form, Policy};
use std::io::Read;
use std::path::PathBuf;

/// Make a conversation from standard input fit a model's window
///
/// Reads an array of messages or a whole request body and prints the same shape. What is shortened or left out is on
/// the disk before anything is printed: `heirloom expand ID` gives it back.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The session whose conversation it is: its turns are kept, and what was expanded stays whole
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// The model that it is for: what its cache costs is looked up by it; else `model` of a request body says it
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// The agent that has the conversation: archives are called after it
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
    /// The group that has it: its summary says what the conversation came to
    #[arg(long, value_name = "NAME", requires = "session")]
    group: Option<String>,
    /// How the window is kept: TOML or JSON with the keys of `[window]`, instead of the settings
    #[arg(long, value_name = "FILE", conflicts_with = "target_tokens")]
    policy: Option<PathBuf>,
    /// Tokens of the whole window
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    target_tokens: Option<u32>,
    /// Whose form the messages have
    #[arg(long, value_name = "FORM", default_value = "auto")]
    format: Format,
    /// Where the report goes, JSON
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Openai,
    Anthropic,
    Responses,
    Auto,
}

impl Format {
    fn form(self) -> Option<Form> {
        match self {
            Self::Openai => Some(Form::Openai),
            Self::Anthropic => Some(Form::Anthropic),
            Self::Responses => Some(Form::Responses),
            Self::Auto => None,
        }
    }
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    let history = history()?;
    let (engine, config) = memory(session)?;
    let engine = session.with_summariser(engine, &config);
    let policy = policy(&args, &config)?;
    let mut made = engine.compact(&WindowRequest {
        history: &history,
        form: args.format.form(),
        model: args.model.as_deref(),
        policy: &policy,
        session: args.session.as_deref(),
        agent: args.agent.as_deref(),
        group: args.group.as_deref(),
    })?;
    if let Some(path) = &args.report {
        exact::count(&mut made, &history, args.model.as_deref());
        open::write_file(path, format!("{}\n", made.report.to_json()).as_bytes())?;
    }
    session.out.data(&made.json);
    if !made.json.ends_with('\n') {
        session.out.data("\n");
    }
    session.out.talk(&summary(&made));
    for note in &made.notes {
        session.out.talk(&format!("heirloom: {note}"));
    }
    Ok(0)
}

/// The project's memory; where there is no project, the person's own, so that nothing is lost there either.
fn memory(session: &mut Session) -> Result<(Engine, Config), Fault> {
    match session.find() {
        Ok(found) => {
            let engine = session.engine(&found)?;
            session.take_in(&engine);
            Ok((engine, found.config))
        }
        Err(fault) if fault.kind == ErrorKind::NotFound => {
            Ok((session.user_engine()?, session.bare_config()?))
        }
        Err(fault) => Err(fault),
    }
}

fn policy(args: &Args, config: &Config) -> Result<Policy, Fault> {
    if let Some(path) = &args.policy {
        return policy_file(path);
    }
    let policy = config.window()?;
    Ok(match args.target_tokens {
        Some(tokens) => policy.with_target(usize::try_from(tokens).unwrap_or(usize::MAX)),
        None => policy,
    })
}

/// Standard input, which has to be text.
fn history() -> Result<String, Fault> {
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

/// What was done, on one line.
fn summary(made: &Windowed) -> String {
    let report = &made.report;
    let mut said = format!(
        "heirloom: {} → {} tokens ({})",
        report.tokens_before,
        report.tokens_after,
        made.form.as_str()
    );
    let actions: Vec<&str> = report
        .actions
        .iter()
        .map(|action| action.as_str())
        .collect();
    if !actions.is_empty() {
        said.push_str(&format!(": {}", actions.join(", ")));
    }
    if let Some(why) = &report.over {
        said.push_str(&format!("; over the target: {why}"));
    }
    said
}
