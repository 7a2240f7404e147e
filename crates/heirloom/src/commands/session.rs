//! `heirloom session`.

use crate::store_access::CliSession;
use crate::{export_format, json_output};
use heirloom_engine::NewTurn;
use heirloom_model::{Fault, Role, limits, text};
use serde_json::{Value, json};
use std::io::Read;

/// Store the turns of a conversation, or show them
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: SessionSubcommand,
}

#[derive(Debug, clap::Subcommand)]
enum SessionSubcommand {
    /// Add a turn, whose text comes from standard input; the first turn creates the session
    Add {
        /// The session
        #[arg(long, value_name = "ID")]
        session: String,
        /// The role: user, assistant, system, tool, tool_call or tool_result
        #[arg(long, value_name = "ROLE", value_parser = parse_role)]
        role: Role,
        /// The name of the speaker, if the role is not enough
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
        /// Only the last N turns
        #[arg(short = 'n', long = "last", value_name = "N")]
        last: Option<usize>,
    },
    /// Show a summary of a session, made of its own words
    Summary {
        /// The session
        session: String,
    },
    /// Find turns of conversations by their text
    Search {
        /// The words to search for
        words: Vec<String>,
        /// Only in this session
        #[arg(long, value_name = "ID")]
        session: Option<String>,
        /// At most this many hits
        #[arg(short = 'k', value_name = "N", default_value_t = limits::RECALL_HITS_DEFAULT)]
        k: usize,
    },
    /// Print a session as a history.json
    Export {
        /// The session
        session: String,
        /// Print instead the summaries and archives of its windows, with their files
        #[arg(long)]
        windows: bool,
    },
}

/// Parses a role; `tool` means the result of a tool.
fn parse_role(argument: &str) -> Result<Role, String> {
    match argument {
        "tool" => Ok(Role::ToolResult),
        other => other.parse::<Role>().map_err(|bad| bad.to_string()),
    }
}

fn print_summary(id: &str, session: &mut CliSession) -> Result<(), Fault> {
    let found = session.open()?.sessions().session_summary(id)?;
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
        out.talk("this session has no turns yet");
    }
    if !found.older.is_empty() {
        out.line("Earlier:");
        found.older.iter().for_each(|line| out.line(line));
        out.line("Last:");
    }
    found.recent.iter().for_each(|line| out.line(line));
    Ok(())
}

/// Prints the summaries and archives of a session's windows.
fn print_windows(id: &str, session: &mut CliSession) -> Result<(), Fault> {
    let engine = session.open()?;
    let found = engine.window().session(id)?.ok_or_else(|| {
        Fault::not_found(format!("session `{}` has no window", text::one_line(id)))
            .hint("heirloom compact --session S")
    })?;
    let summary = |one: &heirloom_engine::WrittenSummary| {
        let at = one.at.map(|at| at.to_string());
        json!({"id": one.id, "model": one.model, "at": at, "text": one.text})
    };
    let archive = |(id, file): &(String, Option<std::path::PathBuf>)| json!({"id": id, "file": file.as_ref().map(|file| file.to_string_lossy().into_owned())});
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

fn print_search(
    words: &str,
    in_session: Option<&str>,
    k: usize,
    session: &mut CliSession,
) -> Result<(), Fault> {
    let found = session
        .open_with_embedder()?
        .sessions()
        .search_sessions(words, in_session, k)?;
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
                "score": json_output::rounded(*score),
            })
        };
        let hits: Vec<_> = found.iter().map(hit).collect();
        session.out.value(&json!({ "hits": hits }));
        return Ok(());
    }
    if found.is_empty() {
        session.out.talk("no turn matches");
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

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    match args.action {
        SessionSubcommand::Summary { session: id } => print_summary(&id, session)?,
        SessionSubcommand::Search {
            words,
            session: id,
            k,
        } => print_search(&words.join(" "), id.as_deref(), k, session)?,
        SessionSubcommand::Export {
            session: id,
            windows: true,
        } => print_windows(&id, session)?,
        SessionSubcommand::Export { session: id, .. } => {
            let found = session.open()?.sessions().session_interactions(&id)?;
            let history = heirloom_formats::session_history::render(&found);
            session.out.json_text(&format!("{history:#}\n"));
        }
        SessionSubcommand::Add {
            session: id,
            role,
            sender,
            task,
            agent,
        } => {
            let engine = session.open()?;
            let turn = NewTurn {
                machine: false,
                role,
                sender,
                task,
                agent,
                text: read_standard_input(limits::SESSION_ADD_BYTES_MAX, "a turn")?,
            };
            let added = engine.sessions().add_turn(&id, &turn)?;
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
        SessionSubcommand::Show { session: id, last } => {
            let engine = session.open()?;
            let (found, turns) = engine.sessions().get(&id, last)?;
            if session.out.json {
                let mut value = export_format::session_line(&found);
                let turns: Vec<Value> = turns
                    .iter()
                    .map(|turn| export_format::message_line(&found, turn))
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
                session.out.talk("this session has no turns yet");
            }
        }
    }
    Ok(0)
}

/// Returns the given text, or for `-` all of standard input without its final line breaks.
pub(super) fn text_or_input(argument: String, what: &str) -> Result<String, Fault> {
    if argument != "-" {
        return Ok(argument);
    }
    let mut input = read_standard_input(limits::RECORD_TEXT_BYTES_MAX, what)?;
    input.truncate(input.trim_end_matches(['\n', '\r']).len());
    Ok(input)
}

/// Joins the words of a text that was given without quotes.
pub(super) fn join_words(first: String, words: &[String]) -> String {
    match words.is_empty() {
        true => first,
        false => format!("{first} {}", words.join(" ")),
    }
}

/// Reads all of standard input as text, lossily decoded, at most `most` bytes.
pub(super) fn read_standard_input(most: usize, what: &str) -> Result<String, Fault> {
    let mut input = Vec::new();
    let read = std::io::stdin()
        .lock()
        .take(most as u64 + 1)
        .read_to_end(&mut input);
    read.map_err(|error| Fault::failed(format!("cannot read standard input: {error}")))?;
    if input.len() > most {
        let subject = text::one_line(what);
        return Err(Fault::usage(format!(
            "standard input has more than {most} bytes for {subject}"
        )));
    }
    Ok(String::from_utf8_lossy(&input).into_owned())
}
