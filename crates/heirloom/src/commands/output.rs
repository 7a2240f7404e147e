//! `heirloom output`.

use super::session::read_standard_input;
use crate::json_output;
use crate::store_access::CliSession;
use heirloom_engine::{NewOutput, PlanOutput};
use heirloom_formats::outputs::last_lines;
use heirloom_model::{Fault, limits, text};
use serde_json::{Map, Value, json};

/// Keep the last output of each agent in a plan, and show it
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: OutputSubcommand,
}

#[derive(Debug, clap::Subcommand)]
enum OutputSubcommand {
    /// Store an agent's output, replacing its last one
    Put {
        /// The output; without it, or with -, it comes from standard input
        text: Option<String>,
        /// The plan, PLAN or STAGE/PLAN
        #[arg(long, value_name = "ID")]
        plan: String,
        /// The agent
        #[arg(long, value_name = "ID")]
        agent: String,
        /// The stage that the plan is in
        #[arg(long, value_name = "NAME")]
        stage: Option<String>,
        /// Further metadata; a value may be JSON
        #[arg(long, value_name = "NAME=VALUE", value_parser = parse_pair)]
        meta: Vec<(String, String)>,
    },
    /// Show an agent's last output
    Get {
        /// The plan, PLAN or STAGE/PLAN
        #[arg(long, value_name = "ID")]
        plan: String,
        /// The agent
        #[arg(long, value_name = "ID")]
        agent: String,
        /// Only the last N lines of the stored output
        #[arg(long, visible_alias = "lines", value_name = "N")]
        tail: Option<usize>,
        /// Show all that is stored, not only what goes into prompts
        #[arg(long, conflicts_with = "tail")]
        full: bool,
    },
    /// List the agents of a plan that have an output
    List {
        /// The plan, PLAN or STAGE/PLAN; default: all plans
        #[arg(long, value_name = "ID")]
        plan: Option<String>,
    },
}

fn parse_pair(argument: &str) -> Result<(String, String), String> {
    let (name, value) = argument
        .split_once('=')
        .ok_or_else(|| "expected NAME=VALUE".to_owned())?;
    if name.trim().is_empty() {
        return Err("the name is empty".to_owned());
    }
    Ok((name.trim().to_owned(), value.to_owned()))
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    let engine = session.open()?;
    match args.action {
        OutputSubcommand::Put {
            text,
            plan,
            agent,
            stage,
            meta,
        } => {
            let content = match text {
                Some(text) if text != "-" => text,
                Some(_) | None => read_standard_input(limits::OUTPUT_INPUT_BYTES_MAX, "an output")?,
            };
            let applied = engine.outputs().put(&NewOutput {
                plan,
                agent,
                stage,
                content,
                metadata: metadata(&meta),
            })?;
            if session.out.json {
                session.out.value(&json_output::applied(&applied));
            } else {
                let outcome = applied.verdict.as_str();
                session.out.line(&format!("{} {outcome}", applied.id));
            }
        }
        OutputSubcommand::Get {
            plan,
            agent,
            tail,
            full,
        } => {
            let found = engine.outputs().get(&plan, &agent)?;
            let content = match tail {
                Some(lines) => last_lines(&found.full, lines),
                None if full => &found.full,
                None => &found.content,
            };
            if session.out.json {
                let mut value = output_value(&found);
                value["content"] = json!(content);
                session.out.value(&value);
                return Ok(0);
            }
            for line in content.lines() {
                session.out.line(&text::replace_control_chars(line));
            }
            if full && found.left_out_bytes > 0 {
                let left_out = found.left_out_bytes;
                let message = format!("{left_out} bytes at the beginning are not stored");
                session.out.talk(&message);
            }
        }
        OutputSubcommand::List { plan } => {
            let found = engine.outputs().list(plan.as_deref())?;
            if session.out.json {
                let all: Vec<_> = found.iter().map(output_value).collect();
                session.out.value(&json!({ "outputs": all }));
                return Ok(0);
            }
            let rows: Vec<_> = found.iter().map(row).collect();
            if rows.is_empty() {
                session.out.talk("no outputs yet");
            } else {
                session.out.table(&rows, &[]);
            }
        }
    }
    Ok(0)
}

fn row(found: &PlanOutput) -> Vec<String> {
    vec![
        text::one_line(&found.plan),
        text::one_line(&found.agent),
        found.at.to_string(),
        text::excerpt(&found.content, 60),
    ]
}

/// Formats an output as JSON, with its time in seconds as in output files.
fn output_value(found: &PlanOutput) -> Value {
    json!({
        "id": found.id.to_string(),
        "plan": found.plan,
        "stage": found.stage,
        "agent_id": found.agent,
        "content": found.content,
        "timestamp": found.at.as_second(),
        "metadata": found.metadata,
        "size_bytes": found.full.len() as u64 + found.left_out_bytes,
    })
}

/// Builds the metadata object; a value that is not JSON becomes a string.
fn metadata(pairs: &[(String, String)]) -> Map<String, Value> {
    let value = |text: &str| match serde_json::from_str(text) {
        Ok(value) => value,
        Err(_) => Value::String(text.to_owned()),
    };
    (pairs.iter())
        .map(|(name, text)| (name.clone(), value(text)))
        .collect()
}
