//! Source of entries shared by the team that Session Memory does not contain.

use super::super::workspace::team_sync::TEAM;
use super::SourceInput;
use crate::engine::Contexts;
use heirloom_model::section::{Offer, Origin, Section};
use heirloom_model::{Fault, Kind, limits, mark, text};
use heirloom_store::Filter;

impl Contexts<'_> {
    /// Returns the team's entries that are valid now, newest first.
    pub(super) fn team_section(&self, input: &SourceInput<'_>) -> Result<Section, Fault> {
        let now = self.engine.now();
        let shared = Filter::current(&[Kind::Knowledge], now).holds_at(now);
        let shared = Filter {
            source: Some(TEAM.to_owned()),
            ..shared.limit(limits::CONTEXT_TEAM_MAX)
        };
        let mut records = self.engine.records().find(&shared)?;
        records
            .retain(|record| !input.shown.contains(&record.id) && !mark::is_muted(&record.attrs));
        let offer = |record: &heirloom_model::Record| Offer {
            origin: Origin::Record(record.id),
            text: text::one_line(&record.text),
            ..Offer::default()
        };
        Ok(Section {
            name: "team".to_owned(),
            heading: "## From the Team".to_owned(),
            offers: records.iter().map(offer).collect(),
            ..Section::default()
        })
    }
}
