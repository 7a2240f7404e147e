//! `heirloom output`.

use super::session::standard_input;
use crate::open::Session;
use crate::{output, wire};
use heirloom_engine::{NewOutput, PlanOutput, outputs::last_lines};
use heirloom_model::{Fault, limits, text};
use serde_json::{Map, Value, json};

/// Keep the last output of each agent in a plan, and show it
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Keep an agent's output, in place of the one before
    Put {
        /// The output; without it, it comes from standard input
        text: Option<String>,
        /// The plan
        #[arg(long, value_name = "ID")]
        plan: String,
        /// The agent
        #[arg(long, value_name = "ID")]
        agent: String,
        /// The stage that the plan is in
        #[arg(long, value_name = "NAME")]
        stage: Option<String>,
        /// What else is known of it; a value may be JSON
        #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
        meta: Vec<(String, String)>,
    },
    /// Show what an agent said last
    Get {
        /// The plan
        #[arg(long, value_name = "ID")]
        plan: String,
        /// The agent
        #[arg(long, value_name = "ID")]
        agent: String,
        /// The last so many lines of all that is kept
        #[arg(long, visible_alias = "lines", value_name = "N")]
        tail: Option<usize>,
        /// All that is kept, not only what goes into prompts
        #[arg(long, conflicts_with = "tail")]
        full: bool,
    },
    /// List the agents of a plan that have an output
    List {
        /// The plan; without it all of them
        #[arg(long, value_name = "ID")]
        plan: Option<String>,
    },
}

fn pair(given: &str) -> Result<(String, String), String> {
    let (name, value) = given
        .split_once('=')
        .ok_or_else(|| "expected NAME=VALUE".to_owned())?;
    if name.trim().is_empty() {
        return Err("the name is empty".to_owned());
    }
    Ok((name.trim().to_owned(), value.to_owned()))
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    let engine = session.open()?;
    match args.action {
        Action::Put {
            text,
            plan,
            agent,
            stage,
            meta,
        } => {
            let content = match text {
                Some(text) => text,
                None => standard_input(limits::OUTPUT_INPUT_BYTES_MAX, "an output")?,
            };
            let applied = engine.put_output(&NewOutput {
                plan,
                agent,
                stage,
                content,
                metadata: metadata(&meta),
            })?;
            if session.out.json {
                session.out.value(&wire::applied(&applied));
            } else {
                let outcome = applied.verdict.as_str();
                session.out.line(&format!("{} {outcome}", applied.id));
            }
        }
        Action::Get {
            plan,
            agent,
            tail,
            full,
        } => {
            let found = engine.output(&plan, &agent)?;
            let said = match tail {
                Some(lines) => last_lines(&found.full, lines),
                None if full => &found.full,
                None => &found.content,
            };
            if session.out.json {
                let mut value = json_of(&found);
                value["content"] = json!(said);
                session.out.value(&value);
                return Ok(0);
            }
            for line in said.lines() {
                session.out.line(&text::printable(line));
            }
            if full && found.left_out_bytes > 0 {
                let left_out = found.left_out_bytes;
                let said = format!("{left_out} bytes at the beginning are not kept");
                session.out.talk(&said);
            }
        }
        Action::List { plan } => {
            let found = engine.outputs(plan.as_deref())?;
            if session.out.json {
                let all: Vec<_> = found.iter().map(json_of).collect();
                session.out.value(&json!({ "outputs": all }));
                return Ok(0);
            }
            let rows: Vec<_> = found.iter().map(row).collect();
            if rows.is_empty() {
                session.out.talk("no agent has an output there yet");
            } else {
                session.out.line(&output::table(&rows));
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

/// An output with its time in seconds, as the file of an output has it.
fn json_of(found: &PlanOutput) -> Value {
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

/// A value that is JSON is that, any other a text.
fn metadata(pairs: &[(String, String)]) -> Map<String, Value> {
    let value = |said: &str| match serde_json::from_str(said) {
        Ok(value) => value,
        Err(_) => Value::String(said.to_owned()),
    };
    (pairs.iter())
        .map(|(name, said)| (name.clone(), value(said)))
        .collect()
}
