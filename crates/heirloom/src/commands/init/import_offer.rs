//! Data of other tools: listed by `init`, imported by `init --import`.

use super::Args;
use crate::commands::import::agentium::take_over_agentium;
use crate::commands::import::memory_places::MemoryPlace;
use crate::commands::import::other_tools::{DiscoveredImports, import_discovered};
use crate::commands::import::{print_diagnostics, print_report_text, report_value};
use crate::commands::reembed::embed_pending;
use crate::store_access::{CliSession, FoundProject};
use crate::terminal_output;
use heirloom_engine::{Engine, ExternalImportReport, ExternalPartReport};
use heirloom_model::Fault;
use heirloom_model::text::counted;
use serde_json::{Value, json};

/// Importable data that was found, and the result of its import or dry run.
pub(super) struct ImportOffer {
    /// Path and format of each part.
    parts: Vec<(String, &'static str)>,
    report: ExternalImportReport,
    /// Memories that only `heirloom import` imports.
    places: Vec<MemoryPlace>,
    /// Problems of reading.
    notes: Vec<String>,
    /// True if `--import` was given.
    is_requested: bool,
    is_dry_run: bool,
}

impl ImportOffer {
    /// Finds importable data, and imports it if `--import` was given.
    pub(super) fn prepare(
        args: &Args,
        engine: &Engine,
        found: &FoundProject,
        session: &mut CliSession,
    ) -> Result<Self, Fault> {
        let discovered = DiscoveredImports::discover(session, engine, found);
        let parts = discovered.parts.iter();
        let parts: Vec<_> = parts.map(|part| (part.path.clone(), part.format)).collect();
        let paths: Vec<_> = parts.iter().map(|(path, _)| path.as_str()).collect();
        let source = format!("init {}", paths.join(", "));
        let mut notes = discovered.notes.clone();
        let is_dry_run = args.dry_run || !args.import;
        let report = match import_discovered(engine, discovered, &source, is_dry_run) {
            Ok(report) => report,
            Err(fault) if args.import => return Err(fault),
            Err(_) if parts.is_empty() => ExternalImportReport::default(),
            // Without `--import`, a failure here must not fail `init`.
            Err(fault) => {
                notes.push(format!("nothing can be imported now: {}", fault.message));
                ExternalImportReport::default()
            }
        };
        if !is_dry_run {
            take_over_agentium(engine, found, session)?;
            embed_pending(engine, session);
        }
        Ok(Self {
            parts,
            report,
            places: MemoryPlace::find_all(session, engine, found),
            notes,
            is_requested: args.import,
            is_dry_run,
        })
    }

    /// Returns the parts with content, and what each added or would add.
    fn rows(&self) -> impl Iterator<Item = (&str, &'static str, ExternalPartReport)> {
        let parts = self.parts.iter().zip(&self.report.parts);
        let rows = parts.map(|((path, format), counts)| (path.as_str(), *format, *counts));
        rows.filter(|(_, _, counts)| counts.created + counts.known > 0)
    }

    /// Adds `offers`, `memories`, `notes` and, with `--import`, `imported`.
    pub(super) fn add_to(&self, value: &mut Value) {
        let offers = self.rows().map(|(path, format, counts)| {
            json!({
                "path": path,
                "format": format,
                "entries": counts.created + counts.known,
                "known": counts.known,
                "redacted": counts.redacted,
            })
        });
        value["offers"] = offers.collect();
        let memories = self.places.iter().map(
            |place| json!({"path": place.path, "format": place.format, "command": place.command()}),
        );
        value["memories"] = memories.collect();
        value["notes"] = json!(self.notes);
        if self.is_requested {
            value["imported"] = report_value(&self.report.total);
            value["imported"]["dry_run"] = json!(self.is_dry_run);
        }
    }

    /// Prints the result for a person.
    pub(super) fn print(&self, session: &mut CliSession) {
        match self.is_requested {
            true => self.print_imported(session),
            false => self.print_available(session),
        }
        self.print_places(session);
    }

    fn print_imported(&self, session: &mut CliSession) {
        if self.parts.is_empty() {
            print_diagnostics(&self.report.total, session);
            return session.out.talk("nothing to import");
        }
        let rows = self.rows().map(|(path, format, counts)| {
            let mut summary = format!("{} new, {} known", counts.created, counts.known);
            if counts.redacted > 0 {
                summary.push_str(&format!(", {} with a secret", counts.redacted));
            }
            vec![path.to_owned(), format.to_owned(), summary]
        });
        let rows: Vec<_> = rows.collect();
        if !rows.is_empty() {
            session.out.line(&terminal_output::table(&rows));
        }
        print_report_text(&self.report.total, self.is_dry_run, session);
        if self.is_dry_run {
            session.out.talk("heirloom init --import imports it");
        }
    }

    fn print_available(&self, session: &mut CliSession) {
        for note in &self.notes {
            session.out.talk(&format!("heirloom: {note}"));
        }
        let new = self.rows().filter(|(_, _, counts)| counts.created > 0);
        let rows = new.map(|(path, format, counts)| {
            let new = counted(counts.created, "entry", "entries");
            vec![path.to_owned(), format.to_owned(), new]
        });
        let rows: Vec<_> = rows.collect();
        if rows.is_empty() {
            return;
        }
        session
            .out
            .talk("data of other tools that can be imported:");
        for line in terminal_output::table(&rows).lines() {
            session.out.talk(&format!("  {line}"));
        }
        session
            .out
            .talk("heirloom init --import imports it; --dry-run only shows what would be imported");
    }

    /// Prints the memories with the command that imports each.
    fn print_places(&self, session: &mut CliSession) {
        if self.places.is_empty() {
            return;
        }
        session
            .out
            .talk("memories of other programs that can be imported, each by its command:");
        let rows = self.places.iter();
        let rows: Vec<_> = rows
            .map(|place| vec![place.path.clone(), place.command()])
            .collect();
        for line in terminal_output::table(&rows).lines() {
            session.out.talk(&format!("  {line}"));
        }
    }
}
