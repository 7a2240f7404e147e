//! `heirloom export`.

use crate::store_access::CliSession;
use crate::{export_format, json_output};
use heirloom_formats::shared_context::{self, SharedEntry};
use heirloom_model::kinds::Knowledge;
use heirloom_model::text::EscapedPath;
use heirloom_model::{Fault, Kind, Record};

/// Print what is remembered, as a copy or for another program
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: heirloom export --format jsonl --all > memory.jsonl")]
pub(crate) struct Args {
    /// jsonl: one record a line; agentium: a memory.json; radium: outputs of plans, as files in the project;
    /// markdown: knowledge, to read, and for `import shared`
    #[arg(long, value_name = "FORMAT", default_value = "jsonl")]
    format: ExportFormat,
    /// Include past records, sessions and their messages (jsonl)
    #[arg(long)]
    all: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum ExportFormat {
    Jsonl,
    Agentium,
    Radium,
    Markdown,
}

pub(crate) fn run(args: Args, session: &mut CliSession) -> Result<u8, Fault> {
    let engine = session.open()?;
    let progress = session.out.progress();
    // The number of past records and of messages is not known.
    if session.out.shows_progress() && !args.all {
        let counts = engine.records().counts()?;
        progress.set_total(counts.iter().map(|(_, records)| *records).sum());
    }
    match args.format {
        ExportFormat::Jsonl => {
            let out = &mut session.out;
            engine
                .imports()
                .export_records(args.all, &mut |record, lapses| {
                    progress.count_part();
                    out.value(&json_output::record(record));
                    for lapse in lapses {
                        out.value(&export_format::lapse_line(record.id, *lapse));
                    }
                })?;
            if args.all {
                engine.imports().export_sessions(&mut |session, messages| {
                    if messages.first().is_none_or(|message| message.seq == 0) {
                        out.value(&export_format::session_line(session));
                    }
                    for message in messages {
                        out.value(&export_format::message_line(session, message));
                    }
                })?;
            }
        }
        ExportFormat::Agentium => {
            let mirror = engine.mirror().bytes()?;
            session.out.json_text(&String::from_utf8_lossy(&mirror));
        }
        ExportFormat::Markdown => {
            let mut entries = Vec::new();
            engine.imports().export_records(false, &mut |record, _| {
                progress.count_part();
                entries.extend(shared_entry(record));
            })?;
            session.out.data(&shared_context::render(&entries));
        }
        ExportFormat::Radium => {
            let (written, notes) = engine.outputs().export_outputs(None)?;
            notes.iter().for_each(|line| session.out.talk(line));
            if session.out.json {
                let paths: Vec<_> = written
                    .iter()
                    .map(|path| path.to_string_lossy().into_owned())
                    .collect();
                session
                    .out
                    .value(&serde_json::json!({"files": paths, "kept": notes}));
            } else {
                for path in &written {
                    session.out.line(&path.to_escaped());
                }
            }
        }
    }
    Ok(0)
}

/// Converts knowledge into an entry of Markdown, with its key if the key was given explicitly.
fn shared_entry(record: &Record) -> Option<SharedEntry> {
    let is_known = record.kind == Kind::Knowledge && !record.text.trim().is_empty();
    let key = record.key.clone();
    is_known.then(|| SharedEntry {
        line: 0,
        category: record.category().unwrap_or("fact").to_owned(),
        key: key.filter(|key| !Knowledge::is_derived_key(key)),
        text: record.text.clone(),
    })
}
