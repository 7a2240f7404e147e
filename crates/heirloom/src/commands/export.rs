//! `heirloom export`.

use crate::open::Session;
use crate::wire::{self, lines};
use heirloom_engine::shared::{self, SharedEntry};
use heirloom_model::kinds::Knowledge;
use heirloom_model::{Fault, Kind, Record};

/// Print what is remembered, to keep it or to take it elsewhere
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: heirloom export --format jsonl --all > memory.jsonl")]
pub(crate) struct Args {
    /// jsonl: one record a line; agentium: a memory.json; radium: outputs of plans, as files in the project;
    /// markdown: what is known, to read, and for `import shared`
    #[arg(long, value_name = "FORMAT", default_value = "jsonl")]
    format: Format,
    /// The past too, sessions and their messages (jsonl)
    #[arg(long)]
    all: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Format {
    Jsonl,
    Agentium,
    Radium,
    Markdown,
}

pub(crate) fn run(args: Args, session: &mut Session) -> Result<u8, Fault> {
    let engine = session.open()?;
    match args.format {
        Format::Jsonl => {
            let out = &mut session.out;
            engine.export_records(args.all, &mut |record, lapses| {
                out.value(&wire::record(record));
                for lapse in lapses {
                    out.value(&lines::of_lapse(record.id, *lapse));
                }
            })?;
            if args.all {
                engine.export_sessions(&mut |session, messages| {
                    if messages.first().is_none_or(|message| message.seq == 0) {
                        out.value(&lines::of_session(session));
                    }
                    for message in messages {
                        out.value(&lines::of_message(session, message));
                    }
                })?;
            }
        }
        Format::Agentium => {
            let mirror = engine.mirror_bytes()?;
            session.out.json_text(&String::from_utf8_lossy(&mirror));
        }
        Format::Markdown => {
            let mut entries = Vec::new();
            engine.export_records(false, &mut |record, _| entries.extend(entry(record)))?;
            session.out.data(&shared::render(&entries));
        }
        Format::Radium => {
            let (written, told) = engine.export_outputs(None)?;
            told.iter().for_each(|line| session.out.talk(line));
            if session.out.json {
                let paths: Vec<_> = written
                    .iter()
                    .map(|path| path.display().to_string())
                    .collect();
                session
                    .out
                    .value(&serde_json::json!({"files": paths, "kept": told}));
            } else {
                for path in &written {
                    session.out.line(&path.display().to_string());
                }
            }
        }
    }
    Ok(0)
}

/// What a record says in Markdown: knowledge, with the key that somebody gave it.
fn entry(record: &Record) -> Option<SharedEntry> {
    let is_known = record.kind == Kind::Knowledge && !record.text.trim().is_empty();
    let key = record.key.clone();
    is_known.then(|| SharedEntry {
        line: 0,
        category: record.category().unwrap_or("fact").to_owned(),
        key: key.filter(|key| !Knowledge::is_made_key(key)),
        text: record.text.clone(),
    })
}
