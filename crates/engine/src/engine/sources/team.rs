//! What the team shares, as far as Session Memory has not said it.

use super::super::Engine;
use super::super::workspace::team_sync::TEAM;
use super::Asking;
use heirloom_model::section::{Offer, Origin, Section};
use heirloom_model::{Fault, Kind, limits, mark, text};
use heirloom_store::Filter;

impl Engine {
    /// The team's entries that hold now, the newest first.
    pub(super) fn team_section(&self, asking: &Asking<'_>) -> Result<Section, Fault> {
        let now = self.now();
        let shared = Filter::current(&[Kind::Knowledge], now).holds_at(now);
        let shared = Filter {
            source: Some(TEAM.to_owned()),
            ..shared.limit(limits::CONTEXT_TEAM_MAX)
        };
        let mut records = self.find(&shared)?;
        records
            .retain(|record| !asking.said.contains(&record.id) && !mark::is_muted(&record.attrs));
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
