//! What other tools left: named by `init`, taken in by `init --import`.

use super::Args;
use crate::commands::import::offered::{Offered, taken};
use crate::commands::import::{as_json, tell_diagnostics, tell_in_words};
use crate::commands::reembed::catch_up;
use crate::open::{Found, Session};
use crate::output;
use heirloom_engine::{Engine, ForeignReport, PartReport};
use heirloom_model::Fault;
use serde_json::{Value, json};

/// What is there, and what became or would become of it.
pub(super) struct Offer {
    /// Path and format of each part.
    parts: Vec<(String, &'static str)>,
    report: ForeignReport,
    /// What could not be read.
    notes: Vec<String>,
    /// Whether it was asked for.
    import: bool,
    dry: bool,
}

impl Offer {
    /// Looks at what is there, and takes it in if that was asked for.
    pub(super) fn make(
        args: &Args,
        engine: &Engine,
        found: &Found,
        session: &mut Session,
    ) -> Result<Self, Fault> {
        let offered = Offered::look(session, engine, found);
        let parts = offered.parts.iter();
        let parts: Vec<_> = parts.map(|part| (part.path.clone(), part.format)).collect();
        let paths: Vec<_> = parts.iter().map(|(path, _)| path.as_str()).collect();
        let source = format!("init {}", paths.join(", "));
        let mut notes = offered.notes.clone();
        let dry = args.dry_run || !args.import;
        let report = match taken(engine, offered, &source, dry) {
            Ok(report) => report,
            Err(fault) if args.import => return Err(fault),
            Err(_) if parts.is_empty() => ForeignReport::default(),
            // What could come in is beside what was asked for.
            Err(fault) => {
                notes.push(format!("nothing could come in now: {}", fault.message));
                ForeignReport::default()
            }
        };
        if !dry {
            catch_up(engine, session);
        }
        Ok(Self {
            parts,
            report,
            notes,
            import: args.import,
            dry,
        })
    }

    /// The parts that say something, and what each brought or would bring.
    fn rows(&self) -> impl Iterator<Item = (&str, &'static str, PartReport)> {
        let parts = self.parts.iter().zip(&self.report.parts);
        let rows = parts.map(|((path, format), brought)| (path.as_str(), *format, *brought));
        rows.filter(|(_, _, brought)| brought.created + brought.known > 0)
    }

    /// Adds `offers`, `notes` and, if it was asked for, `imported`.
    pub(super) fn add_to(&self, value: &mut Value) {
        let offers = self.rows().map(|(path, format, brought)| {
            json!({
                "path": path,
                "format": format,
                "entries": brought.created + brought.known,
                "known": brought.known,
                "redacted": brought.redacted,
            })
        });
        value["offers"] = offers.collect();
        value["notes"] = json!(self.notes);
        if self.import {
            value["imported"] = as_json(&self.report.whole);
            value["imported"]["dry_run"] = json!(self.dry);
        }
    }

    /// Tells a person.
    pub(super) fn tell(&self, session: &mut Session) {
        if !self.import {
            return self.tell_what_could_come(session);
        }
        if self.parts.is_empty() {
            tell_diagnostics(&self.report.whole, session);
            return session.out.talk("nothing to import");
        }
        let rows = self.rows().map(|(path, format, brought)| {
            let mut said = format!("{} new, {} known", brought.created, brought.known);
            if brought.redacted > 0 {
                said.push_str(&format!(", {} with a secret", brought.redacted));
            }
            vec![path.to_owned(), format.to_owned(), said]
        });
        let rows: Vec<_> = rows.collect();
        if !rows.is_empty() {
            session.out.line(&output::table(&rows));
        }
        tell_in_words(&self.report.whole, self.dry, session);
        if self.dry {
            session.out.talk("heirloom init --import takes it in");
        }
    }

    fn tell_what_could_come(&self, session: &mut Session) {
        for note in &self.notes {
            session.out.talk(&format!("heirloom: {note}"));
        }
        let new = self.rows().filter(|(_, _, brought)| brought.created > 0);
        let rows = new.map(|(path, format, brought)| {
            let new = match brought.created {
                1 => "1 entry".to_owned(),
                entries => format!("{entries} entries"),
            };
            vec![path.to_owned(), format.to_owned(), new]
        });
        let rows: Vec<_> = rows.collect();
        if rows.is_empty() {
            return;
        }
        session
            .out
            .talk("other tools left something that could come in:");
        for line in output::table(&rows).lines() {
            session.out.talk(&format!("  {line}"));
        }
        session.out.talk(
            "heirloom init --import takes it in, with --dry-run it only says what would come",
        );
    }
}
