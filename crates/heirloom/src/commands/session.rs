//! `heirloom session`.

use crate::open::Session;
use crate::wire;
use heirloom_engine::NewTurn;
use heirloom_model::{Fault, Role, limits, text};
use serde_json::{Value, json};
use std::io::Read;

/// Keep the turns of a conversation, or show them
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Add a turn, whose text comes from standard input; the session comes into being with its first one
    Add {
        /// The session
        #[arg(long, value_name = "ID")]
        session: String,
        /// Whose turn it is: user, assistant, system, tool, tool_call or tool_result
        #[arg(long, value_name = "ROLE", value_parser = role)]
        role: Role,
        /// Who speaks, where the role does not say it
        #[arg(long, value_name = "NAME")]
        sender: Option<String>,
        /// The task of a new session
        #[arg(long, value_name = "ID")]
        task: Option<String>,
        /// The agent of a new session
        #[arg(long, value_name = "ID")]
        agent: Option<String>,
    },
    /// Show a session's turns
    Show {
        /// The session
        session: String,
        /// Only the last so many turns
        #[arg(short = 'n', long = "last", value_name = "N")]
        last: Option<usize>,
    },
    /// Show what a session comes to, in its own words
    Summary {
        /// The session
        session: String,
    },
    /// Find turns of conversations by what they say
    Search {
        /// What is looked for
        words: Vec<String>,
        /// Only in this session
        #[arg(long, value_name = "ID")]
        session: Option<String>,
        /// At most so many
        #[arg(short = 'k', value_name = "N", default_value_t = limits::RECALL_HITS_DEFAULT)]
        k: usize,
    },
    /// Print a session as a history.json
    Export {
        /// The session
        session: String,
        /// Instead what its windows summed up and left out, and the files that hold it
        #[arg(long)]
        windows: bool,
    },
}

/// A role; `tool` is what a tool answered.
fn role(given: &str) -> Result<Role, String> {
    match given {
        "tool" => Ok(Role::ToolResult),
        other => other.parse::<Role>().map_err(|bad| bad.to_string()),
    }
}

fn summary(id: &str, session: &mut Session) -> Result<(), Fault> {
    let found = session.open()?.session_summary(id)?;
    if session.out.json {
        session.out.value(&json!({
            "session": id,
            "interactions": found.interactions,
            "live": found.live,
            "summary": found.recent,
            "older": found.older,
        }));
        return Ok(());
    }
    let out = &mut session.out;
    if found.interactions == 0 {
        out.talk("nothing was said in this session yet");
    }
    if !found.older.is_empty() {
        out.line("Earlier:");
        found.older.iter().for_each(|line| out.line(line));
        out.line("Last:");
    }
    found.recent.iter().for_each(|line| out.line(line));
    Ok(())
}

/// What the windows of a session summed up and left out.
fn windows(id: &str, session: &mut Session) -> Result<(), Fault> {
    let engine = session.open()?;
    let found = engine.session_window(id)?.ok_or_else(|| {
        Fault::not_found(format!(
            "no window was made for session `{}`",
            text::one_line(id)
        ))
        .hint("heirloom compact --session S")
    })?;
    let summary = |one: &heirloom_engine::WrittenSummary| {
        let at = one.at.map(|at| at.to_string());
        json!({"id": one.id, "model": one.model, "at": at, "text": one.text})
    };
    let archive = |(id, file): &(String, Option<std::path::PathBuf>)| json!({"id": id, "file": file.as_ref().map(|file| file.display().to_string())});
    let value = json!({
        "session": id,
        "messages": found.messages,
        "boundary": found.boundary,
        "expanded": found.expanded,
        "summaries": found.summaries.iter().map(summary).collect::<Vec<_>>(),
        "archives": found.archives.iter().map(archive).collect::<Vec<_>>(),
    });
    session.out.json_text(&format!("{value:#}\n"));
    Ok(())
}

fn search(words: &str, of: Option<&str>, k: usize, session: &mut Session) -> Result<(), Fault> {
    let found = session
        .open_with_embedder()?
        .search_sessions(words, of, k)?;
    if session.out.json {
        let hit = |(id, turn, score): &(String, heirloom_model::Message, f64)| {
            json!({
                "id": turn.id.to_string(),
                "session": id,
                "seq": turn.seq,
                "role": turn.role.as_str(),
                "sender": turn.sender,
                "text": turn.text,
                "at": turn.at.to_string(),
                "score": wire::rounded(*score),
            })
        };
        let hits: Vec<_> = found.iter().map(hit).collect();
        session.out.value(&json!({ "hits": hits }));
        return Ok(());
    }
    if found.is_empty() {
        session.out.talk("no turn of a conversation says that");
    }
    for (id, turn, score) in &found {
        let words = text::excerpt(&turn.text, 160);
        session.out.line(&format!("{score:6.2}  {words}"));
        session
            .out
            .line(&format!("        {} {}", text::one_line(id), turn.seq));
    }
    Ok(())
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    match args.action {
        Action::Summary { session: id } => summary(&id, session)?,
        Action::Search {
            words,
            session: id,
            k,
        } => search(&words.join(" "), id.as_deref(), k, session)?,
        Action::Export {
            session: id,
            windows: true,
        } => windows(&id, session)?,
        Action::Export { session: id, .. } => {
            let found = session.open()?.session_interactions(&id)?;
            let history = heirloom_engine::history::render(&found);
            session.out.json_text(&format!("{history:#}\n"));
        }
        Action::Add {
            session: id,
            role,
            sender,
            task,
            agent,
        } => {
            let engine = session.open()?;
            let turn = NewTurn {
                role,
                sender,
                task,
                agent,
                text: standard_input(limits::SESSION_ADD_BYTES_MAX, "a turn")?,
            };
            let added = engine.add_turn(&id, &turn)?;
            if session.out.json {
                let id = added.id.to_string();
                let value = json!({"session": added.session, "seq": added.seq, "id": id});
                session.out.value(&value);
            } else {
                session
                    .out
                    .line(&format!("{} {} {}", added.id, added.session, added.seq));
            }
        }
        Action::Show { session: id, last } => {
            let engine = session.open()?;
            let (found, turns) = engine.session(&id, last)?;
            if session.out.json {
                let mut value = wire::lines::of_session(&found);
                let turns: Vec<Value> = turns
                    .iter()
                    .map(|turn| wire::lines::of_message(&found, turn))
                    .collect();
                value["messages"] = Value::Array(turns);
                session.out.value(&value);
                return Ok(0);
            }
            for turn in &turns {
                let who = turn.sender.as_deref().unwrap_or(turn.role.as_str());
                session.out.line(&format!("{} {who}:", turn.seq));
                for line in turn.text.lines() {
                    session.out.line(&format!("  {line}"));
                }
            }
            if turns.is_empty() {
                session.out.talk("nothing was said in this session yet");
            }
        }
    }
    Ok(0)
}

/// All of standard input as text, lossily decoded, at most `most` bytes.
pub(super) fn standard_input(most: usize, what: &str) -> Result<String, Fault> {
    let mut input = Vec::new();
    let read = std::io::stdin()
        .lock()
        .take(most as u64 + 1)
        .read_to_end(&mut input);
    read.map_err(|error| Fault::failed(format!("cannot read standard input: {error}")))?;
    if input.len() > most {
        let said = text::one_line(what);
        return Err(Fault::usage(format!(
            "standard input has more than {most} bytes for {said}"
        )));
    }
    Ok(String::from_utf8_lossy(&input).into_owned())
}
